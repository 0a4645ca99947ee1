"""Moves of single items: the loop that every loss and every start shares."""

from __future__ import annotations

import numpy as np

from partita.kernels._jit import fast_kernel, part_of_kernel
from partita.kernels.arrays import Bools, Floats, Int32s, Ints
from partita.kernels.problem import (
    LANES,
    NUDGE,
    ROUNDING,
    Problem,
    Scratch,
    State,
    close,
    exchange,
    fill,
    join,
    leave,
    loss_of,
    nudged,
    score,
    score_merges,
    swapped_loss,
)


@part_of_kernel
def has_room(state: State) -> bool:
    """Whether a new cluster fits and leaves an empty slot in the padded tables."""
    return bool(state.k[0] + 2 <= state.sizes.size)


@part_of_kernel
def put(problem: Problem, state: State, item: int, slot: int | np.int64) -> None:
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
def close_gap(problem: Problem, state: State, slot: int | np.int64) -> None:
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


_NO_ITEMS, _NO_SLOTS = np.empty(0, np.int64), np.empty(0, np.int32)


@fast_kernel
def _arrange(
    problem: Problem, state: State, items: Ints, slots: Int32s, filling: bool, closing: bool
) -> float:
    """All that is done to a state at once, and its loss: one kernel, because each takes long."""
    if filling:
        highest = 0
        for i in range(state.slot_of.size):
            slot = state.slot_of[i]
            if slot > highest:
                highest = slot
            state.sizes[slot] += 1
        state.k[0] = highest + 1
        fill(problem, state)
    for p in range(items.size):
        if state.slot_of[items[p]] >= 0:
            take(problem, state, items[p])
    for p in range(items.size):
        if slots[p] >= 0:
            put(problem, state, items[p], np.int64(slots[p]))
    if closing:
        for empty in range(state.k[0] - 1, -1, -1):
            if state.sizes[empty] == 0:
                close_gap(problem, state, empty)
    return objective_of(problem, state)


def fill_state(problem: Problem, state: State) -> None:
    """Compute everything from ``slot_of``, which holds canonical labels; the rest is zero."""
    _arrange(problem, state, _NO_ITEMS, _NO_SLOTS, True, False)


def objective(problem: Problem, state: State) -> float:
    """Expected loss of the state, from its running sums."""
    return _arrange(problem, state, _NO_ITEMS, _NO_SLOTS, False, False)


@part_of_kernel
def slack_of(problem: Problem, state: State) -> float:
    """What rounding of the running sums can do to the expected loss."""
    return ROUNDING / NUDGE * nudged(problem, state, own_sum(problem, state))


@fast_kernel
def slack(problem: Problem, state: State) -> float:
    """What rounding of the running sums can do to the expected loss."""
    return slack_of(problem, state)


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
def _sweep(
    problem: Problem,
    state: State,
    order: Ints,
    allowed: Bools,
    max_clusters: int,
    smallest: int,
    settled: int,
    max_looks: int,
    scratch: Scratch,
    losses: Floats,
) -> tuple[int, int]:
    """As ``sweep``; where ``losses`` has rows, write down what each move would cost, and stay.

    One row for each item of the order.
    """
    looked = 0
    least = slack_of(problem, state)
    scratch.slack[0] = least
    present = 0.0
    moved = True
    while settled < order.size and looked < max_looks and has_room(state):
        item = order[looked % order.size]
        looked += 1
        settled += 1
        home = np.int64(state.slot_of[item])
        if moved:
            present = objective_of(problem, state)
            moved = False
        score_moves(problem, state, item, present, scratch)
        if losses.shape[0] > 0:
            for k in range(state.k[0] + 1):
                losses[looked - 1, k] = scratch.scores[k]
            continue
        alone = home >= 0 and state.sizes[home] == 1
        last = state.k[0] - 1 if alone else state.k[0]
        if last > max_clusters - 1:
            last = max_clusters - 1
        best = -1
        for k in range(last + 1):
            if k == home or (allowed.size > 0 and not allowed[k]):
                continue
            if best < 0 or scratch.scores[k] < scratch.scores[best] - least:
                best = k
        margin = np.inf if best < 0 else scratch.scores[best] - present
        scratch.margin[item] = margin
        scratch.other[item] = best
        stays = home >= 0 and state.sizes[home] <= smallest
        if home < 0 or (margin < -least and not stays):
            if home >= 0:
                take(problem, state, item)
            put(problem, state, item, best)
            if alone and allowed.size == 0:
                close_gap(problem, state, home)
            moved = True
            settled = 0
    return settled, looked


