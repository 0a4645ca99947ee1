"""Moves of single items: the loop that every loss and every start shares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels import search_counts as counts
from partita.kernels import search_pairs as pairs
from partita.kernels._jit import kernel
from partita.kernels.search_types import (
    AVERAGED,
    LANES,
    PER_DRAW,
    TOLERANCE,
    Problem,
    Scratch,
    State,
)


@kernel
def uses_counts(problem: Problem) -> bool:
    """Whether the problem walks with count tables."""
    return problem.kind in (AVERAGED, PER_DRAW)


@kernel
def fill_state(problem: Problem, state: State) -> None:
    """Compute everything from ``slot_of``, which holds canonical labels."""
    state.sizes[:] = 0
    highest = 0
    for i in range(state.slot_of.size):
        highest = max(highest, state.slot_of[i])
        state.sizes[state.slot_of[i]] += 1
    state.k[0] = highest + 1
    if uses_counts(problem):
        counts.fill(problem, state)
    else:
        pairs.fill(problem, state)


@kernel
def empty_state(problem: Problem, state: State) -> None:
    """Take every item out: the start of a sequential allocation."""
    state.slot_of[:] = -1
    state.sizes[:] = 0
    state.k[0] = 0
    state.counts[:] = 0
    state.gains[:] = problem.steps[0]
    state.joint[:] = 0.0
    state.mean_joint[0] = 0.0
    state.within[:] = 0.0


@kernel
def has_room(state: State) -> bool:
    """Whether a new cluster fits and leaves an empty slot in the padded tables."""
    return bool(state.k[0] + 2 <= state.sizes.size)


@kernel
def put(problem: Problem, state: State, item: int, slot: int) -> None:
    """Add an item that is in no slot."""
    if uses_counts(problem):
        counts.put(problem, state, item, slot)
    else:
        pairs.put(problem, state, item, slot)
    state.sizes[slot] += 1
    state.slot_of[item] = slot
    if slot == state.k[0]:
        state.k[0] += 1


@kernel
def take(problem: Problem, state: State, item: int) -> None:
    """Remove an item from its slot; an emptied slot stays until ``close_gap``."""
    slot = state.slot_of[item]
    if uses_counts(problem):
        counts.take(problem, state, item, slot)
    else:
        pairs.take(problem, state, item, slot)
    state.sizes[slot] -= 1
    state.slot_of[item] = -1


@kernel
def close_gap(problem: Problem, state: State, slot: int) -> None:
    """Move the last used slot into an emptied one, so that used slots stay consecutive."""
    last = state.k[0] - 1
    if slot != last:
        if uses_counts(problem):
            counts.close(problem, state, slot, last)
        else:
            pairs.close(state, slot, last)
        state.sizes[slot] = state.sizes[last]
        state.sizes[last] = 0
        for i in range(state.slot_of.size):
            if state.slot_of[i] == last:
                state.slot_of[i] = slot
    state.k[0] = last


@kernel
def own_sum(problem: Problem, state: State) -> float:
    """Σ f(n_e)."""
    total = 0.0
    for k in range(state.k[0]):
        total += problem.terms[state.sizes[k]]
    return total


@kernel
def objective(problem: Problem, state: State) -> float:
    """Expected loss of the state, from its running sums."""
    own = own_sum(problem, state)
    if uses_counts(problem):
        return counts.objective(problem, state, own)
    return pairs.objective(problem, state, own)


@kernel
def score_moves(
    problem: Problem, state: State, item: int, present: float, scratch: Scratch
) -> None:
    """Score the item's moves to slot 0, …, k (k: a cluster of its own) on one scale.

    The item may be in no slot. ``present`` is the expected loss as it stands,
    the score of an item's own slot.
    """
    home = state.slot_of[item]
    own = scratch.own
    own_present = own_sum(problem, state)
    rest = own_present
    if home >= 0:
        rest -= problem.steps[state.sizes[home] - 1]
    for k in range((state.k[0] + LANES) // LANES * LANES):
        own[k] = rest + problem.steps[state.sizes[k]]
    if uses_counts(problem):
        counts.score(problem, state, item, own, scratch)
    else:
        pairs.score(problem, state, item, own, present, own_present, scratch)
    if home >= 0:
        scratch.scores[home] = present


@kernel
def best_other(state: State, home: int, max_clusters: int, scratch: Scratch) -> int:
    """The slot other than an item's own with the lowest score; −1 when there is none.

    For an item that is alone, a cluster of its own is no other slot.
    """
    alone = home >= 0 and state.sizes[home] == 1
    last = min(state.k[0] - 1 if alone else state.k[0], max_clusters - 1)
    best = -1
    for k in range(last + 1):
        if k != home and (best < 0 or scratch.scores[k] < scratch.scores[best] - TOLERANCE):
            best = k
    return best


@kernel
def sweep(
    problem: Problem,
    state: State,
    order: NDArray[np.int64],
    max_clusters: int,
    settled: int,
    max_looks: int,
    scratch: Scratch,
) -> tuple[int, int]:
    """Move single items, in cyclic order, until no move of any of them lowers the loss.

    Returns how many items in a row would not move (all of them at the end; it
    stops early when the tables are full or ``max_looks`` items were looked
    at), and how many were looked at. ``settled`` carries the first of these
    from one call to the next.
    """
    looked = 0
    present = objective(problem, state)
    while settled < order.size:
        if not has_room(state) or looked >= max_looks:
            return settled, looked
        item = order[looked % order.size]
        looked += 1
        settled += 1
        home = state.slot_of[item]
        score_moves(problem, state, item, present, scratch)
        alone = state.sizes[home] == 1
        best = best_other(state, home, max_clusters, scratch)
        margin = scratch.scores[best] - present if best >= 0 else np.inf
        scratch.margin[item] = margin
        scratch.other[item] = best
        if margin < -TOLERANCE:
            take(problem, state, item)
            put(problem, state, item, best)
            if alone:
                close_gap(problem, state, home)
            present = objective(problem, state)
            settled = 0
    return settled, looked
