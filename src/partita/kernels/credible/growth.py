"""Greedy growth of a set of items on whose grouping draws agree."""

from __future__ import annotations

import numpy as np

from partita.kernels._jit import array_kernel, kernel, part_of_kernel
from partita.kernels.arrays import Bools, Floats, Int32s, Ints

_FEW = 8
"""Clusters a table of agreeing weights begins with; it doubles as they appear."""


@part_of_kernel
def count_labels(partial: Int32s) -> int:
    """Number of clusters of a partial partition."""
    k = 0
    for i in range(partial.size):
        k = max(k, partial[i] + 1)
    return k


def agreeing(rows: Int32s, partial: Int32s) -> Bools:
    """Which rows group the items with partial labels (≥ 0) exactly as those labels do."""
    holds = np.empty(len(rows), np.bool_)
    _fill_agreeing(rows, partial, holds)
    return holds


@array_kernel
def _fill_agreeing(rows: Int32s, partial: Int32s, out: Bools) -> None:
    n = rows.shape[1]
    label_of = np.empty(max(1, count_labels(partial)), np.int32)
    cluster_of = np.empty(n, np.int32)
    for r in range(rows.shape[0]):
        label_of[:] = -1
        cluster_of[:] = -1
        same = True
        for i in range(n):
            c = partial[i]
            if c < 0:
                continue
            label = rows[r, i]
            if label_of[c] < 0 and cluster_of[label] < 0:
                label_of[c] = label
                cluster_of[label] = c
            elif label_of[c] != label or cluster_of[label] != c:
                same = False
                break
        out[r] = same


@kernel
def _add_row(
    row: Int32s, weight: float, firsts: Ints, k: int, cluster_of: Ints, agree: Floats, fresh: Floats
) -> None:
    """Add a row's weight to where it puts each item: into a cluster of the core, or apart."""
    for c in range(k):
        cluster_of[row[firsts[c]]] = c
    for j in range(row.size):
        c = cluster_of[row[j]]
        if c >= 0:
            agree[c, j] += weight
        else:
            fresh[j] += weight
    for c in range(k):
        cluster_of[row[firsts[c]]] = -1


@kernel
def _take_in(
    rows: Int32s,
    weights: Floats,
    item: int,
    place: int,
    firsts: Ints,
    k: int,
    cluster_of: Ints,
    alive: Bools,
    agree: Floats,
    fresh: Floats,
) -> float:
    """Drop the rows that put an item elsewhere; the weight of those that stay.

    place is one of the k clusters, or k for a new one, whose column is then filled.
    """
    total = 0.0
    for r in range(rows.shape[0]):
        if not alive[r]:
            continue
        row = rows[r]
        label = row[item]
        stays = True
        if place < k:
            stays = row[firsts[place]] == label
        else:
            for other in range(k):
                if row[firsts[other]] == label:
                    stays = False
                    break
        weight = weights[r]
        if not stays:
            alive[r] = False
            _add_row(row, -weight, firsts, k, cluster_of, agree, fresh)
            continue
        total += weight
        if place == k:
            for j in range(row.size):
                moved = weight if row[j] == label else 0.0
                agree[k, j] += moved
                fresh[j] -= moved
    return total


@array_kernel
def grow(
    rows: Int32s,
    weights: Floats,
    partial: Int32s,
    waiting: Bools,
    floor: float,
    tolerance: float,
    order: Ints,
    mass: Floats,
    alive: Bools,
    reach: Floats,
) -> int:
    """Add items to a partial partition, each time the one that keeps most weight; how many.

    partial holds the labels so far (−1: outside; clusters are numbered without
    gaps) and receives those of the items added. order and mass receive the
    items added, in turn, and the weight of the rows that agree after each. It
    ends when every item is in or the weight would fall below the floor. Items
    that are waiting come in only when no other can. On return alive marks the
    rows that agree, and reach[j] is the weight left after adding item j
    (of the items outside).
    """
    m, n = rows.shape
    k = count_labels(partial)
    capacity = max(_FEW, 2 * k)
    agree = np.zeros((capacity, n))
    fresh = np.zeros(n)
    firsts = np.zeros(n, np.int64)
    for i in range(n - 1, -1, -1):
        if partial[i] >= 0:
            firsts[partial[i]] = i
    cluster_of = np.full(n, np.int64(-1))
    _fill_agreeing(rows, partial, alive)
    total = 0.0
    for r in range(m):
        if alive[r]:
            total += weights[r]
            _add_row(rows[r], weights[r], firsts, k, cluster_of, agree, fresh)
    added = 0
    patient = False
    for j in range(n):
        patient = patient or waiting[j]
    choice = np.empty(n, np.int64)
    while True:
        best = -1
        for j in range(n):
            if partial[j] >= 0:
                continue
            c_best = k
            w_best = fresh[j]
            for c in range(k):
                if agree[c, j] > w_best:
                    w_best = agree[c, j]
                    c_best = c
            reach[j] = w_best
            choice[j] = c_best
            if patient and waiting[j]:
                continue
            if c_best < k and w_best >= total - tolerance:
                # It costs no row: nothing changes for the others, so take it on the way.
                partial[j] = c_best
                order[added] = j
                mass[added] = total
                added += 1
            elif best < 0 or w_best > reach[best]:
                best = j
        if best < 0 or reach[best] < floor - tolerance:
            if patient:
                patient = False
                continue
            return added
        c = choice[best]
        if c == k:
            if k == capacity:
                wider = np.zeros((2 * capacity, n))
                for row in range(capacity):  # a slice would compile, and load, its error message
                    for j in range(n):
                        wider[row, j] = agree[row, j]
                agree = wider
                capacity *= 2
            firsts[k] = best
        total = _take_in(rows, weights, best, c, firsts, k, cluster_of, alive, agree, fresh)
        if c == k:
            k += 1
        partial[best] = c
        order[added] = best
        mass[added] = total
        added += 1
