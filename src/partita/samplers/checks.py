"""Checks that the samplers' doors share; each returns the cleaned value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._validate import unexpected
from partita.errors import InvalidInputError

PerColumn = float | tuple[float, ...]
"""A hyperparameter: one number for all columns, or one per column."""


def per_column(value: Any, name: str, *, above: float | None = None) -> PerColumn:
    """One finite number, or a tuple of one per column; above a limit where there is one."""
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise unexpected(value, name, "a number or one per column") from None
    if array.ndim > 1 or array.size == 0:
        raise InvalidInputError(
            f"{name} has shape {array.shape}; expected a number or one per column.", argument=name
        )
    if not np.isfinite(array).all() or (above is not None and not (array > above).all()):
        limit = "finite" if above is None else f"finite and above {above:g}"
        raise unexpected(value, name, f"{limit} numbers")
    return float(array) if array.ndim == 0 else tuple(array.tolist())


def spread(value: PerColumn, n_columns: int, name: str) -> NDArray[np.float64]:
    """The hyperparameter for each of n columns."""
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
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
