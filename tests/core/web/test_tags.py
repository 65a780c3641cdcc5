"""Tags of a preview: what they say, and that nothing breaks out of them."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delphi_core.web.tags import (
    LONGEST_DESCRIPTION,
    LONGEST_TITLE,
    Preview,
    clean,
    head_tags,
    with_tags,
)

SHELL = "<html><head><title>Streamlit</title><script></script></head><body></body></html>"


class Head(HTMLParser):
    """Tags, properties and title of a page as a crawler reads them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.values, self.title = [], {}, ""
        self.feed(text)
        self.close()

    # D102: names of the parser's.
    def handle_starttag(self, tag, attrs):  # noqa: D102
        self.tags.append(tag)
        named = dict(attrs)
        if tag == "meta" and "charset" not in named and named.get("name") != "viewport":
            assert set(named) in ({"name", "content"}, {"property", "content"})
            name = named.get("name") or named["property"]
            assert name not in self.values
            self.values[name] = named["content"]

    def handle_startendtag(self, tag, attrs):  # noqa: D102
        self.handle_starttag(tag, attrs)

    def handle_data(self, data):  # noqa: D102
        if self.tags[-1:] == ["title"] and not self.title:
            self.title = data


FULL = Preview("A & B", "said of it", "https://x.org/scaling?a=1&b=2", "https://x.org/card.png?a=1")


def test_everything_a_chat_asks_for_is_there():
    head = Head(head_tags(FULL))
    assert head.title == "A & B"
    assert head.values == {
        "description": "said of it",
        "theme-color": "#4f7fe0",
        "twitter:card": "summary_large_image",
        "twitter:title": "A & B",
        "twitter:description": "said of it",
        "twitter:image": FULL.image,
        "twitter:image:alt": "Chart: A & B",
        "og:site_name": "Delphi Dashboard",
        "og:type": "website",
        "og:title": "A & B",
        "og:description": "said of it",
        "og:url": FULL.url,
        "og:image": FULL.image,
        "og:image:type": "image/png",
        "og:image:width": "1200",
        "og:image:height": "630",
        "og:image:alt": "Chart: A & B",
    }


def test_without_an_address_no_tag_needs_one():
    head = Head(head_tags(Preview("A", "B")))
    assert head.values["twitter:card"] == "summary"
    assert not {"og:url", "og:image", "twitter:image"} & set(head.values)


@given(st.text(), st.text(), st.text(), st.text())
def test_no_text_breaks_out_of_its_tag(title, description, url, image):
    hostile = Preview(title + '"><script>', description, f"https://x.org/{url}", image)
    head = Head(with_tags(SHELL, head_tags(hostile)))
    assert head.tags.count("script") == 1
    assert set(head.tags) == {"html", "head", "title", "meta", "script", "body"}
    assert head.values["og:title"] == head.title == clean(title + '"><script>', LONGEST_TITLE)
    assert head.values["og:description"] == clean(description, LONGEST_DESCRIPTION)
    assert head.values["og:url"] == hostile.url


@given(st.text(max_size=500))
def test_cleaned_text_is_one_printable_line_of_limited_length(text):
    line = clean(text, 100)
    assert len(line) <= 100
    assert not line or line.isprintable()
    assert clean(line, 100) == line


def test_only_the_title_of_the_page_changes():
    assert with_tags(SHELL, "<title>x</title>") == SHELL.replace("Streamlit", "x")
    with pytest.raises(ValueError, match="no title"):
        with_tags("<html></html>", "<title>x</title>")
