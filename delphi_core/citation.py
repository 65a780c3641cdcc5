"""How to cite what a page shows: as a sentence and as BibTeX."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

NAME = "Delphi Dashboard"
_SPECIAL = re.compile(r"[\\{}$&#^_~%]")
# LaTeX spells these; the others take a backslash.
_SPELT = {
    "\\": r"\textbackslash{}",
    # BibTeX counts braces, with a backslash before them or not.
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
}


@dataclass(frozen=True)
class Citation:
    """What is cited.

    Attributes
    ----------
    title
        What the view says, in one line.
    link
        Address that opens the view.
    snapshot
        Id of the figures.
    made
        When they were made (ISO 8601).
    version
        Of the dashboard.
    """

    title: str
    link: str
    snapshot: str
    made: str
    version: str

    @property
    def key(self) -> str:
        """BibTeX key: the same for the same view of the same figures, and for no other."""
        return f"delphi-{sha256(f'{self.snapshot} {self.link}'.encode()).hexdigest()[:10]}"

    @property
    def text(self) -> str:
        """One sentence, for a footnote."""
        return f"{NAME} {self.version}, “{_one_line(self.title)}”, {self._figures}, {self.link}"

    @property
    def bibtex(self) -> str:
        """An entry for a bibliography; LaTeX's own characters in it are escaped."""
        fields = {
            # In braces of its own, a title keeps its capitals.
            "title": f"{{{_latex(self.title)}}}",
            "howpublished": f"{NAME} {_latex(self.version)}",
            "year": _latex(self.made[:4]),
            "note": _latex(self._figures).capitalize(),
            "url": _address(self.link),
        }
        lines = ",\n".join(f"  {name:12} = {{{value}}}" for name, value in fields.items())
        return f"@misc{{{self.key},\n{lines}\n}}"

    @property
    def _figures(self) -> str:
        return f"snapshot {_one_line(self.snapshot)} of {_one_line(self.made[:10])}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _latex(text: str) -> str:
    """Text that LaTeX sets as it stands."""
    return _SPECIAL.sub(lambda found: _SPELT.get(found[0], "\\" + found[0]), _one_line(text))


def _address(link: str) -> str:
    """An address without what would end a field: braces, backslashes and blanks are encoded."""
    return re.sub(r"[\s{}\\]", lambda found: f"%{ord(found[0]):02X}", link)
