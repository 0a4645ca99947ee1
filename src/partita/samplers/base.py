"""The interface of kernel families, and products of families over the columns of a table."""

from __future__ import annotations

import inspect
from abc import ABC
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from partita._archive import Registered, described, restored
from partita._result import Result
from partita._validate import plain_array, unexpected
from partita._wording import listed
from partita.errors import InvalidDataError, InvalidInputError, NotSupportedError
from partita.io.data_table import Table, as_table, numbers
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.labels import DataSource


def present_moments(values: Floats) -> tuple[Floats, Floats]:
    """Mean and sample variance of the cells that each column has."""
    return np.asarray(np.nanmean(values, axis=0)), np.asarray(np.nanvar(values, axis=0, ddof=1))


def standardised(values: Floats) -> Floats:
    """Columns with mean 0 and deviation 1; 0, the mean, where a cell is missing."""
    mean, scale = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
    return np.asarray(np.nan_to_num((values - mean) / np.where(scale > 0, scale, 1.0)))


def column_groups(n_columns: int, incomplete: Iterable[int]) -> list[list[int]]:
    """The complete columns together, then each incomplete one alone."""
    alone = sorted(incomplete)
    together = [c for c in range(n_columns) if c not in alone]
    return ([together] if together else []) + [[c] for c in alone]


_BLOCK = 50_000
"""Rows that are looked at together: copies of them stay small."""


def group_sums(
    values: Floats, labels: Int32s, centres: Floats | None = None
) -> tuple[Floats, Floats]:
    """Numbers of cells (k, d) and column sums (k, d) of the clusters; missing cells left out.

    With centres (k, d), sums of squared deviations from them.
    """
    from scipy import sparse

    shape = (int(labels.max()) + 1, values.shape[1])
    sizes, sums = np.zeros(shape), np.zeros(shape)
    for start in range(0, len(values), _BLOCK):
        rows, own = values[start : start + _BLOCK], labels[start : start + _BLOCK]
        if centres is not None:
            rows = (rows - centres[own]) ** 2
        members = sparse.csc_array(
            (np.ones(own.size), own, np.arange(own.size + 1)), shape=(shape[0], own.size)
        )
        missing = np.isnan(rows)
        if missing.any():
            sizes += np.asarray(members @ (~missing).astype(np.float64))
            rows = np.where(missing, 0.0, rows)
        else:
            sizes += np.bincount(own, minlength=shape[0])[:, None]
        sums += np.asarray(members @ rows)
    return sizes, sums


def group_moments(values: Floats, labels: Int32s) -> tuple[Floats, Floats, Floats]:
    """Numbers of cells, means and sums of squared deviations of the clusters, each (k, d)."""
    n, sums = group_sums(values, labels)
    average = sums / np.maximum(n, 1)
    return n, average, group_sums(values, labels, average)[1]


