"""Relabelling by first appearance, counting, and merging of equal rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import kernel


@kernel
def canonicalise_rows(
    rows: NDArray[np.int64], lowest: int, width: int, out: NDArray[np.int32]
) -> int:
    """Write each row's labels as 0, 1, … in order of first appearance; return the most clusters.

    Labels lie in lowest … lowest + width − 1.
    """
    n_rows, n_items = rows.shape
    # A stamp in the look-up table saves clearing it for each row.
    seen = np.zeros(width, np.int64)
    number = np.zeros(width, np.int32)
    most = 0
    for r in range(n_rows):
        count = 0
        for i in range(n_items):
            slot = rows[r, i] - lowest
            if seen[slot] != r + 1:
                seen[slot] = r + 1
                number[slot] = count
                count += 1
            out[r, i] = number[slot]
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
