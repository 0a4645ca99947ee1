"""Lists of members do what tables of counts do, in memory that many clusters do not exhaust."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from partita.kernels.local_search import assign, close_gaps, merge_scores, move_losses, objective
from partita.search.problem import (
    has_lists,
    lists_from_draws,
    needs_lists,
    new_scratch,
    new_state,
    problem_from_draws,
    search_bytes,
    tables_from_draws,
)
from search.posteriors import random_posterior


def many_clusters(n_items: int, n_draws: int, seed: int = 0) -> pt.Draws:
    """About three items to a cluster."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_items // 3, n_items)
    noise = rng.integers(0, n_items // 3, (n_draws, n_items))
    return pt.Draws(np.where(rng.random((n_draws, n_items)) < 0.3, noise, truth))


@pytest.mark.parametrize("loss", [pt.VI(0.8), pt.NID()], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_lists_and_tables_agree_after_every_kind_of_step(loss, weighted):
    draws = random_posterior(14, 20, 3, weighted=weighted)
    rng = np.random.default_rng(1)
    start, every = pt.canonical(rng.integers(0, 5, 14)), np.arange(14)
    seen = []
    for make in (tables_from_draws, lists_from_draws):
        problem = make(draws, loss)
        state = new_state(problem, start)
        figures = [objective(problem, state)]
        figures += [*move_losses(problem, state, every, new_scratch(problem, state)).ravel()]
        figures += [*merge_scores(problem, state).ravel()]
        out = np.array([0, 3, 5, 9])
        assign(problem, state, out, np.full(4, -1, np.int32))
        figures += [*move_losses(problem, state, out, new_scratch(problem, state)).ravel()]
        assign(problem, state, out, np.full(4, state.slot_of[1], np.int32))
        close_gaps(problem, state)
        figures += [objective(problem, state)]
        # From the running sums, so equal to a fresh evaluation within rounding.
        fresh = pt.expected_loss(pt.canonical(state.slot_of), draws, loss=loss)[0]
        assert figures[-1] == pytest.approx(fresh, abs=1e-11)
        seen.append(figures)
    assert np.allclose(seen[0], seen[1], rtol=0, atol=1e-11, equal_nan=True)


def test_lists_are_chosen_for_many_small_clusters_and_find_the_same(monkeypatch):
    draws = many_clusters(240, 40)
    assert has_lists(problem_from_draws(draws, pt.VI()))
    listed = pt.estimate(draws, bound=None)
    monkeypatch.setattr("partita.search.settings.FEW_CLUSTERS", 10_000)
    tabled = pt.estimate(draws, bound=None)
    assert listed.expected_loss == pytest.approx(tabled.expected_loss, rel=2e-3)
    assert not needs_lists(random_posterior(60, 20, 0))


def test_tables_that_would_not_fit_become_lists(monkeypatch):
    # One cluster of half the items: counting companions is slow, tables are large.
    rng = np.random.default_rng(0)
    labels = np.where(rng.random((20, 300)) < 0.5, 0, rng.integers(1, 200, (20, 300)))
    draws = pt.Draws(labels)
    assert not needs_lists(draws)
    monkeypatch.setattr("partita.search.problem.available_memory", lambda: 20_000_000)
    assert needs_lists(draws)


def test_labels_that_would_not_fit_are_sampled_and_said(monkeypatch):
    draws = random_posterior(60, 2_500, 5)
    monkeypatch.setattr("partita.search.multistart.LITTLE_MEMORY", 0)
    monkeypatch.setattr("partita.search.multistart.available_memory", lambda: 400_000)
    found = pt.estimate(draws, bound=None)
    assert "memory: the search saw" in found.search.limits[0]
    assert found.expected_loss == pt.expected_loss(found.labels, draws)[0]


def test_threads_that_would_not_fit_are_fewer_and_that_is_said(monkeypatch):
    draws = random_posterior(60, 200, 5)
    free = pt.estimate(draws, bound=None, n_jobs=4)
    each = search_bytes(problem_from_draws(draws.unique(), pt.VI()))
    monkeypatch.setattr("partita.search.task.LITTLE_MEMORY", 0)
    monkeypatch.setattr("partita.search.task.available_memory", lambda: 5 * each)
    few = pt.estimate(draws, bound=None, n_jobs=4)
    (said,) = few.search.limits
    assert said.startswith("memory: threads were 2 instead of ")
    assert free.search.limits == ()
    np.testing.assert_array_equal(few.labels, free.labels)
    monkeypatch.setattr("partita.search.task.available_memory", lambda: None)
    assert pt.estimate(draws, bound=None, n_jobs=4).search.limits == ()
