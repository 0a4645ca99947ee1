r"""A lower bound of the mean distance to the nearest of n partitions.

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

import numpy as np
from numpy.typing import NDArray

from partita._parallel import run
from partita.losses.base import Loss
from partita.losses.evaluate import pairwise_distances
from partita.partitions.draws import Draws
from partita.rivals.parts import part_of

_SAME_MASS = 0.1
"""Draws whose masses differ by at most this share of them may meet in a group."""

_MOST_ATOMS = 4
"""A heavy draw is split into atoms of the usual mass, at most so many times the draws in all."""


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


GROUPINGS = {
    "fast": Grouping(operations=4e5, largest=12, groups=8, passes=2),
    "tight": Grouping(operations=1e7, largest=14, groups=24, passes=8),
}


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
    from partita.kernels.rivals.groups import exchange, groups_value

    atoms, mass = _atoms(draws.probabilities)
    coarse = np.round(np.log(mass) / _SAME_MASS)
    order = np.lexsort((to_nearest[atoms], coarse))
    atoms, mass = atoms[order], mass[order]
    size = grouping.size(n)
    stratum = size * grouping.groups

    def proven(start: int) -> float:
        mine, own = atoms[start : start + stratum], mass[start : start + stratum]
        apart = pairwise_distances(part_of(draws, mine), loss=loss, n_jobs=1)
        group = np.arange(mine.size, dtype=np.int64) // size
        exchange(apart**3, group, int(group[-1]) + 1, grouping.passes)
        arranged = np.argsort(group, kind="stable")
        return float(groups_value(apart[np.ix_(arranged, arranged)], own[arranged], size, n))

    return sum(run(proven, range(0, atoms.size, stratum), n_jobs))


def _atoms(weights: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Atoms of similar mass: a draw of many times the usual mass becomes several.

    One heavy draw would count in its group with no more than the mass of its
    lightest partner.
    """
    usual = max(float(np.median(weights)), 1.0 / (_MOST_ATOMS * weights.size))
    copies = np.maximum(1, np.ceil(weights / usual * 0.999).astype(np.int64))
    index = np.repeat(np.arange(weights.size), copies)
    return index, (weights / copies)[index]
