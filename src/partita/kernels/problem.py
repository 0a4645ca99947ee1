"""Problem and state of a search, and its arithmetic on the similarity matrix.

A local search keeps count tables of the estimate against all draws
(``counts.py``) or, for losses that need no more, with sums of the similarity
matrix (``Pairs``, below). The moves are the same. A problem is a NamedTuple whose
class says how its tables are kept and scored: each function below is the
method of that name of the problem's class, and a kernel compiles for the
class it is given.

The estimate's clusters are "slots". Slots 0 … k − 1 are used and slot k is
always empty, so that opening a new cluster is a move like any other.

``AveragedSumsProblem`` combines the sums once, at their means over draws, which is exact for
losses that are linear in the sums and defines PEAR; ``PerDrawProblem`` combines those of each
draw.

``within[k, i]`` is Σ p_ij over the members j of slot k (p_ii included while i
is a member). ``Pairs`` adds these sums up, as Binder's loss and PEAR do;
``LogPairs`` their logarithms, as VI_LB does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partita.kernels._jit import array_kernel, dispatch_on_type, fast_kernel, part_of_kernel
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.contingency import Form, combine

LANES = 8
"""Slots are padded to full vectors of float64, so that inner loops need no remainder."""

NUDGE = 2.0**-20
"""Share by which sums are changed to see what that does to the loss."""

ROUNDING = 64 * 2.0**-52
"""Relative error of running sums: improvements that it explains would let a search cycle."""

Problem = Any
"""Search problem: an instance of a class in ``counts.py``, or ``Pairs``.

