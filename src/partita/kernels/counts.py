"""Count tables of a search, the scores of moves on them, and a search without tables.

Clusters of all draws are numbered consecutively ("rows"). For each row and
slot the tables hold how many items they share, and what the joint sum
Σ f(n_te) would gain if one more item joined: scoring an item against all
slots is then a sum of contiguous rows, with no look-up of f.

Tables hold a cell for each pair of clusters, most of them empty when there are
many. ``AveragedLists`` and ``PerDrawLists`` list the members of each draw's
clusters instead, and an item's companions are counted by slot when it is
looked at: memory is that of the labels, and a look costs the sizes of the
item's clusters.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import part_of_kernel
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.contingency import Form, combine
from partita.kernels.problem import LANES, AveragedSumsProblem, PerDrawProblem, Scratch


class CountState(NamedTuple):
    """A partition and its count tables."""

    slot_of: Int32s  # (n_items,)
    sizes: Ints  # (capacity,)
    k: Ints  # (1,)
    counts: Int32s  # (n_rows, capacity): items a draw's cluster shares with a slot
    gains: Floats  # (n_rows, capacity): steps[counts]
    joint: Floats  # (n_draws,): Σ f(n_te)
    mean_joint: Floats  # (1,): its mean over draws


def number_rows(labels: Int32s, clusters: Ints) -> tuple[NDArray[np.uint32], Ints]:
    """Rows of labels: clusters of draws numbered consecutively. And the first row of each draw."""
    begins = np.cumsum(clusters) - clusters
    # Unsigned: an index that cannot be negative is not checked for counting from the end.
    return labels.astype(np.uint32) + begins.astype(np.uint32)[:, None], begins


def truth_sums(labels: Int32s, clusters: Ints, terms: Floats) -> Floats:
    """Σ f(n_t) of each draw of a block."""
    rows, begins = number_rows(labels, clusters)
    return np.asarray(np.add.reduceat(terms[np.bincount(rows.ravel())], begins))


def together(problem: Any, item: int, others: Ints) -> Floats:
    """Weight of the draws in which an item shares a cluster with each of the others."""
    return np.asarray((problem.row_of[others] == problem.row_of[item]) @ problem.weights)


def fill(problem: Any, state: CountState) -> None:
    """All tables, from the slots; they are zero before."""
    n_items, n_draws = problem.row_of.shape
    for i in range(n_items):
        for m in range(n_draws):
            state.counts[problem.row_of[i, m], state.slot_of[i]] += 1
    empty = problem.steps[0]
    for r in range(problem.row_draw.size):
        total = 0.0
        for k in range(state.sizes.size):
            count = state.counts[r, k]
            if count > 0:
                total += problem.terms[count]
                state.gains[r, k] = problem.steps[count]
            else:
                state.gains[r, k] = empty
        state.joint[problem.row_draw[r]] += total
    average(problem, state)


@part_of_kernel
def average(problem: Any, state: CountState) -> None:
    """Refresh the mean of the joint sums."""
    total = 0.0
    for m in range(problem.weights.size):
        total += problem.weights[m] * state.joint[m]
    state.mean_joint[0] = total


def join(problem: Any, state: CountState, item: int, slot: int) -> None:
    """Tables after an item that was in no slot has joined one."""
    rows = problem.row_of[item]
    mean = 0.0
    for m in range(rows.size):
        gain = state.gains[rows[m], slot]
        state.joint[m] += gain
        mean += problem.weights[m] * gain
        count = state.counts[rows[m], slot] + 1
        state.counts[rows[m], slot] = count
        state.gains[rows[m], slot] = problem.steps[count]
    state.mean_joint[0] += mean


def leave(problem: Any, state: CountState, item: int, slot: int) -> None:
    """Tables after an item has left its slot."""
    rows = problem.row_of[item]
    mean = 0.0
    for m in range(rows.size):
        count = state.counts[rows[m], slot] - 1
        step = problem.steps[count]
        state.joint[m] -= step
        mean += problem.weights[m] * step
        state.counts[rows[m], slot] = count
        state.gains[rows[m], slot] = step
    state.mean_joint[0] -= mean


def close(problem: Any, state: CountState, slot: int, last: int) -> None:
    """Tables after the last slot was moved into an empty one."""
    empty = problem.steps[0]
    for r in range(state.counts.shape[0]):
        state.counts[r, slot] = state.counts[r, last]
        state.gains[r, slot] = state.gains[r, last]
        state.counts[r, last] = 0
        state.gains[r, last] = empty


DRAWS = 4
"""Draws whose rows are added together: sums are then read and written once for all of them."""


@part_of_kernel
def joint_gains(problem: Any, state: CountState, item: int, width: int, out: Floats) -> None:
    """Mean gain of the joint sum if the item joined each of the first ``width`` slots."""
    rows, weights, gains = problem.row_of[item], problem.weights, state.gains
    for k in range(width):
        out[k] = 0.0
    whole = rows.size // DRAWS * DRAWS
    for m in range(0, whole, DRAWS):
        r0, r1, r2, r3 = rows[m], rows[m + 1], rows[m + 2], rows[m + 3]
        w0, w1, w2, w3 = weights[m], weights[m + 1], weights[m + 2], weights[m + 3]
        # Written out, because only then do vectors run along the rows.
        for k in range(width):
            one = w0 * gains[r0, k] + w1 * gains[r1, k]
            out[k] += one + w2 * gains[r2, k] + w3 * gains[r3, k]
    for m in range(whole, rows.size):
        for k in range(width):
            out[k] += weights[m] * gains[rows[m], k]


@part_of_kernel
def leaving(problem: Any, state: CountState, item: int, out: Floats) -> float:
    """Write each draw's loss of joint sum if the item leaves its slot; return the mean."""
    home = state.slot_of[item]
    rows = problem.row_of[item]
    mean = 0.0
    for m in range(rows.size):
        if home < 0:
            out[m] = 0.0
            continue
        step = problem.steps[state.counts[rows[m], home] - 1]
        out[m] = step
        mean += problem.weights[m] * step
    return mean


