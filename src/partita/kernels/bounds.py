"""Kernels of the lower bounds: matched draws, compositions of sets, violated triangles."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from partita.kernels._jit import array_kernel, inner_kernel, kernel, part_of_kernel, writable
from partita.kernels.arrays import Bools, Floats, Int32s, Ints


@inner_kernel
def match_tight(far: Floats, n: int, u: Floats, v: Floats, column_of: Ints, row_of: Ints) -> None:
    """Lower the potentials until every row is tight somewhere, and match the rows that can be."""
    for j in range(n):
        least = np.inf
        for i in range(n):
            least = min(least, u[i] + v[j] - far[i, j])
        v[j] -= least
    for i in range(n):
        best = 0
        least = np.inf
        for j in range(n):
            reduced = u[i] + v[j] - far[i, j]
            if reduced < least:
                least, best = reduced, j
        u[i] -= least
        if row_of[best] < 0:
            row_of[best], column_of[i] = i, best


@kernel
def _fill_assignments(
    fars: Floats,
    sizes: Ints,
    halved: Bools,
    near: Floats,
    floats: Floats,
    ints: Ints,
    reach: Floats,
) -> None:
    u, v, cost = floats[0], floats[1], floats[2]
    row_of, path, visited, rows_seen = ints[0], ints[1], ints[2], ints[3]
    column_of = ints[4]
    first = 0
    for b in range(sizes.size):
        far = fars[b]
        n = sizes[b] // 2 if halved[b] else sizes[b]
        for i in range(n):
            u[i], v[i] = near[first + i], near[first + sizes[b] - n + i]
            column_of[i] = row_of[i] = -1
        first += sizes[b]
        match_tight(far, n, u, v, column_of, row_of)
        for start in range(n):
            if column_of[start] >= 0:
                continue
            for j in range(n):
                cost[j] = np.inf
                visited[j] = 0
            n_seen = 0
            row = start
            lowest = 0.0
            sink = -1
            while sink < 0:
                rows_seen[n_seen] = row
                n_seen += 1
                best = -1
                best_cost = np.inf
                for j in range(n):
                    if visited[j] == 1:
                        continue
                    reduced = lowest + (u[row] + v[j] - far[row, j])
                    if reduced < cost[j]:
                        cost[j] = reduced
                        path[j] = row
                    if cost[j] < best_cost or (cost[j] == best_cost and row_of[j] < 0):
                        best_cost = cost[j]
                        best = j
                lowest = best_cost
                visited[best] = 1
                if row_of[best] < 0:
                    sink = best
                else:
                    row = row_of[best]
            for p in range(n_seen):
                i = rows_seen[p]
                back = 0.0 if i == start else cost[column_of[i]]
                u[i] -= lowest - back
            for j in range(n):
                if visited[j] == 1:
                    v[j] += lowest - cost[j]
            while True:
                row = path[sink]
                row_of[sink] = row
                column_of[row], sink = sink, column_of[row]
                if row == start:
                    break
        reach[b] = 0.0
        for i in range(n):
            reach[b] += far[i, column_of[i]]


def farthest_assignments(fars: Floats, sizes: Ints, halved: Bools, near: Floats) -> Floats:
    """The largest Σ far[i, σ(i)] over permutations σ in each block, by shortest augmenting paths.

    For metrics: ``fars[b]`` are the distances among the draws of a block, or where it is ``halved``
    those between its halves, and ``near`` those of all draws to a common point: near[i] + near[j] ≥
    far[i, j], and the closer to equality, the fewer steps are needed. SciPy's assignment takes
    three times as long for hundreds of blocks of 16.
    """
    size = fars.shape[1]
    reach = np.empty(sizes.size)
    floats, ints = np.empty((3, size)), np.empty((5, size), np.int64)
    _fill_assignments(fars, sizes, halved, near, floats, ints, reach)
    return reach


@part_of_kernel
def nearest_open_column(
    far: Floats,
    u: Floats,
    v: Floats,
    flow: Floats,
    demand: Floats,
    least: float,
    start: int,
    from_row: Ints,
    from_column: Ints,
) -> int:
    """The open column that a row reaches at the lowest reduced cost, or −1; prices are updated.

    ``from_row`` and ``from_column`` hold the way back: a column is reached from a row, a row from
    a column that it serves.
    """
    n = far.shape[0]
    cost = np.full(n, np.inf)
    seen_at = np.full(n, np.inf)
    visited = np.zeros(n, np.bool_)
    waiting = np.empty(n, np.int64)
    waiting[0] = start
    n_waiting = 1
    seen_at[start] = 0.0
    lowest = 0.0
    sink = -1
    while sink < 0:
        for p in range(n_waiting):
            row = waiting[p]
            for j in range(n):
                reduced = lowest + (u[row] + v[j] - far[row, j])
                if not visited[j] and reduced < cost[j]:
                    cost[j] = reduced
                    from_row[j] = row
        best = -1
        for j in range(n):
            if not visited[j] and (
                best < 0
                or cost[j] < cost[best]
                or (cost[j] == cost[best] and demand[j] > least >= demand[best])
            ):
                best = j
        if best < 0 or cost[best] == np.inf:
            return -1
        lowest = cost[best]
        visited[best] = True
        n_waiting = 0
        if demand[best] > least:
            sink = best
        else:
            for i in range(n):
                if flow[best, i] > 0.0 and seen_at[i] == np.inf:
                    seen_at[i] = lowest
                    from_column[i] = best
                    waiting[n_waiting] = i
                    n_waiting += 1
    for i in range(n):
        if seen_at[i] < np.inf:
            u[i] -= lowest - seen_at[i]
        if visited[i]:
            v[i] += lowest - cost[i]
    return sink


@array_kernel
def farthest_transport(far: Floats, mass: Floats, potential: Floats) -> Floats:
    """The flow x ≥ 0 with rows and columns of at most ``mass`` that maximises Σ far[i, j] x[j, i].

    By shortest augmenting paths, as the assignment, which is the case of equal masses. Mass may
    stay with itself, so all of it flows, up to 1e-15 of the total for each row.
    """
    n = far.shape[0]
    u, v = potential.copy(), potential.copy()
    supply, demand = mass.copy(), mass.copy()
    flow = np.zeros((n, n))
    from_row = np.empty(n, np.int64)
    from_column = np.empty(n, np.int64)
    least = 1e-15 * mass.sum()
    for start in range(n):
        while supply[start] > least:
            sink = nearest_open_column(far, u, v, flow, demand, least, start, from_row, from_column)
            if sink < 0:  # what is left is rounding
                break
            amount = min(supply[start], demand[sink])
            column = sink
            while from_row[column] != start:
                row = from_row[column]
                column = from_column[row]
                amount = min(amount, flow[column, row])
            demand[sink] -= amount
            supply[start] -= amount
            column = sink
            while True:
                row = from_row[column]
                flow[column, row] += amount
                if row == start:
                    break
                column = from_column[row]
                flow[column, row] -= amount
                if flow[column, row] <= least:  # crumbs would be moved about for ever
                    flow[column, row] = 0.0
    return flow


REFERENCES = 3
"""Ways to measure an overlap: by the nearest cluster, by the item's own, by items."""


