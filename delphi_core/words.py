"""Numbers in words: counts, compute, tokens and sizes, as every page and message says them."""

from __future__ import annotations

import math
import re

AMOUNTS = {
    "tokens": "tokens",
    "params": "parameters",
    "active_params": "active parameters",
}
"""What the columns that loss is fitted against hold."""

COMPUTES = {
    "recorded": "mean of its runs' FLOPs",
    "nominal": "nominal budget",
    "bucket": "centre of its 1.1^k bucket",
}
"""What C of a budget is."""

_SUPERSCRIPTS = str.maketrans("0123456789-.", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻·")
_UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


def count(number: int, noun: str) -> str:
    """A number with its noun: 1 run, 2 runs."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def flops_words(flops: float) -> str:
    """Compute with its power of ten: 3 × 10²⁰ FLOP.

    Parameters
    ----------
    flops
        Positive, FLOP; shown with three significant digits at most.
    """
    mantissa, _, exponent = f"{flops:.2e}".partition("e")
    digits = mantissa.rstrip("0").rstrip(".")
    return f"{digits} × {power_of_ten(int(exponent))} FLOP"


def power_of_ten(exponent: int) -> str:
    """A power of ten: 10²⁰."""
    return f"10{str(exponent).translate(_SUPERSCRIPTS)}"


def ratio_words(ratio: float) -> str:
    """An extrapolation ratio with three significant digits at most: 3.33, 333, 3,330."""
    if ratio >= 100:
        return f"{float(f'{ratio:.3g}'):,.0f}"
    return f"{ratio:.3g}"


def power_words(exponent: float) -> str:
    """A power of compute: C⁰·⁵⁷⁴. Plain text, since a formula costs a page its typesetter."""
    return f"C{f'{exponent:.3f}'.translate(_SUPERSCRIPTS)}"


def amount_words(amount: float) -> str:
    """Tokens or parameters with three significant digits at most: 2.2 B, 540 M, 18 T.

    Parameters
    ----------
    amount
        Not negative.
    """
    # Rounded first, so that 999.9 M reads 1 B.
    rounded = float(f"{amount:.3g}")
    for unit, letter in _UNITS:
        if rounded >= unit:
            return f"{_three_digits(rounded / unit)} {letter}"
    return _three_digits(rounded)


def _three_digits(number: float) -> str:
    decimals = max(0, 2 - math.floor(math.log10(number))) if number > 0 else 0
    text = f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def unbroken(text: str) -> str:
    """A text that is not broken between a number and what belongs to it."""
    return re.sub(r" (?=[×%])|(?<=×) ", "\u00a0", text)
