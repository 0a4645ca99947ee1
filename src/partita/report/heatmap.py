"""The similarity matrix as a picture: items in a readable order, many items per cell if needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._progress import Status
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels
from partita.partitions.similarity import similarity

MAX_EXACT = 500
"""Items up to which every pair has a cell of its own: a screen has few more pixels."""

_BINS = 400
_LANDMARKS = 1_000
_ORDER_DRAWS = 1_000
"""Draws that suffice to place items next to similar ones; no number shown depends on it."""

_BATCH_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class HeatMap:
    """What the picture of the similarity matrix shows.

    Attributes
    ----------
    order : ndarray of int64, shape (n_items,)
        The items from left to right: by cluster of the estimate, similar ones side by side.
    starts : ndarray of int64, shape (n_bins + 1,)
        Where each bin begins in ``order``; bins of one item unless aggregated.
    values : ndarray of float, shape (n_bins, n_bins)
        Probability that two different items of the bins are together, on average.
    edges : ndarray of int64, shape (n_clusters + 1,)
        Where the clusters of the estimate begin, in bins; empty when bins mix clusters.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    values: NDArray[np.float64]
    edges: NDArray[np.int64]

    @property
    def is_aggregated(self) -> bool:
        """Whether a cell stands for more than one pair of items."""
        return bool(self.values.shape[0] < self.order.size)

    @property
    def largest_bin(self) -> int:
        """Items in the fullest bin."""
        return int(np.diff(self.starts).max())


def heat_map(draws: Draws, estimate: Labels, between: NDArray[np.float64]) -> HeatMap:
    """The heat map of the draws, ordered by an estimate.

    Parameters
    ----------
    draws : Draws
    estimate : ndarray of int32, shape (n_items,)
    between : ndarray of float, shape (n_clusters, n_clusters)
        Mean similarity between clusters of the estimate; similar ones become neighbours.

    Notes
    -----
    Up to ``MAX_EXACT`` items the similarity matrix itself, O(M·N²). Beyond,
    means over bins from counts of labels in bins, O(M·(N + B²·K)) for B bins:
    exact, without an N × N matrix.
    """
    sizes = np.bincount(estimate)
    by_cluster = _leaves(between)
    exact = similarity(draws) if draws.n_items <= MAX_EXACT else None
    order = np.concatenate(
        [_order_members(draws, np.flatnonzero(estimate == k), exact) for k in by_cluster.tolist()]
    )
    starts, edges = _bins(sizes[by_cluster])
    if exact is not None:
        return HeatMap(order, starts, exact[np.ix_(order, order)], edges)
    return HeatMap(order, starts, _binned(draws, order, starts), edges)


def _leaves(together: NDArray[Any]) -> NDArray[np.int64]:
    """An order in which similar rows are neighbours: leaves of average linkage."""
    n = together.shape[0]
    if n < 3:
        return np.arange(n)
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    apart = 1.0 - together
    np.fill_diagonal(apart, 0.0)
    pairs = squareform(apart, checks=False)
    tree = linkage(pairs, method="average", optimal_ordering=n <= MAX_EXACT)
    return leaves_list(tree).astype(np.int64)


def _order_members(
    draws: Draws, members: NDArray[np.int64], exact: NDArray[np.float64] | None
) -> NDArray[np.int64]:
    """The items of one cluster, similar ones side by side."""
    if exact is not None:
        return members[_leaves(exact[np.ix_(members, members)])]
    if members.size < 3:
        return members
    step = -(-draws.n_draws // _ORDER_DRAWS)
    part = Draws(draws.labels[::step, members], weights=_every(draws.weights, step))
    # A whole matrix of a large cluster would not fit: link landmarks, and put every other
    # item beside the landmark it is most similar to.
    landmarks = np.unique(np.linspace(0, members.size - 1, _LANDMARKS).astype(np.int64))
    rows = similarity(part, rows=landmarks, dtype=np.float32)
    rank = np.empty(landmarks.size, np.int64)
    rank[_leaves(rows[:, landmarks])] = np.arange(landmarks.size)
    return members[np.argsort(rank[rows.argmax(axis=0)], kind="stable")]


def _every(weights: NDArray[np.float64] | None, step: int) -> NDArray[np.float64] | None:
    return None if weights is None else weights[::step]


def _bins(sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where bins begin among the items, and clusters among the bins."""
    n = int(sizes.sum())
    width = 1 if n <= MAX_EXACT else -(-n // _BINS)
    if width > 1 and sizes.size > _BINS:  # more clusters than bins: they cannot be kept apart
        return np.append(np.arange(0, n, width), n), np.empty(0, np.int64)
    pieces = -(-sizes // width)
    widths = [
        np.diff(np.linspace(0, s, p + 1).astype(np.int64))
        for s, p in zip(sizes, pieces, strict=True)
    ]
    starts = np.concatenate(([0], np.cumsum(np.concatenate(widths))))
    return starts, np.concatenate(([0], np.cumsum(pieces)))


def _binned(
    draws: Draws, order: NDArray[np.int64], starts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Mean similarity of different items between bins.

    With n_ak items of bin a in cluster k of a draw, Σ_k n_ak·n_bk pairs are
    together in that draw: one matrix product counts them for all bins.
    """
    widths = np.diff(starts)
    n_bins = widths.size
    bin_of = np.empty(order.size, np.int64)
    bin_of[order] = np.repeat(np.arange(n_bins), widths)
    total = np.zeros((n_bins, n_bins))
    most = int(draws.n_clusters.max())
    with Status("heat map") as status:
        for block in draws.blocks(max(1, _BATCH_CELLS // max(n_bins * most, draws.n_items))):
            labels = draws.labels[block].astype(np.int64)
            rows = labels.shape[0]
            keys = labels + most * (np.arange(rows)[:, None] + rows * bin_of)
            counts = np.bincount(keys.ravel(), minlength=n_bins * rows * most)
            table = counts.reshape(n_bins, rows * most).astype(np.float64)
            total += (table * np.repeat(draws.probabilities[block], most)) @ table.T
            status.say(f"{block.stop:,} of {draws.n_draws:,} draws")
    pairs = np.outer(widths, widths).astype(np.float64)
    own = np.arange(n_bins)
    total[own, own] -= widths
    pairs[own, own] -= widths
    together = np.divide(total, pairs, out=np.ones_like(total), where=pairs > 0)
    return together.clip(0.0, 1.0)
