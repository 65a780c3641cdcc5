"""The tracking server: values to the last bit, every row of a history, and faults in words."""

import gzip
import json
import math
import pickle
import socket
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import delphi_core as dc
from delphi_core.sources.graphql import KEY_VARIABLE, Endpoint, ServerError
from delphi_core.sources.tracking_server import PROJECTS, TrackingServer
from tests.graphql_server import Instead, TrackedRun, graphql_server

MACRO = "eval/paloma/macro_loss"
RUN = "isoflop-3e+18-d512-L6-B32-adamh_scaling_v6"
QUICK = {"seconds": 0.3, "backoff": 0.0, "longest_wait": 0.1}


@pytest.fixture
def server(tracking_server):
    tracking_server.runs[PROJECTS[0], RUN] = TrackedRun(
        config={
            "trainer": {"value": {"train_batch_size": 32}, "desc": None},
            "model": {"value": {"hidden_dim": 512}},
            "_wandb": {"t": {"1": [2]}},
            "seed": 0,
        },
        summary={MACRO: 3.710956335067749, "throughput/total_tokens": 4304928768},
        history=[{"_step": step, MACRO: 12 / (1 + step), "lr": 0.1} for step in range(40)],
    )
    return tracking_server


@pytest.fixture
def client(server):
    return TrackingServer(Endpoint(server.url, **QUICK))


def refused(client, kind, name=RUN):
    """The sentence that `run` refuses with; it is one, and names the run and the server."""
    with pytest.raises(ServerError) as caught:
        client.run(name)
    sentence = str(caught.value)
    assert caught.value.kind == kind
    assert len(sentence.splitlines()) == 1
    assert sentence.startswith(f"run {name}")
    assert client.endpoint.host in sentence
    return sentence


def test_a_run_as_its_file_would_hold_it(client, server):
    found = client.run(RUN)
    assert found["summary"][MACRO] == 3.710956335067749
    assert found["summary"]["throughput/total_tokens"] == 4304928768
    assert found["config"]["trainer"] == {"train_batch_size": 32}
    assert found["config"]["model"] == {"hidden_dim": 512}
    assert found["config"]["seed"] == 0
    assert len(server.asked) == 1


def test_projects_are_tried_in_order(client, server):
    server.runs[PROJECTS[1], "moe"] = TrackedRun(summary={MACRO: 2.5})
    assert client.run("moe")["summary"] == {MACRO: 2.5}
    assert [v["project"] for _, _, v in server.asked] == ["marin", "marin_moe"]
    sentence = refused(client, "missing", "nobody")
    assert "is not in marin-community/marin or marin-community/marin_moe" in sentence
    with pytest.raises(dc.DataError, match="give it as ENTITY/PROJECT"):
        replace(client, projects=("marin",))


def test_a_project_that_is_refused_does_not_hide_another(client, server):
    denied = json.dumps({"errors": [{"message": "permission denied"}], "data": None}).encode()

    def first_is_private(_query, variables):
        return Instead(denied) if variables["project"] == "marin" else None

    server.always = first_is_private
    server.runs[PROJECTS[1], "moe"] = TrackedRun(summary={MACRO: 2.5})
    assert client.run("moe")["summary"] == {MACRO: 2.5}
    assert "did not take the query: 'permission denied'" in refused(client, "refused")


def test_it_goes_to_another_process(client):
    again = pickle.loads(pickle.dumps(client))  # noqa: S301 - our own
    assert again == client
    assert again.run(RUN) == client.run(RUN)
    with pytest.raises(ServerError) as caught:
        client.run("nobody")
    error = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own
    assert (str(error), error.kind) == (str(caught.value), "missing")


@pytest.mark.parametrize("page", [1, 7, 20, 40, 1000])
def test_a_history_in_one_page_or_many(client, server, page):
    frame = replace(client, page=page).history(RUN, [MACRO])
    assert frame["_step"].to_list() == list(range(40))
    assert frame[MACRO].to_list() == [12 / (1 + step) for step in range(40)]
    assert list(frame) == ["_step", MACRO]
    assert len(server.asked) == 1 + math.ceil(40 / page)
    assert not any("sampledHistory" in query for _, query, _ in server.asked)


