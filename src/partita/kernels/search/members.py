"""A search without tables, for draws of many small clusters.

Tables of counts hold a cell for each pair of clusters, most of them empty when
there are many. Here the members of each draw's clusters are listed instead,
and an item's companions are counted by slot when it is looked at: memory is
that of the labels, and a look costs the sizes of the item's clusters.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import part_of_kernel
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.contingency import Form, combine
from partita.kernels.search.counts import together
from partita.kernels.search.sums import OfEachDraw, OfMeans
from partita.kernels.search.types import Scratch


class MemberState(NamedTuple):
    """A partition and its joint sums."""

    slot_of: Int32s  # (n_items,)
    sizes: Ints  # (capacity,)
    k: Ints  # (1,)
    tally: Int32s  # (capacity,): companions counted by slot; zero between looks
    joint: Floats  # (n_draws,): Σ f(n_te)
    mean_joint: Floats  # (1,): its mean over draws


@part_of_kernel
def _count(problem: Any, state: MemberState, item: int, m: int, slot: int) -> int:
    """Companions of an item in one draw that are in a slot."""
    row = problem.row_of[item, m]
    found = 0
    for p in range(problem.first[row], problem.first[row + 1]):
        other = problem.members[p]
        if other != item and state.slot_of[other] == slot:
            found += 1
    return found


@part_of_kernel
def _tally(problem: Any, state: MemberState, row: int, item: int, change: int) -> None:
    """Count the members of a row by slot, without the item; ``change`` −1 takes it back."""
    for p in range(problem.first[row], problem.first[row + 1]):
        other = problem.members[p]
        if other != item and state.slot_of[other] >= 0:
            state.tally[state.slot_of[other]] += change


class _Lists:
    """What both classes share: joint sums that follow from lists of members."""

    __slots__ = ()

    together = together

    def fill(self: Any, state: MemberState) -> None:
        """Joint sums, from the slots."""
        for row in range(self.row_draw.size):
            m = self.row_draw[row]
            for p in range(self.first[row], self.first[row + 1]):
                slot = state.slot_of[self.members[p]]
                state.joint[m] += self.steps[state.tally[slot]]
                state.tally[slot] += 1
            _tally(self, state, row, -1, -1)
        total = 0.0
        for m in range(self.weights.size):
            total += self.weights[m] * state.joint[m]
        state.mean_joint[0] = total

    def join(self: Any, state: MemberState, item: int, slot: int) -> None:
        """Joint sums after an item has joined a slot."""
        for m in range(self.weights.size):
            step = self.steps[_count(self, state, item, m, slot)]
            state.joint[m] += step
            state.mean_joint[0] += self.weights[m] * step

    def leave(self: Any, state: MemberState, item: int, slot: int) -> None:
        """Joint sums after an item has left its slot."""
        for m in range(self.weights.size):
            step = self.steps[_count(self, state, item, m, slot)]
            state.joint[m] -= step
            state.mean_joint[0] -= self.weights[m] * step

    def close(self: Any, state: MemberState, slot: int, last: int) -> None:
        """Nothing is kept by slot."""

    def add_merge_gains(
        self: Any,
        state: MemberState,
        row: int,
        weight: float,
        filled: Ints,
        change: Floats,
    ) -> None:
        """Add what a row's part of the joint sum gains for each pair of slots merged."""
        count = 0
        for p in range(self.first[row], self.first[row + 1]):
            slot = state.slot_of[self.members[p]]
            if state.tally[slot] == 0:
                filled[count] = slot
                count += 1
            state.tally[slot] += 1
        for p in range(count):
            x = state.tally[filled[p]]
            for q in range(p + 1, count):
                y = state.tally[filled[q]]
                gain = self.terms[x + y] - self.terms[x] - self.terms[y]
                i, j = min(filled[p], filled[q]), max(filled[p], filled[q])
                change[i, j] += weight * gain
        for p in range(count):
            state.tally[filled[p]] = 0


class _Fields(NamedTuple):
    form: Form
    terms: Floats  # (n_items + 1,)
    steps: Floats  # (n_items + 1,)
    row_of: NDArray[np.uint32]  # (n_items, n_draws): row of the item's cluster in each draw
    row_draw: Int32s  # (n_rows,): draw of each row
    members: Int32s  # (n_draws · n_items,): items, row after row
    first: Ints  # (n_rows + 1,): where each row's members begin
    weights: Floats  # (n_draws,)
    truth: Floats  # (n_draws,): Σ f(n_t)
    mean_truth: float  # its mean over draws


class AveragedLists(_Lists, OfMeans, _Fields):
    """Lists of members, with the three sums averaged over the draws before they are combined."""

    __slots__ = ()

    def score(self, state: MemberState, item: int, own: Floats, scratch: Scratch) -> None:
        """Companions are counted by slot, draw by draw, and their gains summed up."""
        scores = scratch.scores
        home = state.slot_of[item]
        alone = 0.0
        for k in range(state.k[0] + 1):
            scores[k] = 0.0
        for m in range(self.weights.size):
            w = self.weights[m]
            alone += w * self.steps[0]
            row = self.row_of[item, m]
            for p in range(self.first[row], self.first[row + 1]):
                other = self.members[p]
                slot = state.slot_of[other]
                if other != item and slot >= 0:
                    count = state.tally[slot]
                    scores[slot] += w * (self.steps[count + 1] - self.steps[count])
                    state.tally[slot] = count + 1
            _tally(self, state, row, item, -1)
        stays = state.mean_joint[0] + alone
        if home >= 0:
            stays -= alone + scores[home]
        for k in range(state.k[0] + 1):
            scores[k] = combine(self.form, stays + scores[k], own[k], self.mean_truth)


class PerDrawLists(_Lists, OfEachDraw, _Fields):
    """Lists of members, with the three sums combined draw by draw."""

    __slots__ = ()

    def score(self, state: MemberState, item: int, own: Floats, scratch: Scratch) -> None:
        """Each draw adds its loss to all slots."""
        scores = scratch.scores
        home = state.slot_of[item]
        for k in range(state.k[0] + 1):
            scores[k] = 0.0
        for m in range(self.weights.size):
            w = self.weights[m]
            truth = self.truth[m]
            row = self.row_of[item, m]
            _tally(self, state, row, item, 1)
            stays = state.joint[m]
            if home >= 0:
                stays -= self.steps[state.tally[home]]
            for k in range(state.k[0] + 1):
                joint = stays + self.steps[state.tally[k]]
                scores[k] += w * combine(self.form, joint, own[k], truth)
            _tally(self, state, row, item, -1)
