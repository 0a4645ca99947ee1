"""Multivariate normals with a normal–inverse-Wishart prior: the arithmetic of one column block.

μ | Σ ~ N(μ0, Σ/κ), Σ ~ InverseWishart(ν, Λ).

hyper : κ, ν, μ0 (d), Λ (d × d, row by row), then ν/2 · log |Λ|.
tables : by the cluster's size. 0 constant of the predictive and 1 of the marginal density.
stats : mean (d), then the lower triangle of the scatter matrix, row by row.
cache : 0 constant, 1 exponent, 2 log determinant of Λ_n, 3 κ_n/(κ_n + 1), location (d), then
    the Cholesky factor of Λ_n, lower triangle row by row, reciprocals on its diagonal.
work : d + 1 rows.
"""

from __future__ import annotations

import math

from partita.kernels.arrays import Floats
from partita.kernels.gibbs.primitives import (
    Block,
    Index,
    Random,
    full_lanes,
    gamma,
    log,
    normal,
    step,
)


@step
def _move(x: Floats, stats: Floats, j: Index, share: float, scale: float) -> None:
    """Move the mean by share·(x − mean) and the scatter by scale·(x − mean)(x − mean)ᵀ."""
    cell = x.size
    for r in range(x.size):
        away = x[r] - stats[r, j]
        for c in range(r + 1):
            stats[cell, j] += scale * away * (x[c] - stats[c, j])
            cell += 1
    for r in range(x.size):
        stats[r, j] += share * (x[r] - stats[r, j])


@step
def add(x: Floats, n: float, block: Block, j: Index) -> None:
    """Take the cells x into the statistics of cluster j, which has n items with them."""
    _move(x, block.stats, j, 1.0 / n, (n - 1.0) / n)


@step
def remove(x: Floats, n: float, block: Block, j: Index) -> None:
    """Take the cells x out of the statistics of cluster j, leaving n ≥ 1."""
    _move(x, block.stats, j, -1.0 / n, -(n + 1.0) / n)


@step
def refresh(n: float, block: Block, j: Index) -> None:
    """Recompute what the predictive density of cluster j needs; O(d³)."""
    hyper, stats, cache = block.hyper, block.stats, block.cache
    d = int(math.sqrt(hyper.size - 2.0))  # of 3 + d + d² numbers
    total = hyper[0] + n
    pull = hyper[0] * n / total
    for r in range(d):
        prior_mean = hyper[2 + r]
        cache[4 + r, j] = prior_mean + n / total * (stats[r, j] - prior_mean)
    log_determinant = 0.0
    row = 4 + d
    cell = d
    for r in range(d):
        away = stats[r, j] - hyper[2 + r]
        column = 4 + d
        for c in range(r + 1):
            value = hyper[2 + d + r * d + c] + stats[cell, j]
            value += pull * away * (stats[c, j] - hyper[2 + c])
            cell += 1
            for m in range(c):
                value -= cache[row + m, j] * cache[column + m, j]
            if c < r:
                cache[row + c, j] = value * cache[column + c, j]
            else:
                # Λ_n exceeds Λ, so its pivots are positive; rounding may only graze zero.
                pivot = max(value, 1e-300)
                log_determinant += log(pivot)
                cache[row + r, j] = 1.0 / math.sqrt(pivot)
            column += c + 1
        row += r + 1
    cache[0, j] = block.tables[0, int(n)] - 0.5 * log_determinant
    cache[1, j] = 0.5 * (hyper[1] + n + 1.0)
    cache[2, j] = log_determinant
    cache[3, j] = total / (total + 1.0)


@step
def log_predictive(x: Floats, k: Index, block: Block, out: Floats) -> None:
    """Add the log predictive density of the cells x under each of k clusters to out; O(k·d²)."""
    cache, work, d = block.cache, block.work, x.size
    k = full_lanes(k)
    for j in range(k):
        work[d, j] = 0.0
    row = 4 + d
    for r in range(d):
        for j in range(k):
            work[r, j] = x[r] - cache[4 + r, j]
        for c in range(r):
            for j in range(k):
                work[r, j] -= cache[row + c, j] * work[c, j]
        for j in range(k):
            work[r, j] *= cache[row + r, j]
            work[d, j] += work[r, j] * work[r, j]
        row += r + 1
    for j in range(k):
        out[j] += cache[0, j] - cache[1, j] * log(1.0 + cache[3, j] * work[d, j])


@step
def log_marginal(n: float, block: Block, j: Index) -> float:
    """Log density of all items of cluster j together; needs a refreshed cache."""
    exponent = 0.5 * (block.hyper[1] + n)
    constant = block.tables[1, int(n)] + block.hyper[block.hyper.size - 1]
    return float(constant - exponent * block.cache[2, j])


@step
def precision_draw(degrees: float, d: Index, block: Block, j: Index, state: Random) -> None:
    """Draw Σ⁻¹ of cluster j and leave its diagonal in rows 0 … d − 1 of the block's work.

    Σ⁻¹ ~ Wishart(degrees, Λ_n⁻¹) = L⁻ᵀ A (L⁻ᵀ A)ᵀ with L the cached factor of Λ_n and A Bartlett's
    lower triangle. Column after column of L⁻ᵀ A, by back substitution; O(d³).
    """
    cache, work = block.cache, block.work
    for r in range(d):
        work[r, 0] = 0.0
    for m in range(d):
        # The column m of A is zero above its diagonal; solved from the last row upwards.
        for r in range(d - 1, -1, -1):
            value = 0.0
            if r > m:
                value = normal(state)
            elif r == m:
                value = math.sqrt(2.0 * gamma(state, 0.5 * (degrees - m)))
            for i in range(r + 1, d):
                value -= cache[4 + d + i * (i + 1) // 2 + r, j] * work[i, 1]
            work[r, 1] = value * cache[4 + d + r * (r + 1) // 2 + r, j]
            work[r, 0] += work[r, 1] * work[r, 1]
