"""Distances that tie, and the smallest ball that holds a given mass."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._validate import probability
from partita.losses.base import Loss
from partita.partitions.draws import Draws

ENTROPY_TOLERANCE = 1e-10
"""Distances of an entropy metric closer than this are the same distance.

Rounding in sums of x·log2(x) stays below 1e-11 bits for a hundred thousand
items in a thousand clusters.
"""

MASS_TOLERANCE = 1e-9
"""A mass this little short of ``prob`` reaches it: 0.3 of 10 draws are 3, not 4."""


def tie_tolerance(loss: Loss) -> float:
    """Largest difference of two distances that counts as a tie.

    Binder's loss is a whole number over N², hence computed exactly, and any
    tolerance could merge different values when N is large.
    """
    return 0.0 if loss.is_exact else ENTROPY_TOLERANCE


def clean_prob(prob: float) -> float:
    """Validate a credible level."""
    return probability(prob, "prob")


@dataclass(frozen=True, eq=False)
class Levels:
    """The distinct distances of the draws from a centre, in increasing order.

    Attributes
    ----------
    of_draw : ndarray of int64, shape (n_draws,)
        Number of each draw's distance among the distinct ones.
    value : ndarray of float, shape (n_levels,)
        The largest distance that counts as this level.
    reached : ndarray of float, shape (n_levels,)
        Mass of the draws up to and including each level.
    step : ndarray of float, shape (n_levels,)
        Mass up to and including the lightest draw of each level.
    """

    of_draw: NDArray[np.int64]
    value: NDArray[np.float64]
    reached: NDArray[np.float64]
    step: NDArray[np.float64]

    def at(self, prob: float) -> int:
        """The first level whose mass reaches prob; at 1 the last, however light its draws."""
        last = self.value.size - 1
        if prob >= 1.0:
            return last
        # The last level holds all the mass; rounding in a sum of weights must not pass it.
        return min(int(np.searchsorted(self.reached, prob - MASS_TOLERANCE)), last)

    def containing(self, distance: float, tolerance: float) -> int:
        """The first level at least as far as ``distance``; n_levels when it is beyond all."""
        return int(np.searchsorted(self.value, distance - tolerance))


def find_levels(distances: NDArray[np.float64], draws: Draws, tolerance: float) -> Levels:
    """Sort the distances and join those that tie.

    Neighbours in the sorted order tie when they differ by at most ``tolerance``.
    """
    order = np.argsort(distances, kind="stable")
    ordered = distances[order]
    starts = np.empty(ordered.size, bool)
    starts[0] = True
    np.greater(np.diff(ordered), tolerance, out=starts[1:])
    level = np.cumsum(starts) - 1
    of_draw = np.empty(level.size, np.int64)
    of_draw[order] = level
    first = np.flatnonzero(starts)
    after = np.append(first[1:], ordered.size)
    if draws.weights is None:
        n = draws.n_draws
        reached, step = after / n, (first + 1) / n
    else:
        weights = draws.weights[order]
        reached = np.cumsum(weights)[after - 1]
        before = np.concatenate([[0.0], reached[:-1]])
        # A draw lighter than the tolerance adds no mass that ``at`` could see.
        lightest = np.maximum(np.minimum.reduceat(weights, first), 2.0 * MASS_TOLERANCE)
        step = np.minimum(before + lightest, 1.0)
        reached[-1] = math.fsum(weights)
    return Levels(of_draw, ordered[after - 1], reached, step)
