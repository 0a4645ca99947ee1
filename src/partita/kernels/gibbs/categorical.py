"""Categories with Dirichlet priors: the arithmetic of one column block.

A column holds level numbers 0 … L − 1. Two levels are a Bernoulli with a beta prior.

hyper : first level of each column and, last, the number of levels in all (d + 1 numbers);
    then the pseudo-count of each level.
tables : by the cluster's size n, A being a column's sum of pseudo-counts. 0 −Σ log(A + n) and
    1 Σ log Γ(A) − log Γ(A + n), over the columns.
stats : count of each level.
cache : 0 constant.
"""

from __future__ import annotations

import math

from partita.kernels._jit import inner_kernel
from partita.kernels.arrays import Floats
from partita.kernels.gibbs.primitives import TILE, Block, Index, Random, full_lanes, gamma, log

_FLUSH = 8
"""Columns multiplied before a logarithm is taken; more could overflow."""


@inner_kernel
def add(x: Floats, n: float, block: Block, j: Index) -> None:  # noqa: ARG001
    """Take the cells x into the statistics of cluster j."""
    for c in range(x.size):
        block.stats[int(block.hyper[c]) + int(x[c]), j] += 1.0


@inner_kernel
def remove(x: Floats, n: float, block: Block, j: Index) -> None:  # noqa: ARG001
    """Take the cells x out of the statistics of cluster j."""
    for c in range(x.size):
        block.stats[int(block.hyper[c]) + int(x[c]), j] -= 1.0


@inner_kernel
def refresh(n: float, block: Block, j: Index) -> None:
    """Recompute what the predictive probability of cluster j needs beside the counts."""
    block.cache[0, j] = block.tables[0, int(n)]


@inner_kernel
def log_predictive(x: Floats, k: Index, block: Block, out: Floats) -> None:
    """Add the log predictive probability of the cells x under each of k clusters to out."""
    hyper, work, d = block.hyper, block.work, x.size
    k = full_lanes(k)
    for j in range(k):
        out[j] += block.cache[0, j]
    for first in range(0, d, _FLUSH):
        for j in range(k):
            work[0, j] = 1.0
        for c in range(first, min(first + _FLUSH, d)):
            level = int(hyper[c]) + int(x[c])
            pseudo = hyper[d + 1 + level]
            for j in range(k):
                work[0, j] *= block.stats[level, j] + pseudo
        for j in range(k):
            out[j] += log(work[0, j])


@inner_kernel
def log_marginal(n: float, block: Block, j: Index) -> float:
    """Log probability of all items of cluster j together."""
    total = float(block.tables[1, int(n)])
    levels = block.stats.shape[0]
    first = block.hyper.size - levels
    for level in range(levels):
        count = block.stats[level, j]
        if count > 0.0:
            pseudo = block.hyper[first + level]
            total += math.lgamma(pseudo + count) - math.lgamma(pseudo)
    return total


@inner_kernel
def merge(n: float, more: float, source: Floats, block: Block, j: Index) -> None:  # noqa: ARG001
    """Take the items whose counts stand in ``source`` into cluster j."""
    for level in range(block.stats.shape[0]):
        block.stats[level, j] += source[level, j]


@inner_kernel
def draw(n: float, block: Block, j: Index, theta: Floats, at: Index, state: Random) -> None:  # noqa: ARG001
    """Draw the probabilities of cluster j given its items. theta : their logarithms."""
    levels = block.stats.shape[0]
    first = block.hyper.size - levels  # d + 1
    for c in range(first - 1):
        low, high = int(block.hyper[c]), int(block.hyper[c + 1])
        total = 0.0
        for level in range(low, high):
            weight = gamma(state, block.hyper[first + level] + block.stats[level, j])
            theta[level, at] = weight
            total += weight
        log_total = math.log(total)
        for level in range(low, high):
            theta[level, at] = math.log(theta[level, at]) - log_total


@inner_kernel
def log_density(x: Floats, hyper: Floats, theta: Floats, at: Index, out: Floats) -> None:
    """Add the log probability of each column of x, an item, given drawn parameters to out."""
    for c in range(x.shape[0]):
        first = int(hyper[c])
        for i in range(TILE):
            out[i] += theta[first + int(x[c, i]), at]
