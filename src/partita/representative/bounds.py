"""Proven lower bounds of the mean distance to the nearest of n partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from partita._resources import stream
from partita.draws import AnyDraws, Draws
from partita.kernels.arrays import Floats
from partita.losses.base import Loss
from partita.losses.evaluate import pairwise_distances
from partita.scan import Block, block_of, map_blocks

R = TypeVar("R")

_MOST_ATOMS = 4
"""Heavy draws are split into atoms of the usual mass: at most four times as many as draws."""


def atoms_of(draws: AnyDraws) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Atoms of similar mass: the draw of each, and its mass. A heavy draw becomes several.

    One heavy draw would count among others with little more than their mass.
    """
    weights = draws.probabilities
    usual = max(float(np.median(weights)), 1.0 / (_MOST_ATOMS * weights.size))
    copies = np.maximum(1, np.ceil(weights / usual * 0.999).astype(np.int64))
    index = np.repeat(np.arange(weights.size), copies)
    return index, (weights / copies)[index]


def map_distances(
    function: Callable[[Floats, Floats], R],
    draws: AnyDraws,
    loss: Loss,
    *,
    rows: int,
    n_jobs: int | None,
) -> Iterator[R]:
    """``function(distances, masses)`` of every ``rows`` consecutive draws, in order.

    The distances are those among the draws, for a symmetric loss, shape (rows, rows).
    """
    if isinstance(draws, Draws):
        return map_blocks(
            partial(_on_block, function=function, loss=loss), draws, rows=rows, n_jobs=n_jobs
        )
    parts = [slice(at, at + rows) for at in range(0, draws.n_draws, rows)]
    return stream(partial(_on_part, function=function, draws=draws, loss=loss), parts, n_jobs)


def _on_block(block: Block, *, function: Callable[[Floats, Floats], R], loss: Loss) -> R:
    return function(distances_within(block, loss), block.probabilities)


def _on_part(
    part: slice, *, function: Callable[[Floats, Floats], R], draws: AnyDraws, loss: Loss
) -> R:
    return function(distances_among(draws._take(part), loss), draws.probabilities[part])


def distances_among(draws: AnyDraws, loss: Loss) -> Floats:
    """Distances among a few draws in memory, for a symmetric loss, shape (n, n)."""
    if isinstance(draws, Draws):
        return distances_within(block_of(draws, slice(0, draws.n_draws)), loss)
    return pairwise_distances(draws, loss=loss, n_jobs=1)


