"""What draws say about each item and cluster of an estimate, and shapes of partitions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import array_kernel, part_of_kernel
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.credible.assignment import match_clusters

_BATCH, _CELLS = 16, 1 << 18
"""Rows that are compared together, and most cells of their tables; one row where that is more."""

_TILE = 256
"""Items whose sums are filled together."""


@part_of_kernel
def add_row(
    row: Int32s,
    estimate: Int32s,
    weight: float,
    match: Ints,
    size_of: Int32s,
    adds_companions: Floats,
    adds_information: Floats,
    placed: Floats,
    companions: Floats,
    information: Floats,
    alone: Floats,
) -> None:
    """Add what a row says about some items.

    One sum after the other, by unsigned labels: four times as fast as all sums of an item at
    once, with the test for negative numbers that a signed index has.
    """
    for i in range(row.size):
        placed[i, np.uint64(match[np.uint32(row[i])])] += weight
    for i in range(row.size):
        t = np.uint32(row[i])
        information[i] += adds_information[t, np.uint32(estimate[i])]
        alone[i] += weight if size_of[t] == 1 else 0.0
    for k in range(companions.shape[0]):
        sums, adds = companions[k], adds_companions[k]
        for i in range(row.size):
            sums[i] += adds[np.uint32(row[i])]


@array_kernel
def compare_with_estimate(
    estimate: Int32s,
    sizes: Ints,
    rows: Int32s,
    k_rows: Ints,
    weights: Floats,
    logs: Floats,
    jaccard: float,
    begin: int,
    placed: Floats,
    companions: Floats,
    information: Floats,
    alone: Floats,
    unchanged: Floats,
    similar: Floats,
) -> None:
    """Add what each row says about an estimate, given by its labels and cluster sizes.

    Of the items, only from ``begin`` on and as many as ``alone`` has room for.
    Over rows r of weight w, with C(i) the row's cluster of item i and E_k the
    estimate's cluster k:
    placed[i, k] += w where C(i) is matched to E_k, placed[i, K] += w where to none;
    companions[k, i] += w·|C(i) ∩ E_k|, item i itself included;
    information[i] += w·(log2|C(i)| + log2|E(i)| − 2·log2|C(i) ∩ E(i)|);
    alone[i] += w where |C(i)| = 1;
    unchanged[k] += w where E_k is a cluster of the row;
    similar[k] += w where a cluster of the row overlaps E_k by Jaccard ≥ jaccard.
    """
    n = estimate.size
    k_estimate = sizes.size
    k_most = 1
    for r in range(k_rows.size):
        k_most = max(k_most, k_rows[r])
    # Several rows at a time, and their items in tiles: the sums of a tile stay in cache.
    batch = max(1, min(_BATCH, _CELLS // (k_most * k_estimate), rows.shape[0]))
    shared = np.zeros((batch, k_most, k_estimate), np.int32)
    size_of = np.zeros((batch, k_most), np.int32)
    match = np.zeros((batch, k_most), np.int64)
    # What a row adds for an item depends on the item's two clusters alone.
    adds_companions = np.zeros((batch, k_estimate, k_most))
    adds_information = np.zeros((batch, k_most, k_estimate))
    closest = np.zeros(k_estimate)
    for start in range(0, rows.shape[0], batch):
        stop = min(start + batch, rows.shape[0])
        for r in range(start, stop):
            b = r - start
            shared[b, : k_rows[r]] = 0
            for i in range(n):
                shared[b, np.uint32(rows[r, i]), np.uint32(estimate[i])] += 1
            for t in range(k_rows[r]):
                size_of[b, t] = 0
                for k in range(k_estimate):
                    size_of[b, t] += shared[b, t, k]
            match_clusters(shared[b], k_rows[r], match[b])
            for t in range(k_rows[r]):
                if match[b, t] < 0:
                    match[b, t] = k_estimate
            closest[:] = 0.0
            for t in range(k_rows[r]):
                for k in range(k_estimate):
                    cell = shared[b, t, k]
                    adds_companions[b, k, t] = weights[r] * cell
                    if cell > 0:
                        closest[k] = max(closest[k], cell / (sizes[k] + size_of[b, t] - cell))
                        adds_information[b, t, k] = weights[r] * (
                            logs[size_of[b, t]] + logs[sizes[k]] - 2.0 * logs[cell]
                        )
            for k in range(k_estimate):
                if closest[k] == 1.0:
                    unchanged[k] += weights[r]
                if closest[k] >= jaccard:
                    similar[k] += weights[r]
        for first in range(0, alone.size, _TILE):
            last = min(first + _TILE, alone.size)
            for r in range(start, stop):
                add_row(
                    rows[r, begin + first : begin + last],
                    estimate[begin + first : begin + last],
                    weights[r],
                    match[r - start],
                    size_of[r - start],
                    adds_companions[r - start],
                    adds_information[r - start],
                    placed[first:last],
                    companions[:, first:last],
                    information[first:last],
                    alone[first:last],
                )


@array_kernel
def shapes(rows: Int32s, k_rows: Ints, terms: Floats, entropy: Floats, ranked: Int32s) -> None:
    """Entropy in bits of each row, and its cluster sizes from largest to smallest.

    terms holds x·log2(x). Only as many sizes are kept as ``ranked`` has columns;
    missing clusters have size 0.
    """
    n = rows.shape[1]
    kept = ranked.shape[1]
    for r in range(rows.shape[0]):
        count = np.zeros(k_rows[r], np.int32)
        for i in range(n):
            count[np.uint32(rows[r, i])] += 1
        total = 0.0
        largest = np.int32(0)
        for k in range(count.size):
            total += terms[count[k]]
            largest = max(largest, count[k])
        # log2 N as terms[N]/N, so that a single cluster has entropy exactly 0.
        entropy[r] = max((terms[n] - total) / n, 0.0)
        if kept == 1:
            ranked[r, 0] = largest
        else:
            count.sort()
            for k in range(kept):
                ranked[r, k] = count[count.size - 1 - k] if k < count.size else 0


@array_kernel
def count_together(columns: NDArray[np.unsignedinteger[Any]], first: Ints, second: Ints) -> Ints:
    """In how many draws the two items of each pair share a cluster.

    columns holds one row of labels per item: a pair is then two runs of memory
    that are compared several labels at a time.
    """
    counts = np.zeros(first.size, np.int64)
    for p in range(first.size):
        one = columns[first[p]]
        other = columns[second[p]]
        count = np.int32(0)
        for r in range(columns.shape[1]):
            count += np.int32(one[r] == other[r])
        counts[p] = count
    return counts
