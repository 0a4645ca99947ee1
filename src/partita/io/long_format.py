"""tidybayes' long format: one row per draw and item."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.errors import InvalidLabelsError
from partita.io.ids import clean_ids
from partita.partitions.draws import Draws


def draws_from_long(
    chain: NDArray[Any], draw: NDArray[Any], index: NDArray[Any], value: NDArray[Any]
) -> Draws:
    """Draws from the columns ``.chain``, ``.draw``, the item and its label, equally long.

    Draws come in the order of ``.draw``, items in that of their index where it
    is a number, else of first appearance; an index that only counts gives no
    names.
    """
    _, first_of_draw, row = np.unique(draw, return_index=True, return_inverse=True)
    found, first, column = np.unique(index, return_index=True, return_inverse=True)
    if index.dtype.kind not in "iuf":
        order = np.argsort(np.argsort(first))
        found, column = index[np.sort(first)], order[column]
    n_draws, n_items = first_of_draw.size, found.size
    if index.size != n_draws * n_items or np.unique(row * n_items + column).size != index.size:
        raise InvalidLabelsError(
            f"the long table has {index.size:,} rows for {n_draws:,} draws of {n_items:,} items; "
            "expected one row for each item in each draw."
        )
    labels = np.empty((n_draws, n_items), value.dtype)
    labels[row, column] = value
    counts = found.dtype.kind in "iuf" and np.array_equal(found, np.arange(n_items) + found[0])
    names = None if counts and found[0] in (0, 1) else [_name(each) for each in found.tolist()]
    return Draws(labels, chain=clean_ids(chain)[first_of_draw], item_names=names)


def _name(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
