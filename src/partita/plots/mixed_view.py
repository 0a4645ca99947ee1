"""Two coordinates for columns of numbers and of categories together."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from partita.kernels.arrays import Floats

_FLAT = 1e-9
"""An axis so much shorter than the first is rounding: the data have fewer dimensions."""


def mixed_axes(values: Floats, categories: Collection[int]) -> tuple[Floats, tuple[str, str]]:
    """The first two axes of a factor analysis of mixed data (Pagès 2004), and their names.

    Numbers are standardised. Each level of a category is a column of its own,
    (indicator − p)/√p for a level of frequency p, so that a column of numbers
    counts 1 and a category its number of levels less 1, whatever its codes are.
    Values that are missing stand where the mean is.

    Parameters
    ----------
    values : ndarray of float, shape (n_items, n_columns)
        Codes in the columns of categories; NaN where missing.
    categories : collection of int
        Which columns are categories.
    """
    parts = [
        _levels(column) if j in categories else _standardised(column)
        for j, column in enumerate(values.T)
    ]
    table = np.concatenate(parts, axis=1)
    _, singular, axes = np.linalg.svd(table, full_matrices=False)
    points = np.zeros((len(values), 2))
    found = int((singular[:2] > _FLAT * max(float(singular.max(initial=0.0)), 1e-300)).sum())
    points[:, :found] = table @ (axes[:found] * signs(axes[:found])[:, None]).T
    share = np.zeros(2)
    share[:found] = singular[:found] ** 2 / max(float((singular**2).sum()), 1e-300)
    first, second = (f"axis {j + 1} ({100 * s:.0f}% of inertia)" for j, s in enumerate(share))
    return points, (first, second)


def signs(axes: Floats) -> Floats:
    """Signs that make the largest entry of each axis positive, so that figures do not flip."""
    if not axes.size:
        return np.ones(len(axes))
    largest = np.abs(axes).argmax(axis=1)
    return np.where(axes[np.arange(len(axes)), largest] < 0.0, -1.0, 1.0)


def _standardised(column: Floats) -> Floats:
    known = np.isfinite(column)
    spread = float(column[known].std()) if known.any() else 0.0
    if spread == 0.0:
        return np.zeros((column.size, 1))
    return np.where(known, (column - column[known].mean()) / spread, 0.0)[:, None]


def _levels(column: Floats) -> Floats:
    known = np.isfinite(column)
    levels = np.unique(column[known])
    hot = column[:, None] == levels
    frequency = hot[known].mean(axis=0)
    scaled: Floats = np.where(known[:, None], hot - frequency, 0.0) / np.sqrt(frequency)
    return scaled
