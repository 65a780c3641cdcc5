"""The Scaling law page in a real browser: links, controls, tabs, downloads, hover and eyes."""

import io

import numpy as np
import pandas as pd
import pytest

from delphi_core.figures import law_words
from delphi_core.web import scaling_words as words
from delphi_core.web.scaling_fits import scaling_fitted
from delphi_core.web.scaling_view import TABS, ScalingView
from delphi_core.web.view_state import ZOOM
from delphi_core.words import flops_words
from tests.browser.browsing import CHART, PHONE, begin_visit, numbers, serving

MACRO = "eval/paloma/macro_loss"
BPB = "eval/paloma/c4_en/bpb"
# A view with every control away from its default, and what the controls show then.
AWAY = {
    "ladder": "moe-v16",
    "metric": BPB,
    "method": "parabola",
    "law": "huber",
    "asymptote": "0.4",
    "band": "jackknife",
    "level": "0.95",
    "compute": "nominal",
    "excluded": "true",
    "target": "1e23",
    "published": "true",
    "y": "log",
    "tab": "size",
}
AWAY_SHOWN = AWAY | {
    "ladder": "MoE v16 iso-FLOP",
    "law": "Huber",
    "level": "95 %",
    "excluded": True,
    "published": True,
    "tab": "Optimal size",
}
# Tab to a part that it alone has, and the number of its charts.
PARTS = {
    "loss": (".st-key-loss_chart", 1),
    "size": (".st-key-params_chart", 2),
    "asymptote": (".st-key-asymptote_chart", 1),
    "methods": ("[data-testid=stDataFrame]", 0),
    "walk-forward": (".st-key-walk_chart", 1),
    "download": (".st-key-law_csv", 0),
}


def opened(visit, **query):
    """Open a view of the page, and wait until it is drawn."""
    return there(visit.open("/scaling", **query), query.get("tab", "loss"))


def there(visit, tab):
    """Wait until a tab is there, with its charts."""
    part, charts = PARTS[tab]
    visit.page.locator(part).first.wait_for()
    visit.settled(chart=charts > 0)
    if charts == 2:
        visit.page.locator(f"{CHART} .main-svg").nth(3).wait_for(state="attached")
    return visit


def show(visit, tab):
    """Open a tab by a click."""
    name = words.TAB_TITLES[tab]
    visit.widget("tab").get_by_role("radio", name=name, exact=True).click()
    return there(visit, tab)


def view(visit):
    """All of a view that a visitor would compare."""
    return {
        "title": visit.title,
        "chart": visit.drawn,
        "alt": visit.figure.first.get_attribute("aria-label"),
        "controls": {key: visit.shown(key) for key in AWAY},
    }


def trace(visit, name):
    """The first trace of a name."""
    return next(trace for trace in visit.drawn["data"] if trace["name"] == name)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder that the test runs in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fitted(snapshot, query):
    """The view of a query, and what is fitted for it."""
    view, _ = ScalingView.read({name: [value] for name, value in query.items()}, snapshot)
    return view, scaling_fitted(snapshot, view.fit)


def test_every_part_of_a_view_is_in_a_link(visit, snapshot):
    # What is zoomed to has a test of its own.
    assert [*AWAY, ZOOM] == list(ScalingView.__dataclass_fields__)
    page = opened(visit(elsewhere=True), **AWAY)
    assert {key: page.shown(key) for key in AWAY} == AWAY_SHOWN
    assert page.query == AWAY
    assert page.notices == []
    asked, found = fitted(snapshot, AWAY)
    ladder = snapshot.ladder("moe-v16")
    assert page.title == words.headline(ladder, found, asked.target_flops).replace("\\", "")
    for place, (law, quantity) in enumerate(
        [(found.token_law, "tokens"), (found.params_law, "params")]
    ):
        alt = law_words.size_law_alt(law, found.optima, quantity, ladder.params_column)
        assert page.figure.nth(place).get_attribute("aria-label") == alt


def test_the_page_opens_first_on_a_fresh_server(browser):
    with serving() as address, browser.new_context() as context:
        page = begin_visit(context.new_page(), address)
        opened(page, ladder="delphi-attempt-1")
        assert page.title.startswith("Delphi attempt 1")
        page.page.get_by_role("link", name="IsoFLOP", exact=True).wait_for()
        assert page.page.title() == f"{page.title} - Delphi Dashboard"
        assert page.errors == []


def test_the_default_view_is_drawn_and_said_to_the_last_bit(visit, snapshot):
    page = opened(visit())
    _, found = fitted(snapshot, {})
    for name in ("law, fitted", "law, extrapolated"):
        line = trace(page, name)
        x = np.array(numbers(line["x"]))
        assert numbers(line["y"]) == found.law.predict(x).value.tolist()
    optima = trace(page, "optimum of a budget")
    assert numbers(optima["y"]) == found.optima.losses.tolist()
    assert page.figure.get_attribute("aria-label") == law_words.loss_law_alt(
        found.law, found.optima, found.held_out, 1e24
    )
    last = found.held_out[-1]
    assert f"forecast at {flops_words(last.flops)}, {last.measured:.3f} measured" in page.title


