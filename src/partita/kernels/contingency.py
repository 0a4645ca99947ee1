"""Losses of pairs of partitions from contingency tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic, overload

from partita.kernels._jit import kernel, part_of_kernel, supplied_by_type
from partita.kernels.arrays import Floats, Int32s, Ints, UInt64s, writable

WORD = 64
"""Bits of a word."""


def count_bits(word: np.uint64) -> np.uint64:
    """How many bits of a word are set; in kernels by the processor's own instruction."""
    return np.uint64(int(word).bit_count())


@intrinsic
def _processors_count(typing: Any, word: Any) -> Any:
    del typing, word

    def count(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), count


@overload(
    count_bits, strict=False, jit_options={"no_cfunc_wrapper": True, "no_cpython_wrapper": True}
)
def _count_bits(word: Any) -> Callable[[Any], Any]:
    del word
    return lambda word: _processors_count(word)


Form = Any
"""A NamedTuple of constants with a method ``combine(self, joint, estimate, truth)``."""


@supplied_by_type
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


def compiled(function: Callable[..., float]) -> Any:
    """A user's function as kernels can call it."""
    if isinstance(function, CPUDispatcher):
        return function
    return numba.njit(error_model="numpy")(function)


def is_dense(k_estimate: int, k_truth: int, n_items: int) -> bool:
    """Whether a full contingency table costs no more than walking the items twice."""
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
def _fill_distances(
    estimate: Int32s,
    sizes: Ints,
    order: Int32s,
    rows: Int32s,
    k_rows: Ints,
    terms: Floats,
    form: Form,
    table: Int32s,
    count: Int32s,
    out: Floats,
) -> None:
    own = 0.0
    for k in range(sizes.size):
        own += terms[sizes[k]]
    for r in range(rows.shape[0]):
        joint, truth = _sums_of_row(estimate, sizes, order, rows, r, k_rows[r], terms, table, count)
        out[r] = combine(form, joint, own, truth)


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


def distances(estimate: Int32s, rows: Int32s, k_rows: Ints, terms: Floats, form: Form) -> Floats:
    """Loss of one estimate against each row (a truth)."""
    estimate, k_rows = writable(estimate), writable(k_rows)
    sizes, order, table, count = _prepared(estimate, k_rows)
    out = np.empty(len(rows))
    _fill_distances(estimate, sizes, order, rows, k_rows, terms, form, table, count, out)
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
