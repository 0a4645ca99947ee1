"""`estimate`: right answers, honest reports, clear refusals."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import partita as pt
from loss_instances import every_loss
from other_processes import run_python
from partita.errors import (
    InvalidInputError,
    InvalidLabelsError,
    NotSupportedError,
    UnknownNameError,
)
from partita.labels import by_size
from partita.search import local_search, multistart, settings
from partita.search.estimate import METHODS
from partita.search.local_search import LocalSearch
from partita.search.problem import lists_from_draws
from partita.search.result import is_proven
from partita.search.task import tied
from same_bits import assert_same
from search_tasks import all_losses, random_posterior
from simulated import labels_around


@every_loss
@pytest.mark.parametrize("method", ["auto", "sweep"])
def test_it_finds_the_minimum_over_all_partitions(loss, method):
    for seed in (0, 2, 3):
        draws = random_posterior(5 + seed, 10 + 10 * seed, seed, weighted=seed == 3)
        _, losses = all_losses(draws, loss)
        found = pt.estimate(draws, loss=loss, method=method, rng=seed)
        assert found.expected_loss == pytest.approx(losses.min(), abs=1e-11)


@every_loss
def test_the_reported_loss_is_the_expected_loss_exactly(loss):
    draws = random_posterior(30, 50, 1)
    found = pt.estimate(draws, loss=loss)
    strict = pt.expected_loss(found.labels, draws, loss=loss)[0]
    if loss.averages_distances:
        assert found.expected_loss == strict
    else:  # from a similarity matrix, whose entries were rounded once more
        assert found.expected_loss == pytest.approx(strict, rel=1e-14)
    assert np.array_equal(found.labels, by_size(found.labels))
    assert not found.labels.flags.writeable
    assert found.loss == loss
    assert found.n_clusters == pt.n_clusters(found.labels)


@every_loss
def test_merged_and_weighted_draws_give_the_answer_of_the_draws(loss):
    draws = random_posterior(12, 15, 2)
    repeated = pt.Draws(np.repeat(draws.labels, 3, axis=0))
    weighted = pt.Draws(draws.labels, weights=np.full(15, 0.2))
    answers = [pt.estimate(d, loss=loss) for d in (draws, repeated, weighted)]
    for other in answers[1:]:
        assert np.array_equal(other.labels, answers[0].labels)
        assert other.expected_loss == pytest.approx(answers[0].expected_loss, abs=1e-12)


@pytest.mark.parametrize("name", ["vi", "nid"])
def test_threads_do_not_change_a_search_on_a_sample_of_the_draws(name):
    draws = random_posterior(40, 600, 5)
    one, four = (pt.estimate(draws, loss=name, rng=7, n_jobs=n) for n in (1, 4))
    assert_same(one, four)


def test_many_groups_are_all_found():
    truth = np.random.default_rng(0).integers(0, 20, 1_000)
    found = pt.estimate(labels_around(truth, 400, seed=1, redrawn=0.3, k=22))
    assert found.n_clusters == 20
    assert pt.distance(found.labels, truth) == 0.0
    assert len(found.search.agreed_kinds) >= 2


def test_all_minimisers_found_are_ties():
    # The meet and the join of these two are equally far from both.
    draws = pt.Draws([[0, 0, 1, 1], [0, 1, 0, 1]])
    found = pt.estimate(draws)
    partitions, losses = all_losses(draws, pt.VI())
    minimisers = {tuple(p) for p in partitions[losses <= losses.min() + 1e-10]}
    reported = {tuple(pt.canonical(t)) for t in (found.labels, *found.ties)}
    assert reported == minimisers
    assert len(minimisers) > 1


def test_user_starts_are_used():
    draws = random_posterior(12, 20, 3)
    start = np.arange(12) % 3
    found = pt.estimate(draws, method="sweep", starts=[start, np.zeros(12)], n_starts=1)
    origins = [s.origin for s in found.search.starts]
    assert origins[:2] == ["user", "user"]
    assert origins[2:5] == ["average linkage", "draw", "minimiser of a=1.3"]


def test_a_cap_is_kept_and_said():
    draws = pt.Draws(np.tile(np.arange(10) % 5, (20, 1)))
    free = pt.estimate(draws, method="sweep")
    assert free.n_clusters == 5
    assert free.search.limits == ()
    capped = pt.estimate(draws, method="sweep", max_clusters=3)
    assert capped.n_clusters == 3
    assert "max_clusters=3 was reached" in capped.search.limits[0]
    assert capped.expected_loss > free.expected_loss


@pytest.mark.parametrize("cap", [1, 2])
@every_loss
def test_the_best_partition_under_a_cap(loss, cap):
    draws = random_posterior(7, 20, 4)
    partitions, losses = all_losses(draws, loss)
    allowed = partitions.max(axis=1) < cap
    for method in ("auto", "sweep", "hasse"):
        found = pt.estimate(draws, loss=loss, method=method, max_clusters=cap, bound=None)
        assert found.n_clusters <= cap
        if method != "hasse":
            assert found.expected_loss == pytest.approx(losses[allowed].min(), abs=1e-11)


@pytest.mark.parametrize("method", METHODS)
def test_of_every_method_threads_change_nothing_and_time_that_is_up_leaves_an_answer(method):
    loss = "binder" if method == "ilp" else "nvi"
    draws = random_posterior(10, 60, 3)
    ways = {"n_jobs": 1, "rng": 1}, {"n_jobs": 3, "rng": np.random.SeedSequence(1)}
    one, three = (pt.estimate(draws, loss=loss, method=method, **way) for way in ways)
    assert np.array_equal(one.labels, three.labels)
    assert (one.expected_loss, one.lower_bound) == (three.expected_loss, three.lower_bound)
    late = pt.estimate(draws, loss=loss, method=method, time_limit=1e-9)
    assert late.expected_loss == pytest.approx(pt.expected_loss(late, draws, loss)[0], rel=1e-14)
    assert late.lower_bound is None or late.lower_bound <= one.expected_loss


@every_loss
@pytest.mark.parametrize(
    "labels",
    [[[0, 0, 1, 2]], [[0]], [[0], [0]], [[0, 1, 2]] * 3, [[0, 0, 0]] * 3, [[0, 1]]],
    ids=["one draw", "one item", "one item twice", "singletons", "one cluster", "two items"],
)
def test_where_all_draws_agree_they_are_the_answer(loss, labels):
    for method in METHODS:
        if method == "ilp" and loss.name != "binder":
            continue
        found = pt.estimate(labels, loss=loss, method=method)
        assert np.array_equal(found.labels, labels[0])
        assert found.expected_loss == pytest.approx(0.0, abs=1e-12)
        assert found.gap in (None, 0.0)


@pytest.mark.parametrize("name", ["binder", "vi_lb", "one_minus_pear"])
def test_a_similarity_matrix_is_enough_for_some_losses(name):
    draws = random_posterior(9, 25, 6)
    _, losses = all_losses(draws, name)
    for method in ("auto", "sweep", "enumerate", "hasse", "average", "complete"):
        found = pt.estimate(similarity=pt.similarity(draws), loss=name, method=method)
        assert found.expected_loss >= losses.min() - 1e-11
        if method in ("auto", "sweep", "enumerate"):
            assert found.expected_loss == pytest.approx(losses.min(), abs=1e-11)


@every_loss
def test_every_method_is_honest_about_its_result(loss):
    draws = random_posterior(8, 30, 8)
    lowest = all_losses(draws, loss)[1].min()
    for method in METHODS:
        if method == "ilp" and loss.name != "binder":
            continue
        found = pt.estimate(draws, loss=loss, method=method)
        assert found.method == method
        strict = pt.expected_loss(found.labels, draws, loss=loss)[0]
        assert found.expected_loss == pytest.approx(strict, rel=1e-14, abs=1e-15)
        assert found.expected_loss >= lowest - 1e-11
        assert found.search.starts
        if found.lower_bound is not None:
            assert found.lower_bound <= lowest + 1e-12


def test_a_time_limit_returns_the_best_so_far():
    rng = np.random.default_rng(0)
    draws = pt.Draws(rng.integers(0, 30, (2_000, 3_000)))
    found = pt.estimate(draws, time_limit=0.5, bound=None)
    assert found.search.interrupted
    assert found.labels.size == 3_000
    assert "interrupted" in repr(found)


def test_where_time_is_up_not_even_every_item_is_placed():
    rng = np.random.default_rng(0)
    draws = pt.Draws(rng.integers(0, 40, (60, 20_000)))
    found = pt.estimate(draws, loss="binder", time_limit=1e-9)
    assert found.search.sweeps < 1
    assert found.expected_loss <= min(pt.expected_loss(draws.rows(0, 3), draws, "binder"))


INTERRUPTED = """
import os, signal, threading
import numpy as np
import partita as pt

