"""Kernels of discrete columns: categories, yes–no data and counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from partita._validate import positive
from partita._wording import listed
from partita.errors import InvalidDataError, InvalidInputError
from partita.io.data_table import Table, as_table, numbers
from partita.kernels.arrays import Array, Floats, Int32s
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


@dataclass(frozen=True)
class DirichletCategorical(Kernel):
    """Categories with unknown probabilities, independent columns.

    In each cluster and column with L levels, x ~ Categorical(p) with
    p ~ Dirichlet(weight, …, weight). Choose it for text and coded categories.

    Parameters
    ----------
    weight : float
        Positive; prior count of each level.
    levels : sequence of sequences, optional
        The levels of each column. Taken from the data when omitted; give them where a level
        is possible and not observed.

    Notes
    -----
    One item costs O(K·d) in a sweep over K clusters and d columns, whatever the
    number of levels; a cluster's memory grows with the levels.

    References
    ----------
    Gelman, A. et al. (2013), Bayesian Data Analysis, third edition, section 3.4.

    Examples
    --------
    >>> import partita as pt
    >>> pt.DirichletCategorical(weight=0.5)
    DirichletCategorical(weight=0.5, levels=None)
    """

    weight: float = 1.0
    levels: tuple[tuple[Any, ...], ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", positive(self.weight, "weight"))
        if self.levels is not None:
            object.__setattr__(self, "levels", _clean_levels(self.levels))

    @classmethod
    def empirical(cls, data: DataSource) -> DirichletCategorical:
        """Uniform probabilities, weight 1, over the levels of the data."""
        return cls().bind(as_table(data))

    def bind(self, table: Table) -> DirichletCategorical:
        """With the levels of these columns, sorted."""
        if self.levels is None:
            found = tuple(
                tuple(sorted({v for v in _cells(column) if v is not None}, key=_order))
                for column in table.columns
            )
            return DirichletCategorical(self.weight, found)
        if len(self.levels) != table.n_columns:
            raise InvalidInputError(
                f"levels are given for {len(self.levels)} columns, "
                f"the data have {table.n_columns}.",
                argument="levels",
            )
        return self

    def check_encoded(self, values: Floats) -> None:
        """Refuse encoded rows that are not codes of levels."""
        sizes = np.array([len(levels) for levels in self.levels or ()])
        cells = np.nan_to_num(values)
        whole = cells == np.floor(cells)
        if sizes.size != values.shape[1] or not (whole & (cells >= 0) & (cells < sizes)).all():
            raise InvalidDataError(f"values that {self.kind} cannot have encoded")

    def encode(self, table: Table) -> Floats:
        """Numbers of the levels."""
        encoded = np.empty((table.n_rows, table.n_columns))
        for j, column in enumerate(map(_cells, table.columns)):
            number: dict[Any, float] = {v: float(n) for n, v in enumerate((self.levels or ())[j])}
            unknown = sorted({v for v in column if v not in number and v is not None}, key=_order)
            if unknown:
                raise InvalidDataError(
                    f"column {table.names[j]!r} holds {listed([repr(v) for v in unknown])}, which "
                    f"is none of its levels ({listed([repr(v) for v in number])}). Give all "
                    "levels with levels=..."
                )
            encoded[:, j] = [number.get(value, np.nan) for value in column]
        return encoded

    def blocks(self, n_columns: int, n_items: int, incomplete: frozenset[int]) -> list[Block]:
        """One block of the complete columns, and one of each incomplete column."""
        pseudo = [np.full(len(v), self.weight) for v in self.levels or ()]
        return level_blocks(pseudo, n_items, incomplete)

    def predict_cell(
        self, same: Floats, values: Floats, column: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Probabilities of the levels in each draw, and a random level."""
        hot = values[:, None] == np.arange(len((self.levels or ())[column]))
        weights = same @ hot + self.weight
        p = weights / weights.sum(axis=1, keepdims=True)
        below = p.cumsum(axis=1) < rng.random((len(p), 1))
        return p, below[:, :-1].sum(axis=1).astype(np.float64)

    def simulate(self, values: Floats, n: int, rng: np.random.Generator) -> Floats:
        """Probabilities from their posterior, then n rows."""
        rows = np.empty((n, values.shape[1]))
        for j, levels in enumerate(self.levels or ()):
            counts = (values[:, j, None] == np.arange(len(levels))).sum(axis=0)
            p = rng.dirichlet(counts + self.weight)
            rows[:, j] = rng.choice(len(levels), n, p=p)
        return rows

    def moments(self, values: Floats, labels: Int32s, names: tuple[str, ...]) -> dict[str, Moments]:
        """``probability of <column>`` of each level, shape (n_clusters, n_levels)."""
        found = {}
        for j, levels in enumerate(self.levels or ()):
            hot = values[:, j, None] == np.arange(len(levels))
            _, counts = group_sums(hot.astype(np.float64), labels)
            weights = counts + self.weight
            total = weights.sum(axis=1, keepdims=True)
            mean = weights / total
            names_of_levels = tuple(str(level) for level in levels)
            found[f"probability of {names[j]}"] = Moments(
                mean, mean * (1 - mean) / (total + 1), names_of_levels
            )
        return found

    def discrete(self, n_columns: int) -> tuple[int, ...]:
        """All columns."""
        return tuple(range(n_columns))

    def categories(self, n_columns: int) -> tuple[int, ...]:
        """Every column."""
        return tuple(range(n_columns))

    def features(self, values: Floats) -> Floats:
        """One 0–1 coordinate per level."""
        parts = [
            values[:, j, None] == np.arange(len(levels))
            for j, levels in enumerate(self.levels or ())
        ]
        return np.concatenate(parts, axis=1).astype(np.float64)


