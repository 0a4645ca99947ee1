"""Relabelling by first appearance, counting, and merging of equal rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import kernel


@kernel
def canonicalise_rows(rows: NDArray[np.int64], out: NDArray[np.int32]) -> int:
    """Write each row's labels as 0, 1, … in order of first appearance; return the most clusters."""
    n_rows, n_items = rows.shape
    # Labels within a narrow range are looked up in a table; a stamp saves clearing it per row.
    width = 4 * n_items + 1024
    seen = np.full(width, -1, np.int64)
    number = np.zeros(width, np.int32)
    most = 0
    for r in range(n_rows):
        lowest = rows[r, 0]
        highest = rows[r, 0]
        for i in range(n_items):
            value = rows[r, i]
            lowest = min(lowest, value)
            highest = max(highest, value)
        count = 0
        span = np.uint64(highest) - np.uint64(lowest)
        if span < np.uint64(width):
            for i in range(n_items):
                slot = rows[r, i] - lowest
                if seen[slot] != r:
                    seen[slot] = r
                    number[slot] = count
                    count += 1
                out[r, i] = number[slot]
        else:
            order = np.argsort(rows[r], kind="mergesort")
            group_of = np.empty(n_items, np.int32)
            group = 0
            for position in range(n_items):
                if position > 0 and rows[r, order[position]] != rows[r, order[position - 1]]:
                    group += 1
                group_of[order[position]] = group
            renamed = np.full(group + 1, -1, np.int32)
            for i in range(n_items):
                if renamed[group_of[i]] < 0:
                    renamed[group_of[i]] = count
                    count += 1
                out[r, i] = renamed[group_of[i]]
        most = max(most, count)
    return most


@kernel
def count_clusters(rows: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number of clusters of each canonical row."""
    n_rows, n_items = rows.shape
    counts = np.zeros(n_rows, np.int64)
    for r in range(n_rows):
        highest = 0
        for i in range(n_items):
            highest = max(highest, rows[r, i])
        counts[r] = highest + 1
    return counts


@kernel
def hash_rows(rows: NDArray[np.int32]) -> NDArray[np.uint64]:
    """A 64-bit hash of each row; equal rows have equal hashes."""
    n_rows, n_items = rows.shape
    hashes = np.empty(n_rows, np.uint64)
    multiplier = np.uint64(0x9E3779B97F4A7C15)
    shift = np.uint64(29)
    for r in range(n_rows):
        h = np.uint64(1469598103934665603)
        for i in range(n_items):
            h = (h ^ np.uint64(rows[r, i])) * multiplier
            h ^= h >> shift
        hashes[r] = h
    return hashes
