"""One pass over the draws that item and cluster tables are made from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from partita._memory import require_memory
from partita._progress import Status
from partita._validate import probability
from partita._vocabulary import words
from partita.kernels.arrays import Floats, Ints
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels
from partita.partitions.passes import Block, sum_blocks
from partita.partitions.pieces import store_rows

JACCARD = 0.8
"""Overlap from which on a cluster counts as recovered, by default."""

_WAITING = 3
"""Sums held at the least: the total, one that is made and one that waits."""

_SUM_BYTES = 1 << 27
"""Sums of one block: of as many items as have so many bytes of them."""

_ROUNDING = 1e-12
"""A Jaccard similarity this little short of the threshold reaches it."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Posterior means of what draws say about an estimate with K clusters.

    Attributes
    ----------
    estimate : ndarray of int32, shape (n_items,)
    sizes : ndarray of int64, shape (K,)
    placed : ndarray of float, shape (n_items, K + 1)
        Probability that the item's cluster in a draw is matched to each cluster
        of the estimate, and last, to none of them.
    companions : ndarray of float, shape (n_items, K)
        Expected number of other members of cluster k together with item i.
    information : ndarray of float, shape (n_items,)
        Each item's term of the expected VI, N times its contribution.
    alone : ndarray of float, shape (n_items,)
        Probability that the item is a cluster of its own.
    unchanged, similar : ndarray of float, shape (K,)
        Probability that a draw has this very cluster, or one that overlaps it
        by a Jaccard similarity of at least ``jaccard``.
    jaccard : float
    """

    estimate: Labels
    sizes: NDArray[np.int64]
    placed: NDArray[np.float64]
    companions: NDArray[np.float64]
    information: NDArray[np.float64]
    alone: NDArray[np.float64]
    unchanged: NDArray[np.float64]
    similar: NDArray[np.float64]
    jaccard: float

    def affinity(self) -> NDArray[np.float64]:
        """Mean similarity of item i to the other members of cluster k, shape (n_items, K).

        For an item that forms a cluster of its own, that cluster has no other
        members; its entry is the probability that the item is alone.
        """
        items = np.arange(self.estimate.size)
        affinity = self.companions / self.sizes
        own, others = self.companions[items, self.estimate], self.sizes[self.estimate] - 1
        affinity[items, self.estimate] = np.divide(
            own, others, out=np.zeros_like(own), where=others > 0
        )
        single = np.flatnonzero(self.sizes[self.estimate] == 1)
        affinity[single, self.estimate[single]] = self.alone[single]
        return affinity


def compare(
    estimate: Labels, draws: Draws, *, jaccard: float = JACCARD, n_jobs: int | None = None
) -> Comparison:
    """Compare every draw with the estimate in O(M·N·K), without an N×N matrix."""
    threshold = clean_jaccard(jaccard)
    sizes = np.bincount(estimate).astype(np.int64)
    # Sums of every block that waits to be added, each (n_items, K) twice.
    require_memory(
        16 * _WAITING * draws.n_items * (sizes.size + 1),
        f"comparing {draws.n_items:,} items with {sizes.size:,} clusters",
        "An estimate with fewer clusters needs less.",
    )
    n, chunks = draws.n_items, _chunks(draws.n_items, sizes.size)
    # Where sums are larger than labels, more draws are seen at a time.
    rows = None if len(chunks) == 1 else store_rows(n)
    whole = [np.empty((n, sizes.size + 1)), np.empty((n, sizes.size)), *np.empty((3, n))]
    mass = float(draws.n_draws) if draws.weights is None else 1.0
    with Status(f"comparing {words(draws.kind).draws} with the estimate") as status:
        for items in chunks:
            compared = partial(
                _compared, estimate=estimate, sizes=sizes, limit=threshold - _ROUNDING, items=items
            )
            sums = sum_blocks(compared, draws, rows=rows, n_jobs=n_jobs, say=status.say)
            for mean, part in zip(whole, sums[:5], strict=True):
                np.divide(part, mass, out=mean[items])
    unchanged, similar = (total / mass for total in sums[5:])
    placed, companions, own, information, alone = whole
    companions[np.arange(draws.n_items), estimate] = own
    return Comparison(
        estimate, sizes, placed, companions, information, alone, unchanged, similar, threshold
    )


def _chunks(n_items: int, n_clusters: int) -> list[slice]:
    """Items whose sums are added up at a time: those of a few blocks wait for each other."""
    step = max(1, _SUM_BYTES // (16 * (n_clusters + 2)))
    return [slice(first, min(first + step, n_items)) for first in range(0, n_items, step)]


def _compared(
    block: Block, *, estimate: Labels, sizes: Ints, limit: float, items: slice
) -> tuple[Floats, ...]:
    """Sums over one block. Whole weights until the end: unweighted, they are exact counts."""
    from partita.kernels.uncertainty import compare_with_estimate, members_of

    n, k, some = estimate.size, sizes.size, items.stop - items.start
    logs = np.zeros(n + 1)
    np.log2(np.arange(1, n + 1), out=logs[1:])
    shapes = [(some, k + 1), (k, some), *[(some,)] * 3, *[(k,)] * 2]
    sums = [np.zeros(shape) for shape in shapes]
    compare_with_estimate(
        estimate,
        sizes,
        *members_of(estimate, k),
        block.rows,
        block.n_clusters,
        np.array(block.counts),
        logs,
        limit,
        items.start,
        *sums,
    )
    sums[1] = sums[1].T.copy()
    return tuple(sums)


def clean_jaccard(jaccard: float) -> float:
    """Validate a Jaccard threshold."""
    return probability(jaccard, "jaccard", "an overlap above 0 and at most 1, such as 0.8")
