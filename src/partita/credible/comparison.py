"""One pass over the draws that item and cluster tables are made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._parallel import run
from partita._progress import Status
from partita.errors import InvalidInputError
from partita.losses.base import thread_blocks
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels

JACCARD = 0.8
"""Overlap from which on a cluster counts as recovered, by default."""

_BATCH = 8
"""Blocks of draws whose sums are held at a time; each may be as large as the result."""

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
        others = np.broadcast_to(self.sizes, self.companions.shape).copy()
        others[items, self.estimate] -= 1
        affinity = np.divide(
            self.companions, others, out=np.zeros_like(self.companions), where=others > 0
        )
        single = np.flatnonzero(self.sizes[self.estimate] == 1)
        affinity[single, self.estimate[single]] = self.alone[single]
        return affinity


def compare(
    estimate: Labels, draws: Draws, *, jaccard: float = JACCARD, n_jobs: int | None = None
) -> Comparison:
    """Compare every draw with the estimate in O(M·(N·K + K³)), without an N×N matrix."""
    from partita.kernels.credible.uncertainty import compare_with_estimate

    threshold = clean_jaccard(jaccard)
    sizes = np.bincount(estimate).astype(np.int64)
    logs = np.zeros(draws.n_items + 1)
    np.log2(np.arange(1, draws.n_items + 1), out=logs[1:])
    n, k = draws.n_items, sizes.size
    shapes = [(n, k + 1), (n, k), *[(n,)] * 2, *[(k,)] * 2]

    def add(block: slice) -> list[NDArray[np.float64]]:
        sums = [np.zeros(shape) for shape in shapes]
        rows = draws.rows(block.start, block.stop)
        # Whole weights until the very end: sums over unweighted draws are exact counts.
        weights = np.ones(rows.shape[0]) if draws.weights is None else draws.weights[block]
        counts = draws.n_clusters[block]
        limit = threshold - _ROUNDING
        compare_with_estimate(estimate, sizes, rows, counts, weights, logs, limit, *sums)
        return sums

    totals = [np.zeros(shape) for shape in shapes]
    blocks = thread_blocks(draws)
    with Status("comparing draws with the estimate") as status:
        for start in range(0, len(blocks), _BATCH):
            batch = blocks[start : start + _BATCH]
            for sums in run(add, batch, n_jobs):
                for total, part in zip(totals, sums, strict=True):
                    total += part
            status.say(f"{batch[-1].stop:,} of {draws.n_draws:,} draws")
    mass = float(draws.n_draws) if draws.weights is None else 1.0
    placed, companions, information, alone, unchanged, similar = (t / mass for t in totals)
    companions[np.arange(draws.n_items), estimate] -= 1.0
    np.maximum(companions, 0.0, out=companions)
    return Comparison(
        estimate, sizes, placed, companions, information, alone, unchanged, similar, threshold
    )


def clean_jaccard(jaccard: float) -> float:
    """Validate a Jaccard threshold."""
    number = isinstance(jaccard, (int, float, np.integer, np.floating))
    if not number or isinstance(jaccard, bool) or not 0.0 < float(jaccard) <= 1.0:
        raise InvalidInputError(
            f"jaccard={jaccard!r}; expected an overlap above 0 and at most 1, such as 0.8."
        )
    return float(jaccard)