def distances_within(block: Block, loss: Loss) -> NDArray[np.float64]:
    """Distances among the draws of a block, for a symmetric loss, shape (n, n)."""
    from partita.kernels.contingency import distances_in_blocks

    n_items = block.labels.shape[1]
    form = loss.form(n_items)
    if form is None:
        return pairwise_distances(block.rows, loss=loss, n_jobs=1)
    edges = np.array([0, len(block.labels)])
    # Arrays are copied because read-only ones would compile again.
    clusters, terms = np.array(block.n_clusters), np.array(loss.terms(n_items))
    (far,) = distances_in_blocks(block.rows, clusters, edges, terms, form)
    return np.asarray(far)


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
    draws: AnyDraws,
    n: int,
    loss: Loss,
    to_nearest: NDArray[np.float64],
    grouping: Grouping,
    n_jobs: int | None,
) -> float:
    r"""No n partitions have a lower mean distance to the draws: small groups, all divisions.

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
    sorted_draws = draws.part(atoms[order], mass[order])
    size = grouping.size(n)
    proven = partial(_proven, n=n, size=size, passes=grouping.passes)
    rows = size * grouping.groups
    return sum(map_distances(proven, sorted_draws, loss, rows=rows, n_jobs=n_jobs))


def _proven(far: Floats, masses: Floats, *, n: int, size: int, passes: int) -> float:
    """What the groups of some draws cost at least."""
    from partita.kernels.bounds import exchange, groups_value

    group = np.arange(len(far), dtype=np.int64) // size
    exchange(far**3, group, int(group[-1]) + 1, passes)
    order = np.argsort(group, kind="stable")
    return float(groups_value(far[np.ix_(order, order)], masses[order], size, n))


def spectral_bound(
    draws: AnyDraws,
    n: int,
    loss: Loss,
    region: NDArray[np.int64],
    to_nearest: NDArray[np.float64],
    size: int,
    n_jobs: int | None,
) -> float:
    r"""No n partitions have a lower mean distance to the draws, by eigenvalues.

    Draws that one partition ρ serves, a block B, cost at least what any shares
    x of their masses w cost by the triangle inequality,

    .. math:: \sum_{a \in B} w_a\, d(a, ρ) \ge \sum_{a < b \in B} x_{ab}\, d(a, b),
              \qquad \sum_b x_{ab} \le w_a.

    All may share with all in their block, :math:`x_{ab} = w_a w_b / w(B)`. The sum over the
    blocks is then half the trace of :math:`D Z`, with :math:`D_{ab} = \sqrt{w_a}\, d(a, b)
    \sqrt{w_b}` and Z the projection on the n vectors √w of the blocks. Their sum is
    √w of all draws, whatever the blocks are; the other directions, at most n − 1,
    contribute no less than the n − 1 lowest eigenvalues of D at right angles to √w,
    as far as these are negative.

    Strata of about a hundred draws are bounded one by one, and their bounds add up.
    Draws are dealt to the strata so that each is a small image of all of them.

    Parameters
    ----------
    draws : Draws
        Best without duplicates.
    region, to_nearest : ndarray, shape (n_draws,)
        Nearest of some partitions, and distance to it: the draws are dealt in
        this order. The bound holds whatever they are.
    size : int
        Draws of a stratum, about. O(size · (N + K²) + size²) for each draw.
    """
    atoms, mass = atoms_of(draws)
    order = np.lexsort((to_nearest[atoms], region[atoms]))
    n_strata = -(-atoms.size // size)
    # The strata are consecutive blocks of equal numbers of draws, but for the last.
    rows = -(-atoms.size // n_strata)
    dealt = order[np.argsort(np.arange(atoms.size) % n_strata, kind="stable")]
    ready = draws.part(atoms[dealt], mass[dealt])
    proven = partial(stratum_bound, n=n)
    return sum(map_distances(proven, ready, loss, rows=rows, n_jobs=n_jobs))


def stratum_bound(far: Floats, masses: Floats, *, n: int) -> float:
    """What some draws cost n points at least, from the distances among them and their masses."""
    from scipy.linalg import eigvalsh

    total = float(masses.sum())
    if len(masses) <= n or total <= 0.0:
        return 0.0
    root = np.sqrt(masses)
    matrix = far * root[:, None] * root
    along = (matrix * root).sum(axis=1) / total
    trace = float((along * root).sum())
    matrix -= along[:, None] * root + root[:, None] * along
    matrix += (root[:, None] * root) * (trace / total)
    # A draw shares nothing with itself, so that all shares may grow by its own.
    own = float(masses.min()) / total
    lowest = 0.0
    if n > 1:
        values = eigvalsh(matrix, overwrite_a=True, subset_by_index=(0, n - 2), check_finite=False)
        rounding = len(masses) * np.finfo(np.float64).eps * float(np.abs(values).max() + trace)
        lowest = float(np.minimum(values - rounding, 0.0).sum())
    return max(0.0, 0.5 * (trace + lowest) / (1.0 - own))


@dataclass(frozen=True)
class Effort:
    """How hard the two bounds try."""

    grouping: Grouping
    grouped: int
    """Draws up to which groups are divided. With more the eigenvalues prove about as much."""
    stratum: int
    """Draws whose eigenvalues are taken together."""


EFFORTS = {
    "fast": Effort(
        Grouping(operations=4e5, largest=12, groups=8, passes=2), grouped=1_000, stratum=96
    ),
    "tight": Effort(
        Grouping(operations=1e7, largest=14, groups=24, passes=8), grouped=20_000, stratum=384
    ),
}


def lower_bound(
    draws: AnyDraws,
    n: int,
    loss: Loss,
    nearest: tuple[NDArray[np.int64], NDArray[np.float64]],
    effort: Effort,
    n_jobs: int | None,
) -> float:
    """No n partitions have a lower mean distance to the distinct draws, for a metric loss.

    ``nearest`` is the region of each draw and its distance to that partition.
    """
    region, to_nearest = nearest
    proven = spectral_bound(draws, n, loss, region, to_nearest, effort.stratum, n_jobs)
    if draws.n_draws <= effort.grouped:
        groups = group_bound(draws, n, loss, to_nearest, effort.grouping, n_jobs)
        proven = max(proven, groups)
    return proven
