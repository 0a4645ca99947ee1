"""Arithmetic of a search on the similarity matrix p.

``within[k, i]`` is Σ p_ij over the members j of slot k (p_ii included while i
is a member). ``Pairs`` adds these sums up, as Binder's loss and PEAR do;
``LogPairs`` their logarithms, as VI_LB does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partita.kernels._jit import supplied_by_type
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.contingency import Form, combine
from partita.kernels.search.sums import nudge
from partita.kernels.search.types import Scratch


class PairState(NamedTuple):
    """A partition and its sums of similarities."""

    slot_of: Int32s  # (n_items,)
    sizes: Ints  # (capacity,)
    k: Ints  # (1,)
    within: Floats  # (capacity, n_items): Σ p_ij over the members j of a slot
    joint: Floats  # (1,): the joint sum over the items that are in a slot


@supplied_by_type
def inner(problem: Any, within: float) -> float:
    """What an item's sum of similarities adds to the joint sum."""
    return problem.inner(within)  # type: ignore[no-any-return]


@supplied_by_type
def added(problem: Any, here: float, there: float) -> float:
    """What the joint sum gains if an item's sum grows from ``here`` by ``there``."""
    return problem.added(here, there)  # type: ignore[no-any-return]


class _PairSums:
    """What both classes share: how the sums are kept."""

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
        """What each merge adds to the joint sum, then combined."""
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
