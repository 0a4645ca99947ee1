"""Profiles of clusters: columns of data by cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._result import Result, Table
from partita._tolerance import SUM
from partita._validate import integer, probability, strings
from partita._wording import Kind, counted, words
from partita.draws import Draws, as_draws
from partita.errors import InvalidDataError
from partita.io.data_table import as_table, is_date
from partita.kernels.arrays import Bools, Floats, Int32s
from partita.labels import (
    DataLike,
    DrawsLike,
    Labels,
    LabelsLike,
    by_size,
    data_frame,
    from_one,
    shared_items,
)

if TYPE_CHECKING:
    import pandas as pd


def profiles(
    draws: DrawsLike,
    labels: LabelsLike,
    *,
    data: DataLike,
    names: Sequence[str] | None = None,
    prob: float = 0.95,
    n_draws: int = 1_000,
) -> Profiles:
    r"""Means, standard deviations and shares of each cluster, with the clustering's uncertainty.

    For a cluster C of a reported partition and a statistic θ of a set of items
    (the mean of a column, its standard deviation, the share of a level),

    .. math:: \theta_C^{(m)} = \frac{1}{|C|} \sum_{i \in C} \theta\bigl(C_m(i)\bigr),

    with :math:`C_m(i)` the cluster of item i in draw m: what the items of C see in
    their own clusters of the draw. ``averaged`` is its mean over the draws and the
    interval holds the central ``prob`` of it; ``given`` is θ(C) itself. Choose it
    for draws without a model; :meth:`Fit.profiles` adds the uncertainty of the
    parameters where there is one. Label switching cannot enter.

    Parameters
    ----------
    draws : Draws or anything as_draws accepts
    labels : array_like, shape (n_items,), or an estimate
    data : array_like or DataFrame, one row per item
        Columns of numbers give a mean and an sd (of the items, divisor n; NaN is
        left out); columns of text or categories give the share of each level.
    names : sequence of str, optional
        Names of the columns, where the data carry none.
    prob : float in (0, 1], default 0.95
    n_draws : int, default 1000
        Draws to average over, evenly spaced; all where there are fewer.

    Returns
    -------
    Profiles
        ``to_frame()`` has one row per cluster, column and parameter.

    Notes
    -----
    O(M·N·d) for M distinct draws of N items and d columns.

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]]
    >>> found = pt.profiles(draws, [0, 0, 1, 1], data=[1.0, 2.0, 5.0, 6.0])
    >>> found.to_frame().query("parameter == 'mean'")[["given", "averaged_low", "averaged_high"]]
       given  averaged_low  averaged_high
    0    1.5      1.500000       2.666667
    2    5.5      4.333333       5.500000
    """
    clean = as_draws(draws)
    vector = by_size(clean.clean(labels, "labels"))
    level = probability(prob)
    table, named, is_share = _table(data, names, clean.n_items)
    kept = clean
    if clean.n_draws > integer(n_draws, "n_draws", least=1):
        kept = clean._take(evenly_spaced(clean.n_draws, n_draws))
    return data_profiles(kept, vector, table, named, is_share, level)


def _table(
    data: Any, given_names: Sequence[str] | None, n_items: int
) -> tuple[Floats, list[tuple[str, str]], Bools]:
    """Numbers and 0–1 columns of levels, their (column, parameter) names, and which are levels."""
    table = as_table(data)
    titles = table.names
    if given_names is not None and getattr(data, "columns", None) is None:
        titles = strings(given_names, "names")
        if len(titles) != table.n_columns:
            raise InvalidDataError(
                f"{len(titles)} names were given for {table.n_columns} columns of data."
            )
    if table.n_rows != n_items:
        shape = (table.n_rows, table.n_columns)
        raise InvalidDataError(f"data have shape {shape}; expected one row per item, {n_items}.")
    found: list[Floats] = []
    names: list[tuple[str, str]] = []
    share: list[bool] = []
    for name, column in zip(titles, table.columns, strict=True):
        if is_date(column):
            raise InvalidDataError(
                f"column {name!r} holds dates or times, which are neither numbers nor categories; "
                "leave it out, or turn it into numbers first."
            )
        if column.dtype.kind in "fb":
            found.append(column.astype(np.float64))
            names.append((name, "mean"))
            share.append(False)
            continue
        text = np.array([str(value) for value in column])
        for level in np.unique(text):
            found.append((text == level).astype(np.float64))
            names.append((name, f"share of {level}"))
            share.append(True)
    return np.stack(found, axis=1), names, np.array(share)


@dataclass(frozen=True, eq=False, repr=False)
class Profiles(Result):
    """Parameters of each cluster and column, given the partition and averaged over the draws.

    *Given the partition* takes the clusters as known: nothing but sampling error
    is in it. *Averaged* takes the clusters of each draw instead: with C a cluster
    of the partition, θ_C is the mean over the items i of C of θ of i's cluster in
    the draw, so that the uncertainty of the clustering is in it. Label switching
    cannot enter, because items are followed, not labels.

    Attributes
    ----------
    cluster : ndarray of int64, shape (n_rows,)
    column, parameter : tuple of str
        The data's column, and what of it: "mean", "sd", "rate", or "share of …".
    given : ndarray of float, shape (n_rows,)
        Mean given the partition.
    given_low, given_high : ndarray of float, shape (n_rows,)
        Interval given the partition; NaN where there is no model.
    averaged : ndarray of float, shape (n_rows,)
        Mean over the draws' own clusters.
    averaged_low, averaged_high : ndarray of float, shape (n_rows,)
        Interval with the uncertainty of the clustering.
    sizes : ndarray of int64, shape (n_clusters,)
    prob : float
        Probability of the intervals.
    n_draws : int
        Draws averaged over.
    kind : "posterior" or "ensemble"
        Of the draws.
    """

    cluster: NDArray[np.int64]
    column: tuple[str, ...]
    parameter: tuple[str, ...]
    given: Floats
    given_low: Floats
    given_high: Floats
    averaged: Floats
    averaged_low: Floats
    averaged_high: Floats
    sizes: NDArray[np.int64]
    prob: float
    n_draws: int
    kind: Kind = "posterior"

    def __len__(self) -> int:
        return int(self.cluster.size)

    def to_frame(self, *, one_based: bool = False) -> pd.DataFrame:
        """One row per cluster, column and parameter.

        Parameters
        ----------
        one_based : bool, default False
            Count clusters from 1, as R does.
        """
        columns = {
            "cluster": from_one(self.cluster, one_based),
            "size": self.sizes[self.cluster],
            "column": list(self.column),
            "parameter": list(self.parameter),
            **{name: getattr(self, name) for name in NUMBERS},
        }
        return data_frame(columns, of="profiles")

    def __repr__(self) -> str:
        clusters = counted(self.sizes.size, "cluster")
        columns = counted(len(set(self.column)), "column")
        rows = counted(self.n_draws, words(self.kind).draw)
        return (
            f"<Profiles: {clusters}, {columns}, {counted(len(self), 'parameter')}, "
            f"{self.prob:g} intervals over {rows}>"
        )

    def __str__(self) -> str:
        return self._screen(_SHOWN, "in to_frame()")

    def table(self, rows: Sequence[int], first: int = 0) -> Table:
        """Some of the rows as text, clusters counted from ``first``.

        Without a model there are no intervals given the partition.
        """
        given, averaged = (
            [_interval(low, high) for low, high in zip(*ends, strict=True)]
            for ends in (
                (self.given_low, self.given_high),
                (self.averaged_low, self.averaged_high),
            )
        )
        modelled = bool(np.isfinite(self.given_low).any())
        level = f"{100 * self.prob:g}% interval"
        columns = ("Given", *[level] * modelled, "Averaged", level)
        lines = tuple(
            (
                *(str(self.cluster[r] + first), self.column[r], self.parameter[r]),
                *(f"{self.given[r]:.4g}", *[given[r]] * modelled),
                *(f"{self.averaged[r]:.4g}", averaged[r]),
            )
            for r in rows
        )
        return Table("", ("Cluster", "Column", "Parameter", *columns), lines)

    def _screen(self, most: int, rest: str, first: int = 0) -> str:
        """The first rows as a table, and where the others are."""
        rows, left = self._most_frequent_levels()
        lines = [self.table(rows[:most], first).text()]
        if left:
            lines.append(f"{left:,} rows of less frequent levels are {rest}")
        if len(rows) > most:
            lines.append(f"… and {len(rows) - most:,} more rows, {rest}")
        return "\n".join(lines)

    def _most_frequent_levels(self) -> tuple[list[int], int]:
        """Rows with at most ten of each column of a cluster, the largest; how many are left out."""
        of_column: dict[tuple[int, str], list[int]] = {}
        for r in range(len(self)):
            of_column.setdefault((int(self.cluster[r]), self.column[r]), []).append(r)
        rows = []
        for members in of_column.values():
            largest = sorted(members, key=lambda r: -np.nan_to_num(self.given[r]))[:_LEVELS]
            rows += sorted(largest)
        return rows, len(self) - len(rows)


_LEVELS = 10
"""Levels of a column that are shown of each cluster."""

NUMBERS = ("given", "given_low", "given_high", "averaged", "averaged_low", "averaged_high")
"""The columns of numbers."""

_SHOWN = 30


def _interval(low: float, high: float) -> str:
    if not (np.isfinite(low) and np.isfinite(high)):
        return "–"
    return f"{low:.4g} to {high:.4g}"


def weighted_interval(values: Floats, weights: Floats, prob: float) -> tuple[Floats, Floats]:
    """Central interval of each column of values, whose rows have weights that sum to 1."""
    order = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    mass = np.cumsum(weights[order], axis=0)
    tail = (1.0 - prob) / 2.0
    last = values.shape[0] - 1
    low = np.minimum((mass < tail - SUM).sum(axis=0), last)
    high = np.minimum((mass < 1.0 - tail - SUM).sum(axis=0), last)
    return (
        np.take_along_axis(ordered, low[None], axis=0)[0],
        np.take_along_axis(ordered, high[None], axis=0)[0],
    )


def evenly_spaced(n_draws: int, n: int) -> NDArray[np.int64]:
    """Positions of a number of draws, evenly spaced from the first to the last."""
    return np.linspace(0, n_draws - 1, n).astype(np.int64)


def data_profiles(
    draws: Draws,
    labels: Labels,
    table: Floats,
    named: Sequence[tuple[str, str]],
    is_share: Bools,
    prob: float,
) -> Profiles:
    """Means, sds and shares of the columns; see :func:`partita.profiles`.

    ``named`` are the columns and what their mean is called. A column that ``is_share`` has no sd.
    """
    merged = draws.unique()
    sizes = np.bincount(labels).astype(np.int64)
    statistics = _statistics(table, is_share)
    given = statistics(labels)
    found = np.empty((merged.n_draws, sizes.size, given.shape[1]))
    for m, drawn in enumerate(merged):
        row = drawn.astype(np.int32)
        values = statistics(row)
        share = shared_items(labels, row)
        known = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            found[m] = (share @ np.where(known, values, 0.0)) / (share @ known)
    weights = merged.probabilities
    low, high = weighted_interval(found.reshape(merged.n_draws, -1), weights, prob)
    numeric = [j for j in range(len(named)) if not is_share[j]]
    order = [*_interleaved(len(named), numeric)]
    pick = np.array([at for at, _, _ in order])
    nothing = np.full(sizes.size * len(order), np.nan)

    def chosen(values: Floats) -> Floats:
        return values.reshape(sizes.size, -1)[:, pick].ravel()

    return Profiles(
        cluster=np.repeat(np.arange(sizes.size), len(order)),
        column=tuple(named[j][0] for _, j, _ in order) * sizes.size,
        parameter=tuple(named[j][1] if kind == 0 else "sd" for _, j, kind in order) * sizes.size,
        given=chosen(given),
        given_low=nothing,
        given_high=nothing,
        averaged=chosen(np.einsum("m,mkp->kp", weights, found)),
        averaged_low=chosen(low),
        averaged_high=chosen(high),
        sizes=sizes,
        prob=prob,
        n_draws=draws.n_draws,
        kind=draws.kind,
    )


def _statistics(table: Floats, is_share: Bools) -> Callable[[Int32s], Floats]:
    """Means of all columns, then sds of those of numbers, for each cluster of given labels."""
    from scipy import sparse

    everyone = np.arange(table.shape[0])
    center = np.nanmean(np.where(np.isnan(table).all(axis=0), 0.0, table), axis=0)
    seen = ~np.isnan(table)
    filled = np.where(seen, table - center, 0.0)

    def of(row: Int32s) -> Floats:
        k = int(row.max()) + 1
        member = sparse.csr_array((np.ones(row.size), (row, everyone)), shape=(k, row.size))
        known = member @ seen.astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = (member @ filled) / known
            square = (member @ filled**2) / known
        sd = np.sqrt(np.maximum(square - mean**2, 0.0))
        return np.concatenate([mean + center, sd[:, ~is_share]], axis=1)

    return of


def _interleaved(n: int, numeric: list[int]) -> Iterator[tuple[int, int, int]]:
    """Position, column and kind (0: mean or share, 1: sd) with the sd after its mean."""
    for j in range(n):
        yield j, j, 0
        if j in numeric:
            yield n + numeric.index(j), j, 1
