"""The search by passes: many labels are searched as few are, and end at the same condition."""

import tracemalloc

import numpy as np
import pytest

import partita as pt
from loss_instances import INSTANCES
from partita import _storage, scan
from partita.kernels.local_search import assign, close_gaps, merge_scores, move_losses, objective
from partita.labels import canonical
from partita.search import blockwise, settings
from partita.search.blockwise import place, scan_items
from partita.search.local_search import Constraints, LocalSearch, repair
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
from search_tasks import make_task, random_posterior

ALMOST = 1e-11
TINY = {
    (_storage, "_MOST_LABELS"): 22,
    (blockwise, "LEAST_BYTES"): 0,
    (blockwise, "MOST_BYTES"): 700,
    (blockwise, "GROUP_CELLS"): 200,
    (blockwise, "TILE"): 4,
}
FOLLOWED = [loss for loss in INSTANCES if not loss.needs_similarity]
"""The losses whose moves follow from passes."""

followed = pytest.mark.parametrize("loss", FOLLOWED, ids=repr)


@pytest.fixture
def many(monkeypatch):
    """Few labels are many, and few items are explored."""
    monkeypatch.setattr(scan, "GATHERED_LABELS", 0)
    monkeypatch.setattr(settings, "SOME_ITEMS", 30)
    monkeypatch.setattr(settings, "FEW_CLUSTERS", 1_000)
    monkeypatch.setattr(settings, "MATRIX_ITEMS", 0)


def redrawn(truth, n_draws, share, among, rng):
    noise = rng.integers(0, among, (n_draws, truth.size))
    return np.where(rng.random((n_draws, truth.size)) < share, noise, truth)


def planted(rng):
    return redrawn(rng.integers(0, 5, 150), 60, 0.2, 6, rng)


def flat(rng):
    return rng.integers(0, 4, (60, 80))


def nested(rng):
    coarse = rng.integers(0, 3, 120)
    fine = 10 + 4 * coarse + rng.integers(0, 3, 120)
    return np.array([np.where((rng.random(3) < 0.6)[coarse], fine, coarse) for _ in range(60)])


def unbalanced(rng):
    truth = np.concatenate((np.zeros(130, int), np.repeat(np.arange(1, 11), 2)))
    labels = np.tile(truth, (60, 1))
    labels[rng.random(labels.shape) < 0.05] = 0
    return labels


def losses_after_moves(labels, draws, loss: pt.Loss):
    """The reference implementation: every single move, evaluated from the definition."""
    k = int(labels.max()) + 1
    moved = np.repeat(labels[None, None], labels.size, 0).repeat(k + 1, 1)
    for item in range(labels.size):
        moved[item, :, item] = np.arange(k + 1)
    flat_rows = moved.reshape(-1, labels.size)
    return pt.expected_loss(flat_rows, draws, loss=loss).reshape(labels.size, k + 1)


def test_items_are_placed_where_they_cost_least(monkeypatch):
    for place_and_name, value in TINY.items():
        monkeypatch.setattr(*place_and_name, value)
    draws = random_posterior(12, 17, 2, weighted=True)
    known, labels = np.array([1, 2, 5, 6, 7, 10]), np.array([0, 0, 1, 2, 1, 2], np.int32)
    found = place(make_task(draws), draws, known, labels)
    assert np.array_equal(found[known], labels)
    for item in np.setdiff1d(np.arange(12), known):
        few = draws.select_items(np.append(known, item))
        losses = [pt.expected_loss(np.append(labels, k), few)[0] for k in range(3)]
        assert losses[found[item]] == pytest.approx(min(losses), abs=ALMOST)


@pytest.mark.parametrize("kind", [planted, flat, nested, unbalanced])
@pytest.mark.parametrize("loss", [pt.VI(a=0.6), pt.Binder(), pt.ID()], ids=repr)
def test_it_ends_where_no_single_move_helps_and_no_higher_than_in_memory(kind, loss, many):
    """ID has so many local minima that the two ways end in different ones of few items."""
    draws = pt.Draws(kind(np.random.default_rng(5)))
    found = pt.estimate(draws, loss=loss, method="sweep", bound=None)
    assert found.search.settled
    assert "explored" in found.search.limits[0]
    assert found.expected_loss == pt.expected_loss(found.labels, draws, loss=loss)[0]
    labels = canonical(found.labels)
    assert losses_after_moves(labels, draws, loss).min() >= found.expected_loss - ALMOST
    if loss == pt.ID():
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "GATHERED_LABELS", 10**9)
        usual = pt.estimate(draws, loss=loss, method="sweep", bound=None)
    assert found.expected_loss <= usual.expected_loss + ALMOST


