"""Delphi's recipe: every setting of a run from its compute and its width.

Source: the released optimizer settings and run configurations of the Delphi ladder; the tests
hold it against the recorded settings of all its runs. AdamH, dense Qwen3, head size 128, an MLP
of four times the width, untied embeddings.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from math import ceil, log2, sqrt
from typing import TYPE_CHECKING

from delphi_core.errors import FitError, quoted
from delphi_core.fits.training_budget import check_budget
from delphi_core.words import flops_words

if TYPE_CHECKING:
    from collections.abc import Iterator

RECIPE_LADDER = "delphi"
"""The ladder whose recipe it is."""
VOCABULARY, SEQ_LEN, HEAD_DIM, MLP_RATIO = 128_256, 4096, 128, 4
WIDTH_STEP, NARROWEST, WIDEST = 128, 512, 32_768
"""Widths that are taken: multiples of the step, from the suite's narrowest on."""
COARSE_FROM, COARSE_STEP = 2e19, 256
"""Above this compute (FLOP) the suite takes widths in steps of 256."""
MOST_TOKENS_PER_PARAM = 250.0
FEWEST_SEQUENCES = 8
SUITE_BUDGETS = (3e18, 9e18, 1.8e19, 3e19, 9e19, 1.8e20, 3e20)
SUITE_WIDEST = 4096
"""Widest of the suite: no written rule, but 1.8e20 and 3e20 FLOP would hold wider ones too."""

_REFERENCE_TOKENS, _REFERENCE_BATCH = 2.5e9, 64
_STEPS_AIMED_AT = 2**16
_LARGEST_RATE, _LEAST_BETA2, _GREATEST_BETA2 = 0.01, 0.9, 0.9999


@dataclass(frozen=True)
class Recipe:
    """Settings of one run.

    Attributes
    ----------
    budget
        Compute that was asked for, FLOP.
    hidden_dim, layers, heads, head_dim, mlp_dim
        Width, layers, attention heads (as many for keys and values), their size, MLP width.
    vocabulary, seq_len
        Vocabulary (tokens), and sequence length (tokens).
    params
        All parameters, embeddings included.
    flops_per_token
        Of one forward pass, lm_head and attention included, FLOP; training takes three times that.
    planned_tokens
        What the budget pays for; rates and batch are made from it.
    batch_size, steps
        Sequences a step, and steps.
    tokens, flops
        What whole steps train on, and the compute that takes, FLOP.
    lr, adam_lr
        Peak learning rates of AdamH (matrices) and of Adam (everything else).
    epsilon, beta1, beta2
        Of both optimizers.
    lr_warmup, lr_decay
        Linear warm-up from 0 and linear decay to 0, as fractions of training.
    """

    budget: float
    hidden_dim: int
    layers: int
    heads: int
    head_dim: int
    mlp_dim: int
    vocabulary: int
    seq_len: int
    params: int
    flops_per_token: float
    planned_tokens: float
    batch_size: int
    steps: int
    tokens: int
    flops: float
    lr: float
    adam_lr: float
    epsilon: float
    beta1: float
    beta2: float
    lr_warmup: float = 0.1
    lr_decay: float = 0.2

    @property
    def tokens_per_param(self) -> float:
        """Trained tokens per parameter."""
        return self.tokens / self.params


UNITS = {
    "budget": "FLOP",
    "hidden_dim": "",
    "layers": "",
    "heads": "",
    "head_dim": "",
    "mlp_dim": "",
    "vocabulary": "tokens",
    "seq_len": "tokens",
    "params": "parameters",
    "flops_per_token": "FLOP per token, forward",
    "planned_tokens": "tokens",
    "batch_size": "sequences",
    "steps": "steps",
    "tokens": "tokens",
    "flops": "FLOP",
    "lr": "peak, AdamH",
    "adam_lr": "peak, Adam",
    "epsilon": "",
    "beta1": "",
    "beta2": "",
    "lr_warmup": "of training, linear from 0",
    "lr_decay": "of training, linear to 0",
}
"""Unit of each setting, or what it is of; empty where it is a plain number."""


def layers_of(hidden_dim: int) -> int:
    """Layers of a width: round(h / (64 + 4 log2 h - 9))."""
    return round(hidden_dim / (64 + 4 * log2(hidden_dim) - 9))


def params_of(hidden_dim: int) -> int:
    """Parameters of a width: L (16 h^2 + 2 h + 256) + h + 2 V h."""
    h = hidden_dim
    return layers_of(h) * (16 * h * h + 2 * h + 2 * HEAD_DIM) + h + 2 * VOCABULARY * h


def flops_per_token(hidden_dim: int) -> float:
    """FLOP of a forward pass per token: L (24 h^2 + 8 h^2 + 4 S h + 3 S h / 128) + 2 h V."""
    h, s = hidden_dim, SEQ_LEN
    layer = 2 * 3 * MLP_RATIO * h * h + 8 * h * h + 4 * s * h + 3 * s * h / HEAD_DIM
    return layers_of(h) * layer + 2 * h * VOCABULARY


