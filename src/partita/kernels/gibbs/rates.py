"""Rates of normal kernels with gamma priors, b ~ Gamma(g, h): their update given the clusters.

Variances are integrated out of the chain; here they are drawn for a moment, as precisions
τ_j ~ Gamma(a + n_j/2, b + S_j), because given them the rate is gamma:
b ~ Gamma(g + ka, h + Σ τ_j). Reference: Richardson and Green (1997).
"""

from __future__ import annotations

from partita.kernels.arrays import Floats
from partita.kernels.gibbs.jit import Index, step
from partita.kernels.gibbs.math import log
from partita.kernels.gibbs.random import gamma
from partita.kernels.gibbs.types import (
    COUNT,
    HYPER,
    N_COLUMNS,
    STATS,
    TABLES,
    Likelihood,
    Random,
    Rates,
)


@step
def set_rates(model: Likelihood, rates: Rates, values: Floats) -> None:
    """Write the values of learned rates into the hyperparameters of their blocks."""
    for r in range(rates.block.size):
        first = model.blocks[rates.block[r], HYPER]
        model.hyper[first + 2 + 2 * rates.column[r]] = values[r]
    for r in range(rates.block.size):
        first = model.blocks[rates.block[r], HYPER]
        n_columns = model.blocks[rates.block[r], N_COLUMNS]
        total = 0.0
        for c in range(n_columns):
            total += log(model.hyper[first + 2 + 2 * c])
        model.hyper[first + 1 + 2 * n_columns] = model.hyper[first] * total


@step
def update_rates(
    model: Likelihood, rates: Rates, store: Floats, k: Index, values: Floats, state: Random
) -> None:
    """Draw each learned rate given the k clusters in the store, whose caches are then stale."""
    hyper = model.hyper
    for r in range(rates.block.size):
        b, c = rates.block[r], rates.column[r]
        first, count = model.blocks[b, HYPER], model.blocks[b, COUNT]
        row, pull = model.blocks[b, STATS] + 2 * c, model.blocks[b, TABLES] + 4
        shape, mean = hyper[first], hyper[first + 1 + 2 * c]
        total_shape, total_rate = rates.shape[r], rates.rate[r]
        for j in range(k):
            n = store[count, j]
            if n > 0.0:  # a cluster all of whose cells are missing says nothing
                away = store[row, j] - mean
                spread = 0.5 * store[row + 1, j] + model.tables[pull, int(n)] * (away * away)
                total_rate += gamma(state, shape + 0.5 * n) / (values[r] + spread)
                total_shape += shape
        values[r] = gamma(state, total_shape) / total_rate
    set_rates(model, rates, values)
