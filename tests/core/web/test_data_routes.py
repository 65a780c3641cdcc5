"""Data addresses, asked as a server asks them: the page's tables, and one sentence otherwise."""

import asyncio
import io
import json
import logging
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import urlencode

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette

import delphi_core as dc
from delphi_core.browse import filtered
from delphi_core.export import optima_csv, points_csv
from delphi_core.spreadsheet import spreadsheet_csv
from delphi_core.web import data_answer, data_routes
from delphi_core.web.data_request import LONGEST_QUERY, data_query
from delphi_core.web.page_index import PAGES, data_names
from delphi_core.web.scaling_view import ScalingView
from delphi_core.web.view_state import LONGEST_WORDS

MACRO = "eval/paloma/macro_loss"
C4 = "eval/paloma/c4_en/bpb"
APP = Starlette(routes=data_routes.ROUTES)


@pytest.fixture(autouse=True)
def allowed_host(monkeypatch):
    """The host that tests ask is one of ours."""
    monkeypatch.setenv("DELPHI_ALLOWED_HOSTS", "delphi.example")
    monkeypatch.delenv("DELPHI_BASE_URL", raising=False)


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes
    parts: int

    @property
    def text(self):
        """As text."""
        return self.body.decode()

    @property
    def json(self):
        """As JSON."""
        return json.loads(self.body)

    @property
    def table(self):
        """As a table, read as anybody reads it."""
        return pd.read_csv(io.BytesIO(self.body))


async def answered(file, query="", method="GET", headers=None, app=APP):
    """The answer to one request; a query is text, or parameters by name."""
    text = query if isinstance(query, str) else urlencode(query, doseq=True)
    named = {"host": "delphi.example"} | (headers or {})
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "https",
        "path": f"/data/{file}",
        "raw_path": b"",
        "root_path": "",
        "query_string": text.encode(),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in named.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    sent = []
    asked = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive():
        if asked:
            return asked.pop()
        await asyncio.Event().wait()  # the reader stays
        return None

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    start, *parts = sent
    found = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
    bodies = [part["body"] for part in parts if part.get("body")]
    return Answer(start["status"], found, b"".join(bodies), len(bodies))


