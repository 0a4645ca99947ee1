"""What a kernel family supplies; the sampler's loops are written once, for all of them."""

from __future__ import annotations

import inspect
from abc import ABC
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from partita.errors import InvalidDataError, InvalidInputError, NotSupportedError
from partita.samplers.checks import spread
from partita.samplers.registered import Registered
from partita.samplers.table import Table, numbers

Floats = NDArray[np.float64]

Self = TypeVar("Self", bound="Kernel")

FUNCTIONS = ("add", "remove", "refresh", "log_predictive", "log_marginal")
"""What a kernel is, to the loops; see ``kernels/gibbs/calls.py``."""

_USER = 4
"""Code of the family whose functions are called by address, as in ``kernels/gibbs/family.py``."""


@dataclass(frozen=True)
class Block:
    """Columns that a compiled family handles together; see ``kernels/gibbs/types.py``.

    ``columns`` are positions among the kernel's columns; ``tables`` has one row per table and
    one column per cluster size 0 … N.
    """

    family: int
    columns: tuple[int, ...]
    hyper: Floats
    tables: Floats
    n_stats: int
    n_cache: int
    n_work: int
    functions: tuple[Callable[..., Any], ...] = ()


@dataclass(frozen=True)
class Moments:
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
    A call costs about 20 ns per item and block beside the function's own arithmetic.

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

    def bind(self: Self, table: Table) -> Self:  # noqa: ARG002
        """This kernel with everything fixed that these columns leave open; checks them."""
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
                f"{self.kind} is no dataclass; define hyper(n_columns), which returns the "
                "hyperparameters of each column, shape (n_columns, …)."
            )
        rows = [spread(getattr(self, f.name), n_columns, f.name) for f in fields(self)]
        return np.stack(rows, 1) if rows else np.zeros((n_columns, 0))

    def blocks(self, n_columns: int, n_items: int, incomplete: frozenset[int]) -> list[Block]:  # noqa: ARG002
        """The compiled family's constants for up to n_items items in a cluster.

        Columns with missing cells are ``incomplete`` and must stand in a block of their own.
        """
        functions = tuple(_function(type(self), name) for name in FUNCTIONS)
        hyper = np.asarray(self.hyper(n_columns), np.float64).reshape(n_columns, -1)
        tables = np.empty((0, n_items + 1))
        groups = [tuple(range(n_columns))] if self.joint else [(c,) for c in range(n_columns)]
        return [
            Block(
                _USER,
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

    def moments(
        self,
        values: Floats,  # noqa: ARG002
        labels: NDArray[np.int32],  # noqa: ARG002
        names: tuple[str, ...],  # noqa: ARG002
    ) -> dict[str, Moments]:
        """Posterior moments of each cluster's parameters, by the parameter's name; none here."""
        return {}

    def predict_cell(
        self,
        same: Floats,  # noqa: ARG002
        values: Floats,  # noqa: ARG002
        column: int,  # noqa: ARG002
        rng: np.random.Generator,  # noqa: ARG002
    ) -> tuple[Floats, Floats]:
        """Predictive distribution of a missing cell in each draw.

        ``same`` (n_draws, n_items) is 1 for the items that share its cluster, ``values`` the
        column. Returns the predictive mean, shape (n_draws,), or the probability of each level,
        shape (n_draws, n_levels); and a random value per draw.
        """
        raise NotSupportedError(
            f"{self.kind} does not predict single cells; define predict_cell to impute them."
        )

    def hellinger(
        self,
        values: Floats,  # noqa: ARG002
        labels: NDArray[np.int32],  # noqa: ARG002
        rng: np.random.Generator,  # noqa: ARG002
    ) -> Floats:
        """Hellinger distances between the clusters' densities, parameters drawn; shape (k, k)."""
        raise NotSupportedError(
            f"{self.kind} has no Hellinger distance between densities; the normal kernels have."
        )

    def simulate(
        self,
        values: Floats,  # noqa: ARG002
        n: int,  # noqa: ARG002
        rng: np.random.Generator,  # noqa: ARG002
    ) -> Floats:
        """n new rows of a cluster that has these, shape (n, n_columns): parameters drawn first."""
        raise NotSupportedError(
            f"{self.kind} does not simulate; define simulate to replicate data under it."
        )

    def log_base(self, values: Floats) -> Floats:
        """What the compiled density leaves out because it is the same under every partition."""
        return np.zeros(values.shape[0])

    def features(self, values: Floats) -> Floats:
        """Coordinates of the items in which near means alike, for starting partitions."""
        return standardised(values)


def _function(cls: type[Kernel], name: str) -> Callable[..., Any]:
    """One of a kernel's five functions, as it stands on the class."""
    found = inspect.getattr_static(cls, name, None)
    function = found.__func__ if isinstance(found, staticmethod) else found
    if function is None or not callable(function):
        raise InvalidInputError(
            f"the kernel {cls.__name__} has no function {name!r}; a kernel needs "
            f"{', '.join(FUNCTIONS)}."
        )
    return function


def present_moments(values: Floats) -> tuple[Floats, Floats]:
    """Mean and sample variance of the cells that each column has."""
    if not np.isnan(values).any():
        return np.asarray(values.mean(axis=0)), np.asarray(values.var(axis=0, ddof=1))
    return np.asarray(np.nanmean(values, axis=0)), np.asarray(np.nanvar(values, axis=0, ddof=1))


def standardised(values: Floats) -> Floats:
    """Columns with mean 0 and deviation 1; 0, the mean, where a cell is missing."""
    if not np.isnan(values).any():
        scale = values.std(axis=0)
        return np.asarray((values - values.mean(axis=0)) / np.where(scale > 0, scale, 1.0))
    mean, scale = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
    return np.asarray(np.nan_to_num((values - mean) / np.where(scale > 0, scale, 1.0)))


def column_groups(n_columns: int, incomplete: Iterable[int]) -> list[list[int]]:
    """The complete columns together, then each incomplete one alone."""
    alone = sorted(incomplete)
    together = [c for c in range(n_columns) if c not in alone]
    return ([together] if together else []) + [[c] for c in alone]


def group_sums(values: Floats, labels: NDArray[np.int32]) -> tuple[Floats, Floats]:
    """Numbers of cells (k, d) and column sums (k, d) of the clusters; missing cells left out."""
    k = int(labels.max()) + 1
    present = ~np.isnan(values)
    sizes, sums = np.zeros((2, k, values.shape[1]))
    np.add.at(sizes, labels, present)
    np.add.at(sums, labels, np.where(present, values, 0.0))
    return sizes, sums


def cell_sums(same: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Number and sum of the present cells of a column in each draw's cluster."""
    present = np.isfinite(values)
    return same @ present.astype(np.float64), same @ np.where(present, values, 0.0)


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
