"""Numbers in words."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delphi_core.words import amount_words, count, flops_words, power_words


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (2.2e9, "2.2 B"),
        (1479419846.4, "1.48 B"),
        (540e6, "540 M"),
        (18e12, "18 T"),
        (999.9e6, "1 B"),
        (1e9, "1 B"),
        (20480, "20.5 k"),
        (12, "12"),
        (0, "0"),
    ],
)
def test_amounts(amount, words):
    assert amount_words(amount) == words


@pytest.mark.parametrize(
    ("flops", "words"),
    [
        (3e20, "3 × 10²⁰ FLOP"),
        (1.8e19, "1.8 × 10¹⁹ FLOP"),
        (2.9999926729506816e18, "3 × 10¹⁸ FLOP"),
        (2.891596e18, "2.89 × 10¹⁸ FLOP"),
        (9.9999e18, "1 × 10¹⁹ FLOP"),
    ],
)
def test_flops(flops, words):
    assert flops_words(flops) == words


@given(st.floats(1, 9e14))
def test_amounts_keep_three_digits(amount):
    number, _, letter = amount_words(amount).partition(" ")
    scale = {"": 1, "k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}[letter]
    assert float(number) * scale == pytest.approx(amount, rel=0.00501)
    assert re.fullmatch(r"\d{1,3}(\.\d{1,2})?", number)


def test_powers():
    assert power_words(0.57438) == "C⁰·⁵⁷⁴"
    assert power_words(-0.05) == "C⁻⁰·⁰⁵⁰"


def test_counts():
    assert [count(1, "run"), count(2, "run"), count(1500, "run")] == [
        "1 run",
        "2 runs",
        "1,500 runs",
    ]
