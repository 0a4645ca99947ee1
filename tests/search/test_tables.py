"""The running sums of a search against evaluation from scratch, for every loss and kind."""

import numpy as np
import pytest

import partita as pt
from loss_instances import every_loss
from partita.kernels import local_search as single
from partita.labels import canonical
from partita.search.local_search import Constraints, LocalSearch
from partita.search.problem import (
    grown,
    new_scratch,
    new_state,
    problem_from_draws,
    problem_from_similarity,
)
from search_tasks import random_posterior

N_ITEMS = 9
ALL = np.empty(0, np.bool_)


def problems(loss, draws):
    """The problem on counts where there is one, and on the similarity matrix where it suffices."""
    found = []
    if loss.name != "vi_lb":
        found.append(problem_from_draws(draws.unique(), loss))
    if loss.uses_similarity:
        found.append(problem_from_similarity(pt.similarity(draws), loss))
    return found


def expected(state, draws, loss):
    return pt.expected_loss(state.slot_of, draws, loss=loss)[0]


def compact(state):
    """Slots 0 … k − 1 are used, slot k is not, and sizes say so."""
    k = int(state.k[0])
    assert np.array_equal(np.bincount(state.slot_of, minlength=len(state.sizes)), state.sizes)
    assert (state.sizes[:k] > 0).all()
    assert (state.sizes[k:] == 0).all()


@every_loss
@pytest.mark.parametrize("seed", range(3))
def test_objective_after_random_moves_equals_the_expected_loss(loss, seed):
    draws = random_posterior(N_ITEMS, 12, seed, weighted=seed == 2)
    rng = np.random.default_rng(seed)
    for problem in problems(loss, draws):
        state = new_state(problem, canonical(rng.integers(0, 4, N_ITEMS)))
        for _ in range(60):
            if state.k[0] + 2 > state.sizes.size:
                state = grown(problem, state)
            item = int(rng.integers(N_ITEMS))
            slot = int(rng.integers(state.k[0] + 1))
            single.assign(problem, state, np.array([item]), np.array([slot], np.int32))
            single.close_gaps(problem, state)
            compact(state)
            assert single.objective(problem, state) == pytest.approx(
                expected(state, draws, loss), abs=1e-11
            )


@every_loss
@pytest.mark.parametrize("seed", range(3))
def test_costs_of_moves_and_merges_are_those_of_the_partitions_after_them(loss, seed):
    draws = random_posterior(N_ITEMS, 12, seed, weighted=seed == 2)
    labels = canonical(np.random.default_rng(seed).integers(0, 4, N_ITEMS))
    present = pt.expected_loss(labels, draws, loss=loss)[0]
    for problem in problems(loss, draws):
        state = new_state(problem, labels)
        scores = single.merge_scores(problem, state)
        for (i, j), score in np.ndenumerate(scores):
            merged = np.where(labels == j, i, labels)
            wanted = pt.expected_loss(merged, draws, loss=loss)[0] if i < j else np.inf
            assert score == pytest.approx(wanted, abs=1e-11)
        scratch, moved = new_scratch(problem, state), np.tile(labels, (labels.max() + 2, 1))
        for item in range(N_ITEMS):
            state, after = new_state(problem, labels), moved.copy()
            after[:, item] = np.arange(len(after))
            costs = pt.expected_loss(after, draws, loss=loss) - present
            costs[[np.array_equal(canonical(row), labels) for row in after]] = np.inf
            single.sweep(problem, state, np.array([item]), ALL, N_ITEMS, 0, 0, 1, scratch)
            lowest = pytest.approx(costs.min(), abs=1e-11)
            assert (scratch.margin[item], costs[scratch.other[item]]) == (lowest, lowest)


@every_loss
@pytest.mark.parametrize("seed", range(4))
def test_cluster_moves_never_raise_the_loss_and_keep_the_tables_right(loss, seed):
    draws = random_posterior(N_ITEMS, 15, seed)
    rng = np.random.default_rng(seed)
    for problem in problems(loss, draws):
        search = LocalSearch(problem, canonical(rng.integers(0, 3, N_ITEMS)), rng)
        steps = [LocalSearch.merge, LocalSearch.split, LocalSearch.sweep]
        for step in [*steps, lambda w: w.eject(N_ITEMS), *steps]:
            before = search.loss
            step(search)
            compact(search.state)
            assert search.loss <= before + 1e-12
            assert search.loss == pytest.approx(expected(search.state, draws, loss), abs=1e-11)


def test_an_allocation_puts_every_item_and_keeps_the_cap():
    draws = random_posterior(30, 20, 1)
    for loss in (pt.VI(), pt.Binder(), pt.VILowerBound()):
        for problem in problems(loss, draws):
            for cap in (None, 2):
                search = LocalSearch(
                    problem, None, np.random.default_rng(0), Constraints(max_clusters=cap)
                )
                compact(search.state)
                assert search.n_clusters <= (cap or 30)
                assert search.loss == pytest.approx(expected(search.state, draws, loss), abs=1e-11)


def test_a_sweep_in_pieces_ends_where_one_sweep_ends():
    draws = random_posterior(40, 60, 3)
    problem = problem_from_draws(draws, pt.VI())
    order = np.random.default_rng(0).permutation(40)
    ends = []
    for chunk in (10_000, 7):
        state = new_state(problem, canonical(np.arange(40) % 5))
        settled, turn = 0, order
        while settled < 40:
            if state.k[0] + 2 > state.sizes.size:
                state = grown(problem, state)
            scratch = new_scratch(problem, state)
            arguments = (turn, ALL, 40, 0, settled, chunk, scratch)
            settled, looked = single.sweep(problem, state, *arguments)
            turn = np.roll(turn, -(looked % 40))
        ends.append(canonical(state.slot_of))
    assert np.array_equal(*ends)
