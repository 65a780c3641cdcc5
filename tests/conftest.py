"""What all tests share."""

import pytest

import delphi_core as dc


@pytest.fixture(scope="session")
def snapshot() -> dc.Snapshot:
    """The bundled snapshot."""
    return dc.load_snapshot()
