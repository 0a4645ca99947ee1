"""Pairing draws that are far apart: assignments within a block of draws."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import kernel
from partita.kernels.distances import distances


@kernel
def block_distances(
    rows: NDArray[np.int32],
    clusters: NDArray[np.int64],
    terms: NDArray[np.float64],
    form: int,
) -> NDArray[np.float64]:
    """All distances among a block of draws, for a symmetric loss."""
    size = rows.shape[0]
    out = np.zeros((size, size))
    for r in range(size - 1):
        row = distances(rows[r], rows[r + 1 :], clusters[r + 1 :], terms, form, 1.0)
        out[r, r + 1 :] = row
        out[r + 1 :, r] = row
    return out


@kernel
def farthest_assignment(
    far: NDArray[np.float64], potential: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The permutation σ that maximises Σ far[i, σ(i)], by shortest augmenting paths.

    ``potential`` must satisfy potential[i] + potential[j] ≥ far[i, j]; the
    closer it is to equality, the fewer steps are needed. Distances to any
    common partition do, by the triangle inequality.
    """
    n = far.shape[0]
    u = potential.copy()
    v = potential.copy()
    column_of = np.full(n, -1, np.int64)
    row_of = np.full(n, -1, np.int64)
    path = np.empty(n, np.int64)
    cost = np.empty(n)
    visited = np.empty(n, np.bool_)
    rows_seen = np.empty(n, np.int64)
    for start in range(n):
        cost[:] = np.inf
        visited[:] = False
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


@kernel
def match_block(
    rows: NDArray[np.int32],
    clusters: NDArray[np.int64],
    terms: NDArray[np.float64],
    form: int,
    potential: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The farthest partner of each draw within a block, and the distance to it."""
    far = block_distances(rows, clusters, terms, form)
    partner = farthest_assignment(far, potential)
    reach = np.empty(partner.size)
    for i in range(partner.size):
        reach[i] = far[i, partner[i]]
    return partner, reach
