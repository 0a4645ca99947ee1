"""Violated triangle inequalities of a fractional clustering."""

from __future__ import annotations

import numpy as np

from partita.kernels._jit import array_kernel
from partita.kernels.arrays import Floats, Ints


@array_kernel
def violated_triangles(joined: Floats, threshold: float, most: int) -> tuple[Ints, Floats]:
    """Triangles with x_ij + x_jk − x_ik > 1 + threshold: rows (i, j, k) with j the shared item.

    ``joined`` is symmetric. Returns at most ``most`` of them per shared item's
    scan order, each with its violation; fewer means all were found.
    """
    n = joined.shape[0]
    found = np.empty((most, 3), np.int64)
    excess = np.empty(most)
    count = 0
    strong = np.empty(n, np.int64)
    for j in range(n):
        size = 0
        for i in range(n):
            # Both x_ij and x_jk must exceed the threshold for the sum to exceed 1.
            if i != j and joined[j, i] > threshold:
                strong[size] = i
                size += 1
        for p in range(size):
            i = strong[p]
            for q in range(p + 1, size):
                k = strong[q]
                over = joined[j, i] + joined[j, k] - joined[i, k] - 1.0
                if over > threshold:
                    found[count, 0] = i
                    found[count, 1] = j
                    found[count, 2] = k
                    excess[count] = over
                    count += 1
                    if count == most:
                        return found, excess
    return found[:count], excess[:count]
