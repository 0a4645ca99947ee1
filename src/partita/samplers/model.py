"""A kernel, a prior and data as the arrays that the compiled loops take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.samplers.kernel import Block, Floats, Kernel
from partita.samplers.priors import PartitionPrior, PriorTables

_FIRST_ROW = 2
"""Rows of the store before the statistics: number of items, log prior weight."""


@dataclass(frozen=True)
class Arrays:
    """Blocks, hyperparameters and tables; see ``kernels/gibbs/family.py``."""

    order: NDArray[np.intp]
    blocks: NDArray[np.int64]
    hyper: Floats
    tables: Floats
    n_rows: int
    n_work: int

    def arrange(self, values: Floats) -> Floats:
        """Encoded rows with the columns of a block side by side."""
        return np.ascontiguousarray(values[:, self.order])


@dataclass(frozen=True)
class Model:
    """Everything that does not change while chains run.

    ``singleton`` is the log density of each item alone in a cluster, ``log_base`` the part of
    the log likelihood that the compiled densities leave out.
    """

    data: Floats
    arrays: Arrays
    prior: PriorTables
    singleton: Floats
    log_base: float


def flatten(kernel: Kernel, n_columns: int, n_items: int) -> Arrays:
    """The arrays of a bound kernel, for clusters of up to n_items items."""
    parts: list[Block] = kernel.blocks(n_columns, n_items)
    table_rows = [part.tables.shape[0] for part in parts]
    rows, column, hyper, table = _FIRST_ROW, 0, 0, 0
    blocks = np.zeros((len(parts), 7), np.int64)
    for b, part in enumerate(parts):
        d = len(part.columns)
        blocks[b] = (part.family, column, d, rows, rows + part.n_stats, hyper, table)
        rows += part.n_stats + part.n_cache
        column, hyper, table = column + d, hyper + part.hyper.size, table + table_rows[b]
    return Arrays(
        np.array([c for part in parts for c in part.columns], np.intp),
        blocks,
        np.concatenate([part.hyper for part in parts]),
        np.ascontiguousarray(np.concatenate([part.tables for part in parts])),
        rows,
        max(part.n_work for part in parts),
    )


def build_model(kernel: Kernel, prior: PartitionPrior, values: Floats) -> Model:
    """The model of encoded data under a bound kernel."""
    from partita.kernels.gibbs.family import prior_predictive

    n_items, n_columns = values.shape
    arrays = flatten(kernel, n_columns, n_items)
    data = arrays.arrange(values)
    singleton = prior_predictive(
        data, arrays.blocks, arrays.hyper, arrays.tables, arrays.n_rows, arrays.n_work
    )
    base = float(kernel.log_base(values).sum())
    return Model(data, arrays, prior.tables(n_items), singleton, base)
