"""Cuts of a linkage and sampled partitions, each evaluated one by one."""

import numpy as np
import pytest

import partita as pt
from loss_instances import every_loss
from partita.search import best_draw, settings
from partita.search import linkage as method
from reference import search_methods as reference
from reference.losses import similarity as exact_similarity
from search_tasks import found, make_task, random_draws, stored_draws

SEARCHES = {"average": method.search_average, "complete": method.search_complete}
both = pytest.mark.parametrize("name", SEARCHES)


def all_cuts(tree: method.Tree) -> np.ndarray:
    return np.array([method.cut_into(tree, k) for k in range(tree.order.size, 0, -1)])


@every_loss
@both
@pytest.mark.parametrize("n_items", [1, 2, 25])
def test_losses_of_all_cuts(loss, name, n_items):
    draws = random_draws(n_items, 40, seed=1)
    task = make_task(draws, loss)
    tree = method.link(task, name)
    expected = pt.expected_loss(all_cuts(tree), draws, loss)
    assert method._cut_losses(task, tree) == pytest.approx(expected, rel=0, abs=1e-12)


@every_loss
@both
@pytest.mark.parametrize("seed", range(3))
def test_best_cut_of_the_reference(loss, name, seed):
    """Distinct distances, so that both linkages merge in the same order."""
    draws = random_draws(8, 60, seed=seed)
    unique = draws.unique()
    rows, mass = unique.labels.tolist(), unique.probabilities.tolist()
    cuts = reference.linkage_cuts(exact_similarity(rows, mass), name)
    for cap in (None, 3):
        allowed = [c for c in cuts if cap is None or max(c) < cap]
        reached = SEARCHES[name](make_task(draws, loss, max_clusters=cap))
        assert found(reached) == reference.minimisers(loss, allowed, rows, mass)


@pytest.mark.parametrize(
    ("name", "loss", "linkage_name", "value"),
    [
        ("example1", "vi_lb", "average", 0.427644366745569),
        ("example1", "vi_lb", "complete", 0.441010735594898),
        ("example1", "binder", "average", 0.06226648),
        ("example1", "binder", "complete", 0.06268914),
        ("galaxy", "vi_lb", "average", 0.57287202356292),
        ("galaxy", "one_minus_pear", "average", 1 - 0.540530333353874),
    ],
)
def test_values_of_mcclust(name, loss, linkage_name, value):
    """The records of minVI, minbinder.ext and maxpear; R printed up to 15 digits."""
    task = make_task(stored_draws(name), loss)
    best = SEARCHES[linkage_name](task)[0]
    assert task.evaluate(best.labels) == pytest.approx(value, rel=0, abs=1e-9)


# --------------------------------------------------------------------- the best sampled partition


def best_draws(draws: pt.Draws, loss, cap: int | None = None) -> list[list[int]]:
    unique = draws.unique()
    rows, mass = unique.labels.tolist(), unique.probabilities.tolist()
    return reference.minimisers(loss, [r for r in rows if cap is None or max(r) < cap], rows, mass)


@every_loss
@pytest.mark.parametrize("cap", [None, 4])
def test_best_draw(loss, cap):
    draws = random_draws(9, 25, seed=1)
    task = make_task(draws, loss, max_clusters=cap)
    assert found(best_draw.search(task)) == best_draws(draws, loss, cap)
    assert bool(task.limits) == (cap is not None)


@every_loss
def test_many_pieces_without_the_matrix(loss, monkeypatch):
    """Paths for many items and many draws, with pieces and tiles of a few draws."""
    draws = random_draws(9, 25, seed=2)
    monkeypatch.setattr(settings, "MATRIX_ITEMS", 0)
    monkeypatch.setattr(best_draw, "PIECE_LABELS", 3 * 25 * 9)
    monkeypatch.setattr(best_draw, "BATCH", 2)
    real = pt.Draws.blocks
    monkeypatch.setattr(pt.Draws, "blocks", lambda self, rows=None: real(self, 4))
    assert found(best_draw.search(make_task(draws, loss))) == best_draws(draws, loss)
    capped = best_draw.search(make_task(draws, loss, max_clusters=4))
    assert found(capped) == best_draws(draws, loss, 4)


def modes(n_items: int, seed: int) -> pt.Draws:
    """Two partitions with noise, one of them more often."""
    rng = np.random.default_rng(seed)
    bases = rng.integers(0, 3, (2, n_items))
    labels = bases[(np.arange(60) < 12).astype(int)]
    labels[rng.random(labels.shape) < 0.1] = 0
    return pt.Draws(labels)


@every_loss
def test_draws_that_are_ruled_out_leave_the_same_answer(loss, monkeypatch):
    monkeypatch.setattr(settings, "MATRIX_ITEMS", 0)
    draws = modes(12, 1)
    whole = found(best_draw.search(make_task(draws, loss)))
    monkeypatch.setattr(best_draw, "ALL_PAIRS", 0.0)
    monkeypatch.setattr(settings, "JUDGES", 5)
    task = make_task(draws, loss)
    assert found(best_draw.search(task)) == whole
    assert not task.limits
    n_draws = task.draws.n_draws
    if loss.is_metric:
        assert task.n_evaluated < n_draws * 12
    monkeypatch.setattr(best_draw, "EVALUATED", 3)
    monkeypatch.setattr(best_draw, "EVALUATED_LABELS", 0.0)
    task = make_task(draws, loss)
    (best, *_) = best_draw.search(task)
    assert best.labels.tolist() in draws.labels.tolist()
    assert "the best 3 of" in task.limits[0]


def test_what_rules_a_draw_out_is_below_its_expected_loss():
    draws = modes(12, 2).unique()
    for row in draws.labels:
        away = pt.VI().distances(pt.canonical(row), draws)
        least = best_draw._triangle_bounds(away, draws.probabilities)
        slow = [(draws.probabilities * np.abs(x - away)).sum() for x in away]
        assert least == pytest.approx(slow, abs=1e-11)
        assert (least <= pt.expected_loss(draws.labels, draws)).all()


def test_an_interrupted_search_compares_what_is_complete(monkeypatch):
    """Losses of the first draws are complete although later draws were not reached."""
    draws = random_draws(9, 25, seed=6)
    monkeypatch.setattr(best_draw, "PIECE_LABELS", 4 * 25 * 9)
    task = make_task(draws, "vi", n_jobs=1)
    looks = iter([False, False, True, True, True, True, True])
    monkeypatch.setattr(task.clock, "is_up", lambda: next(looks))
    ordered, count = best_draw._candidates_first(task)
    values = best_draw._losses(task, ordered, count)
    complete = pt.expected_loss(ordered.labels[:8], draws, "vi")
    assert values == pytest.approx(complete, rel=0, abs=1e-12)
