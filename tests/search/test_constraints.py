"""Exactly k clusters, none smaller than s: against all partitions that keep the rules."""

import numpy as np
import pytest

import partita as pt
from loss_instances import INSTANCES
from partita.search.local_search import Constraints, repair
from partita.search.problem import problem_from_draws
from search_tasks import all_losses, random_posterior

LOSSES = [x for x in INSTANCES if x.price == 1.0 and x != pt.Binder()]
LOSSES += [pt.Binder(1.2), pt.VI(0.5)]
SEARCHED = [pt.VI(), pt.Binder(1.2), pt.VILowerBound(), pt.NID()]
"""One for each kind of tables that a search works with."""


def rules_for(n):
    """Every rule that some partition of n items keeps."""
    for k in (None, *range(1, n + 1)):
        for s in range(1, n // (k or 1) + 1):
            if k is not None or s > 1:
                yield k, s


def check_every_rule(draws, loss, **similarity):
    n = draws.n_items
    partitions, losses = all_losses(draws, loss)
    counts = [np.bincount(row) for row in partitions]
    given = similarity or {"draws": draws}
    for k, s in rules_for(n):
        mine = np.array([(k is None or c.size == k) and c.min() >= s for c in counts])
        found = pt.estimate(**given, loss=loss, n_clusters=k, min_size=s, bound=None)
        assert k is None or found.n_clusters == k
        assert found.cluster_sizes.min() >= s
        assert found.expected_loss == pytest.approx(losses[mine].min(), abs=1e-11), (k, s)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_best_that_keeps_the_rules(loss):
    check_every_rule(random_posterior(6, 20, 1, weighted=True), loss)


@pytest.mark.parametrize("loss", ["vi", "nvi", "vi_lb"])
def test_the_best_of_nine_items_that_keeps_the_rules(loss):
    draws = random_posterior(9, 20, 5, weighted=True)
    partitions, losses = all_losses(draws, loss)
    sizes = np.sort((partitions[:, :, None] == np.arange(9)).sum(axis=1), axis=1)
    for k, s in ((None, 1), (2, 1), (4, 2), (None, 3)):
        mine = ((sizes == 0) | (sizes >= s)).all(axis=1)
        if k is not None:
            mine &= (sizes > 0).sum(axis=1) == k
        found = pt.estimate(draws, loss=loss, n_clusters=k, min_size=s, bound=None)
        assert found.search.agreed_kinds == ("enumeration",)
        assert found.expected_loss == pytest.approx(losses[mine].min(), abs=1e-11), (k, s)


@pytest.mark.parametrize("loss", ["binder", "one_minus_pear", "vi_lb"])
def test_a_similarity_matrix_tells_the_best_that_keeps_the_rules(loss):
    draws = pt.Draws(np.random.default_rng(2).integers(0, 3, (9, 6)))
    check_every_rule(draws, loss, similarity=pt.similarity(draws))


@pytest.mark.usefixtures("searched")
@pytest.mark.parametrize("loss", SEARCHED, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_search_finds_the_best_that_keeps_the_rules(loss, weighted):
    check_every_rule(random_posterior(7, 20, 1 if weighted else 4, weighted=weighted), loss)


def test_much_dust_is_swept_up_where_it_fits():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 40)
    noise = rng.integers(3, 60, (60, 120))
    draws = pt.Draws(np.where(rng.random((60, 120)) < 0.3, noise, truth))
    dusty = np.where(np.arange(120) % 5 == 0, 3 + np.arange(120), truth)
    near = repair(
        problem_from_draws(draws, pt.VI()), pt.canonical(dusty), Constraints(None, 5), rng
    )
    assert np.array_equal(pt.canonical(near), truth)


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
    same = pt.estimate(draws, n_clusters=free.n_clusters)
    assert same.expected_loss == free.expected_loss
    assert not any("n_clusters" in limit for limit in same.search.limits)
