"""Sums over the cells that a column has; missing ones take no part."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from partita.kernels.arrays import Floats


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
