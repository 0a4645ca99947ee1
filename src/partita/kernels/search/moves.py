"""Moves of single items: the loop that every loss and every start shares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import fast_kernel, part_of_kernel
from partita.kernels.search.types import (
    LANES,
    TOLERANCE,
    Problem,
    Scratch,
    State,
    close,
    fill,
    join,
    leave,
    loss_of,
    score,
    score_merges,
    shared,
)


@fast_kernel
def fill_state(problem: Problem, state: State) -> None:
    """Compute everything from ``slot_of``, which holds canonical labels; the rest is zero."""
    highest = 0
    for i in range(state.slot_of.size):
        highest = max(highest, state.slot_of[i])
        state.sizes[state.slot_of[i]] += 1
    state.k[0] = highest + 1
    fill(problem, state)


@part_of_kernel
def has_room(state: State) -> bool:
    """Whether a new cluster fits and leaves an empty slot in the padded tables."""
    return bool(state.k[0] + 2 <= state.sizes.size)


@part_of_kernel
def put(problem: Problem, state: State, item: int, slot: int) -> None:
    """Add an item that is in no slot."""
    join(problem, state, item, slot)
    state.sizes[slot] += 1
    state.slot_of[item] = slot
    if slot == state.k[0]:
        state.k[0] += 1


@part_of_kernel
def take(problem: Problem, state: State, item: int) -> None:
    """Remove an item from its slot; an emptied slot stays until ``close_gap``."""
    slot = state.slot_of[item]
    leave(problem, state, item, slot)
    state.sizes[slot] -= 1
    state.slot_of[item] = -1


@part_of_kernel
def close_gap(problem: Problem, state: State, slot: int) -> None:
    """Move the last used slot into an emptied one, so that used slots stay consecutive."""
    last = state.k[0] - 1
    if slot != last:
        close(problem, state, slot, last)
        state.sizes[slot] = state.sizes[last]
        state.sizes[last] = 0
        for i in range(state.slot_of.size):
            if state.slot_of[i] == last:
                state.slot_of[i] = slot
    state.k[0] = last


@part_of_kernel
def own_sum(problem: Problem, state: State) -> float:
    """Σ f(n_e)."""
    total = 0.0
    for k in range(state.k[0]):
        total += problem.terms[state.sizes[k]]
    return total


@part_of_kernel
def objective_of(problem: Problem, state: State) -> float:
    """Expected loss of the state, from its running sums."""
    return loss_of(problem, state, own_sum(problem, state))


@fast_kernel
def objective(problem: Problem, state: State) -> float:
    """Expected loss of the state, from its running sums."""
    return objective_of(problem, state)


@part_of_kernel
def score_moves(
    problem: Problem, state: State, item: int, present: float, scratch: Scratch
) -> None:
    """Score the item's moves to slot 0, …, k (k: a cluster of its own) on one scale.

    The item may be in no slot. ``present`` is the expected loss as it stands,
    the score of an item's own slot.
    """
    home = state.slot_of[item]
    own = scratch.own
    rest = own_sum(problem, state)
    if home >= 0:
        rest -= problem.steps[state.sizes[home] - 1]
    for k in range((state.k[0] + LANES) // LANES * LANES):
        own[k] = rest + problem.steps[state.sizes[k]]
    score(problem, state, item, own, scratch)
    if home >= 0:
        scratch.scores[home] = present


@fast_kernel
def sweep(
    problem: Problem,
    state: State,
    order: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    max_clusters: int,
    settled: int,
    max_looks: int,
    scratch: Scratch,
) -> tuple[int, int]:
    """Move single items, in cyclic order, until no move of any of them lowers the loss.

    Items that are in no slot are put where they fit best. Only slots that are
    allowed are moved to; with all of them allowed (an empty array), emptied
    slots are closed on the way, otherwise they stay.

    Returns how many items in a row would not move (all of them at the end; it
    stops early when the tables are full or ``max_looks`` items were looked
    at), and how many were looked at. ``settled`` carries the first of these
    from one call to the next.
    """
    looked = 0
    present = objective_of(problem, state)
    while settled < order.size and looked < max_looks and has_room(state):
        item = order[looked % order.size]
        looked += 1
        settled += 1
        home = state.slot_of[item]
        score_moves(problem, state, item, present, scratch)
        alone = home >= 0 and state.sizes[home] == 1
        last = min(state.k[0] - 1 if alone else state.k[0], max_clusters - 1)
        best = -1
        for k in range(last + 1):
            if k == home or (allowed.size > 0 and not allowed[k]):
                continue
            if best < 0 or scratch.scores[k] < scratch.scores[best] - TOLERANCE:
                best = k
        margin = np.inf if best < 0 else scratch.scores[best] - present
        scratch.margin[item] = margin
        scratch.other[item] = best
        if home < 0 or margin < -TOLERANCE:
            if home >= 0:
                take(problem, state, item)
            put(problem, state, item, best)
            if alone and allowed.size == 0:
                close_gap(problem, state, home)
            present = objective_of(problem, state)
            settled = 0
    return settled, looked


@fast_kernel
def assign(
    problem: Problem, state: State, items: NDArray[np.int64], slots: NDArray[np.int32]
) -> None:
    """Put items into given slots, wherever they are; slot −1 takes an item out."""
    for p in range(items.size):
        if state.slot_of[items[p]] >= 0:
            take(problem, state, items[p])
    for p in range(items.size):
        if slots[p] >= 0:
            put(problem, state, items[p], slots[p])


@fast_kernel
def close_gaps(problem: Problem, state: State) -> None:
    """Close every slot that moves have emptied."""
    for slot in range(state.k[0] - 1, -1, -1):
        if state.sizes[slot] == 0:
            close_gap(problem, state, slot)


@fast_kernel
def merge_scores(problem: Problem, state: State) -> NDArray[np.float64]:
    """Expected loss after merging slots i < j, shape (k, k); infinite elsewhere."""
    k_used = state.k[0]
    terms = problem.terms
    present = own_sum(problem, state)
    own = np.zeros((k_used, k_used))
    for i in range(k_used):
        for j in range(i + 1, k_used):
            x, y = state.sizes[i], state.sizes[j]
            own[i, j] = present + terms[x + y] - terms[x] - terms[y]
    scores = np.zeros((k_used, k_used))
    score_merges(problem, state, own, scores)
    for i in range(k_used):
        for j in range(i + 1):
            scores[i, j] = np.inf
    return scores


@fast_kernel
def together(problem: Problem, item: int, others: NDArray[np.int64]) -> NDArray[np.float64]:
    """Probability that an item shares a cluster with each of the others."""
    out = np.zeros(others.size)
    for p in range(others.size):
        out[p] = shared(problem, item, others[p])
    return out


@fast_kernel
def move_losses(problem: Problem, state: State, scratch: Scratch) -> NDArray[np.float64]:
    """Expected loss if each item, alone, moved to each slot, shape (n_items, k + 1)."""
    n_items, k_used = state.slot_of.size, state.k[0]
    losses = np.empty((n_items, k_used + 1))
    present = objective_of(problem, state)
    for item in range(n_items):
        score_moves(problem, state, item, present, scratch)
        for k in range(k_used + 1):
            losses[item, k] = scratch.scores[k]
    return losses
