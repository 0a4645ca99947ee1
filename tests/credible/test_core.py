"""Credible cores against every set of items, and their laws."""

import _thread
import threading

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import partita as pt
from partita.credible import core_search
from partita.errors import InvalidInputError, MemoryLimitError, NotSupportedError
from partita.labels import by_size
from partita.posterior import Posterior
from reference import uncertainty as reference
from simulated import FIVE
from strategies import posteriors


@settings(max_examples=60)
@given(posteriors(most=6, draws=7), st.sampled_from([0.2, 0.5, 0.6, 0.75, 0.9, 1.0]))
def test_the_largest_set_by_enumeration(case, prob):
    rows, weights = case
    core = pt.credible_core(pt.Draws(rows, weights=weights), prob=prob, held_out=False)
    best = [float(p) for p in reference.best_by_size(rows, weights)]
    size = max(k for k, p in enumerate(best, start=1) if p >= prob - 1e-9)
    assert core.size == size
    assert core.is_proven
    assert core.upper_bound == size
    assert prob - 1e-9 <= core.in_sample_probability <= best[size - 1] + 1e-12
    assert np.isnan(core.probability)
    assert (core.in_sample_curve <= np.array(best) + 1e-12).all()
    assert (np.diff(core.in_sample_curve) <= 0).all()
    assert core.in_sample_curve[core.size - 1] >= core.in_sample_probability - 1e-12
    assert core.auchips == pytest.approx(core.in_sample_curve.mean())


@settings(max_examples=60)
@given(posteriors(most=6, draws=7), st.sampled_from([0.2, 0.5, 0.6, 0.75, 0.9, 1.0]))
def test_upper_bounds_that_know_of_no_core(case, prob):
    """By branch and bound the largest set itself; by colours, for many items, never less."""
    rows, weights = case
    posterior = Posterior(pt.Draws(rows, weights=weights))
    best = [float(p) for p in reference.best_by_size(rows, weights)]
    size = max(k for k, p in enumerate(best, start=1) if p >= prob - 1e-9)
    asked = posterior, prob, 1, 1e9, np.zeros(1, np.bool_), np.inf
    bound, larger = core_search.bound_size(*asked)
    assert bound == size
    assert size == (1 if larger is None else (larger >= 0).sum())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core_search, "_PAIR_BYTES", -1)
        assert core_search.bound_size(*asked)[0] >= size


FORKED = ["000000", "000000", "000001", "000100", "000110", "000120"]
"""Half of the draws have the fourth item apart, but the grouping of the most has it with others."""


def of_part(draws, mask):
    """Rows and weights of some of the draws, as the reference implementation takes them."""
    weights = None if draws.weights is None else draws.weights[mask].tolist()
    return draws.labels[mask].tolist(), weights


@settings(max_examples=80)
@given(posteriors(most=6, draws=7), st.sampled_from([0.1, 0.3, 0.5]), st.booleans())
@example(([[int(c) for c in row] for row in FORKED], None), 0.3, False)
def test_what_a_core_says_of_itself(case, prob, held_out):
    rows, weights = case
    repeat = 6 if held_out else 1  # enough to state something
    draws = pt.Draws(rows * repeat, weights=None if weights is None else weights * repeat)
    core = pt.credible_core(draws, prob=prob, patience=5, held_out=held_out)
    partial = core.labels.tolist()
    assert core.agrees.tolist() == [reference.holds(row, partial) for row in draws.labels.tolist()]
    assert core.items.tolist() == [i for i, label in enumerate(partial) if label >= 0]
    assert sorted(core.path.tolist()) == list(range(draws.n_items))
    assert set(core.path[: core.size].tolist()) == set(core.items.tolist())
    assert (np.diff(core.curve) <= 1e-12).all()
    found = ~core.held_out
    assert core.in_sample_probability == pytest.approx(
        float(reference.probability(*of_part(draws, found)[:1], partial, of_part(draws, found)[1]))
    )
    measured = core.held_out if core.is_held_out else found
    if not measured.any():  # one draw: nothing to measure on
        assert core.size == 1
        return
    some, theirs = of_part(draws, measured)
    probability = float(reference.probability(some, partial, theirs))
    if held_out:
        assert core.size == 1 or prob <= core.probability_low <= core.probability + 1e-12
        assert core.probability_low <= probability + 1e-12
        assert core.curve[core.size - 1] <= core.probability + 1e-12
        assert abs(core.probability - probability) <= core.probability_mcse + 1e-12
    else:
        assert core.curve[core.size - 1] == pytest.approx(probability)
    masses = [float(m) for m in reference.masses_of(some, theirs)]
    for c, chance in zip(core.clusters.tolist(), core.cluster_probability, strict=True):
        members = {i for i in core.items.tolist() if partial[i] == c}
        first = min(members)
        inside = [
            mass
            for row, mass in zip(some, masses, strict=True)
            if {i for i in core.items.tolist() if row[i] == row[first]} == members
        ]
        assert chance == pytest.approx(sum(inside))
    for i in range(len(partial)):
        best = (
            float(reference.if_added(some, partial, i, theirs)) if partial[i] < 0 else probability
        )
        assert core.probability_with_item[i] <= best + 1e-12
        if not held_out or partial[i] >= 0:
            assert core.probability_with_item[i] == pytest.approx(best)


