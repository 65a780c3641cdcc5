"""The whole backtest: what the choice of the default forecaster, and the alarm, rest on."""

import pytest

from delphi_core.backtest_tables import backtest_document, backtest_of
from delphi_core.fits.backtest import DEFAULT_FORECASTER
from delphi_core.trajectories import targets


@pytest.fixture(scope="module")
def document(snapshot):
    """Every forecaster on every rung and metric, as the command prints it."""
    tables = [backtest_of(snapshot, target) for target in targets(snapshot).values()]
    return backtest_document(tables)


def test_the_default_is_what_the_backtests_choose(document):
    assert document["chosen"] == document["default"] == DEFAULT_FORECASTER.name
    by_name = {row["forecaster"]: row for row in document["scores"]}
    default, published = by_name[DEFAULT_FORECASTER.name], by_name["per-fraction"]
    assert default["score"] < published["score"]
    assert default["mean_abs_error_pct"] <= published["mean_abs_error_pct"]
    assert 0.85 <= default["coverage"] <= 0.97


def test_the_alarm_is_seldom_false(document):
    alarm = document["alarm"]
    assert alarm["curves"] == 88
    assert alarm["false_alarms"] / alarm["curves"] <= 0.05
