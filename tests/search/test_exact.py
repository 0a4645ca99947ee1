"""Exact minima, by enumeration and by integer programme, against all partitions."""

import json

import numpy as np
import pytest

import partita as pt
from loss_instances import every_loss
from partita.search import exact as method
from partita.search.bounds.pairs import Relaxation, pair_programme
from reference import ground_truth
from reference.partitions import every_partition
from search_tasks import all_losses, found, make_task, minimisers, random_draws, random_posterior


@every_loss
@pytest.mark.parametrize(("n", "cap"), [(2, None), (3, None), (6, None), (6, 1), (6, 2), (6, 3)])
def test_all_minimisers(loss, n, cap):
    draws = random_draws(n, 8, seed=n)
    task = make_task(draws, loss, max_clusters=cap)
    listed = [c for c in every_partition(n) if cap is None or max(c) < cap]
    assert found(method.search(task)) == minimisers(loss, listed, draws)
    assert (task.log.proven == -np.inf) == (cap is not None)  # a cap proves nothing about the rest


@pytest.mark.parametrize("loss", ["vi", "nvi", "binder", "nid"])
def test_all_partitions_part_by_part(loss, monkeypatch):
    monkeypatch.setattr(method, "BLOCK", 100)
    draws = random_draws(8, 10, seed=1)
    task = make_task(draws, loss)
    reached = method.search(task)
    partitions, values = all_losses(draws, loss)
    assert found(reached) == partitions[values <= values.min() + 1e-10].tolist()
    assert task.log.n_evaluated == pt.lattice.bell_number(8)
    assert task.log.proven == pytest.approx(values.min(), rel=0, abs=1e-12)


def test_more_ties_than_are_listed(monkeypatch):
    monkeypatch.setattr(method, "MAX_TIES", 20)
    draws = pt.Draws([[0] * 6, list(range(6))])
    task = make_task(draws, "binder")
    assert len(method.search(task)) == 20
    assert task.log.limits == ["203 partitions tie at the minimum; 20 are listed"]


def test_too_many_in_doubt_are_swept_and_it_is_said(monkeypatch):
    few = method.search_few
    monkeypatch.setattr(method, "search_few", lambda task: few(task, 0))
    best = pt.estimate(random_draws(9, 30, seed=5), loss="nvi", n_jobs=1)
    assert "too many partitions are in doubt: not all were compared" in best.search.limits
    assert "enumeration" not in best.search.agreed_kinds


def records() -> list[dict]:
    function = "minimum over enumerate.partitions"
    return [r for r in ground_truth.load() if r["function"] == function]


@pytest.mark.parametrize("record", records(), ids=lambda r: json.dumps(r["arguments"])[-40:])
def test_minimisers_of_salso(record):
    arguments, value = record["arguments"], record["value"]
    task = make_task(pt.Draws(arguments["truth"]), ground_truth.salso_loss(arguments))
    reached = method.search(task)
    assert found(reached) == sorted(pt.canonical(np.array(value["minimisers"])).tolist())
    assert task.evaluate(reached[0].labels) == pytest.approx(value["minimum"], rel=0, abs=1e-10)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", [pt.Binder(), pt.Binder(a=0.6), pt.Binder(a=1.4)], ids=repr)
def test_it_finds_and_proves_the_minimum(seed, loss):
    draws = random_posterior(8, 30, seed)
    found = pt.estimate(draws, loss=loss, method="ilp")
    assert found.expected_loss == pytest.approx(all_losses(draws, loss)[1].min(), abs=1e-12)
    assert found.is_proven_optimal


def odd_wheel() -> np.ndarray:
    """A hub close to a ring of five whose neighbours are apart: its relaxation is fractional."""
    p = np.full((6, 6), 0.45)
    p[0, 1:] = p[1:, 0] = 0.7
    for i in range(5):
        a, b = 1 + i, 1 + (i + 1) % 5
        p[a, b] = p[b, a] = 0.0
    np.fill_diagonal(p, 1.0)
    return p


def test_it_branches_where_the_relaxation_is_fractional():
    programme = pair_programme(odd_wheel(), pt.Binder())
    relaxation = Relaxation(programme)
    while relaxation.tighten():
        pass
    partitions = np.array(list(pt.lattice.all_partitions(6)))
    minimum = pt.expected_loss(partitions, similarity=odd_wheel(), loss="binder").min()
    assert relaxation.bound < minimum - 1e-6
    found = pt.estimate(similarity=odd_wheel(), loss="binder", method="ilp")
    assert found.expected_loss == pytest.approx(minimum, abs=1e-12)
    assert found.lower_bound == pytest.approx(minimum, abs=1e-6)
    assert found.lower_bound <= minimum
    assert any(start.origin == "integer programme" for start in found.search.starts)


def test_it_reaches_useful_sizes():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(6), 20)
    labels = np.where(rng.random((200, 120)) < 0.25, rng.integers(0, 8, (200, 120)), truth)
    found = pt.estimate(labels, loss="binder", method="ilp")
    assert found.is_proven_optimal
    assert pt.distance(found.labels, truth) == 0.0


@pytest.mark.parametrize("weights", [[1, 1e-6], [1, 1e-9], [1e-6, 1], [1.0, 0.999999]])
@pytest.mark.parametrize("a", [0.5, 1.0, 1.5])
def test_very_unequal_weights_leave_no_programme_to_solve(weights, a):
    rows = np.random.default_rng(0).integers(0, 3, (2, 8))
    loss = pt.Binder(a)
    draws = pt.Draws(rows, weights=weights)
    found = pt.estimate(draws, loss=loss, method="ilp")
    minimum = all_losses(draws, loss)[1].min()
    assert found.expected_loss == pytest.approx(minimum, rel=1e-9, abs=1e-15)
    assert found.lower_bound <= minimum * (1.0 + 1e-12) + 1e-16