def test_the_example_by_enumeration():
    core = pt.credible_core(FIVE, prob=0.5, held_out=False)
    assert core.in_sample_curve.tolist() == [1.0, 1.0, 0.8, 0.6, 0.4, 0.2]
    assert [float(p) for p in reference.best_by_size(FIVE)] == core.in_sample_curve.tolist()
    assert (core.size, core.in_sample_probability) == (4, 0.6)
    sizes = [core.at(prob).size for prob in (1.0, 0.8, 0.6, 0.4, 0.2)]
    assert sizes == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("loss", ["vi", "binder", "vi_lb", pt.VI(0.5), "nvi"])
def test_completed_against_every_partition_that_agrees(loss):
    partitions = np.array(list(pt.lattice.all_partitions(7)))
    for seed in range(6):
        rng = np.random.default_rng(seed)
        truth = np.array([0, 0, 0, 1, 1, 1, 2])
        redrawn = 0.25 + 0.1 * seed
        labels = np.where(rng.random((30, 7)) < redrawn, rng.integers(0, 3, (30, 7)), truth)
        draws = pt.Draws(labels)
        core = pt.credible_core(draws, prob=0.6 - 0.08 * seed, held_out=False)
        full = core.completed(loss)
        assert core.partial.agrees(full)
        assert np.array_equal(full, by_size(full))
        agree = [p for p in partitions if core.partial.agrees(p)]
        least = pt.expected_loss(np.array(agree), draws, loss).min()
        assert pt.expected_loss(full, draws, loss)[0] == pytest.approx(least, abs=1e-12)


def test_the_same_core_for_every_number_of_threads_and_the_same_seed():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 25)
    labels = np.where(rng.random((60, 25)) < 0.2, rng.integers(0, 3, (60, 25)), truth)
    for held_out in (True, False):
        options = {"prob": 0.3, "held_out": held_out}
        one, two = (pt.credible_core(labels, n_jobs=jobs, rng=4, **options) for jobs in (1, 2))
        assert np.array_equal(one.labels, two.labels)
        assert np.array_equal(one.curve, two.curve)
        assert np.array_equal(one.in_sample_curve, two.in_sample_curve)
        stopped = pt.credible_core(labels, time_limit=1e-9, **options)
        assert stopped.size >= 1
        assert stopped.rounds == 0
        assert stopped.limits == ("time limit",)
    few = pt.credible_core(labels, prob=0.3, n_starts=3, bound=None, held_out=False)
    assert (few.n_starts, few.upper_bound, few.is_proven) == (3, 25, False)
    assert "3 of 25 seed items" in str(few)


def test_words_and_tables():
    draws = pt.Draws(FIVE, item_names=list("abcdef"))
    core = pt.credible_core(draws, prob=0.6, held_out=False)
    frame = core.to_frame()
    assert frame.index.tolist() == list("abcdef")
    assert frame["in_core"].sum() == 4
    with pytest.warns(DeprecationWarning, match="probability_with_item"):
        assert np.array_equal(core.if_added, core.probability_with_item)
    few = pt.credible_core(draws, prob=0.6)
    assert few.size == 1
    assert few.probability == 1.0
    assert "8 effective draws held out" in str(few)
    assert few.sentence == few.note
    assert pt.credible_core([[0, 1]] * 100, prob=1.0).size == 1


# Statements about the posterior: independent draws of a known law, and fresh ones.


def moving(rng, truth, rates, n):
    """Draws in which every item keeps its cluster or moves, on its own."""
    shape = (n, truth.size)
    return np.where(rng.random(shape) < rates, rng.integers(0, 5, shape), truth)


