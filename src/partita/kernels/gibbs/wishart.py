"""Multivariate normals with a normal–inverse-Wishart prior: the arithmetic of one column block.

μ | Σ ~ N(μ0, Σ/κ), Σ ~ InverseWishart(ν, Λ).

hyper : κ, ν, μ0 (d), Λ (d × d, row by row).
tables : by the cluster's size. 0 constant of the predictive and 1 of the marginal density.
stats : mean (d), then the lower triangle of the scatter matrix, row by row.
cache : 0 constant, 1 exponent, 2 log determinant of Λ_n, 3 κ_n/(κ_n + 1), location (d), then
    the Cholesky factor of Λ_n, lower triangle row by row, reciprocals on its diagonal.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from partita.kernels.gibbs.jit import Index, step
from partita.kernels.gibbs.math import full_lanes, log

Floats = NDArray[np.float64]
Blocks = NDArray[np.int64]


@step
def _move(
    data: Floats,
    i: Index,
    blocks: Blocks,
    b: Index,
    store: Floats,
    j: Index,
    share: float,
    scale: float,
) -> None:
    """Move the mean by share·(x − mean) and the scatter by scale·(x − mean)(x − mean)ᵀ."""
    first, d, s = blocks[b, 1], blocks[b, 2], blocks[b, 3]
    cell = s + d
    for r in range(d):
        away = data[i, first + r] - store[s + r, j]
        for c in range(r + 1):
            store[cell, j] += scale * away * (data[i, first + c] - store[s + c, j])
            cell += 1
    for r in range(d):
        store[s + r, j] += share * (data[i, first + r] - store[s + r, j])


@step
def add(
    data: Floats,
    i: Index,
    blocks: Blocks,
    b: Index,
    store: Floats,
    j: Index,
) -> None:
    """Take item i into the statistics of cluster j, whose count already includes it."""
    n = store[0, j]
    _move(data, i, blocks, b, store, j, 1.0 / n, (n - 1.0) / n)


@step
def remove(
    data: Floats,
    i: Index,
    blocks: Blocks,
    b: Index,
    store: Floats,
    j: Index,
) -> None:
    """Take item i out of the statistics of cluster j, whose count, at least 1, excludes it."""
    n = store[0, j]
    _move(data, i, blocks, b, store, j, -1.0 / n, -(n + 1.0) / n)


@step
def refresh(
    blocks: Blocks, b: Index, hyper: Floats, tables: Floats, store: Floats, j: Index
) -> None:
    """Recompute what the predictive density of cluster j needs; O(d³)."""
    n = store[0, j]
    d, s, w, h = blocks[b, 2], blocks[b, 3], blocks[b, 4], blocks[b, 5]
    total = hyper[h] + n
    pull = hyper[h] * n / total
    for r in range(d):
        prior_mean = hyper[h + 2 + r]
        store[w + 4 + r, j] = prior_mean + n / total * (store[s + r, j] - prior_mean)
    log_determinant = 0.0
    row = w + 4 + d
    cell = s + d
    for r in range(d):
        away = store[s + r, j] - hyper[h + 2 + r]
        column = w + 4 + d
        for c in range(r + 1):
            value = hyper[h + 2 + d + r * d + c] + store[cell, j]
            value += pull * away * (store[s + c, j] - hyper[h + 2 + c])
            cell += 1
            for m in range(c):
                value -= store[row + m, j] * store[column + m, j]
            if c < r:
                store[row + c, j] = value * store[column + c, j]
            else:
                # Λ_n exceeds Λ, so its pivots are positive; rounding may only graze zero.
                pivot = max(value, 1e-300)
                log_determinant += log(pivot)
                store[row + r, j] = 1.0 / math.sqrt(pivot)
            column += c + 1
        row += r + 1
    store[w, j] = tables[blocks[b, 6], int(n)] - 0.5 * log_determinant
    store[w + 1, j] = 0.5 * (hyper[h + 1] + n + 1.0)
    store[w + 2, j] = log_determinant
    store[w + 3, j] = total / (total + 1.0)


@step
def add_log_predictive(
    data: Floats,
    i: Index,
    blocks: Blocks,
    b: Index,
    store: Floats,
    k: Index,
    work: Floats,
    out: Floats,
) -> None:
    """Add the log predictive density of item i under each of k clusters to out; O(k·d²)."""
    d, w = blocks[b, 2], blocks[b, 4]
    k = full_lanes(k)
    for j in range(k):
        work[d, j] = 0.0
    row = w + 4 + d
    for r in range(d):
        x = data[i, blocks[b, 1] + r]
        for j in range(k):
            work[r, j] = x - store[w + 4 + r, j]
        for c in range(r):
            for j in range(k):
                work[r, j] -= store[row + c, j] * work[c, j]
        for j in range(k):
            work[r, j] *= store[row + r, j]
            work[d, j] += work[r, j] * work[r, j]
        row += r + 1
    for j in range(k):
        out[j] += store[w, j] - store[w + 1, j] * log(1.0 + store[w + 3, j] * work[d, j])


@step
def log_marginal(
    blocks: Blocks, b: Index, hyper: Floats, tables: Floats, store: Floats, j: Index
) -> float:
    """Log density of all items of cluster j together; needs a refreshed cache."""
    n = store[0, j]
    exponent = 0.5 * (hyper[blocks[b, 5] + 1] + n)
    return float(tables[blocks[b, 6] + 1, int(n)] - exponent * store[blocks[b, 4] + 2, j])
