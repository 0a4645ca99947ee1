"""Losses of pairs of partitions from contingency tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numba
import numpy as np
from numba.core.registry import CPUDispatcher

from partita.kernels._jit import dispatch_on_type, kernel, part_of_kernel
from partita.kernels.arrays import Floats, Int32s, Ints, UInt64s, writable

_WORD, _SET_WORDS = 64, 1 << 21
"""Bits of a word; words, at most, of the sets of bits of draws that are compared."""


@part_of_kernel
def count_bits(word: Any) -> Any:
    """How many bits of a word are set. Compilers know these steps as one of the processor's."""
    x = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


Form = Any
"""A NamedTuple of constants with a method ``combine(self, joint, estimate, truth)``."""


@dispatch_on_type
def combine(form: Form, joint: float, estimate: float, truth: float) -> float:
    """Loss from its three sums."""
    return form.combine(joint, estimate, truth)  # type: ignore[no-any-return]


def entropy_terms(n_items: int) -> Floats:
    """x·log2(x) for x = 0, …, n_items: the term of the entropic losses.

    By the C library's logarithm, as kernels have it: NumPy's may differ in the last bit.
    """
    return _entropy_terms(n_items).copy()


@lru_cache(maxsize=4)
def _entropy_terms(n_items: int) -> Floats:
    return np.array([0.0, *(x * math.log2(x) for x in range(1, n_items + 1))])


def pair_terms(n_items: int) -> Floats:
    """x² for x = 0, …, n_items: the term of the losses that count pairs."""
    return np.arange(n_items + 1, dtype=np.float64) ** 2


def compile_function(function: Callable[..., float]) -> Any:
    """A user's function as kernels can call it."""
    if isinstance(function, CPUDispatcher):
        return function
    return numba.njit(error_model="numpy")(function)


def is_dense(k_estimate: int, k_truth: int, n_items: int) -> bool:
    """Whether a full contingency table is at most as expensive as two passes over the items."""
    return k_estimate * k_truth <= 2 * n_items + 64


def _prepared(estimate: Int32s, k_rows: Ints) -> tuple[Ints, Int32s, Int32s, Int32s]:
    """Sizes of the estimate's clusters, its items by cluster, a table and a counter.

    The items are sorted only where some row is walked.
    """
    n = estimate.size
    sizes = np.bincount(estimate)
    k_most = max(1, int(k_rows.max(initial=0)))
    order = np.empty(0, np.int32)
    if not is_dense(sizes.size, k_most, n):
        order = np.argsort(estimate, kind="stable").astype(np.int32)
    return sizes, order, np.empty(2 * n + 64, np.int32), np.zeros(k_most, np.int32)


@part_of_kernel
def _sums_of_row(
    estimate: Int32s,
    sizes: Ints,
    order: Int32s,
    rows: Int32s,
    r: int,
    k_truth: int,
    terms: Floats,
    table: Int32s,
    count: Int32s,
) -> tuple[float, float]:
    """Σ f(n_te) and Σ f(n_t) of row r.

    Sums run in order of first appearance, so that for equal partitions they
    agree with Σ f(n_e) to the last bit and the loss is exactly 0.
    """
    joint = 0.0
    for t in range(k_truth):
        count[t] = 0
    if sizes.size * k_truth <= table.size:
        # Unsigned: an index that cannot be negative is not checked for counting from the end.
        width = np.uint64(k_truth)
        for c in range(sizes.size * k_truth):
            table[c] = 0
        for i in range(estimate.size):
            table[np.uint64(estimate[i]) * width + np.uint64(rows[r, i])] += 1
        for k in range(sizes.size):
            for t in range(k_truth):
                cell = table[k * k_truth + t]
                joint += terms[cell]
                count[t] += cell
    else:  # cluster by cluster of the estimate, in O(N) and K cells of scratch
        start = 0
        for k in range(sizes.size):
            stop = start + sizes[k]
            for p in range(start, stop):
                count[rows[r, order[p]]] += 1
            for p in range(start, stop):
                t = rows[r, order[p]]
                joint += terms[count[t]]
                count[t] = 0
            start = stop
        for i in range(estimate.size):
            count[rows[r, i]] += 1
    truth = 0.0
    for t in range(k_truth):
        truth += terms[count[t]]
    return joint, truth


