"""A GraphQL endpoint, asked within limits: of time, of tries, and of what an answer may weigh."""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase, HTTPBasicAuth
from urllib3.exceptions import HTTPError, NameResolutionError, ReadTimeoutError
from urllib3.util import Retry

from delphi_core.errors import DataError, quoted
from delphi_core.sources.time_limit import within

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Kind = Literal["missing", "refused", "silent", "failing", "large", "nonsense"]

KEY_VARIABLE = "WANDB_API_KEY"
"""Environment variable that holds the key; it is sent only where a caller asks for that."""

BUSY = (429, 500, 502, 503, 504)
"""HTTP statuses that are asked again."""

_THIS_MACHINE = ("127.0.0.1", "::1", "localhost")


class ServerError(DataError):
    """An endpoint did not give what it was asked for; the message is one sentence.

    Parameters
    ----------
    kind
        ``missing``: it does not know the thing; ``refused``: it may not give it; ``silent``: no
        whole answer within the limit; ``failing``: an error of its own, or no connection;
        ``large``: the answer weighs too much; ``nonsense``: the answer is not what it should be.
    sentence
        What was wrong, where, and what to do.
    """

    def __init__(self, kind: Kind, sentence: str) -> None:
        super().__init__([sentence])
        self.kind = kind
        self.sentence = sentence

    def __reduce__(self) -> tuple[type[ServerError], tuple[Kind, str]]:
        return type(self), (self.kind, self.sentence)


class _NoKey(AuthBase):
    """Sends nothing; without it requests would send a password it finds in ~/.netrc."""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        return request


