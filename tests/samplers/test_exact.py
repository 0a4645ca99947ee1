"""Sampler frequencies against the exact posterior of all partitions, and against the prior."""

from functools import partial

import numpy as np
import pytest
from arviz_stats.base import array_stats

import partita as pt
from partita.samplers.chains import ChainState, Settings, Step, _advance, build_model
from partita.testing import assert_exact, frequencies
from reference import samplers_models as references
from samplers.cases import PRIORS, cases, exact, few_rows_in_parallel, log_joint

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
@pytest.mark.parametrize(
    ("case", "prior"),
    [
        *((case, "pitman–yor, random") for case in CASES if case != "normal"),
        *(("normal", prior) for prior in PRIORS),
    ],
)
def test_each_move_alone(case, prior, sampler):
    fit = run(CASES[case], PRIORS[prior], **SAMPLERS[sampler])
    expected = exact(CASES[case], PRIORS[prior], PARTITIONS)
    assert_exact(frequencies(fit.draws, PARTITIONS), expected)


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


ROWS = 7


def draw_normal(kernel, labels, rng):
    k = labels.max() + 1
    variance = kernel.rate / rng.gamma(kernel.shape, size=k)
    mean = kernel.mean + np.sqrt(variance / kernel.precision) * rng.standard_normal(k)
    noise = rng.standard_normal(ROWS)
    return (mean[labels] + np.sqrt(variance[labels]) * noise)[:, None]


def draw_counts(kernel, labels, rng):
    rates = rng.gamma(kernel.shape, 1 / kernel.rate, size=labels.max() + 1)
    return rng.poisson(rates[labels])[:, None].astype(float)


MODELS = {
    "dirichlet, normal": (
        pt.DirichletProcess(pt.Gamma(2, 1.5)),
        pt.NormalInverseGamma(0.5, 0.4, 2.5, 1.2),
        draw_normal,
        8_000,
    ),
    "pitman–yor, counts": (
        pt.PitmanYor(pt.Gamma(1.5, 2), 0.4),
        pt.GammaPoisson(1.5, 0.3),
        draw_counts,
        8_000,
    ),
    "parallel": (
        pt.PitmanYor(pt.Gamma(2, 1.5), 0.3),
        pt.NormalInverseGamma(0.5, 0.4, 2.5, 1.2),
        draw_normal,
        2_000,
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_joint_distribution(name, monkeypatch):
    """Geweke's test: data, partition and concentration together.

    Drawing data given the partition and then running the sampler given the data leaves the joint
    distribution in place, whose margins are the priors. Any error in a likelihood, a move or the
    concentration update shifts them.
    """
    prior, kernel, draw_data, rounds = MODELS[name]
    sampler = "parallel" if name == "parallel" else "collapsed"
    few_rows_in_parallel(monkeypatch)
    rng = np.random.default_rng(11)
    settings = Settings(1, 0, 1, 1, sweeps=1, split_merge=1, sampler=sampler)
    random = np.random.SeedSequence(4).generate_state(4, np.uint64)
    state = ChainState(np.zeros(ROWS, np.int32), prior.concentration.mean, random)
    found = np.empty((rounds, 5))
    for r in range(rounds):
        values = draw_data(kernel, state.labels, rng)
        model = build_model(kernel, prior, values)
        state, _ = _advance(model, Step(settings, state, 0, 1))
        sizes = np.bincount(state.labels)
        alpha = state.concentration
        found[r] = [sizes.size, alpha, alpha**2, (sizes**2).sum(), values.mean()]
    gamma = prior.concentration
    square = gamma.shape * (gamma.shape + 1) / gamma.rate**2
    partitions = list(pt.lattice.all_partitions(ROWS))
    p = np.exp([prior.log_probability(c) for c in partitions])
    squares = p @ [(pt.cluster_sizes(c) ** 2).sum() for c in partitions]
    center = kernel.shape / kernel.rate if draw_data is draw_counts else kernel.mean
    expected = [prior.expected_clusters(ROWS), gamma.mean, square, squares, center]
    for j, target in enumerate(expected):
        error = array_stats.mcse(found[None, :, j], method="mean")
        # Five tests and three models at a level of 1e-5 each.
        assert abs(found[:, j].mean() - target) < 4.4 * error, (
            j,
            found[:, j].mean(),
            target,
            error,
        )
