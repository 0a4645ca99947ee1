"""Pairing draws that are far apart: assignments within a block of draws."""

from __future__ import annotations

import numpy as np

from partita.kernels._jit import array_kernel, kernel, part_of_kernel
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.contingency import Form, distances_in_blocks


@part_of_kernel
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
    edges: Ints,
    potential: Floats,
    floats: Floats,
    ints: Ints,
    partner: Ints,
    reach: Floats,
) -> None:
    u, v, cost = floats[0], floats[1], floats[2]
    row_of, path, visited, rows_seen = ints[0], ints[1], ints[2], ints[3]
    column_of = ints[4]
    for b in range(edges.size - 1):
        first, n = edges[b], edges[b + 1] - edges[b]
        far = fars[b]
        for i in range(n):
            u[i] = v[i] = potential[first + i]
            column_of[i] = row_of[i] = -1
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
        for i in range(n):
            partner[first + i] = first + column_of[i]
            reach[first + i] = far[i, column_of[i]]


def farthest_assignments(fars: Floats, edges: Ints, potential: Floats) -> tuple[Ints, Floats]:
    """The permutation σ that maximises Σ far[i, σ(i)] in each block, by shortest augmenting paths.

    Returned are the partner of each row, and the distance to it. ``potential``
    must satisfy potential[i] + potential[j] ≥ far[i, j]; the closer it is to
    equality, the fewer steps are needed. Distances to any common partition do,
    by the triangle inequality.
    """
    size = fars.shape[1]
    partner, reach = np.empty(potential.size, np.int64), np.empty(potential.size)
    floats, ints = np.empty((3, size)), np.empty((5, size), np.int64)
    _fill_assignments(fars, edges, potential, floats, ints, partner, reach)
    return partner, reach


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


def match_blocks(
    rows: Int32s, clusters: Ints, edges: Ints, terms: Floats, form: Form, potential: Floats
) -> tuple[Ints, Floats]:
    """The farthest partner of each draw within its block, and the distance to it.

    Block b holds the rows edges[b] … edges[b + 1] − 1.
    """
    fars = distances_in_blocks(rows, clusters, edges, terms, form)
    return farthest_assignments(fars, edges, potential)
