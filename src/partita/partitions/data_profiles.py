"""Profiles of clusters from the data alone: no model, no intervals given the partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from partita.kernels.arrays import Bools, Floats, Int32s
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels
from partita.partitions.profile_table import Profiles, weighted_interval


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
        share = np.zeros((sizes.size, values.shape[0]))
        np.add.at(share, (labels, row), 1.0)
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
