"""Relabelling by first appearance, with counts of clusters, and hashes of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import kernel


@kernel
def canonicalise_rows(
    rows: NDArray[np.int64],
    lowest: int,
    seen: NDArray[np.int64],
    number: NDArray[np.int32],
    out: NDArray[np.int32],
    counts: NDArray[np.int64],
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


@kernel
def _fill_hashes(rows: NDArray[np.int32], hashes: NDArray[np.uint64]) -> None:
    n_rows, n_items = rows.shape
    multiplier = np.uint64(0x9E3779B97F4A7C15)
    shift = np.uint64(29)
    for r in range(n_rows):
        h = np.uint64(1469598103934665603)
        for i in range(n_items):
            h = (h ^ np.uint64(rows[r, i])) * multiplier
            h ^= h >> shift
        hashes[r] = h


def hash_rows(rows: NDArray[np.int32]) -> NDArray[np.uint64]:
    """A 64-bit hash of each row; equal rows have equal hashes."""
    hashes = np.empty(len(rows), np.uint64)
    _fill_hashes(rows, hashes)
    return hashes
