"""What several questions share is computed once, and is what each would compute alone."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from partita.posterior import Posterior, as_posterior

RNG = np.random.default_rng(3)
TRUTH = np.repeat([0, 1, 2], 5)
LABELS = np.where(RNG.random((60, 15)) < 0.1, RNG.integers(0, 3, (60, 15)), TRUTH)


@pytest.fixture(params=[False, True], ids=["unweighted", "weighted"])
def draws(request) -> pt.Draws:
    return pt.Draws(LABELS, weights=RNG.random(60) + 0.1 if request.param else None)


def test_shared_answers_are_those_of_each_function(draws):
    posterior = Posterior(draws)
    assert posterior.distinct == draws.unique()
    assert np.array_equal(posterior.similarity, pt.similarity(draws))
    estimate = RNG.permutation(TRUTH)
    for loss in (pt.VI(), pt.Binder(), pt.VI(a=0.6), pt.OneMinusARI()):
        wanted = pt.pairwise_distances([estimate], draws, loss)[0]
        assert np.array_equal(posterior.distances(loss, estimate), wanted)
        assert posterior.expected(loss, estimate) == pt.expected_loss(estimate, draws, loss)[0]
    for loss in (pt.VILowerBound(), pt.OneMinusPEAR()):
        wanted = pt.expected_loss(estimate, draws, loss)[0]
        assert posterior.expected(loss, estimate) == pytest.approx(wanted, abs=1e-12)
        assert Posterior(draws).expected(loss, estimate) == wanted


def test_labels_of_the_same_partition_share_distances(draws):
    posterior = Posterior(draws)
    first = posterior.distances(pt.VI(), TRUTH)
    assert posterior.distances(pt.VI(), 2 - TRUTH) is first
    apart = posterior.distinct_distances(pt.VI(), TRUTH)
    assert np.array_equal(apart[posterior.index], first)
    posterior.distances(pt.VI(), LABELS[0])
    posterior.keep_distances(TRUTH)
    assert len(posterior._distances) == 1


def test_a_posterior_stands_for_its_draws(draws):
    posterior = as_posterior(draws)
    assert as_posterior(posterior) is posterior
    assert pt.as_draws(posterior) is draws
    alone, shared = pt.estimate(draws, rng=1), pt.estimate(posterior, rng=1)
    assert np.array_equal(alone.labels, shared.labels)
    assert alone.expected_loss == shared.expected_loss
    assert alone.lower_bound == shared.lower_bound
