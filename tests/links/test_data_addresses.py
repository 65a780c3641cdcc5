"""Data addresses that notebooks elsewhere hold: names, parameters and columns stay as they are."""

import pytest

from delphi_core.web.data_request import read_request

ADDRESSES = {
    "isoflop-points.csv?ladder=moe-v16&x=active_params&method=cubic": ["tokens", "metric", "value"],
    "isoflop-optima.csv?budgets=3e18&budgets=9e18&excluded=true": [
        "flops",
        "optimal_tokens",
        "low",
    ],
    "scaling-points.csv?compute=nominal": ["flops", "params", "label"],
    "scaling-optima.csv?method=marin&ladder=delphi": ["loss_at_optimal", "optimal_params"],
    "scaling-forecasts.json?law=log&asymptote=1.6&target=1e22": ["flops", "predicted", "error_pct"],
    "scaling-law.csv?method=surface&band=delta&level=0.95": ["flops", "predicted", "E", "alpha"],
    "trajectories-forecast.csv?target=hero&method=per-fraction&without=ptb": ["fraction", "actual"],
    "recipes-speed-up.csv?base=moe-v16&flops=1e20": ["ladder", "base_flops", "speed_up", "low"],
    "recipes-laws.csv?method=parabola": ["ladder", "E", "alpha"],
    "planner-plan.csv?flops=1e22,1e23&level=0.8": ["flops", "params", "tokens", "predicted"],
    "planner-valley.json?ladder=moe-v16": ["overtraining", "deadweight_pct"],
    "runs.csv?ladder=delphi&role=heldout": ["run", "flops", "tokens", "params"],
    "evals.metadata.json?metric=eval/paloma/macro_loss": ["ladder", "run", "metric", "value"],
    "trajectories.csv?ladder=hero&sort=-step": ["run", "step", "value"],
    "published_optima.csv": ["ladder", "fit_set", "optimal_tokens"],
    "sources.csv?text=github": ["source", "url"],
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_old_address_gives_its_table(snapshot, address):
    file, _, query = address.partition("?")
    request = read_request(file, query.encode(), snapshot)
    table = request.page.tables(snapshot, request.view)[request.name]()
    assert len(table) > 0
    assert set(ADDRESSES[address]) <= set(table.columns)
