"""Text from links and tables, as Streamlit's Markdown shows it."""

from hypothesis import given
from hypothesis import strategies as st

from delphi_core.web.messages import plain


def test_markdown_is_escaped():
    assert plain("[a](http://b) :red[x] $y$ `z` <b>") == (
        r"\[a\]\(http\:\/\/b\) \:red\[x\] \$y\$ \`z\` \<b\>"
    )


def test_line_breaks_cannot_begin_a_block():
    assert plain("a\n# b\n\n- c") == r"a \# b \- c"


@given(st.text())
def test_nothing_is_lost_but_white_space(text):
    assert plain(text).replace("\\", "").split() == text.replace("\\", "").split()
