"""Depth-first search through all partitions that continue a prefix.

Items join slots one by one, so a partition costs one item's move and not a
new evaluation. The last item is scored against all slots at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partita.kernels._jit import array_kernel
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.search.moves import put, score_moves, take
from partita.kernels.search.types import Problem, Scratch, State


class Lowest(NamedTuple):
    """The partitions of lowest loss found so far, in lexicographic order."""

    labels: Int32s  # (capacity, n_items)
    losses: Floats  # (capacity,)
    kept: Ints  # (2,): how many, and ties that found no room
    best: Floats  # (1,)


@array_kernel
def remove(problem: Problem, state: State, item: int) -> None:
    """Take the last item that was put; the slot it opened is free again."""
    slot = state.slot_of[item]
    take(problem, state, item)
    if state.sizes[slot] == 0:
        state.k[0] -= 1


@array_kernel
def search_below(
    problem: Problem,
    state: State,
    placed: int,
    max_clusters: int,
    tie: float,
    scratch: Scratch,
    lowest: Lowest,
) -> int:
    """Visit every partition that continues the ``placed`` ≥ 1 first items; return how many.

    All but the one-cluster partition, which is the caller's: against an equal
    draw the normalised losses are 0/0, and running sums carry rounding there.
    The state is left as it came.
    """
    n = state.slot_of.size
    item = placed
    choice = np.full(n + 1, -1, np.int64)
    visited = 0
    while item >= placed:
        if item >= n - 1:
            visited += _score_last(problem, state, n - 1, max_clusters, tie, scratch, lowest)
            item -= 1
            continue
        if choice[item] >= 0:
            remove(problem, state, item)
        choice[item] += 1
        if choice[item] <= min(state.k[0], max_clusters - 1):
            put(problem, state, item, choice[item])
            item += 1
            choice[item] = -1
        else:
            item -= 1
    return visited


@array_kernel
def _score_last(
    problem: Problem,
    state: State,
    item: int,
    max_clusters: int,
    tie: float,
    scratch: Scratch,
    lowest: Lowest,
) -> int:
    """Record the partitions that the last item completes; return how many they are."""
    slots = min(state.k[0], max_clusters - 1) + 1
    first = 1 if state.k[0] == 1 else 0  # the last item would complete the one cluster
    score_moves(problem, state, item, 0.0, scratch)
    for k in range(first, slots):
        _record(state, item, k, scratch.scores[k], tie, lowest)
    return int(slots - first)


@array_kernel
def _record(state: State, item: int, slot: int, loss: float, tie: float, lowest: Lowest) -> None:
    """Keep a partition that ties with the best, and drop those that no longer do."""
    best = lowest.best[0]
    if loss > best + tie * max(1.0, best):
        return
    if loss < best:
        lowest.best[0] = loss
        limit = loss + tie * max(1.0, loss)
        kept = 0
        for r in range(lowest.kept[0]):
            if lowest.losses[r] <= limit:
                lowest.losses[kept] = lowest.losses[r]
                lowest.labels[kept] = lowest.labels[r]
                kept += 1
        if kept < lowest.kept[0]:
            lowest.kept[1] = 0
        lowest.kept[0] = kept
    row = lowest.kept[0]
    if row == lowest.losses.size:
        lowest.kept[1] += 1
        return
    lowest.labels[row] = state.slot_of
    lowest.labels[row, item] = slot
    lowest.losses[row] = loss
    lowest.kept[0] = row + 1