def cell_sums(same: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Number and sum of the present cells of a column in each draw's cluster."""
    present = np.isfinite(values)
    return same @ present.astype(np.float64), same @ np.where(present, values, 0.0)


PerColumn = float | tuple[float, ...]
"""A hyperparameter: one number for all columns, or one per column."""


def per_column(value: Any, name: str, *, above: float | None = None) -> PerColumn:
    """One finite number, or a tuple of one per column; above a limit where there is one."""
    try:
        array = np.asarray(plain_array(value, name), np.float64)
    except Exception:  # whatever an object of a user raises
        raise unexpected(value, name, "a number or one per column") from None
    if array.ndim > 1 or array.size == 0:
        raise InvalidInputError(
            f"{name} has shape {array.shape}; expected a number or one per column.", argument=name
        )
    if not np.isfinite(array).all() or (above is not None and not (array > above).all()):
        limit = "finite" if above is None else f"finite and above {above:g}"
        raise unexpected(value, name, f"{limit} numbers")
    return float(array) if array.ndim == 0 else tuple(array.tolist())


def spread(value: PerColumn, n_columns: int, name: str) -> Floats:
    """The hyperparameter for each of n columns."""
    try:
        array = np.asarray(plain_array(value, name), np.float64)
    except Exception:  # whatever an object of a user raises
        array = np.full(1, np.nan)
    if array.ndim > 1 or np.isnan(array).any():  # which only fields of users' kernels can be
        raise unexpected(value, name, "a number, or one per column")
    if array.ndim == 1 and array.size != n_columns:
        raise InvalidInputError(
            f"{name} has {array.size} entries for {n_columns} columns of data; expected one number "
            "for all columns or one per column.",
            argument=name,
        )
    return np.broadcast_to(array, (n_columns,)).copy()


def at_column(value: PerColumn, column: int) -> float:
    """The hyperparameter of one column."""
    return value[column] if isinstance(value, tuple) else value


@dataclass(frozen=True, repr=False)
class Moments(Result):
    """Posterior mean and variance of one parameter in each cluster.

    Attributes
    ----------
    mean, variance : ndarray, shape (n_clusters, ...)
        The variance is infinite where the posterior has none.
    columns : tuple of str
        The data's columns, along the second axis.
    """

    mean: Floats
    variance: Floats
    columns: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class ClusterParameters(Result):
    """Posterior moments of the clusters' parameters, given a partition.

    Attributes
    ----------
    sizes : ndarray of int, shape (n_clusters,)
        In order of first appearance, as all rows.
    parameters : mapping of str to Moments
        By name: "mean" and "variance" or "covariance" of normal columns, "probability" of
        Bernoulli and "probability of <column>" of categorical ones, "rate" of counts. Each has
        ``mean``, ``variance`` and ``columns``.
    """

    sizes: Ints
    parameters: Mapping[str, Moments]

    def __getitem__(self, name: str) -> Moments:
        return self.parameters[name]


def mixed_moments(found: Sequence[Mapping[str, Moments]]) -> Mapping[str, Moments]:
    """Moments of a mixture of equally probable posteriors: the laws of total mean and variance."""
    if len(found) == 1:
        return found[0]
    mixed = {}
    for name, first in found[0].items():
        means = np.stack([each[name].mean for each in found])
        variances = np.stack([each[name].variance for each in found])
        variance = variances.mean(axis=0) + means.var(axis=0)
        mixed[name] = Moments(means.mean(axis=0), variance, first.columns)
    return mixed


def merge_moments(parts: list[dict[str, Moments]]) -> Mapping[str, Moments]:
    """Parameters of several kernels under one name each: side by side where shapes allow."""
    merged: dict[str, Moments] = {}
    for part in parts:
        for name, found in part.items():
            before = merged.get(name)
            if before is None:
                merged[name] = found
            elif found.mean.ndim == 2 == before.mean.ndim:
                merged[name] = Moments(
                    np.concatenate([before.mean, found.mean], axis=1),
                    np.concatenate([before.variance, found.variance], axis=1),
                    before.columns + found.columns,
                )
            else:
                merged[f"{name} of {', '.join(found.columns)}"] = found
    return merged


Self = TypeVar("Self", bound="Kernel")

FUNCTIONS = {
    "add": "x, n, block, j",
    "remove": "x, n, block, j",
    "refresh": "n, block, j",
    "log_predictive": "x, k, block, out",
    "log_marginal": "n, block, j",
}
"""What a kernel is, to the loops, and what each takes; see ``kernels/gibbs/family.py``."""


@dataclass(frozen=True)
class Block:
    """Columns that a compiled family handles together; see ``kernels/gibbs/primitives.py``.

    ``columns`` are positions among the kernel's columns; ``tables`` has one row per table and
    one column per cluster size 0 … N. ``learned`` are the columns, by their position in the
    block, whose rate has a gamma prior, with its shape and rate.
    """

    family: int
    columns: tuple[int, ...]
    hyper: Floats
    tables: Floats
    n_stats: int
    n_cache: int
    n_work: int
    functions: tuple[Callable[..., Any], ...] = ()
    learned: tuple[tuple[int, float, float], ...] = ()


class Kernel(Registered, ABC):
    """The density of a cluster's items, its parameters integrated out; subclass it for your own.

    A kernel is a value: hyperparameters only, best a frozen dataclass. A subclass names five
    functions that Numba can compile, with signatures that all kernels share:

    - ``add(x, n, block, j)``: take the cells ``x`` of an item into the statistics of cluster
      ``j``, which has ``n`` items with them.
    - ``remove(x, n, block, j)``: take them out again, leaving ``n ≥ 1`` items.
    - ``refresh(n, block, j)``: fill the cache of cluster ``j`` from its statistics; also called
      for ``n = 0``, where statistics are zero.
    - ``log_predictive(x, k, block, out)``: add the log density of ``x`` given the items of
      cluster ``j`` to ``out[j]``, for ``j`` from 0 to ``k − 1``.
    - ``log_marginal(n, block, j)``: return the log density of all items of cluster ``j``.

    ``block`` has ``hyper``, a row of hyperparameters; ``stats`` and ``cache``, one row per number
    and one column per cluster; ``tables`` and ``work``. Choose a kernel of your own where none of
    the built-in ones describes a cluster; :func:`partita.testing.check_kernel` checks it.

    Attributes
    ----------
    n_stats, n_cache : int
        Rows of statistics and cache per column of the data.
    joint : bool
        False: columns are independent, functions see one column at a time (``x[0]``), and missing
        cells are integrated out. True: they see all columns at once.

    Notes
    -----
    The four calls that a look at one item takes (leave, refresh, predict, join) cost about a tenth
    of a microsecond per block beside the functions' own arithmetic.

    References
    ----------
    Neal, R. M. (2000), Markov chain sampling methods for Dirichlet process mixture models. Journal
    of Computational and Graphical Statistics 9: algorithm 3, for which these functions are made.

    Examples
    --------
    See the page "Add your own".
    """

    n_stats: ClassVar[int] = 1
    n_cache: ClassVar[int] = 0
    joint: ClassVar[bool] = False
    learns: ClassVar[str] = "rate"
    """Name of the parameter of a column that is learned where it has a prior."""

    def bind(self: Self, table: Table) -> Self:
        """This kernel, completed for these columns and checked against them."""
        return self

    def encode(self, table: Table) -> Floats:
        """The columns as numbers for the compiled family, NaN where missing."""
        return numbers(table, self.kind, missing=not self.joint)

    def check_encoded(self, values: Floats) -> None:
        """Refuse encoded rows, read from a file, that :meth:`encode` cannot have made."""
        if np.isinf(values).any() or (self.joint and np.isnan(values).any()):
            raise InvalidDataError(f"values that {self.kind} cannot have encoded")

    def hyper(self, n_columns: int) -> Floats:
        """Hyperparameters of each column, shape (n_columns, …).

        By default the fields of a dataclass, in their order, each a number or one per column.
        Joint kernels see them as one row.
        """
        if not is_dataclass(self):
            raise InvalidInputError(
                f"{self.kind} is not a dataclass; define hyper(n_columns), which returns the "
                "hyperparameters of each column, shape (n_columns, …).",
                argument="kernel",
            )
        rows = [spread(getattr(self, f.name), n_columns, f.name) for f in fields(self)]
        return np.stack(rows, 1) if rows else np.zeros((n_columns, 0))

    def blocks(self, n_columns: int, n_items: int, incomplete: frozenset[int]) -> list[Block]:
        """The compiled family's constants for up to n_items items in a cluster.

        Columns with missing cells are ``incomplete`` and must stand in a block of their own.
        """
        from partita.kernels.gibbs.primitives import CODE

        functions = tuple(_function(type(self), name) for name in FUNCTIONS)
        hyper = np.asarray(self.hyper(n_columns), np.float64)
        if hyper.shape[:1] != (n_columns,):
            raise InvalidInputError(
                f"hyper({n_columns}) of {self.kind} has shape {hyper.shape}; expected "
                f"({n_columns}, …), a row of hyperparameters for each column.",
                argument="kernel",
            )
        hyper = hyper.reshape(n_columns, -1)
        tables = np.empty((0, n_items + 1))
        groups = [tuple(range(n_columns))] if self.joint else [(c,) for c in range(n_columns)]
        return [
            Block(
                CODE.user,
                columns,
                np.ascontiguousarray(hyper[list(columns)].ravel()),
                tables,
                self.n_stats * len(columns),
                self.n_cache * len(columns),
                1,
                functions,
            )
            for columns in groups
        ]

    def learned(self, n_columns: int) -> tuple[int, ...]:
        """Columns whose rate has a prior and is learned; none here."""
        return ()

    def learned_names(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """Names in a trace of what is learned, such as "rate of height"."""
        return tuple(f"{self.learns} of {columns[c]}" for c in self.learned(len(columns)))

    def at(self: Self, rates: Floats) -> Self:
        """This kernel with these numbers as its learned rates, one per learned column."""
        return self

    def given(self: Self, values: Floats, labels: Int32s) -> tuple[Self, ...]:
        """Kernels with fixed rates, equally probable given the partition; itself if all are."""
        return (self,)

    def moments(self, values: Floats, labels: Int32s, names: tuple[str, ...]) -> dict[str, Moments]:
        """Posterior moments of each cluster's parameters, by the parameter's name; none here."""
        return {}

    def moments_given(
        self, values: Floats, labels: Int32s, names: tuple[str, ...]
    ) -> list[dict[str, Moments]]:
        """The moments under each of the kernels that :meth:`given` returns."""
        return [each.moments(values, labels, names) for each in self.given(values, labels)]

    def predict_cell(
        self, same: Floats, values: Floats, column: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Predictive distribution of a missing cell in each draw.

        ``same`` (n_draws, n_items) is 1 for the items that share its cluster, ``values`` the
        column. Returns the predictive mean, shape (n_draws,), or the probability of each level,
        shape (n_draws, n_levels); and a random value per draw.
        """
        raise NotSupportedError(
            f"{self.kind} does not predict single cells; define predict_cell to impute them."
        )

    def hellinger(self, values: Floats, labels: Int32s, rng: np.random.Generator) -> Floats:
        """Hellinger distances between the clusters' densities, parameters drawn; shape (k, k)."""
        raise NotSupportedError(
            f"{self.kind} has no Hellinger distance between densities; the normal kernels have."
        )

    def simulate(self, values: Floats, n: int, rng: np.random.Generator) -> Floats:
        """n new rows of the cluster of these rows, (n, n_columns): parameters drawn first."""
        raise NotSupportedError(
            f"{self.kind} does not simulate; define simulate to replicate data under it."
        )

    def log_base(self, values: Floats) -> Floats:
        """The part of the log density that is the same under every partition."""
        return np.zeros(values.shape[0])

    def categories(self, n_columns: int) -> tuple[int, ...]:
        """Columns that hold codes of levels, for figures; none by default."""
        return ()

    def discrete(self, n_columns: int) -> tuple[int, ...]:
        """Columns whose values have probabilities, not densities; none by default."""
        return ()

    def features(self, values: Floats) -> Floats:
        """Coordinates in which similar items are close, for starting partitions."""
        return standardised(values)


def _function(cls: type[Kernel], name: str) -> Callable[..., Any]:
    """One of a kernel's five functions, as it stands on the class."""
    found = inspect.getattr_static(cls, name, None)
    function = found.__func__ if isinstance(found, staticmethod) else found
    if function is None or not callable(function):
        raise InvalidInputError(
            f"the kernel {cls.__name__} has no function {name!r}; a kernel needs "
            f"{', '.join(FUNCTIONS)}.",
            argument="kernel",
        )
    return function


# ------------------------------------------------------------ products of families over columns


_DESCRIPTION = ("kind", "config", "module")

Part = tuple[Kernel, tuple[int | str, ...]]


@dataclass(frozen=True, init=False)
class Product(Kernel):
    """A product of kernels, each over its own columns.

    Given the cluster, blocks of columns are independent:
    p(x | θ) = Π_b p_b(x_b | θ_b). Choose it for tables that mix measurements,
    counts and categories.

    Parameters
    ----------
    *parts : (kernel, columns)
        Columns by name or by position; each column of the data once.

    Notes
    -----
    An item costs the sum of what it costs under the parts.

    Examples
    --------
    >>> import partita as pt
    >>> size = pt.NormalInverseGamma(mean=170, precision=0.1, shape=2, rate=50)
    >>> pt.Product((size, ["height"]), (pt.BetaBernoulli(), ["smoker", "married"]))
    Product((NormalInverseGamma(mean=170.0, precision=0.1, shape=2.0, rate=50.0), ('height',)),
            (BetaBernoulli(a=1.0, b=1.0), ('smoker', 'married')))
    """

    parts: tuple[Part, ...]

    def __init__(self, *parts: tuple[Kernel, int | str | Iterable[int | str]]) -> None:
        object.__setattr__(self, "parts", tuple(_clean_part(part) for part in parts))
        if not parts:
            raise InvalidInputError(
                "a Product needs at least one (kernel, columns) pair.", argument="parts"
            )

    def __repr__(self) -> str:
        return f"Product({', '.join(repr(part) for part in self.parts)})"

    @classmethod
    def empirical(cls, data: DataSource) -> Product:
        """Each column under the kernel of its type, with that kernel's empirical rule."""
        from partita.samplers.sample import kernel_of_types

        table = as_table(data)
        kernel, _ = kernel_of_types(table, "empirical")
        return kernel if isinstance(kernel, Product) else cls((kernel, range(table.n_columns)))

    def bind(self, table: Table) -> Product:
        """With columns as positions, and each kernel bound to its own."""
        positions = [_positions(columns, table) for _, columns in self.parts]
        used = [p for part in positions for p in part]
        twice = sorted({table.names[p] for p in used if used.count(p) > 1})
        left = [name for p, name in enumerate(table.names) if p not in used]
        if twice or left:
            what = f"{listed(twice)} appears twice" if twice else f"{listed(left)} is in no block"
            raise InvalidInputError(
                f"the blocks of a Product must hold each column of the data once, but {what}. "
                "Select the columns to use before sampling.",
                argument="parts",
            )
        bound = [
            (kernel.bind(table.select(part)), tuple(part))
            for (kernel, _), part in zip(self.parts, positions, strict=True)
        ]
        return Product(*bound)

    def _bound(self) -> list[tuple[Kernel, list[int]]]:
        return [(kernel, [int(c) for c in columns]) for kernel, columns in self.parts]

    def check_encoded(self, values: Floats) -> None:
        """Refuse encoded rows that a part cannot have made."""
        used = sorted(c for _, columns in self._bound() for c in columns)
        if used != list(range(values.shape[1])):
            raise InvalidInputError("a Product whose blocks do not hold each column once")
        for kernel, columns in self._bound():
            kernel.check_encoded(values[:, columns])

    def encode(self, table: Table) -> Floats:
        """Each block as its kernel encodes it, at its columns."""
        encoded = np.empty((table.n_rows, table.n_columns))
        for kernel, columns in self._bound():
            encoded[:, columns] = kernel.encode(table.select(columns))
        return encoded

    def blocks(self, n_columns: int, n_items: int, incomplete: frozenset[int]) -> list[Block]:
        """All blocks of the parts."""
        found = []
        for kernel, columns in self._bound():
            theirs = frozenset(i for i, column in enumerate(columns) if column in incomplete)
            found += [
                replace(block, columns=tuple(columns[c] for c in block.columns))
                for block in kernel.blocks(len(columns), n_items, theirs)
            ]
        return found

    def learned(self, n_columns: int) -> tuple[int, ...]:
        """The learned columns of the parts, in the order of the columns."""
        found = [[columns[c] for c in k.learned(len(columns))] for k, columns in self._bound()]
        return tuple(sorted(c for part in found for c in part))

    def learned_names(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """Each as its part calls it."""
        return tuple(f"{self.part_of(c)[0].learns} of {columns[c]}" for c in self.learned(0))

    def at(self, rates: Floats) -> Product:
        """Each part with its learned rates."""
        order = {c: i for i, c in enumerate(self.learned(0))}
        parts = []
        for kernel, columns in self._bound():
            mine = [order[columns[c]] for c in kernel.learned(len(columns))]
            parts.append((kernel.at(rates[mine]), columns))
        return Product(*parts) if order else self

    def given(self, values: Floats, labels: Int32s) -> tuple[Product, ...]:
        """The parts' kernels side by side, each in an order of its own: parts are independent."""
        found = [list(k.given(values[:, c], labels)) for k, c in self._bound()]
        n = max(map(len, found))
        if n == 1:
            return (self,)
        rng = np.random.default_rng(1)
        for part in found:
            part[:] = [part[i] for i in rng.permutation(n)] if len(part) > 1 else part * n
        columns = [c for _, c in self._bound()]
        return tuple(
            Product(*zip(kernels, columns, strict=True)) for kernels in zip(*found, strict=True)
        )

    def log_base(self, values: Floats) -> Floats:
        """The sum over the parts."""
        return np.asarray(sum(k.log_base(values[:, c]) for k, c in self._bound()))

    def categories(self, n_columns: int) -> tuple[int, ...]:
        """The parts' columns of levels."""
        return tuple(sorted(c[j] for kernel, c in self._bound() for j in kernel.categories(len(c))))

    def discrete(self, n_columns: int) -> tuple[int, ...]:
        """The parts' columns of probabilities."""
        return tuple(
            sorted(cols[c] for part, cols in self._bound() for c in part.discrete(len(cols)))
        )

    def features(self, values: Floats) -> Floats:
        """The parts' coordinates side by side."""
        return np.concatenate([k.features(values[:, c]) for k, c in self._bound()], axis=1)

    def predict_cell(
        self, same: Floats, values: Floats, column: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """The prediction of the part that has that column."""
        kernel, columns = self.part_of(column)
        return kernel.predict_cell(same, values, columns.index(column), rng)

    def part_of(self, column: int) -> tuple[Kernel, list[int]]:
        """The kernel of a column, and the columns it has."""
        return next(part for part in self._bound() if column in part[1])

    def simulate(self, values: Floats, n: int, rng: np.random.Generator) -> Floats:
        """The parts' rows side by side."""
        rows = np.empty((n, values.shape[1]))
        for kernel, columns in self._bound():
            rows[:, columns] = kernel.simulate(values[:, columns], n, rng)
        return rows

    def moments(self, values: Floats, labels: Int32s, names: tuple[str, ...]) -> dict[str, Moments]:
        """The parts' parameters; those of one name and shape side by side."""
        return dict(
            merge_moments(
                [
                    kernel.moments(values[:, columns], labels, tuple(names[c] for c in columns))
                    for kernel, columns in self._bound()
                ]
            )
        )

    def config(self) -> dict[str, Any]:
        """The parts, each with its kernel's kind and hyperparameters."""
        return {
            "parts": [
                {**dict(zip(_DESCRIPTION, described(kernel), strict=False)), "columns": columns}
                for kernel, columns in self.parts
            ]
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Product:
        """The product again, its kernels found by their kind."""
        return cls(
            *(
                (restored(Kernel, *(part.get(name) for name in _DESCRIPTION)), part["columns"])
                for part in config["parts"]
            )
        )


def _clean_part(part: Any) -> Part:
    if not (isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], Kernel)):
        raise InvalidInputError(
            f"a Product takes (kernel, columns) pairs, got {part!r}.", argument="parts"
        )
    kernel, columns = part
    if isinstance(kernel, Product):
        raise InvalidInputError(
            "a Product inside a Product; list its parts directly.", argument="parts"
        )
    if isinstance(columns, (str, int, np.integer)):
        columns = (columns,)
    cleaned = tuple(c if isinstance(c, str) else int(c) for c in columns)
    if not cleaned:
        raise InvalidInputError(
            f"no columns for {kernel!r} in a Product; expected one or more.", argument="parts"
        )
    return kernel, cleaned


def _positions(columns: tuple[int | str, ...], table: Table) -> list[int]:
    known = {name: p for p, name in enumerate(table.names)}
    found = []
    for column in columns:
        position = known.get(column) if isinstance(column, str) else column
        if position is None or not 0 <= position < table.n_columns:
            raise InvalidInputError(
                f"no column {column!r} in the data; the columns are {listed(table.names, 12)}.",
                argument="parts",
            )
        found.append(position)
    return found
