"""A server and a Chromium for each worker of the tests, and visits that must leave no trace."""

from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

from tests.browser.browsing import NO_CHROMIUM, begin_visit, chromium, find_chromium, serving


@pytest.fixture(scope="session")
def browser():
    """A Chromium; tests that ask for it are skipped where there is none."""
    path = find_chromium()
    if path is None:
        pytest.skip(NO_CHROMIUM)
    with chromium(path) as started:
        yield started


@pytest.fixture(scope="session")
def server(browser):  # noqa: ARG001 - without a browser no server is needed
    """Address of a server of this project."""
    with serving() as address:
        yield address


@pytest.fixture(scope="session")
def tabs(browser):
    """Tabs to visit in, in one browser context, and how to get another one.

    A tab that has shown the page before shows it in a third of the time.
    """
    with browser.new_context() as context:
        yield [], context.new_page


@pytest.fixture
def visit(browser, tabs, server):
    """Begin a visit; options as of `begin_visit`, and `elsewhere` for a browser context of its own.

    At the end of the test no visit may have shown an error in the browser's console, nor have
    asked any host but the server for anything.
    """
    free, new_tab = tabs
    visits, shared = [], []
    with ExitStack() as stack:

        def call(*, elsewhere=False, **options):
            if elsewhere:
                page = stack.enter_context(browser.new_context()).new_page()
            else:
                page = free.pop() if free else new_tab()
                shared.append(page)
            visits.append(begin_visit(page, server, **options))
            return visits[-1]

        yield call
        for ended in visits:
            # Fails in a tab that hangs, so that no other test gets it.
            ended.end()
        free.extend(shared)
    assert [error for visit in visits for error in visit.errors] == []
    assert {host for visit in visits for host in visit.hosts} <= {urlsplit(server).netloc}
