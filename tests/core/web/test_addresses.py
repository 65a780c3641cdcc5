"""Addresses: what they begin with is never a visitor's words, and what they hold is encoded."""

import shlex
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delphi_core.web import addresses

WORDS = st.text(max_size=30)
QUERIES = st.dictionaries(
    st.from_regex(r"[a-z]{1,9}", fullmatch=True), st.lists(WORDS, min_size=1, max_size=2)
)


@pytest.fixture(autouse=True)
def no_base(monkeypatch):
    """Without the operator's word."""
    monkeypatch.delenv("DELPHI_BASE_URL", raising=False)


@pytest.mark.parametrize(
    ("own", "base"),
    [
        ("http://127.0.0.1:8501", "http://127.0.0.1:8501"),
        ("https://delphi.example/dash/", "https://delphi.example/dash"),
        ("http://[::1]:8501", "http://[::1]:8501"),
        ('http://"><script>alert(1)</script>', ""),
        ("http://a.example'; rm -rf ~", ""),
        ("http://a.example/?x=1", ""),
        ("http://user@a.example", ""),
        ("javascript:alert(1)", ""),
        ("http://a.example\n", "http://a.example"),
        ("http://a.ex\nample", ""),
        ("", ""),
    ],
)
def test_only_plain_web_addresses_are_taken(own, base):
    assert addresses.base_address(own) == base


def test_the_operators_address_counts(monkeypatch):
    monkeypatch.setenv("DELPHI_BASE_URL", "https://delphi.example/")
    assert addresses.base_address("http://forged.example") == "https://delphi.example"
    monkeypatch.setenv("DELPHI_BASE_URL", "no address")
    assert addresses.base_address("http://own.example") == "http://own.example"


class Frames(HTMLParser):
    """Every tag with its attributes."""

    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attrs):
        """Note one."""
        self.tags.append((tag, dict(attrs)))


@given(QUERIES, WORDS)
def test_embed_code_is_one_frame_whatever_the_view_holds(query, title):
    link = addresses.page_link("https://delphi.example", "/scaling", query)
    reader = Frames()
    reader.feed(addresses.embed_code(link, title))
    reader.close()
    ((tag, found),) = reader.tags
    assert tag == "iframe"
    assert (found["width"], found["height"]) == ("600", "400")
    asked = parse_qs(urlsplit(found["src"]).query, keep_blank_values=True)
    assert asked == query | {"embed": [*query.get("embed", []), "true"]}
    assert set(found) == {"src", "title", "width", "height", "style", "loading"}


@given(QUERIES)
def test_lines_to_paste_hold_the_address_and_nothing_else(query):
    address = addresses.data_address("http://127.0.0.1:1", "runs", query, "csv")
    assert urlsplit(address).path == "/data/runs.csv"
    assert parse_qs(urlsplit(address).query, keep_blank_values=True) == query
    read = []

    class Pandas:
        read_csv = read.append

    # S102: the line is what a visitor would paste.
    exec(addresses.pandas_line(address, "runs"), {"pd": Pandas})  # noqa: S102
    assert read == [address]
    words = shlex.split(addresses.curl_line(address, "runs.csv"))
    assert words[0] == "curl"
    assert words[-3:] == ["--output", "runs.csv", address]
    # A string of R ends at a quote and has escapes by backslashes; the address has neither.
    assert addresses.r_line(address, "runs") == f'runs <- read.csv("{address}")'
    assert not set("\"\\'\n") & set(address)
