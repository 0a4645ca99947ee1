"""How much any set of items can gain over the clusters of an estimate: branch and bound.

A set takes c_k items from each cluster k of the estimate. What its items can have in common with
their clusters in the draws is bounded by tables that depend on these numbers alone, and the
numbers are searched in boxes; see ``search/lower_bounds/compositions.py``.
"""

from __future__ import annotations

import math

import numpy as np

from partita.kernels._jit import array_kernel, part_of_kernel
from partita.kernels.arrays import Floats, Int32s, Ints

REFERENCES = 3
"""Ways to measure an overlap: by the nearest cluster, by the item's own, by items."""


@part_of_kernel
def overlaps(row: Int32s, k: int, estimate: Int32s, table: Ints, nearest: Ints) -> None:
    """Contingency table of a draw and an estimate, and the nearest cluster of each of its own."""
    for t in range(k):
        for q in range(table.shape[1]):
            table[t, q] = 0
    for i in range(row.size):
        table[row[i], estimate[i]] += 1
    for t in range(k):
        best = 0
        for q in range(table.shape[1]):
            if table[t, q] > table[t, best]:
                best = q
        nearest[t] = best


@part_of_kernel
def sort_falling(values: Floats) -> None:
    """Sort in place, largest first, by Shell's method: NumPy's sort takes seconds to compile."""
    gap = 1
    while gap < values.size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for z in range(gap, values.size):
            moved = values[z]
            place = z
            while place >= gap and values[place - gap] < moved:
                values[place] = values[place - gap]
                place -= gap
            values[place] = moved
        gap //= 3


@part_of_kernel
def largest_count(clusters: Ints) -> int:
    """The largest number of clusters of a draw."""
    most = 0
    for m in range(clusters.size):
        most = max(most, clusters[m])
    return most


@array_kernel
def side_masses(
    rows: Int32s, clusters: Ints, weights: Floats, estimate: Int32s, n_sides: int
) -> Floats:
    """Mass of the draws in which an item stands with each cluster of the estimate.

    An item stands with the cluster that its cluster in the draw shares most items with; with its
    own where that shares as many.
    """
    n = rows.shape[1]
    k_most = largest_count(clusters)
    table = np.zeros((k_most, n_sides), np.int64)
    nearest = np.empty(k_most, np.int64)
    mass = np.zeros((n, n_sides))
    for m in range(rows.shape[0]):
        overlaps(rows[m], clusters[m], estimate, table, nearest)
        for i in range(n):
            t = rows[m, i]
            side = nearest[t]
            if table[t, estimate[i]] == table[t, side]:
                side = np.int64(estimate[i])
            mass[i, side] += weights[m]
    return mass


@array_kernel
def side_overlaps(
    rows: Int32s, clusters: Ints, weights: Floats, estimate: Int32s, line_of: Ints, n_lines: int
) -> tuple[Floats, Floats]:
    """Sums over the draws of log r and of 1(i together with j)/r, for each side an item stands on.

    Shapes (lines, references) and (lines, references, items); ``line_of[i, side]`` numbers the
    lines. r is the overlap of the item's cluster in the draw with the side (and the item), with
    the item's own cluster of the estimate, or 1.
    """
    n = rows.shape[1]
    n_sides = line_of.shape[1]
    most = largest_count(clusters)
    table = np.zeros((most, n_sides), np.int64)
    nearest = np.empty(most, np.int64)
    members = np.empty(n, np.int64)
    first = np.empty(most + 1, np.int64)
    logs = np.zeros((n_lines, REFERENCES))
    shared = np.zeros((n_lines, REFERENCES, n))
    for m in range(rows.shape[0]):
        k = clusters[m]
        overlaps(rows[m], k, estimate, table, nearest)
        first[0] = 0
        for t in range(k):
            first[t + 1] = first[t]
            for q in range(n_sides):
                first[t + 1] += table[t, q]
        for i in range(n):
            members[first[rows[m, i]]] = i
            first[rows[m, i]] += 1
        start = 0
        for t in range(k):
            for p in range(start, first[t]):
                i = members[p]
                own = table[t, estimate[i]]
                side = nearest[t]
                near = table[t, side] + 1
                if own + 1 == near:
                    side = np.int64(estimate[i])
                    near = own
                elif side == estimate[i]:
                    near = own
                line = line_of[i, side]
                logs[line, 0] += weights[m] * math.log2(near)
                logs[line, 1] += weights[m] * math.log2(own)
                by_near, by_own = weights[m] / near, weights[m] / own
                for z in range(start, first[t]):
                    j = members[z]
                    shared[line, 0, j] += by_near
                    shared[line, 1, j] += by_own
                    shared[line, 2, j] += weights[m]
            start = first[t]
    return logs, shared


