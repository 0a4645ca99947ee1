"""Exact scores of moves between neighbours in the Hasse diagram.

Merging two clusters and splitting one are the same arithmetic: a set of items
leaves one slot for another. In a merge the set is a whole slot, in a split
the other slot is empty. Only the rows and items that the set touches are read.
"""

from __future__ import annotations

from typing import NamedTuple

from partita.kernels._jit import array_kernel, kernel
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.search.moves import close_gap, own_sum, put, take
from partita.kernels.search.types import Problem, State, columns, score_set, set_buffers


class Moves(NamedTuple):
    """Sets of items and where each would go from and to."""

    items: Ints  # all sets, one after the other
    start: Ints  # (n_moves + 1,): set s is items[start[s] : start[s + 1]]
    source: Ints  # (n_moves,)
    target: Ints  # (n_moves,)


@array_kernel
def columns_of(state: State) -> Int32s:
    """The counts with a row for each slot."""
    return columns(state)


@array_kernel
def score_sets(
    problem: Problem,
    state: State,
    counts: Int32s,
    moves: Moves,
    first: int,
    last: int,
    scores: Floats,
) -> None:
    """Expected loss after each of the moves first … last − 1; ``counts`` are the state's."""
    tally, change = set_buffers(problem)
    own = own_sum(problem, state)
    terms = problem.terms
    for s in range(first, last):
        members = moves.items[moves.start[s] : moves.start[s + 1]]
        a, b = moves.source[s], moves.target[s]
        x, y, size = state.sizes[a], state.sizes[b], members.size
        own_after = own + terms[x - size] - terms[x] + terms[y + size] - terms[y]
        scores[s] = score_set(problem, state, counts, members, a, b, own_after, tally, change)


@kernel
def move_set(problem: Problem, state: State, members: Ints, target: int) -> None:
    """Make the move; a slot left empty is closed."""
    source = state.slot_of[members[0]]
    for p in range(members.size):
        take(problem, state, members[p])
        put(problem, state, members[p], target)
    if state.sizes[source] == 0:
        close_gap(problem, state, source)
