"""The address that this server is reached under, for links that others are to open.

DELPHI_BASE_URL names it. Otherwise it is the host that was asked for, if that is one of
DELPHI_ALLOWED_HOSTS (names, separated by commas or blanks) or this machine: whoever asks may claim
any host, and a preview must not send others there.
"""

from __future__ import annotations

import os
import re
from urllib.parse import urlsplit

_HOST = re.compile(r"([A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:]{2,45}\])(:[0-9]{1,5})?")
THIS_MACHINE = ("localhost", "127.0.0.1", "[::1]")


def base_url(scheme: str, host: str) -> str:
    """The address without a slash at its end; empty where it is not known.

    Parameters
    ----------
    scheme, host
        As asked: http or https, and the Host header, which may hold anything.
    """
    named = os.environ.get("DELPHI_BASE_URL", "").strip().rstrip("/")
    if named:
        return named if _is_address(named) else ""
    found = _HOST.fullmatch(host)
    if found is None or scheme not in ("http", "https"):
        return ""
    allowed = {name.lower() for name in _allowed_hosts()}
    return f"{scheme}://{host}" if {host.lower(), found[1].lower()} & allowed else ""


def _allowed_hosts() -> list[str]:
    named = os.environ.get("DELPHI_ALLOWED_HOSTS", "")
    return [*THIS_MACHINE, *filter(None, re.split(r"[\s,]+", named))]


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    plain = not (parts.query or parts.fragment or re.search(r"[\s<>\"'\\]", text))
    return parts.scheme in ("http", "https") and bool(_HOST.fullmatch(parts.netloc)) and plain
