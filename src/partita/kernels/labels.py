"""Kernels of labels: canonical form, hashes, enumeration and pairs that share a cluster."""

from __future__ import annotations

import numpy as np

from partita.kernels._jit import array_kernel, kernel, part_of_kernel
from partita.kernels.arrays import Floats, Int32s, Ints, UInt64s, Unsigned


@kernel
def canonicalise_rows(
    rows: Ints, lowest: int, seen: Ints, number: Int32s, out: Int32s, counts: Ints
) -> None:
    """Write each row's labels as 0, 1, … in order of first appearance, and how many there are.

    Labels lie in lowest … lowest + seen.size − 1. ``seen`` is zero before: a stamp in it saves
    clearing it for each row.
    """
    n_rows, n_items = rows.shape
    for r in range(n_rows):
        count = 0
        for i in range(n_items):
            slot = rows[r, i] - lowest
            if seen[slot] != r + 1:
                seen[slot] = r + 1
                number[slot] = count
                count += 1
            out[r, i] = number[slot]
        counts[r] = count


@part_of_kernel
def mixed(state: np.uint64, label: np.int32) -> np.uint64:
    """A hash after one more label."""
    state = (state ^ np.uint64(label)) * np.uint64(0x9E3779B97F4A7C15)
    return state ^ (state >> np.uint64(29))


@kernel
def _fill_hashes(rows: Int32s, hashes: UInt64s) -> None:
    """Four rows side by side: each hash waits for its label before."""
    n_rows, n_items = rows.shape
    begin = np.uint64(1469598103934665603)
    for r in range(0, n_rows, 4):
        s, t, u = min(r + 1, n_rows - 1), min(r + 2, n_rows - 1), min(r + 3, n_rows - 1)
        one = two = three = four = begin
        for i in range(n_items):
            one = mixed(one, rows[r, i])
            two = mixed(two, rows[s, i])
            three = mixed(three, rows[t, i])
            four = mixed(four, rows[u, i])
        hashes[r], hashes[s], hashes[t], hashes[u] = one, two, three, four


def hash_rows(rows: Int32s) -> UInt64s:
    """A 64-bit hash of each row; equal rows have equal hashes."""
    hashes = np.empty(len(rows), np.uint64)
    _fill_hashes(rows, hashes)
    return hashes


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


_DRAWS = 4096
"""Draws of one pass: a uint16 count cannot overflow, and 64 items of a tile stay in L2 cache."""

_COLUMNS = 64
"""Items of one tile of columns."""


def count_together(items: Unsigned, rows: Ints, first: int) -> Floats:
    """Number of draws in which items rows[r] and j are together, at [r, j − first].

    ``items`` holds one row of labels per item, shape (n_items, n_draws); j
    runs from ``first`` to the last item.
    """
    out = np.zeros((rows.size, len(items) - first))
    _count_together(items, rows, first, out)
    return out


@kernel
def _count_together(items: Unsigned, rows: Ints, first: int, out: Floats) -> None:
    n_items, n_draws = items.shape
    n_rows = rows.size
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


@kernel
def weigh_together(labels: Unsigned, weights: Floats, rows: Ints, first: int, out: Floats) -> None:
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