@kernel
def _fill_sums(
    estimate: Int32s,
    sizes: Ints,
    order: Int32s,
    rows: Int32s,
    k_rows: Ints,
    terms: Floats,
    table: Int32s,
    count: Int32s,
    joint: Floats,
    truth: Floats,
) -> None:
    for r in range(rows.shape[0]):
        joint[r], truth[r] = _sums_of_row(
            estimate, sizes, order, rows, r, k_rows[r], terms, table, count
        )


@kernel
def combine_rows(form: Form, joint: Floats, own: float, truth: Floats, out: Floats) -> None:
    """Loss of each row from its three sums."""
    for r in range(out.size):
        out[r] = combine(form, joint[r], own, truth[r])


def distances(estimate: Int32s, rows: Int32s, k_rows: Ints, terms: Floats, form: Form) -> Floats:
    """Loss of one estimate against each row (a truth)."""
    joint, truth = sums_of_rows(estimate, rows, k_rows, terms)
    own = float(np.cumsum(terms[np.bincount(estimate)])[-1])  # in the order of the joint sums
    out = np.empty(len(rows))
    combine_rows(form, joint, own, truth, out)
    return out


def sums_of_rows(
    estimate: Int32s, rows: Int32s, k_rows: Ints, terms: Floats
) -> tuple[Floats, Floats]:
    """Σ f(n_te) and Σ f(n_t) of each row."""
    estimate, k_rows = writable(estimate), writable(k_rows)
    sizes, order, table, count = _prepared(estimate, k_rows)
    joint, truth = np.empty(len(rows)), np.empty(len(rows))
    _fill_sums(estimate, sizes, order, rows, k_rows, terms, table, count, joint, truth)
    return joint, truth


@kernel
def _add_companions(
    estimate: Int32s,
    sizes: Ints,
    order: Int32s,
    rows: Int32s,
    k_rows: Ints,
    weights: Floats,
    table: Int32s,
    count: Int32s,
    within: Floats,
    anywhere: Floats,
) -> None:
    n = estimate.size
    for r in range(rows.shape[0]):
        weight = weights[r]
        k_truth = k_rows[r]
        for t in range(k_truth):
            count[t] = 0
        for i in range(n):
            count[rows[r, i]] += 1
        for i in range(n):
            anywhere[i] += weight * count[rows[r, i]]
        if sizes.size * k_truth <= table.size:
            for c in range(sizes.size * k_truth):
                table[c] = 0
            for i in range(n):
                table[estimate[i] * k_truth + rows[r, i]] += 1
            for i in range(n):
                within[i] += weight * table[estimate[i] * k_truth + rows[r, i]]
        else:
            for t in range(k_truth):
                count[t] = 0
            start = 0
            for k in range(sizes.size):
                stop = start + sizes[k]
                for p in range(start, stop):
                    count[rows[r, order[p]]] += 1
                for p in range(start, stop):
                    within[order[p]] += weight * count[rows[r, order[p]]]
                for p in range(start, stop):
                    count[rows[r, order[p]]] = 0
                start = stop


def companions(
    estimate: Int32s, rows: Int32s, k_rows: Ints, weights: Floats, within: Floats, anywhere: Floats
) -> None:
    """Add each item's expected number of companions, within its estimated cluster and anywhere.

    within[i] = Σ_r w_r |C_r(i) ∩ Ĉ(i)| and anywhere[i] = Σ_r w_r |C_r(i)|: the
    row sums of the similarity matrix, without the matrix.
    """
    estimate, k_rows = writable(estimate), writable(k_rows)
    sizes, order, table, count = _prepared(estimate, k_rows)
    _add_companions(estimate, sizes, order, rows, k_rows, weights, table, count, within, anywhere)


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