def in_own_loop(coroutine):
    """What a coroutine gives; a browser in another test keeps a loop running in this thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def ask(file, query="", method="GET", headers=None):
    """The answer to one request."""
    return in_own_loop(answered(file, query, method, headers))


def test_rows_of_a_snapshots_table_as_the_data_page_filters_them(snapshot):
    query = {"ladder": "moe-v16", "role": "isoflop", "text": "d512", "sort": "-flops"}
    found = ask("runs.csv", query)
    assert found.status == 200
    assert found.text == spreadsheet_csv(filtered(snapshot.tables["runs"], **query))
    assert len(found.table) > 0
    assert found.headers["content-type"] == "text/csv; charset=utf-8"
    assert found.headers["content-disposition"] == (
        'inline; filename="runs_moe-v16_isoflop_d512.csv"'
    )


def test_points_and_optima_are_those_of_the_fit(snapshot):
    isoflop = dc.fit_isoflops(snapshot.records("delphi", MACRO), method="marin")
    context = {"snapshot": snapshot.id, "ladder": "delphi", "metric": MACRO}
    assert ask("isoflop-points.csv", {"method": "marin"}).text == points_csv(isoflop)
    optima = ask("isoflop-optima.csv", {"method": "marin"})
    assert optima.text == optima_csv(isoflop, **context)
    # Marin's published optimum at its first bucket.
    assert optima.table["optimal_tokens"].iloc[0] == pytest.approx(1.479420e9, rel=1e-6)


def test_forecasts_are_those_of_the_law(snapshot):
    isoflop = dc.fit_isoflops(snapshot.records("delphi", MACRO), method="cubic")
    law = dc.fit_loss_law(isoflop)
    found = ask("scaling-forecasts.csv", {"target": "1e25"}).table
    expected = dc.held_out_table(law, dc.held_out_runs(isoflop.points), [1e25])
    assert found["predicted"].to_list() == expected["predicted"].to_list()
    assert found["flops"].max() == 1e25
    curve = ask("scaling-law.csv").table
    assert curve["E"].iloc[0] == law.asymptote
    assert curve["described"].iloc[0] == law.describe()


def test_a_trajectory_is_that_of_the_notebook(snapshot):
    found = ask("trajectories-forecast.csv", {"method": "per-fraction"}).table
    expected = dc.forecast_trajectory(snapshot, "hero", method="per-fraction")
    assert found["predicted"].equals(expected["predicted"])
    # Marin's forecast of the end, as published.
    end = found[found["fraction"] == 1.0]["predicted"].iloc[0]
    assert round(end, 4) == 2.0388


@pytest.mark.parametrize("table", [name for name in data_names() if name != "runs"])
def test_every_table_is_had_as_csv_and_as_json_with_the_same_rows(table):
    as_csv, as_json, about = (ask(f"{table}.{e}") for e in ("csv", "json", "metadata.json"))
    assert (as_csv.status, as_json.status, about.status) == (200, 200, 200)
    assert as_json.headers["content-type"] == "application/json; charset=utf-8"
    rows, found = as_csv.table, as_json.json
    assert found["metadata"] == about.json
    assert len(found["rows"]) == len(rows) == about.json["rows"]
    assert [column["name"] for column in about.json["columns"]] == rows.columns.to_list()
    for row, own in zip(found["rows"][:20], rows.head(20).to_dict("records"), strict=True):
        assert list(row) == rows.columns.to_list()
        for name, cell in row.items():
            if isinstance(cell, float):
                assert cell == own[name]
            if cell is None:
                assert pd.isna(own[name])


def test_metadata_say_what_it_is_how_it_was_got_and_where_from(snapshot):
    found = ask("scaling-law.metadata.json", {"law": "log", "asymptote": "1.6"}).json
    assert found["snapshot"] == {"id": snapshot.id, "created_at": snapshot.created_at}
    assert (found["settings"]["law"], found["settings"]["asymptote"]) == ("log", "1.6")
    isoflop = dc.fit_isoflops(snapshot.records("delphi", MACRO), method="cubic")
    law = dc.fit_loss_law(isoflop, law="log", asymptote=1.6)
    assert found["described"] == [law.describe(), isoflop.describe()]
    columns = {column["name"]: column for column in found["columns"]}
    assert columns["predicted"]["unit"] == snapshot.unit(MACRO)
    assert columns["flops"]["unit"] == "FLOP"
    assert "irreducible" in columns["E"]["description"]
    urls = snapshot.tables["sources"].set_index("source")["url"]
    assert found["sources"]
    assert all(urls[source["source"]] == source["url"] for source in found["sources"])
    page = "https://delphi.example/scaling?law=log&asymptote=1.6"
    assert found["links"]["page"] == page
    assert found["links"]["csv"] == page.replace("scaling?", "data/scaling-law.csv?")
    assert page in found["citation"]["text"]
    assert snapshot.id in found["citation"]["bibtex"]
    assert found["version"] == dc.__version__


def test_the_links_of_metadata_lead_to_the_same_table():
    found = ask("runs.metadata.json", {"ladder": "delphi", "sort": "-tokens"}).json
    for ending in ("csv", "json", "metadata.json"):
        file, _, query = (
            found["links"][ending].removeprefix("https://delphi.example/data/").partition("?")
        )
        assert (
            ask(file, query).body
            == ask(f"runs.{ending}", {"ladder": "delphi", "sort": "-tokens"}).body
        )


@pytest.mark.parametrize(
    ("table", "shown"),
    [
        ("isoflop-points", {"y": "log"}),
        ("scaling-law", {"tab": "size"}),
        ("trajectories-forecast", {"tab": "curve"}),
        ("recipes-laws", {"tab": "pairs"}),
        ("planner-valley", {"tab": "valley"}),
    ],
)
def test_what_shows_a_chart_otherwise_changes_no_row(table, shown):
    shown |= {"zoom": "9,10,3,4", "embed": "true", "embed_options": "dark_theme"}
    seen = ask(f"{table}.csv", shown | {"utm_source": "chat"})
    assert seen.status == 200
    assert seen.body == ask(f"{table}.csv").body


@pytest.mark.parametrize("page", PAGES.values(), ids=lambda page: page.title)
def test_the_address_of_a_views_tables_does_not_hang_on_its_zoom(snapshot, page):
    view, notices = page.view.read({"zoom": ["9,10,3,4"]}, snapshot)
    assert notices == []
    assert data_query(view, snapshot) == {}
    # The link does, on every page that has a chart.
    zoomed = {"zoom": ["9,10,3,4"]} if page.chart else {}
    assert view.to_query(snapshot) == zoomed


REFUSED = [
    ("rus.csv", "", 404, "There is no table 'rus'; did you mean 'runs'?"),
    ("isoflop.csv", "", 404, "'isoflop-points'"),
    ("runs.xlsx", "", 404, "'runs.xlsx' is no table here; an address ends in .csv"),
    ("runs", "", 404, "'runs' is no table here"),
    ("runs.csv", {"laddr": "delphi"}, 400, "no parameter 'laddr' here; did you mean 'ladder'?"),
    ("runs.csv", {"ladder": "delphi-2"}, 400, "(did you mean 'delphi'?)."),
    ("runs.csv", {"table": "evals"}, 400, "leave the parameter out"),
    ("isoflop-points.csv", {"band": "delta"}, 400, "There is no parameter 'band' here"),
    ("scaling-law.csv", {"asymptote": "-1"}, 400, "E is '-1'; it must be a number from 0 up."),
    ("scaling-law.csv", {"target": "big"}, 400, "such as 1e24."),
    ("trajectories-forecast.csv", {"asymptote": "x"}, 400, "or fit."),
    ("runs.csv", {"text": "x" * (LONGEST_WORDS + 1)}, 400, "text of 101 characters"),
    ("isoflop-points.csv", {"zoom": "1,2"}, 400, "not four numbers"),
    ("runs.csv", "&".join(f"a{k}=" for k in range(300)), 400, "More than 200 parameters"),
    ("runs.csv", {"text": "x" * LONGEST_QUERY}, 414, "at most 4,096 are read."),
]  # fmt: skip


@pytest.mark.parametrize(("file", "query", "status", "words"), REFUSED)
def test_what_is_not_to_be_had_is_refused_in_words(file, query, status, words):
    found = ask(file, query)
    assert found.status == status
    assert words in found.text
    assert found.headers["content-type"] == "text/plain; charset=utf-8"
    assert len(found.text.splitlines()) == 1
    assert "is shown" not in found.text
    assert found.headers["access-control-allow-origin"] == "*"


def test_each_mistake_has_a_sentence():
    found = ask("scaling-law.csv", {"law": "cube", "band": "wide", "asymptote": "x", "no": "1"})
    assert found.status == 400
    assert len(found.text.splitlines()) == 4


def test_a_view_without_the_table_says_why():
    query = {"ladder": "delphi", "asymptote": "3.5"}
    view, _ = ScalingView.read({name: [value] for name, value in query.items()}, dc.load_snapshot())
    assert view.mistakes == []
    found = ask("scaling-law.csv", query)
    assert found.status == 404
    assert found.text.startswith("This view has no table law. No loss law: ")
    assert ask("scaling-optima.csv", query).status == 200


HOSTILE = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        ['"><script>alert(1)</script>', "\0", "\r\nSet-Cookie: a=b", "../../etc/passwd", "%", "%zz"]
    ),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.sampled_from(["runs.csv", "scaling-law.json", "isoflop-optima.metadata.json"]),
    st.dictionaries(
        st.one_of(HOSTILE, st.sampled_from(["ladder", "metric", "asymptote", "text", "budgets"])),
        HOSTILE,
        max_size=3,
    ),
)
def test_no_parameters_break_an_answer(file, query):
    found = ask(file, query)
    assert found.status in (200, 400, 404, 414)
    assert "\n" not in "".join(found.headers.values())
    if found.status != 200:
        assert "Traceback" not in found.text
        assert found.headers["content-type"].startswith("text/plain")
        assert 1 <= len(found.text.rstrip("\n").split("\n")) <= 10


@pytest.mark.parametrize("host", ['"><script>', "a b", "[", "evil.example", "evil.example/x", ""])
def test_a_forged_host_gets_into_no_address(host):
    found = ask("runs.metadata.json", headers={"host": host})
    assert found.status == 200
    assert found.json["links"]["csv"] == "/data/runs.csv"
    assert "<script" not in found.text
    assert "evil" not in found.text


def test_the_operators_address_stands_in_links(monkeypatch):
    monkeypatch.setenv("DELPHI_BASE_URL", "https://dash.example")
    found = ask("runs.json", headers={"host": "forged.example"})
    assert found.json["metadata"]["links"]["page"] == "https://dash.example/data"
    assert "forged" not in found.text


def test_a_tag_is_of_figures_view_table_and_ending():
    queries = [
        ("runs.csv", ""),
        ("runs.json", ""),
        ("runs.csv", "ladder=delphi"),
        ("evals.csv", ""),
    ]
    tags = [ask(file, query).headers["etag"] for file, query in queries]
    assert len(set(tags)) == len(tags)
    assert ask("runs.csv", "utm_source=x&ladder=").headers["etag"] == tags[0]


@pytest.mark.parametrize("sent", ["{}", '"0", {}', "*", "strong"])
def test_who_has_the_answer_gets_none(sent):
    first = ask("evals.csv")
    tag = first.headers["etag"]
    tag = tag.removeprefix("W/") if sent == "strong" else sent.format(tag)
    again = ask("evals.csv", headers={"if-none-match": tag})
    assert (again.status, again.body) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert again.headers["access-control-allow-origin"] == "*"


def test_who_has_other_figures_gets_the_new_ones(monkeypatch, snapshot):
    tag = ask("evals.csv").headers["etag"]
    other = dc.Snapshot("0" * 12, snapshot.created_at, snapshot.tables)
    kept = type("Kept", (), {"snapshot": other})
    monkeypatch.setattr(data_routes, "kept_snapshot", lambda: kept)
    found = ask("evals.csv", headers={"if-none-match": tag})
    assert found.status == 200
    assert found.headers["etag"] != tag


def test_other_pages_may_read_and_nothing_else():
    found = ask("runs.csv", method="OPTIONS")
    assert (found.status, found.body) == (204, b"")
    assert found.headers["access-control-allow-methods"] == "GET, HEAD, OPTIONS"
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        refused = ask("runs.csv", method=method)
        assert (refused.status, refused.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
        assert "only read" in refused.text


def test_a_fault_is_one_sentence_and_in_the_log(monkeypatch, caplog):
    def broken(*_):
        raise ZeroDivisionError("inside")

    monkeypatch.setattr(data_routes, "made_table", broken)
    with caplog.at_level(logging.ERROR):
        found = ask("runs.csv")
    assert found.status == 500
    assert "fault of the server" in found.text
    assert "inside" not in found.text
    assert "ZeroDivisionError" in caplog.text


@pytest.fixture
def places(monkeypatch):
    """Places of this test's own event loop."""
    for name in ("_working", "_sending"):
        monkeypatch.setattr(data_routes, name, asyncio.Semaphore(data_routes.AT_ONCE))