def test_the_address_follows_each_control_and_a_reload_shows_the_same(visit):
    page = opened(visit(), utm="discord")
    query = {"utm": "discord"}
    steps = [
        ("law", "Huber", {"law": "huber"}),
        ("level", "80 %", {"level": "0.8"}),
        ("band", "delta", {"band": "delta"}),
        ("compute", "nominal", {"compute": "nominal"}),
        ("excluded", "", {"excluded": "true"}),
        ("target", "1e22", {"target": "1e22"}),
        ("asymptote", "1.6", {"asymptote": "1.6"}),
        ("published", "", {"published": "true"}),
        ("y", "log", {"y": "log"}),
        ("method", "parabola", {"method": "parabola"}),
    ]
    for key, option, change in steps:
        page.use(key, option)
        query |= change
        assert page.query == query
        shown = view(page)
        page.page.reload()
        page.page.locator("h1").wait_for()
        assert view(there(page, "loss")) == shown
    # What another metric or ladder does not have falls to its default.
    page.use("metric", BPB)
    for name in ("method", "compute"):
        query.pop(name)
    # Without runs to fit there are none to leave out either, yet the wish is kept.
    assert page.query == query | {"metric": BPB}
    page.use("ladder", "MoE v16 iso-FLOP")
    assert page.query == query | {"metric": BPB, "ladder": "moe-v16"}
    assert page.shown("method") == "cubic"
    assert not page.notices


def test_back_and_forward_walk_through_the_views(visit):
    page = opened(visit())
    views = [view(page)]
    for key, option in [
        ("method", "parabola"),
        ("target", "1e22"),
        ("asymptote", "1.6"),
        ("tab", "Irreducible loss"),
        ("ladder", "MoE v16 iso-FLOP"),
    ]:
        page.use(key, option)
        views.append(view(page))
    for shown in reversed(views[:-1]):
        with page.redrawn():
            page.page.go_back()
        assert view(page) == shown
    for shown in views[1:]:
        with page.redrawn():
            page.page.go_forward()
        assert view(page) == shown


def test_tabs_open_by_a_click(visit):
    page = opened(visit())
    assert set(PARTS) == set(TABS)
    for tab in [*TABS[1:], TABS[0]]:
        show(page, tab)
        assert page.query == ({} if tab == "loss" else {"tab": tab})
        others = [part for name, (part, _) in PARTS.items() if name not in (tab, "methods")]
        assert page.page.locator(", ".join(others)).count() == 0
        assert page.figure.count() == PARTS[tab][1]
        assert page.shown("tab") == words.TAB_TITLES[tab]


def test_a_wrong_target_is_said_and_stays_to_be_mended(visit):
    page = opened(visit())
    typed = "1e24; <b>*rm*</b>"
    page.use("target", typed)
    (sentence,) = page.notices
    assert f"The target is '{typed}'; it must be a number from 1e+15 to 1e+26 FLOP" in sentence
    assert page.shown("target") == typed
    assert page.query == {"target": typed}
    names = [trace["name"] for trace in page.drawn["data"]]
    assert "forecast at the target" not in names
    page.use("target", "1e22")
    assert page.notices == []
    assert numbers(trace(page, "forecast at the target")["x"]) == [1e22]
    page.use("target", "")
    assert page.query == {"target": ""}
    assert page.notices == []


def test_a_pinned_e_changes_the_headline(visit, snapshot):
    page = opened(visit())
    free = page.title
    page.use("asymptote", "1.6")
    asked, found = fitted(snapshot, {"asymptote": "1.6"})
    headline = words.headline(snapshot.ladder("delphi"), found, asked.target_flops)
    assert page.title == headline.replace("\\", "") != free
    assert found.law.asymptote == 1.6
    page.use("asymptote", "-1")
    assert page.title == free
    (sentence,) = page.notices
    assert "E is '-1'; it must be a number from 0 up. It is fitted." in sentence


def own_code(page):
    """The code that fits the same law; the lines that read a table by its address are others."""
    return page.page.get_by_test_id("stCode").filter(has_text="import delphi_core")


