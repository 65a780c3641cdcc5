"""What is typed for a plan, read: budgets, chips and days, a width. One sentence a mistake."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from delphi_core.errors import DataError, FitError, quoted
from delphi_core.fits.recipe import NARROWEST, WIDEST, WIDTH_STEP
from delphi_core.fits.training_budget import check_budget, chips_flops

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST_BUDGETS = 12
CHIP_PARTS = {
    "chips": "chips",
    "chip_flops": "FLOP/s of a chip",
    "utilisation": "utilisation",
    "days": "days",
}
"""What a budget in chips is made of, in words."""


def typed_budgets(texts: Iterable[str]) -> list[float]:
    """Budgets of texts such as "1e22, 1e23", FLOP; each once, in the order they are given.

    Raises
    ------
    DataError
        One is no compute that can be planned for, or there are too many.
    """
    budgets, problems = read_budgets(texts)
    if problems:
        raise DataError(problems)
    return budgets


def read_budgets(texts: Iterable[str]) -> tuple[list[float], list[str]]:
    """Budgets as `typed_budgets` reads them, and a sentence for each that cannot be taken."""
    words = [word for text in texts for word in re.split(r"[,;\s]+", text) if word]
    problems, found = [], []
    for word in words:
        try:
            flops = float(word)
            check_budget(flops)
            found.append(flops)
        except FitError as error:
            problems.append(str(error))
        except ValueError:
            problems.append(
                f"the budget is {quoted(word)}; it must be a number such as 1e22, in FLOP."
            )
    budgets = list(dict.fromkeys(found))
    if len(budgets) > MOST_BUDGETS:
        problems.append(f"{len(budgets)} budgets are asked for; give {MOST_BUDGETS} at most.")
    return budgets[:MOST_BUDGETS], problems


def typed_chips(parts: Mapping[str, str]) -> float | None:
    """Compute of chips, as typed, FLOP; None where nothing is given.

    Parameters
    ----------
    parts
        Texts of `CHIP_PARTS`; all of them or none.

    Raises
    ------
    DataError
        One is missing or no number that can be had, or the compute cannot be planned for.
    """
    given = {name: parts.get(name, "").strip() for name in CHIP_PARTS}
    if not any(given.values()):
        return None
    if missing := [CHIP_PARTS[name] for name, text in given.items() if not text]:
        raise DataError([f"a budget in chips needs {', '.join(missing)} too; give it."])
    numbers = {}
    for name, text in given.items():
        try:
            numbers[name] = float(text)
        except ValueError:
            raise DataError(
                [f"{CHIP_PARTS[name]}: {quoted(text)} is given; it must be a number."]
            ) from None
    flops = chips_flops(**numbers)
    check_budget(flops)
    return flops


def typed_width(text: str) -> int | None:
    """A width, as typed; None where nothing is given.

    Raises
    ------
    DataError
        The recipe has no such width.
    """
    text = text.strip()
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,9}", text) or (
        int(text) % WIDTH_STEP or not NARROWEST <= int(text) <= WIDEST
    ):
        rule = f"multiples of {WIDTH_STEP} from {NARROWEST} to {WIDEST}"
        raise DataError([f"the width is {quoted(text)}; the recipe takes {rule}."])
    return int(text)
