"""Sampler frequencies against the exact posterior of all partitions, and against the prior."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import partita as pt
from partita.testing import assert_exact, frequencies
from reference import samplers_models as references
from samplers.cases import PRIORS, cases

N = 6
PARTITIONS = np.array(list(pt.lattice.all_partitions(N)))
CASES = {case.name: case for case in cases(n=N)}
SAMPLERS = {
    "gibbs alone": {"split_merge": 0},
    "split–merge alone": {"sweeps": 0, "split_merge": 3},
}


@cache
def exact_of(name: str, prior: str) -> np.ndarray:
    return exact(CASES[name], PRIORS[prior])


def exact(case, prior) -> np.ndarray:
    log_prior = np.array([prior.log_probability(labels) for labels in PARTITIONS])
    return references.exact_posterior(case.values, PARTITIONS, case.reference, log_prior)


def run(case, prior, **options) -> pt.Fit:
    return pt.sample(
        case.rows,
        kernel=case.kernel,
        prior=prior,
        draws=1_500,
        burn_in=50,
        chains=40,
        rng=7,
        progress=False,
        **options,
    )


PAIRS = [
    (case, list(PRIORS)[(i + shift) % len(PRIORS)])
    for i, case in enumerate(CASES)
    for shift in (0, 3)
]
"""Every kernel with two priors and every prior with two kernels: they meet in one sum of logs."""


@pytest.mark.parametrize(("case", "prior"), PAIRS)
def test_every_prior_and_every_kernel(case, prior):
    fit = run(CASES[case], PRIORS[prior])
    assert_exact(frequencies(fit.draws, PARTITIONS), exact_of(case, prior))


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("case", CASES)
def test_each_move_alone_with_every_kernel(case, sampler):
    prior = PRIORS["pitman–yor, random"]
    fit = run(CASES[case], prior, **SAMPLERS[sampler])
    assert_exact(frequencies(fit.draws, PARTITIONS), exact(CASES[case], prior))


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("prior", PRIORS)
def test_each_move_alone_with_every_prior(prior, sampler):
    case = CASES["normal"]
    fit = run(case, PRIORS[prior], **SAMPLERS[sampler])
    assert_exact(frequencies(fit.draws, PARTITIONS), exact(case, PRIORS[prior]))


@pytest.mark.parametrize("prior", PRIORS)
def test_without_information_the_prior_comes_out(prior):
    """A categorical column with a single level has likelihood 1 under every partition."""
    fit = pt.sample(
        np.zeros(N),
        kernel=pt.DirichletCategorical(),
        prior=PRIORS[prior],
        draws=1_500,
        burn_in=50,
        chains=40,
        rng=3,
        progress=False,
    )
    p = np.exp([PRIORS[prior].log_probability(labels) for labels in PARTITIONS])
    assert_exact(frequencies(fit.draws, PARTITIONS), p)


def test_eight_items():
    partitions = np.array(list(pt.lattice.all_partitions(8)))
    case = cases(n=8, seed=4)[0]
    prior = PRIORS["dirichlet, random"]
    log_prior = np.array([prior.log_probability(labels) for labels in partitions])
    p = references.exact_posterior(case.values, partitions, case.reference, log_prior)
    fit = run(case, prior)
    assert_exact(frequencies(fit.draws, partitions), p)


@pytest.mark.parametrize(
    ("case", "prior"),
    [(CASES["product"], pt.PitmanYor(0.6, 0.35)), (CASES["poisson"], PRIORS["finite"])],
    ids=["product", "finite mixture"],
)
def test_log_posterior_is_complete(case, prior):
    fit = pt.sample(case.rows, kernel=case.kernel, prior=prior, draws=50, chains=1, rng=0)
    for labels, found in zip(fit.draws.labels, fit.trace["log_posterior"][0], strict=True):
        expected = prior.log_probability(labels)
        for j in range(labels.max() + 1):
            expected += references.log_marginal(case.reference, case.values[labels == j])
        assert found == pytest.approx(expected, abs=1e-9)


def test_a_wrong_sampler_would_be_caught():
    case, prior = CASES["normal"], PRIORS["dirichlet"]
    fit = run(case, prior)
    wrong = exact(case, pt.DirichletProcess(1.4))
    with pytest.raises(AssertionError):
        assert_exact(frequencies(fit.draws, PARTITIONS), wrong)
