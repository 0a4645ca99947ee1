"""When the loss's three sums are combined, however they are kept.

Of ``OfMeans`` the means over draws, once: exact for losses that are linear in
the sums, and the definition of PEAR. Of ``OfEachDraw`` those of each draw.
"""

from __future__ import annotations

from typing import Any

from partita.kernels._jit import part_of_kernel
from partita.kernels.arrays import Floats, Ints
from partita.kernels.contingency import Form, combine
from partita.kernels.search.types import NUDGE, State, add_merge_gains


@part_of_kernel
def nudge(form: Form, joint: float, own: float, truth: float) -> float:
    """What ``NUDGE`` of the joint sum, and of the two others, does to a loss."""
    loss = combine(form, joint, own, truth)
    apart = combine(form, joint * (1.0 - NUDGE), own, truth)
    around = combine(form, joint, own * (1.0 + NUDGE), truth * (1.0 + NUDGE))
    return abs(apart - loss) + abs(around - loss)


class OfMeans:
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


class OfEachDraw:
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
