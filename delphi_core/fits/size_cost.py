"""What a size costs: training FLOP per parameter and token, C/(N D), as a ladder's runs have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SizeCost:
    """C/(N D) of the sizes of a ladder.

    Between them its logarithm goes in straight lines along that of size; beyond the smallest and
    the largest it stays what it is there.

    Attributes
    ----------
    log_params : array
        ln N, ascending.
    log_ratios : array
        ln C/(N D) of each, the mean over its runs.
    """

    log_params: Array
    log_ratios: Array

    def ratio(self, params: npt.ArrayLike) -> Array:
        """C/(N D) at sizes (any shape), FLOP per parameter and token."""
        return np.asarray(np.exp(np.interp(np.log(params), self.log_params, self.log_ratios)))

    def per_token(self, params: npt.ArrayLike) -> Array:
        """Training FLOP per token of sizes (any shape): C/D."""
        return np.asarray(params, dtype=np.float64) * self.ratio(params)

    def params_for(self, per_token: npt.ArrayLike) -> Array:
        """The sizes whose training takes so many FLOP per token (any shape)."""
        costs = self.log_params + self.log_ratios
        wanted = np.log(per_token)
        # The logarithm of the cost is straight between sizes, and parallel to size beyond them.
        inside = np.interp(wanted, costs, self.log_params)
        beyond = np.maximum(wanted - costs[-1], 0.0) + np.minimum(wanted - costs[0], 0.0)
        return np.asarray(np.exp(inside + beyond))


def size_cost(points: pd.DataFrame) -> SizeCost:
    """What the sizes of some runs cost.

    Parameters
    ----------
    points
        Records with flops, params and tokens, all above zero.
    """
    ratios = points["flops"] / points["params"] / points["tokens"]
    by_size = ratios.map(np.log).groupby(points["params"]).mean().sort_index()
    sizes = by_size.index.to_numpy(dtype=np.float64)
    return SizeCost(np.log(sizes), by_size.to_numpy(dtype=np.float64))
