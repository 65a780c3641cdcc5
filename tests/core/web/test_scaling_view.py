"""View state of the Scaling law page: any query gives a valid view that gives its query back."""

from dataclasses import astuple, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core.fits.bands import BANDS
from delphi_core.fits.law_methods import CURVES
from delphi_core.web.scaling_view import (
    COMPUTES,
    LAWS,
    LEVELS,
    TABS,
    ScalingView,
    default_curve,
    isoflop_ladders,
    isoflop_metrics,
    scaling_bands,
    scaling_computes,
    scaling_methods,
)
from delphi_core.web.view_state import LONGEST_WORDS, in_query

SNAPSHOT = dc.load_snapshot()
MACRO = "eval/paloma/macro_loss"
BPB = "eval/paloma/c4_en/bpb"
DEFAULT = ScalingView(
    ladder="delphi",
    metric=MACRO,
    method="cubic",
    law="squares",
    asymptote="",
    band="residual bootstrap",
    level="0.9",
    compute="recorded",
    excluded=False,
    target="1e24",
    published=False,
    y="linear",
    tab="loss",
)
# Every field away from what it would be under the fields before it.
AWAY = ScalingView(
    ladder="moe-v16",
    metric=BPB,
    method="parabola",
    law="huber",
    asymptote="0.4",
    band="jackknife",
    level="0.95",
    compute="nominal",
    excluded=True,
    target="",
    published=True,
    y="log",
    tab="asymptote",
    zoom="19,21,2.4,3",
)
HOSTILE = [
    "<script>alert(1)</script>",
    "x" * 10_000,
    "9" * 10_000,
    "\x00\x07\x1b[31m",
    "1e24\x00",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "-1",
    "1e24; rm",
    "0x10",
    "1e24,5",
    "../../etc/passwd",
]


def read(**query):
    """The view of a query, and its notices."""
    return ScalingView.read({name: [value] for name, value in query.items()}, SNAPSHOT)


def test_defaults():
    assert read() == (DEFAULT, [])
    assert DEFAULT.to_query(SNAPSHOT) == {}
    assert (DEFAULT.pinned, DEFAULT.target_flops, DEFAULT.mistakes) == (None, 1e24, [])


@pytest.mark.parametrize(
    ("ladder", "curve"),
    [
        ("delphi", "cubic"),
        ("delphi-attempt-1", "cubic"),
        ("moe-v16", "cubic"),
        ("moe-aug-hero", "parabola"),
    ],
)
def test_the_default_curve_is_a_cubic_where_it_gives_four_optima(ladder, curve):
    assert default_curve(SNAPSHOT, ladder, MACRO) == curve
    view, notices = read(ladder=ladder)
    assert (view.method, view.metric, notices) == (curve, MACRO, [])
    cubic = dc.fit_isoflops(
        SNAPSHOT.records(ladder, MACRO), method="cubic", x=SNAPSHOT.ladder(ladder).default_x
    )
    assert (len(cubic.optima) >= 4) == (curve == "cubic")


def test_every_field_is_away_from_its_default():
    places = zip(astuple(DEFAULT), astuple(AWAY), strict=True)
    assert all(default != away for default, away in places)


def test_a_query_holds_what_differs_from_the_defaults():
    assert AWAY.to_query(SNAPSHOT) == {
        "ladder": ["moe-v16"],
        "metric": [BPB],
        "method": ["parabola"],
        "law": ["huber"],
        "asymptote": ["0.4"],
        "band": ["jackknife"],
        "level": ["0.95"],
        "compute": ["nominal"],
        "excluded": ["true"],
        "target": [""],
        "published": ["true"],
        "y": ["log"],
        "tab": ["asymptote"],
        "zoom": ["19,21,2.4,3"],
    }
    assert ScalingView.read(AWAY.to_query(SNAPSHOT), SNAPSHOT) == (AWAY, [])


@pytest.mark.parametrize("name", list(ScalingView.__dataclass_fields__))
def test_each_field_alone_makes_the_round_trip(name):
    asked = in_query(getattr(AWAY, name))
    view, notices = ScalingView.read({name: asked}, SNAPSHOT)
    assert (in_query(getattr(view, name)), notices) == (asked, [])
    assert view.to_query(SNAPSHOT) == {name: asked}


def test_marin_has_the_bucket_only():
    assert scaling_computes("marin") == ("bucket",)
    view, notices = read(method="marin")
    assert (view.compute, notices) == ("bucket", [])
    assert view.to_query(SNAPSHOT) == {"method": ["marin"]}
    for compute in ("recorded", "nominal"):
        view, notices = read(method="marin", compute=compute)
        assert (view.compute, len(notices)) == ("bucket", 1)
    for method in ("parabola", "cubic", "surface"):
        assert scaling_computes(method) == COMPUTES
        assert read(method=method)[0].compute == "recorded"


def test_what_is_only_published_has_one_method_and_bands_without_rows():
    assert scaling_methods(SNAPSHOT, "delphi", BPB) == ("published",)
    view, notices = read(metric=BPB)
    assert (view.method, view.band, view.compute) == ("published", "profile", "recorded")
    assert notices == []
    assert view.to_query(SNAPSHOT) == {"metric": [BPB]}
    assert scaling_bands("published") == ("profile", "delta", "jackknife")
    view, notices = read(metric=BPB, method="cubic", band="stratified bootstrap", compute="nominal")
    assert (view.method, view.band, view.compute) == ("published", "profile", "recorded")
    assert len(notices) == 3
    # The same metric of a ladder with runs of it is fitted.
    assert scaling_methods(SNAPSHOT, "moe-v16", BPB) == CURVES
    view, notices = read(method="published")
    assert (view.method, len(notices)) == ("cubic", 1)


