"""Published laws as the snapshot holds them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from delphi_core.published import published_loss_laws, published_size_laws

MACRO = "eval/paloma/macro_loss"
BPB = "eval/paloma/c4_en/bpb"


def coefficients(laws):
    """E, A and alpha of each loss law."""
    return list(laws[["E", "A", "alpha"]].itertuples(index=False, name=None))


def test_loss_laws_of_delphi(snapshot):
    laws = published_loss_laws(snapshot, "delphi", MACRO)
    assert coefficients(laws) == [(1.644, 121.4339, 0.097232), (1.7095, 141.2, 0.1016)]
    assert set(laws["status"]) == {"derived"}
    assert published_loss_laws(snapshot, "delphi", BPB).empty


def test_loss_laws_of_the_moe_ladders(snapshot):
    rows = snapshot.tables["published_laws"]
    for ladder, metric, number in [("moe-v16", MACRO, 11), ("moe-v16", BPB, 1)]:
        laws = published_loss_laws(snapshot, ladder, metric)
        own = rows[(rows["ladder"] == ladder) & (rows["metric"] == metric)]
        assert coefficients(laws) == coefficients(own)
        assert len(laws) == number
        assert laws["status"].to_list() == own["status"].to_list()
    (readme,) = coefficients(published_loss_laws(snapshot, "moe-v16", BPB))
    assert readme == (0.4814, 25.97, 0.0915)
    assert coefficients(published_loss_laws(snapshot, "moe-aug-hero", MACRO)) == [
        (1.6, 72.6, 0.0897)
    ]


def test_size_laws_of_delphi(snapshot):
    laws = published_size_laws(snapshot, "delphi", MACRO)
    tokens = laws[laws["quantity"] == "tokens"]
    params = laws[laws["quantity"] == "params"]
    assert (tokens["exponent"].iloc[0], tokens["log10_coefficient"].iloc[0]) == (0.5744, -1.4342)
    assert params[["exponent", "log10_coefficient"]].to_numpy().tolist() == [[0.3907, 1.3622]]
    # Our refit of the published optima counts as derived.
    assert tokens["status"].to_list() == ["published", "derived"]


def test_the_token_law_of_c4_is_of_that_metric_only(snapshot):
    laws = published_size_laws(snapshot, "delphi", BPB)
    assert set(laws["quantity"]) == {"tokens"}
    assert laws["exponent"].to_list() == pytest.approx([0.580083, 0.58014359])
    fits = snapshot.tables["published_fits"]
    own = fits[fits["what"].isin(laws["what"]) & (fits["coefficient"] == "A")]
    assert 10 ** laws["log10_coefficient"].to_numpy() == pytest.approx(own["value"].to_numpy())
    assert not set(published_size_laws(snapshot, "delphi", MACRO)["what"]) & set(laws["what"])


@pytest.mark.parametrize("find", [published_loss_laws, published_size_laws])
def test_every_law_has_numbers_and_a_source(snapshot, find):
    found = [
        find(snapshot, ladder, metric)
        for ladder in snapshot.tables["ladders"]["ladder"]
        for metric in (MACRO, BPB)
    ]
    laws = pd.concat([table for table in found if len(table)])
    assert len(laws)
    assert np.isfinite(laws.select_dtypes("number").to_numpy()).all()
    assert set(laws["source"]) <= set(snapshot.tables["sources"]["source"])
    # Where the source says nothing there is an empty text, never the word nan.
    assert all(isinstance(what, str) for what in laws["what"])


def test_laws_of_a_share_of_the_training_are_left_out(snapshot):
    rows = snapshot.tables["published_laws"]
    metric = "eval_dropless/paloma/macro_loss"
    own = rows[(rows["ladder"] == "hero") & (rows["metric"] == metric)]
    laws = published_loss_laws(snapshot, "hero", metric)
    assert len(laws) == own["fraction"].isna().sum() < len(own)


def test_a_fit_without_all_its_coefficients_is_no_law(snapshot):
    fits = snapshot.tables["published_fits"]
    lame = fits[~fits["coefficient"].isin(["E", "b (D* exponent)", "alpha"])]
    torn = replace(snapshot, tables={**snapshot.tables, "published_fits": lame})
    assert published_loss_laws(torn, "delphi", MACRO).empty
    laws = published_size_laws(torn, "delphi", MACRO)
    assert laws["exponent"].to_list() == [0.3907]
    assert published_size_laws(torn, "delphi", BPB).empty


def test_no_rows_make_an_empty_table_with_its_columns(snapshot):
    laws = published_loss_laws(snapshot, "delphi-attempt-1", MACRO)
    assert laws.columns.to_list() == ["what", "status", "E", "A", "alpha", "source"]
    laws = published_size_laws(snapshot, "delphi-attempt-1", MACRO)
    assert laws.columns.to_list() == [
        *("quantity", "what", "status", "exponent", "log10_coefficient", "source")
    ]
    assert laws.empty
