"""What a search minimises, where it stands, and what its arithmetic supplies.

A search walks with count tables of the estimate against all draws
(``counts.py``) or, for losses that need no more, with sums of the similarity
matrix (``pairs.py``). The moves are the same. A problem is a NamedTuple whose
class says how its tables are kept and scored: each function below is the
method of that name of the problem's class, and a kernel compiles for the
class it is given.

The estimate's clusters are "slots". Slots 0 … k − 1 are used and slot k is
always empty, so that opening a new cluster is a move like any other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partita.kernels._jit import supplied_by_type
from partita.kernels.arrays import Floats, Ints

LANES = 8
"""Slots are padded to full vectors of float64, so that inner loops need no remainder."""

NUDGE = 2.0**-20
"""Share by which sums are changed to see what that does to the loss."""

ROUNDING = 64 * 2.0**-52
"""Relative error of running sums: improvements that it explains would let a search cycle."""

Problem = Any
"""What a search minimises: a value of a class in ``counts.py`` or ``pairs.py``.

All have ``form`` (the loss's), ``terms`` and ``steps`` (n_items + 1,): f(x) and f(x + 1) − f(x).
"""

State = Any
"""Where a search stands, a partition and everything that a move changes.

All have ``slot_of`` (n_items,), −1 while an item is taken out, ``sizes``
(capacity,) of the slots, and ``k`` (1,), how many slots are in use.
"""


class Scratch(NamedTuple):
    """Buffers of one search, so that moves allocate nothing."""

    own: Floats  # (capacity,)
    scores: Floats  # (capacity,)
    lost: Floats  # (n_draws,)
    margin: Floats  # (n_items,): cost of an item's best move, when last looked at
    other: Ints  # (n_items,): where that move leads
    slack: Floats  # (1,): improvements below this are rounding


@supplied_by_type
def fill(problem: Problem, state: State) -> None:
    """All tables, from the slots; they are zero before."""
    problem.fill(state)


@supplied_by_type
def join(problem: Problem, state: State, item: int, slot: int | np.int64) -> None:
    """Tables after an item that was in no slot has joined one."""
    problem.join(state, item, slot)


@supplied_by_type
def leave(problem: Problem, state: State, item: int, slot: int | np.int64) -> None:
    """Tables after an item has left its slot."""
    problem.leave(state, item, slot)


@supplied_by_type
def close(problem: Problem, state: State, slot: int | np.int64, last: int) -> None:
    """Tables after the last slot was moved into an empty one."""
    problem.close(state, slot, last)


@supplied_by_type
def loss_of(problem: Problem, state: State, own: float) -> float:
    """Expected loss from the running sums and the estimate's own sum Σ f(n_e)."""
    return problem.loss_of(state, own)  # type: ignore[no-any-return]


@supplied_by_type
def nudged(problem: Problem, state: State, own: float) -> float:
    """What ``NUDGE`` of the joint sum, and of the two others, does to the expected loss."""
    return problem.nudged(state, own)  # type: ignore[no-any-return]


@supplied_by_type
def score(problem: Problem, state: State, item: int, own: Floats, scratch: Scratch) -> None:
    """Expected loss if the item moved to each slot; its own slot is scored by the caller.

    ``own[k]`` is Σ f(n_e) after it has joined slot k.
    """
    problem.score(state, item, own, scratch)


@supplied_by_type
def score_merges(
    problem: Problem, state: State, own: Floats, filled: Ints, change: Floats, scores: Floats
) -> None:
    """Add the expected loss after merging slots i < j; ``own`` is Σ f(n_e) after each merge.

    ``filled`` (k,) and ``change`` (k, k), zero, are buffers.
    """
    problem.score_merges(state, own, filled, change, scores)


@supplied_by_type
def add_merge_gains(
    problem: Problem, state: State, row: int, weight: float, filled: Ints, change: Floats
) -> None:
    """Add what the part of one draw's cluster in the joint sum gains for each merge of two slots.

    ``filled`` is scratch for the slots that share items with the cluster.
    """
    problem.add_merge_gains(state, row, weight, filled, change)