@inner_kernel
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


@inner_kernel
def sort_falling(values: Floats, size: int) -> None:
    """Sort the first values in place, largest first, by Shell's method: NumPy's sort takes seconds
    to compile."""
    gap = 1
    while gap < size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for z in range(gap, size):
            moved = values[z]
            place = z
            while place >= gap and values[place - gap] < moved:
                values[place] = values[place - gap]
                place -= gap
            values[place] = moved
        gap //= 3


def side_masses(
    rows: Int32s, clusters: Ints, weights: Floats, estimate: Int32s, n_sides: int
) -> Floats:
    """Mass of the draws in which an item stands with each cluster of the estimate.

    An item stands with the cluster that its cluster in the draw shares most items with; with its
    own where that shares as many.
    """
    k_most = int(clusters.max())
    mass = np.zeros((rows.shape[1], n_sides))
    table, nearest = np.empty((k_most, n_sides), np.int64), np.empty(k_most, np.int64)
    clusters, weights, estimate = writable(clusters), writable(weights), writable(estimate)
    _fill_masses(rows, clusters, weights, estimate, table, nearest, mass)
    return mass


@kernel
def _fill_masses(
    rows: Int32s,
    clusters: Ints,
    weights: Floats,
    estimate: Int32s,
    table: Ints,
    nearest: Ints,
    mass: Floats,
) -> None:
    n = rows.shape[1]
    for m in range(rows.shape[0]):
        overlaps(rows[m], clusters[m], estimate, table, nearest)
        for i in range(n):
            t = rows[m, i]
            side = nearest[t]
            if table[t, estimate[i]] == table[t, side]:
                side = np.int64(estimate[i])
            mass[i, side] += weights[m]


