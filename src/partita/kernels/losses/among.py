"""All distances among a few partitions, in one call."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import kernel, part_of_kernel
from partita.kernels.bits import WORD, count_bits
from partita.kernels.losses.distances import distances, is_dense
from partita.kernels.losses.forms import Form, combine

MASK_BYTES = 1 << 24
"""Bytes, at most, of the sets of bits of all partitions that are compared with each other."""


@part_of_kernel
def sum_by_bits(
    row: NDArray[np.int32],
    n_clusters: int,
    terms: NDArray[np.float64],
    masks: NDArray[np.uint64],
) -> float:
    """The clusters of a row, each a set of bits, and Σ f of their sizes."""
    for t in range(n_clusters):
        for w in range(masks.shape[1]):
            masks[t, w] = 0
    for w in range(masks.shape[1]):
        bit = np.uint64(1)
        for i in range(WORD * w, min(WORD * (w + 1), row.size)):
            masks[np.uint64(row[i]), w] |= bit
            bit <<= np.uint64(1)
    total = 0.0
    for t in range(n_clusters):
        size = np.uint64(0)
        for w in range(masks.shape[1]):
            size += count_bits(masks[t, w])
        total += terms[size]
    return total


@part_of_kernel
def sum_by_table(
    row: NDArray[np.int32],
    n_clusters: int,
    terms: NDArray[np.float64],
    table: NDArray[np.int32],
) -> float:
    """Σ f of the sizes of a row's clusters, counted item by item."""
    for t in range(n_clusters):
        table[t] = 0
    for i in range(row.size):
        table[np.uint64(row[i])] += 1
    total = 0.0
    for t in range(n_clusters):
        total += terms[table[t]]
    return total


@part_of_kernel
def joint_by_bits(
    masks: NDArray[np.uint64], r: int, s: int, k_r: int, k_s: int, terms: NDArray[np.float64]
) -> float:
    """Σ f(n_rs) of two rows from the bits that their clusters share."""
    joint = 0.0
    for t in range(k_r):
        if masks.shape[2] == 2:  # up to 128 items need no loop
            one, two = masks[r, t, 0], masks[r, t, 1]
            for e in range(k_s):
                joint += terms[count_bits(one & masks[s, e, 0]) + count_bits(two & masks[s, e, 1])]
        else:
            for e in range(k_s):
                shared = np.uint64(0)
                for w in range(masks.shape[2]):
                    shared += count_bits(masks[r, t, w] & masks[s, e, w])
                joint += terms[shared]
    return joint


@part_of_kernel
def joint_by_table(
    rows: NDArray[np.int32],
    r: int,
    s: int,
    k_r: int,
    k_s: int,
    terms: NDArray[np.float64],
    table: NDArray[np.int32],
) -> float:
    """The same, counted item by item; ``table`` has room for two tables of all cells.

    The halves of the items fill tables of their own: neighbours often share a
    cell, and would otherwise wait for each other.
    """
    n = rows.shape[1]
    half = n // 2
    cells = k_r * k_s
    # Unsigned: an index that cannot be negative is not checked for counting from the end.
    width, second = np.uint64(k_s), np.uint64(cells)
    for c in range(2 * cells):
        table[c] = 0
    for i in range(half):
        table[np.uint64(rows[r, i]) * width + np.uint64(rows[s, i])] += 1
        other = np.uint64(rows[r, half + i]) * width + np.uint64(rows[s, half + i])
        table[second + other] += 1
    if n % 2:
        table[rows[r, n - 1] * k_s + rows[s, n - 1]] += 1
    joint = 0.0
    for c in range(cells):
        joint += terms[table[c] + table[cells + c]]
    return joint


@kernel
def _fill_blocks(
    rows: NDArray[np.int32],
    clusters: NDArray[np.int64],
    edges: NDArray[np.int64],
    terms: NDArray[np.float64],
    form: Form,
    masks: NDArray[np.uint64],
    table: NDArray[np.int32],
    sums: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Through tables of all cells, filled by bits where there are masks; ``out`` is zero."""
    for b in range(edges.size - 1):
        first, size = edges[b], edges[b + 1] - edges[b]
        for r in range(size):
            row, n_clusters = rows[first + r], clusters[first + r]
            if masks.size:
                sums[r] = sum_by_bits(row, n_clusters, terms, masks[r])
            else:
                sums[r] = sum_by_table(row, n_clusters, terms, table)
        for r in range(size):
            for s in range(r + 1, size):
                k_r, k_s = clusters[first + r], clusters[first + s]
                if masks.size:
                    joint = joint_by_bits(masks, r, s, k_r, k_s, terms)
                else:
                    joint = joint_by_table(rows, first + r, first + s, k_r, k_s, terms, table)
                out[b, r, s] = out[b, s, r] = combine(form, joint, sums[r], sums[s])


def distances_in_blocks(
    rows: NDArray[np.int32],
    clusters: NDArray[np.int64],
    edges: NDArray[np.int64],
    terms: NDArray[np.float64],
    form: Form,
) -> NDArray[np.float64]:
    """All distances among the rows of each block, for a symmetric loss, in padded squares.

    Block b holds the rows edges[b] … edges[b + 1] − 1, of canonical labels.
    """
    n, size = rows.shape[1], int(np.diff(edges).max(initial=0))
    out = np.zeros((edges.size - 1, size, size))
    most = int(clusters.max(initial=1))
    if is_dense(most, most, 4 * n):
        masks = np.empty(_masks(clusters, most, size, n), np.uint64)
        table = np.empty(2 * most * most, np.int32)
        _fill_blocks(rows, clusters, edges, terms, form, masks, table, np.empty(size), out)
        return out
    for b, (first, stop) in enumerate(pairwise(edges.tolist())):
        for r in range(first, stop - 1):
            far = distances(rows[r], rows[r + 1 : stop], clusters[r + 1 : stop], terms, form)
            at = r - first
            out[b, at, at + 1 : stop - first] = out[b, at + 1 : stop - first, at] = far
    return out


def _masks(clusters: NDArray[np.int64], most: int, size: int, n: int) -> tuple[int, int, int]:
    """Room for bits, where these take fewer steps than counting the items; none elsewhere."""
    words = max(2, -(-n // WORD))
    cells = float(np.square(clusters).mean()) if clusters.size else 0.0
    many = size * most * words * 8 > MASK_BYTES
    return (0, 0, 0) if many or cells * (words + 2) > 4 * n else (size, most, words)
