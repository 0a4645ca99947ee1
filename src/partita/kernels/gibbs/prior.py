"""Partition priors of Gibbs type: p(c) = V(N, k) Π_j (1 − σ)(2 − σ)…(n_j − 1 − σ).

A Dirichlet process has σ = 0, a Pitman–Yor process 0 < σ < 1, both with
V(N, k) = Π_{i<k} (α + iσ) / α(α + 1)…(α + N − 1); a mixture of finite mixtures with Dirichlet
weight γ has σ = −γ and its V as a table. Loops see a prior through ``log_size[n]``,
log(n − σ), to join a cluster of n items; ``log_open``, log V(N, k + 1) − log V(N, k), to open
one (``open_table``, of length 0 where it depends on α); ``log_block[n]``, the log factor of a
cluster of n items; and the update of α.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from partita.kernels.gibbs.jit import Index, step
from partita.kernels.gibbs.random import gamma, uniform

Floats = NDArray[np.float64]


@step
def log_open(sigma: float, open_table: Floats, alpha: float, k: Index) -> float:
    """Log weight of a new cluster when there are k ≥ 1 others."""
    if open_table.size > 0:
        return float(open_table[k])
    return math.log(alpha + sigma * k)


@step
def log_prior(
    sigma: float,
    open_table: Floats,
    log_block: Floats,
    alpha: float,
    counts: Floats,
    k: Index,
    n_items: Index,
) -> float:
    """Log probability of a partition with the given sizes.

    Under a table of ratios, V(N, 1) is left to the caller: it is the same for all partitions.
    """
    total = 0.0
    for j in range(k):
        total += log_block[int(counts[j])]
    for j in range(1, k):
        total += log_open(sigma, open_table, alpha, j)
    if open_table.size == 0:
        total += math.lgamma(alpha + 1.0) - math.lgamma(alpha + n_items)
    return total


@step
def update_concentration(
    sigma: float,
    shape: float,
    rate: float,
    alpha: float,
    k: Index,
    n_items: Index,
    state: NDArray[np.uint64],
) -> float:
    """Draw α ~ Gamma(shape, rate) given k clusters of N items, after Escobar and West.

    Γ(α + 1)/Γ(α + N) is the normaliser of η ~ Beta(α + 1, N − 1), and each factor α + iσ is
    split by a coin into α or iσ; given η and the coins, α is gamma. With σ = 0 all coins
    fall on α.
    """
    left = gamma(state, alpha + 1.0)
    right = gamma(state, n_items - 1.0)
    log_eta = math.log(left / (left + right))
    for i in range(1, k):
        if uniform(state) * (alpha + i * sigma) < alpha:
            shape += 1.0
    return gamma(state, shape) / (rate - log_eta)
