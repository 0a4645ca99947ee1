"""Tabu search and iterated local search: right sums, kept limits, minima that descents miss."""

import numpy as np
import pytest
from benchmarks.posteriors import crossed, intervals, ring, two_modes

import partita as pt
from partita.search.local_search import Constraints, LocalSearch, Patience, repair
from partita.search.problem import lists_from_draws, problem_from_draws, problem_from_similarity


def flat(n_items: int, seed: int) -> pt.Draws:
    return pt.Draws(np.random.default_rng(seed).integers(0, 6, (40, n_items)))


@pytest.mark.parametrize("seed", range(3))
def test_tabu_search_leaves_local_minima_and_ends_at_the_best_it_met(seed):
    draws = flat(60, seed)
    search = LocalSearch(problem_from_draws(draws, pt.ID()), None, np.random.default_rng(0))
    search.sweep()
    before, evaluated = search.loss, search.n_evaluated
    search.tabu_search(200, 1e9)
    assert search.loss < before - 1e-6
    assert search.loss == pytest.approx(pt.expected_loss(search.labels, draws, loss="id")[0])
    assert search.n_evaluated - evaluated >= 200 * 60


def test_tabu_search_keeps_to_its_limits():
    problem = problem_from_draws(flat(16, 1), pt.ID())
    start = pt.canonical(np.arange(16) % 3)
    capped = LocalSearch(problem, start, np.random.default_rng(0), Constraints(max_clusters=3))
    capped.tabu_search(50, 1e9)
    assert capped.labels.max() < 3
    still = LocalSearch(problem, start, np.random.default_rng(0))
    still.tabu_search(50, 15.0)
    assert still.n_evaluated == 0
    assert still.labels.tolist() == start.tolist()
    alone = LocalSearch(problem_from_draws(flat(2, 1), pt.ID()), None, np.random.default_rng(0))
    alone.tabu_search(50, 1e9)  # both items are tabu soon: nothing is left to move
    assert alone.n_evaluated < 2 * 50


def cheapest_moves(labels: np.ndarray, draws: pt.Draws, loss: pt.Loss) -> np.ndarray:
    """What the expected loss rises by if each item, alone, makes its best move."""
    here = pt.expected_loss(labels, draws, loss=loss)[0]
    rises = np.empty(labels.size)
    for item, home in enumerate(labels):
        targets = [k for k in range(labels.max() + 2) if k != home]
        if (labels == home).sum() == 1:
            targets.pop()  # a new cluster is no move of an item that is alone
        moved = np.tile(labels, (len(targets), 1))
        moved[:, item] = targets
        rises[item] = pt.expected_loss(moved, draws, loss=loss).min() - here
    return rises


@pytest.mark.parametrize("loss", [pt.VI(), pt.ID()], ids=repr)
def test_margins_are_those_of_the_partition_that_restarts_and_attempts_end_at(loss):
    draws = flat(24, 1)
    search = LocalSearch(problem_from_draws(draws, loss), None, np.random.default_rng(0))
    search.sweep()
    for change in (lambda: search.iterate(Patience(4)), search.split, lambda: search.eject(16)):
        change()
        assert search.scratch.margin == pytest.approx(
            cheapest_moves(search.labels, draws, loss), abs=1e-9
        )


def swapped(labels: np.ndarray) -> np.ndarray:
    """Every partition in which two items of different clusters have changed places."""
    first, second = np.nonzero(labels[:, None] < labels)
    rows = np.tile(labels, (first.size, 1))
    each = np.arange(first.size)
    rows[each, first], rows[each, second] = labels[second], labels[first]
    return rows


@pytest.mark.parametrize(
    ("make", "loss"),
    [
        *((problem_from_draws, loss) for loss in (pt.ID(), pt.NVI(), pt.OneMinusARI())),
        (lists_from_draws, pt.ID()),
    ],
)
def test_exchanges_keep_sizes_and_end_where_no_two_items_gain_by_changing_places(make, loss):
    draws = flat(14, 3)
    start = pt.canonical(np.arange(14) // 3)
    search = LocalSearch(make(draws, loss), start, np.random.default_rng(0))
    search.exchange_pairs()
    ended = search.labels
    value = pt.expected_loss(ended, draws, loss=loss)[0]
    assert search.loss == pytest.approx(value)
    assert value < pt.expected_loss(start, draws, loss=loss)[0]
    assert sorted(np.bincount(ended)) == sorted(np.bincount(start))
    assert pt.expected_loss(swapped(ended), draws, loss=loss).min() >= value - 1e-12


def test_no_two_items_of_an_estimate_under_id_gain_by_changing_places():
    """One large cluster among singletons: which items are in it, single moves cannot find."""
    rng = np.random.default_rng([206, 1])
    truth = rng.integers(0, 8, 90)
    labels = np.where(rng.random((150, 90)) < 0.7, rng.integers(0, 10, (150, 90)), truth)
    draws = pt.Draws(labels)
    found = pt.estimate(draws, loss="id", bound=None)
    others = pt.expected_loss(swapped(found.labels), draws, loss="id")
    assert others.min() >= found.expected_loss - 1e-12


@pytest.mark.parametrize("loss", [pt.VI(), pt.Binder(1.2), pt.VILowerBound(), pt.NID()], ids=repr)
@pytest.mark.parametrize(
    "constraints",
    [Constraints(), Constraints(max_clusters=3), Constraints(4), Constraints(None, 5)],
    ids=["free", "max_clusters", "n_clusters", "min_size"],
)
def test_restarts_only_go_down_within_the_constraints_and_keep_the_sums(loss, constraints):
    draws = flat(24, 1)
    problem = problem_from_draws(draws, loss) if loss.name != "vi_lb" else None
    if loss.uses_similarity:
        problem = problem_from_similarity(pt.similarity(draws), loss)
    rng = np.random.default_rng(0)
    start = repair(problem, pt.canonical(np.arange(24) % 4), constraints, rng)
    search = LocalSearch(problem, start, rng, constraints)
    search.sweep()
    for _ in range(3):
        before = search.loss
        assert search.iterate(Patience(8)) >= 8
        assert search.loss <= before + 1e-12
        assert constraints.allow(search.labels)
        fresh = pt.expected_loss(search.labels, draws, loss=loss)[0]
        assert search.loss == pytest.approx(fresh, abs=1e-11)


@pytest.mark.parametrize(
    ("kind", "seed", "loss", "best"),
    [
        (intervals, 22, pt.VI(), 1.3174663344170028),
        (intervals, 30, pt.Binder(), 0.281373501781665),
        (ring, 39, pt.VI(), 1.3757202721338544),
        (ring, 53, pt.Binder(), 0.11946252703354598),
        (crossed, 1, pt.ID(), 1.3952457148485176),
        (crossed, 53, pt.NID(), 0.5383615727232879),
        (two_modes, 19, pt.NID(), 0.3999217032378347),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_ordered_items_and_crossing_modes_end_at_the_best_known_loss(kind, seed, loss, best):
    """An earlier search ended 0.1% to 0.9% above it in four of these, after its starts had met."""
    rng = np.random.default_rng([seed, 11])
    n_items, n_draws = int(rng.integers(24, 61)), int(rng.integers(20, 61))
    found = pt.estimate(kind(n_items, n_draws, rng), loss=loss, bound=None)
    # Where modes cross, seeds of ID differ by 0.2%.
    assert found.expected_loss <= best * (1.0 + (2e-3 if loss == pt.ID() else 1e-3))