def test_a_page_that_could_be_a_sample_is_asked_for_in_parts(client, server):
    # Nine rows a step: more than a page of a hundred steps has room for.
    rows = [{"_step": step, f"part{i}": i} for step in range(100) for i in range(9)]
    server.runs[PROJECTS[0], "many"] = TrackedRun(history=rows)
    frame = replace(client, page=100).history("many", ["part8", "part0"])
    assert frame["_step"].to_list() == list(range(100))
    assert (set(frame["part8"]), set(frame["part0"])) == ({8.0}, {0.0})
    server.runs[PROJECTS[0], "more"] = TrackedRun(history=rows * 5)
    with pytest.raises(ServerError, match="has more rows than it gives at once") as caught:
        replace(client, page=100).history("more", ["part8"])
    assert caught.value.kind == "large"


def test_a_history_that_comes_short_is_said(client, server):
    server.runs[PROJECTS[0], RUN].line_count = 41
    with pytest.raises(ServerError, match="gave 40 of the 41 rows it says it has; try again"):
        client.history(RUN, [MACRO])
    logged = client.logged(RUN, [MACRO])
    assert len(logged.values) == 40
    assert len(logged.notes) == 1


def test_a_resumed_run_counts_as_it_came_last(client, server):
    server.runs[PROJECTS[0], "resumed"] = TrackedRun(
        history=[
            {"_step": 10, MACRO: 5.0, "other": 1.0},
            {"_step": 20, MACRO: 4.0},
            {"_step": 30, "lr": 0.1},
            {"_step": 20, MACRO: 4.5},
            {"_step": 40, MACRO: "NaN"},
            {"_step": 50, MACRO: "Infinity"},
            {"_step": 60, MACRO: float("-inf")},
            {"_step": 70, MACRO: None},
            {"_step": 80, "eval": {"paloma": {"macro_loss": 3.0}}},
            {"_step": 10, "lr": 0.2},
        ]
    )
    frame = client.history("resumed", [MACRO, "other"])
    assert frame["_step"].to_list() == [10, 20, 40, 50, 60, 70, 80]
    np.testing.assert_array_equal(frame[MACRO], [5.0, 4.5, *[np.nan] * 4, 3.0])
    np.testing.assert_array_equal(frame["other"], [1.0, *[np.nan] * 6])
    assert client.history("resumed", ["nothing"]).empty


def test_a_history_without_a_known_end_is_read_until_there_is_no_more(client, server):
    def unknown(query, _):
        return None if "history(" in query else Instead(run_with(historyKeys=None))

    server.always = unknown
    assert replace(client, page=15).history(RUN, [MACRO])["_step"].to_list() == list(range(40))


def test_a_run_without_history(client, server):
    server.runs[PROJECTS[0], "new"] = TrackedRun()
    assert client.history("new", [MACRO]).empty
    server.always = lambda *_: Instead(b'{"data": {"project": {"run": {"config": null}}}}')
    assert client.run("new") == {"config": {}, "summary": {}}


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again(client, server, status):
    server.instead = [Instead(status=status), Instead(status=status)]
    assert client.run(RUN)["summary"][MACRO] == 3.710956335067749
    assert len(server.asked) == 3


def test_a_server_that_stays_busy_is_given_up(client, server):
    server.always = lambda *_: Instead(b"<html>", 503, {"Retry-After": "3600"})
    begun = time.monotonic()
    sentence = refused(client, "failing")
    assert "answered HTTP 503, also when asked 3 times; try later" in sentence
    assert time.monotonic() - begun < client.endpoint.limit
    assert len(server.asked) == 3
    refused(replace(client, endpoint=replace(client.endpoint, attempts=1)), "failing")
    assert len(server.asked) == 4


def test_a_broken_connection_is_tried_once_more(client, server):
    server.instead = [ConnectionError]
    assert client.run(RUN)["config"]["seed"] == 0
    server.instead = [ConnectionError] * 9
    assert "cannot be read: the connection failed" in refused(client, "failing")
    assert len(server.asked) == 2 + 2


@pytest.mark.parametrize("how", ["nothing", "headers", "drip", "slow headers"])
def test_a_slow_server_is_given_up_within_the_limit(client, server, how):
    server.stalls = how
    begun = time.monotonic()
    assert "gave no whole answer within the limit (0.3 s a step" in refused(client, "silent")
    assert time.monotonic() - begun < client.endpoint.limit + 0.5