_NO_LOSSES = np.empty((0, 0))


def sweep(
    problem: Problem,
    state: State,
    order: Ints,
    allowed: Bools,
    max_clusters: int,
    smallest: int,
    settled: int,
    max_looks: int,
    scratch: Scratch,
) -> tuple[int, int]:
    """Move single items, in cyclic order, until no move of any of them lowers the loss.

    Items that are in no slot are put where they fit best. Only slots that are
    allowed are moved to; with all of them allowed (an empty array), emptied
    slots are closed on the way, otherwise they stay. Clusters of at most
    ``smallest`` items lose none; 0 lets every cluster vanish.

    Returns how many items in a row would not move (all of them at the end; it
    stops early when the tables are full or ``max_looks`` items were looked
    at), and how many were looked at. ``settled`` carries the first of these
    from one call to the next.
    """
    limits = (max_clusters, smallest, settled, max_looks)
    return _sweep(problem, state, order, allowed, *limits, scratch, _NO_LOSSES)


def move_losses(problem: Problem, state: State, items: Ints, scratch: Scratch) -> Floats:
    """Expected loss if each of some items, alone, moved to each slot, shape (n, k + 1)."""
    losses = np.empty((items.size, int(state.k[0]) + 1))
    most, every_slot = state.slot_of.size, np.empty(0, np.bool_)
    _sweep(problem, state, items, every_slot, most, 0, 0, items.size, scratch, losses)
    return losses


@fast_kernel
def swap(
    problem: Problem, state: State, order: Ints, at: int, settled: int, most: int, slack: float
) -> tuple[int, int]:
    """Let two of these items change places, pair after pair, until no pair would gain by it.

    Pairs ``at``, ``at + 1``, … are compared, ``most`` at most: first neighbours in the order, then
    items two places apart, and so on. Returns how many in a row have not changed places (all pairs
    at the end; ``settled`` carries the number from call to call), and how many were evaluated.
    """
    own = own_sum(problem, state)
    present = loss_of(problem, state, own)
    n = order.size
    n_pairs, evaluated = n * (n // 2), 0
    for pair in range(at, at + most):
        if settled >= n_pairs:
            break
        settled += 1
        step, p = pair % n_pairs // n + 1, pair % n
        i, j = order[p], order[(p + step) % n]
        a, b = state.slot_of[i], state.slot_of[j]
        if a == b or (state.sizes[a] == 1 and state.sizes[b] == 1):
            continue
        evaluated += 1
        loss = swapped_loss(problem, state, i, j, own)
        if loss < present - slack:
            exchange(problem, state, i, j)
            present = loss
            settled = 0
    return settled, evaluated


def assign(problem: Problem, state: State, items: Ints, slots: Int32s) -> None:
    """Put items into given slots, wherever they are; slot −1 takes an item out."""
    _arrange(problem, state, items, slots, False, False)


def assign_and_close(problem: Problem, state: State, items: Ints, slots: Int32s) -> None:
    """Put items into given slots and close every slot that this has emptied."""
    _arrange(problem, state, items, slots, False, True)


def close_gaps(problem: Problem, state: State) -> None:
    """Close every slot that moves have emptied."""
    _arrange(problem, state, _NO_ITEMS, _NO_SLOTS, False, True)


@fast_kernel
def _merge_scores(
    problem: Problem, state: State, own: Floats, filled: Ints, change: Floats, scores: Floats
) -> None:
    score_merges(problem, state, own, filled, change, scores)


def merge_scores(problem: Problem, state: State) -> Floats:
    """Expected loss after merging slots i < j, shape (k, k); infinite elsewhere."""
    k_used = int(state.k[0])
    sizes = state.sizes[:k_used]
    alone = problem.terms[sizes]
    merged = np.minimum(sizes[:, None] + sizes, problem.terms.size - 1)  # a slot with itself
    own = alone.sum() + problem.terms[merged] - alone[:, None] - alone
    scores, change = np.zeros((k_used, k_used)), np.zeros((k_used, k_used))
    _merge_scores(problem, state, own, np.empty(k_used, np.int64), change, scores)
    scores[np.tri(k_used, dtype=np.bool_)] = np.inf
    return scores


def together(problem: Problem, item: int, others: Ints) -> Floats:
    """Probability that an item shares a cluster with each of the others."""
    return problem.together(item, others)  # type: ignore[no-any-return]
