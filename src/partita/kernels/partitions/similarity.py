"""How often, and with how much weight, items share a cluster.

Labels are uint16 here: equality of narrow words is what the loops are made
of, and twice as many fit into a vector register as of int32.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import array_kernel, kernel
from partita.kernels.arrays import Floats, Ints

_DRAWS = 4096
"""Draws of one pass: a uint16 count cannot overflow, and 64 items of a tile stay in L2 cache."""

_COLUMNS = 64
"""Items of one tile of columns."""


@array_kernel
def count_together(items: NDArray[np.uint16], rows: Ints, first: int) -> Floats:
    """Number of draws in which items rows[r] and j are together, at [r, j − first].

    ``items`` holds one row of labels per item, shape (n_items, n_draws); j
    runs from ``first`` to the last item.
    """
    n_items, n_draws = items.shape
    n_rows = rows.size
    out = np.zeros((n_rows, n_items - first))
    for start in range(0, n_draws, _DRAWS):
        stop = min(start + _DRAWS, n_draws)
        for left in range(first, n_items, _COLUMNS):
            right = min(left + _COLUMNS, n_items)
            # Two rows at a time share the loads of a column. An odd last row is its own partner.
            for r in range(0, n_rows, 2):
                s = min(r + 1, n_rows - 1)
                a = items[rows[r], start:stop]
                b = items[rows[s], start:stop]
                for j in range(left, right):
                    c = items[j, start:stop]
                    # uint16 sums of comparisons: 64-bit ones would quarter the vector width.
                    with_a = np.uint16(0)
                    with_b = np.uint16(0)
                    for d in range(c.size):
                        with_a = np.uint16(with_a + (a[d] == c[d]))
                        with_b = np.uint16(with_b + (b[d] == c[d]))
                    out[r, j - first] += with_a
                    if s > r:
                        out[s, j - first] += with_b
    return out


@kernel
def weigh_together(
    labels: NDArray[np.uint16], weights: Floats, rows: Ints, first: int, out: Floats
) -> None:
    """Add the weight of the draws in which items rows[r] and j are together to out[r, j − first].

    ``labels`` holds one row per draw. Each entry sums its weights in the order
    of the draws, so that items always together get equal sums.
    """
    n_draws, n_items = labels.shape
    width = 4 * _COLUMNS
    # Columns are taken in tiles, so that the sums of a tile stay in cache over all draws.
    for left in range(first, n_items, width):
        right = min(left + width, n_items)
        for d in range(n_draws):
            weight = weights[d]
            columns = labels[d, left:right]
            for r in range(rows.size):
                mine = labels[d, rows[r]]
                sums = out[r, left - first : right - first]
                for j in range(columns.size):
                    sums[j] += weight if columns[j] == mine else 0.0