@part_of_kernel
def most_shared(
    i: int, taken: Ints, offset: Ints, start: Ints, mass: Floats, logs: Floats, tops: Floats
) -> float:
    """A bound of E log |C ∩ M_i| over the sets that take ``taken`` items of each cluster."""
    total = 0.0
    plain = 0.0
    for line in range(start[i], start[i + 1]):
        lowest = np.inf
        for ref in range(REFERENCES):
            together = 0.0
            for k in range(taken.size):
                together += tops[line, ref, offset[k] + taken[k]]
            if ref == REFERENCES - 1:
                plain += together
            value = logs[line, ref] + mass[line] * math.log2(together / mass[line])
            lowest = min(lowest, value)
        total += lowest
    return min(total, math.log2(plain))


@array_kernel
def gaining_compositions(
    prices: Floats,
    size_price: float,
    per_item: float,
    order: Ints,
    bounds: Ints,
    start: Ints,
    mass: Floats,
    logs: Floats,
    tops: Floats,
    low: Ints,
    high: Ints,
    n_boxes: Ints,
    most_nodes: int,
    most_found: int,
) -> tuple[Ints, Floats, int]:
    """Compositions for which prices may exceed costs, the costs, and the boxes that were seen.

    An item of a set of s items costs at least size_price · log s − 2 · most_shared, which depends
    on the composition alone: how many items the set takes of each cluster. Returned are the
    compositions, shape (n_found, n_sides), and the costs of all items in each, shape
    (n_found, n_items), infinite where no item is taken. ``low``, ``high`` and ``n_boxes`` hold the
    boxes still to be searched, the number of items taken in all last: a search goes on where it
    ended. Where none is left and none was returned, Σ (prices − per_item) ≤ Σ costs for every set.
    """
    n_sides = bounds.size - 1
    n = order.size
    offset = np.empty(n_sides, np.int64)
    for k in range(n_sides):
        offset[k] = bounds[k] + k
    depth = n_boxes[0]
    values = np.empty(n)
    ranked = np.empty(n)
    gain = np.empty(n_sides)
    found = np.zeros((most_found, n_sides), np.int64)
    cost = np.full((most_found, n), np.inf)
    n_found = 0
    nodes = 0
    while depth > 0 and nodes < most_nodes and n_found < most_found:
        depth -= 1
        nodes += 1
        least = low[depth]
        most = high[depth]
        fewest, largest = 0, 0
        for k in range(n_sides):
            fewest += least[k]
        for k in range(n_sides):
            most[k] = min(most[k], most[n_sides] - (fewest - least[k]))
            largest += most[k]
        least[n_sides] = max(least[n_sides], fewest)
        most[n_sides] = min(most[n_sides], largest)
        if least[n_sides] > most[n_sides]:
            continue
        size_cost = size_price * math.log2(least[n_sides]) + per_item
        bound = 0.0
        for k in range(n_sides):
            gain[k] = 0.0
            if most[k] == 0:
                continue
            here = values[bounds[k] : bounds[k + 1]]
            for z in range(bounds[k], bounds[k + 1]):
                i = order[z]
                shared = most_shared(i, most[:n_sides], offset, start, mass, logs, tops)
                values[z] = prices[i] - size_cost + 2.0 * shared
            best = ranked[: here.size]
            for z in range(here.size):
                best[z] = here[z]
            sort_falling(best)
            for z in range(most[k]):
                value = best[z]
                if z < least[k] or value > 0.0:
                    bound += value
                if value > 0.0:
                    gain[k] += value
        if bound <= 0.0:
            continue
        split = n_sides
        if most[n_sides] < 2 * least[n_sides]:
            for k in range(n_sides):
                if most[k] > least[k] and (split == n_sides or gain[k] > gain[split]):
                    split = k
        if split == n_sides and least[n_sides] == most[n_sides]:
            for k in range(n_sides):
                found[n_found, k] = most[k]
                if most[k] > 0:
                    for z in range(bounds[k], bounds[k + 1]):
                        cost[n_found, order[z]] = prices[order[z]] - per_item - values[z]
            n_found += 1
            continue
        middle = (least[split] + most[split]) // 2
        for k in range(n_sides + 1):
            low[depth + 1, k] = least[k]
            high[depth + 1, k] = most[k]
        high[depth, split] = middle
        low[depth + 1, split] = middle + 1
        depth += 2
    n_boxes[0] = depth
    return found[:n_found], cost[:n_found], nodes


def first_box(bounds: Ints) -> tuple[Ints, Ints, Ints]:
    """Boxes to be searched, of which the only one holds every set."""
    n, n_sides = int(bounds[-1]), bounds.size - 1
    low = np.zeros((64 + 2 * n, n_sides + 1), np.int64)
    high = low.copy()
    low[0, n_sides], high[0, n_sides] = 1, n
    high[0, :n_sides] = np.diff(bounds)
    return low, high, np.ones(1, np.int64)
