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

import numpy as np

from partita.kernels._jit import inner_kernel
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.gibbs.primitives import (
    TILE,
    Block,
    Index,
    Random,
    full_lanes,
    gamma,
    log,
    normal,
)


@inner_kernel
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


@inner_kernel
def add(x: Floats, n: float, block: Block, j: Index) -> None:
    """Take the cells x into the statistics of cluster j, which has n items with them."""
    _move(x, block.stats, j, 1.0 / n, (n - 1.0) / n)


@inner_kernel
def remove(x: Floats, n: float, block: Block, j: Index) -> None:
    """Take the cells x out of the statistics of cluster j, leaving n ≥ 1."""
    _move(x, block.stats, j, -1.0 / n, -(n + 1.0) / n)


@inner_kernel
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


@inner_kernel
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


@inner_kernel
def log_marginal(n: float, block: Block, j: Index) -> float:
    """Log density of all items of cluster j together; needs a refreshed cache."""
    exponent = 0.5 * (block.hyper[1] + n)
    constant = block.tables[1, int(n)] + block.hyper[block.hyper.size - 1]
    return float(constant - exponent * block.cache[2, j])


@inner_kernel
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


@inner_kernel
def merge(n: float, more: float, source: Floats, block: Block, j: Index) -> None:
    """Take ``more`` items, whose statistics stand in ``source``, into the n of cluster j."""
    stats, share = block.stats, more / (n + more)
    d = int(math.sqrt(block.hyper.size - 2.0))
    cell = d
    for r in range(d):
        change = (source[r, j] - stats[r, j]) * (n * share)
        for c in range(r + 1):
            stats[cell, j] += source[cell, j] + change * (source[c, j] - stats[c, j])
            cell += 1
    for r in range(d):
        stats[r, j] += (source[r, j] - stats[r, j]) * share


