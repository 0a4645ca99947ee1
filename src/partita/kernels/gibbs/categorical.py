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

import numpy as np
from numpy.typing import NDArray

from partita.kernels.gibbs.jit import Index, step
from partita.kernels.gibbs.math import full_lanes, log

Floats = NDArray[np.float64]
Blocks = NDArray[np.int64]

_FLUSH = 8
"""Columns multiplied before a logarithm is taken; more could overflow."""


@step
def _count(
    data: Floats,
    i: Index,
    blocks: Blocks,
    b: Index,
    hyper: Floats,
    store: Floats,
    j: Index,
    sign: float,
) -> None:
    first, s, h = blocks[b, 1], blocks[b, 3], blocks[b, 5]
    for c in range(blocks[b, 2]):
        store[s + int(hyper[h + c]) + int(data[i, first + c]), j] += sign


@step
def add(
    data: Floats,
    i: Index,
    blocks: Blocks,
    b: Index,
    hyper: Floats,
    store: Floats,
    j: Index,
) -> None:
    """Take item i into the statistics of cluster j."""
    _count(data, i, blocks, b, hyper, store, j, 1.0)


@step
def remove(
    data: Floats,
    i: Index,
    blocks: Blocks,
    b: Index,
    hyper: Floats,
    store: Floats,
    j: Index,
) -> None:
    """Take item i out of the statistics of cluster j."""
    _count(data, i, blocks, b, hyper, store, j, -1.0)


@step
def refresh(blocks: Blocks, b: Index, tables: Floats, store: Floats, j: Index) -> None:
    """Recompute what the predictive probability of cluster j needs beside the counts."""
    store[blocks[b, 4], j] = tables[blocks[b, 6], int(store[0, j])]


@step
def add_log_predictive(
    data: Floats,
    i: Index,
    blocks: Blocks,
    b: Index,
    hyper: Floats,
    store: Floats,
    k: Index,
    work: Floats,
    out: Floats,
) -> None:
    """Add the log predictive probability of item i under each of k clusters to out."""
    d, s, w, h = blocks[b, 2], blocks[b, 3], blocks[b, 4], blocks[b, 5]
    k = full_lanes(k)
    for j in range(k):
        out[j] += store[w, j]
    for first in range(0, d, _FLUSH):
        for j in range(k):
            work[0, j] = 1.0
        for c in range(first, min(first + _FLUSH, d)):
            level = int(hyper[h + c]) + int(data[i, blocks[b, 1] + c])
            pseudo = hyper[h + d + 1 + level]
            for j in range(k):
                work[0, j] *= store[s + level, j] + pseudo
        for j in range(k):
            out[j] += log(work[0, j])


@step
def log_marginal(
    blocks: Blocks, b: Index, hyper: Floats, tables: Floats, store: Floats, j: Index
) -> float:
    """Log probability of all items of cluster j together."""
    d, s, h = blocks[b, 2], blocks[b, 3], blocks[b, 5]
    total = float(tables[blocks[b, 6] + 1, int(store[0, j])])
    for level in range(int(hyper[h + d])):
        count = store[s + level, j]
        if count > 0.0:
            pseudo = hyper[h + d + 1 + level]
            total += math.lgamma(pseudo + count) - math.lgamma(pseudo)
    return total
