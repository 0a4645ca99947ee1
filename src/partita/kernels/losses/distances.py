"""Losses between one partition and many, through contingency tables.

Kernels that are compiled in most processes allocate nothing: each kind of array that a kernel
makes takes Numba a tenth of a second to compile.
"""

from __future__ import annotations

import numpy as np

from partita.kernels._jit import kernel, part_of_kernel
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.losses.forms import Form, combine


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
    sizes, order, table, count = _prepared(estimate, k_rows)
    out = np.empty(len(rows))
    _fill_distances(estimate, sizes, order, rows, k_rows, terms, form, table, count, out)
    return out


def sums_of_rows(
    estimate: Int32s, rows: Int32s, k_rows: Ints, terms: Floats
) -> tuple[Floats, Floats]:
    """Σ f(n_te) and Σ f(n_t) of each row."""
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
    sizes, order, table, count = _prepared(estimate, k_rows)
    _add_companions(estimate, sizes, order, rows, k_rows, weights, table, count, within, anywhere)