def thresholds(rng, places, n):
    """Draws of items on a line, cut at up to three uncertain places."""
    cuts = np.sort(rng.normal([-1.2, 0.0, 1.2], [0.35, 0.5, 0.6], (n, 3)), axis=1)
    cuts = np.where(rng.random((n, 3)) < [0.9, 0.6, 0.5], cuts, 99.0)
    return (places[None, :, None] > cuts[:, None, :]).sum(axis=2)


def share(core, labels):
    """Share of labels that group the items as the core does."""
    return float(np.mean([core.partial.agrees(row) for row in labels]))


TABLE = [(200, 100, 9), (200, 400, 9), (2000, 100, 3), (2000, 400, 3), (82, 500, 9)]
"""Items, draws, and replicates of the simulation."""


def test_the_probability_holds_on_fresh_draws():
    off, bias, enough, in_sample = [], [], [], []
    for n_items, n_draws, replicates in TABLE:
        for replicate in range(replicates):
            rng = np.random.default_rng([1, n_items, n_draws, replicate])
            if n_items == 82:
                places, prob = rng.normal(0.0, 1.5, n_items), 0.5
                labels, fresh = (thresholds(rng, places, n) for n in (n_draws, 600))
            else:
                truth, rates = rng.integers(0, 5, n_items), 0.3 * rng.random(n_items) ** 3
                prob = 0.9
                labels, fresh = (moving(rng, truth, rates, n) for n in (n_draws, 600))
            how = {"prob": prob, "bound": None, "n_starts": 8, "patience": 20}
            core = pt.credible_core(labels, **how)
            true = share(core, fresh)
            off.append(abs(core.probability - true))
            bias.append(core.probability - true)
            enough.append(true >= prob - 0.02)
            if replicate == 0:
                old = pt.credible_core(labels, held_out=False, **how)
                in_sample.append(share(old, fresh))
                assert core.size < old.size
                assert core.size > 1
    assert np.mean(off) < 0.03
    assert abs(np.mean(bias)) < 0.01
    assert np.mean(enough) >= 0.95
    assert min(in_sample) < 0.2  # what was stated before: 0.9


