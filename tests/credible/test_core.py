"""Credible cores against every set of items, and their laws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita as pt
from partita.credible.core_search import grow_path, prepare
from partita.errors import InvalidInputError, NotSupportedError
from partita.kernels.credible.agreement import bits_weight, colour_classes, pack_pairs
from partita.losses.posterior import as_posterior
from reference import core as twin
from reference.partitions import first_appearance
from strategies import label_vectors

FIVE = [[int(c) for c in row] for row in ("112233", "112223", "111222", "112222", "122333")]


@st.composite
def posteriors(draw, most=6):
    n = draw(st.integers(1, most))
    rows = draw(st.lists(label_vectors(n), min_size=1, max_size=7))
    weights = draw(st.none() | st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))
    return rows, weights


@settings(deadline=None, max_examples=60)
@given(posteriors(), st.sampled_from([0.2, 0.5, 0.6, 0.75, 0.9, 1.0]))
def test_the_largest_set_by_enumeration(case, prob):
    rows, weights = case
    core = pt.credible_core(pt.Draws(rows, weights=weights), prob=prob)
    best = [float(p) for p in twin.best_by_size(rows, weights)]
    size = max(k for k, p in enumerate(best, start=1) if p >= prob - 1e-9)
    assert core.size == size
    assert core.is_proven
    assert core.upper_bound == size
    assert prob - 1e-9 <= core.probability <= best[size - 1] + 1e-12
    assert (core.curve <= np.array(best) + 1e-12).all()
    assert (np.diff(core.curve) <= 0).all()
    assert core.curve[core.size - 1] >= core.probability - 1e-12
    assert core.auchips == pytest.approx(core.curve.mean())


@settings(deadline=None, max_examples=60)
@given(posteriors(), st.sampled_from([0.3, 0.5, 0.8]))
def test_what_a_core_says_of_itself(case, prob):
    rows, weights = case
    draws = pt.Draws(rows, weights=weights)
    core = pt.credible_core(draws, prob=prob, patience=5)
    partial = core.labels.tolist()
    assert core.probability == pytest.approx(float(twin.probability(rows, partial, weights)))
    assert core.holds.tolist() == [twin.holds(row, partial) for row in rows]
    assert core.items.tolist() == [i for i, label in enumerate(partial) if label >= 0]
    for i in range(len(partial)):
        wanted = (
            core.probability if partial[i] >= 0 else float(twin.if_added(rows, partial, i, weights))
        )
        assert core.if_added[i] == pytest.approx(wanted)
    masses = [float(m) for m in twin.masses_of(rows, weights)]
    for c in range(core.n_clusters):
        members = {i for i in core.items.tolist() if partial[i] == c}
        first = min(members)
        inside = [
            mass
            for row, mass in zip(rows, masses, strict=True)
            if {i for i in core.items.tolist() if row[i] == row[first]} == members
        ]
        assert core.cluster_probability[c] == pytest.approx(sum(inside))
    assert sorted(core.path.tolist()) == list(range(draws.n_items))
    assert set(core.path[: core.size].tolist()) == set(core.items.tolist())
    assert core.nested[core.size - 1] == pytest.approx(core.probability)
    assert (np.diff(core.nested) <= 1e-12).all()


@settings(deadline=None, max_examples=60)
@given(posteriors(most=5))
def test_growth_against_its_slow_twin(case):
    rows, weights = case
    draws = pt.Draws(rows, weights=weights)
    posterior = prepare(as_posterior(draws))
    labels = [first_appearance(row) for row in rows]
    for first in range(draws.n_items):
        start = np.full(draws.n_items, -1, np.int32)
        start[first] = 0
        found = grow_path(posterior, start).mass / posterior.total
        wanted = [float(p) for p in twin.greedy(labels, first, weights)][1:]
        # Greedy paths part where items tie; each step is at most the best one there is.
        best = [float(p) for p in twin.best_by_size(rows, weights)][1:]
        assert (found <= np.array(best) + 1e-12).all()
        if found.size:
            assert found[0] == pytest.approx(wanted[0])


def test_the_example_by_enumeration():
    core = pt.credible_core(FIVE, prob=0.5)
    assert core.curve.tolist() == [1.0, 1.0, 0.8, 0.6, 0.4, 0.2]
    assert [float(p) for p in twin.best_by_size(FIVE)] == core.curve.tolist()
    assert (core.size, core.probability) == (4, 0.6)
    sizes = [core.at(prob).size for prob in (1.0, 0.8, 0.6, 0.4, 0.2)]
    assert sizes == [2, 3, 4, 5, 6]


def test_every_draw_the_same_is_all_core():
    core = pt.credible_core([[0, 0, 1, 2]] * 3, prob=1.0)
    assert core.size == core.upper_bound == 4
    assert core.auchips == 1.0
    assert core.labels.tolist() == [0, 0, 1, 2]
    assert core.completed().tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("loss", ["vi", "binder", "vi_lb"])
def test_completed_against_every_partition_that_agrees(loss):
    rng = np.random.default_rng(5)
    truth = np.array([0, 0, 0, 1, 1, 1, 2])
    labels = np.where(rng.random((40, 7)) < 0.25, rng.integers(0, 3, (40, 7)), truth)
    draws = pt.Draws(labels)
    core = pt.credible_core(draws, prob=0.6)
    assert 2 <= core.size < 7
    full = core.completed(loss)
    assert core.partial.agrees(full)
    assert np.array_equal(full, pt.partitions.labels.by_size(full))
    agree = [p for p in pt.all_partitions(7) if core.partial.agrees(p)]
    least = pt.expected_loss(np.array(agree), draws, loss).min()
    assert pt.expected_loss(full, draws, loss)[0] == pytest.approx(least)


def test_the_same_core_for_every_number_of_threads_and_the_same_seed():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 25)
    labels = np.where(rng.random((60, 25)) < 0.2, rng.integers(0, 3, (60, 25)), truth)
    one, two = (pt.credible_core(labels, prob=0.3, n_jobs=jobs, rng=4) for jobs in (1, 2))
    assert np.array_equal(one.labels, two.labels)
    assert np.array_equal(one.curve, two.curve)
    few = pt.credible_core(labels, prob=0.3, n_starts=3, bound=None)
    assert (few.n_starts, few.upper_bound, few.is_proven) == (3, 25, False)
    assert "3 of 25 first items" in str(few)
    stopped = pt.credible_core(labels, prob=0.3, time_limit=1e-9)
    assert stopped.size >= 1
    assert stopped.rounds == 0


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 8), st.integers(0, 2**28 - 1))
def test_colours_bound_every_clique(n, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < 0.6, 1)
    joined = upper | upper.T
    order, colour = np.empty(n, np.int64), np.empty(n, np.int64)
    colours = colour_classes(joined, n, order, colour)
    assert sorted(order.tolist()) == list(range(n))
    assert (np.diff(colour) >= 0).all()
    assert colour[-1] == colours
    of_vertex = dict(zip(order.tolist(), colour.tolist(), strict=True))
    for i, j in itertools.combinations(range(n), 2):
        assert not (joined[i, j] and of_vertex[i] == of_vertex[j])
    cliques = (
        size
        for size in range(1, n + 1)
        for some in itertools.combinations(range(n), size)
        if all(joined[i, j] for i, j in itertools.combinations(some, 2))
    )
    assert max(cliques) <= colours


def test_bits_of_pairs():
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 3, (4, 130)).astype(np.int32)
    bits = np.empty((4, 4, 3), np.uint64)
    pack_pairs(columns, bits)
    weights = np.zeros(192)
    weights[:130] = rng.random(130)
    for i, j in itertools.product(range(4), repeat=2):
        same = columns[i] == columns[j]
        assert bits_weight(bits[i, j], np.empty(0)) == same.sum()
        assert bits_weight(bits[i, j], weights) == pytest.approx(weights[:130][same].sum())


def test_error_of_the_probability():
    rng = np.random.default_rng(0)
    labels = np.where(rng.random((400, 1)) < 0.8, [[0, 0, 1]], [[0, 1, 1]])
    core = pt.credible_core(labels, prob=0.6)
    share = core.probability
    assert core.probability_mcse == pytest.approx(np.sqrt(share * (1 - share) / 400), rel=0.3)
    weighted = pt.credible_core(pt.Draws(labels, weights=np.ones(400)), prob=0.6)
    assert weighted.probability_mcse == pytest.approx(np.sqrt(share * (1 - share) / 400))
    assert np.isnan(pt.credible_core([[0, 1]]).probability_mcse)
    assert pt.credible_core([[0, 1]] * 8).probability_mcse == 0.0


def test_words_and_tables():
    draws = pt.Draws(FIVE, item_names=list("abcdef"))
    core = pt.credible_core(draws, prob=0.6)
    assert repr(core) == (
        "<CredibleCore: 4 of 6 items in 2 clusters with probability 0.6000 "
        "(asked 0.6; proven largest)>"
    )
    assert "no larger set exists" in str(core)
    assert "60% core: 4 of 6 items" in core._repr_html_()
    frame = core.to_frame()
    assert frame.index.tolist() == list("abcdef")
    assert frame["in_core"].sum() == 4


@pytest.mark.parametrize(
    "wrong",
    [{"prob": 0.0}, {"prob": 90}, {"bound": "tightest"}, {"n_starts": 0}, {"patience": 1.5}],
)
def test_wrong_wishes_are_refused(wrong):
    with pytest.raises(InvalidInputError, match=f"{next(iter(wrong))}="):
        pt.credible_core(FIVE, **wrong)


def test_a_core_is_completed_under_losses_of_cluster_sizes():
    evaluated = pt.CallableLoss(lambda a, b: pt.distance(a, b))
    with pytest.raises(NotSupportedError, match=r"'vi'.*expected_loss") as caught:
        pt.credible_core(pt.Draws(FIVE)).completed(loss=evaluated)
    assert caught.value.argument == "loss"


def test_cores_of_many_clusters():
    """More clusters than a growing core has room for at first."""
    rows = np.tile(np.arange(25), (4, 1))
    rows[0, 24] = 0
    found = pt.credible_core(rows, prob=1.0)
    assert found.size == 24
    assert found.probability == 1.0