def test_threads_do_not_change_the_answer(many):
    draws = pt.Draws(flat(np.random.default_rng(1)))
    one, two = (pt.estimate(draws, n_jobs=jobs, bound=None) for jobs in (1, 3))
    assert np.array_equal(one.labels, two.labels)
    assert one.expected_loss == two.expected_loss


@pytest.mark.parametrize("share", [1, 1_000])
def test_moves_that_do_not_help_together_are_halved(share, monkeypatch):
    """Every pair wants to meet at its partner's place: together they only change places."""
    monkeypatch.setattr(settings, "UNCERTAIN_SHARE", share)
    draws = pt.Draws([[0, 0, 1, 1, 2, 2]] * 3)
    labels = canonical([0, 1, 2, 3, 4, 5])
    task = make_task(draws)
    seen = scan_items(task, labels)
    assert seen.downhill.size == 6
    assert seen.best.tolist() == [1, 0, 3, 2, 5, 4]
    kept = []
    ended, settled = blockwise.descend(task, labels, kept.append)
    assert settled
    assert ended.tolist() == [0, 0, 1, 1, 2, 2]
    losses = [pt.expected_loss(p, draws)[0] for p in kept]
    assert losses == sorted(losses, reverse=True)


def test_time_that_is_up_is_said(many):
    draws = pt.Draws(planted(np.random.default_rng(2)))
    found = pt.estimate(draws, time_limit=1e-9, bound=None)
    assert found.search.settled is False
    assert found.search.interrupted
    assert "ended before it was seen that none lowers" in repr(found)


@pytest.mark.parametrize("limits", [{"SCAN_STEPS": 1}, {"SCAN_SWEEPS": 0.5, "SEARCH_WORK": 200}])
def test_a_descent_that_does_not_end_is_ended_and_that_is_said(limits, monkeypatch):
    for name, value in limits.items():
        monkeypatch.setattr(settings, name, value)
    task = make_task(pt.Draws([[0, 0, 1, 1, 2, 2]] * 3))
    ended, settled = blockwise.descend(task, canonical(np.arange(6)), lambda _: None)
    assert int(ended.max()) + 1 < 6
    assert not settled
    assert "after 1 step " in task.log.limits[0]


@pytest.mark.parametrize(
    ("limits", "cap"),
    [
        ({"TABLE_CELLS": 0}, 1),
        ({"FEW_CLUSTERS": 3, "CLUSTER_TIMES": 0}, 3),
        ({"FEW_CLUSTERS": 0, "CLUSTER_TIMES": 0.5}, 2),
    ],
)
def test_partitions_too_wide_for_tables_are_not_searched(limits, cap, many, monkeypatch):
    draws = pt.Draws(planted(np.random.default_rng(2)))
    assert pt.estimate(draws, bound=None).n_clusters == 5
    for name, value in limits.items():
        monkeypatch.setattr(blockwise if name == "TABLE_CELLS" else settings, name, value)
    found = pt.estimate(draws, bound=None)
    assert found.n_clusters == cap
    assert f"more than {cap} clusters were not searched" in found.search.limits[-1]


@pytest.mark.parametrize("loss", [pt.VI(a=0.3), pt.NVI()], ids=repr)
def test_singletons_are_found_although_no_table_holds_them(loss, many, monkeypatch):
    rng = np.random.default_rng(4)
    draws = pt.Draws(np.stack([rng.permutation(np.repeat(np.arange(40), 2)) for _ in range(9)]))
    monkeypatch.setattr(settings, "FEW_CLUSTERS", 4)
    monkeypatch.setattr(settings, "CLUSTER_TIMES", 0)
    found = pt.estimate(draws, loss=loss, bound=None)
    alone = pt.expected_loss(np.arange(80), draws, loss=loss)[0]
    assert found.expected_loss == alone
    assert found.n_clusters == 80
    assert found.search.settled is None


