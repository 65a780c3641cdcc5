"""The front door: navigation, and the server that hands it out. No logic.

`streamlit run app.py` imports this file once for the server, then runs it for every visitor.
"""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from delphi_core.web import cards, data_routes, page_url
from delphi_core.web.assets import CompressedAssets
from delphi_core.web.embedded import show_embedded
from delphi_core.web.footer import footer, remember_shown
from delphi_core.web.front_line import front_line
from delphi_core.web.loading import kept_snapshot
from delphi_core.web.look import apply_look
from delphi_core.web.previews import PreviewTags
from delphi_core.web.server_life import server_life

PAGES = Path(__file__).parent / "pages"


def main() -> None:
    """Show the page that the address names."""
    st.set_page_config(page_title="Delphi Dashboard", page_icon="📈", layout="wide")
    isoflop = st.Page(PAGES / "isoflop.py", title="IsoFLOP", default=True)
    scaling = st.Page(PAGES / "scaling.py", title="Scaling law")
    trajectories = st.Page(PAGES / "trajectories.py", title="Trajectories")
    recipes = st.Page(PAGES / "recipes.py", title="Recipes")
    planner = st.Page(PAGES / "planner.py", title="Planner")
    data = st.Page(PAGES / "data.py", title="Data")
    about = st.Page(PAGES / "about.py", title="About")
    apply_look()
    page = page_url.menu([isoflop, scaling, trajectories, recipes, planner, data, about])
    if st.context.is_embedded:
        show_embedded(page.url_path)
        return
    remember_shown(kept_snapshot())
    answers = st.container()
    page.run()
    if page is isoflop:
        front_line(answers, scaling, trajectories, data)
    footer()


if get_script_run_ctx(suppress_warning=True) is None:
    # Until somebody has opened the home page, Streamlit would run a page of a folder called pages
    # by itself, without this file: a shared link to it would open amiss on a fresh server.
    PagesManager.uses_pages_directory = False
    # Streamlit sends everything uncompressed. Its front end is compressed once; pages and data
    # addresses each time, so at the fastest level, and after previews were put into a page.
    app = st.App(
        __file__,
        routes=[*data_routes.ROUTES, *cards.ROUTES],
        lifespan=server_life,
        middleware=[
            Middleware(CompressedAssets),
            Middleware(GZipMiddleware, minimum_size=1000, compresslevel=1),
            Middleware(PreviewTags),
        ],
    )
else:
    main()
