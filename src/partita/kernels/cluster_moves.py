"""Moves of whole clusters, which sweeps of single items cannot make.

Splitting, rebuilding and exchanging are one move with different members and
different slots allowed: members are taken out, put back one by one where they
fit best, swept among the allowed slots, and the result is kept if the loss
fell. Merging is scored exactly for all pairs at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels import search_counts as counts
from partita.kernels import search_pairs as pairs
from partita.kernels._jit import kernel
from partita.kernels.gibbs_random import below, shuffle
from partita.kernels.search_moves import (
    best_other,
    close_gap,
    has_room,
    objective,
    own_sum,
    put,
    score_moves,
    take,
    uses_counts,
)
from partita.kernels.search_types import TOLERANCE, Problem, Scratch, State


@kernel
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
    if uses_counts(problem):
        counts.score_merges(problem, state, own, scores)
    else:
        pairs.score_merges(problem, state, own, scores)
    for i in range(k_used):
        scores[i, : i + 1] = np.inf
    return scores


@kernel
def merge_slots(problem: Problem, state: State, keep: int, gone: int) -> None:
    """Move all items of one slot into another."""
    for i in range(state.slot_of.size):
        if state.slot_of[i] == gone:
            take(problem, state, i)
            put(problem, state, i, keep)
    close_gap(problem, state, gone)


@kernel
def together(problem: Problem, a: int, b: int) -> float:
    """Probability that two items share a cluster."""
    if uses_counts(problem):
        return counts.together(problem, a, b)
    return float(problem.similarity[a, b])


@kernel
def reallocate(
    problem: Problem,
    state: State,
    members: NDArray[np.int64],
    allowed: NDArray[np.int64],
    passes: int,
    scratch: Scratch,
) -> bool:
    """Take the members out, put them back among the allowed slots, keep it if the loss fell.

    ``members`` are visited in the order given. Slots left empty are closed at
    the end, so ``allowed`` may hold the empty slot k.
    """
    before = objective(problem, state)
    k_before = state.k[0]
    homes = np.empty(members.size, np.int32)
    for p in range(members.size):
        homes[p] = state.slot_of[members[p]]
        take(problem, state, members[p])
    for _ in range(1 + passes):
        moved = False
        for p in range(members.size):
            item = members[p]
            home = state.slot_of[item]
            present = objective(problem, state) if home >= 0 else 0.0
            score_moves(problem, state, item, present, scratch)
            best = home
            for q in range(allowed.size):
                slot = allowed[q]
                if slot > state.k[0] or (slot == state.k[0] and not has_room(state)):
                    continue
                if best < 0 or scratch.scores[slot] < scratch.scores[best] - TOLERANCE:
                    best = slot
            if best != home:
                if home >= 0:
                    take(problem, state, item)
                put(problem, state, item, best)
                moved = True
        if not moved:
            break
    better = objective(problem, state) < before - TOLERANCE
    if not better:
        for p in range(members.size):
            take(problem, state, members[p])
        for p in range(members.size):
            put(problem, state, members[p], homes[p])
        state.k[0] = k_before
    else:
        close_gaps(problem, state)
    return better


@kernel
def members_of(state: State, slot: int) -> NDArray[np.int64]:
    """Items of a slot."""
    members = np.empty(state.sizes[slot], np.int64)
    count = 0
    for i in range(state.slot_of.size):
        if state.slot_of[i] == slot:
            members[count] = i
            count += 1
    return members


@kernel
def split_slot(
    problem: Problem, state: State, slot: int, rng: NDArray[np.uint64], scratch: Scratch
) -> bool:
    """Divide a cluster between a random member and the member least often with it."""
    members = members_of(state, slot)
    if members.size < 2 or not has_room(state):
        return False
    shuffle(rng, members, members.size)
    farthest, lowest = 1, 2.0
    for p in range(1, members.size):
        shared = together(problem, members[0], members[p])
        if shared < lowest:
            farthest, lowest = p, shared
    members[1], members[farthest] = members[farthest], members[1]
    # The first member stays in its slot; the second opens the new one.
    fresh = state.k[0]
    before = objective(problem, state)
    take(problem, state, members[1])
    put(problem, state, members[1], fresh)
    allowed = np.array([slot, fresh], np.int64)
    reallocate(problem, state, members[2:], allowed, 2, scratch)
    if objective(problem, state) < before - TOLERANCE:
        return True
    for p in range(1, members.size):
        if state.slot_of[members[p]] != slot:
            take(problem, state, members[p])
            put(problem, state, members[p], slot)
    state.k[0] = fresh
    return False


@kernel
def rebuild_slot(
    problem: Problem,
    state: State,
    slot: int,
    max_clusters: int,
    rng: NDArray[np.uint64],
    scratch: Scratch,
) -> bool:
    """Dissolve a cluster: its members go wherever they fit, one by one."""
    members = members_of(state, slot)
    shuffle(rng, members, members.size)
    allowed = np.arange(min(state.k[0] + 1, max_clusters))
    return reallocate(problem, state, members, allowed, 1, scratch)


@kernel
def exchange_slots(
    problem: Problem,
    state: State,
    a: int,
    b: int,
    rng: NDArray[np.uint64],
    scratch: Scratch,
) -> bool:
    """Deal the members of two clusters anew between two random ones of them."""
    members = np.concatenate((members_of(state, a), members_of(state, b)))
    if members.size < 3:
        return False
    size_a = state.sizes[a]
    seed_a = below(rng, size_a)
    seed_b = size_a + below(rng, members.size - size_a)
    rest = np.empty(members.size - 2, np.int64)
    count = 0
    for p in range(members.size):
        if p not in (seed_a, seed_b):
            rest[count] = members[p]
            count += 1
    shuffle(rng, rest, rest.size)
    allowed = np.array([a, b], np.int64)
    return reallocate(problem, state, rest, allowed, 2, scratch)


@kernel
def kick_item(
    problem: Problem,
    state: State,
    item: int,
    slot: int,
    doubtful: NDArray[np.int64],
    max_clusters: int,
    scratch: Scratch,
) -> bool:
    """Force an item into another slot, let the doubtful items follow, keep it if the loss fell.

    Moves two items that gain only together, which single moves cannot.
    """
    before = objective(problem, state)
    k_before = state.k[0]
    homes = state.slot_of[doubtful]
    home = state.slot_of[item]
    take(problem, state, item)
    put(problem, state, item, slot)
    present = objective(problem, state)
    for _ in range(2):
        moved = False
        for p in range(doubtful.size):
            follower = doubtful[p]
            if follower == item or not has_room(state):
                continue
            score_moves(problem, state, follower, present, scratch)
            best = best_other(state, state.slot_of[follower], max_clusters, scratch)
            if best >= 0 and scratch.scores[best] < present - TOLERANCE:
                take(problem, state, follower)
                put(problem, state, follower, best)
                present = objective(problem, state)
                moved = True
        if not moved:
            break
    better = present < before - TOLERANCE
    if not better:
        for p in range(doubtful.size):
            if state.slot_of[doubtful[p]] != homes[p]:
                take(problem, state, doubtful[p])
                put(problem, state, doubtful[p], homes[p])
        if state.slot_of[item] != home:
            take(problem, state, item)
            put(problem, state, item, home)
        state.k[0] = k_before
    else:
        close_gaps(problem, state)
    return better


@kernel
def close_gaps(problem: Problem, state: State) -> None:
    """Close every slot that moves have emptied."""
    for slot in range(state.k[0] - 1, -1, -1):
        if state.sizes[slot] == 0:
            close_gap(problem, state, slot)


@kernel
def allocate_in_order(
    problem: Problem,
    state: State,
    order: NDArray[np.int64],
    max_clusters: int,
    scratch: Scratch,
) -> int:
    """Put items that are in no slot, one by one, where they fit best; return how many were put.

    Stops early when the tables are full.
    """
    for p in range(order.size):
        if not has_room(state):
            return p
        score_moves(problem, state, order[p], 0.0, scratch)
        best = 0
        for k in range(1, min(state.k[0], max_clusters - 1) + 1):
            if scratch.scores[k] < scratch.scores[best] - TOLERANCE:
                best = k
        put(problem, state, order[p], best)
    return order.size