def swap_gain(problem: Any, state: CountState, i: int, j: int, m: int) -> float:
    """What a draw's joint sum gains if two items of different slots change places."""
    r, s = problem.row_of[i, m], problem.row_of[j, m]
    if r == s:
        return 0.0
    a, b = state.slot_of[i], state.slot_of[j]
    lost = problem.steps[state.counts[r, a] - 1] + problem.steps[state.counts[s, b] - 1]
    return state.gains[r, b] + state.gains[s, a] - lost  # type: ignore[no-any-return]


def add_merge_gains(
    problem: Any, state: CountState, r: int, weight: float, filled: Ints, change: Floats
) -> None:
    """Add what a row's part of the joint sum gains for each pair of slots merged."""
    count = 0
    for k in range(state.k[0]):
        if state.counts[r, k] > 0:
            filled[count] = k
            count += 1
    for p in range(count):
        x = state.counts[r, filled[p]]
        for q in range(p + 1, count):
            y = state.counts[r, filled[q]]
            gain = problem.terms[x + y] - problem.terms[x] - problem.terms[y]
            change[filled[p], filled[q]] += weight * gain


class _CountTables:
    """Methods shared by both classes: the functions above."""

    __slots__ = ()

    fill = fill
    join = join
    leave = leave
    close = close
    together = together
    add_merge_gains = add_merge_gains
    swap_gain = swap_gain


class _Fields(NamedTuple):
    form: Form
    terms: Floats  # (n_items + 1,)
    steps: Floats  # (n_items + 1,)
    row_of: NDArray[np.uint32]  # (n_items, n_draws): row of the item's cluster in each draw
    row_draw: Int32s  # (n_rows,): draw of each row
    weights: Floats  # (n_draws,)
    truth: Floats  # (n_draws,): Σ f(n_t)
    mean_truth: float  # its mean over draws


class Averaged(_CountTables, AveragedSumsProblem, _Fields):
    """Count tables, with the three sums averaged over the draws before they are combined."""

    __slots__ = ()

    def score(
        self,
        state: CountState,
        item: int,
        own: Floats,
        scratch: Scratch,
    ) -> None:
        """One sum over the draws for each slot, then combined."""
        scores = scratch.scores
        width = (state.k[0] + LANES) // LANES * LANES
        stays = state.mean_joint[0] - leaving(self, state, item, scratch.lost)
        joint_gains(self, state, item, width, scores)
        for k in range(state.k[0] + 1):
            scores[k] = combine(self.form, stays + scores[k], own[k], self.mean_truth)


