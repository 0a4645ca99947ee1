"""Is a sampler's distribution over all partitions the exact one?

Chains are independent, so the spread of their frequencies is the Monte Carlo
error, autocorrelation included: no effective sample size needs estimating.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels.arrays import Floats
from partita.partitions.draws import Draws

FALSE_ALARM = 1e-5
"""Probability with which a correct sampler fails a check; seeds are fixed, so it is drawn once."""

RUN = {"draws": 1_500, "burn_in": 50, "chains": 40, "progress": False}
"""A run long enough to see errors of about one in a hundred in a partition's probability."""


def frequencies(draws: Draws, partitions: NDArray[np.integer]) -> Floats:
    """Share of each partition in each chain, shape (n_chains, n_partitions)."""
    place = (partitions.shape[1] + 1) ** np.arange(partitions.shape[1])
    codes = partitions @ place
    order = np.argsort(codes)
    position = order[np.searchsorted(codes[order], draws.labels.astype(np.int64) @ place)]
    chain = np.asarray(draws.chain)
    chains = int(chain.max()) + 1
    cells = chain * len(partitions) + position
    counts = np.bincount(cells, minlength=chains * len(partitions)).reshape(chains, -1)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def assert_exact(found: Floats, exact: Floats) -> None:
    """Each partition's frequency, and the total variation distance, within Monte Carlo error.

    Partitions of probability below 0.002 are taken together: a t test needs frequencies that
    are about normal. The level is divided by the number of tests (Bonferroni). The total
    variation distance is compared with what it would be if the chains' mean differed from the
    target by Monte Carlo error alone: chains' deviations from their mean, weighted by normal
    variates (a multiplier bootstrap), give 1,000 such distances, and 1.5 times their largest
    is allowed.
    """
    from scipy import stats

    common = exact >= 0.002
    cells = np.column_stack([found[:, common], found[:, ~common].sum(axis=1)])
    target = np.append(exact[common], exact[~common].sum())
    if target[-1] < 1e-6:
        if cells[:, -1].mean() >= 1e-3:
            raise AssertionError(
                f"partitions of probability {target[-1]:.2g} have a share of "
                f"{cells[:, -1].mean():.4f} in the draws."
            )
        cells, target = cells[:, :-1], target[:-1]
    chains = len(cells)
    error = np.maximum(cells.std(axis=0, ddof=1) / np.sqrt(chains), 1e-12)
    z = (cells.mean(axis=0) - target) / error
    limit = stats.t.isf(FALSE_ALARM / 2 / len(z), chains - 1)
    worst = int(np.abs(z).argmax())
    if abs(z[worst]) >= limit:
        raise AssertionError(
            f"a partition of probability {target[worst]:.5f} has a share of "
            f"{cells[:, worst].mean():.5f} in the draws: {abs(z[worst]):.1f} standard errors away, "
            f"where {limit:.1f} are allowed."
        )
    distance = np.abs(cells.mean(axis=0) - target).sum() / 2
    noise = np.random.default_rng(0).standard_normal((1000, chains)) / chains
    by_chance = np.abs(noise @ (cells - cells.mean(axis=0))).sum(axis=1) / 2
    if distance >= 1.5 * by_chance.max():
        raise AssertionError(
            f"the draws are {distance:.4f} away from the exact distribution, in total variation; "
            f"by chance it would be {by_chance.max():.4f} at most."
        )