draws = pt.Draws(np.random.default_rng(0).integers(0, 30, (2_000, 3_000)))
pt.estimate(draws.thin(50), time_limit=3)  # compiled before the signal comes
threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
found = pt.estimate(draws, bound=None)
print(found.search.interrupted, found.labels.size, found.expected_loss > 0)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_ctrl_c_returns_the_best_so_far():
    # In a process of its own: one that runs tests for another ignores the signal.
    done = run_python("-c", INTERRUPTED)
    assert done.stdout.split() == ["True", "3000", "True"], done.stderr


SIX, THIRTEEN = (random_posterior(n, 10, 0) for n in (6, 13))
MATRIX = pt.similarity(SIX)
BY_HAND = pt.CallableLoss(lambda a, b: float(len(set(a)) != len(set(b))))


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"method": "anneal"}, UnknownNameError, "'anneal'; expected one of 'auto'"),
        ({"bound": "loose"}, UnknownNameError, "expected 'auto', 'fast', 'tight' or None"),
        ({"starts": [[0, 1]]}, InvalidLabelsError, "starts: labels of 2 items, but 6 were"),
        ({"max_clusters": 7}, InvalidInputError, "only 6 items"),
        ({"max_clusters": 1, "starts": [0, 1, 1, 1, 1, 1]}, InvalidInputError, "more than"),
        ({"similarity": MATRIX, "loss": "binder"}, InvalidInputError, "not both"),
        ({"draws": None}, InvalidInputError, "one is needed"),
        ({"draws": None, "similarity": MATRIX}, NotSupportedError, "it needs the draws"),
        ({"draws": MATRIX}, InvalidLabelsError, "pass it as similarity="),
        (
            {"draws": None, "similarity": MATRIX, "loss": "binder", "method": "draws"},
            *(NotSupportedError, "draws"),
        ),
        ({"draws": THIRTEEN, "method": "enumerate"}, NotSupportedError, "at most 12 items"),
        ({"n_clusters": 7}, InvalidInputError, "7 items would be needed"),
        ({"n_clusters": 2, "min_size": 4}, InvalidInputError, "8 items would be needed"),
        ({"n_clusters": 2, "method": "hasse"}, NotSupportedError, "use 'auto' or 'sweep'"),
        ({"n_clusters": 2, "max_clusters": 3}, InvalidInputError, "not both"),
        (
            {"draws": THIRTEEN, "loss": BY_HAND, "n_clusters": 2},
            *(NotSupportedError, "at most 8 items; there are 13"),
        ),
    ],
    ids=lambda x: str(x)[:40],
)
def test_what_cannot_be_is_refused_in_words(asked, error, message):
    with pytest.raises(error, match=message):
        pt.estimate(**({"draws": SIX} | asked))


