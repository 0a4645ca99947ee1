"""What the clusters of a partition are like in the data, with the uncertainty of the clustering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from partita._validate import texts, whole
from partita.credible.levels import clean_prob
from partita.errors import InvalidDataError
from partita.kernels.arrays import Bools, Floats, Int32s
from partita.partitions.convert import as_draws
from partita.partitions.labels import as_labels, by_size
from partita.partitions.profile_table import Profiles, evenly_spaced, weighted_interval
from partita.partitions.types import DrawsLike, LabelsLike


def profiles(
    draws: DrawsLike,
    labels: LabelsLike,
    *,
    data: Any,
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
    vector = by_size(as_labels(labels, n_items=clean.n_items))
    level = clean_prob(prob)
    table, named, is_share = _table(data, names, clean.n_items)
    kept = clean
    if clean.n_draws > whole(n_draws, "n_draws", least=1):
        kept = clean._take(evenly_spaced(clean.n_draws, n_draws))
    merged = kept.unique()
    sizes = np.bincount(vector).astype(np.int64)
    statistics = _statistics(table, is_share)
    given = statistics(vector)
    found = np.empty((merged.n_draws, sizes.size, given.shape[1]))
    for m, labels in enumerate(merged):
        row = labels.astype(np.int32)
        values = statistics(row)
        share = np.zeros((sizes.size, values.shape[0]))
        np.add.at(share, (vector, row), 1.0)
        known = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            found[m] = (share @ np.where(known, values, 0.0)) / (share @ known)
    weights = merged.probabilities
    low, high = weighted_interval(found.reshape(merged.n_draws, -1), weights, level)
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
        prob=level,
        n_draws=kept.n_draws,
        kind=kept.kind,
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


def _interleaved(n: int, numeric: list[int]) -> Any:
    """Position, column and kind (0: mean or share, 1: sd) with the sd after its mean."""
    for j in range(n):
        yield j, j, 0
        if j in numeric:
            yield n + numeric.index(j), j, 1


def _table(
    data: Any, given_names: Sequence[str] | None, n_items: int
) -> tuple[Floats, list[tuple[str, str]], Bools]:
    """Numbers and 0–1 columns of levels, their (column, parameter) names, and which are levels."""
    columns = getattr(data, "columns", None)
    if columns is None:
        try:
            values = np.asarray(data)
        except ValueError:
            raise InvalidDataError(
                "rows of the data have different lengths; expected a table, one row per item.",
                argument="data",
            ) from None
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2:
            raise InvalidDataError(f"data have shape {values.shape}; expected one row per item.")
        titles = tuple(map(str, range(values.shape[1])))
        if given_names is not None:
            titles = texts(given_names, "names")
            if len(titles) != values.shape[1]:
                raise InvalidDataError(
                    f"{len(titles)} names were given for {values.shape[1]} columns of data."
                )
        series = [(name, values[:, j]) for j, name in enumerate(titles)]
    else:
        series = [(str(name), np.asarray(data[name])) for name in columns]
    if not series or any(column.shape != (n_items,) for _, column in series):
        shape = (len(series[0][1]) if series else 0, len(series))
        raise InvalidDataError(f"data have shape {shape}; expected one row per item, {n_items}.")
    found: list[Floats] = []
    names: list[tuple[str, str]] = []
    share: list[bool] = []
    for name, column in series:
        if column.dtype.kind in "iufb":
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
