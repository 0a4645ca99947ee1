"""Feature allocations: columns of bits, matched one to one by the items that they share.

A column is a row of words; item i is bit 63 − i mod 64 of word i // 64, so that words compare as
lists of items do. The columns of all draws stand below each other: those of draw m are
``columns[offsets[m]:offsets[m + 1]]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from partita.kernels._jit import kernel, part_of_kernel
from partita.kernels.arrays import Ints, UInt64s
from partita.kernels.uncertainty import assign


@part_of_kernel
def n_bits(word: Any) -> Any:
    """Number of ones in a word."""
    x = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@part_of_kernel
def cells_of(z: UInt64s, t: UInt64s, starts: Ints, column: Ints, count: Ints) -> None:
    """Items that each column of z shares with each of t, where there are any, as rows of cells."""
    cells = 0
    starts[0] = 0
    for k in range(z.shape[0]):
        for j in range(t.shape[0]):
            shared = np.int64(0)
            for w in range(z.shape[1]):
                shared += n_bits(z[k, w] & t[j, w])
            if shared > 0:
                column[cells] = j
                count[cells] = shared
                cells += 1
        starts[k + 1] = cells


def matched_overlaps(z: UInt64s, columns: UInt64s, offsets: Ints, out: Ints) -> None:
    """M(Z, T): the largest total overlap of columns matched one to one, for every draw T."""
    most = max(len(z), int(np.diff(offsets).max(initial=0)))
    cells = np.empty((2, len(z) * most + 1), np.int64)
    _matched_overlaps(z, columns, offsets, cells, np.empty((11, most + 1), np.int64), out)


@kernel
def _matched_overlaps(
    z: UInt64s, columns: UInt64s, offsets: Ints, cells: Ints, work: Ints, out: Ints
) -> None:
    starts, column_of, row_of, u, v = work[0], work[1], work[2], work[3], work[4]
    column, count = cells[0], cells[1]
    k = z.shape[0]
    for m in range(out.size):
        t = columns[offsets[m] : offsets[m + 1]]
        cells_of(z, t, starts, column, count)
        assign(
            k, t.shape[0], starts, column, count, column_of, row_of, u, v,
            work[5], work[6], work[7], work[8], work[9], work[10],
        )  # fmt: skip
        total = np.int64(0)
        for c in range(k):
            total += u[c]
        for c in range(t.shape[0]):
            total += v[c]
        out[m] = total