@pytest.mark.parametrize("chains", [1, 4])
def test_autocorrelated_chains_count_by_their_effective_number(chains):
    rng = np.random.default_rng(5)
    truth, rates = rng.integers(0, 4, 40), 0.3 * rng.random(40) ** 3
    cores, bias, enough = {}, [], []
    for hold in (1, 20):  # each partition is kept for that many draws
        for replicate in range(8):
            rng = np.random.default_rng([hold, replicate])
            labels = np.repeat(moving(rng, truth, rates, 1200 // hold), hold, axis=0)
            draws = pt.Draws(labels, chain=np.repeat(np.arange(chains), 1200 // chains))
            core = pt.credible_core(draws, prob=0.8, bound=None, patience=20)
            cores.setdefault(hold, []).append((core.size, core.n_effective))
            true = share(core, moving(rng, truth, rates, 1000))
            bias.append(core.probability - true)
            enough.append(true >= 0.78)
    assert np.mean(enough) >= 0.95
    assert abs(np.mean(bias)) < 0.03
    assert np.mean([n for _, n in cores[1]]) > 500
    assert np.mean([n for _, n in cores[20]]) < 60
    assert np.mean([size for size, _ in cores[20]]) < np.mean([size for size, _ in cores[1]])


def test_whole_chains_are_held_out():
    rng = np.random.default_rng(0)
    labels = moving(rng, np.arange(12) % 4, 0.02, 400)
    chain = rng.permutation(np.repeat(list("abcd"), 100))
    core = pt.credible_core(pt.Draws(labels, chain=chain))
    assert core.held_out.sum() == 200
    halves = {frozenset(chain[core.held_out]), frozenset(chain[~core.held_out])}
    assert halves == {frozenset("ac"), frozenset("bd")}
    # Chains that are stuck apart: what one states, the others refute.
    labels = np.where(np.repeat([True, False], 200)[:, None], np.arange(12) % 4, np.arange(12) // 3)
    stuck = pt.credible_core(pt.Draws(labels, chain=np.repeat([0, 1], 200)))
    assert stuck.size < 6
    first, second = pt.credible_core(labels).held_out.reshape(2, 200)
    assert (first.all() and not second.any()) or (second.all() and not first.any())


def test_error_and_limit_of_the_probability():
    rng = np.random.default_rng(0)
    labels = np.where(rng.random((400, 1)) < 0.8, [[0, 0, 1]], [[0, 1, 1]])
    for weights in (None, np.ones(400)):
        core = pt.credible_core(pt.Draws(labels, weights=weights), prob=0.6)
        assert core.size == 3
        p, n = core.agrees[core.held_out].mean(), 200
        assert core.n_effective == pytest.approx(n)
        both = core.agrees.mean()  # the same grouping, both ways
        assert core.probability == pytest.approx(both)
        wanted = max(np.sqrt(both * (1 - both) / 400), abs(p - both))
        assert core.probability_mcse == pytest.approx(wanted, rel=0.02)
        # Clopper and Pearson: so low a probability gives as many agreeing draws in 2.5%.
        k = np.arange(round(p * n), n + 1)
        assert binom.pmf(k, n, core.probability_low).sum() == pytest.approx(0.025, rel=1e-6)
    same = pt.credible_core([[0, 1]] * 100)
    assert (same.size, same.probability) == (2, 1.0)
    assert same.probability_low == pytest.approx(0.025 ** (1 / 50))
    assert 0.0 < same.probability_mcse < 0.03
    assert pt.credible_core([[0, 1]]).size == 1


def test_shares_of_an_ensemble():
    runs = pt.Draws(FIVE, kind="ensemble")
    core = pt.credible_core(runs, prob=0.6)
    assert (core.size, core.probability, core.is_held_out) == (4, 0.6, False)
    assert "in 60% of the runs" in core.sentence
    for rows in (runs, pt.Draws(FIVE).reweighted("entropy", 1.0)):
        with pytest.raises(InvalidInputError, match="not a sample") as caught:
            pt.credible_core(rows, held_out=True)
        assert caught.value.argument == "held_out"
        assert not pt.credible_core(rows).is_held_out


def test_numbers_of_the_estimate():
    rng = np.random.default_rng(3)
    labels = moving(rng, np.repeat([0, 1, 2, 3], [3, 4, 5, 6]), 0.01, 400)
    estimate = np.repeat([2, 0, 3, 1], [3, 4, 5, 6])
    core = pt.credible_core(labels, estimate=estimate)
    assert core.size > 6
    inside = core.items
    assert np.array_equal(core.labels[inside], estimate[inside])
    assert core.clusters.tolist() == sorted(set(estimate[inside].tolist()))
    assert core.cluster_probability.size == core.n_clusters
    assert core.at(0.5).labels.max() == 3
    split = pt.credible_core(labels, estimate=np.zeros(18, int))  # three have no counterpart
    assert split.clusters.tolist() == list(range(split.n_clusters))
    summary = pt.summarize(labels, bound=None)
    inside = summary.core.items
    assert np.array_equal(summary.core.labels[inside], summary.labels[inside])


def test_a_time_limit_and_an_interrupt_bind_every_step():
    rng = np.random.default_rng(0)
    flat = rng.integers(0, 300, (60, 600))
    core = pt.credible_core(flat, time_limit=0.5, bound="tight", held_out=False)
    assert core.limits == ("time limit",)
    assert core.in_sample_probability >= 0.9
    timer = threading.Timer(1.0, _thread.interrupt_main)
    timer.start()
    core = pt.credible_core(flat, bound="tight")
    assert core.limits == ("interrupt",)
    assert core.size >= 1


def test_a_core_is_completed_under_losses_of_cluster_sizes():
    evaluated = pt.CallableLoss(lambda a, b: pt.distance(a, b))
    with pytest.raises(NotSupportedError, match=r"'vi'.*expected_loss") as caught:
        pt.credible_core(pt.Draws(FIVE)).completed(loss=evaluated)
    assert caught.value.argument == "loss"


def test_a_table_of_items_and_clusters_that_does_not_fit_is_refused_first(monkeypatch):
    draws = pt.Draws(np.tile(np.arange(300), (4, 1)))
    monkeypatch.setattr("partita._resources.available_memory", lambda: 2_000_000)
    assert pt.credible_core(draws, n_jobs=1, bound=None, n_starts=1, held_out=False).size == 300
    with pytest.raises(MemoryLimitError, match=r"300 clusters by 2 threads needs 2\.8 MiB"):
        pt.credible_core(draws, n_jobs=2)