def test_a_brief_search_places_items_and_moves_none(many, monkeypatch):
    draws = pt.Draws(planted(np.random.default_rng(2)))
    whole = pt.estimate(draws, bound=None)
    brief = pt.estimate(draws, method="brief", bound=None)
    assert brief.search.settled is False
    assert brief.search.sweeps < whole.search.sweeps
    assert whole.expected_loss <= brief.expected_loss < 1.2 * whole.expected_loss
    found = pt.summarize(draws)
    assert found.estimate.search.settled
    assert found.binder_estimate.method == "brief"
    assert found.binder_estimate.expected_loss <= pt.expected_loss(found, draws, "binder")[0]


def test_draws_of_more_clusters_than_a_table_holds_are_compared_with_each_other(monkeypatch):
    """Not a table of all pairs of their clusters, which no memory holds."""
    monkeypatch.setattr(settings, "MANY_ITEMS", 100)
    monkeypatch.setattr(blockwise, "TABLE_CELLS", 1 << 12)
    rng = np.random.default_rng(0)
    items = np.arange(400)
    draws = [canonical(items - items % 2 * (rng.random(400) < 0.7)) for _ in range(6)]
    found = pt.estimate(draws)
    candidates = [*draws, items]
    assert found.expected_loss == min(pt.expected_loss(each, draws) for each in candidates)
    assert "only the draws and all items alone were compared" in found.search.limits[0]
    assert "comparing the draws with each other" in found.proof


@pytest.mark.parametrize("loss", [pt.VI(0.8), pt.ID()], ids=repr)
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
    rng = np.random.default_rng(0)
    draws = pt.Draws(redrawn(rng.integers(0, 80, 240), 40, 0.3, 80, rng))
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


def nearly_single(n_items: int, n_draws: int = 4) -> pt.Draws:
    """Draws in which nearly every item is alone."""
    rng = np.random.default_rng(0)
    labels = np.tile(np.arange(n_items), (n_draws, 1))
    labels[:, :9] = rng.integers(n_items, size=(n_draws, 9))
    return pt.Draws(labels, chain=np.arange(n_draws) % 2)


@pytest.mark.parametrize("asked", [{"n_clusters": 5}, {"max_clusters": 5}, {"min_size": 4}])
def test_no_table_of_all_pairs_of_very_many_clusters(asked, monkeypatch):
    monkeypatch.setattr("partita.search.settings.MERGED_CLUSTERS", 100)
    rules, singles = Constraints(**asked), np.arange(3_000, dtype=np.int32)
    problem = problem_from_draws(nearly_single(singles.size), pt.VI())
    rng = np.random.default_rng(0)
    tracemalloc.start()
    found = repair(problem, singles, rules, rng)
    if rules.max_clusters is not None:  # such a search may begin with more
        assert rules.allow(LocalSearch(problem, singles, rng, rules).labels)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert rules.allow(found)
    assert peak < 8 * singles.size**2 / 2


def test_starts_too_fine_for_any_table_are_compared_with_the_draws():
    draws = nearly_single(60_000)
    found = pt.chain_estimates(draws)
    assert found.n_clusters.min() > 59_000
    given = pt.estimate(draws, starts=[draws[0], np.zeros(60_000)], bound=None)
    assert given.n_clusters > 59_000


def test_a_sweep_of_items_that_are_alone_asks_the_clock():
    problem = problem_from_draws(nearly_single(15_000, 2), pt.VI())
    asked = []
    singles, rng = np.arange(15_000, dtype=np.int32), np.random.default_rng(0)
    LocalSearch(problem, singles, rng, time_is_up=lambda: bool(asked.append(1))).sweep()
    assert len(asked) > 1


def test_time_ends_the_merging_that_a_limit_on_clusters_asks_for():
    problem, rules = problem_from_draws(nearly_single(2_000), pt.VI()), Constraints(max_clusters=5)
    singles, rng = np.arange(2_000, dtype=np.int32), np.random.default_rng(0)
    search = LocalSearch(problem, singles, rng, rules, time_is_up=lambda: True)
    assert rules.allow(search.labels)
    assert np.bincount(search.labels).min() == 400
