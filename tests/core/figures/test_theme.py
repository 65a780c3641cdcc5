"""Palette and axes."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from delphi_core.figures.theme import BUDGET_SCALE, GREY, amount_axis, budget_colors

# Streamlit's light and dark grounds.
GROUNDS = ("#ffffff", "#181716")


def luminance(channels):
    """Relative luminance of WCAG 2.1, channels in 0..1."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def channels(color):
    if color.startswith("#"):
        return [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [float(number) / 255 for number in re.findall(r"[\d.]+", color)[:3]]


@pytest.mark.parametrize("ground", GROUNDS)
def test_colours_stand_out_on_light_and_on_dark(ground):
    back = luminance(channels(ground))
    for number in range(1, 12):
        for color in [*budget_colors(number), GREY, *BUDGET_SCALE]:
            front = luminance(channels(color))
            contrast = (max(front, back) + 0.05) / (min(front, back) + 0.05)
            assert contrast >= 3, (color, ground, contrast)


@pytest.mark.parametrize("number", [1, 2, 7, 12])
def test_budgets_have_different_colours(number):
    assert len(set(budget_colors(number))) == number


@given(st.lists(st.floats(1, 1e15), min_size=1, max_size=20))
def test_axis_holds_all_values_and_few_ticks(values):
    axis = amount_axis(values, "tokens")
    low, high = axis["range"]
    assert low < np.log10(min(values)) <= np.log10(max(values)) < high
    assert len(axis["tickvals"]) == len(axis["ticktext"]) <= 40
    assert axis["type"] == "log"
    assert "dtick" not in axis


def test_axis_without_values_is_an_axis():
    assert amount_axis([], "tokens")["range"][0] < 9 < amount_axis([], "tokens")["range"][1]
