"""Learned weights, numbers of components and rates against enumeration over grids of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import partita as pt
from partita.testing.sampling import assert_exact, frequencies
from reference import samplers_models as twins

N = 5
PARTITIONS = np.array(list(pt.all_partitions(N)))
DATA = np.array([-1.3, -0.9, 0.2, 1.1, 1.4])
CELLS = {"mean": 0.2, "precision": 0.5, "shape": 2.0}
KERNEL = pt.NormalInverseGamma(**CELLS, rate=1)
RUN = {"draws": 1_500, "burn_in": 50, "chains": 40, "rng": 7, "progress": False}
GRID = np.linspace(-13, 13, 174)
"""Log weights and log rates; the trapezoidal rule on it is exact to many digits."""

NUMBERS = np.array([0.1, 0.2, 0.3, 0.1, 0.1, 0.2])
"""Probabilities of 1 … 6 components."""

LAWS = {
    "gamma": (pt.Gamma(1.5, 1.2), stats.gamma(1.5, scale=1 / 1.2)),
    "F": (pt.F(6, 3), stats.f(6, 3)),
    "fixed": (0.7, None),
}


@cache
def log_marginals(rate: float = 1.0) -> np.ndarray:
    """Log density of the data given each partition."""
    twin = twins.normal_inverse_gamma(**CELLS, rate=rate)
    rows = DATA[:, None]
    part = cache(lambda members: twins.log_marginal(twin, rows[list(members)]))
    return np.array(
        [
            sum(part(tuple(np.flatnonzero(c == j).tolist())) for j in range(c.max() + 1))
            for c in PARTITIONS
        ]
    )


@cache
def exact(law: str, dynamic: bool, with_data: bool) -> np.ndarray:
    """Joint probabilities of partition, number of components and weight on the grid."""
    prior, density = LAWS[law]
    weights = np.exp(GRID) if density else np.array([prior])
    log_density = density.logpdf(weights) + GRID if density else np.zeros(1)
    log_p = np.full((len(PARTITIONS), NUMBERS.size, weights.size), -np.inf)
    alone = np.eye(NUMBERS.size)
    for n, w in np.ndindex(NUMBERS.size, weights.size):
        own = weights[w] / (n + 1) if dynamic else weights[w]
        of = cache(
            lambda *sizes, n=n, own=own: twins.log_prior_sizes(
                "finite", sizes, weight=own, components=alone[n]
            )
        )
        log_p[:, n, w] = [of(*sorted(np.bincount(labels).tolist())) for labels in PARTITIONS]
    log_p += np.log(NUMBERS)[:, None] + log_density
    if with_data:
        log_p += log_marginals()[:, None, None]
    return np.exp(log_p - logsumexp(log_p))


def prior_of(law: str, dynamic: bool) -> pt.FiniteMixture:
    return pt.FiniteMixture(LAWS[law][0], components=NUMBERS, dynamic=dynamic)


def shares(trace: np.ndarray, n: int) -> np.ndarray:
    """How often 1 … n occurred in each chain."""
    return np.stack([(trace == j).mean(axis=1) for j in range(1, n + 1)], axis=1)


def assert_distribution(trace: np.ndarray, grid: np.ndarray, p: np.ndarray) -> None:
    """The probabilities below a few quantiles, within Monte Carlo error between chains."""
    below = np.cumsum(p) - p / 2
    for q in (0.1, 0.3, 0.5, 0.7, 0.9):
        at = np.interp(q, below, grid)
        found = (np.log(trace) < at).mean(axis=1)
        error = found.std(ddof=1) / np.sqrt(found.size)
        assert abs(found.mean() - q) < 4.5 * error + 1e-3, (q, found.mean(), error)


@pytest.mark.parametrize("with_data", [True, False])
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("law", LAWS)
def test_finite_mixtures(law, dynamic, with_data):
    p = exact(law, dynamic, with_data)
    kernel = KERNEL if with_data else pt.DirichletCategorical()
    data = DATA if with_data else np.zeros(N)
    fit = pt.sample(data, kernel=kernel, prior=prior_of(law, dynamic), **RUN)
    assert_exact(frequencies(fit.draws, PARTITIONS), p.sum(axis=(1, 2)))
    found = shares(fit.trace["n_components"], NUMBERS.size)
    assert_exact(found, p.sum(axis=(0, 2)))
    assert ("weight" in fit.trace) == (law != "fixed")
    if law != "fixed":
        assert_distribution(fit.trace["weight"], GRID, p.sum(axis=(0, 1)))


def test_a_fixed_number_of_components_learns_its_weight():
    prior = pt.FiniteMixture.exactly(3, weight=pt.Gamma(1.5, 1.2))
    fit = pt.sample(DATA, kernel=KERNEL, prior=prior, **RUN)
    log_p = np.array([prior.log_probability(labels) for labels in PARTITIONS]) + log_marginals()
    assert_exact(frequencies(fit.draws, PARTITIONS), np.exp(log_p - logsumexp(log_p)))
    assert (fit.trace["n_components"] == 3).all()


@pytest.mark.parametrize("prior", [pt.DirichletProcess(1.0), prior_of("gamma", True)])
def test_learned_rate(prior):
    """Partitions and the rate b ~ Gamma(1.5, 0.8), beside a fixed prior and a learned one."""
    rate = pt.Gamma(1.5, 0.8)
    fit = pt.sample(DATA, kernel=replace(KERNEL, rate=rate), prior=prior, **RUN)
    log_p = np.array([prior.log_probability(labels) for labels in PARTITIONS])[:, None]
    grid = np.linspace(-8, 6, 71)
    log_p = log_p + np.stack([log_marginals(float(b)) for b in np.exp(grid)], axis=1)
    log_p = log_p + stats.gamma(1.5, scale=1 / 0.8).logpdf(np.exp(grid)) + grid
    p = np.exp(log_p - logsumexp(log_p))
    assert_exact(frequencies(fit.draws, PARTITIONS), p.sum(axis=1))
    assert_distribution(fit.trace["rate of 0"], grid, p.sum(axis=0))
