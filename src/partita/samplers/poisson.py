"""Counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from partita.errors import InvalidDataError
from partita.io.data_table import Table, as_table, numbers
from partita.kernels.arrays import Floats
from partita.labels import DataSource
from partita.samplers.base import (
    Block,
    Kernel,
    Moments,
    PerColumn,
    at_column,
    cell_sums,
    column_groups,
    group_sums,
    per_column,
    present_moments,
    spread,
)

_LARGEST = 2.0**53
"""Beyond this, neighbouring whole numbers are no longer told apart."""


@dataclass(frozen=True)
class GammaPoisson(Kernel):
    """Counts with unknown rates, independent columns.

    In each cluster and column, x ~ Poisson(λ) with λ ~ Gamma(shape, rate); the
    predictive distribution is negative binomial. Choose it for counts of events.

    Parameters
    ----------
    shape, rate : float or sequence of float
        Positive; the prior mean of λ is shape/rate. For all columns, or one per column.

    Notes
    -----
    One item costs O(K·d) in a sweep over K clusters and d columns.

    References
    ----------
    Gelman, A. et al. (2013), Bayesian Data Analysis, third edition, section 2.6.

    Examples
    --------
    >>> import partita as pt
    >>> pt.GammaPoisson(shape=2, rate=0.5)
    GammaPoisson(shape=2.0, rate=0.5)
    """

    shape: PerColumn
    rate: PerColumn

    kind: ClassVar[str] = "GammaPoisson"

    def __post_init__(self) -> None:
        for name in ("shape", "rate"):
            object.__setattr__(self, name, per_column(getattr(self, name), name, above=0.0))

    @classmethod
    def empirical(cls, data: DataSource) -> GammaPoisson:
        """Rates exponentially distributed around each column's mean: shape 1, rate 1/mean."""
        table = as_table(data)
        kernel = cls(1.0, 1.0)
        values = kernel.encode(table)
        means, _ = present_moments(values) if len(values) > 1 else (values[0], None)
        empty = [name for name, mean in zip(table.names, means, strict=True) if not mean > 0]
        if empty:
            raise InvalidDataError(
                f"column {empty[0]!r} has no count above 0, so the empirical rule (rate = 1/mean) "
                "has no answer. Drop the column, or give the kernel yourself."
            )
        return cls(1.0, tuple((1 / means).tolist()))

    def bind(self, table: Table) -> GammaPoisson:
        """Checked against these columns; hyperparameters stay as given."""
        self.hyper(table.n_columns)
        return self

    def check_encoded(self, values: Floats) -> None:
        """Refuse encoded rows that are no counts."""
        self.encode(Table(tuple(map(str, range(values.shape[1]))), tuple(values.T)))

    def encode(self, table: Table) -> Floats:
        """The counts themselves."""
        values = numbers(table, self.kind, missing=True)
        cells = np.nan_to_num(values)
        wrong = (cells < 0) | (cells != np.floor(cells)) | (cells > _LARGEST)
        if wrong.any():
            row, column = (int(i[0]) for i in np.nonzero(wrong))
            raise InvalidDataError(
                f"column {table.names[column]!r} holds {values[row, column]:g} in row {row}; "
                f"{self.kind} needs counts: whole numbers from 0 on."
            )
        return values

    def blocks(self, n_columns: int, n_items: int, incomplete: frozenset[int]) -> list[Block]:
        """One block of the complete columns, and one of each incomplete column."""
        from partita.kernels.gibbs.primitives import POISSON

        hyper = self.hyper(n_columns)
        tables = np.empty((0, n_items + 1))
        found = []
        for columns in column_groups(n_columns, incomplete):
            d = len(columns)
            block = Block(POISSON, tuple(columns), hyper[columns].ravel(), tables, d, 1 + 2 * d, 1)
            found.append(block)
        return found

    def discrete(self, n_columns: int) -> tuple[int, ...]:
        """All columns."""
        return tuple(range(n_columns))

    def log_base(self, values: Floats) -> Floats:
        """−Σ log x! of each row."""
        from scipy.special import gammaln

        return np.asarray(-gammaln(np.nan_to_num(values) + 1).sum(axis=1))

    def features(self, values: Floats) -> Floats:
        """Square roots, on which counts have about the same spread everywhere."""
        return super().features(np.sqrt(values))

    def predict_cell(
        self, same: Floats, values: Floats, column: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Negative binomial in each draw: mean, and a random value."""
        n, total = cell_sums(same, values)
        shape, rate = at_column(self.shape, column) + total, at_column(self.rate, column) + n
        return shape / rate, rng.poisson(rng.standard_gamma(shape) / rate).astype(np.float64)

    def simulate(self, values: Floats, n: int, rng: np.random.Generator) -> Floats:
        """λ from its posterior, then n rows."""
        d = values.shape[1]
        shape = spread(self.shape, d, "shape") + np.nansum(values, axis=0)
        rate = spread(self.rate, d, "rate") + np.isfinite(values).sum(axis=0)
        return rng.poisson(rng.standard_gamma(shape) / rate, (n, d)).astype(np.float64)

    def moments(
        self, values: Floats, labels: NDArray[np.int32], names: tuple[str, ...]
    ) -> dict[str, Moments]:
        """``rate`` (λ), shape (n_clusters, d)."""
        sizes, sums = group_sums(values, labels)
        shape = spread(self.shape, values.shape[1], "shape") + sums
        rate = spread(self.rate, values.shape[1], "rate") + sizes
        return {"rate": Moments(shape / rate, shape / rate**2, names)}
