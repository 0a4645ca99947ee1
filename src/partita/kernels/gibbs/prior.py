"""Partition priors of product form: p(c) = V(N, k) Π_j W(n_j).

A Dirichlet process has W(n) = (1 − σ)(2 − σ)…(n − 1 − σ) with σ = 0, a Pitman–Yor process
with 0 < σ < 1, both with V(N, k) = Π_{i<k} (α + iσ) / α(α + 1)…(α + N − 1); a mixture of
finite mixtures with a fixed Dirichlet weight γ has σ = −γ and its V as a table (one whose weight
is learned or depends on K is taken given K; below). Loops see a prior
through ``log_size[n]``, log W(n + 1) − log W(n), to join a cluster of n items; ``log_open``,
log V(N, k + 1) − log V(N, k) + log W(1), to open one (``open_table``, of length 0 where it
depends on α); ``log_block[n]``, the log factor of a cluster of n items, less log W(1); and the
update of α, where ``shape`` is not 0.

Finite mixtures given their number of components K: the telescoping sampler.

p(c | K, γ) = K!/(K − k)! · Γ(γK)/Γ(γK + N) · Π_j Γ(γ + n_j)/Γ(γ) with Dirichlet weight γ = w or,
for a dynamic mixture, γ = w/K. Then an item joins a cluster of n with weight n + γ and opens one
with weight (K − k)γ. K has a discrete conditional distribution given the partition; log w is
moved by slice sampling. Reference: Frühwirth-Schnatter, Malsiner-Walli and Grün (2021), Generalized
mixtures of finite mixtures and telescoping sampling; Neal (2003) for the slice.

Rates of normal kernels with gamma priors, b ~ Gamma(g, h): their update given the clusters.

Variances are integrated out of the chain; here they are drawn for a moment, as precisions
τ_j ~ Gamma(a + n_j/2, b + S_j), because given them the rate is gamma:
b ~ Gamma(g + ka, h + Σ τ_j). Reference: Richardson and Green (1997). For the diagonal scale Λ of
a Wishart kernel, λ_c ~ Gamma(g, h), the same with Σ_j⁻¹ ~ Wishart(ν + n_j, Λ_n⁻¹):
λ_c ~ Gamma(g + kν/2, h + ½ Σ_j (Σ_j⁻¹)_cc). Reference: Huang and Wand (2013).
"""

from __future__ import annotations

import math

import numpy as np

from partita.kernels._jit import inner_kernel
from partita.kernels.arrays import Floats
from partita.kernels.gibbs.primitives import (
    AT,
    CODE,
    Index,
    Likelihood,
    Prior,
    Random,
    block_of,
    gamma,
    inlined,
    log,
    step,
    uniform,
)
from partita.kernels.gibbs.wishart import precision_draw


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


@inner_kernel
def log_gamma(x: float, shape: float, rate: float) -> float:
    """Log density of a gamma distribution."""
    total = shape * math.log(rate) - math.lgamma(shape)
    return total + ((shape - 1.0) * math.log(x) - rate * x)


@inner_kernel
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
    fall on α. A fixed α stays, and so does a Dirichlet weight: see above.
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


@inner_kernel
def telescopes(prior: Prior) -> bool:
    """Whether loops run given K: where V(N, k) would change with every weight."""
    return prior.components.size > 0 and (prior.dynamic or prior.shape > 0.0)


@inner_kernel
def _log_weights(
    prior: Prior, weight: float, components: float, counts: Floats, k: Index, n_items: Index
) -> float:
    """The factors of log p(c | K, w) that depend on w."""
    each = weight / components if prior.dynamic else weight
    total = -log_rising(each * components, float(n_items))
    for j in range(k):
        total += log_rising(each, counts[j])
    return total


@inner_kernel
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


@inner_kernel
def _log_density(
    prior: Prior, log_weight: float, components: float, counts: Floats, k: Index, n_items: Index
) -> float:
    """Log density of log w given K and the partition, but for a constant."""
    weight = math.exp(log_weight)
    found = log_hyperprior(prior, weight) + log_weight
    return found + _log_weights(prior, weight, components, counts, k, n_items)


@inner_kernel
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


@inner_kernel
def fill_tables(prior: Prior, weight: float, n_components: Index) -> None:
    """Write the tables of a prior given K and w, in place."""
    each = weight / n_components if prior.dynamic else weight
    log_size, log_block, open_table = prior.log_size, prior.log_block, prior.open_table
    for n in range(1, log_size.size):
        log_size[n] = math.log(n + each)
        log_block[n] = log_block[n - 1] + log_size[n - 1]
    for k in range(1, open_table.size):
        open_table[k] = math.log((n_components - k) * each) if k < n_components else -np.inf