@inner_kernel
def draw(n: float, block: Block, j: Index, theta: Floats, at: Index, state: Random) -> None:
    """Draw mean and covariance of cluster j given its items; needs a refreshed cache.

    With Λ_n = LLᵀ, the precision matrix is MᵀM for M = AᵀL⁻¹ and A upper triangular, AAᵀ being a
    standard Wishart matrix by Bartlett's decomposition: M stays triangular.

    theta : 0 constant, mean (d), lower triangle of M row by row, then scratch.
    """
    hyper, cache = block.hyper, block.cache
    d = int(math.sqrt(hyper.size - 2.0))
    first, factor = 1 + d, 4 + d
    scratch = first + d * (d + 1) // 2
    for c in range(d):  # L⁻¹, column by column
        for r in range(c, d):
            row = r * (r + 1) // 2
            value = 1.0
            if r > c:
                value = 0.0
                for m in range(c, r):
                    value -= cache[factor + row + m, j] * theta[first + m * (m + 1) // 2 + c, at]
            theta[first + row + c, at] = value * cache[factor + row + r, j]
    constant = -0.5 * d * math.log(2.0 * math.pi)
    for r in range(d - 1, -1, -1):  # a row of M needs the rows of L⁻¹ above it
        row = first + r * (r + 1) // 2
        for m in range(r):
            theta[scratch + m, at] = normal(state)
        free = hyper[1] + n - (d - 1 - r)
        theta[scratch + r, at] = math.sqrt(2.0 * gamma(state, 0.5 * free))
        for c in range(r + 1):
            value = 0.0
            for m in range(c, r + 1):
                value += theta[scratch + m, at] * theta[first + m * (m + 1) // 2 + c, at]
            theta[row + c, at] = value
        constant += math.log(theta[row + r, at])
    theta[0, at] = constant
    shrink = 1.0 / math.sqrt(hyper[0] + n)
    for r in range(d):  # M(μ − location) is standard normal, but for 1/√κ_n
        row = first + r * (r + 1) // 2
        value = normal(state) * shrink
        for c in range(r):
            value -= theta[row + c, at] * theta[scratch + c, at]
        theta[scratch + r, at] = value / theta[row + r, at]
        theta[1 + r, at] = cache[4 + r, j] + theta[scratch + r, at]


@inner_kernel
def log_density(x: Floats, theta: Floats, at: Index, work: Floats, out: Floats) -> None:
    """Add the log density of each column of x, an item, given drawn parameters to out; O(d²).

    Four columns of M at a time: a partial sum is then loaded and stored once for four products.
    """
    d = x.shape[0]
    constant = theta[0, at]
    for i in range(TILE):
        out[i] += constant
    for c in range(d):
        location = theta[1 + c, at]
        for i in range(TILE):
            work[c, i] = x[c, i] - location
    row = 1 + d
    for r in range(d):
        for i in range(TILE):
            work[d, i] = 0.0
        c = 0
        while c + 3 <= r:
            p, q = theta[row + c, at], theta[row + c + 1, at]
            s, t = theta[row + c + 2, at], theta[row + c + 3, at]
            for i in range(TILE):
                work[d, i] += (p * work[c, i] + q * work[c + 1, i]) + (
                    s * work[c + 2, i] + t * work[c + 3, i]
                )
            c += 4
        while c <= r:
            p = theta[row + c, at]
            for i in range(TILE):
                work[d, i] += p * work[c, i]
            c += 1
        for i in range(TILE):
            out[i] -= 0.5 * (work[d, i] * work[d, i])
        row += r + 1


FOUR = 4
"""Rows whose products are summed together: a sum is then loaded and stored once for four."""


@inner_kernel
def _add_products(waiting: Floats, squares: Floats, slot: Index, d: Index) -> None:
    """Add the products of a slot's waiting rows to its sums, and empty them."""
    one = FOUR * slot
    two, three, four = one + 1, one + 2, one + 3
    cell = 0
    for r in range(d):
        p, q, s, t = waiting[one, r], waiting[two, r], waiting[three, r], waiting[four, r]
        for c in range(r + 1):
            squares[slot, cell + c] += (p * waiting[one, c] + q * waiting[two, c]) + (
                s * waiting[three, c] + t * waiting[four, c]
            )
        cell += r + 1
    for m in range(FOUR):
        for c in range(d):
            waiting[one + m, c] = 0.0


@inner_kernel
def tally(
    data: Floats,
    first: Index,
    rows: Ints,
    slots: Int32s,
    sums: Floats,
    squares: Floats,
    waiting: Floats,
) -> None:
    """Sums of rows of the data and of their products, by slot, about each slot's first row.

    sums : per slot the first row (d), the number of rows, then sums (d). A row of ``squares`` is a
    lower triangle; ``waiting`` has room for four rows of each slot. Sums about a row of the cluster
    lose at most the digits of its number of rows.
    """
    d = waiting.shape[1]
    for m in range(rows.size):
        slot, i = np.int64(slots[m]), rows[m]
        number = int(sums[slot, d])
        if number == 0:
            for c in range(d):
                sums[slot, c] = data[i, first + c]
        at = FOUR * slot + number % FOUR
        for c in range(d):
            away = data[i, first + c] - sums[slot, c]
            waiting[at, c] = away
            sums[slot, d + 1 + c] += away
        sums[slot, d] += 1.0
        if number % FOUR == FOUR - 1:
            _add_products(waiting, squares, slot, d)
    for rest in range(sums.shape[0]):
        _add_products(waiting, squares, rest, d)


@inner_kernel
def settle(sums: Floats, squares: Floats, block: Block, slot: Index) -> None:
    """Write the statistics of a slot from its sums."""
    d = (sums.shape[1] - 1) // 2
    n = sums[slot, d]
    if n == 0.0:
        return
    cell = 0
    for r in range(d):
        mean = sums[slot, d + 1 + r] / n
        block.stats[r, slot] = sums[slot, r] + mean
        for c in range(r + 1):
            block.stats[d + cell + c, slot] = squares[slot, cell + c] - mean * sums[slot, d + 1 + c]
        cell += r + 1