def test_slow_pages_are_asked_for_in_parts(client, server):
    def slow(query, variables):
        many = "history(" in query and variables["maxStep"] - variables["minStep"] > 25
        return Instead(b"x" * 5000) if many else None

    server.always = slow
    small = replace(client, endpoint=replace(client.endpoint, largest=3000))
    assert len(small.history(RUN, [MACRO])) == 40
    spans = [v["maxStep"] - v["minStep"] for _, query, v in server.asked if "history(" in query]
    assert spans[-2:] == [25, 15]


def test_a_history_has_a_limit_of_its_own(client):
    with pytest.raises(ServerError, match=r"gave its history only up to step 0 within 0 s"):
        replace(client, seconds=0.0).history(RUN, [MACRO])


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_beyond_the_largest_is_not_taken(client, server, packed):
    body = b"[" + b"0," * 2**22
    headers = {"Content-Encoding": "gzip"} if packed else {}
    server.always = lambda *_: Instead(gzip.compress(body) if packed else body, 200, headers)
    small = replace(client, endpoint=replace(client.endpoint, largest=2**20, seconds=5.0))
    assert "sent more than 1 MiB, the most that is taken" in refused(small, "large")


def run_with(**fields):
    return json.dumps({"data": {"project": {"run": fields}}}).encode()


NONSENSE = {
    "HTML": (b"<html>Sign in</html>", "answered HTTP 200 with 'text/html' that is no JSON"),
    "nothing": (b"", "that is no JSON"),
    "half of it": (b'{"data": {"pro', "that is no JSON"),
    "binary": (bytes(range(256)), "that is no JSON"),
    "deep": (b"[" * 200_000, "that is no JSON"),
    "a list": (b"[]", "JSON that is no GraphQL answer"),
    "null": (b"null", "JSON that is no GraphQL answer"),
    "no data": (b"{}", "answered HTTP 200 without data"),
    "data as text": (b'{"data": "x"}', "answered HTTP 200 without data"),
    "project as text": (b'{"data": {"project": "x"}}', "answered with text in place of a run"),
    "run as number": (b'{"data": {"project": {"run": 3}}}', "with a number in place of a run"),
    "run as list": (b'{"data": {"project": {"run": []}}}', "with a list in place of a run"),
    "config half": (run_with(config='{"a": ', summaryMetrics="{}"), "its config is no JSON"),
    "config as list": (run_with(config="[1]"), "its config is a list, not an object"),
    "summary as flag": (run_with(summaryMetrics=True), "its summary is a flag, not an object"),
    "summary as number": (run_with(summaryMetrics="3"), "its summary is a number, not an object"),
}


@pytest.mark.parametrize("case", NONSENSE)
def test_nonsense_is_one_sentence(client, server, case):
    body, words = NONSENSE[case]
    server.always = lambda *_: Instead(body, headers={"Content-Type": "text/html; charset=utf-8"})
    assert words in refused(client, "nonsense")


ERRORS = {
    "message": (b'{"errors": [{"message": "no such field"}]}', "the query: 'no such field'"),
    "control codes": (b'{"errors": [{"message": "\\u001b[31m\\n"}]}', r"query: '\x1b[31m\n'"),
    "text": (b'{"errors": "bad"}', "did not take the query: 'bad'"),
    "no message": (b'{"errors": [{}]}', "did not take the query: 'no reason given'"),
}


@pytest.mark.parametrize("case", ERRORS)
@pytest.mark.parametrize("status", [200, 400])
def test_graphql_errors_are_said(client, server, case, status):
    body, words = ERRORS[case]
    server.always = lambda *_: Instead(body, status)
    assert words in refused(client, "refused")


HISTORY = {
    "null": (None, "its history is null, not a list"),
    "text": ("x", "its history is text, not a list"),
    "half a line": (['{"_step": 1'], "its history is no JSON"),
    "a number a line": (["3"], "its history is a number, not an object"),
    "no step": (['{"loss": 1}'], "a row of its history has no _step"),
    "half a step": (['{"_step": 0.5}'], "a row of its history has no _step"),
    "endless step": (['{"_step": 1e400}'], "a row of its history has no _step"),
}