def _cells(column: Array) -> list[Any]:
    """Values as text, booleans, or numbers, whole ones as integers; None where missing."""
    return [_cell(value) for value in column.tolist()]


def _cell(value: Any) -> Any:
    if value is None or value != value:
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, (str, bool, int, float)) else str(value)


def _order(value: Any) -> tuple[str, Any]:
    return ("", value) if isinstance(value, (int, float)) else ("text", str(value))


def _clean_levels(levels: Sequence[Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
    plain = isinstance(levels, (list, tuple)) or (
        isinstance(levels, np.ndarray) and levels.ndim > 0
    )
    if not plain or any(isinstance(v, str) or np.ndim(v) != 1 for v in levels):
        raise InvalidInputError(
            "levels must be one sequence of levels per column.", argument="levels"
        )
    cleaned = tuple(tuple(_cell(value) for value in column) for column in levels)
    for column in cleaned:
        if not column or len(set(column)) != len(column):
            raise InvalidInputError(
                f"levels {column!r}: each column needs one level or more, each named once.",
                argument="levels",
            )
    return cleaned


def level_blocks(pseudo: list[Floats], n_items: int, incomplete: frozenset[int]) -> list[Block]:
    """Columns with the given pseudo-counts of their levels, the incomplete ones each alone."""
    smallest, largest = min(w.min() for w in pseudo), max(w.max() for w in pseudo)
    if not (smallest > 1e-30 and largest < 1e30):  # eight are multiplied at a time
        raise InvalidInputError(
            f"prior counts from {smallest:g} to {largest:g} are out of proportion to any data; "
            "expected numbers between 1e-30 and 1e30."
        )
    return [
        _level_block(columns, [pseudo[c] for c in columns], n_items)
        for columns in column_groups(len(pseudo), incomplete)
    ]


def _level_block(columns: list[int], pseudo: list[Floats], n_items: int) -> Block:
    from scipy.special import gammaln

    from partita.kernels.gibbs.primitives import CODE

    n = np.arange(n_items + 1.0)
    totals = np.array([weights.sum() for weights in pseudo])[:, None]
    tables = [-np.log(totals + n).sum(axis=0), (gammaln(totals) - gammaln(totals + n)).sum(axis=0)]
    starts = np.concatenate([[0], np.cumsum([weights.size for weights in pseudo])])
    hyper = np.concatenate([starts, *pseudo]).astype(np.float64)
    return Block(CODE.categorical, tuple(columns), hyper, np.stack(tables), int(starts[-1]), 1, 1)


class _WholeNumbers(Kernel):
    """What kernels of whole numbers share; hyperparameters are positive, by column or for all."""

    positive: ClassVar[tuple[str, str]]
    """Names of the hyperparameters."""
    largest: ClassVar[float] = 2.0**53
    """Beyond this, neighbouring whole numbers are no longer told apart."""
    needs: ClassVar[str] = "counts: whole numbers from 0 on"

    def __post_init__(self) -> None:
        for name in self.positive:
            object.__setattr__(self, name, per_column(getattr(self, name), name, above=0.0))

    def check_encoded(self, values: Floats) -> None:
        """Refuse encoded rows that have other numbers."""
        self.encode(Table(tuple(map(str, range(values.shape[1]))), tuple(values.T)))

    def encode(self, table: Table) -> Floats:
        """The numbers themselves."""
        values = numbers(table, self.kind, missing=True)
        cells = np.nan_to_num(values)
        wrong = (cells < 0) | (cells != np.floor(cells)) | (cells > self.largest)
        if wrong.any():
            row, column = (int(i[0]) for i in np.nonzero(wrong))
            raise InvalidDataError(
                f"column {table.names[column]!r} holds {values[row, column]:g} in row {row}; "
                f"{self.kind} needs {self.needs}."
            )
        return values

    def discrete(self, n_columns: int) -> tuple[int, ...]:
        """All columns."""
        return tuple(range(n_columns))


@dataclass(frozen=True)
class BetaBernoulli(_WholeNumbers):
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

    positive: ClassVar[tuple[str, str]] = ("a", "b")
    largest: ClassVar[float] = 1.0
    needs: ClassVar[str] = "0 and 1 or booleans"

    a: PerColumn = 1.0
    b: PerColumn = 1.0

    @classmethod
    def empirical(cls, data: DataSource) -> BetaBernoulli:
        """Uniform probabilities, a = b = 1, whatever the data."""
        kernel = cls()
        kernel.encode(as_table(data))
        return kernel

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

    def moments(self, values: Floats, labels: Int32s, names: tuple[str, ...]) -> dict[str, Moments]:
        """``probability`` of a one, shape (n_clusters, d)."""
        sizes, ones = group_sums(values, labels)
        a = spread(self.a, values.shape[1], "a") + ones
        total = spread(self.b, values.shape[1], "b") + a + sizes - ones
        mean = a / total
        return {"probability": Moments(mean, mean * (1 - mean) / (total + 1), names)}


# ------------------------------------------------------------------ counts


@dataclass(frozen=True)
class GammaPoisson(_WholeNumbers):
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

    positive: ClassVar[tuple[str, str]] = ("shape", "rate")

    shape: PerColumn
    rate: PerColumn

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

    def blocks(self, n_columns: int, n_items: int, incomplete: frozenset[int]) -> list[Block]:
        """One block of the complete columns, and one of each incomplete column."""
        from partita.kernels.gibbs.primitives import CODE

        hyper = self.hyper(n_columns)
        tables = np.empty((0, n_items + 1))
        found = []
        for columns in column_groups(n_columns, incomplete):
            own, d = hyper[columns].ravel(), len(columns)
            found.append(Block(CODE.poisson, tuple(columns), own, tables, d, 1 + 2 * d, 1))
        return found

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

    def moments(self, values: Floats, labels: Int32s, names: tuple[str, ...]) -> dict[str, Moments]:
        """``rate`` (λ), shape (n_clusters, d)."""
        sizes, sums = group_sums(values, labels)
        shape = spread(self.shape, values.shape[1], "shape") + sums
        rate = spread(self.rate, values.shape[1], "rate") + sizes
        return {"rate": Moments(shape / rate, shape / rate**2, names)}
