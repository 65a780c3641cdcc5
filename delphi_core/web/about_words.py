"""What the About page says: methods with formulas, conventions, sources, how to cite."""

from __future__ import annotations

HEADING = "How the numbers come about, and how to cite them"

METHODS = r"""
**IsoFLOP curves.** In each budget, a parabola (or a cubic) of the loss in $x = \log_{10}$ of tokens
or size, by least squares; the optimum is its vertex (its local minimum):
$$L = a x^2 + b x + c, \qquad x^* = -\frac{b}{2a}.$$
Its 90 % interval is a bootstrap within the budget, with Student's t percentiles, or Fieller's
interval where a budget has fewer than six sizes. Marin's own analysis (`marin`) buckets compute by
$1.1^k$ and gives Marin's published numbers to all digits.

**Laws.** $D^* = A\,C^{\alpha}$ by least squares in logarithms, and
$$L^*(C) = E + A\,C^{-\alpha}$$
through the optima: by least squares of $L^*$ (default), of $\log(L^* - E)$, or by Huber's loss.
Or a surface over all runs, $L(N, D) = E + A N^{-\alpha} + B D^{-\beta}$: Approach 3 of the
Chinchilla paper, or variable projection. Bands: profile of E, delta method, jackknife, and two
bootstraps. The default method and band have the least interval score in walk-forward on the
ladders; no held-out run plays a part in it.

**Trajectories.** Runs are compared at the same fraction $g$ of training. Marin's forecast is a
power law at each fraction, $L(g) = E + A_g\,(C g)^{-\alpha_g}$. Ours, `surface`, is the loss
surface at the tokens seen so far, less what the decay of the learning rate has brought, plus a
start that takes steps. Each rung is forecast from the others, and how far that was off, for how
far it was extrapolated, makes the band. Backtests on the rungs choose the default; what a target
measured is no input.

**Recipes.** The speed-up of a recipe over a base is the compute the base needs for the loss that
the recipe reaches with $C$, over $C$.

**Planner.** Beside the optimum,
$L - L^* = S\,C^{-\alpha}\,(b\,e^{-a u} + a\,e^{b u} - a - b)$ with $u = \ln(N/N^*)$, fitted to all
runs; the form is chosen by backtests on later budgets.
"""

CONVENTIONS = """
- $C$ in FLOP counts forward and backward, as recorded; it is never derived from sizes and tokens.
- Sizes of mixtures of experts are active parameters.
- *Held-out* runs are larger than anything fitted, and are never fitted. The *extrapolation ratio*
  is their compute over the largest that was fitted.
- Errors are (measured - forecast) / forecast, in percent.
- Losses are in nats per token, bpb in bits per byte.
- A loss in the middle of training is not a final loss: the learning rate has yet to decay.
- Every interval says its level and how it was made. What the runs do not determine is flagged.
"""

LICENCE = """
The code is under the Apache License 2.0. The figures are facts from public sources of the Marin
project and of those who follow it, each row with the key of its source; no text, code or model of
those sources is copied here.
"""
