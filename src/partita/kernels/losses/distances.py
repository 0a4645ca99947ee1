"""Losses between one partition and many, through contingency tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import kernel, part_of_kernel
from partita.kernels.losses.forms import Form, combine


@part_of_kernel
def sizes_and_order(
    labels: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Cluster sizes, and the items sorted by cluster."""
    n = labels.size
    highest = 0
    for i in range(n):
        highest = max(highest, labels[i])
    sizes = np.zeros(highest + 1, np.int64)
    for i in range(n):
        sizes[labels[i]] += 1
    position = np.zeros(highest + 1, np.int64)
    for k in range(1, highest + 1):
        position[k] = position[k - 1] + sizes[k - 1]
    order = np.empty(n, np.int32)
    for i in range(n):
        order[position[labels[i]]] = i
        position[labels[i]] += 1
    return sizes, order


@part_of_kernel
def is_dense(k_estimate: int, k_truth: int, n_items: int) -> bool:
    """Whether a full contingency table costs no more than walking the items twice."""
    return k_estimate * k_truth <= 2 * n_items + 64


@part_of_kernel
def three_sums(
    estimate: NDArray[np.int32],
    rows: NDArray[np.int32],
    k_rows: NDArray[np.int64],
    terms: NDArray[np.float64],
    joint: NDArray[np.float64],
    truth: NDArray[np.float64],
) -> float:
    """Fill Σ f(n_te) and Σ f(n_t) for each row; return Σ f(n_e).

    Sums run in order of first appearance, so that for equal partitions the
    three agree to the last bit and the loss is exactly 0.
    """
    n = estimate.size
    sizes, order = sizes_and_order(estimate)
    k_estimate = sizes.size
    k_most = 1
    for r in range(k_rows.size):
        k_most = max(k_most, k_rows[r])
    table = np.zeros(2 * n + 64, np.int32)
    count = np.zeros(k_most, np.int32)
    own = 0.0
    for k in range(k_estimate):
        own += terms[sizes[k]]
    for r in range(rows.shape[0]):
        k_truth = k_rows[r]
        for t in range(k_truth):
            count[t] = 0
        total = 0.0
        if is_dense(k_estimate, k_truth, n):
            for c in range(k_estimate * k_truth):
                table[c] = 0
            for i in range(n):
                table[estimate[i] * k_truth + rows[r, i]] += 1
            for k in range(k_estimate):
                for t in range(k_truth):
                    cell = table[k * k_truth + t]
                    total += terms[cell]
                    count[t] += cell
        else:
            total = _joint_by_walking(sizes, order, rows[r], terms, count)
            for i in range(n):
                count[rows[r, i]] += 1
        joint[r] = total
        total = 0.0
        for t in range(k_truth):
            total += terms[count[t]]
        truth[r] = total
    return own


@part_of_kernel
def _joint_by_walking(
    sizes: NDArray[np.int64],
    order: NDArray[np.int32],
    row: NDArray[np.int32],
    terms: NDArray[np.float64],
    count: NDArray[np.int32],
) -> float:
    """Σ f(n_te) cluster by cluster of the estimate, in O(N) and K cells of scratch (left zero)."""
    total = 0.0
    start = 0
    for k in range(sizes.size):
        stop = start + sizes[k]
        for p in range(start, stop):
            count[row[order[p]]] += 1
        for p in range(start, stop):
            t = row[order[p]]
            total += terms[count[t]]
            count[t] = 0
        start = stop
    return total


@kernel
def distances(
    estimate: NDArray[np.int32],
    rows: NDArray[np.int32],
    k_rows: NDArray[np.int64],
    terms: NDArray[np.float64],
    form: Form,
) -> NDArray[np.float64]:
    """Loss of one estimate against each row (a truth)."""
    n_rows = rows.shape[0]
    joint = np.empty(n_rows)
    truth = np.empty(n_rows)
    own = three_sums(estimate, rows, k_rows, terms, joint, truth)
    out = np.empty(n_rows)
    for r in range(n_rows):
        out[r] = combine(form, joint[r], own, truth[r])
    return out


@kernel
def companions(
    estimate: NDArray[np.int32],
    rows: NDArray[np.int32],
    k_rows: NDArray[np.int64],
    weights: NDArray[np.float64],
    within: NDArray[np.float64],
    anywhere: NDArray[np.float64],
) -> None:
    """Add each item's expected number of companions, within its estimated cluster and anywhere.

    within[i] = Σ_r w_r |C_r(i) ∩ Ĉ(i)| and anywhere[i] = Σ_r w_r |C_r(i)|: the
    row sums of the similarity matrix, without the matrix.
    """
    n = estimate.size
    sizes, order = sizes_and_order(estimate)
    k_most = 1
    for r in range(k_rows.size):
        k_most = max(k_most, k_rows[r])
    count = np.zeros(k_most, np.int32)
    table = np.zeros(2 * n + 64, np.int32)
    for r in range(rows.shape[0]):
        weight = weights[r]
        k_truth = k_rows[r]
        for t in range(k_truth):
            count[t] = 0
        for i in range(n):
            count[rows[r, i]] += 1
        for i in range(n):
            anywhere[i] += weight * count[rows[r, i]]
        if is_dense(sizes.size, k_truth, n):
            for c in range(sizes.size * k_truth):
                table[c] = 0
            for i in range(n):
                table[estimate[i] * k_truth + rows[r, i]] += 1
            for i in range(n):
                within[i] += weight * table[estimate[i] * k_truth + rows[r, i]]
        else:
            for t in range(k_truth):
                count[t] = 0
            _within_by_walking(sizes, order, rows[r], weight, count, within)


@part_of_kernel
def _within_by_walking(
    sizes: NDArray[np.int64],
    order: NDArray[np.int32],
    row: NDArray[np.int32],
    weight: float,
    count: NDArray[np.int32],
    within: NDArray[np.float64],
) -> None:
    """Add an item's companions within its estimated cluster, in K cells of scratch (left zero)."""
    start = 0
    for k in range(sizes.size):
        stop = start + sizes[k]
        for p in range(start, stop):
            count[row[order[p]]] += 1
        for p in range(start, stop):
            within[order[p]] += weight * count[row[order[p]]]
        for p in range(start, stop):
            count[row[order[p]]] = 0
        start = stop
