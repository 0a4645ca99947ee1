"""Sampler frequencies against the exact posterior of all partitions, and against the prior."""

from functools import partial

import numpy as np
import pytest

import partita as pt
from partita.testing import assert_exact, frequencies
from reference import samplers_models as references
from samplers.cases import PRIORS, cases, exact, log_joint

N = 6
PARTITIONS = np.array(list(pt.lattice.all_partitions(N)))
CASES = {case.name: case for case in cases(n=N)}
SAMPLERS = {
    "gibbs alone": {"split_merge": 0},
    "split–merge alone": {"sweeps": 0, "split_merge": 3},
}


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
    """With the reference's densities; the chain rule in any order, and items taken out again."""
    case = CASES[case]
    reference = partial(references.log_marginal, case.reference)
    pt.testing.check_kernel(case.kernel, case.rows, log_marginal=reference, prior=PRIORS[prior])


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("case", CASES)
def test_each_move_alone_with_every_kernel(case, sampler):
    prior = PRIORS["pitman–yor, random"]
    fit = run(CASES[case], prior, **SAMPLERS[sampler])
    assert_exact(frequencies(fit.draws, PARTITIONS), exact(CASES[case], prior, PARTITIONS))


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("prior", PRIORS)
def test_each_move_alone_with_every_prior(prior, sampler):
    case = CASES["normal"]
    fit = run(case, PRIORS[prior], **SAMPLERS[sampler])
    assert_exact(frequencies(fit.draws, PARTITIONS), exact(case, PRIORS[prior], PARTITIONS))


@pytest.mark.parametrize("prior", PRIORS)
def test_without_information_the_prior_comes_out(prior):
    """It sums to one over all partitions and has the number of clusters that it expects."""
    pt.testing.check_prior(PRIORS[prior])


def test_eight_items():
    partitions = np.array(list(pt.lattice.all_partitions(8)))
    case = cases(n=8, seed=4)[0]
    prior = PRIORS["dirichlet, random"]
    fit = run(case, prior)
    assert_exact(frequencies(fit.draws, partitions), exact(case, prior, partitions))


@pytest.mark.parametrize(
    ("case", "prior"),
    [(CASES["product"], pt.PitmanYor(0.6, 0.35)), (CASES["poisson"], PRIORS["finite"])],
    ids=["product", "finite mixture"],
)
def test_log_posterior_is_complete(case, prior):
    fit = pt.sample(case.rows, kernel=case.kernel, prior=prior, draws=50, chains=1, rng=0)
    for labels, found in zip(fit.draws.labels, fit.trace["log_posterior"][0], strict=True):
        assert found == pytest.approx(log_joint(case, prior, labels), abs=1e-9)
