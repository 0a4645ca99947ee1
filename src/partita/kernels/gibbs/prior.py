"""Partition priors of product form: p(c) = V(N, k) Π_j W(n_j).

A Dirichlet process has W(n) = (1 − σ)(2 − σ)…(n − 1 − σ) with σ = 0, a Pitman–Yor process
with 0 < σ < 1, both with V(N, k) = Π_{i<k} (α + iσ) / α(α + 1)…(α + N − 1); a mixture of
finite mixtures with a fixed Dirichlet weight γ has σ = −γ and its V as a table (one whose weight
is learned or depends on K is taken given K; see ``components.py``). Loops see a prior
through ``log_size[n]``, log W(n + 1) − log W(n), to join a cluster of n items; ``log_open``,
log V(N, k + 1) − log V(N, k) + log W(1), to open one (``open_table``, of length 0 where it
depends on α); ``log_block[n]``, the log factor of a cluster of n items, less log W(1); and the
update of α, where ``shape`` is not 0.
"""

from __future__ import annotations

import math

from partita.kernels.arrays import Floats
from partita.kernels.gibbs.jit import Index, step
from partita.kernels.gibbs.random import gamma, uniform
from partita.kernels.gibbs.types import Prior, Random


@step
def log_open(prior: Prior, alpha: float, k: Index) -> float:
    """Log weight of a new cluster when there are k ≥ 1 others."""
    if prior.open_table.size > 0:
        return float(prior.open_table[k])
    return math.log(alpha + prior.sigma * k)


@step
def log_prior(prior: Prior, alpha: float, counts: Floats, k: Index, n_items: Index) -> float:
    """Log probability of a partition with the given sizes.

    Under a table of ratios, V(N, 1) is left to the caller: it is the same for all partitions.
    """
    total = 0.0
    for j in range(k):
        total += prior.log_block[int(counts[j])]
    for j in range(1, k):
        total += log_open(prior, alpha, j)
    if prior.open_table.size == 0:
        total += math.lgamma(alpha + 1.0) - math.lgamma(alpha + n_items)
    return total


@step
def log_gamma(x: float, shape: float, rate: float) -> float:
    """Log density of a gamma distribution."""
    total = shape * math.log(rate) - math.lgamma(shape)
    return total + ((shape - 1.0) * math.log(x) - rate * x)


@step
def log_hyperprior(prior: Prior, alpha: float) -> float:
    """Log density of a random α; 0 for a fixed one."""
    if prior.shape == 0.0:
        return 0.0
    if prior.is_f:
        half, tail = 0.5 * prior.shape, 0.5 * prior.rate
        ratio = prior.shape / prior.rate
        total = math.lgamma(half + tail) - math.lgamma(half) - math.lgamma(tail)
        total += half * math.log(ratio) + (half - 1.0) * math.log(alpha)
        return total - (half + tail) * math.log1p(ratio * alpha)
    return log_gamma(alpha, prior.shape, prior.rate)


@step
def update_concentration(
    prior: Prior, alpha: float, k: Index, n_items: Index, state: Random
) -> float:
    """Draw α ~ Gamma(shape, rate) given k clusters of N items, after Escobar and West.

    Γ(α + 1)/Γ(α + N) is the normaliser of η ~ Beta(α + 1, N − 1), and each factor α + iσ is
    split by a coin into α or iσ; given η and the coins, α is gamma. With σ = 0 all coins
    fall on α. A fixed α stays, and so does a Dirichlet weight: see ``components.py``.
    """
    shape = prior.shape
    if shape == 0.0 or prior.components.size > 0:
        return alpha
    left = gamma(state, alpha + 1.0)
    right = gamma(state, n_items - 1.0)
    log_eta = math.log(left / (left + right))
    for i in range(1, k):
        if uniform(state) * (alpha + i * prior.sigma) < alpha:
            shape += 1.0
    return gamma(state, shape) / (prior.rate - log_eta)
