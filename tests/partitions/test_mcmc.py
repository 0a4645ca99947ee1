"""Our effective sample sizes, errors and R-hat against arviz-stats, to the last digits."""

from __future__ import annotations

import numpy as np
import pytest
from arviz_stats.base import array_stats

from partita import mcmc


@pytest.mark.parametrize("seed", range(60))
def test_numbers_are_arvizs(seed):
    rng = np.random.default_rng(seed)
    # In very short chains correlations can sum to exactly 0, and rounding decides where they end.
    n_chains, n_draws = int(rng.integers(2, 5)), int(rng.integers(40, 300))
    chains, memory = rng.normal(size=(n_chains, n_draws)), rng.uniform(-0.5, 0.99)
    for i in range(1, n_draws):
        chains[:, i] += memory * chains[:, i - 1]
    if seed % 3 == 0:
        chains = np.round(chains)  # ties
    ours = [mcmc.mcse_mean(chains), mcmc.ess_bulk(chains), mcmc.ess_tail(chains)]
    ours += [mcmc.rhat(chains), mcmc.mcse_quantile(chains, 0.9), mcmc.ess_mean(chains)]
    theirs = [
        array_stats.mcse(chains, method="mean"),
        array_stats.ess(chains, method="bulk"),
        array_stats.ess(chains, method="tail", prob=(0.05, 0.95)),
        array_stats.rhat(chains, method="rank"),
        array_stats.mcse(chains, method="quantile", prob=0.9),
        array_stats.ess(chains, method="mean"),
    ]
    assert ours == pytest.approx(np.array(theirs, np.float64), rel=1e-9)


def test_one_chain_has_sizes_and_errors_too():
    chain = np.random.default_rng(0).normal(size=(1, 101))
    assert mcmc.ess_bulk(chain) == pytest.approx(float(array_stats.ess(chain, method="bulk")))
    assert mcmc.mcse_mean(chain) == pytest.approx(float(array_stats.mcse(chain, method="mean")))


@pytest.mark.parametrize("n_draws", [20, 60, 333])
def test_chains_that_are_constants_of_their_own_are_not_correlated_within(n_draws):
    """Rounding of their means must not pass for a correlation."""
    chains = np.repeat([[0.1], [0.7], [0.7]], n_draws, axis=1)
    assert mcmc.ess_within(chains) == 3 * n_draws - 3 * (n_draws % 2)
