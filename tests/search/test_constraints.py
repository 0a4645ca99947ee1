"""Exactly k clusters, none smaller than s: against all partitions that keep the rules."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from partita.errors import InvalidInputError, NotSupportedError
from search.posteriors import all_losses, random_posterior


@pytest.fixture(params=["enumerated", "searched"])
def way(request, monkeypatch):
    if request.param == "searched":
        monkeypatch.setattr("partita.search.constraints.ENUMERATED_ITEMS", 0)
    return request.param


@pytest.mark.parametrize("loss", [pt.VI(), pt.Binder(1.2)], ids=repr)
@pytest.mark.parametrize("seed", range(2))
def test_the_best_that_keeps_the_rules(loss, seed, way):
    n = 7
    draws = random_posterior(n, 20, seed, weighted=seed == 1)
    partitions, losses = all_losses(draws, loss)
    counts = [np.bincount(row) for row in partitions]
    for k in (None, *range(1, n + 1)):
        for s in range(1, n // (k or 1) + 1):
            if k is None and s == 1:
                continue
            kept = np.array([(k is None or c.size == k) and c.min() >= s for c in counts])
            found = pt.estimate(draws, loss=loss, n_clusters=k, min_size=s, bound=None)
            assert k is None or found.n_clusters == k
            assert found.cluster_sizes.min() >= s
            assert found.expected_loss == pytest.approx(losses[kept].min(), abs=1e-11), (k, s)


def test_the_cost_is_said_and_the_bound_still_holds():
    draws = random_posterior(14, 30, 2)
    free = pt.estimate(draws)
    few = pt.estimate(draws, n_clusters=2)
    assert few.n_clusters == 2
    assert few.expected_loss >= free.expected_loss
    assert few.lower_bound <= few.expected_loss
    said = [limit for limit in few.search.limits if "n_clusters=2" in limit]
    assert f"without it {free.n_clusters} clusters" in said[0]
    assert "it costs" in said[0]
    coarse = pt.estimate(draws, min_size=3)
    assert coarse.cluster_sizes.min() >= 3
    same = pt.estimate(draws, n_clusters=free.n_clusters)
    assert same.expected_loss == free.expected_loss
    assert not any("n_clusters" in limit for limit in same.search.limits)


def test_impossible_requests_are_refused_in_words():
    draws = random_posterior(6, 10, 0)
    with pytest.raises(InvalidInputError, match="7 items would be needed"):
        pt.estimate(draws, n_clusters=7)
    with pytest.raises(InvalidInputError, match="8 items would be needed"):
        pt.estimate(draws, n_clusters=2, min_size=4)
    with pytest.raises(NotSupportedError, match="use 'auto' or 'sweep'"):
        pt.estimate(draws, n_clusters=2, method="hasse")
    with pytest.raises(InvalidInputError, match="not both"):
        pt.estimate(draws, n_clusters=2, max_clusters=3)
