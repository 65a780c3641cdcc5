"""Pages run headless through the front door, as a visitor's session runs them."""

from pathlib import Path

import pytest
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

APP = Path(__file__).parents[2] / "app.py"


@pytest.fixture(autouse=True)
def front_door(monkeypatch):
    """Run every page through app.py, as app.py has the server do; AppTest forgets that."""
    make = PagesManager.__init__

    def init(manager, *arguments, **options):
        make(manager, *arguments, **options)
        PagesManager.uses_pages_directory = False

    monkeypatch.setattr(PagesManager, "__init__", init)


@pytest.fixture(autouse=True)
def cache_folder(monkeypatch, tmp_path):
    """Keep what a test loads out of the home of whoever runs it."""
    monkeypatch.setenv("DELPHI_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def open_page():
    """Open the app under a query; the session after its first run."""

    def call(**query):
        page = AppTest.from_file(str(APP), default_timeout=120)
        page.query_params.update(query)
        return page.run()

    return call