All have ``form`` (the loss's), ``terms`` and ``steps`` (n_items + 1,): f(x) and f(x + 1) − f(x).
"""

State = Any
"""State of a search: a partition and all sums that a move changes.

All have ``slot_of`` (n_items,), −1 while an item is taken out, ``sizes``
(capacity,) of the slots, and ``k`` (1,), how many slots are in use.
"""


class Scratch(NamedTuple):
    """Buffers of one search, so that moves allocate nothing."""

    own: Floats  # (capacity,)
    scores: Floats  # (capacity,)
    lost: Floats  # (n_draws,)
    apart: Floats  # (capacity,)
    same_size: Ints  # (capacity,)
    sizes: Ints  # (capacity,)
    margin: Floats  # (n_items,): cost of an item's best move, when last looked at
    other: Ints  # (n_items,): where that move leads
    slack: Floats  # (1,): improvements below this are rounding


@dispatch_on_type
def fill(problem: Problem, state: State) -> None:
    """All tables, from the slots; they are zero before."""
    problem.fill(state)


@dispatch_on_type
def join(problem: Problem, state: State, item: int, slot: int | np.int64) -> None:
    """Tables after an item that was in no slot has joined one."""
    problem.join(state, item, slot)


@dispatch_on_type
def leave(problem: Problem, state: State, item: int, slot: int | np.int64) -> None:
    """Tables after an item has left its slot."""
    problem.leave(state, item, slot)


@dispatch_on_type
def close(problem: Problem, state: State, slot: int | np.int64, last: int) -> None:
    """Tables after the last slot was moved into an empty one."""
    problem.close(state, slot, last)


@dispatch_on_type
def loss_of(problem: Problem, state: State, own: float) -> float:
    """Expected loss from the running sums and the estimate's own sum Σ f(n_e)."""
    return problem.loss_of(state, own)  # type: ignore[no-any-return]


@dispatch_on_type
def nudged(problem: Problem, state: State, own: float) -> float:
    """Change of the expected loss by a relative change ``NUDGE`` of its sums."""
    return problem.nudged(state, own)  # type: ignore[no-any-return]


@dispatch_on_type
def score(problem: Problem, state: State, item: int, own: Floats, scratch: Scratch) -> None:
    """Expected loss if the item moved to each slot; its own slot is scored by the caller.

    ``own[k]`` is Σ f(n_e) after it has joined slot k.
    """
    problem.score(state, item, own, scratch)


@dispatch_on_type
def swap_gain(problem: Problem, state: State, i: int, j: int, m: int) -> float:
    """What a draw's joint sum gains if two items of different slots change places."""
    return problem.swap_gain(state, i, j, m)  # type: ignore[no-any-return]


@dispatch_on_type
def score_merges(
    problem: Problem, state: State, own: Floats, filled: Ints, change: Floats, scores: Floats
) -> None:
    """Add the expected loss after merging slots i < j; ``own`` is Σ f(n_e) after each merge.

    ``filled`` (k,) and ``change`` (k, k), zero, are buffers.
    """
    problem.score_merges(state, own, filled, change, scores)


@dispatch_on_type
def add_merge_gains(
    problem: Problem, state: State, row: int, weight: float, filled: Ints, change: Floats
) -> None:
    """Add what the part of one draw's cluster in the joint sum gains for each merge of two slots.

    ``filled`` is scratch for the slots that share items with the cluster.
    """
    problem.add_merge_gains(state, row, weight, filled, change)


@part_of_kernel
def nudge(form: Form, joint: float, own: float, truth: float) -> float:
    """Change of a loss by a relative change ``NUDGE`` of its sums."""
    loss = combine(form, joint, own, truth)
    apart = combine(form, joint * (1.0 - NUDGE), own, truth)
    around = combine(form, joint, own * (1.0 + NUDGE), truth * (1.0 + NUDGE))
    return abs(apart - loss) + abs(around - loss)


@part_of_kernel
def exchange(problem: Problem, state: State, i: int, j: int) -> None:
    """Let two items of different slots change places."""
    a, b = np.int64(state.slot_of[i]), np.int64(state.slot_of[j])
    leave(problem, state, i, a)
    state.slot_of[i] = -1
    leave(problem, state, j, b)
    state.slot_of[j] = -1
    join(problem, state, i, b)
    state.slot_of[i] = b
    join(problem, state, j, a)
    state.slot_of[j] = a


class AveragedSumsProblem:
    """The three sums are averaged over the draws before they are combined."""

    __slots__ = ()

    def loss_of(self: Any, state: State, own: float) -> float:
        """From the mean of the joint sums."""
        return combine(self.form, state.mean_joint[0], own, self.mean_truth)

    def nudged(self: Any, state: State, own: float) -> float:
        """Of the means."""
        return nudge(self.form, state.mean_joint[0], own, self.mean_truth)

    def score_merges(
        self: Any,
        state: State,
        own: Floats,
        filled: Ints,
        _change: Floats,
        scores: Floats,
    ) -> None:
        """The mean gain of each merge, then combined."""
        k_used = state.k[0]
        for r in range(self.row_draw.size):
            add_merge_gains(self, state, r, self.weights[self.row_draw[r]], filled, scores)
        for i in range(k_used):
            for j in range(i + 1, k_used):
                joint = state.mean_joint[0] + scores[i, j]
                scores[i, j] = combine(self.form, joint, own[i, j], self.mean_truth)


class PerDrawProblem:
    """The three sums are combined draw by draw."""

    __slots__ = ()

    def loss_of(self: Any, state: State, own: float) -> float:
        """The mean over draws."""
        value = 0.0
        for m in range(self.weights.size):
            value += self.weights[m] * combine(self.form, state.joint[m], own, self.truth[m])
        return value

    def nudged(self: Any, state: State, own: float) -> float:
        """The mean over draws."""
        value = 0.0
        for m in range(self.weights.size):
            value += self.weights[m] * nudge(self.form, state.joint[m], own, self.truth[m])
        return value

    def score_merges(
        self: Any,
        state: State,
        own: Floats,
        filled: Ints,
        change: Floats,
        scores: Floats,
    ) -> None:
        """Each draw adds its loss after every merge."""
        k_used = state.k[0]
        r = 0
        while r < self.row_draw.size:
            m = self.row_draw[r]
            while r < self.row_draw.size and self.row_draw[r] == m:
                add_merge_gains(self, state, r, 1.0, filled, change)
                r += 1
            for i in range(k_used):
                for j in range(i + 1, k_used):
                    joint = state.joint[m] + change[i, j]
                    change[i, j] = 0.0
                    loss = combine(self.form, joint, own[i, j], self.truth[m])
                    scores[i, j] += self.weights[m] * loss


class PairState(NamedTuple):
    """A partition and its sums of similarities."""

    slot_of: Int32s  # (n_items,)
    sizes: Ints  # (capacity,)
    k: Ints  # (1,)
    within: Floats  # (capacity, n_items): Σ p_ij over the members j of a slot
    joint: Floats  # (1,): the joint sum over the items that are in a slot


@dispatch_on_type
def inner(problem: Any, within: float) -> float:
    """Contribution of an item's sum of similarities to the joint sum."""
    return problem.inner(within)  # type: ignore[no-any-return]


@dispatch_on_type
def added(problem: Any, here: float, there: float) -> float:
    """Gain of the joint sum if an item's sum grows from ``here`` by ``there``."""
    return problem.added(here, there)  # type: ignore[no-any-return]


class _PairSums:
    """Methods shared by both classes: updates of the sums."""

    __slots__ = ()

    def fill(self: Any, state: PairState) -> None:
        """Sums from the slots."""
        n = state.slot_of.size
        for i in range(n):
            for j in range(n):
                state.within[state.slot_of[i], j] += self.similarity[i, j]
        total = 0.0
        for i in range(n):
            total += inner(self, state.within[state.slot_of[i], i])
        state.joint[0] = total

    def join(self: Any, state: PairState, item: int, slot: int) -> None:
        """The item is added to all sums of the slot."""
        gain = 0.0
        for j in range(state.slot_of.size):
            here, there = state.within[slot, j], self.similarity[item, j]
            if state.slot_of[j] == slot:
                gain += added(self, here, there)
            state.within[slot, j] = here + there
        state.joint[0] += gain + inner(self, state.within[slot, item])

    def leave(self: Any, state: PairState, item: int, slot: int) -> None:
        """The item is taken out of all sums of the slot."""
        loss = inner(self, state.within[slot, item])
        for j in range(state.slot_of.size):
            here = state.within[slot, j] - self.similarity[item, j]
            if state.slot_of[j] == slot and j != item:
                loss += added(self, here, self.similarity[item, j])
            state.within[slot, j] = here
        state.joint[0] -= loss

    def close(self: Any, state: PairState, slot: int, last: int) -> None:
        """The last slot takes the place of an empty one."""
        for i in range(state.slot_of.size):
            state.within[slot, i] = state.within[last, i]
            state.within[last, i] = 0.0

    def loss_of(self: Any, state: PairState, own: float) -> float:
        """From the running joint sum."""
        return combine(self.form, state.joint[0], own, self.mean_truth)

    def nudged(self: Any, state: PairState, own: float) -> float:
        """Of the running joint sum."""
        return nudge(self.form, state.joint[0], own, self.mean_truth)

    def score_merges(
        self: Any,
        state: PairState,
        own: Floats,
        _filled: Ints,
        _change: Floats,
        scores: Floats,
    ) -> None:
        """Combine the joint sum after each merge."""
        k_used = state.k[0]
        for i in range(state.slot_of.size):
            a = state.slot_of[i]
            here = state.within[a, i]
            for b in range(k_used):
                there = state.within[b, i]
                if b != a and there > 0.0:
                    scores[min(a, b), max(a, b)] += added(self, here, there)
        for a in range(k_used):
            for b in range(a + 1, k_used):
                scores[a, b] = combine(
                    self.form, state.joint[0] + scores[a, b], own[a, b], self.mean_truth
                )

    def together(self: Any, item: int, others: Ints) -> Floats:
        """The similarities of an item and the others."""
        return self.similarity[item, others]  # type: ignore[no-any-return]


class _PairFields(NamedTuple):
    form: Form
    terms: Floats  # (n_items + 1,)
    steps: Floats  # (n_items + 1,)
    similarity: Floats  # (n_items, n_items)
    mean_truth: float  # Σ over items of the inner function of Σ_j p_ij


class Pairs(_PairSums, _PairFields):
    """The similarity matrix, of which sums are added up."""

    __slots__ = ()

    def inner(self, within: float) -> float:
        """The sum itself."""
        return within

    def added(self, _here: float, there: float) -> float:
        """What is added to the sum."""
        return there

    def score(
        self,
        state: PairState,
        item: int,
        own: Floats,
        scratch: Scratch,
    ) -> None:
        """An item takes the pairs of its slot with it."""
        home = state.slot_of[item]
        joint = state.joint[0]
        if home >= 0:
            joint -= 2.0 * state.within[home, item] - 1.0
        for k in range(state.k[0] + 1):
            with_item = joint + 2.0 * state.within[k, item] + 1.0
            scratch.scores[k] = combine(self.form, with_item, own[k], self.mean_truth)


class LogPairs(_PairSums, _PairFields):
    """The similarity matrix, of which the logarithms of sums are added up."""

    __slots__ = ()

    def inner(self, within: float) -> float:
        """Its logarithm."""
        return np.log2(within)  # type: ignore[no-any-return]

    def added(self, here: float, there: float) -> float:
        """The growth of its logarithm."""
        return np.log2((here + there) / here)  # type: ignore[no-any-return]

    def score(
        self,
        state: PairState,
        item: int,
        own: Floats,
        scratch: Scratch,
    ) -> None:
        """Every item that shares a slot with this one, before or after, changes its logarithm."""
        home = state.slot_of[item]
        gains = scratch.scores
        for k in range(state.k[0] + 1):
            gains[k] = np.log2(state.within[k, item] + 1.0)
        left = 0.0
        for j in range(state.slot_of.size):
            slot = state.slot_of[j]
            shared = self.similarity[item, j]
            if slot < 0 or shared <= 0.0 or j == item:
                continue
            here = state.within[slot, j]
            if slot == home:
                left += np.log2(here / (here - shared))
            else:
                gains[slot] += np.log2((here + shared) / here)
        if home >= 0:
            left += np.log2(state.within[home, item])
        joint = state.joint[0] - left
        for k in range(state.k[0] + 1):
            gains[k] = combine(self.form, joint + gains[k], own[k], self.mean_truth)


@part_of_kernel
def sizes_and_order(labels: Int32s) -> tuple[Ints, Int32s]:
    """Cluster sizes, and the items sorted by cluster."""
    n = labels.size
    highest = 0
    for i in range(n):
        highest = max(highest, labels[i])
    sizes = np.zeros(highest + 1, np.int64)
    for i in range(n):
        sizes[labels[i]] += 1
    position = np.zeros(highest + 1, np.int64)
    for k in range(1, highest + 1):
        position[k] = position[k - 1] + sizes[k - 1]
    order = np.empty(n, np.int32)
    for i in range(n):
        order[position[labels[i]]] = i
        position[labels[i]] += 1
    return sizes, order


@fast_kernel
def _sum_over(row: Floats, members: Int32s) -> float:
    total = 0.0
    for q in range(members.size):
        total += row[members[q]]
    return total


@array_kernel
def losses_of(problem: Problem, rows: Int32s, out: Floats) -> None:
    """Expected loss of each row of labels; O(N + Σ n_k²) per row."""
    for r in range(rows.shape[0]):
        sizes, order = sizes_and_order(rows[r])
        own = 0.0
        joint = 0.0
        start = 0
        for k in range(sizes.size):
            members = order[start : start + sizes[k]]
            start += sizes[k]
            own += problem.terms[sizes[k]]
            for p in range(members.size):
                within = _sum_over(problem.similarity[members[p]], members)
                joint += inner(problem, within)
        out[r] = combine(problem.form, joint, own, problem.mean_truth)
