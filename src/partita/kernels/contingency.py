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

from partita.kernels._jit import dispatch_on_type, kernel, part_of_kernel, writable
from partita.kernels.arrays import Bools, Floats, Int32s, Ints, UInt64s

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
    estimate, rows, k_rows = writable(estimate), writable(rows), writable(k_rows)
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
def _sum_by_bits(row: Int32s, first: int, end: int, terms: Floats, sets: UInt64s) -> float:
    """Σ f of the sizes of a row's clusters, which become sets of bits: words by clusters."""
    n, place = row.size, np.uint64(first)
    for w in range(sets.shape[0]):
        for c in range(first, end):
            sets[w, c] = 0
        bit = np.uint64(1)
        for i in range(_WORD * w, min(_WORD * (w + 1), n)):
            sets[w, place + np.uint64(row[i])] |= bit
            bit <<= np.uint64(1)
    total = 0.0
    for c in range(first, end):
        size = 0
        for w in range(sets.shape[0]):
            size += count_bits(sets[w, c])
        total += terms[size]
    return total


@kernel
def _fill_blocks(
    rows: Int32s,
    clusters: Ints,
    edges: Ints,
    halved: Bools,
    terms: Floats,
    form: Form,
    table: Int32s,
    sets: UInt64s,
    shared: Int32s,
    begin: Ints,
    sums: Floats,
    out: Floats,
) -> None:
    """By sets of bits where there is room for them, else by tables; ``out`` is zero."""
    by_bits = sets.size > 0
    for b in range(edges.size - 1):
        first, size = edges[b], edges[b + 1] - edges[b]
        half = size // 2 if halved[b] else 0
        begin[0] = 0
        for r in range(size):
            row, k = rows[first + r], clusters[first + r]
            begin[r + 1] = begin[r] + k
            if by_bits:
                sums[r] = _sum_by_bits(row, begin[r], begin[r + 1], terms, sets)
            else:
                sums[r] = sum_by_table(row, k, terms, table)
        for r in range(half if half > 0 else size):
            others = half if half > 0 else r + 1
            if by_bits:
                low, high = np.uint64(begin[others]), np.uint64(begin[size])
                for t in range(clusters[first + r]):
                    # Unsigned: indices not checked for counting from the end run in vectors.
                    one = np.uint64(begin[r] + t)
                    for c in range(low, high):
                        shared[t, c] = np.int32(count_bits(sets[0, one] & sets[0, c]))
                    for w in range(1, sets.shape[0]):
                        for c in range(low, high):
                            shared[t, c] += np.int32(count_bits(sets[w, one] & sets[w, c]))
            for s in range(others, size):
                k_r, k_s = clusters[first + r], clusters[first + s]
                total = 0.0
                if by_bits:
                    for t in range(k_r):
                        for c in range(begin[s], begin[s + 1]):
                            total += terms[np.uint64(shared[t, c])]
                else:
                    total = _joint_of_rows(rows[first + r], rows[first + s], k_r, k_s, terms, table)
                far = combine(form, total, sums[r], sums[s])
                out[b, r, s - half] = far
                if half == 0:
                    out[b, s, r] = far


def distances_in_blocks(
    rows: Int32s,
    clusters: Ints,
    edges: Ints,
    terms: Floats,
    form: Form,
    halved: Bools | None = None,
) -> Floats:
    """Distances among the rows of each block, for a symmetric loss, in padded squares.

    Block b holds the rows edges[b] … edges[b + 1] − 1, of canonical labels. All distances, or where
    a block is ``halved`` those of its first half from its second.
    """
    n, sizes = rows.shape[1], np.diff(edges)
    halved = np.zeros(sizes.size, np.bool_) if halved is None else halved
    size, side = int(sizes.max(initial=0)), int(np.where(halved, sizes // 2, sizes).max(initial=0))
    out = np.zeros((sizes.size, side, side))
    most = int(clusters.max(initial=1))
    if is_dense(most, most, 4 * n):
        words = -(-n // _WORD)
        # Where sets of bits take fewer steps than counting the items: in half the time.
        cells = float(np.square(clusters).mean()) if clusters.size else 0.0
        by_bits = size * most * words <= _SET_WORDS and cells * (words + 2) <= 4 * n
        room = size * most if by_bits else 0
        _fill_blocks(
            rows,
            clusters,
            edges,
            halved,
            terms,
            form,
            np.empty(2 * most * most, np.int32),
            np.empty((words, room), np.uint64),
            np.empty((most, room), np.int32),
            np.empty(size + 1, np.int64),
            np.empty(size),
            out,
        )
        return out
    for b, (first, stop) in enumerate(pairwise(edges.tolist())):
        half = (stop - first) // 2 if halved[b] else 0
        for r in range(first, first + half if half else stop - 1):
            others = first + half if half else r + 1
            far = distances(rows[r], rows[others:stop], clusters[others:stop], terms, form)
            at, begin = r - first, others - first - half
            out[b, at, begin : begin + far.size] = far
            if not half:
                out[b, begin : begin + far.size, at] = far
    return out
