"""Enumeration, against a list of all partitions evaluated one by one."""

from __future__ import annotations

import json

import numpy as np
import pytest

import partita as pt
from loss_instances import every_loss
from partita.errors import NotSupportedError
from partita.search.methods import enumerate_all as method
from reference import ground_truth
from reference import search_methods as twin
from search_tasks import found, make_task, random_draws


def all_minimisers(draws: pt.Draws, loss, cap: int | None = None) -> list[list[int]]:
    unique = draws.unique()
    rows, mass = unique.labels.tolist(), unique.probabilities.tolist()
    listed = [c for c in twin.partitions(draws.n_items) if cap is None or max(c) < cap]
    return twin.minimisers(loss, listed, rows, mass)


@every_loss
@pytest.mark.parametrize(("n", "cap"), [(2, None), (3, None), (6, None), (6, 1), (6, 2), (6, 3)])
def test_all_minimisers(loss, n, cap):
    draws = random_draws(n, 8, seed=n)
    task = make_task(draws, loss, max_clusters=cap)
    assert found(method.search(task)) == all_minimisers(draws, loss, cap)


def assert_all_are_searched(n, loss):
    """Every partition of n items was looked at, and the minimisers among them found."""
    draws = random_draws(n, 10, seed=1)
    task = make_task(draws, loss)
    reached = method.search(task)
    partitions = np.array(list(pt.all_partitions(n)))
    values = pt.expected_loss(partitions, draws, loss)
    assert found(reached) == partitions[values <= values.min() + 1e-10].tolist()
    assert task.looks == pt.bell_number(n) - 1  # one cluster is evaluated beside them
    assert task.proven == pytest.approx(values.min(), rel=0, abs=1e-12)


@every_loss
def test_beyond_the_prefix(loss, monkeypatch):
    """Two items are added depth-first after the prefix, in many pieces."""
    monkeypatch.setattr(method, "PREFIX_ITEMS", 5)
    assert_all_are_searched(7, loss)


def test_beyond_the_usual_prefix():
    assert_all_are_searched(method.PREFIX_ITEMS + 2, "vi")


@pytest.mark.parametrize("loss", ["binder", "vi_lb", "ompear"])
def test_from_the_similarity_matrix_alone(loss):
    draws = random_draws(7, 9, seed=2)
    alone = make_task(loss=loss, similarity=pt.similarity(draws))
    assert found(method.search(alone)) == found(method.search(make_task(draws, loss)))


@pytest.mark.parametrize("loss", ["nvi", "nid", "id", "omari", "vi"])
def test_one_cluster_where_entropies_are_zero(loss):
    draws = pt.Draws([[0] * 8, [0, 0, 0, 1, 1, 1, 1, 1]], weights=[9, 1])
    assert found(method.search(make_task(draws, loss))) == [[0] * 8]


def test_ties_are_all_reported():
    """Two opposite draws: under Binder's loss everything between them ties."""
    draws = pt.Draws([[0, 0, 0], [0, 1, 2]])
    assert len(method.search(make_task(draws, "binder"))) == pt.bell_number(3)


def test_more_ties_than_are_listed(monkeypatch):
    monkeypatch.setattr(method, "MAX_TIES", 20)
    draws = pt.Draws([[0] * 6, list(range(6))])
    task = make_task(draws, "binder")
    assert len(method.search(task)) == 20
    assert task.limits == ["203 partitions tie at the minimum; 20 are listed"]


def test_the_same_for_every_number_of_threads():
    draws = random_draws(8, 15, seed=3)
    answers = [found(method.search(make_task(draws, "nvi", n_jobs=n))) for n in (1, 2, 5)]
    assert answers[0] == answers[1] == answers[2]


def test_time_that_is_up_still_gives_a_partition():
    task = make_task(random_draws(9, 10, seed=4), time_limit=1e-9)
    assert found(method.search(task)) == [[0] * 9]
    assert task.clock.interrupted
    assert task.proven == -np.inf  # an interrupted enumeration proves nothing


def test_a_cap_proves_nothing_about_all_partitions():
    task = make_task(random_draws(6, 10, seed=5), max_clusters=2)
    method.search(task)
    assert task.proven == -np.inf


def test_one_item():
    for loss in ("vi", "binder", "vi_lb", "nid", "omari", "ompear"):
        assert found(method.search(make_task(pt.Draws([[0]]), loss))) == [[0]]


def test_too_many_items():
    with pytest.raises(NotSupportedError, match=r"at most 12 items; 13 items have 27,644,437"):
        method.search(make_task(random_draws(13, 3, seed=0)))
    with pytest.raises(NotSupportedError, match=r"more than 10\^\d+ of them. Use 'auto'"):
        method.search(make_task(random_draws(60, 3, seed=0)))


# ---------------------------------------------------------------- salso's enumeration


def records() -> list[dict]:
    function = "minimum over enumerate.partitions"
    return [r for r in ground_truth.load() if r["function"] == function]


def test_records_are_there():
    assert len(records()) >= 10


@pytest.mark.parametrize("record", records(), ids=lambda r: json.dumps(r["arguments"])[-40:])
def test_minimisers_of_salso(record):
    arguments, value = record["arguments"], record["value"]
    measure = ground_truth.SALSO[arguments["loss"]]
    loss = measure(a=arguments["a"]) if "a" in arguments else measure()
    task = make_task(pt.Draws(arguments["truth"]), loss)
    reached = method.search(task)
    assert found(reached) == sorted(pt.canonical(np.array(value["minimisers"])).tolist())
    assert task.evaluate(reached[0].labels) == pytest.approx(value["minimum"], rel=0, abs=1e-10)
