"""A kernel, a prior and data as the arrays that the compiled loops take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._validate import shown
from partita.errors import InvalidInputError
from partita.kernels.arrays import Floats
from partita.kernels.gibbs.types import ADDRESS, WIDTH, Likelihood, Rates
from partita.samplers.kernel import FUNCTIONS, Block, Kernel
from partita.samplers.partition_prior import PartitionPrior, PriorTables

_FIRST_ROW = 2
"""Rows of the store before the statistics: number of items, log prior weight."""


@dataclass(frozen=True)
class Arrays:
    """Blocks, hyperparameters and tables; see ``kernels/gibbs/types.py``."""

    order: NDArray[np.intp]
    blocks: NDArray[np.int64]
    hyper: Floats
    tables: Floats
    n_rows: int
    n_work: int
    functions: tuple[tuple[Callable[..., Any], ...], ...]
    rates: Rates

    def likelihood(self, values: Floats) -> Likelihood:
        """The model of encoded rows, for this process: addresses are no others' business."""
        blocks = self.blocks
        if any(self.functions):
            blocks = blocks.copy()
            for b, functions in enumerate(self.functions):
                if functions:
                    blocks[b, ADDRESS:] = _addresses(functions)
        data = np.ascontiguousarray(values[:, self.order])
        hyper = self.hyper.copy() if self.n_learned else self.hyper  # which a chain writes to
        return Likelihood(data, blocks, hyper, self.tables)

    @property
    def n_learned(self) -> int:
        """Number of learned rates."""
        return self.rates.block.size

    def starting_rates(self) -> Floats:
        """Learned rates where chains start: the means of their priors."""
        return self.rates.shape / self.rates.rate


@dataclass(frozen=True)
class Model:
    """Everything that does not change while chains run.

    ``singleton`` is the log density of each item alone in a cluster, ``log_base`` the part of
    the log likelihood that the compiled densities leave out.
    """

    values: Floats
    arrays: Arrays
    prior: PriorTables
    singleton: Floats
    log_base: float

    @property
    def n_extras(self) -> int:
        """Numbers kept with a draw beside concentration, clusters, likelihood and prior.

        The number of components of a finite mixture, then learned rates.
        """
        return int(self.prior.has_components) + self.arrays.n_learned


def _addresses(functions: tuple[Callable[..., Any], ...]) -> list[int]:
    from partita.kernels.gibbs.calls import CompilationError, address

    found = []
    for (name, takes), function in zip(FUNCTIONS.items(), functions, strict=True):
        try:
            found.append(address(name, function))
        except CompilationError as error:
            raise InvalidInputError(
                f"the kernel cannot be compiled: {error}. Expected a function {name}({takes}) that "
                "Numba compiles; the page of Kernel says what it does.",
                argument="kernel",
            ) from error
    return found


def flatten(kernel: Kernel, n_items: int, has_missing: NDArray[np.bool_]) -> Arrays:
    """The arrays of a bound kernel for columns that may have missing cells.

    Blocks with missing cells count their own items.
    """
    incomplete = frozenset(np.flatnonzero(has_missing).tolist())
    parts: list[Block] = kernel.blocks(has_missing.size, n_items, incomplete)
    rows, column, hyper, table = _FIRST_ROW, 0, 0, 0
    blocks = np.zeros((len(parts), WIDTH), np.int64)
    for b, part in enumerate(parts):
        d = len(part.columns)
        count = 0
        if incomplete.intersection(part.columns):
            count, rows = rows, rows + 1
        n_tables = part.tables.shape[0]
        blocks[b, :ADDRESS] = (
            part.family,
            column,
            d,
            count,
            rows,
            part.n_stats,
            rows + part.n_stats,
            part.n_cache,
            hyper,
            part.hyper.size,
            table,
            n_tables,
        )
        rows += part.n_stats + part.n_cache
        column, hyper, table = column + d, hyper + part.hyper.size, table + n_tables
    slots = sorted(
        (part.columns[i], b, i, shape, rate)
        for b, part in enumerate(parts)
        for i, shape, rate in part.learned
    )
    rates = Rates(
        np.array([slot[1] for slot in slots], np.int64),
        np.array([slot[2] for slot in slots], np.int64),
        np.array([slot[3] for slot in slots], np.float64),
        np.array([slot[4] for slot in slots], np.float64),
    )
    return Arrays(
        np.array([c for part in parts for c in part.columns], np.intp),
        blocks,
        np.concatenate([part.hyper for part in parts]),
        np.ascontiguousarray(np.concatenate([part.tables for part in parts])),
        rows,
        max(part.n_work for part in parts),
        tuple(part.functions for part in parts),
        rates,
    )


def build_model(kernel: Kernel, prior: PartitionPrior, values: Floats) -> Model:
    """The model of encoded data under a bound kernel."""
    from partita.kernels.gibbs.family import prior_predictive

    arrays = flatten(kernel, len(values), np.asarray(np.isnan(values).any(axis=0)))
    tables = prior.tables(values.shape[0])
    if not isinstance(tables, PriorTables):
        raise InvalidInputError(
            f"the tables of {prior.kind} are {shown(tables)}; expected PriorTables, as those of "
            "ProductPartition(log_v, log_w) are.",
            argument="prior",
        )
    singleton = prior_predictive(
        arrays.likelihood(values), tables.arrays, arrays.n_rows, arrays.n_work
    )
    base = float(kernel.log_base(values).sum())
    return Model(values, arrays, tables, singleton, base)
