"""Training compute that may be asked for, and what chips give in some days."""

from __future__ import annotations

from math import isfinite

from delphi_core.errors import FitError, quoted
from delphi_core.fits.forecast import LARGEST_TARGET, SMALLEST_TARGET

_SECONDS_A_DAY = 86_400


def check_budget(flops: float) -> None:
    """Refuse what is no compute.

    Raises
    ------
    FitError
        It is not from 1e15 to 1e26 FLOP.
    """
    if not (isfinite(flops) and SMALLEST_TARGET <= flops <= LARGEST_TARGET):
        raise FitError(
            f"the budget is {quoted(f'{flops:g}')}; it must be from {SMALLEST_TARGET:g} to "
            f"{LARGEST_TARGET:g} FLOP."
        )


def chips_flops(chips: float, chip_flops: float, utilisation: float, days: float) -> float:
    """Compute of some chips over some days, FLOP.

    Parameters
    ----------
    chips
        How many.
    chip_flops
        Peak of one, FLOP/s.
    utilisation
        Share of the peak that training gets (MFU), above 0 and up to 1.
    days
        How long.

    Raises
    ------
    FitError
        One of them is not positive, or the utilisation above 1.
    """
    given = {"chips": chips, "FLOP/s of a chip": chip_flops, "days": days}
    for name, value in given.items():
        if not (isfinite(value) and value > 0):
            raise FitError(f"{name}: {quoted(f'{value:g}')} is given; it must be above 0.")
    if not 0 < utilisation <= 1:
        raise FitError(
            f"utilisation: {quoted(f'{utilisation:g}')} is given; it must be a share above 0 and "
            "up to 1, such as 0.4."
        )
    return chips * chip_flops * utilisation * days * _SECONDS_A_DAY