@pytest.mark.usefixtures("places")
def test_too_much_at_once_is_told_to_come_back_and_then_served(monkeypatch):
    monkeypatch.setattr(data_routes, "WAIT_SECONDS", 0.05)
    go, busy, real = threading.Event(), threading.Semaphore(0), data_routes.made_table

    def slow(request):
        busy.release()
        assert go.wait(20)
        return real(request)

    monkeypatch.setattr(data_routes, "made_table", slow)

    async def crowd():
        first = [asyncio.create_task(answered("runs.csv")) for _ in range(data_routes.AT_ONCE)]
        for _ in first:
            assert await asyncio.to_thread(busy.acquire, timeout=20)
        refused = await answered("evals.csv")
        go.set()
        return refused, await asyncio.gather(*first), await answered("evals.csv")

    refused, served, later = in_own_loop(crowd())
    assert (refused.status, refused.headers["retry-after"]) == (503, "5")
    assert "busy" in refused.text
    assert [found.status for found in served] == [200] * data_routes.AT_ONCE
    assert later.status == 200


@pytest.mark.usefixtures("places")
@pytest.mark.parametrize("ending", ["csv", "json"])
def test_a_large_table_is_sent_while_it_is_made(monkeypatch, ending):
    whole = ask(f"trajectories.{ending}")
    monkeypatch.setattr(data_routes, "LARGE", 100)
    sizes = {"csv": "spreadsheet_chunks", "json": "json_chunks"}
    real = getattr(data_answer, sizes[ending])
    monkeypatch.setattr(data_answer, sizes[ending], lambda *given: real(*given, rows=100))
    found = ask(f"trajectories.{ending}")
    assert found.body == whole.body
    assert found.parts > 30
    assert "content-length" not in found.headers
    head = ask(f"trajectories.{ending}", method="HEAD")
    assert (head.status, head.body) == (200, b"")
    assert {name: head.headers[name] for name in ("etag", "content-type")} == {
        name: found.headers[name] for name in ("etag", "content-type")
    }