@pytest.mark.parametrize(
    "query",
    [
        {},
        {**AWAY, "tab": "download"},
        {"method": "marin", "law": "log", "asymptote": "1.6", "band": "profile"},
        {"method": "surface", "excluded": "true", "band": "delta"},
    ],
    ids=["default", "away", "marin", "surface"],
)
def test_downloads_are_what_is_shown_and_fit_to_the_same_law(
    visit, snapshot, query, folder, capsys
):
    page = opened(visit(), **{**query, "tab": "download"})
    asked, found = fitted(snapshot, query)
    stem = f"{asked.ladder}_{asked.metric.replace('/', '-')}_{asked.method}_{asked.law}"
    tables = {}
    for part in ("points", "optima", "forecasts", "law"):
        name, content = page.download(f"{part}_csv")
        assert name == f"{stem}_{part}.csv"
        (folder / name).write_bytes(content)
        tables[part] = pd.read_csv(io.BytesIO(content))
    assert sorted(tables["points"]["run"]) == sorted(found.isoflop.points["run"])
    optima = tables["optima"].dropna(subset="loss_at_optimal")
    assert optima["loss_at_optimal"].to_list() == found.optima.losses.tolist()
    curve = found.law.predict(tables["law"]["flops"].to_numpy())
    assert tables["law"]["predicted"].to_list() == curve.value.tolist()
    assert tables["law"]["low"].to_list() == curve.low.tolist()
    forecasts = tables["forecasts"].dropna(subset="counted")
    assert forecasts["counted"].to_list() == [item.measured for item in found.held_out]
    assert asked.target_flops in tables["forecasts"]["flops"].to_list()
    assert set(tables["forecasts"]["snapshot"]) == {snapshot.id}

    # The snippet on the page, run beside the points as it stands.
    snippet = own_code(page).inner_text()
    scope = {}
    exec(snippet, scope)  # noqa: S102 - the page's own snippet
    assert found.law.describe() in capsys.readouterr().out
    assert bits(scope["law"]) == bits(found.law)
    assert scope["law"].describe() in tables["law"]["described"].to_list()


def bits(law):
    """Every number of a law and its band, to compare bit by bit."""
    flops = np.geomspace(1e18, 1e25, 15)
    forecast = law.predict(flops)
    constants = np.array([law.asymptote, law.coefficient, law.exponent, law.largest_flops])
    return np.concatenate([constants, forecast.value, forecast.low, forecast.high]).tobytes()


def test_what_is_only_published_comes_without_a_snippet(visit):
    page = opened(visit(), metric=BPB, tab="download")
    assert page.shown("method") == "published"
    assert own_code(page).count() == 0
    name, content = page.download("optima_csv")
    assert name == "delphi_eval-paloma-c4_en-bpb_published_squares_optima.csv"
    assert len(pd.read_csv(io.BytesIO(content))) == 7
    for tab in ("methods", "walk-forward"):
        name = words.TAB_TITLES[tab]
        page.widget("tab").get_by_role("radio", name=name, exact=True).click()
        page.page.get_by_text("there is one way to fit them").wait_for()


def test_a_held_out_run_says_what_it_measured_and_what_was_forecast(visit, snapshot):
    page = opened(visit())
    _, found = fitted(snapshot, {})
    last = found.held_out[-1]
    (run,) = last.runs
    uid = page.page.evaluate(
        """name => document.querySelector('.js-plotly-plot')
                     ._fullData.find(trace => trace.name === name).uid""",
        "held-out run, never fitted",
    )
    page.page.locator(f".trace{uid} .point").last.hover(force=True)
    box = page.page.locator(".hoverlayer .hovertext")
    box.wait_for()
    text = box.text_content()
    forecast = float(found.law.predict(last.flops).value)
    assert run in text
    assert f"measured {last.measured:.4f}" in text
    assert f"forecast {forecast:.4f}, {last.error_pct(forecast):+.2f} %" in text


def test_hostile_links_are_shown_as_text(visit):
    hostile = "<img src=x onerror=alert(1)>"
    page = opened(visit(), ladder=hostile, target=hostile, asymptote=hostile, band=hostile)
    assert len(page.notices) == 4
    assert all(hostile in notice for notice in page.notices)
    assert page.shown("target") == hostile
    assert page.page.locator("img[src=x]").count() == 0


def test_nothing_off_site_and_no_error_in_the_console(visit, server):
    page = opened(visit(), published="true")
    for tab in TABS[1:]:
        show(page, tab)
    assert page.errors == []
    assert [f"http://{host}" for host in page.hosts] == [server]


@pytest.mark.parametrize(
    "query",
    [{}, AWAY, {"ladder": "moe-aug-hero", "published": "true"}],
    ids=["default", "away", "few"],
)
def test_no_sideways_scrolling_on_a_phone(visit, query):
    page = opened(visit(size=PHONE), **{**query, "tab": "loss"})
    tabs = ["loss", "size", "methods", "download"] if "moe-aug-hero" in query.values() else TABS
    for tab in tabs:
        show(page, tab)
        assert page.sideways == 0, tab


def test_the_menu_leads_back_to_the_view_that_was_left(visit):
    page = opened(visit(), ladder="moe-v16", target="1e22")
    page.use("law", "Huber")
    left, shown = page.query, view(page)
    page.page.get_by_role("link", name="IsoFLOP", exact=True).click()
    page.page.locator("h1").filter(has_text="Delphi").wait_for()
    page.settled()
    assert page.query == {}
    page.use("x", "parameters")
    page.page.get_by_role("link", name="Scaling law", exact=True).click()
    page.page.locator("h1").filter(has_text="MoE v16").wait_for()
    there(page, "loss")
    assert page.query == left
    assert view(page) == shown
    page.page.get_by_role("link", name="IsoFLOP", exact=True).click()
    page.page.locator(".st-key-x").wait_for()
    page.settled()
    assert page.query == {"x": "params"}
    assert page.shown("x") == "parameters"
