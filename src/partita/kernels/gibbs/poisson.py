"""Counts with gamma priors on the Poisson rate: the arithmetic of one column block.

Per column: λ ~ Gamma(a, b). The factor 1/x! is the same under every partition; it is left out
here and added where a density is reported.

hyper : (a, b) per column.
stats : sum of the counts per column.
cache : 0 constant, then a + sum and log(b + n + 1) per column.
"""

from __future__ import annotations

import math

from partita.kernels._jit import inner_kernel
from partita.kernels.arrays import Floats
from partita.kernels.gibbs.primitives import TILE, Block, Index, Random, gamma

_SHORT = 8
"""Up to this count a rising factorial is multiplied out; beyond, two log gammas are cheaper."""


@inner_kernel
def add(x: Floats, n: float, block: Block, j: Index) -> None:  # noqa: ARG001
    """Take the cells x into the statistics of cluster j."""
    for c in range(x.size):
        block.stats[c, j] += x[c]


@inner_kernel
def remove(x: Floats, n: float, block: Block, j: Index) -> None:  # noqa: ARG001
    """Take the cells x out of the statistics of cluster j."""
    for c in range(x.size):
        block.stats[c, j] -= x[c]


@inner_kernel
def refresh(n: float, block: Block, j: Index) -> None:
    """Recompute what the predictive probability of cluster j needs."""
    constant = 0.0
    for c in range(block.stats.shape[0]):
        shape = block.hyper[2 * c] + block.stats[c, j]
        rate = block.hyper[2 * c + 1] + n
        constant -= shape * math.log1p(1.0 / rate)
        block.cache[1 + 2 * c, j] = shape
        block.cache[2 + 2 * c, j] = math.log(rate + 1.0)
    block.cache[0, j] = constant


@inner_kernel
def _log_rising(z: float, steps: Index) -> float:
    """log of z(z + 1)…(z + steps − 1)."""
    if steps > _SHORT:
        return math.lgamma(z + steps) - math.lgamma(z)
    product = 1.0
    for m in range(steps):
        product *= z + m
    return math.log(product)


@inner_kernel
def log_predictive(x: Floats, k: Index, block: Block, out: Floats) -> None:
    """Add the log predictive probability of the cells x, without 1/x!, under k clusters to out."""
    for j in range(k):
        out[j] += block.cache[0, j]
    for c in range(x.size):
        count = int(x[c])
        if count > 0:
            for j in range(k):
                rise = _log_rising(block.cache[1 + 2 * c, j], count)
                out[j] += rise - count * block.cache[2 + 2 * c, j]


@inner_kernel
def log_marginal(n: float, block: Block, j: Index) -> float:
    """Log probability, without Π 1/x!, of all items of cluster j together."""
    total = 0.0
    for c in range(block.stats.shape[0]):
        shape = block.hyper[2 * c]
        rate = block.hyper[2 * c + 1]
        count = block.stats[c, j]
        total += math.lgamma(shape + count) - math.lgamma(shape)
        total += shape * math.log(rate) - (shape + count) * math.log(rate + n)
    return total


@inner_kernel
def merge(n: float, more: float, source: Floats, block: Block, j: Index) -> None:  # noqa: ARG001
    """Take the items whose statistics stand in ``source`` into cluster j."""
    for c in range(block.stats.shape[0]):
        block.stats[c, j] += source[c, j]


@inner_kernel
def draw(n: float, block: Block, j: Index, theta: Floats, at: Index, state: Random) -> None:
    """Draw the rates of cluster j given its items. theta : 0 constant, then log λ per column."""
    constant = 0.0
    for c in range(block.stats.shape[0]):
        shape = block.hyper[2 * c] + block.stats[c, j]
        rate = gamma(state, shape) / (block.hyper[2 * c + 1] + n)
        constant -= rate
        theta[1 + c, at] = math.log(rate)
    theta[0, at] = constant


@inner_kernel
def log_density(x: Floats, theta: Floats, at: Index, out: Floats) -> None:
    """Add the log probability, without 1/x!, of each column of x, an item, to out."""
    constant = theta[0, at]
    for i in range(TILE):
        out[i] += constant
    for c in range(x.shape[0]):
        log_rate = theta[1 + c, at]
        for i in range(TILE):
            out[i] += x[c, i] * log_rate
