"""Relabelling by first appearance, with counts of clusters, and hashes of rows."""

from __future__ import annotations

import numpy as np

from partita.kernels._jit import kernel, part_of_kernel
from partita.kernels.arrays import Int32s, Ints, UInt64s


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
