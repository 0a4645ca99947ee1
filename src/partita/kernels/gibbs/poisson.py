"""Counts with gamma priors on the Poisson rate: the arithmetic of one column block.

Per column: λ ~ Gamma(a, b). The factor 1/x! is the same under every partition; it is left out
here and added where a density is reported.

hyper : (a, b) per column.
stats : sum of the counts per column.
cache : 0 constant, then a + sum and log(b + n + 1) per column.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from partita.kernels.gibbs.jit import Index, step

Floats = NDArray[np.float64]
Blocks = NDArray[np.int64]

_SHORT = 8
"""Up to this count a rising factorial is multiplied out; beyond, two log gammas are cheaper."""


@step
def add(
    data: Floats,
    i: Index,
    blocks: Blocks,
    b: Index,
    store: Floats,
    j: Index,
) -> None:
    """Take item i into the statistics of cluster j."""
    for c in range(blocks[b, 2]):
        store[blocks[b, 3] + c, j] += data[i, blocks[b, 1] + c]


@step
def remove(
    data: Floats,
    i: Index,
    blocks: Blocks,
    b: Index,
    store: Floats,
    j: Index,
) -> None:
    """Take item i out of the statistics of cluster j."""
    for c in range(blocks[b, 2]):
        store[blocks[b, 3] + c, j] -= data[i, blocks[b, 1] + c]


@step
def refresh(blocks: Blocks, b: Index, hyper: Floats, store: Floats, j: Index) -> None:
    """Recompute what the predictive probability of cluster j needs."""
    s, w, h = blocks[b, 3], blocks[b, 4], blocks[b, 5]
    constant = 0.0
    for c in range(blocks[b, 2]):
        shape = hyper[h + 2 * c] + store[s + c, j]
        rate = hyper[h + 2 * c + 1] + store[0, j]
        constant -= shape * math.log1p(1.0 / rate)
        store[w + 1 + 2 * c, j] = shape
        store[w + 2 + 2 * c, j] = math.log(rate + 1.0)
    store[w, j] = constant


@step
def _log_rising(z: float, steps: Index) -> float:
    """log of z(z + 1)…(z + steps − 1)."""
    if steps > _SHORT:
        return math.lgamma(z + steps) - math.lgamma(z)
    product = 1.0
    for m in range(steps):
        product *= z + m
    return math.log(product)


@step
def add_log_predictive(
    data: Floats,
    i: Index,
    blocks: Blocks,
    b: Index,
    store: Floats,
    k: Index,
    out: Floats,
) -> None:
    """Add the log predictive probability of item i, without 1/x!, under each cluster to out."""
    w = blocks[b, 4]
    for j in range(k):
        out[j] += store[w, j]
    for c in range(blocks[b, 2]):
        count = int(data[i, blocks[b, 1] + c])
        if count > 0:
            for j in range(k):
                rise = _log_rising(store[w + 1 + 2 * c, j], count)
                out[j] += rise - count * store[w + 2 + 2 * c, j]


@step
def log_marginal(blocks: Blocks, b: Index, hyper: Floats, store: Floats, j: Index) -> float:
    """Log probability, without Π 1/x!, of all items of cluster j together."""
    s, h = blocks[b, 3], blocks[b, 5]
    total = 0.0
    for c in range(blocks[b, 2]):
        shape = hyper[h + 2 * c]
        rate = hyper[h + 2 * c + 1]
        count = store[s + c, j]
        total += math.lgamma(shape + count) - math.lgamma(shape)
        total += shape * math.log(rate) - (shape + count) * math.log(rate + store[0, j])
    return total