DENSE = 8
"""Clusters of more than one in this many items are summed in vectors. Galaxies: 64 to 40 ms."""


def side_overlaps(
    rows: Int32s, clusters: Ints, weights: Floats, estimate: Int32s, line_of: Ints, n_lines: int
) -> tuple[Floats, Floats]:
    """Sums over the draws of log r and of 1(i together with j)/r, for each side an item stands on.

    Shapes (lines, references) and (lines, references, items); ``line_of[i, side]`` numbers the
    lines. r is the overlap of the item's cluster in the draw with the side (and the item), with
    the item's own cluster of the estimate, or 1.
    """
    n, n_sides = line_of.shape
    k_most = int(clusters.max())
    logs, shared = np.zeros((n_lines, REFERENCES)), np.zeros((n_lines, REFERENCES, n))
    work, table = np.empty((3, max(n, k_most) + 1), np.int64), np.empty((k_most, n_sides), np.int64)
    clusters, weights, estimate = writable(clusters), writable(weights), writable(estimate)
    inside = np.empty(n)
    _add_overlaps(rows, clusters, weights, estimate, line_of, table, work, inside, logs, shared)
    return logs, shared


@kernel
def _add_overlaps(
    rows: Int32s,
    clusters: Ints,
    weights: Floats,
    estimate: Int32s,
    line_of: Ints,
    table: Ints,
    work: Ints,
    inside: Floats,
    logs: Floats,
    shared: Floats,
) -> None:
    n, n_sides = line_of.shape
    nearest, members, first = work[0], work[1], work[2]
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
            # Adding 0 for items elsewhere runs in vectors; the items of small clusters one by one.
            dense = DENSE * (first[t] - start) > n
            if dense:
                for j in range(n):
                    inside[j] = 1.0 if rows[m, j] == t else 0.0
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
                sums = shared[line]
                if dense:
                    for j in range(n):
                        sums[0, j] += by_near * inside[j]
                        sums[2, j] += weights[m] * inside[j]
                    if side != estimate[i]:
                        for j in range(n):
                            sums[1, j] += by_own * inside[j]
                    continue
                for z in range(start, first[t]):
                    j = members[z]
                    sums[0, j] += by_near
                    sums[2, j] += weights[m]
                    if side != estimate[i]:
                        sums[1, j] += by_own
            start = first[t]
    for i in range(n):  # an item that stands with its own cluster has one overlap, not two
        line = line_of[i, estimate[i]]
        if line >= 0:
            for j in range(n):
                shared[line, 1, j] = shared[line, 0, j]


class Overlaps(NamedTuple):
    """What items have in common with their clusters in the draws, by cluster of an estimate.

    An item has a line for each cluster that it stands with in some draw. ``shared`` of a line says
    with which items it is, ``tops`` sums the largest of these in each cluster.
    """

    order: Ints  # (n_items,): items by cluster
    bounds: Ints  # (n_sides + 1,): where each cluster begins among them
    start: Ints  # (n_items + 1,): where the lines of each item begin
    mass: Floats  # (lines,)
    logs: Floats  # (lines, references)
    tops: Floats  # (lines, references, n_items + n_sides)


class Boxes(NamedTuple):
    """Boxes still to be searched: from fewest to most items of each cluster, and in all, last."""

    low: Ints
    high: Ints
    left: Ints  # (1,): how many


@inner_kernel
def most_shared(i: int, taken: Ints, n_sides: int, offset: Ints, tables: Overlaps) -> float:
    """A bound of E log |C ∩ M_i| over the sets that take ``taken`` items of each cluster."""
    total = 0.0
    plain = 0.0
    for line in range(tables.start[i], tables.start[i + 1]):
        lowest = np.inf
        mass = tables.mass[line]
        for ref in range(REFERENCES):
            together = 0.0
            for k in range(n_sides):
                together += tables.tops[line, ref, offset[k] + taken[k]]
            if ref == REFERENCES - 1:
                plain += together
            value = tables.logs[line, ref] + mass * math.log2(together / mass)
            if value < lowest:
                lowest = value
        total += lowest
    other = math.log2(plain)
    return total if total < other else other


