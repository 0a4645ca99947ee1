"""Lower bounds are certificates: never above the minimum over all partitions."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from partita.kernels.search.matching import block_distances, farthest_assignment
from partita.search.lower_bounds.matching import matching_bound
from partita.search.lower_bounds.pairs import (
    Relaxation,
    pair_programme,
    pairwise_bound,
    triangle_bound,
)
from search.posteriors import all_losses, random_posterior

METRICS = [pt.VI(), pt.Binder(), pt.ID(), pt.NID(), pt.NVI()]
PRICED = [pt.VI(a=0.4), pt.VI(a=1.6), pt.Binder(a=0.4), pt.Binder(a=1.6)]


@pytest.mark.parametrize("loss", METRICS + PRICED, ids=repr)
@pytest.mark.parametrize("bound", ["fast", "tight"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_bound_of_an_estimate_is_never_above_the_minimum(loss, bound, weighted):
    for seed in range(6):
        n_items = 4 + seed % 4
        draws = random_posterior(n_items, 5 + 7 * seed, seed, weighted=weighted)
        minimum = all_losses(draws, loss)[1].min()
        found = pt.estimate(draws, loss=loss, method="sweep", bound=bound)
        assert found.lower_bound is not None
        assert found.lower_bound <= minimum + 1e-12
        assert found.lower_bound >= 0.0


@pytest.mark.parametrize("loss", METRICS, ids=repr)
def test_the_matching_bound_holds_for_nine_items_and_many_posteriors(loss):
    for seed in range(3):
        draws = random_posterior(9, 30, seed, weighted=seed == 2).unique()
        minimum = all_losses(draws, loss)[1].min()
        centre = loss.distances(draws.rows(0, 1)[0], draws)
        for block in (2, 5, 64):
            for passes in (1, 3):
                rng = np.random.default_rng(seed)
                value = matching_bound(
                    draws, loss, centre, block=block, passes=passes, rng=rng, n_jobs=1
                )
                assert 0.0 <= value <= minimum + 1e-12


@pytest.mark.parametrize("potential", ["a draw", "far too high"])
def test_the_matching_bound_holds_whatever_the_potentials(potential):
    draws = random_posterior(7, 25, 1).unique()
    minimum = all_losses(draws, pt.VI())[1].min()
    centre = pt.VI().distances(draws.rows(3, 4)[0], draws)
    if potential == "far too high":
        centre = centre + 10.0
    rng = np.random.default_rng(0)
    value = matching_bound(draws, pt.VI(), centre, block=8, passes=2, rng=rng)
    assert 0.0 < value <= minimum + 1e-12


def test_dealing_anew_only_tightens_equal_masses():
    draws = random_posterior(12, 96, 4).unique()
    assert len(set(draws.weights)) == 1
    centre = pt.VI().distances(draws.rows(0, 1)[0], draws)
    values = [
        matching_bound(draws, pt.VI(), centre, block=8, passes=passes, rng=np.random.default_rng(0))
        for passes in (1, 2, 4, 8)
    ]
    assert values == sorted(values)
    assert values[-1] > values[0]


def test_one_heavy_draw_faces_all_others():
    # Two thirds of the mass on one partition: it is the optimum, and the bound must see it.
    labels = [[0, 0, 1, 1, 2], [0, 1, 1, 2, 2], [0, 0, 0, 1, 1], [0, 1, 2, 3, 4]]
    draws = pt.Draws(labels, weights=[6, 1, 1, 1])
    best = pt.estimate(draws, method="sweep")
    assert np.array_equal(best.labels, labels[0])
    assert best.is_proven_optimal


def test_the_assignment_is_the_best_one():
    from scipy.optimize import linear_sum_assignment

    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 7, 20, 61):
        points = rng.normal(size=(n, 3))
        far = np.abs(points[:, None] - points[None]).sum(axis=2)
        ours = farthest_assignment(far, np.abs(points).sum(axis=1))
        assert sorted(ours) == list(range(n))
        rows, columns = linear_sum_assignment(-far)
        assert far[np.arange(n), ours].sum() == pytest.approx(far[rows, columns].sum())


@pytest.mark.parametrize("loss", METRICS, ids=repr)
@pytest.mark.parametrize("n_clusters", [3, 60])
def test_distances_of_a_block_are_the_distances(loss, n_clusters):
    labels = np.random.default_rng(1).integers(0, n_clusters, (9, 61))
    draws = pt.Draws(labels)
    terms = loss.terms(61)
    rows = draws.rows(0, 9)
    sums = np.array([terms[np.bincount(row)].sum() for row in rows])
    found = block_distances(rows, draws.n_clusters, sums, terms, loss.form(draws.n_items))
    assert found == pytest.approx(pt.pairwise_distances(draws, loss=loss), abs=1e-12)


@pytest.mark.parametrize("loss", [pt.Binder(), pt.Binder(a=0.4), pt.Binder(a=1.6)], ids=repr)
def test_the_pair_programme_is_the_expected_loss(loss):
    draws = random_posterior(7, 15, 2)
    programme = pair_programme(pt.similarity(draws), loss)
    partitions, losses = all_losses(draws, loss)
    joined = partitions[:, :, None] == partitions[:, None, :]
    values = programme.base + 0.5 * (joined * programme.cost).sum(axis=(1, 2))
    assert values == pytest.approx(losses, abs=1e-12)
    assert pairwise_bound(programme) <= losses.min() + 1e-12


def hard_similarity(n: int) -> np.ndarray:
    """One item with everyone, the others apart: every second pair wants to break a triangle."""
    draws = [[0, *(0 if j == i else j + 1 for j in range(n))] for i in range(n)]
    heavy = pt.similarity(pt.Draws(draws))
    heavy[0, 1:] = heavy[1:, 0] = 0.9
    return heavy


def test_triangles_tighten_the_bound_and_never_pass_the_minimum():
    similarity = hard_similarity(6)
    programme = pair_programme(similarity, pt.Binder())
    partitions = np.array(list(pt.all_partitions(7)))
    minimum = pt.expected_loss(partitions, similarity=similarity, loss="binder").min()
    loose = pairwise_bound(programme)
    tight, cut_short = triangle_bound(programme, minimum, seconds=20.0)
    assert loose < tight <= minimum + 1e-12
    assert not cut_short
    assert triangle_bound(programme, minimum, seconds=0.0) == (loose, True)


def test_random_labelings_do_not_hold_the_proof_up():
    # No structure at all: almost every triangle is in conflict, and the programmes are hard.
    labels = np.random.default_rng(0).integers(0, 6, (10, 56))
    found = pt.estimate(labels, loss="binder")
    assert found.search.bound_seconds < 20
    assert 0.0 < found.lower_bound <= found.expected_loss


def test_prices_give_a_bound_even_where_the_solver_was_sloppy():
    programme = pair_programme(hard_similarity(6), pt.Binder())
    relaxation = Relaxation(programme)
    relaxation.tighten()
    partitions = np.array(list(pt.all_partitions(7)))
    minimum = pt.expected_loss(partitions, similarity=hard_similarity(6), loss="binder").min()
    assert relaxation.bound <= minimum + 1e-12


@pytest.mark.parametrize("name", ["vi_lb", "omari", "ompear"])
def test_losses_without_a_known_bound_have_none(name):
    found = pt.estimate(random_posterior(10, 20, 0), loss=name)
    assert found.lower_bound is None
    assert found.gap is None
    assert not found.is_proven_optimal