class PerDraw(_CountTables, PerDrawProblem, _Fields):
    """Count tables, with the three sums combined draw by draw."""

    __slots__ = ()

    def score(
        self,
        state: CountState,
        item: int,
        own: Floats,
        scratch: Scratch,
    ) -> None:
        """Add each draw's loss to all slots."""
        scores = scratch.scores
        width = (state.k[0] + LANES) // LANES * LANES
        leaving(self, state, item, scratch.lost)
        rows = self.row_of[item]
        for k in range(width):
            scores[k] = 0.0
        for m in range(rows.size):
            r = rows[m]
            w = self.weights[m]
            stays = state.joint[m] - scratch.lost[m]
            truth = self.truth[m]
            for k in range(width):
                scores[k] += w * combine(self.form, stays + state.gains[r, k], own[k], truth)


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
    """Methods shared by both classes: joint sums from lists of members."""

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
        """Do nothing: no table is indexed by slot."""

    def swap_gain(self: Any, state: MemberState, i: int, j: int, m: int) -> float:
        """What a draw's joint sum gains if two items of different slots change places."""
        if self.row_of[i, m] == self.row_of[j, m]:
            return 0.0
        a, b = state.slot_of[i], state.slot_of[j]
        lost = self.steps[_count(self, state, i, m, a)] + self.steps[_count(self, state, j, m, b)]
        won = self.steps[_count(self, state, i, m, b)] + self.steps[_count(self, state, j, m, a)]
        return won - lost  # type: ignore[no-any-return]

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


class _ListFields(NamedTuple):
    form: Form
    terms: Floats  # these and the next as of _Fields
    steps: Floats
    row_of: NDArray[np.uint32]
    row_draw: Int32s
    weights: Floats
    truth: Floats
    mean_truth: float
    members: Int32s  # (n_draws · n_items,): items, row after row
    first: Ints  # (n_rows + 1,): where each row's members begin


class AveragedLists(_Lists, AveragedSumsProblem, _ListFields):
    """Lists of members, with the three sums averaged over the draws before they are combined."""

    __slots__ = ()

    def score(self, state: MemberState, item: int, own: Floats, scratch: Scratch) -> None:
        """Count companions by slot in each draw, and add up the gains."""
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


class PerDrawLists(_Lists, PerDrawProblem, _ListFields):
    """Lists of members, with the three sums combined draw by draw."""

    __slots__ = ()

    def score(self, state: MemberState, item: int, own: Floats, scratch: Scratch) -> None:
        """Each draw adds its loss, once for all slots of one size that have no companions."""
        scores, k_used = scratch.scores, state.k[0]
        home = state.slot_of[item]
        apart, same_size = scratch.apart, scratch.same_size
        n_sizes = 0
        for k in range(k_used + 1):
            scores[k] = 0.0
            apart[k] = 0.0
            same_size[k] = k
            for q in range(n_sizes):
                if state.sizes[scratch.sizes[q]] == state.sizes[k]:
                    same_size[k] = scratch.sizes[q]
                    break
            if same_size[k] == k:
                scratch.sizes[n_sizes] = k
                n_sizes += 1
        for m in range(self.weights.size):
            w = self.weights[m]
            truth = self.truth[m]
            row = self.row_of[item, m]
            _tally(self, state, row, item, 1)
            stays = state.joint[m]
            if home >= 0:
                stays -= self.steps[state.tally[home]]
            alone = stays + self.steps[0]
            for q in range(n_sizes):
                k = scratch.sizes[q]
                scores[k] += w * combine(self.form, alone, own[k], truth)
            for p in range(self.first[row], self.first[row + 1]):
                k = state.slot_of[self.members[p]]
                if k >= 0 and state.tally[k] > 0:
                    joint = stays + self.steps[state.tally[k]]
                    state.tally[k] = 0
                    apart[k] += w * combine(self.form, joint, own[k], truth)
                    apart[k] -= w * combine(self.form, alone, own[k], truth)
        for k in range(k_used, -1, -1):
            scores[k] = scores[same_size[k]] + apart[k]