@pytest.mark.parametrize("case", HISTORY)
def test_a_history_without_sense_is_one_sentence(client, server, case):
    history, words = HISTORY[case]
    server.always = lambda query, _: (
        Instead(run_with(history=history)) if "history(" in query else None
    )
    with pytest.raises(ServerError) as caught:
        client.history(RUN, [MACRO])
    assert words in str(caught.value)
    assert RUN in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_says_what_to_do_about_the_key(client, server, monkeypatch, status):
    server.always = lambda *_: Instead(b"", status)
    sentence = refused(client, "refused")
    assert f"(HTTP {status}) without a key" in sentence
    assert "set WANDB_API_KEY and add --server-key" in sentence
    monkeypatch.setenv(KEY_VARIABLE, "secret")
    sentence = refused(with_key(client), "refused")
    assert "with the key of WANDB_API_KEY; public projects are read without one" in sentence
    assert "leave out --server-key" in sentence
    assert "secret" not in sentence


def with_key(client):
    return replace(client, endpoint=replace(client.endpoint, with_key=True))


def test_a_key_is_sent_only_when_asked_for(client, server, monkeypatch, tmp_path):
    monkeypatch.setenv(KEY_VARIABLE, "secret")
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login api password other\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    client.run(RUN)
    assert "authorization" not in {name.lower() for name in server.asked[-1][0]}
    assert "secret" not in repr(with_key(client))
    with_key(client).run(RUN)
    assert server.asked[-1][0]["Authorization"] == "Basic YXBpOnNlY3JldA=="


def test_a_key_that_is_not_there(client, server, monkeypatch):
    with pytest.raises(dc.DataError, match="WANDB_API_KEY is not set; set it, or read without"):
        with_key(client).run(RUN)
    monkeypatch.setenv(KEY_VARIABLE, "half\x07a key")
    with pytest.raises(dc.DataError, match="WANDB_API_KEY holds no usable key"):
        with_key(client).run(RUN)
    monkeypatch.setenv(KEY_VARIABLE, "secret")
    with pytest.raises(dc.DataError, match="not sent to another over plain http"):
        TrackingServer(Endpoint("http://another", with_key=True)).run(RUN)
    assert not server.asked


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(client, server, monkeypatch, status):
    monkeypatch.setenv(KEY_VARIABLE, "secret")
    with graphql_server() as other:
        server.always = lambda *_: Instead(b"", status, {"Location": f"{other.url}/graphql"})
        sentence = refused(with_key(client), "failing")
        assert f"redirects to '{other.url.removeprefix('http://')}'" in sentence
        assert "with --server" in sentence
        assert not other.asked
    server.always = lambda *_: Instead(b"", status)
    assert "redirects to another address" in refused(client, "failing")


@pytest.mark.parametrize(
    "address",
    [
        *("", "api.wandb.ai", "ftp://api.wandb.ai", "https://", "https://host:port", "http://[::1"),
        *("https://me:word@host", "https://host/?a=b", "https://host/#a", "http://host\n", "a b"),
    ],
)
def test_a_bad_address_is_one_sentence(address):
    with pytest.raises(dc.DataError, match="is no address of a server; give it as https://HOST"):
        Endpoint(address)


@pytest.mark.parametrize("address", ["https://host", "https://host/", "https://host/graphql"])
def test_the_path_need_not_be_given(address):
    assert Endpoint(address).url == "https://host/graphql"


def test_no_server_there(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        client = TrackingServer(Endpoint(f"http://127.0.0.1:{port}", **QUICK))
        assert "cannot be read: the connection failed; check --server" in refused(client, "failing")


def test_a_name_that_nobody_knows(monkeypatch):
    def unknown(*_arguments):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    client = TrackingServer(Endpoint("https://nowhere", **QUICK))
    assert "no such host is known; check --server" in refused(client, "failing")


def test_a_name_that_is_long_looked_up(monkeypatch):
    over = threading.Event()

    def slow(*_arguments):
        over.wait()
        raise socket.gaierror(socket.EAI_AGAIN, "Try again")

    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(socket, "getaddrinfo", slow)
    client = TrackingServer(Endpoint("https://nowhere", **QUICK))
    refused(client, "silent")
    over.set()


def test_no_endpoint_there(client, server):
    server.always = lambda *_: Instead(b"not found", 404)
    assert "has no GraphQL endpoint (HTTP 404); check --server" in refused(client, "failing")
