"""Laws out: tables and JSON say what the fits say, and hold no NaN."""

import json

import numpy as np
import pytest

import delphi_core as dc
from delphi_core.fits.law_choice import choose
from delphi_core.fits.law_methods import METHODS, LawMethod
from delphi_core.law_documents import law_document, walk_forward_document

MACRO = "eval/paloma/macro_loss"
DRAWS = 40


@pytest.fixture(scope="module")
def delphi(snapshot):
    """IsoFLOP fit of Delphi."""
    return dc.IsoflopFit(replicates=20)(snapshot.records("delphi", MACRO))


def test_held_out_table_has_each_budget_and_each_target_once(delphi):
    law = dc.LossLawFit(replicates=DRAWS)(delphi)
    found = dc.held_out_runs(delphi.points)
    table = dc.held_out_table(law, found, [1e26, 1e19, 1e26])
    assert table["flops"].is_monotonic_increasing
    assert len(table) == 3 + 2
    targets = table[table["run"].isna()]
    assert targets["flops"].to_list() == [1e19, 1e26]
    assert targets[["counted", "error_pct", "covered"]].isna().all(axis=None)
    for item, (_, row) in zip(found, table[table["run"].notna()].iterrows(), strict=True):
        forecast = law.predict(item.flops)
        assert (row["predicted"], row["low"], row["high"]) == (
            forecast.value,
            forecast.low,
            forecast.high,
        )
        assert row["error_pct"] == item.error_pct(float(forecast.value))
        assert row["covered"] == (row["low"] <= item.measured <= row["high"])
        assert row["measured"] == list(item.values)
        # Run noise widens the interval, of a mean over three seeds less than of a single run.
        assert row["noise_low"] < row["low"]
        assert row["noise_high"] > row["high"]
        assert row["run_noise"] == dc.seed_noise(found)


def test_methods_table_has_every_method_on_every_held_out_run(snapshot):
    settings = dc.LawSettings(replicates=DRAWS)
    fits = dc.fit_methods(snapshot.records("delphi", MACRO), dc.IsoflopFit(replicates=20), settings)
    table = dc.methods_table(fits, [1e25])
    assert table.groupby("method", sort=False).size().to_dict() == {
        method.name: 4 for method in METHODS
    }
    own = table.set_index(["method", "flops"])
    law = dc.LossLawFit(replicates=DRAWS)(
        dc.IsoflopFit(method="cubic", replicates=20)(snapshot.records("delphi", MACRO))
    )
    row = own.loc[("cubic squares", 1e25)]
    assert (row["E"], row["alpha"]) == (law.asymptote, law.exponent)
    assert row["predicted"] == law.predict(1e25).value
    pinned = table[table["method"] == "surface squares, E 0"]
    assert (pinned["E"] == 0).all()
    assert set(table["compute"]) == {"recorded", "bucket"}
    assert set(table.loc[table["compute"] == "bucket", "method"]) == {
        *("marin log", "marin squares", "marin huber")
    }


def test_methods_that_cannot_be_fitted_say_why(snapshot):
    records = snapshot.records("delphi", MACRO)
    settings = dc.LawSettings(asymptote=2.9, replicates=DRAWS)
    fits = dc.fit_methods(records, dc.IsoflopFit(replicates=20), settings)
    table = dc.methods_table(fits).set_index("method")
    assert "below the pinned E of 2.9" in table.loc["cubic squares", "notes"]
    assert np.isnan(table.loc["cubic squares", "predicted"])
    assert table.loc["surface log, E 0", "predicted"].notna().all()


def test_document_of_a_law_is_the_law(delphi):
    settings = dc.LawSettings(band="profile")
    document, missing = law_document(delphi, settings, [1e24])
    law = dc.fit_loss_law(delphi, band="profile")
    own = document["loss_law"]
    assert missing == []
    assert (own["E"], own["A"], own["alpha"]) == (law.asymptote, law.coefficient, law.exponent)
    assert (own["E_low"], own["E_high"]) == (
        law.asymptote_interval.low,
        law.asymptote_interval.high,
    )
    assert own["alpha_low"] < own["alpha"] < own["alpha_high"]
    assert (own["level"], own["interval"], own["E_pinned"]) == (0.9, "profile", False)
    assert own["flags"] == [doubt.flag.value for doubt in law.doubts]
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_document_without_a_law_says_why(delphi):
    document, missing = law_document(delphi, dc.LawSettings(asymptote=3.0))
    assert document["unidentified"]["flag"] == "below_asymptote"
    assert missing == [f"no loss law was fitted: {document['unidentified']['sentence']}"]


def test_open_bands_of_walk_forward_are_none_in_json(snapshot):
    records = snapshot.records("delphi", MACRO)
    table = dc.walk_forward_all(
        records,
        dc.IsoflopFit(replicates=20),
        methods=[LawMethod("cubic", "squares")],
        bands=["delta", "jackknife"],
    )
    table.loc[0, ["low", "high", "score"]] = [-np.inf, np.inf, np.inf]
    tables = {"delphi": table}
    document = walk_forward_document(tables, choose(tables), snapshot="x")
    cuts = json.loads(json.dumps(document, allow_nan=False))["cuts"]
    assert [cuts[0][name] for name in ("low", "high", "score")] == [None, None, None]
    assert cuts[1]["predicted"] == table["predicted"].iloc[1]
    assert document["chosen"] == {"method": "cubic squares", "band": "jackknife"}
