"""What all tests share."""

import pytest
from hypothesis import settings

import delphi_core as dc

pytest_plugins = ["tests.buckets", "tests.faults", "tests.graphql_server"]

# The same examples in every run: a change must not fail by a draw that has nothing to do with it.
# No deadline: the machine may be busy.
settings.register_profile("same", derandomize=True, deadline=None)
settings.load_profile("same")


@pytest.fixture(scope="session")
def snapshot() -> dc.Snapshot:
    """The bundled snapshot."""
    return dc.load_snapshot()
