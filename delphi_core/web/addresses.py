"""Addresses of pages and of their tables, and what is pasted elsewhere to use them.

An address is made of a base, a path of ours and parameters that are encoded, so that it holds
nothing that HTML, a shell or a string of Python or R would take for more than text.
"""

from __future__ import annotations

import re
import shlex
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from delphi_core.web.base_url import base_url

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EMBED_SIZE = (600, 400)
"""Pixels of an embedded view, wide and high."""
_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?"
_BASE = re.compile(rf"https?://{_HOST}(?:/[A-Za-z0-9._~-]+)*")


def base_address(own: str) -> str:
    """What addresses on a page begin with, without a slash at the end.

    Parameters
    ----------
    own
        What the visitor's browser says the server is reached at; DELPHI_BASE_URL counts instead.

    Returns
    -------
    str
        Empty, so that addresses are relative, where neither is a plain web address.
    """
    plain = own.strip().rstrip("/")
    return base_url("", "") or (plain if _BASE.fullmatch(plain) else "")


def page_link(base: str, path: str, query: Mapping[str, Sequence[str]]) -> str:
    """Address that opens a view.

    Parameters
    ----------
    base
        As `base_address` or `base_url` gives it.
    path
        Of the page, such as /scaling.
    query
        As `ViewState.to_query` gives it.
    """
    return _with_query(f"{base}{path}", query)


def data_address(base: str, table: str, query: Mapping[str, Sequence[str]], ending: str) -> str:
    """Address of a table of a view.

    Parameters
    ----------
    base
        As `base_address` or `base_url` gives it.
    table
        Its name.
    query
        As `ViewState.to_query` gives it, without the table's own name.
    ending
        csv, json or metadata.json.
    """
    return _with_query(f"{base}/data/{table}.{ending}", query)


def embed_code(link: str, title: str) -> str:
    """HTML that shows a view in another page.

    Parameters
    ----------
    link
        As `page_link` gives it.
    title
        What the frame shows, for those who do not see it.
    """
    address = f"{link}{'&' if '?' in link else '?'}embed=true"
    width, height = EMBED_SIZE
    return (
        f'<iframe src="{escape(address)}" title="{escape(title)}" width="{width}" '
        f'height="{height}" style="border: 0" loading="lazy"></iframe>'
    )


def pandas_line(address: str, name: str) -> str:
    """Python that reads a table into a variable."""
    return f'{name} = pd.read_csv("{address}")'


def r_line(address: str, name: str) -> str:
    """R that reads a table into a variable."""
    return f'{name} <- read.csv("{address}")'


def curl_line(address: str, file: str) -> str:
    """A shell's line that saves a table under a name of letters, digits, dots, dashes and such."""
    return f"curl --fail --silent --show-error --output {shlex.quote(file)} {shlex.quote(address)}"


def _with_query(address: str, query: Mapping[str, Sequence[str]]) -> str:
    return f"{address}?{urlencode(query, doseq=True)}" if query else address
