"""Tags in the head of a page that tell chats and search engines what a link shows."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from delphi_core.figures.card import HEIGHT, WIDTH
from delphi_core.figures.theme import FITTED

SITE = "Delphi Dashboard"
LONGEST_TITLE, LONGEST_DESCRIPTION = 200, 400
_TITLE = re.compile(r"<title>.*?</title>", re.DOTALL)


@dataclass(frozen=True)
class Preview:
    """What a link's preview says; any text may hold anything.

    Attributes
    ----------
    title, description
        Plain text.
    url, image
        Absolute addresses; empty where this server's own is not known.
    """

    title: str
    description: str
    url: str = ""
    image: str = ""


def head_tags(preview: Preview) -> str:
    """The tags of a preview, every value escaped."""
    title = clean(preview.title, LONGEST_TITLE)
    description = clean(preview.description, LONGEST_DESCRIPTION)
    named = {
        "description": description,
        "theme-color": FITTED,
        "twitter:card": "summary_large_image" if preview.image else "summary",
        "twitter:title": title,
        "twitter:description": description,
    }
    properties = {
        "og:site_name": SITE,
        "og:type": "website",
        "og:title": title,
        "og:description": description,
    }
    if preview.url:
        properties["og:url"] = preview.url
    if preview.image:
        alt = clean(f"Chart: {title}", LONGEST_TITLE)
        properties |= {
            "og:image": preview.image,
            "og:image:type": "image/png",
            "og:image:width": str(WIDTH),
            "og:image:height": str(HEIGHT),
            "og:image:alt": alt,
        }
        named |= {"twitter:image": preview.image, "twitter:image:alt": alt}
    lines = [f"<title>{html.escape(title)}</title>"]
    for attribute, values in (("name", named), ("property", properties)):
        lines += [
            f'<meta {attribute}="{name}" content="{html.escape(value)}" />'
            for name, value in values.items()
        ]
    return "\n    ".join(lines)


def with_tags(shell: str, tags: str) -> str:
    """The page that Streamlit serves with tags where its title was.

    Raises
    ------
    ValueError
        The page has no title.
    """
    found = _TITLE.search(shell)
    if found is None:
        raise ValueError("the page that Streamlit serves has no title to put tags beside.")
    return f"{shell[: found.start()]}{tags}{shell[found.end() :]}"


def clean(text: str, longest: int) -> str:
    """Text on one line without control characters, cut where it is too long."""
    kept = "".join(letter if letter.isprintable() else " " for letter in text)
    line = " ".join(kept.split())
    return line if len(line) <= longest else f"{line[: longest - 4].rstrip()} ..."
