"""Where the items stand in the picture of the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._text import counted, in_list
from partita.kernels.arrays import Bools, Floats
from partita.plots._on_data import View, mixed_axes, prepare_curve, prepare_view
from partita.summary.observations import Observations


@dataclass(frozen=True, eq=False)
class ItemPositions:
    """Coordinates of the items, what the axes mean, and a curve to draw behind them.

    Attributes
    ----------
    x, y : ndarray of float, shape (n_items,)
        NaN for items that cannot be placed.
    x_title, y_title : str
    curve : pair of ndarray, or None
        The estimated density of one-dimensional data.
    note : str
        How the coordinates were made, in a sentence or two.
    """

    x: Floats
    y: Floats
    x_title: str
    y_title: str
    curve: tuple[Floats, Floats] | None
    note: str


def item_positions(
    data: Floats | None, names: tuple[str, ...] | None, categories: tuple[int, ...] = ()
) -> ItemPositions | None:
    """One column at its density, two as they are, more on their principal components.

    With categories among the columns, on the axes of :func:`mixed_axes`.
    Unlike a figure, a report must not fail for missing values: items without
    one of their two coordinates are left out, and columns that are combined
    have their mean filled in. The note says so.
    """
    if data is None:
        return None
    n_columns = data.shape[1]
    missing = ~np.isfinite(data)
    if categories:
        return _on_mixed_axes(data, categories, int(missing.sum()))
    absent: NDArray[np.bool_] = np.zeros(len(data), np.bool_)
    if n_columns <= 2:
        absent = np.logical_or.reduce(missing, axis=1)
    if absent.all():
        nowhere = np.full(len(data), np.nan)
        return ItemPositions(nowhere, nowhere, "", "", None, _left_out(absent))
    filled = data if n_columns <= 2 else _filled(data, missing)
    view = prepare_view(Observations(filled[~absent], _titles(names, n_columns)), None)
    if view.points.shape[1] == 1:
        return _at_density(view, absent)
    x, y = _spread(view.points, absent)
    note = _left_out(absent)
    if n_columns > 2:
        note = f"The first two principal components of {n_columns:,} standardised columns."
    if n_columns > 2 and missing.any():
        count = counted(int(missing.sum()), "missing value")
        note += f" The mean of the column stands in for {count}."
    x_title, y_title = view.names
    return ItemPositions(x, y, x_title, y_title, None, note)


def _on_mixed_axes(data: Floats, categories: tuple[int, ...], n_missing: int) -> ItemPositions:
    points, (x_title, y_title) = mixed_axes(data, categories)
    kinds = [counted(len(categories), "column") + " of categories"]
    if numbers := data.shape[1] - len(categories):
        kinds.insert(0, f"{counted(numbers, 'column')} of numbers")
    note = (
        f"The first two axes of a factor analysis of mixed data: {in_list(kinds)}, numbers "
        "standardised, levels as scaled indicators."
    )
    if n_missing:
        note += f" {counted(n_missing, 'missing value')} stand at the mean."
    return ItemPositions(points[:, 0], points[:, 1], x_title, y_title, None, note)


def _titles(names: tuple[str, ...] | None, n_columns: int) -> tuple[str, ...]:
    numbers = tuple(str(j) for j in range(n_columns))
    if names is not None and names != numbers:
        return names
    # Columns numbered 0, 1, … came without names.
    return ("value",) if n_columns == 1 else tuple(f"column {j}" for j in numbers)


def _left_out(absent: Bools) -> str:
    n = int(absent.sum())
    if n == 0:
        return ""
    return f"{counted(n, 'item')} with missing values {'is' if n == 1 else 'are'} not drawn."


def _filled(data: Floats, missing: Bools) -> Floats:
    """Means of their columns for missing values; 0 where nothing is known."""
    known = np.where(missing, 0.0, data)
    means = known.sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)
    return np.where(missing, means, data)


def _spread(points: Floats, absent: Bools) -> Floats:
    """Coordinates by row, with NaN for the items left out."""
    out = np.full((points.shape[1], absent.size), np.nan)
    out[:, ~absent] = points.T
    return out


def _at_density(view: View, absent: Bools) -> ItemPositions:
    curve = prepare_curve(view, None, None)
    x, y = _spread(np.column_stack([view.points[:, 0], curve.at_items]), absent)
    note = f"Each item stands on a kernel density estimate of the data. {_left_out(absent)}"
    return ItemPositions(x, y, view.names[0], "density", (curve.grid, curve.values), note.strip())
