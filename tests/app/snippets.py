"""The code that a page shows of its own, without what Share and the data addresses add."""

OWN = ("import delphi_core as dc\n", "python -m delphi_core ")


def snippets(page):
    """Texts of the page's blocks of code that call this project."""
    return [block.value for block in page.code if block.value.startswith(OWN)]
