"""How large a core can be at most, with proof."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partita.credible.core_search import WeightedDraws, without_gaps
from partita.kernels.arrays import Bools, Floats
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels

_BYTES = 1 << 27
"""Memory that the bits of all pairs may take; more items are bounded by colouring alone."""

_COLOURED = 4_000
"""Items up to which a matrix of pairs is coloured."""

_READ = 4e10
"""Labels that counting the pairs of a matrix may read."""

WORK = {"fast": 3e8, "tight": 3e10}
"""Words of bits that branch and bound may read: under a second, about a minute."""


@dataclass(frozen=True, eq=False)
class LargestCore:
    """A proven bound on the number of items, and a larger core if the proof met one."""

    items: int
    larger: Labels | None


def bound_size(
    draws: Draws, posterior: WeightedDraws, prob: float, found: int, work: float
) -> LargestCore:
    """No core of the probability has more items than this.

    Two items of a core are together in draws of weight ``prob``, or apart in
    draws of that weight, so the items of a core are pairwise joined in the
    graph of such pairs, and there are no more of them than colours.
    """
    n = draws.n_items
    floor = prob * posterior.total - posterior.tolerance
    words = -(-(draws.n_draws if draws.weights is None else posterior.rows.shape[0]) // 64)
    if found == n:
        return LargestCore(n, None)
    if n * n * words * 8 <= _BYTES:
        return _branch(draws, posterior, floor, found, work / words)
    if n <= _COLOURED and float(n) * n * posterior.rows.shape[0] <= _READ:
        return LargestCore(max(found, _colours(draws, prob)), None)
    return LargestCore(n, None)


def _branch(
    draws: Draws, posterior: WeightedDraws, floor: float, found: int, work: float
) -> LargestCore:
    from partita.kernels.credible.agreement import branch_and_bound, pack_pairs

    if draws.weights is None:
        # Unmerged, the weight of a bit set is the number of its bits.
        rows, weights = draws.rows(0, draws.n_draws), np.empty(0)
    else:
        rows, weights = posterior.rows, posterior.weights
    m, n = rows.shape
    together = np.empty((n, n, -(-m // 64)), np.uint64)
    pack_pairs(np.ascontiguousarray(rows.T), together)
    best = np.full(n, -1, np.int64)
    places = max(1, int(posterior.total / floor))
    size, bound, _ = branch_and_bound(
        together, together[0, 0], weights, floor, places, work, best, found
    )
    larger = without_gaps(best.astype(np.int32)) if size > found else None
    return LargestCore(int(bound), larger)


def _colours(draws: Draws, prob: float) -> int:
    from partita.kernels.credible.agreement import colour_classes
    from partita.partitions.similarity import similarity

    joined = _joined(similarity(draws), prob)
    n = draws.n_items
    return int(colour_classes(joined, n, np.empty(n, np.int64), np.empty(n, np.int64)))


def _joined(pairs: Floats, prob: float) -> Bools:
    joined = np.maximum(pairs, 1.0 - pairs) >= prob - 1e-9
    np.fill_diagonal(joined, False)
    return joined