@inner_kernel
def log_constant(prior: Prior, weight: float, n_components: Index, n_items: Index) -> float:
    """log p(K) V(N, 1) W(1): what the sums over the tables leave out of log p(K, c | w)."""
    total = weight if prior.dynamic else weight * n_components
    found = float(prior.components[n_components]) + math.log(total)
    return found - log_rising(total, float(n_items))


@inlined
def _scale_cell(model: Likelihood, b: Index, c: Index) -> Index:
    """Position of the learned parameter of column c of block b in the hyperparameters."""
    first = model.blocks[b, AT.hyper]
    if model.blocks[b, AT.family] == CODE.wishart:
        d = model.blocks[b, AT.n_columns]
        return np.int64(first + 2 + d + c * (d + 1))
    if model.blocks[b, AT.family] == CODE.incomplete:
        return np.int64(first + 4 * c + 2)
    return np.int64(first + 2 + 2 * c)


@inner_kernel
def set_rates(model: Likelihood, values: Floats) -> None:
    """Write the values of learned rates into the hyperparameters of their blocks."""
    rates = model.rates
    for r in range(rates.block.size):
        model.hyper[_scale_cell(model, rates.block[r], rates.column[r])] = values[r]
    for r in range(rates.block.size):
        b = rates.block[r]
        first = model.blocks[b, AT.hyper]
        last = first + model.blocks[b, AT.n_hyper] - 1
        if model.blocks[b, AT.family] == CODE.incomplete:
            at = _scale_cell(model, b, rates.column[r])
            model.hyper[at + 1] = model.hyper[first] * log(values[r])
            continue
        total = 0.0
        for c in range(model.blocks[b, AT.n_columns]):
            total += log(model.hyper[_scale_cell(model, b, c)])
        factor = model.hyper[first]
        if model.blocks[b, AT.family] == CODE.wishart:
            factor = 0.5 * model.hyper[first + 1]
        model.hyper[last] = factor * total


@inner_kernel
def _learn_normal(
    model: Likelihood, r: Index, store: Floats, k: Index, values: Floats, state: Random
) -> None:
    """Draw the rate of a column of independent normals."""
    hyper, rates = model.hyper, model.rates
    b, c = rates.block[r], rates.column[r]
    count, row = model.blocks[b, AT.counter], model.blocks[b, AT.stats] + 2 * c
    if model.blocks[b, AT.family] == CODE.incomplete:
        count = model.blocks[b, AT.stats] + 3 * c
        row = count + 1
    pull = model.blocks[b, AT.tables] + 4
    shape, mean = hyper[model.blocks[b, AT.hyper]], hyper[_scale_cell(model, b, c) - 1]
    total_shape, total_rate = rates.shape[r], rates.rate[r]
    for j in range(k):
        n = store[count, j]
        if n > 0.0:  # a cluster all of whose cells are missing says nothing
            away = store[row, j] - mean
            spread = 0.5 * store[row + 1, j] + model.tables[pull, int(n)] * (away * away)
            total_rate += gamma(state, shape + 0.5 * n) / (values[r] + spread)
            total_shape += shape
    values[r] = gamma(state, total_shape) / total_rate


@inner_kernel
def _learn_wishart(
    model: Likelihood,
    b: Index,
    store: Floats,
    work: Floats,
    k: Index,
    values: Floats,
    state: Random,
) -> None:
    """Draw the learned scales of a Wishart block, if it has any; its caches are fresh."""
    rates, n_learned = model.rates, 0
    for r in range(rates.block.size):
        n_learned += rates.block[r] == b
    if n_learned == 0:
        return
    d, degrees = model.blocks[b, AT.n_columns], model.hyper[model.blocks[b, AT.hyper] + 1]
    block = block_of(model, b, store, work)
    for r in range(rates.block.size):
        if rates.block[r] == b:
            values[r] = 0.0
    for j in range(k):
        precision_draw(degrees + store[0, j], d, block, j, state)
        for r in range(rates.block.size):
            if rates.block[r] == b:
                values[r] += 0.5 * work[rates.column[r], 0]
    for r in range(rates.block.size):
        if rates.block[r] == b:
            shape = rates.shape[r] + 0.5 * k * degrees
            values[r] = gamma(state, shape) / (rates.rate[r] + values[r])


@inner_kernel
def update_rates(
    model: Likelihood, store: Floats, work: Floats, k: Index, values: Floats, state: Random
) -> None:
    """Draw each learned rate given the k clusters in the store, whose caches are then stale."""
    rates = model.rates
    for r in range(rates.block.size):
        if model.blocks[rates.block[r], AT.family] != CODE.wishart:
            _learn_normal(model, r, store, k, values, state)
    for b in range(model.blocks.shape[0]):
        if model.blocks[b, AT.family] == CODE.wishart:
            _learn_wishart(model, b, store, work, k, values, state)
    set_rates(model, values)
