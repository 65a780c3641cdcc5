"""The Recipes page, headless: what it shows is what the core and the command line give."""

import json

import numpy as np
import pandas as pd
import pytest

import delphi_core as dc
from delphi_core.cli import main
from delphi_core.web.recipes_view import TABS, offered_bases
from tests.app.snippets import snippets

MACRO = "eval/paloma/macro_loss"
BPB = "eval/paloma/c4_en/bpb"


@pytest.fixture
def open_recipes(open_page):
    """Open the Recipes page under a query."""

    def call(**query):
        page = open_page()
        page.query_params.clear()
        page.query_params.update(query)
        return page.switch_page("pages/recipes.py").run()

    return call


def table_with(page, column):
    """The one table with a column, as the page hands it to the browser."""
    (found,) = [table.value for table in page.dataframe if column in table.value]
    return found


def words(page):
    """All text of a page, as read rather than as Markdown."""
    parts = [*page.title, *page.markdown, *page.caption, *page.info, *page.warning, *page.error]
    return " ".join(part.value.replace("\\", "") for part in parts)


def charts(page):
    """Alternative text of each chart."""
    return [chart.proto.alt for chart in page.get("plotly_chart")]


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("base", offered_bases(dc.load_snapshot()))
def test_every_tab_of_every_base_opens(open_recipes, base, tab):
    page = open_recipes(base=base, tab=tab)
    assert not page.exception
    assert not page.error


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_opens_with_every_ladder_and_published_law_at_once(open_recipes, tab, snapshot):
    ladders = [name for name in snapshot.tables["ladders"]["ladder"] if name != "moe-v16"]
    laws = ["moe-v16-95.18", "moe-may-88.32", "67b-a2b-10t-84.74"]
    page = open_recipes(base="moe-v16", ladders=ladders, published=laws, tab=tab)
    assert not page.exception
    # The two that are refused stand beside the charts.
    assert len(page.error) == (2 if tab in ("laws", "speed-up") else 0)


def test_the_headline_is_the_share_of_the_base_s_compute(open_recipes, snapshot):
    found = dc.compare_recipes(snapshot, "delphi-attempt-1", ["delphi", "moe-v16"])
    delphi, moe = (float(rival.speed_up(found.shared_flops).share[0]) for rival in found.rivals)
    title = open_recipes().title[0].value.replace("\\", "")
    assert f"At 3 × 10²⁰ FLOP Delphi (AdamH) needs {delphi:.2f} of" in title
    assert title.endswith(f"MoE v16 iso-FLOP {moe:.2f}")


