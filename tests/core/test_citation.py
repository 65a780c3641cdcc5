"""How a view is cited: the same view the same way, and nothing that breaks a bibliography."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delphi_core.citation import Citation

CITED = Citation(
    title="Delphi: loss 2.37 forecast at 1 × 10²³ FLOP, 2.355 measured (−0.88 %)",
    link="https://delphi.example/scaling?ladder=delphi&target=1e23",
    snapshot="1954d890691a",
    made="2026-11-27T10:00:00Z",
    version="1.2.3",
)
FIELD = re.compile(r"^  (\w+) += \{(.*)\},?$")


def fields(bibtex):
    """Key and fields of an entry, one a line as reference managers write them."""
    first, *lines, last = bibtex.split("\n")
    assert last == "}"
    key = re.fullmatch(r"@misc\{([\w-]+),", first)[1]
    return key, dict(FIELD.fullmatch(line).groups() for line in lines)


def test_a_citation_names_title_version_snapshot_its_date_and_the_link():
    assert CITED.text == (
        "Delphi Dashboard 1.2.3, “Delphi: loss 2.37 forecast at 1 × 10²³ FLOP, 2.355 measured "
        "(−0.88 %)”, snapshot 1954d890691a of 2026-11-27, "
        "https://delphi.example/scaling?ladder=delphi&target=1e23"
    )


def test_bibtex_has_the_same_in_fields():
    key, found = fields(CITED.bibtex)
    assert key == CITED.key
    assert found == {
        "title": "{Delphi: loss 2.37 forecast at 1 × 10²³ FLOP, 2.355 measured (−0.88 \\%)}",
        "howpublished": "Delphi Dashboard 1.2.3",
        "year": "2026",
        "note": "Snapshot 1954d890691a of 2026-11-27",
        "url": CITED.link,
    }


def test_views_and_snapshots_have_keys_of_their_own():
    others = [replace(CITED, link=CITED.link + "2"), replace(CITED, snapshot="0" * 12)]
    assert len({CITED.key, *(other.key for other in others)}) == 3
    assert replace(CITED, title="another").key == CITED.key


@pytest.mark.parametrize(
    ("title", "set_as"),
    [
        ("50 % of $5 & #1", r"50 \% of \$5 \& \#1"),
        ("a_b^c~d", r"a\_b\textasciicircum{}c\textasciitilde{}d"),
        ("}, note = {x", r"\textbraceright{}, note = \textbraceleft{}x"),
        ("\\input{x}\n@", r"\textbackslash{}input\textbraceleft{}x\textbraceright{} @"),
    ],
)
def test_what_latex_would_run_is_set_as_it_stands(title, set_as):
    _, found = fields(replace(CITED, title=title).bibtex)
    assert found["title"] == f"{{{set_as}}}"


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_title_and_no_link_ends_a_field(title, link):
    bibtex = replace(CITED, title=title, link=f"https://x/{link}").bibtex
    _, found = fields(bibtex)
    assert list(found) == ["title", "howpublished", "year", "note", "url"]
    depth = 0
    for sign in bibtex:
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    assert "\\" not in found["url"]
