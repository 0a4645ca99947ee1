"""The obvious partitions are never missed, agreement is of kinds, and Ctrl-C loses nothing."""

import signal
import threading
import time

import numpy as np
import pytest

import partita as pt
from loss_instances import every_loss
from partita.search import local_search, multistart, settings
from search_tasks import random_posterior


def flat(n_draws: int, n_items: int, n_clusters: int, seed: int = 0) -> pt.Draws:
    """Labels drawn uniformly: nothing to be found."""
    return pt.Draws(np.random.default_rng(seed).integers(0, n_clusters, (n_draws, n_items)))


@every_loss
@pytest.mark.parametrize("n_clusters", [2, 8])
def test_no_obvious_partition_is_better(loss, n_clusters):
    draws = flat(60, 40, n_clusters)
    found = pt.estimate(draws, loss=loss, bound=None)
    obvious = np.stack([np.zeros(40, np.int64), np.arange(40), *draws.labels[:20]])
    assert found.expected_loss <= pt.expected_loss(obvious, draws, loss=loss).min() + 1e-12
    linked = pt.estimate(draws, loss=loss, method="average", bound=None)
    assert found.expected_loss <= linked.expected_loss + 1e-12


def test_one_cluster_is_found_where_every_draw_leads_to_singletons():
    draws = flat(200, 100, 8)
    found = pt.estimate(draws, bound=None)
    assert found.n_clusters == 1
    assert found.expected_loss == pytest.approx(2.950686, abs=1e-6)
    assert len(found.search.agreed_kinds) >= 2


def test_agreement_names_kinds_and_is_not_printed_as_evidence():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 60)
    labels = np.where(rng.random((200, 60)) < 0.2, rng.integers(0, 5, (200, 60)), truth)
    found = pt.estimate(labels, bound=None)
    report = found.search
    lowest = min(start.expected_loss for start in report.starts)
    ended = [s.origin for s in report.starts if s.expected_loss <= lowest + 1e-10]
    assert report.agreed == len(ended)
    assert report.agreed_kinds == tuple(dict.fromkeys(ended))
    assert {"average linkage", "draw", "minimiser of a=1.3"} <= set(report.agreed_kinds)
    assert "agree" not in repr(found)  # kinds of starts may share a local minimum


def test_a_time_limit_binds_the_proof_and_keeps_the_search(monkeypatch):
    def endless(task, labels, value, effort):
        while not task.clock.is_up():
            time.sleep(0.01)
        return 0.01

    monkeypatch.setattr("partita.search.estimate.lower_bound", endless)
    found = pt.estimate(random_posterior(20, 30, 1), bound="tight", time_limit=1.0)
    assert found.lower_bound == 0.01
    assert not found.search.interrupted
    assert found.search.limits == ("time: the proof was cut short; its bound is the best it had",)


def test_ctrl_c_in_the_proof_keeps_the_search(monkeypatch, ctrl_c):
    def interrupted(task, labels, value, effort):
        signal.raise_signal(signal.SIGINT)  # reaches the main thread
        while not task.clock.is_up():
            time.sleep(0.01)

    draws = random_posterior(20, 30, 1)
    monkeypatch.setattr("partita.search.estimate.lower_bound", interrupted)
    found = pt.estimate(draws)
    assert found.lower_bound is None
    assert not found.search.interrupted
    assert "the proof was cut short" in found.search.limits[0]
    assert np.array_equal(found.labels, pt.estimate(draws, bound=None).labels)


def test_ctrl_c_in_the_last_evaluation_keeps_the_search(monkeypatch, ctrl_c):
    draws = random_posterior(20, 30, 1)
    whole = pt.estimate(draws, bound=None)
    expected = pt.search.task.Task.evaluate
    once = threading.Lock()

    def evaluate(task, labels):
        last = threading.current_thread() is not threading.main_thread()
        if last and once.acquire(blocking=False):
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.3)
        return expected(task, labels)

    monkeypatch.setattr("partita.search.task.Task.evaluate", evaluate)
    found = pt.estimate(draws)
    assert np.array_equal(found.labels, whole.labels)
    assert found.expected_loss == whole.expected_loss


def test_work_without_end_is_ended(monkeypatch):
    """Walks of very many clusters end, and that is said; a user's time limit counts instead."""
    monkeypatch.setattr(local_search, "_CELLS_PER_CALL", 1.0)
    rows = np.random.default_rng(3).integers(0, 6, (30, 25))
    free = pt.estimate(rows, bound=None)
    for name in ("SEARCH_WORK", "SEARCH_SWEEPS"):
        monkeypatch.setattr(settings, name, 0)
    short = pt.estimate(rows, bound=None)
    assert short.search.limits == (multistart.BUDGET_EXHAUSTED,)
    assert short.expected_loss == pt.expected_loss(short, rows)
    assert short.search.sweeps < free.search.sweeps
    timed = pt.estimate(rows, bound=None, time_limit=600)
    assert timed.search.limits == free.search.limits == ()
    np.testing.assert_array_equal(timed.labels, free.labels)


@pytest.mark.parametrize("name", ["nvi", "id", "nid", "one_minus_ari"])
def test_a_cut_is_tried_of_more_items_than_are_linked(name, monkeypatch):
    """Of a loss, too, that cannot judge a partition of some of the items."""
    monkeypatch.setattr(settings, "LINKED_ITEMS", 12)
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 10)
    labels = np.where(rng.random((60, 30)) < 0.2, rng.integers(0, 3, (60, 30)), truth)
    found = pt.estimate(labels, loss=name)
    assert "average linkage" in {start.origin for start in found.search.starts}
    assert pt.distance(found, truth) == 0.0