def test_numbers_are_those_of_the_command_line(open_recipes, capsys):
    page = open_recipes(tab="table", flops="1e20")
    asked = ["--base", "delphi-attempt-1", "--ladder", "delphi", "--ladder", "moe-v16"]
    assert main(["compare", *asked, "--flops", "1e20", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    rows = [row for item in document["ladders"] for row in item["at_optima"] + item["speed_up"]]
    shown, expected = table_with(page, "share"), pd.DataFrame(rows)
    for column in ("loss", "speed_up", "low", "high", "share", "beyond"):
        np.testing.assert_array_equal(
            shown[column].to_numpy(float), expected[column].to_numpy(float), err_msg=column
        )
    laws = table_with(page, "alpha_low")
    assert laws["E"].iloc[0] == document["base"]["law"]["E"]
    published = table_with(page, "over_fitted")
    assert list(published["id"]) == [row["id"] for row in document["published"]]


def test_the_laws_tab_says_who_is_ahead_how_far_and_how_it_was_got(open_recipes):
    page = open_recipes()
    text = words(page)
    assert "ahead at 7 of 7 budgets of its own" in text
    assert "has the lower loss in 80 of 80 pairs" in text
    assert "90 % interval by bootstrap of residuals, 1,000 sets of rows of each ladder" in text
    assert "are level at" in text
    assert "held-out runs, never fitted (open symbols)" in text
    assert "Snapshot" in page.caption[-2].value
    (alt,) = charts(page)
    assert "law L* = 1.4293 + 135.7 C^-0.09579" in alt


def test_warnings_stand_beside_the_chart(open_recipes):
    page = open_recipes()
    found = [warning.value.replace("\\", "") for warning in page.warning]
    assert any("sized by parameters, MoE v16 iso-FLOP by active parameters" in w for w in found)
    assert any("FLOPs are counted differently" in w for w in found)
    page.multiselect(key="ladders").set_value(["delphi"]).run()
    assert not page.warning
    page.multiselect(key="ladders").set_value(["delphi", "moe-aug-hero"]).run()
    assert any("Sequence lengths differ" in w.value for w in page.warning)


def test_what_is_refused_says_why_and_the_rest_is_shown(open_recipes):
    page = open_recipes(ladders=["delphi", "hero"])
    (refused,) = page.error
    assert "another kind of evaluation" in refused.value
    assert "needs 0.82 of" in page.title[0].value
    only = open_recipes(ladders="hero", tab="speed-up")
    assert "nothing that can be compared" in only.title[0].value
    assert len(only.error) == 1
    assert "No two laws to compare" in only.info[0].value


def test_pairs_are_all_80_and_name_their_runs(open_recipes):
    page = open_recipes(tab="pairs")
    table = table_with(page, "base_run")
    assert len(table) == 80
    assert table["ahead"].all()
    assert "80 of 80 pairs" in words(page)
    none = open_recipes(base="moe-v16", tab="pairs")
    assert "No finished run" in words(none)


def test_metrics_stand_side_by_side_each_with_its_own_law(open_recipes, snapshot):
    page = open_recipes(tab="metrics", asymptote="1.6")
    first, second = charts(page)
    assert first.startswith("Paloma c4_en bits per byte")
    assert second.startswith("Paloma macro loss")
    table = table_with(page, "metric")
    assert set(table["metric"]) == {MACRO, BPB}
    assert set(table.loc[table["metric"] == MACRO, "E"]) == {1.6}
    free = dc.fit_recipe(snapshot, "moe-v16", BPB).law.asymptote
    assert free in set(table.loc[table["metric"] == BPB, "E"])
    assert "pinned at 1.6 in eval/paloma/macro_loss only" in words(page)


def test_published_laws_are_lines_and_a_table_with_221(open_recipes):
    page = open_recipes(base="moe-v16", ladders="moe-may-gates", asymptote="1.6")
    assert len(page.dataframe) == 0
    page.multiselect(key="published").set_value(["moe-may-88.32", "moe-v16-95.18"]).run()
    table = table_with(page, "published_speed_up").set_index("id")
    assert round(table.loc["moe-may-88.32", "published_speed_up"], 2) == 2.21
    assert table.loc["moe-may-88.32", "base_id"] == "moe-v16-95.18"
    assert page.query_params["published"] == ["moe-v16-95.18", "moe-may-88.32"]
    assert "Published laws: moe-v16-95.18, moe-may-88.32" in charts(page)[0]


def test_each_control_changes_what_is_shown_and_the_address(open_recipes):
    page = open_recipes()
    title = page.title[0].value
    page.text_input(key="flops").set_value("1e19").run()
    assert page.title[0].value.startswith("At 1 × 10¹⁹ FLOP")
    page.button_group(key="method").set_value("parabola").run()
    page.text_input(key="asymptote").set_value("1.6").run()
    assert "L\\* \\= 1\\.6000" in page.caption[-2].value
    assert page.query_params == {"flops": "1e19", "method": "parabola", "asymptote": "1.6"}
    page.button_group(key="tab").set_value("speed-up").run()
    assert page.query_params["tab"] == "speed-up"
    page.selectbox(key="base").set_value("delphi").run()
    assert "Delphi \\(AdamH\\)'s compute" in page.title[0].value
    # The metric of the new base may be one that others have not.
    page.selectbox(key="metric").set_value(BPB).run()
    assert page.title[0].value != title
    assert not page.exception


@pytest.mark.parametrize("method", ["parabola", "cubic", "marin", "surface"])
def test_every_method_gives_a_finding_or_a_reason(open_recipes, method):
    page = open_recipes(method=method, ladders=["delphi", "moe-v16", "moe-aug-hero"])
    assert not page.exception
    assert "compute" in page.title[0].value


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("flops", "1e40", "from 1e+15 to 1e+26 FLOP"),
        ("flops", "0", "from 1e+15 to 1e+26 FLOP"),
        ("asymptote", "-1", "a number from 0 up"),
        ("asymptote", "<b>x</b>", "a number from 0 up"),
    ],
)
def test_a_number_that_cannot_be_taken_is_named_and_kept(open_recipes, key, value, sentence):
    page = open_recipes(ladders="delphi", **{key: value})
    (warning,) = page.warning
    assert sentence in warning.value.replace("\\", "")
    assert page.text_input(key=key).value == value
    assert not page.exception


def test_an_e_above_every_loss_says_so_and_ends_in_no_traceback(open_recipes):
    for tab in TABS:
        page = open_recipes(asymptote="5", tab=tab)
        assert not page.exception
        assert "nothing that can be compared" in page.title[0].value
    assert "losses lie at or below the pinned E of 5" in words(open_recipes(asymptote="5"))


def test_far_beyond_the_base_s_e_it_is_open_in_words(open_recipes):
    page = open_recipes(base="delphi", ladders="moe-may-gates", flops="1e26")
    assert "reaches a loss that Delphi (AdamH) never does" in page.title[0].value.replace("\\", "")
    assert "the speed-up is open" in words(page)


def test_the_download_tab_offers_every_table_and_the_same_call(open_recipes, capsys):
    page = open_recipes(tab="download", flops="1e20", asymptote="1.6")
    labels = [button.proto.label for button in page.get("download_button")]
    assert labels == ["Optima", "Laws", "Speed-up", "Pairs", "Published"]
    python, shell = snippets(page)
    assert "dc.compare_recipes(snapshot, 'delphi-attempt-1', ['delphi', 'moe-v16']" in python
    names = {}
    exec(python, names)  # noqa: S102 - what the page tells visitors to run
    capsys.readouterr()
    arguments = shell.removeprefix("python -m delphi_core ").split()
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    own = names["found"].rivals[0].speed_up(1e20)
    assert document["ladders"][0]["speed_up"][0]["speed_up"] == own.value[0]
    assert document["E_pinned"] == 1.6


def test_hostile_names_in_a_link_are_shown_as_text(open_recipes):
    hostile = "<img src=x onerror=alert(1)>"
    page = open_recipes(base=hostile, ladders=hostile, published=hostile, flops=hostile)
    assert not page.exception
    assert len([w for w in page.warning if hostile in w.value.replace("\\", "")]) == 4
    for warning in page.warning:
        assert "<" not in warning.value.replace("\\<", "")
