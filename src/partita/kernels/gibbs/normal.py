"""Independent normals with normal–inverse-gamma priors: the arithmetic of one column block.

Per column: μ | σ² ~ N(μ0, σ²/c), σ² ~ InverseGamma(a, b). The columns of a block share a and
c: then their Student densities share one exponent, hence one logarithm, and what depends on
the cluster's size n alone comes from tables.

hyper : a, then (μ0, b) per column, then a Σ log b.
tables : by n. 0 constant of the predictive and 1 of the marginal density; 2 1/n; 3 n/(c + n);
    4 cn/2(c + n); 5 (c + n)/2(c + n + 1).
stats : mean and sum of squared deviations per column.
cache : 0 constant, 1 exponent, 2 Σ log b_n, then location and factor per column.
"""

from __future__ import annotations

import math

from partita.kernels._jit import inner_kernel
from partita.kernels.arrays import Floats
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

_FLUSH = 8
"""Columns multiplied before a logarithm is taken; more could overflow. Even: columns go in pairs,
which halves the passes over the clusters."""


@inner_kernel
def add(x: Floats, n: float, block: Block, j: Index) -> None:
    """Take the cells x into the statistics of cluster j, which has n items with them."""
    share = block.tables[2, int(n)]
    for c in range(x.size):
        change = x[c] - block.stats[2 * c, j]
        mean = block.stats[2 * c, j] + change * share
        block.stats[2 * c, j] = mean
        block.stats[2 * c + 1, j] += change * (x[c] - mean)


@inner_kernel
def remove(x: Floats, n: float, block: Block, j: Index) -> None:
    """Take the cells x out of the statistics of cluster j, leaving n ≥ 1."""
    share = block.tables[2, int(n)]
    for c in range(x.size):
        change = x[c] - block.stats[2 * c, j]
        mean = block.stats[2 * c, j] - change * share
        block.stats[2 * c, j] = mean
        block.stats[2 * c + 1, j] = max(block.stats[2 * c + 1, j] - change * (x[c] - mean), 0.0)


@inner_kernel
def refresh(n: float, block: Block, j: Index) -> None:
    """Recompute what the predictive density of cluster j needs."""
    hyper, tables, stats, cache = block.hyper, block.tables, block.stats, block.cache
    at = int(n)
    shrink, pull, spread = tables[3, at], tables[4, at], tables[5, at]
    log_rates = 0.0
    product = 1.0
    for c in range(stats.shape[0] // 2):
        prior_mean = hyper[1 + 2 * c]
        away = stats[2 * c, j] - prior_mean
        rate = hyper[2 + 2 * c] + 0.5 * stats[2 * c + 1, j] + pull * (away * away)
        cache[3 + 2 * c, j] = prior_mean + shrink * away
        cache[4 + 2 * c, j] = spread / rate
        product *= rate
        if not 1e-100 < product < 1e100:
            log_rates += log(product)
            product = 1.0
    log_rates += log(product)
    cache[0, j] = tables[0, at] - 0.5 * log_rates
    cache[1, j] = hyper[0] + 0.5 * (at + 1)
    cache[2, j] = log_rates


@inner_kernel
def log_predictive(x: Floats, k: Index, block: Block, out: Floats) -> None:
    """Add the log predictive density of the cells x under each of k clusters to out."""
    cache, work, d = block.cache, block.work, x.size
    k = full_lanes(k)
    if d == 2:
        first, second = x[0], x[1]
        for j in range(k):
            away, other = first - cache[3, j], second - cache[5, j]
            term = 1.0 + cache[4, j] * (away * away)
            term *= 1.0 + cache[6, j] * (other * other)
            out[j] += cache[0, j] - cache[1, j] * log(term)
        return
    for j in range(k):
        out[j] += cache[0, j]
    for start in range(0, d, _FLUSH):
        for j in range(k):
            work[0, j] = 1.0
        for c in range(start, min(start + _FLUSH, d - 1), 2):
            first, second = x[c], x[c + 1]
            at = 3 + 2 * c
            for j in range(k):
                away, other = first - cache[at, j], second - cache[at + 2, j]
                term = 1.0 + cache[at + 1, j] * (away * away)
                work[0, j] *= term * (1.0 + cache[at + 3, j] * (other * other))
        if d % 2 == 1 and d - start <= _FLUSH:
            first = x[d - 1]
            at = 1 + 2 * d
            for j in range(k):
                away = first - cache[at, j]
                work[0, j] *= 1.0 + cache[at + 1, j] * (away * away)
        for j in range(k):
            out[j] -= cache[1, j] * log(work[0, j])


@inner_kernel
def log_marginal(n: float, block: Block, j: Index) -> float:
    """Log density of all items of cluster j together; needs a refreshed cache."""
    exponent = block.hyper[0] + 0.5 * n
    constant = block.tables[1, int(n)] + block.hyper[block.hyper.size - 1]
    return float(constant - exponent * block.cache[2, j])


@inner_kernel
def merge(n: float, more: float, source: Floats, block: Block, j: Index) -> None:
    """Take ``more`` items, whose statistics stand in ``source``, into the n of cluster j."""
    stats, share = block.stats, more / (n + more)
    for c in range(stats.shape[0] // 2):
        change = source[2 * c, j] - stats[2 * c, j]
        stats[2 * c, j] += change * share
        stats[2 * c + 1, j] += source[2 * c + 1, j] + change * change * (n * share)


@inner_kernel
def draw(n: float, block: Block, j: Index, theta: Floats, at: Index, state: Random) -> None:
    """Draw means and precisions of cluster j given its items, for :func:`log_density`.

    theta : 0 constant, then mean and half the precision per column.
    """
    hyper, tables, stats, size = block.hyper, block.tables, block.stats, int(n)
    ratio = 2.0 * tables[5, 0]
    total = n / tables[3, size] if size > 0 else ratio / (1.0 - ratio)  # c + n
    constant = 0.0
    for c in range(stats.shape[0] // 2):
        away = stats[2 * c, j] - hyper[1 + 2 * c]
        rate = hyper[2 + 2 * c] + 0.5 * stats[2 * c + 1, j] + tables[4, size] * (away * away)
        precision = gamma(state, hyper[0] + 0.5 * n) / rate
        location = hyper[1 + 2 * c] + tables[3, size] * away
        theta[1 + 2 * c, at] = location + normal(state) / math.sqrt(total * precision)
        theta[2 + 2 * c, at] = 0.5 * precision
        constant += 0.5 * math.log(precision / (2.0 * math.pi))
    theta[0, at] = constant


@inner_kernel
def log_density(x: Floats, theta: Floats, at: Index, out: Floats) -> None:
    """Add the log density of each column of x, an item, given drawn parameters to out."""
    d = x.shape[0]
    constant = theta[0, at]
    for i in range(TILE):
        out[i] += constant
    for c in range(0, d - 1, 2):
        first, second = theta[1 + 2 * c, at], theta[3 + 2 * c, at]
        half, other = theta[2 + 2 * c, at], theta[4 + 2 * c, at]
        for i in range(TILE):
            a, b = x[c, i] - first, x[c + 1, i] - second
            out[i] -= half * (a * a) + other * (b * b)
    if d % 2 == 1:
        first, half = theta[2 * d - 1, at], theta[2 * d, at]
        for i in range(TILE):
            a = x[d - 1, i] - first
            out[i] -= half * (a * a)
