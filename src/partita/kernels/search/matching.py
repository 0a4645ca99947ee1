"""Pairing draws that are far apart: assignments within a block of draws."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import fast_kernel, kernel, part_of_kernel
from partita.kernels.losses.distances import distances, is_dense
from partita.kernels.losses.forms import Form, combine


@fast_kernel
def joint_sum(
    one: NDArray[np.int32],
    other: NDArray[np.int32],
    k_one: int,
    k_other: int,
    terms: NDArray[np.float64],
    table: NDArray[np.int32],
) -> float:
    """Σ f(n_te) of two partitions, through their contingency table.

    The halves of the items fill tables of their own: neighbours often share a
    cell, and would otherwise wait for each other.
    """
    n = one.size
    half = n // 2
    cells = k_one * k_other
    for c in range(2 * cells):
        table[c] = 0
    for i in range(half):
        table[one[i] * k_other + other[i]] += 1
        table[cells + one[half + i] * k_other + other[half + i]] += 1
    if n % 2:
        table[one[n - 1] * k_other + other[n - 1]] += 1
    total = 0.0
    for c in range(cells):
        total += terms[table[c] + table[cells + c]]
    return total


@part_of_kernel
def block_distances(
    rows: NDArray[np.int32],
    clusters: NDArray[np.int64],
    sums: NDArray[np.float64],
    terms: NDArray[np.float64],
    form: Form,
) -> NDArray[np.float64]:
    """All distances among a block of draws, for a symmetric loss; ``sums`` is Σ f(n_t) of each."""
    size, n = rows.shape
    out = np.zeros((size, size))
    most = 0
    for r in range(size):
        most = max(most, clusters[r])
    table = np.zeros(2 * most * most if is_dense(most, most, 4 * n) else 0, np.int32)
    for r in range(size - 1):
        if table.size > 0:
            for s in range(r + 1, size):
                joint = joint_sum(rows[r], rows[s], clusters[r], clusters[s], terms, table)
                out[r, s] = combine(form, joint, sums[r], sums[s])
        else:
            far = distances(rows[r], rows[r + 1 :], clusters[r + 1 :], terms, form)
            for s in range(r + 1, size):
                out[r, s] = far[s - r - 1]
        for s in range(r + 1, size):
            out[s, r] = out[r, s]
    return out


@part_of_kernel
def farthest_assignment(
    far: NDArray[np.float64], potential: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The permutation σ that maximises Σ far[i, σ(i)], by shortest augmenting paths.

    ``potential`` must satisfy potential[i] + potential[j] ≥ far[i, j]; the
    closer it is to equality, the fewer steps are needed. Distances to any
    common partition do, by the triangle inequality.
    """
    n = far.shape[0]
    u = np.empty(n)
    v = np.empty(n)
    column_of = np.empty(n, np.int64)
    row_of = np.empty(n, np.int64)
    for i in range(n):
        u[i] = v[i] = potential[i]
        column_of[i] = row_of[i] = -1
    path = np.empty(n, np.int64)
    cost = np.empty(n)
    visited = np.empty(n, np.bool_)
    rows_seen = np.empty(n, np.int64)
    for start in range(n):
        for j in range(n):
            cost[j] = np.inf
            visited[j] = False
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
                if visited[j]:
                    continue
                reduced = lowest + (u[row] + v[j] - far[row, j])
                if reduced < cost[j]:
                    cost[j] = reduced
                    path[j] = row
                if cost[j] < best_cost or (cost[j] == best_cost and row_of[j] < 0):
                    best_cost = cost[j]
                    best = j
            lowest = best_cost
            visited[best] = True
            if row_of[best] < 0:
                sink = best
            else:
                row = row_of[best]
        for p in range(n_seen):
            i = rows_seen[p]
            back = 0.0 if i == start else cost[column_of[i]]
            u[i] -= lowest - back
        for j in range(n):
            if visited[j]:
                v[j] += lowest - cost[j]
        while True:
            row = path[sink]
            row_of[sink] = row
            column_of[row], sink = sink, column_of[row]
            if row == start:
                break
    return column_of


@part_of_kernel
def nearest_open_column(
    far: NDArray[np.float64],
    u: NDArray[np.float64],
    v: NDArray[np.float64],
    flow: NDArray[np.float64],
    demand: NDArray[np.float64],
    least: float,
    start: int,
    from_row: NDArray[np.int64],
    from_column: NDArray[np.int64],
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


@kernel
def farthest_transport(
    far: NDArray[np.float64], mass: NDArray[np.float64], potential: NDArray[np.float64]
) -> NDArray[np.float64]:
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


@kernel
def match_blocks(
    rows: NDArray[np.int32],
    clusters: NDArray[np.int64],
    edges: NDArray[np.int64],
    terms: NDArray[np.float64],
    form: Form,
    potential: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The farthest partner of each draw within its block, and the distance to it.

    Block b holds the rows edges[b] … edges[b + 1] − 1.
    """
    partner = np.empty(rows.shape[0], np.int64)
    reach = np.empty(rows.shape[0])
    sums = np.zeros(rows.shape[0])
    sizes = np.zeros(rows.shape[1], np.int64)
    for r in range(rows.shape[0]):
        for t in range(clusters[r]):
            sizes[t] = 0
        for i in range(rows.shape[1]):
            sizes[rows[r, i]] += 1
        for t in range(clusters[r]):
            sums[r] += terms[sizes[t]]
    for b in range(edges.size - 1):
        first, stop = edges[b], edges[b + 1]
        far = block_distances(rows[first:stop], clusters[first:stop], sums[first:stop], terms, form)
        match = farthest_assignment(far, potential[first:stop])
        for i in range(stop - first):
            partner[first + i] = first + match[i]
            reach[first + i] = far[i, match[i]]
    return partner, reach
