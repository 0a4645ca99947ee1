"""Exact scores of moves between neighbours in the Hasse diagram.

Merging two clusters and splitting one are the same arithmetic: a set of items
leaves one slot for another. In a merge the set is a whole slot, in a split
the other slot is empty. Only the rows and items that the set touches are read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import fast_kernel, kernel
from partita.kernels.losses.form_codes import ID, NID, NVI
from partita.kernels.losses.forms import combine
from partita.kernels.search.moves import close_gap, own_sum, put, take, uses_counts
from partita.kernels.search.types import AVERAGED, PAIRS, Problem, State


class Moves(NamedTuple):
    """Sets of items and where each would go from and to."""

    items: NDArray[np.int64]  # all sets, one after the other
    start: NDArray[np.int64]  # (n_moves + 1,): set s is items[start[s] : start[s + 1]]
    source: NDArray[np.int64]  # (n_moves,)
    target: NDArray[np.int64]  # (n_moves,)


@kernel
def columns_of(state: State) -> NDArray[np.int32]:
    """The count table with a row for each slot: one slot's counts then stay in cache."""
    n_rows = state.counts.shape[0]
    n_slots = state.k[0] + 1
    columns = np.empty((n_slots, n_rows), np.int32)
    for tile in range(0, n_rows, 64):
        for k in range(n_slots):
            for r in range(tile, min(tile + 64, n_rows)):
                columns[k, r] = state.counts[r, k]
    return columns


@kernel
def score_sets(
    problem: Problem,
    state: State,
    columns: NDArray[np.int32],
    moves: Moves,
    first: int,
    last: int,
    scores: NDArray[np.float64],
) -> None:
    """Expected loss after each of the moves first … last − 1; ``columns`` are the state's."""
    tally = np.zeros(problem.row_draw.size, np.int32)
    change = np.zeros(problem.weights.size)
    shared = np.zeros(state.within.shape[1])
    own = own_sum(problem, state)
    joint = 0.0
    if not uses_counts(problem):
        for i in range(state.slot_of.size):
            within = state.within[state.slot_of[i], i]
            joint += within if problem.kind == PAIRS else np.log2(within)
    terms = problem.terms
    for s in range(first, last):
        members = moves.items[moves.start[s] : moves.start[s + 1]]
        a, b = moves.source[s], moves.target[s]
        x, y, size = state.sizes[a], state.sizes[b], members.size
        own_after = own + terms[x - size] - terms[x] + terms[y + size] - terms[y]
        if not uses_counts(problem):
            scores[s] = _score_pairs(problem, state, members, a, b, own_after, joint, shared)
        elif x == size and x + y == state.slot_of.size:
            scores[s] = _score_one_cluster(problem)
        else:
            _change_joint(problem, columns[a], columns[b], members, tally, change)
            scores[s] = _score_counts(problem, state, own_after, change)


@kernel
def _score_one_cluster(problem: Problem) -> float:
    """Loss of the one-cluster partition, which shares all of each draw's sum.

    Not from running sums: they carry rounding, which the losses that divide by
    an entropy would blow up where that entropy is 0.
    """
    n = problem.row_of.shape[0]
    own = float(problem.terms[n])
    if problem.kind == AVERAGED:
        mean = problem.mean_truth
        return combine(problem.form, problem.a, mean, own, mean, n)
    total = 0.0
    for m in range(problem.weights.size):
        one = float(problem.truth[m])
        total += problem.weights[m] * combine(problem.form, problem.a, one, own, one, n)
    return total


@fast_kernel
def _score_counts(problem: Problem, state: State, own: float, change: NDArray[np.float64]) -> float:
    """Loss after each draw's joint sum has changed; not for the one-cluster partition."""
    n = problem.row_of.shape[0]
    weights, truth, joint = problem.weights, problem.truth, state.joint
    total = 0.0
    if problem.kind == AVERAGED:
        for m in range(weights.size):
            total += weights[m] * change[m]
        mean = state.mean_joint[0] + total
        return combine(problem.form, problem.a, mean, own, problem.mean_truth, n)
    top = problem.terms[n]
    # One loop for each loss, so that each can run in vector registers.
    if problem.form == ID:
        for m in range(weights.size):
            total += weights[m] * (max(truth[m], own) - joint[m] - change[m]) / n
    elif problem.form == NID:
        for m in range(weights.size):
            above = max(truth[m], own) - joint[m] - change[m]
            total += weights[m] * above / (top - min(truth[m], own))
    elif problem.form == NVI:
        for m in range(weights.size):
            both = joint[m] + change[m]
            total += weights[m] * (truth[m] + own - 2.0 * both) / (top - both)
    else:
        for m in range(weights.size):
            both = joint[m] + change[m]
            total += weights[m] * combine(problem.form, problem.a, both, own, truth[m], n)
    return total


@fast_kernel
def _change_joint(
    problem: Problem,
    from_counts: NDArray[np.int32],
    to_counts: NDArray[np.int32],
    members: NDArray[np.int64],
    tally: NDArray[np.int32],
    change: NDArray[np.float64],
) -> None:
    """What each draw's joint sum gains if the members change slots; ``tally`` is left zero."""
    steps = problem.steps
    change[:] = 0.0
    for p in range(members.size):
        rows = problem.row_of[members[p]]
        for m in range(rows.size):
            r = rows[m]
            gone = tally[r]
            change[m] += steps[to_counts[r] + gone] - steps[from_counts[r] - 1 - gone]
            tally[r] = gone + 1
    for p in range(members.size):
        rows = problem.row_of[members[p]]
        for m in range(rows.size):
            tally[rows[m]] = 0


@kernel
def _score_pairs(
    problem: Problem,
    state: State,
    members: NDArray[np.int64],
    a: int,
    b: int,
    own: float,
    joint: float,
    shared: NDArray[np.float64],
) -> float:
    """The same from the similarity matrix; ``joint`` is Σ within, or Σ log2 within."""
    n = state.slot_of.size
    if problem.kind == PAIRS:
        for p in range(members.size):
            i = members[p]
            inside = 0.0
            for q in range(members.size):
                inside += problem.similarity[i, members[q]]
            joint += 2.0 * (inside - state.within[a, i] + state.within[b, i])
        return combine(problem.form, problem.a, joint, own, problem.mean_truth, n)
    shared[:] = 0.0
    for p in range(members.size):
        for j in range(n):
            shared[j] += problem.similarity[members[p], j]
    # Members are told apart from the rest of their slot by a sign, which is taken back below.
    for p in range(members.size):
        shared[members[p]] *= -1.0
    for j in range(n):
        slot = state.slot_of[j]
        if slot == a:
            before = state.within[a, j]
            after = state.within[b, j] - shared[j] if shared[j] < 0.0 else before - shared[j]
            joint += np.log2(after / before)
        elif slot == b and shared[j] > 0.0:
            before = state.within[b, j]
            joint += np.log2((before + shared[j]) / before)
    return (own + problem.mean_truth - 2.0 * joint) / n


@kernel
def move_set(problem: Problem, state: State, members: NDArray[np.int64], target: int) -> None:
    """Make the move; a slot left empty is closed."""
    source = state.slot_of[members[0]]
    for p in range(members.size):
        take(problem, state, members[p])
        put(problem, state, members[p], target)
    if state.sizes[source] == 0:
        close_gap(problem, state, source)
