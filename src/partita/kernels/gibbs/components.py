"""Finite mixtures given their number of components K: the telescoping sampler.

p(c | K, γ) = K!/(K − k)! · Γ(γK)/Γ(γK + N) · Π_j Γ(γ + n_j)/Γ(γ) with Dirichlet weight γ = w or,
for a dynamic mixture, γ = w/K. Then an item joins a cluster of n with weight n + γ and opens one
with weight (K − k)γ. K has a discrete conditional distribution given the partition; log w is
moved by slice sampling. Reference: Frühwirth-Schnatter, Malsiner-Walli and Grün (2021), Generalized
mixtures of finite mixtures and telescoping sampling; Neal (2003) for the slice.
"""

from __future__ import annotations

import math

import numpy as np

from partita.kernels.arrays import Floats
from partita.kernels.gibbs.jit import Index, step
from partita.kernels.gibbs.prior import log_hyperprior
from partita.kernels.gibbs.random import uniform
from partita.kernels.gibbs.types import Prior, Random

_WIDTH = 2.0
"""First width of a slice of log w."""

_LARGE = 1e5
"""Above it, differences of log Γ lose their digits and Stirling's series has them all."""


@step
def log_rising(x: float, n: float) -> float:
    """log x(x + 1)…(x + n − 1) = log Γ(x + n)/Γ(x)."""
    if x < _LARGE:
        return math.lgamma(x + n) - math.lgamma(x)
    remainder = (1.0 / (x + n) - 1.0 / x) / 12.0
    return n * math.log(x) + (x + n - 0.5) * math.log1p(n / x) - n + remainder


@step
def telescopes(prior: Prior) -> bool:
    """Whether loops run given K: where V(N, k) would change with every weight."""
    return prior.components.size > 0 and (prior.dynamic or prior.shape > 0.0)


@step
def _log_weights(
    prior: Prior, weight: float, components: float, counts: Floats, k: Index, n_items: Index
) -> float:
    """The factors of log p(c | K, w) that depend on w."""
    each = weight / components if prior.dynamic else weight
    total = -log_rising(each * components, float(n_items))
    for j in range(k):
        total += log_rising(each, counts[j])
    return total


@step
def draw_components(
    prior: Prior,
    weight: float,
    counts: Floats,
    k: Index,
    n_items: Index,
    scratch: Floats,
    state: Random,
) -> Index:
    """Draw K given the partition and the weight: p(K | c, w) ∝ p(K) p(c | K, w)."""
    n_terms = min(prior.n_terms, prior.components.size - k)
    highest = -np.inf
    log_ways = math.lgamma(k + 1.0)
    for m in range(n_terms):
        components = float(k + m)
        if m > 0:
            log_ways += math.log(components / m)
        term = prior.components[k + m] + log_ways
        if term > -np.inf:
            if prior.dynamic:
                term += _log_weights(prior, weight, components, counts, k, n_items)
            else:
                term -= log_rising(weight * components, float(n_items))
        scratch[m] = term
        highest = max(highest, term)
    total = 0.0
    for m in range(n_terms):
        scratch[m] = math.exp(scratch[m] - highest)
        total += scratch[m]
    target = uniform(state) * total
    chosen: Index = np.int64(0)
    for m in range(n_terms):
        if scratch[m] > 0.0:
            chosen = k + m
            target -= scratch[m]
            if target < 0.0:
                break
    return chosen


@step
def _log_density(
    prior: Prior, log_weight: float, components: float, counts: Floats, k: Index, n_items: Index
) -> float:
    """Log density of log w given K and the partition, but for a constant."""
    weight = math.exp(log_weight)
    found = log_hyperprior(prior, weight) + log_weight
    return found + _log_weights(prior, weight, components, counts, k, n_items)


@step
def update_weight(
    prior: Prior,
    weight: float,
    n_components: Index,
    counts: Floats,
    k: Index,
    n_items: Index,
    state: Random,
) -> float:
    """One slice step of log w given K and the partition; a fixed weight stays."""
    if prior.shape == 0.0:
        return weight
    at, components = math.log(weight), float(n_components)
    level = _log_density(prior, at, components, counts, k, n_items)
    level += math.log(1.0 - uniform(state))
    low = at - _WIDTH * uniform(state)
    high = low + _WIDTH
    while _log_density(prior, low, components, counts, k, n_items) > level:
        low -= _WIDTH
    while _log_density(prior, high, components, counts, k, n_items) > level:
        high += _WIDTH
    while True:
        tried = low + (high - low) * uniform(state)
        if _log_density(prior, tried, components, counts, k, n_items) > level:
            return math.exp(tried)
        if tried < at:
            low = tried
        else:
            high = tried
        if high - low < 1e-12:
            return weight


@step
def fill_tables(prior: Prior, weight: float, n_components: Index) -> None:
    """Write the tables of a prior given K and w, in place."""
    each = weight / n_components if prior.dynamic else weight
    log_size, log_block, open_table = prior.log_size, prior.log_block, prior.open_table
    for n in range(1, log_size.size):
        log_size[n] = math.log(n + each)
        log_block[n] = log_block[n - 1] + log_size[n - 1]
    for k in range(1, open_table.size):
        open_table[k] = math.log((n_components - k) * each) if k < n_components else -np.inf


@step
def log_constant(prior: Prior, weight: float, n_components: Index, n_items: Index) -> float:
    """log p(K) V(N, 1) W(1): what the sums over the tables leave out of log p(K, c | w)."""
    total = weight if prior.dynamic else weight * n_components
    found = float(prior.components[n_components]) + math.log(total)
    return found - log_rising(total, float(n_items))