LOSSES = ["vi", "binder", pt.VI(0.7)]


def test_every_cell_is_what_separate_calls_give():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 14)
    draws = np.where(rng.random((40, 14)) < 0.3, rng.integers(0, 5, (40, 14)), truth)
    found = pt.compare_losses(draws, LOSSES)
    alone = [pt.estimate(draws, loss=loss) for loss in LOSSES]
    assert [each.labels.tolist() for each in found.estimates] == [a.labels.tolist() for a in alone]
    for i, a in enumerate(alone):
        for j, loss in enumerate(LOSSES):
            assert found.expected[i, j] == pytest.approx(pt.expected_loss(a, draws, loss)[0])
            assert found.distances[i, j] == pytest.approx(pt.distance(a, alone[j]))
    assert (found.excess >= -1e-12).all()
    assert found.names == ("VI", "Binder", "VI(a=0.7)")
    frame = found.to_frame()
    assert frame["expected Binder"].tolist() == found.expected[:, 1].tolist()
    assert found.to_latex().count(r"\\") == 4
    assert [row[3] for row in found.table().rows] == [f"{d:.3g}" for d in found.distances[:, 0]]


@pytest.mark.parametrize("losses", ["vi", ["vi"], ["vi", "vi"], 3])
def test_fewer_than_two_losses_are_refused(losses):
    with pytest.raises(pt.errors.InvalidInputError) as caught:
        pt.compare_losses([[0, 0, 1]], losses)
    assert caught.value.argument == "losses"