def test_views_that_are_only_shown_differently_are_fitted_once():
    for view in (DEFAULT, AWAY):
        for change in (
            {"target": "1e22"},
            {"target": "words"},
            {"y": "linear" if view.y == "log" else "log"},
            *({"tab": tab} for tab in TABS),
            {"published": not view.published},
        ):
            shown = replace(view, **change)
            assert shown.fit == view.fit
            assert hash(shown.fit) == hash(view.fit)


@pytest.mark.parametrize(
    "change",
    [
        {"ladder": "moe-v16"},
        {"metric": BPB},
        {"method": "parabola"},
        {"law": "log"},
        {"asymptote": "1.5"},
        {"band": "profile"},
        {"level": "0.8"},
        {"compute": "nominal"},
        {"excluded": True},
    ],
    ids=str,
)
def test_views_that_are_fitted_differently_have_fits_of_their_own(change):
    assert replace(DEFAULT, **change).fit != DEFAULT.fit


def test_one_number_written_in_two_ways_is_fitted_once():
    assert read(asymptote="1.6")[0].fit == read(asymptote=" 1.60e0 ")[0].fit
    # What cannot be taken leaves E free.
    assert read(asymptote="nan")[0].fit == DEFAULT.fit


@pytest.mark.parametrize("words", HOSTILE, ids=lambda words: ascii(words[:20]))
@pytest.mark.parametrize("name", ["target", "asymptote"])
def test_what_is_typed_and_no_number_gives_one_sentence(name, words):
    view, notices = read(**{name: words})
    (sentence,) = view.mistakes
    assert repr(words.strip()[:LONGEST_WORDS]) in sentence
    assert len(sentence) < 400
    assert len(notices) == (len(words) > LONGEST_WORDS)
    assert all(len(notice) < 200 for notice in notices)
    assert view.pinned is None
    assert view.target_flops == (None if name == "target" else 1e24)
    assert ScalingView.read(view.to_query(SNAPSHOT), SNAPSHOT) == (view, [])


@pytest.mark.parametrize("words", HOSTILE, ids=lambda words: ascii(words[:20]))
def test_what_is_not_offered_gives_one_notice_each(words):
    names = [
        name
        for name in ScalingView.__dataclass_fields__
        if name not in ("asymptote", "target", "ladder", "metric")
    ]
    for name in names:
        view, notices = read(**{name: words})
        (notice,) = notices
        assert notice.startswith(f"The link asks for {name} ")
        assert len(notice) < 400
        assert view == DEFAULT
    view, notices = read(ladder=words, metric=words)
    assert (view, len(notices)) == (DEFAULT, 2)


@pytest.mark.parametrize(
    ("target", "flops"),
    [
        ("1e15", 1e15),
        ("1e26", 1e26),
        ("3.5E+22", 3.5e22),
        ("", None),
        ("9.99e14", None),
        ("1.01e26", None),
        ("0", None),
    ],
)
def test_targets_reach_as_far_as_forecasts_do(target, flops):
    view, notices = read(target=target)
    assert (view.target_flops, notices) == (flops, [])
    assert len(view.mistakes) == (flops is None and target != "")


@pytest.mark.parametrize(
    ("asymptote", "pinned"), [("0", 0.0), ("1.6", 1.6), ("999999", 999999.0), ("1e6", None)]
)
def test_e_is_pinned_from_zero_up(asymptote, pinned):
    view, _ = read(asymptote=asymptote)
    assert view.pinned == pinned
    assert len(view.mistakes) == (pinned is None)
    # Whatever the page takes, a law takes too.
    assert dc.LawSettings(asymptote=view.pinned).asymptote == pinned


def test_a_snapshot_without_sweeps_is_said_to_be_one():
    ladders = SNAPSHOT.tables["ladders"]
    others = ladders[ladders["kind"] != "isoflop"]
    bare = replace(SNAPSHOT, tables={**SNAPSHOT.tables, "ladders": others})
    with pytest.raises(dc.DataError, match="no ladder with IsoFLOP curves"):
        ScalingView.read({}, bare)


texts = st.text() | st.sampled_from(
    [
        *(*isoflop_ladders(SNAPSHOT), MACRO, BPB, *CURVES, "published", *LAWS, *BANDS, *LEVELS),
        *(*COMPUTES, "true", "false", "linear", "log", *TABS, "1e24", "1.6", "0", "nan", "1e400"),
    ]
)
queries = st.dictionaries(
    st.sampled_from([*ScalingView.__dataclass_fields__, "utm"]),
    st.lists(texts, min_size=1, max_size=3),
)


@given(queries)
@settings(deadline=None)
def test_any_query_gives_a_valid_view_that_gives_back_its_query(query):
    view, notices = ScalingView.read(query, SNAPSHOT)
    assert view.ladder in isoflop_ladders(SNAPSHOT)
    assert view.metric in isoflop_metrics(SNAPSHOT, view.ladder)
    assert view.method in scaling_methods(SNAPSHOT, view.ladder, view.metric)
    assert view.band in scaling_bands(view.method)
    assert view.compute in scaling_computes(view.method)
    assert all(len(words) < 400 for words in [*notices, *view.mistakes])
    assert ScalingView.read(view.to_query(SNAPSHOT), SNAPSHOT) == (view, [])
    for name, values in query.items():
        if name in ("target", "asymptote"):
            assert getattr(view, name) == values[-1].strip()[:LONGEST_WORDS].rstrip()
        elif name != "utm":
            shown = in_query(getattr(view, name))
            assert shown == values[-1:] or any(f" {name} " in notice for notice in notices)
