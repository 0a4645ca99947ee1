r"""A lower bound of the mean distance to the nearest of n partitions, by small groups of draws.

Of a group of draws, n partitions serve at most n blocks. Draws a, b that one
partition ρ serves cost d(a, ρ) + d(b, ρ) ≥ d(a, b), and three cost at least
half their perimeter. So a group costs at least

.. math:: \min_{\text{splits into at most } n \text{ blocks}} \sum_B f(B),

with f(B) the largest total of disjoint pairs and triangles inside a block,
each times the smallest mass in it; both come from dynamic programmes over
subsets. Groups share no mass, so their bounds add up, whatever the groups
are. Good groups are alike in mass and far apart: draws are sorted by their
distance to the nearest partition found, and exchanged between groups to raise
the sum of cubed distances within them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from partita.draws import Draws
from partita.losses.base import Loss
from partita.rivals.among import apart
from partita.rivals.parts import atoms_of, part_of
from partita.scan import Block, map_blocks

_SAME_MASS = 0.1
"""Draws whose masses differ by at most this share of them may meet in a group."""


@dataclass(frozen=True)
class Grouping:
    """How hard a bound tries."""

    operations: float
    """Steps of the dynamic programmes that one group may take, about: sets its size."""
    largest: int
    """Most draws of a group."""
    groups: int
    """Groups between which draws are exchanged."""
    passes: int
    """Times each draw looks for an exchange."""

    def size(self, n: int) -> int:
        """Draws of a group: as many as the operations afford, and more than n."""
        size = n + 2
        while size < self.largest and (n - 1) * 3.0 ** (size + 1) <= self.operations:
            size += 1
        return min(max(size, 4), max(self.largest, n + 2))


def group_bound(
    draws: Draws,
    n: int,
    loss: Loss,
    to_nearest: NDArray[np.float64],
    grouping: Grouping,
    n_jobs: int | None,
) -> float:
    """No n partitions have a lower mean distance to the draws, for a metric loss.

    Parameters
    ----------
    draws : Draws
        Best without duplicates.
    to_nearest : ndarray, shape (n_draws,)
        Distance of each draw to the nearest of some partitions: sorts draws
        into groups. The bound holds whatever it is.
    """
    atoms, mass = atoms_of(draws)
    coarse = np.round(np.log(mass) / _SAME_MASS)
    order = np.lexsort((to_nearest[atoms], coarse))
    sorted_draws = part_of(draws, atoms[order], mass[order])
    size = grouping.size(n)
    proven = partial(_proven, n=n, loss=loss, size=size, passes=grouping.passes)
    rows = size * grouping.groups
    return sum(map_blocks(proven, sorted_draws, rows=rows, n_jobs=n_jobs))


def _proven(block: Block, *, n: int, loss: Loss, size: int, passes: int) -> float:
    """What the groups of one block of draws cost at least."""
    from partita.kernels.rivals.groups import exchange, groups_value

    far = apart(block, loss)
    group = np.arange(len(far), dtype=np.int64) // size
    exchange(far**3, group, int(group[-1]) + 1, passes)
    order = np.argsort(group, kind="stable")
    return float(groups_value(far[np.ix_(order, order)], block.probabilities[order], size, n))
