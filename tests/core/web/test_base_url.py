"""The address a server is reached under: named, or asked for and allowed."""

import pytest

from delphi_core.web.base_url import base_url


@pytest.fixture(autouse=True)
def unnamed(monkeypatch):
    monkeypatch.delenv("DELPHI_BASE_URL", raising=False)
    monkeypatch.delenv("DELPHI_ALLOWED_HOSTS", raising=False)


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8501", "127.0.0.1:8501", "[::1]:80", "LOCALHOST"]
)
def test_this_machine_is_taken_as_asked(host):
    assert base_url("http", host) == f"http://{host}"


FORGED = [
    "",
    "evil.example",
    "localhost.evil.example",
    "localhost@evil.example",
    "evil.example:8501#localhost",
    "localhost:8501/../evil.example",
    'localhost"><script>',
    "localhost:8501\r\nx: y",
    "localhost, evil.example",
    "localhost:999999",
    "dash.example.evil.example",
    "x" * 10_000,
]


@pytest.mark.parametrize("host", FORGED)
def test_a_forged_host_gives_no_address(monkeypatch, host):
    monkeypatch.setenv("DELPHI_ALLOWED_HOSTS", "dash.example, other.example:8443")
    assert base_url("https", host) == ""


def test_hosts_are_allowed_by_name_with_any_port_or_with_one(monkeypatch):
    monkeypatch.setenv("DELPHI_ALLOWED_HOSTS", "dash.example, other.example:8443")
    assert base_url("https", "Dash.Example") == "https://Dash.Example"
    assert base_url("https", "dash.example:8080") == "https://dash.example:8080"
    assert base_url("https", "other.example:8443") == "https://other.example:8443"
    assert base_url("https", "other.example") == ""
    assert base_url("javascript", "dash.example") == ""


def test_a_named_address_is_that_whatever_is_asked(monkeypatch):
    monkeypatch.setenv("DELPHI_BASE_URL", " https://dash.example/delphi/ ")
    assert base_url("http", "evil.example") == "https://dash.example/delphi"


@pytest.mark.parametrize(
    "named", ["dash.example", "ftp://dash.example", "https://a b", 'https://x"', "https://x?y"]
)
def test_what_is_no_address_is_not_used(monkeypatch, named):
    monkeypatch.setenv("DELPHI_BASE_URL", named)
    assert base_url("http", "localhost") == ""
