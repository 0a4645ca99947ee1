"""Geweke's joint distribution test: data, partition and concentration together.

Drawing data given the partition and then running the sampler given the data
leaves the joint distribution in place, whose margins are the priors. Any
error in a likelihood, a move or the concentration update shifts them.
"""

import numpy as np
import pytest
from arviz_stats.base import array_stats

import partita as pt
from partita.samplers.chains import ChainState, Settings, Step, _advance, build_model
from samplers.cases import few_rows_in_parallel

N = 7


def draw_normal(kernel, labels, rng):
    k = labels.max() + 1
    variance = kernel.rate / rng.gamma(kernel.shape, size=k)
    mean = kernel.mean + np.sqrt(variance / kernel.precision) * rng.standard_normal(k)
    noise = rng.standard_normal(N)
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
    prior, kernel, draw_data, rounds = MODELS[name]
    sampler = "parallel" if name == "parallel" else "collapsed"
    few_rows_in_parallel(monkeypatch)
    rng = np.random.default_rng(11)
    settings = Settings(1, 0, 1, 1, sweeps=1, split_merge=1, sampler=sampler)
    random = np.random.SeedSequence(4).generate_state(4, np.uint64)
    state = ChainState(np.zeros(N, np.int32), prior.concentration.mean, random)
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
    partitions = list(pt.lattice.all_partitions(N))
    p = np.exp([prior.log_probability(c) for c in partitions])
    squares = p @ [(pt.cluster_sizes(c) ** 2).sum() for c in partitions]
    center = kernel.shape / kernel.rate if draw_data is draw_counts else kernel.mean
    expected = [prior.expected_clusters(N), gamma.mean, square, squares, center]
    for j, target in enumerate(expected):
        error = array_stats.mcse(found[None, :, j], method="mean")
        # Five tests and three models at a level of 1e-5 each.
        assert abs(found[:, j].mean() - target) < 4.4 * error, (
            j,
            found[:, j].mean(),
            target,
            error,
        )