@dataclass(frozen=True)
class Endpoint:
    """Where to ask, and within which limits; may be sent to another process.

    Attributes
    ----------
    server
        Address without the path: https://HOST.
    with_key
        Whether the key in the environment is sent. It is never part of this object.
    seconds
        The longest that connecting, the first byte of an answer, and the rest of it may each take.
    attempts
        How often a busy server is asked at most; one that is silent or out of reach, twice.
    backoff
        Seconds before the third attempt, twice as many before the next one.
    longest_wait
        The longest wait between attempts, whatever the server asks for.
    largest
        Bytes of the largest answer that is taken.
    """

    server: str
    with_key: bool = False
    seconds: float = 5.0
    attempts: int = 3
    backoff: float = 0.5
    longest_wait: float = 5.0
    largest: int = 64 * 2**20

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.server)
            good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
            good = good and not (parts.username or parts.password or parts.query or parts.fragment)
        except ValueError:
            good = False
        if not good or not self.server.isprintable() or " " in self.server:
            sentence = f"{quoted(self.server)} is no address of a server; give it as https://HOST."
            raise DataError([sentence])

    @property
    def host(self) -> str:
        """Name of the server, as messages call it."""
        return urlsplit(self.server).netloc

    @property
    def url(self) -> str:
        """Address that is asked."""
        return f"{self.server.rstrip('/').removesuffix('/graphql')}/graphql"

    @property
    def limit(self) -> float:
        """The longest that one question may take, all attempts and waits together, in seconds."""
        return self.attempts * self.seconds + (self.attempts - 1) * self.longest_wait

    def authentication(self) -> AuthBase:
        """How requests are signed: not at all, or by the key in the environment.

        Raises
        ------
        DataError
            The key is to be sent, and there is none or it would be sent in the open.
        """
        if not self.with_key:
            return _NoKey()
        key = os.environ.get(KEY_VARIABLE, "").strip()
        if not key or not key.isascii() or not key.isprintable():
            wrong = "holds no usable key" if key else "is not set"
            raise DataError(
                [f"the key was asked for, but {KEY_VARIABLE} {wrong}; set it, or read without one."]
            )
        parts = urlsplit(self.server)
        if parts.scheme != "https" and parts.hostname not in _THIS_MACHINE:
            sentence = f"the key is not sent to {self.host} over plain http; give it as https."
            raise DataError([sentence])
        return HTTPBasicAuth("api", key)

    @contextmanager
    def session(self) -> Iterator[requests.Session]:
        """Connections for some questions after each other, with or without the key."""
        again = Retry(
            total=self.attempts - 1,
            connect=1,
            read=1,
            allowed_methods={"POST"},
            status_forcelist=BUSY,
            backoff_factor=self.backoff,
            backoff_max=self.longest_wait,
            retry_after_max=self.longest_wait,  # type: ignore[arg-type] # any number does
            raise_on_status=False,
        )
        with requests.Session() as session:
            session.auth = self.authentication()
            session.mount("http://", HTTPAdapter(max_retries=again))
            session.mount("https://", HTTPAdapter(max_retries=again))
            yield session

    def ask(
        self,
        session: requests.Session,
        query: str,
        variables: Mapping[str, object],
        *,
        what: str,
        limit: float | None = None,
    ) -> dict[str, Any]:
        """The `data` of an answer.

        Parameters
        ----------
        session
            As `session` gives it.
        query, variables
            The question.
        what
            What is asked for, as messages call it.
        limit
            Seconds within which there must be an answer, where fewer are left than `limit`.

        Raises
        ------
        ServerError
            There is no answer, or none that can be used.
        """
        limit = self.limit if limit is None else min(limit, self.limit)
        body: dict[str, object] = {"query": query, "variables": dict(variables)}
        try:
            response, content = within(limit, partial(self._post, session, body))
        except (requests.RequestException, HTTPError, OSError, UnicodeError) as error:
            raise self._unreached(error, what, limit) from None
        if content is None:
            mib = self.largest / 2**20
            sentence = f"{what}: {self.host} sent more than {mib:g} MiB, the most that is taken."
            raise ServerError("large", sentence)
        return self._data(response, content, what)

    def _post(
        self, session: requests.Session, body: dict[str, object]
    ) -> tuple[requests.Response, bytes | None]:
        """The answer with its content; None where that is too large."""
        # Redirects are not followed: the key is for this host alone.
        with session.post(
            self.url, json=body, timeout=self.seconds, stream=True, allow_redirects=False
        ) as response:
            content, end = bytearray(), time.monotonic() + self.seconds
            while chunk := response.raw.read1(2**16, decode_content=True):
                content += chunk
                if len(content) > self.largest:
                    return response, None
                if time.monotonic() > end:
                    raise TimeoutError
            return response, bytes(content)

    def _data(self, response: requests.Response, content: bytes, what: str) -> dict[str, Any]:
        """`data` of an answer that has come whole."""
        status, asked = response.status_code, f"{what}: {self.host}"
        if status in (401, 403):
            raise ServerError("refused", f"{asked} refused it (HTTP {status}) {self._about_key()}")
        if 300 <= status < 400:
            there = urlsplit(response.headers.get("Location", "")).netloc
            other = f"to {quoted(there)}" if there else "to another address"
            remedy = "it is not followed; give the server's own address with --server."
            raise ServerError("failing", f"{asked} redirects {other}: {remedy}")
        if status in BUSY:
            times = f"also when asked {self.attempts} times" if self.attempts > 1 else "try again"
            raise ServerError("failing", f"{asked} answered HTTP {status}, {times}; try later.")
        if status == 404:
            sentence = f"{asked} has no GraphQL endpoint (HTTP 404); check --server."
            raise ServerError("failing", sentence)
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            kind = response.headers.get("Content-Type", "").partition(";")[0] or "no type"
            sentence = f"{asked} answered HTTP {status} with {quoted(kind)} that is no JSON"
            raise ServerError("nonsense", f"{sentence}; check --server.") from None
        if not isinstance(document, dict):
            raise ServerError("nonsense", f"{asked} answered with JSON that is no GraphQL answer.")
        if document.get("errors"):
            words = quoted(_first_message(document["errors"]))
            raise ServerError("refused", f"{asked} did not take the query: {words}.")
        data = document.get("data")
        if status != 200 or not isinstance(data, dict):
            raise ServerError("nonsense", f"{asked} answered HTTP {status} without data.")
        return data

    def _unreached(self, error: Exception, what: str, limit: float) -> ServerError:
        """Why there is no answer at all."""
        asked = f"{what}: {self.host}"
        # requests wraps what urllib3 says: the reason of the last of several attempts.
        cause = error.args[0] if error.args else error
        cause = getattr(cause, "reason", cause)
        timeouts = (TimeoutError, requests.Timeout, ReadTimeoutError)
        if isinstance(error, timeouts) or isinstance(cause, timeouts):
            limits = f"within the limit ({self.seconds:g} s a step, {limit:.3g} s in all)"
            return ServerError("silent", f"{asked} gave no whole answer {limits}; try again later.")
        reason = "the connection failed"
        if isinstance(error, requests.exceptions.SSLError):
            reason = "its certificate is not valid"
        elif isinstance(error, requests.exceptions.ProxyError):
            reason = "the proxy failed"
        elif isinstance(cause, NameResolutionError):
            reason = "no such host is known"
        return ServerError("failing", f"{asked} cannot be read: {reason}; check --server.")

    def _about_key(self) -> str:
        if self.with_key:
            return (
                f"with the key of {KEY_VARIABLE}; public projects are read without one: leave out "
                "--server-key, or use a key that may read the project."
            )
        return (
            "without a key; a project that is not public needs one: set "
            f"{KEY_VARIABLE} and add --server-key."
        )


def _first_message(errors: object) -> str:
    first = errors[0] if isinstance(errors, list) else errors
    return str(first.get("message", "no reason given") if isinstance(first, dict) else first)