def test_a_head_of_a_small_table_has_its_length():
    found = ask("runs.csv")
    head = ask("runs.csv", method="HEAD")
    assert head.headers == found.headers
    assert int(head.headers["content-length"]) == len(found.body)


@pytest.mark.usefixtures("places")
def test_who_reads_too_slowly_keeps_nobody_out(monkeypatch):
    monkeypatch.setattr(data_routes, "LARGE", 100)
    monkeypatch.setattr(data_routes, "SEND_SECONDS", 0.05)

    async def stuck(scope, receive, send):
        async def wait(message):
            await send(message)
            await asyncio.Event().wait()

        await APP(scope, receive, wait)

    async def one_after_another():
        for _ in range(data_routes.AT_ONCE + 1):
            with pytest.raises(TimeoutError):
                await answered("trajectories.csv", app=stuck)
        return await answered("runs.csv")

    assert in_own_loop(one_after_another()).status == 200


def test_a_table_is_made_once_for_the_same_figures_and_view(monkeypatch):
    monkeypatch.setattr(data_answer, "_kept", data_answer.OrderedDict())
    ask("isoflop-optima.csv", "method=marin")
    (table,) = data_answer._kept.values()  # noqa: SLF001
    ask("isoflop-optima.json", "method=marin")
    assert list(data_answer._kept.values())[0] is table  # noqa: SLF001, RUF015
    monkeypatch.setattr(data_answer, "KEPT", 2)
    for name in ("runs", "evals", "sources"):
        ask(f"{name}.csv")
    assert [key[-1] for key in data_answer._kept] == ["evals", "sources"]  # noqa: SLF001


def test_asking_without_a_page_logs_nothing(caplog):
    with caplog.at_level(logging.WARNING):
        assert ask("trajectories-forecast.csv", {"method": "joint"}).status == 200
        assert ask("isoflop-points.csv", {"ladder": "moe-aug-hero"}).status == 200
    assert [record.getMessage() for record in caplog.records] == []


def test_only_published_optima_are_given_as_published(snapshot):
    found = ask("isoflop-optima.csv", {"metric": C4}).table
    published = snapshot.tables["published_optima"]
    own = published[(published["ladder"] == "delphi") & (published["metric"] == C4)]
    assert found["optimal_tokens"].to_list() == own["optimal_tokens"].to_list()
    about = ask("isoflop-optima.metadata.json", {"metric": C4}).json
    assert re.search("as published", " ".join(about["described"]))
