"""Whether a reader has an answer already."""

from __future__ import annotations


def is_had(tags: str, tag: str) -> bool:
    """Whether a reader has the answer of a tag, as If-None-Match says; weak tags count."""
    own = tag.removeprefix("W/")
    had = [one.strip().removeprefix("W/") for one in tags.split(",")]
    return own in had or had == ["*"]
