"""Pages run headless through the front door, as a visitor's session runs them."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

APP = Path(__file__).parents[2] / "app.py"


@pytest.fixture
def open_page():
    """Open the app under a query; the session after its first run."""

    def call(**query):
        page = AppTest.from_file(str(APP), default_timeout=30)
        page.query_params.update(query)
        return page.run()

    return call