@part_of_kernel
def _joint_of_rows(
    one: Int32s, other: Int32s, k_one: int, k_other: int, terms: Floats, table: Int32s
) -> float:
    """Σ f of the cells of two rows' table. The halves of the items fill tables of their own.

    Neighbours often share a cell, and would otherwise wait for each other.
    """
    n = one.size
    half = n // 2
    cells = k_one * k_other
    # Unsigned: an index that cannot be negative is not checked for counting from the end.
    width, second = np.uint64(k_other), np.uint64(cells)
    for c in range(2 * cells):
        table[c] = 0
    for i in range(half):
        table[np.uint64(one[i]) * width + np.uint64(other[i])] += 1
        table[second + np.uint64(one[half + i]) * width + np.uint64(other[half + i])] += 1
    if n % 2:
        table[one[n - 1] * k_other + other[n - 1]] += 1
    joint = 0.0
    for c in range(cells):
        joint += terms[table[c] + table[cells + c]]
    return joint


@part_of_kernel
def _sum_by_bits(row: Int32s, k: int, terms: Floats, sets: UInt64s) -> float:
    """Σ f of the sizes of a row's clusters, which become sets of bits."""
    n = row.size
    for t in range(k):
        for w in range(sets.shape[1]):
            sets[t, w] = 0
    for w in range(sets.shape[1]):
        bit = np.uint64(1)
        for i in range(_WORD * w, min(_WORD * (w + 1), n)):
            sets[np.uint64(row[i]), w] |= bit
            bit <<= np.uint64(1)
    total = 0.0
    for t in range(k):
        size = 0
        for w in range(sets.shape[1]):
            size += count_bits(sets[t, w])
        total += terms[size]
    return total


@part_of_kernel
def _joint_by_bits(one: UInt64s, other: UInt64s, terms: Floats) -> float:
    """Σ f of the items that the clusters of two rows share."""
    joint = 0.0
    for t in range(one.shape[0]):
        for e in range(other.shape[0]):
            shared = 0
            for w in range(one.shape[1]):
                shared += count_bits(one[t, w] & other[e, w])
            joint += terms[shared]
    return joint


@kernel
def _fill_blocks(
    rows: Int32s,
    clusters: Ints,
    edges: Ints,
    terms: Floats,
    form: Form,
    table: Int32s,
    sets: UInt64s,
    sums: Floats,
    out: Floats,
) -> None:
    """By sets of bits where there is room for them, else by tables; ``out`` is zero."""
    by_bits = sets.shape[0] > 0
    for b in range(edges.size - 1):
        first, size = edges[b], edges[b + 1] - edges[b]
        for r in range(size):
            row, k_r = rows[first + r], clusters[first + r]
            if by_bits:
                sums[r] = _sum_by_bits(row, k_r, terms, sets[r])
            else:
                sums[r] = sum_by_table(row, k_r, terms, table)
        for r in range(size):
            for s in range(r + 1, size):
                k_r, k_s = clusters[first + r], clusters[first + s]
                if by_bits:
                    joint = _joint_by_bits(sets[r, :k_r], sets[s, :k_s], terms)
                else:
                    joint = _joint_of_rows(rows[first + r], rows[first + s], k_r, k_s, terms, table)
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
        words = -(-n // _WORD)
        # Where sets of bits take fewer steps than counting the items: in half the time.
        cells = float(np.square(clusters).mean()) if clusters.size else 0.0
        by_bits = size * most * words <= _SET_WORDS and cells * (words + 2) <= 4 * n
        sets = np.empty((size if by_bits else 0, most, words), np.uint64)
        table = np.empty(2 * most * most, np.int32)
        _fill_blocks(rows, clusters, edges, terms, form, table, sets, np.empty(size), out)
        return out
    for b, (first, stop) in enumerate(pairwise(edges.tolist())):
        for r in range(first, stop - 1):
            far = distances(rows[r], rows[r + 1 : stop], clusters[r + 1 : stop], terms, form)
            at = r - first
            out[b, at, at + 1 : stop - first] = out[b, at + 1 : stop - first, at] = far
    return out
