"""Search problems on parts of the same draws, without numbering their clusters again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.draws import Draws
from partita.kernels.counts import Averaged, PerDraw
from partita.losses.base import Loss
from partita.search.problem import row_tables, terms_and_steps


class PartTables:
    """Count tables of some draws, from which those of a part of them are cut.

    Memory: 4 bytes per label.
    """

    def __init__(self, draws: Draws, loss: Loss) -> None:
        self._kind = Averaged if loss.averages_sums else PerDraw
        self._form = loss.form(draws.n_items)
        self._terms, self._steps = terms_and_steps(loss, draws.n_items)
        self._row_of, _, self._truth = row_tables(draws, self._terms)
        self._clusters = np.array(draws.n_clusters)
        self._first = np.cumsum(self._clusters) - self._clusters

    def part(self, rows: NDArray[np.int64], mass: NDArray[np.float64]) -> Averaged | PerDraw:
        """The search problem on some of the draws, with masses on any scale."""
        clusters = self._clusters[rows]
        shift = np.cumsum(clusters) - clusters - self._first[rows]
        row_of = np.ascontiguousarray(self._row_of[:, rows])
        row_of += shift.astype(np.uint32)
        row_draw = np.repeat(np.arange(rows.size, dtype=np.int32), clusters)
        weights, truth = mass / mass.sum(), self._truth[rows]
        shared, mean_truth = (self._form, self._terms, self._steps), float((weights * truth).sum())
        return self._kind(*shared, row_of, row_draw, weights, truth, mean_truth)
