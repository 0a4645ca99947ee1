"""Independent normals with normal–inverse-gamma priors: the arithmetic of one column block.

Per column: μ | σ² ~ N(μ0, σ²/c), σ² ~ InverseGamma(a, b). The columns of a block share a and
c: then their Student densities share one exponent, hence one logarithm, and what depends on
the cluster's size n alone comes from tables.

hyper : a, then (μ0, b) per column.
tables : by n. 0 constant of the predictive and 1 of the marginal density; 2 1/n; 3 n/(c + n);
    4 cn/2(c + n); 5 (c + n)/2(c + n + 1).
stats : mean and sum of squared deviations per column.
cache : 0 constant, 1 exponent, 2 Σ log b_n, then location and factor per column.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels.gibbs.jit import Index, inlined
from partita.kernels.gibbs.math import full_lanes, log

Floats = NDArray[np.float64]
Blocks = NDArray[np.int64]

_FLUSH = 8
"""Columns multiplied before a logarithm is taken; more could overflow. Even: columns go in pairs,
which halves the passes over the clusters."""


@inlined
def add(
    data: Floats,
    i: Index,
    blocks: Blocks,
    b: Index,
    tables: Floats,
    store: Floats,
    j: Index,
) -> None:
    """Take item i into the statistics of cluster j, whose count already includes it."""
    share = tables[blocks[b, 6] + 2, int(store[0, j])]
    s = blocks[b, 3]
    for c in range(blocks[b, 2]):
        x = data[i, blocks[b, 1] + c]
        change = x - store[s + 2 * c, j]
        mean = store[s + 2 * c, j] + change * share
        store[s + 2 * c, j] = mean
        store[s + 2 * c + 1, j] += change * (x - mean)


@inlined
def remove(
    data: Floats,
    i: Index,
    blocks: Blocks,
    b: Index,
    tables: Floats,
    store: Floats,
    j: Index,
) -> None:
    """Take item i out of the statistics of cluster j, whose count, at least 1, excludes it."""
    share = tables[blocks[b, 6] + 2, int(store[0, j])]
    s = blocks[b, 3]
    for c in range(blocks[b, 2]):
        x = data[i, blocks[b, 1] + c]
        change = x - store[s + 2 * c, j]
        mean = store[s + 2 * c, j] - change * share
        store[s + 2 * c, j] = mean
        store[s + 2 * c + 1, j] = max(store[s + 2 * c + 1, j] - change * (x - mean), 0.0)


@inlined
def refresh(
    blocks: Blocks, b: Index, hyper: Floats, tables: Floats, store: Floats, j: Index
) -> None:
    """Recompute what the predictive density of cluster j needs."""
    n = int(store[0, j])
    s, w, h, t = blocks[b, 3], blocks[b, 4], blocks[b, 5], blocks[b, 6]
    shrink, pull, spread = tables[t + 3, n], tables[t + 4, n], tables[t + 5, n]
    log_rates = 0.0
    product = 1.0
    for c in range(blocks[b, 2]):
        prior_mean = hyper[h + 1 + 2 * c]
        away = store[s + 2 * c, j] - prior_mean
        rate = hyper[h + 2 + 2 * c] + 0.5 * store[s + 2 * c + 1, j] + pull * (away * away)
        store[w + 3 + 2 * c, j] = prior_mean + shrink * away
        store[w + 4 + 2 * c, j] = spread / rate
        product *= rate
        if not 1e-100 < product < 1e100:
            log_rates += log(product)
            product = 1.0
    log_rates += log(product)
    store[w, j] = tables[t, n] - 0.5 * log_rates
    store[w + 1, j] = hyper[h] + 0.5 * (n + 1)
    store[w + 2, j] = log_rates


@inlined
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
    """Add the log predictive density of item i under each of k clusters to out."""
    first, d, w = blocks[b, 1], blocks[b, 2], blocks[b, 4]
    k = full_lanes(k)
    if d == 2:
        x, y = data[i, first], data[i, first + 1]
        for j in range(k):
            away, other = x - store[w + 3, j], y - store[w + 5, j]
            term = 1.0 + store[w + 4, j] * (away * away)
            term *= 1.0 + store[w + 6, j] * (other * other)
            out[j] += store[w, j] - store[w + 1, j] * log(term)
        return
    for j in range(k):
        out[j] += store[w, j]
    for start in range(0, d, _FLUSH):
        for j in range(k):
            work[0, j] = 1.0
        for c in range(start, min(start + _FLUSH, d - 1), 2):
            x, y = data[i, first + c], data[i, first + c + 1]
            at = w + 3 + 2 * c
            for j in range(k):
                away, other = x - store[at, j], y - store[at + 2, j]
                term = 1.0 + store[at + 1, j] * (away * away)
                work[0, j] *= term * (1.0 + store[at + 3, j] * (other * other))
        if d % 2 == 1 and d - start <= _FLUSH:
            x = data[i, first + d - 1]
            at = w + 1 + 2 * d
            for j in range(k):
                away = x - store[at, j]
                work[0, j] *= 1.0 + store[at + 1, j] * (away * away)
        for j in range(k):
            out[j] -= store[w + 1, j] * log(work[0, j])


@inlined
def log_marginal(
    blocks: Blocks, b: Index, hyper: Floats, tables: Floats, store: Floats, j: Index
) -> float:
    """Log density of all items of cluster j together; needs a refreshed cache."""
    n = store[0, j]
    exponent = hyper[blocks[b, 5]] + 0.5 * n
    return float(tables[blocks[b, 6] + 1, int(n)] - exponent * store[blocks[b, 4] + 2, j])