def gaining_compositions(
    prices: Floats,
    size_price: float,
    per_item: float,
    tables: Overlaps,
    boxes: Boxes,
    most_nodes: int,
    most_found: int,
) -> tuple[Ints, Floats, int]:
    """Compositions for which prices may exceed costs, the costs, and the boxes that were seen.

    An item of a set of s items costs at least size_price · log s − 2 · most_shared, which depends
    on the composition alone: how many items the set takes of each cluster. Returned are the
    compositions, shape (n_found, n_sides), and the costs of all items in each, shape
    (n_found, n_items), infinite where no item is taken. A search goes on with the boxes that the
    last one has left. Where there are none and nothing was returned,
    Σ (prices − per_item) ≤ Σ costs for every set.
    """
    n_sides, n = tables.bounds.size - 1, tables.order.size
    found, cost = np.zeros((most_found, n_sides), np.int64), np.full((most_found, n), np.inf)
    offset, work = tables.bounds[:-1] + np.arange(n_sides), np.empty((3, n))
    n_found, nodes = _search_boxes(
        prices, size_price, per_item, tables, boxes, most_nodes, offset, work, found, cost
    )
    return found[:n_found], cost[:n_found], nodes


@kernel
def _search_boxes(
    prices: Floats,
    size_price: float,
    per_item: float,
    tables: Overlaps,
    boxes: Boxes,
    most_nodes: int,
    offset: Ints,
    work: Floats,
    found: Ints,
    cost: Floats,
) -> tuple[int, int]:
    order, bounds, low, high = tables.order, tables.bounds, boxes.low, boxes.high
    n_sides = bounds.size - 1
    most_found = found.shape[0]
    values, ranked, gain = work[0], work[1], work[2]
    depth = boxes.left[0]
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
            room = most[n_sides] - (fewest - least[k])
            if room < most[k]:
                most[k] = room
            largest += most[k]
        if least[n_sides] < fewest:
            least[n_sides] = fewest
        if most[n_sides] > largest:
            most[n_sides] = largest
        if least[n_sides] > most[n_sides]:
            continue
        size_cost = size_price * math.log2(least[n_sides]) + per_item
        bound = 0.0
        for k in range(n_sides):
            gain[k] = 0.0
            if most[k] == 0:
                continue
            for z in range(bounds[k], bounds[k + 1]):
                i = order[z]
                shared = most_shared(i, most, n_sides, offset, tables)
                values[z] = prices[i] - size_cost + 2.0 * shared
                ranked[z - bounds[k]] = values[z]
            sort_falling(ranked, bounds[k + 1] - bounds[k])
            for z in range(most[k]):
                value = ranked[z]
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
    boxes.left[0] = depth
    return n_found, nodes


def first_box(bounds: Ints) -> Boxes:
    """Boxes to be searched, of which the only one holds every set."""
    n, n_sides = int(bounds[-1]), bounds.size - 1
    low = np.zeros((64 + 2 * n, n_sides + 1), np.int64)
    high = low.copy()
    low[0, n_sides], high[0, n_sides] = 1, n
    high[0, :n_sides] = np.diff(bounds)
    return Boxes(low, high, np.ones(1, np.int64))


@array_kernel
def violated_triangles(joined: Floats, threshold: float, most: int) -> tuple[Ints, Floats]:
    """Triangles with x_ij + x_jk − x_ik > 1 + threshold: rows (i, j, k) with j the shared item.

    ``joined`` is symmetric. Returns at most ``most`` of them per shared item's
    scan order, each with its violation; fewer means all were found.
    """
    n = joined.shape[0]
    found = np.empty((most, 3), np.int64)
    excess = np.empty(most)
    count = 0
    strong = np.empty(n, np.int64)
    for j in range(n):
        size = 0
        for i in range(n):
            # Both x_ij and x_jk must exceed the threshold for the sum to exceed 1.
            if i != j and joined[j, i] > threshold:
                strong[size] = i
                size += 1
        for p in range(size):
            i = strong[p]
            for q in range(p + 1, size):
                k = strong[q]
                over = joined[j, i] + joined[j, k] - joined[i, k] - 1.0
                if over > threshold:
                    found[count, 0] = i
                    found[count, 1] = j
                    found[count, 2] = k
                    excess[count] = over
                    count += 1
                    if count == most:
                        return found, excess
    return found[:count], excess[:count]


