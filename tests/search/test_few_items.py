"""The exact minimum from tables of sets of items, against all partitions evaluated one by one."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from loss_instances import INSTANCES
from partita.search.methods import few_items as method
from partita.search.methods import registry
from search_tasks import found, make_task, random_draws

IN_DOUBT = "too many partitions are in doubt: not all were compared"


def every_value(draws: pt.Draws, loss) -> tuple[np.ndarray, np.ndarray]:
    partitions = np.array(list(pt.all_partitions(draws.n_items)))
    return partitions, pt.expected_loss(partitions, draws, loss)


@pytest.mark.parametrize("loss", [x for x in INSTANCES if not x.needs_similarity], ids=repr)
@pytest.mark.parametrize("n_items", [2, 5, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_all_minimisers(loss, n_items, weighted):
    draws = random_draws(n_items, 12, seed=n_items, weighted=weighted)
    task = make_task(draws, loss)
    partitions, values = every_value(draws, loss)
    assert found(method.search(task)) == partitions[values <= values.min() + 1e-10].tolist()
    assert task.proven == pytest.approx(values.min(), rel=0, abs=1e-12)


@pytest.mark.parametrize("loss", ["id", "nid", "nvi", "omari"])
def test_bounds_are_below_and_where_linear_exact(loss):
    draws = random_draws(7, 40, seed=3)
    task = make_task(draws, loss)
    partitions, values = every_value(draws, loss)
    listed = method.every_partition(7)
    assert np.array_equal(listed.labels, partitions)
    bounds = method._bounds(task.draws, task.loss, listed)
    assert (bounds <= values + 1e-12).all()
    if loss != "nvi":
        np.testing.assert_allclose(bounds, values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("loss", ["vi", "nvi"])
def test_the_default_for_nine_items_and_many_draws(monkeypatch, loss):
    monkeypatch.setattr(registry, "FEW_DRAWS", 10)
    draws = random_draws(9, 30, seed=5)
    best = pt.estimate(draws, loss=loss)
    _, values = every_value(draws, loss)
    assert best.expected_loss == pytest.approx(values.min(), rel=0, abs=1e-12)
    assert best.is_proven_optimal
    assert best.search.agreed_kinds == ("enumeration",)


@pytest.mark.parametrize("loss", ["vi", "nvi"])
def test_a_cap_holds_and_proves_nothing_about_all_partitions(loss):
    draws = random_draws(6, 12, seed=7)
    task = make_task(draws, loss, max_clusters=2)
    partitions, values = every_value(draws, loss)
    lowest = values[partitions.max(axis=1) < 2].min()
    assert task.evaluate(method.search(task)[0].labels) == pytest.approx(lowest, rel=0, abs=1e-12)
    assert task.proven == -np.inf


def test_too_many_in_doubt_are_swept_and_it_is_said(monkeypatch):
    monkeypatch.setattr(method, "PAIRS", 0)
    monkeypatch.setattr(registry, "FEW_DRAWS", 10)
    best = pt.estimate(random_draws(9, 30, seed=5), loss="nvi", n_jobs=1)
    assert IN_DOUBT in best.search.limits
    assert "enumeration" not in best.search.agreed_kinds


def test_more_ties_than_are_listed(monkeypatch):
    monkeypatch.setattr(method, "MAX_TIES", 20)
    task = make_task(pt.Draws([[0] * 6, list(range(6))]), "binder")
    assert len(method.search(task)) == 20
    assert task.limits == ["203 partitions tie at the minimum; 20 are listed"]