def delphi_recipe(flops: float, hidden_dim: int) -> Recipe:
    """Settings of the run of a width that spends a budget.

    Parameters
    ----------
    flops
        Training compute, FLOP.
    hidden_dim
        Width.

    Raises
    ------
    FitError
        The budget is no compute, the width none of the recipe's, or the budget too small for it.
    """
    _check(flops, hidden_dim)
    tokens = flops / (3 * flops_per_token(hidden_dim))
    batch = _batch_size(tokens)
    if batch < FEWEST_SEQUENCES:
        raise FitError(
            f"width {hidden_dim} at {flops_words(flops)} comes to a batch of {batch:g} sequences; "
            f"the recipe has {FEWEST_SEQUENCES} at least: take a smaller width or more compute."
        )
    steps = round(tokens / (SEQ_LEN * batch))
    trained = SEQ_LEN * int(batch) * steps
    lr, adam_lr, beta2 = _rates(batch, tokens)
    return Recipe(
        budget=float(flops),
        hidden_dim=hidden_dim,
        layers=layers_of(hidden_dim),
        heads=hidden_dim // HEAD_DIM,
        head_dim=HEAD_DIM,
        mlp_dim=MLP_RATIO * hidden_dim,
        vocabulary=VOCABULARY,
        seq_len=SEQ_LEN,
        params=params_of(hidden_dim),
        flops_per_token=flops_per_token(hidden_dim),
        planned_tokens=tokens,
        batch_size=int(batch),
        steps=steps,
        tokens=trained,
        # Runs log it in units of 10^9 FLOP, which costs the last bit.
        flops=3 * flops_per_token(hidden_dim) * trained / 1e9 * 1e9,
        lr=lr,
        adam_lr=adam_lr,
        epsilon=1.85e-8 * sqrt(_REFERENCE_BATCH * tokens / (batch * _REFERENCE_TOKENS)),
        beta1=0.9,
        beta2=beta2,
    )


def width_step(flops: float) -> int:
    """Step between the suite's widths at a budget (FLOP)."""
    return WIDTH_STEP if flops <= COARSE_FROM else COARSE_STEP


def delphi_suite(flops: float, *, widest: int = SUITE_WIDEST) -> list[Recipe]:
    """The recipe's runs at a budget, by width: what an IsoFLOP sweep of it trains.

    Left out are widths of more than 250 tokens per parameter and those whose batch would round to
    fewer than 8 sequences.

    Parameters
    ----------
    flops
        Training compute, FLOP.
    widest
        Where to end; the suite's own end is 4096.
    """
    found = []
    for hidden_dim in range(NARROWEST, widest + 1, width_step(flops)):
        try:
            recipe = delphi_recipe(flops, hidden_dim)
        except FitError:
            # Wider ones get fewer tokens still.
            break
        if recipe.tokens_per_param <= MOST_TOKENS_PER_PARAM:
            found.append(recipe)
    return found


def nearest_width(flops: float, params: float) -> int:
    """The width in the suite's steps at a budget (FLOP) whose size is nearest to `params`."""
    step, before = width_step(flops), NARROWEST
    for hidden_dim in _widths(step):
        if params_of(hidden_dim) >= params:
            nearer = params_of(hidden_dim) / params < params / params_of(before)
            return hidden_dim if nearer else before
        before = hidden_dim
    return before


def _widths(step: int) -> Iterator[int]:
    for hidden_dim in count(NARROWEST, step):
        if hidden_dim > WIDEST:
            return
        yield hidden_dim


def _check(flops: float, hidden_dim: int) -> None:
    check_budget(flops)
    if hidden_dim % WIDTH_STEP or not NARROWEST <= hidden_dim <= WIDEST:
        raise FitError(
            f"the width is {quoted(hidden_dim)}; the recipe takes multiples of {WIDTH_STEP} from "
            f"{NARROWEST} to {WIDEST}."
        )


def _rates(batch: float, tokens: float) -> tuple[float, float, float]:
    """Learning rates of AdamH and Adam, and beta2, for a batch (sequences) and tokens."""
    lr = 0.0063 * sqrt(batch / _REFERENCE_BATCH) * (_REFERENCE_TOKENS / tokens) ** 0.3
    adam_lr = 0.000656 * sqrt(batch * _REFERENCE_TOKENS / (_REFERENCE_BATCH * tokens))
    beta2 = min(max(0.9999 ** (batch / _REFERENCE_BATCH), _LEAST_BETA2), _GREATEST_BETA2)
    return lr, adam_lr, beta2


def _batch_size(tokens: float) -> float:
    """Sequences a step: T / (2^16 S) rounded up to a power of two, halved while a rate is too high.

    Below one it is a fraction, which the caller refuses.
    """
    batch = 2.0 ** ceil(log2(tokens / (_STEPS_AIMED_AT * SEQ_LEN)))
    while batch > FEWEST_SEQUENCES:
        lr, adam_lr, beta2 = _rates(batch, tokens)
        if lr < _LARGEST_RATE and adam_lr < _LARGEST_RATE and beta2 > _LEAST_BETA2:
            break
        batch /= 2
    return batch