@part_of_kernel
def cover_values(d: Floats, mass: Floats, value: Floats) -> None:
    """Fill value[S], S a bit mask: the largest total of disjoint pairs and triangles inside S.

    A pair counts its distance, a triangle half its perimeter, each times the
    smallest mass in it: what draws that share one partition cost at least.
    """
    m = mass.size
    pair = np.zeros((m, m))
    triangle = np.zeros((m, m, m))
    for i in range(m):
        for j in range(i + 1, m):
            lighter = min(mass[i], mass[j])
            pair[i, j] = lighter * d[i, j]
            for k in range(j + 1, m):
                half = 0.5 * (d[i, j] + d[j, k] + d[i, k])
                triangle[i, j, k] = min(lighter, mass[k]) * half
    inside = np.empty(m, np.int64)
    value[0] = 0.0
    for subset in range(1, 1 << m):
        size = 0
        for i in range(m):
            inside[size] = i
            size += (subset >> i) & 1
        i = inside[0]
        rest = subset ^ (1 << i)
        best = value[rest]
        for a in range(1, size):
            j = inside[a]
            without = rest ^ (1 << j)
            best = max(best, value[without] + pair[i, j])
            for b in range(a + 1, size):
                k = inside[b]
                best = max(best, value[without ^ (1 << k)] + triangle[i, j, k])
        value[subset] = best


@part_of_kernel
def split_value(cover: Floats, m: int, n: int, least: Floats, finer: Floats) -> float:
    """Min over splits of all m draws into at most n blocks of the sum of the blocks' covers.

    ``least`` and ``finer`` are scratch of 2^m cells. With r blocks, the block
    of a subset's first draw is tried in every way: 3^m / 2 for each r < n.
    """
    whole = (1 << m) - 1
    least[:] = cover[: whole + 1]
    for r in range(2, n + 1):
        first = whole if r == n else 1
        finer[0] = 0.0
        for subset in range(first, whole + 1):
            low = subset & -subset
            rest = subset ^ low
            best = least[subset]
            part = rest  # the subset of the rest that leaves the first draw's block
            while part > 0:
                best = min(best, cover[subset ^ part] + least[part])
                part = (part - 1) & rest
            finer[subset] = best
        if r < n:
            least[:] = finer
    return float(finer[whole] if n > 1 else cover[whole])


@array_kernel
def groups_value(d: Floats, mass: Floats, size: int, n: int) -> float:
    """Sum of the least costs of consecutive groups of ``size`` draws; the last may be smaller."""
    cover = np.empty(1 << size)
    least = np.empty(1 << size)
    finer = np.empty(1 << size)
    total = 0.0
    for start in range(0, mass.size, size):
        stop = min(start + size, mass.size)
        m = stop - start
        if m <= n:
            continue
        cover_values(d[start:stop, start:stop], mass[start:stop], cover)
        total += split_value(cover, m, n, least[: 1 << m], finer[: 1 << m])
    return total


@array_kernel
def exchange(gain: Floats, group: Ints, n_groups: int, passes: int) -> None:
    """Exchange draws between groups while that raises the sum of ``gain`` within groups."""
    m = group.size
    attached = np.zeros((m, n_groups))
    for i in range(m):
        for j in range(m):
            attached[i, group[j]] += gain[i, j]
    for _ in range(passes):
        moved = False
        for i in range(m):
            a = group[i]
            best, partner = 1e-12, -1
            for j in range(m):
                b = group[j]
                if b == a:
                    continue
                more = attached[i, b] + attached[j, a] - attached[i, a] - attached[j, b]
                more -= 2.0 * gain[i, j]
                if more > best:
                    best, partner = more, j
            if partner < 0:
                continue
            b = group[partner]
            for j in range(m):
                change = gain[j, partner] - gain[j, i]
                attached[j, a] += change
                attached[j, b] -= change
            group[i], group[partner] = b, a
            moved = True
        if not moved:
            return
