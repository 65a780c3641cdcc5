"""Going from page to page: each keeps its own view, and no value leaks into another."""

from pathlib import Path


def test_no_folder_takes_the_front_doors_place():
    # Streamlit runs scripts of a folder `pages` beside app.py on their own, without app.py, until
    # a first visitor has opened the home page: a shared link to another page would open amiss.
    assert not (Path(__file__).parents[2] / "pages").exists()
