"""Yes–no data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from partita.errors import InvalidDataError
from partita.kernels.arrays import Floats
from partita.partitions.types import DataSource
from partita.samplers.categorical import level_blocks
from partita.samplers.cells import cell_sums, group_sums
from partita.samplers.checks import PerColumn, at_column, per_column, spread
from partita.samplers.kernel import Block, Kernel
from partita.samplers.moments import Moments
from partita.samplers.table import Table, as_table, numbers


@dataclass(frozen=True)
class BetaBernoulli(Kernel):
    """Yes–no data with unknown probabilities, independent columns.

    In each cluster and column, x ~ Bernoulli(p) with p ~ Beta(a, b). Choose it
    for presence–absence tables and answers of two kinds.

    Parameters
    ----------
    a, b : float or sequence of float
        Positive; prior counts of ones and of zeros, for all columns or one per column.

    Notes
    -----
    One item costs O(K·d) in a sweep over K clusters and d columns.

    References
    ----------
    Gelman, A. et al. (2013), Bayesian Data Analysis, third edition, section 2.4.

    Examples
    --------
    >>> import partita as pt
    >>> pt.BetaBernoulli()
    BetaBernoulli(a=1.0, b=1.0)
    """

    a: PerColumn = 1.0
    b: PerColumn = 1.0

    kind: ClassVar[str] = "BetaBernoulli"

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            object.__setattr__(self, name, per_column(getattr(self, name), name, above=0.0))

    @classmethod
    def empirical(cls, data: DataSource) -> BetaBernoulli:
        """Uniform probabilities, a = b = 1, whatever the data."""
        kernel = cls()
        kernel.encode(as_table(data))
        return kernel

    def bind(self, table: Table) -> BetaBernoulli:
        """Checked against these columns; hyperparameters stay as given."""
        self.hyper(table.n_columns)
        return self

    def check_encoded(self, values: Floats) -> None:
        """Refuse encoded rows that are not zeros and ones."""
        self.encode(Table(tuple(map(str, range(values.shape[1]))), tuple(values.T)))

    def encode(self, table: Table) -> Floats:
        """Zeros and ones."""
        values = numbers(table, self.kind, missing=True)
        wrong = (values != 0) & (values != 1) & ~np.isnan(values)
        if wrong.any():
            row, column = (int(i[0]) for i in np.nonzero(wrong))
            raise InvalidDataError(
                f"column {table.names[column]!r} holds {values[row, column]:g} in row {row}; "
                f"{self.kind} needs 0 and 1 or booleans."
            )
        return values

    def blocks(self, n_columns: int, n_items: int, incomplete: frozenset[int]) -> list[Block]:
        """Columns with two levels, the incomplete ones in blocks of their own."""
        pseudo = np.stack([spread(self.b, n_columns, "b"), spread(self.a, n_columns, "a")], 1)
        return level_blocks(list(pseudo), n_items, incomplete)

    def predict_cell(
        self, same: Floats, values: Floats, column: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Probability of a one in each draw, and a random value."""
        n, ones = cell_sums(same, values)
        a = at_column(self.a, column) + ones
        p = a / (a + at_column(self.b, column) + n - ones)
        return p, (rng.random(p.size) < p).astype(np.float64)

    def simulate(self, values: Floats, n: int, rng: np.random.Generator) -> Floats:
        """Probabilities from their posterior, then n rows."""
        d = values.shape[1]
        ones, count = np.nansum(values, axis=0), np.isfinite(values).sum(axis=0)
        p = rng.beta(spread(self.a, d, "a") + ones, spread(self.b, d, "b") + count - ones)
        return np.asarray(rng.random((n, d)) < p, np.float64)

    def moments(
        self, values: Floats, labels: NDArray[np.int32], names: tuple[str, ...]
    ) -> dict[str, Moments]:
        """``probability`` of a one, shape (n_clusters, d)."""
        sizes, ones = group_sums(values, labels)
        a = spread(self.a, values.shape[1], "a") + ones
        total = spread(self.b, values.shape[1], "b") + a + sizes - ones
        mean = a / total
        return {"probability": Moments(mean, mean * (1 - mean) / (total + 1), names)}
