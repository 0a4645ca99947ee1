"""All distances among a few partitions, in one call."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from partita.kernels._jit import kernel, part_of_kernel, supplied_by_type
from partita.kernels.arrays import Floats, Int32s, Ints, UInt64s
from partita.kernels.bits import WORD, count_bits
from partita.kernels.losses.distances import distances, is_dense
from partita.kernels.losses.forms import Form, combine

MASK_BYTES = 1 << 24
"""Bytes, at most, of the sets of bits of all partitions that are compared with each other."""


@part_of_kernel
def sum_by_table(row: Int32s, n_clusters: int, terms: Floats, table: Int32s) -> float:
    """Σ f of the sizes of a row's clusters, counted item by item."""
    for t in range(n_clusters):
        table[t] = 0
    for i in range(row.size):
        table[np.uint64(row[i])] += 1
    total = 0.0
    for t in range(n_clusters):
        total += terms[table[t]]
    return total


class ByBits(NamedTuple):
    """The clusters of the rows of a block, each a set of bits."""

    masks: UInt64s  # (rows, clusters, words)

    def sum_of_row(self, rows: Int32s, first: int, r: int, k: int, terms: Floats) -> float:
        """Bits of the row's clusters, then counted."""
        masks = self.masks[r]
        n = rows.shape[1]
        for t in range(k):
            for w in range(masks.shape[1]):
                masks[t, w] = 0
        for w in range(masks.shape[1]):
            bit = np.uint64(1)
            for i in range(WORD * w, min(WORD * (w + 1), n)):
                masks[np.uint64(rows[first + r, i]), w] |= bit
                bit <<= np.uint64(1)
        total = 0.0
        for t in range(k):
            size = np.uint64(0)
            for w in range(masks.shape[1]):
                size += count_bits(masks[t, w])
            total += terms[size]
        return total

    def joint_of_rows(
        self,
        _rows: Int32s,
        _first: int,
        r: int,
        s: int,
        k_r: int,
        k_s: int,
        terms: Floats,
    ) -> float:
        """From the bits that clusters share."""
        masks = self.masks
        joint = 0.0
        for t in range(k_r):
            if masks.shape[2] == 2:  # up to 128 items need no loop
                one, two = masks[r, t, 0], masks[r, t, 1]
                for e in range(k_s):
                    shared = count_bits(one & masks[s, e, 0]) + count_bits(two & masks[s, e, 1])
                    joint += terms[shared]
            else:
                for e in range(k_s):
                    shared = np.uint64(0)
                    for w in range(masks.shape[2]):
                        shared += count_bits(masks[r, t, w] & masks[s, e, w])
                    joint += terms[shared]
        return joint


class ByTable(NamedTuple):
    """Room for two tables of all cells, where items are counted one by one."""

    table: Int32s

    def sum_of_row(self, rows: Int32s, first: int, r: int, k: int, terms: Floats) -> float:
        """Item by item."""
        return sum_by_table(rows[first + r], k, terms, self.table)

    def joint_of_rows(
        self,
        rows: Int32s,
        first: int,
        r: int,
        s: int,
        k_r: int,
        k_s: int,
        terms: Floats,
    ) -> float:
        """The halves of the items fill tables of their own.

        Neighbours often share a cell, and would otherwise wait for each other.
        """
        table = self.table
        one, other = rows[first + r], rows[first + s]
        n = one.size
        half = n // 2
        cells = k_r * k_s
        # Unsigned: an index that cannot be negative is not checked for counting from the end.
        width, second = np.uint64(k_s), np.uint64(cells)
        for c in range(2 * cells):
            table[c] = 0
        for i in range(half):
            table[np.uint64(one[i]) * width + np.uint64(other[i])] += 1
            table[second + np.uint64(one[half + i]) * width + np.uint64(other[half + i])] += 1
        if n % 2:
            table[one[n - 1] * k_s + other[n - 1]] += 1
        joint = 0.0
        for c in range(cells):
            joint += terms[table[c] + table[cells + c]]
        return joint


@supplied_by_type
def sum_of_row(
    how: ByBits | ByTable, rows: Int32s, first: int, r: int, k: int, terms: Floats
) -> float:
    """Σ f of the sizes of the clusters of row ``first + r``."""
    return how.sum_of_row(rows, first, r, k, terms)


@supplied_by_type
def joint_of_rows(
    how: ByBits | ByTable,
    rows: Int32s,
    first: int,
    r: int,
    s: int,
    k_r: int,
    k_s: int,
    terms: Floats,
) -> float:
    """Σ f(n_rs) of the rows ``first + r`` and ``first + s``, whose own sums are known."""
    return how.joint_of_rows(rows, first, r, s, k_r, k_s, terms)


@kernel
def _fill_blocks(
    rows: Int32s,
    clusters: Ints,
    edges: Ints,
    terms: Floats,
    form: Form,
    how: ByBits | ByTable,
    sums: Floats,
    out: Floats,
) -> None:
    """Through the cells that two partitions share; ``out`` is zero."""
    for b in range(edges.size - 1):
        first, size = edges[b], edges[b + 1] - edges[b]
        for r in range(size):
            sums[r] = sum_of_row(how, rows, first, r, clusters[first + r], terms)
        for r in range(size):
            for s in range(r + 1, size):
                k_r, k_s = clusters[first + r], clusters[first + s]
                joint = joint_of_rows(how, rows, first, r, s, k_r, k_s, terms)
                out[b, r, s] = out[b, s, r] = combine(form, joint, sums[r], sums[s])


def distances_in_blocks(
    rows: Int32s, clusters: Ints, edges: Ints, terms: Floats, form: Form
) -> Floats:
    """All distances among the rows of each block, for a symmetric loss, in padded squares.

    Block b holds the rows edges[b] … edges[b + 1] − 1, of canonical labels.
    """
    n, size = rows.shape[1], int(np.diff(edges).max(initial=0))
    out = np.zeros((edges.size - 1, size, size))
    most = int(clusters.max(initial=1))
    if is_dense(most, most, 4 * n):
        how = _by_bits(clusters, most, size, n) or ByTable(np.empty(2 * most * most, np.int32))
        _fill_blocks(rows, clusters, edges, terms, form, how, np.empty(size), out)
        return out
    for b, (first, stop) in enumerate(pairwise(edges.tolist())):
        for r in range(first, stop - 1):
            far = distances(rows[r], rows[r + 1 : stop], clusters[r + 1 : stop], terms, form)
            at = r - first
            out[b, at, at + 1 : stop - first] = out[b, at + 1 : stop - first, at] = far
    return out


def _by_bits(clusters: Ints, most: int, size: int, n: int) -> ByBits | None:
    """Room for bits, where these take fewer steps than counting the items."""
    words = max(2, -(-n // WORD))
    cells = float(np.square(clusters).mean()) if clusters.size else 0.0
    if size * most * words * 8 > MASK_BYTES or cells * (words + 2) > 4 * n:
        return None
    return ByBits(np.empty((size, most, words), np.uint64))
