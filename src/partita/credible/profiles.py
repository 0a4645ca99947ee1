"""What the clusters of a partition are like in the data, with the uncertainty of the clustering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from partita._validate import texts, whole
from partita.credible.ball import clean_prob
from partita.credible.profile_table import Profiles, data_profiles, evenly_spaced
from partita.draws import as_draws
from partita.errors import InvalidDataError
from partita.io.data_table import as_table, is_date
from partita.kernels.arrays import Bools, Floats
from partita.labels import DataLike, DrawsLike, LabelsLike, as_labels, by_size


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
    vector = by_size(as_labels(labels, n_items=clean.n_items))
    level = clean_prob(prob)
    table, named, is_share = _table(data, names, clean.n_items)
    kept = clean
    if clean.n_draws > whole(n_draws, "n_draws", least=1):
        kept = clean._take(evenly_spaced(clean.n_draws, n_draws))
    return data_profiles(kept, vector, table, named, is_share, level)


def _table(
    data: Any, given_names: Sequence[str] | None, n_items: int
) -> tuple[Floats, list[tuple[str, str]], Bools]:
    """Numbers and 0–1 columns of levels, their (column, parameter) names, and which are levels."""
    table = as_table(data)
    titles = table.names
    if given_names is not None and getattr(data, "columns", None) is None:
        titles = texts(given_names, "names")
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