# --------------------------------------------------------------------------- what counts as equal


def test_one_pair_of_a_million_items_is_no_rounding():
    one_pair = 2.0 / 10**12  # of Binder's loss, were it in every draw
    assert not is_proven(0.05, 0.05 - one_pair, pt.Binder())
    assert is_proven(0.05, 0.05 - 1e-16, pt.Binder())
    assert tied(0.05, pt.Binder()) < 0.05 + one_pair / 100  # or in one draw of a hundred
    assert tied(0.05, pt.Binder()) >= 0.05 + 1e-16


def test_partitions_that_differ_by_one_pair_are_no_ties_and_a_sweep_sees_it():
    # Two of 300,000 items are together in 51 of 101 draws, all others always alone. The two
    # partitions that matter differ by 2/N² in a single draw.
    alone = np.arange(300_000, dtype=np.int32)
    joined = alone.copy()
    joined[1] = 0
    draws = pt.Draws(np.stack([joined, alone]), weights=[51, 50])
    both = pt.expected_loss(np.stack([joined, alone]), draws, loss="binder")
    assert 0.0 < both[1] - both[0] < 1e-12
    found = pt.estimate(draws, loss="binder", method="draws", bound=None)
    assert np.array_equal(pt.canonical(found.labels), pt.canonical(joined))
    assert len(found.ties) == 0
    problem, pair = lists_from_draws(draws, pt.Binder()), np.array([0, 1])
    search = LocalSearch(problem, alone, np.random.default_rng(0), items=pair)
    search.sweep()
    assert np.array_equal(search.labels, pt.canonical(joined))


@pytest.mark.parametrize("loss", [pt.VI(), pt.NID(), pt.Binder()], ids=repr)
def test_what_is_equal_in_exact_arithmetic_still_ties(loss):
    draws = pt.Draws([[0, 0, 1, 2, 2, 3, 3], [0, 1, 1, 2, 2, 3, 3]])
    found = pt.estimate(draws, loss=loss, method="enumerate")
    assert found.is_proven_optimal
    assert len(found.ties) >= 1
    losses = pt.expected_loss(found.ties, draws, loss=loss)
    assert losses == pytest.approx(found.expected_loss, rel=1e-12)


# ------------------------------------------------------------------------ starts, agreement, Ctrl-C


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
    truth = np.random.default_rng(0).integers(0, 4, 60)
    found = pt.estimate(labels_around(truth, 200, seed=1, redrawn=0.2, k=5), bound=None)
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
    truth = np.repeat([0, 1, 2], 10)
    found = pt.estimate(labels_around(truth, 60, redrawn=0.2, k=3), loss=name)
    assert "average linkage" in {start.origin for start in found.search.starts}
    assert pt.distance(found, truth) == 0.0
