"""Files of frozen forecasts: one JSON each, with a checksum over all that it says."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from delphi_core.errors import DataError, quoted

if TYPE_CHECKING:
    import numpy.typing as npt

KIND = "frozen forecast of the Delphi Dashboard"
FORMAT = 1
LARGEST_FILE = 8_000_000
"""Bytes; the hero's forecast without a subset, which holds most rows, takes 0.2 million."""
LONGEST_TEXT, MOST_NAMES = 300, 100
"""Characters of a text that is read out of a file, and names in a part of it."""
_CHECKSUM = "checksum"


def checksum(content: object) -> str:
    """The sha256 of content as JSON in one way of writing: sorted names, no blanks, ASCII."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def sealed(document: dict[str, Any]) -> dict[str, Any]:
    """A document with the checksum over everything else in it."""
    content = {name: value for name, value in document.items() if name != _CHECKSUM}
    return {**content, _CHECKSUM: checksum(content)}


def is_sealed(document: dict[str, Any]) -> bool:
    """Whether a document is what its checksum was made over."""
    return document == sealed(document)


def frozen_text(document: dict[str, Any]) -> str:
    """A document as its file holds it: names on lines of their own, and so are rows."""
    return _laid_out(document, "") + "\n"


def read_frozen(path: str | Path) -> dict[str, Any]:
    """Document of a file.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    DataError
        It cannot be read, is too large, is no JSON, or is no frozen forecast of this format.
    """
    file = Path(path)
    name = file_name(file)
    try:
        if file.exists() and not file.is_file():
            raise DataError([f"{name} is no file; name the file of a frozen forecast."])
        with file.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        reason = getattr(error, "strerror", None) or "not a path"
        raise DataError([f"{name} cannot be read: {reason}."]) from None
    if len(data) > LARGEST_FILE:
        limit = f"{LARGEST_FILE / 1e6:g} MB"
        raise DataError([f"{name} is larger than {limit}, which no frozen forecast is."])
    return parse_frozen(data, name)


def parse_frozen(data: bytes, name: str) -> dict[str, Any]:
    """Document of a file's content; `name` as messages call it.

    Raises
    ------
    DataError
        It is no JSON, or no frozen forecast of this format.
    """
    try:
        document = json.loads(data, object_pairs_hook=_once, parse_constant=_no_number)
        checksum(document)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, _RefusedError) else "it is not JSON as written"
        raise DataError([f"{name} cannot be taken: {reason}; fetch the file anew."]) from None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise DataError([f"{name} is no frozen forecast; forecast-freeze writes them."])
    if document.get("format") != FORMAT or isinstance(document["format"], bool):
        found = quoted(document.get("format"))
        raise DataError([f"{name} has format {found}; this version reads {FORMAT}."])
    if not isinstance(document.get(_CHECKSUM), str):
        raise DataError([f"{name} has no checksum; fetch the file anew."])
    return document


def file_name(path: str | Path) -> str:
    """A file's name as messages call it."""
    return "".join(c if c.isprintable() else "?" for c in Path(path).name) or "the file"


@dataclass(frozen=True)
class Part:
    """Part of a document that is being read; what it holds may be anything.

    Attributes
    ----------
    value
        The part.
    where
        How messages call it.
    """

    value: Any
    where: str

    def wrong(self, words: str) -> DataError:
        """The error of a part that is not what it must be."""
        return DataError([f"{self.where} {words}; the file is broken: fetch it anew."])

    @property
    def names(self) -> list[str]:
        """Names of what it holds."""
        if not isinstance(self.value, dict):
            raise self.wrong("must be an object")
        if len(self.value) > MOST_NAMES:
            raise self.wrong(f"must have no more than {MOST_NAMES} names")
        return list(self.value)

    def any(self, name: str) -> Any:
        """What stands under a name."""
        if name not in self.names:
            raise self.wrong(f"must have {name!r}")
        return self.value[name]

    def part(self, name: str) -> Part:
        """The part under a name."""
        return Part(self.any(name), f"{self.where}, {name}")

    def parts(self, name: str) -> list[Part]:
        """The parts of a list."""
        found = self.any(name)
        if not isinstance(found, list):
            raise self.wrong(f"must have a list as {name!r}")
        return [Part(item, f"{self.where}, {name} {n}") for n, item in enumerate(found, 1)]

    def text(self, name: str) -> str:
        """A text."""
        found = self.any(name)
        if not isinstance(found, str) or len(found) > LONGEST_TEXT:
            words = f"must have a text as {name!r}, of {LONGEST_TEXT} characters at most"
            raise self.wrong(words)
        return found

    def texts(self, name: str) -> list[str]:
        """A list of texts."""
        found = self.any(name)
        if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
            raise self.wrong(f"must have a list of texts as {name!r}")
        return found

    def number(self, name: str) -> float:
        """A number."""
        found = self.any(name)
        if not _is_number(found):
            raise self.wrong(f"must have a number as {name!r}")
        return float(found)

    def whole(self, name: str, least: int, most: int) -> int:
        """A whole number within limits."""
        found = self.any(name)
        if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= most:
            raise self.wrong(f"must have a whole number from {least} to {most:,} as {name!r}")
        return found

    def number_or_none(self, name: str) -> float | None:
        """A number, or nothing."""
        return None if self.any(name) is None else self.number(name)

    def numbers(self, name: str) -> list[float]:
        """A list of numbers."""
        found = self.any(name)
        if not isinstance(found, list) or not all(map(_is_number, found)):
            raise self.wrong(f"must have a list of numbers as {name!r}")
        return [float(item) for item in found]

    def flag(self, name: str) -> bool:
        """True or false."""
        found = self.any(name)
        if not isinstance(found, bool):
            raise self.wrong(f"must have true or false as {name!r}")
        return found

    def lists(self, name: str, length: int | None = None) -> list[list[Any]]:
        """A list of lists, of a length if one is given, of texts, numbers, flags and None."""
        found = self.any(name)
        scalar = (str, int, float, bool, type(None))
        if not isinstance(found, list) or not all(
            isinstance(row, list)
            and length in (None, len(row))
            and all(isinstance(cell, scalar) for cell in row)
            for row in found
        ):
            of = "" if length is None else f" of {length} cells"
            raise self.wrong(f"must have a list of rows{of} as {name!r}")
        return found

    def number_rows(self, name: str, length: int) -> npt.NDArray[np.float64]:
        """A list of rows of numbers, as an array; not a number where there is nothing."""
        rows = self.lists(name, length)
        if not all(cell is None or _is_number(cell) for row in rows for cell in row):
            raise self.wrong(f"must have rows of numbers as {name!r}")
        return np.array(rows, dtype=np.float64).reshape(-1, length)


class _RefusedError(ValueError):
    """Content that JSON would allow and a frozen forecast does not hold."""


def _is_number(value: object) -> bool:
    # An integer may be larger than any float.
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and (isinstance(value, float) or abs(value) < 2**63)
        and math.isfinite(value)
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _RefusedError("it names something twice")
    return found


def _no_number(word: str) -> float:
    raise _RefusedError(f"it holds {word}, which is no number")


def _laid_out(value: Any, indent: str) -> str:
    """JSON of a value: objects by lines, and lists of rows or objects with one a line."""
    deeper = indent + " "
    if isinstance(value, dict) and value:
        lines = [f"{deeper}{json.dumps(name)}: {_laid_out(v, deeper)}" for name, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and value and isinstance(value[0], (dict, list)):
        lines = [f"{deeper}{json.dumps(item, allow_nan=False)}" for item in value]
        return "[\n" + ",\n".join(lines) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False)
