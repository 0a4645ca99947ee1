"""Scores of moves on count tables: the expected loss after each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import fast_kernel
from partita.kernels.arrays import Floats, Int32s
from partita.kernels.contingency import Form, combine
from partita.kernels.search import counts
from partita.kernels.search.counts import (
    CountState,
    joint_gains,
    leaving,
)
from partita.kernels.search.sums import OfEachDraw, OfMeans
from partita.kernels.search.types import LANES, Scratch


@fast_kernel
def _weighted(weights: Floats, values: Floats) -> float:
    total = 0.0
    for m in range(weights.size):
        total += weights[m] * values[m]
    return total


class _CountTables:
    """What both classes share: how the tables are kept."""

    __slots__ = ()

    fill = counts.fill
    join = counts.join
    leave = counts.leave
    close = counts.close
    together = counts.together
    add_merge_gains = counts.add_merge_gains


class _Fields(NamedTuple):
    form: Form
    terms: Floats  # (n_items + 1,)
    steps: Floats  # (n_items + 1,)
    row_of: NDArray[np.uint32]  # (n_items, n_draws): row of the item's cluster in each draw
    row_draw: Int32s  # (n_rows,): draw of each row
    weights: Floats  # (n_draws,)
    truth: Floats  # (n_draws,): Σ f(n_t)
    mean_truth: float  # its mean over draws


class Averaged(_CountTables, OfMeans, _Fields):
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


class PerDraw(_CountTables, OfEachDraw, _Fields):
    """Count tables, with the three sums combined draw by draw."""

    __slots__ = ()

    def score(
        self,
        state: CountState,
        item: int,
        own: Floats,
        scratch: Scratch,
    ) -> None:
        """Each draw adds its loss to all slots."""
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
