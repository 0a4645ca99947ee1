"""Is a sampler's distribution over all partitions the exact one?

Chains are independent, so the spread of their frequencies is the Monte Carlo
error, autocorrelation included: no effective sample size needs estimating.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

import partita as pt

FALSE_ALARM = 1e-5
"""Probability with which a correct sampler fails a check; seeds are fixed, so it is drawn once."""


def frequencies(fit: pt.Fit, partitions: np.ndarray) -> np.ndarray:
    """Share of each partition in each chain, shape (n_chains, n_partitions)."""
    place = (partitions.shape[1] + 1) ** np.arange(partitions.shape[1])
    codes = partitions @ place
    order = np.argsort(codes)
    position = order[np.searchsorted(codes[order], fit.draws.labels.astype(np.int64) @ place)]
    chains = fit.trace["n_clusters"].shape[0]
    cells = np.asarray(fit.draws.chain) * len(partitions) + position
    counts = np.bincount(cells, minlength=chains * len(partitions)).reshape(chains, -1)
    return counts / counts.sum(axis=1, keepdims=True)


def assert_exact(found: np.ndarray, exact: np.ndarray) -> None:
    """Each partition's frequency, and the total variation distance, within Monte Carlo error.

    Partitions of probability below 0.002 are taken together: a t test needs frequencies that
    are about normal. The level is divided by the number of tests (Bonferroni). The total
    variation distance is compared with what it would be if the chains' mean differed from the
    target by Monte Carlo error alone: chains' deviations from their mean, weighted by normal
    variates (a multiplier bootstrap), give 1,000 such distances, and 1.5 times their largest
    is allowed.
    """
    common = exact >= 0.002
    cells = np.column_stack([found[:, common], found[:, ~common].sum(axis=1)])
    target = np.append(exact[common], exact[~common].sum())
    if target[-1] < 1e-6:
        assert cells[:, -1].mean() < 1e-3
        cells, target = cells[:, :-1], target[:-1]
    chains = len(cells)
    error = np.maximum(cells.std(axis=0, ddof=1) / np.sqrt(chains), 1e-12)
    z = (cells.mean(axis=0) - target) / error
    limit = stats.t.isf(FALSE_ALARM / 2 / len(z), chains - 1)
    worst = int(np.abs(z).argmax())
    assert abs(z[worst]) < limit, (z[worst], limit, target[worst], cells[:, worst].mean())
    distance = np.abs(cells.mean(axis=0) - target).sum() / 2
    noise = np.random.default_rng(0).standard_normal((1000, chains)) / chains
    by_chance = np.abs(noise @ (cells - cells.mean(axis=0))).sum(axis=1) / 2
    assert distance < 1.5 * by_chance.max(), (distance, by_chance.max())
