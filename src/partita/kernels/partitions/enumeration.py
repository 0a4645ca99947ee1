"""Listing every partition as a restricted growth string."""

from __future__ import annotations

import numpy as np

from partita.kernels._jit import array_kernel
from partita.kernels.arrays import Int32s


@array_kernel
def fill_partitions(current: Int32s, out: Int32s) -> int:
    """Write the partitions after ``current`` in lexicographic order; return how many.

    ``current`` is advanced to the last one written. Fewer rows than ``out``
    has are written exactly when the all-singletons partition is reached.
    """
    n = current.size
    for row in range(out.shape[0]):
        position = n - 1
        while position > 0:
            highest = np.int32(0)
            for i in range(position):
                highest = max(highest, current[i])
            if current[position] <= highest:
                break
            position -= 1
        if position <= 0:
            return row
        current[position] += 1
        current[position + 1 :] = 0
        out[row] = current
    return int(out.shape[0])
