"""Representatives, modes and p-values: by enumeration and definition, on planted draws."""

import os
import pickle
import signal
import time
from dataclasses import replace

import numpy as np
import pytest

import partita as pt
from partita.representative import k_medians
from partita.representative.k_medians import EFFORTS, group_bound, spectral_bound, stratum_bound
from partita.representative.modes import find_peaks, neighbour_graph
from partita.representative.representatives import halves
from partita.scan import block_of
from reference import representatives as reference
from simulated import FIVE, labels_around, renewed_chains
from stored import PAPER_DRAWS, needs_paper_draws

KNOWN = {
    ("vi", 1): 0.6754887502,
    ("vi", 2): 1 / 3,
    ("vi", 3): 0.2,
    ("binder", 1): 7 / 45,
    ("binder", 2): 4 / 45,
    ("binder", 3): 1 / 18,
}


@pytest.fixture(scope="module")
def all_six() -> np.ndarray:
    return np.array(list(pt.lattice.all_partitions(6)))


@pytest.mark.parametrize(("loss", "n"), KNOWN)
def test_known_values(loss, n):
    found = pt.representatives(FIVE, n=n, loss=loss)
    assert found.distance == pytest.approx(KNOWN[loss, n], abs=1e-9)
    assert found.lower_bound is not None
    assert found.lower_bound <= found.distance


def test_two_sets_are_optimal_and_one_of_them_is_found(all_six):
    apart = pt.pairwise_distances(all_six, FIVE)
    lowest, sets = reference.best_sets(apart, np.full(5, 0.2), 2)
    assert lowest == pytest.approx(1 / 3)
    assert len(sets) == 2
    found = {row.tobytes() for row in pt.canonical(pt.representatives(FIVE, n=2).labels)}
    assert found in [{pt.canonical(all_six[i]).tobytes() for i in chosen} for chosen in sets]


def random_draws(seed: int, *, weighted: bool) -> pt.Draws:
    """Draws of five items around two partitions."""
    rng = np.random.default_rng(seed)
    modes = rng.integers(0, 3, (2, 5))
    labels = modes[rng.integers(0, 2, 9)]
    noise = rng.random(labels.shape) < 0.3
    labels = np.where(noise, rng.integers(0, 4, labels.shape), labels)
    return pt.Draws(labels, weights=rng.gamma(0.7, size=9) + 0.01 if weighted else None)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", ["vi", "binder", "nid"])
def test_enumeration(seed, loss):
    """Every set of n partitions of five items: the search finds the best, the bound is below it."""
    draws = random_draws(seed, weighted=bool(seed % 2))
    everything = np.array(list(pt.lattice.all_partitions(5)))
    apart = pt.pairwise_distances(everything, draws, loss=loss)
    for n in (2, 3):
        if n > draws.unique().n_draws:
            continue
        lowest, _ = reference.best_sets(apart, draws.probabilities, n)
        found = pt.representatives(draws, n=n, loss=loss)
        assert found.distance == pytest.approx(lowest, abs=1e-9)
        assert found.lower_bound is not None
        assert found.lower_bound <= lowest + 1e-12
        assert found.gap == 0.0
        distinct = draws.unique()
        some = np.arange(distinct.n_draws, dtype=float)  # the bound holds for any order of draws
        measure = {"vi": pt.VI(), "binder": pt.Binder(), "nid": pt.NID()}[loss]
        region = np.zeros(distinct.n_draws, np.int64)
        for effort in EFFORTS.values():
            assert group_bound(distinct, n, measure, some, effort.grouping, 1) <= lowest + 1e-12
        for size in (4, 9):
            assert spectral_bound(distinct, n, measure, region, some, size, 1) <= lowest + 1e-12


def test_eigenvalues_prove_no_more_than_the_best_split():
    """All splits of seven weighted draws, everyone sharing with everyone in his block."""
    for seed in range(3):
        draws = random_draws(seed, weighted=True)[:7]
        apart, mass = pt.pairwise_distances(draws), draws.probabilities
        for n in (2, 3, 7):
            proven = stratum_bound(apart, mass, n=n)
            listed = reference.shared_cost(apart, mass, n)
            assert proven <= listed + 1e-12
            if n < 7:
                assert proven == pytest.approx(reference.eigenvalue_cost(apart, mass, n), abs=1e-12)
        # One partition serves them all: nothing is lost.
        alone = stratum_bound(apart, mass, n=1)
        assert alone == pytest.approx(reference.shared_cost(apart, mass, 1))


@pytest.mark.parametrize("loss", [pt.VI(), pt.NID()])
@pytest.mark.parametrize(
    ("n_items", "most"), [(7, 3), (7, 7), (40, 3), (40, 15), (40, 40), (128, 4), (129, 4), (300, 9)]
)
def test_distances_among_are_the_pairwise_ones(loss, n_items, most):
    """To the last bit: few clusters in tables, many walked."""
    draws = pt.Draws(np.random.default_rng(0).integers(0, most, (9, n_items)))
    expected = pt.pairwise_distances(draws, loss=loss)
    block = block_of(draws, slice(0, 9))
    np.testing.assert_array_equal(k_medians.distances_within(block, loss), expected)


@needs_paper_draws
@pytest.mark.parametrize(("n", "known", "proven"), [(2, 0.9053688, 0.78), (5, 0.8615849, 0.69)])
def test_the_galaxies(n, known, proven):
    labels = np.load(PAPER_DRAWS / "galaxy.npz")["labels"]
    found = pt.representatives(labels, n=n)
    assert found.distance < known + 5e-8
    assert found.lower_bound is not None
    assert found.lower_bound > proven
    # An independent recomputation of everything that is reported.
    apart = pt.pairwise_distances(found.labels, labels)
    assert found.distance == pytest.approx(apart.min(axis=0).mean())
    np.testing.assert_allclose(found.distances, apart.min(axis=0), atol=1e-10)
    np.testing.assert_allclose(apart[found.assignment, np.arange(10_000)], found.distances)
    np.testing.assert_allclose(np.bincount(found.assignment) / 10_000, found.weights)
    assert (np.diff(found.weights) <= 0).all()
    for r in range(n):
        mine = apart[r, found.assignment == r]
        assert found.expected_loss[r] == pytest.approx(mine.mean())
        assert np.mean(mine <= found.radius[r] + 1e-9) >= 0.95
        assert np.mean(mine < found.radius[r] - 1e-9) < 0.95


def two_modes(per_chain: int = 60) -> pt.Draws:
    """Four chains of noisy copies: three of one partition, one of another."""
    rng = np.random.default_rng(0)
    modes = np.array([np.repeat([0, 1, 2], 6), np.tile([0, 1, 2], 6)])
    chain = np.repeat(np.arange(4), per_chain)
    labels = modes[(chain == 3).astype(int)]
    redrawn = rng.random(labels.shape) < 0.05
    return pt.Draws(np.where(redrawn, rng.integers(0, 3, labels.shape), labels), chain=chain)


def test_chains_in_different_modes():
    found = pt.representatives(two_modes())
    assert found.n == 2
    assert found.curve is not None
    np.testing.assert_allclose(found.weights, [0.75, 0.25])
    np.testing.assert_allclose(found.chains, [[1, 0], [1, 0], [1, 0], [0, 1]])
    assert found.chain_assignment is not None
    assert found.chain_assignment.tolist() == [0, 0, 0, 1]
    assert found.chains_are_separate
    assert "chains 0, 1, 2 to 0; chain 3 to 1" in " ".join(str(found).split())
    assert found.region(1).n_draws == 60
    np.testing.assert_allclose(found.similarity(1), pt.similarity(two_modes().select_chains(3)))


def test_one_is_enough_for_noise_around_one_truth():
    labels = labels_around(np.repeat([0, 1, 2], 8), 400, seed=3, redrawn=0.05, k=3)
    found = pt.representatives(labels)
    assert found.n == 1
    assert "(variation of information)" in " ".join(str(found).split())
    best = pt.estimate(labels)
    assert found.distance == pytest.approx(best.expected_loss)
    assert found.lower_bound == pytest.approx(best.lower_bound)


def test_weights_stand_for_repeated_draws():
    counts = [3, 1, 2, 5, 1]
    repeated = pt.representatives(np.repeat(FIVE, counts, axis=0), n=2)
    weighted = pt.representatives(pt.Draws(FIVE, weights=counts), n=2)
    np.testing.assert_array_equal(repeated.labels, weighted.labels)
    np.testing.assert_allclose(repeated.weights, weighted.weights)
    assert repeated.distance == pytest.approx(weighted.distance)
    assert repeated.lower_bound == pytest.approx(weighted.lower_bound)


def test_ties_go_to_the_smaller_expected_loss():
    """The third draw lies halfway between two of one and one of the other."""
    a, between, b = [0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 2, 3]
    draws = [a, a, a, b, b, between]
    found = pt.representatives(draws, n=2)
    assert found.distance == pytest.approx(1 / 6)
    assert found.assignment.tolist() == [0, 0, 0, 1, 1, 0]


@pytest.mark.parametrize("correlated", [1.0, 4.0, 100.0])
def test_halves_hold_every_chain_and_leave_gaps(correlated):
    draws = two_modes()
    gap = min(int(3 * (correlated - 1)), 60 // 4)
    held_out = []
    for fit, held, block in halves(draws, correlated):
        held_out += held.tolist()
        assert draws.chain is not None
        for rows in (fit, held):
            assert np.unique(draws.chain[rows]).size == 4
        assert all(np.ptp(held[block == b]) == (block == b).sum() - 1 for b in np.unique(block))
        apart = np.abs(fit[:, None] - held)[draws.chain[fit][:, None] == draws.chain[held]]
        assert apart.min() > gap // 2
    assert sorted(held_out) == list(range(240))


@pytest.mark.parametrize("renewed", [1.0, 0.2, 0.05])
def test_noise_around_one_truth_needs_one_representative(renewed):
    """Fresh draws are 2 to 3% nearer to two: less than the 5% that each must bring."""
    for seed in range(5):
        chains = renewed_chains(np.random.default_rng(seed), 250, noise=0.15, renewed=renewed)
        found = pt.representatives(pt.as_draws(chains), bound=None)
        assert found.n == 1
        assert found.curve is not None
        assert 1 - found.curve.held_out[1] / found.curve.held_out[0] < 0.05


def test_a_gain_that_is_stated_holds_on_fresh_draws():
    rng = np.random.default_rng(0)
    modes = np.array([np.repeat([0, 1, 2], 8), np.tile([0, 1, 2], 8)])

    def drawn(n: int) -> np.ndarray:
        labels = modes[(rng.random(n) < 0.3).astype(int)]
        return np.where(rng.random(labels.shape) < 0.1, rng.integers(0, 3, labels.shape), labels)

    found = pt.representatives(drawn(600))
    assert found.n == 2
    fresh = drawn(2_000)
    alone = pt.pairwise_distances([pt.estimate(found.draws, bound=None).labels], fresh).mean()
    gain = 1 - pt.pairwise_distances(found.labels, fresh).min(axis=0).mean() / alone
    stated = 1 - found.curve.held_out[1] / found.curve.held_out[0]
    assert stated == pytest.approx(gain, abs=0.03)


@pytest.mark.parametrize("n", [None, 3])
def test_ctrl_c_keeps_the_best_so_far(n, monkeypatch, ctrl_c):
    """Ctrl-C arrives while centres are looked for: the answer says that it was cut short."""
    descend, calls = k_medians.Lloyd.descend, []

    def interrupted(self, *arguments):
        calls.append(arguments)
        if len(calls) == 1:
            time.sleep(0.2)  # until the main thread waits
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.5)  # until it has heard
        return descend(self, *arguments)

    monkeypatch.setattr(k_medians.Lloyd, "descend", interrupted)
    labels = np.random.default_rng(0).integers(0, 40, (60, 40))
    found = pt.representatives(labels, n=n, bound=None, progress=False)
    assert found.interrupted
    assert calls
    assert found.distances.shape == (60,)


def test_after_ctrl_c_in_the_first_estimate_the_others_are_short(monkeypatch):
    """Both halves and all draws are searched for one point: two searches came after Ctrl-C."""
    limits = []

    def first_is_interrupted(draws, *, time_limit, **options):
        limits.append(time_limit)
        found = pt.estimate(draws, time_limit=time_limit, **options)
        return replace(found, search=replace(found.search, interrupted=True))

    monkeypatch.setattr("partita.representative.representatives.estimate", first_is_interrupted)
    labels = np.random.default_rng(0).integers(0, 4, (60, 12))
    assert pt.representatives(labels, progress=False).interrupted
    assert limits[0] is None
    assert len(limits) > 1
    assert all(limit <= 0.1 for limit in limits[1:])


# ------------------------------------------------------------------------------- modes and p-values


ONE = np.repeat([0, 1, 2], 8)
FAR = np.tile([0, 1, 2], 8)
NEAR = np.where(np.arange(24) >= 20, 0, ONE)


def planted(modes, which, seed: int, noise: float = 0.05) -> np.ndarray:
    """Independent noise around planted partitions."""
    labels = np.array(modes)[which]
    rng = np.random.default_rng(seed)
    return np.where(rng.random(labels.shape) < noise, rng.integers(0, 3, labels.shape), labels)


def test_births_and_deaths_count_the_pieces_at_every_level():
    rng = np.random.default_rng(0)
    for seed in range(5):
        points = rng.random((60, 2))
        apart = np.sqrt(np.square(points[:, None] - points[None]).sum(axis=2))
        graph = neighbour_graph(apart, 3)
        score = np.exp(-(3.0 + seed) * apart).sum(axis=1)
        peaks = find_peaks(score, graph)
        for level in score:
            alive = int(((peaks.birth >= level) & (peaks.death < level)).sum())
            assert alive == reference.components(level, score, graph)
        assert (peaks.persistence >= 0).all()
        assert (peaks.persistence <= 1).all()
        assert peaks.persistence[0] == 1.0


@pytest.mark.parametrize("noise", [0.03, 0.15, 0.4])
def test_unimodal_draws_have_one_mode(noise):
    found = pt.modes(planted([ONE], np.zeros(400, int), seed=1, noise=noise))
    assert found.n == 1
    assert found.weights.tolist() == [1.0]
    assert found.counts.max() == 1


def test_noise_as_wide_as_what_tells_modes_apart():
    """Ten of 24 items tell them apart, a fifth of all labels is redrawn."""
    which = (np.arange(500) % 10 >= 7).astype(int)
    other = np.where(np.arange(24) >= 14, 0, ONE)
    found = pt.modes(planted([ONE, other], which, seed=1, noise=0.2))
    assert found.n == 2
    np.testing.assert_allclose(found.weights, [0.7, 0.3], atol=0.1)
    assert [int(mine.sum()) for mine in found.stands_out] == found.counts.tolist()


@pytest.mark.parametrize("other", [FAR, NEAR])
def test_two_planted_modes_at_their_masses(other):
    which = (np.arange(500) % 10 >= 7).astype(int)
    chain = which.copy()
    found = pt.modes(pt.Draws(planted([ONE, other], which, seed=2), chain=chain))
    assert found.n == 2
    np.testing.assert_allclose(found.weights, [0.7, 0.3], atol=0.03)
    assert pt.distance(found.labels[0], ONE) == pytest.approx(0.0)
    assert pt.distance(found.labels[1], other) == pytest.approx(0.0)
    np.testing.assert_allclose(found.chains, np.eye(2), atol=0.05)
    assert found.explain(1).distance == pytest.approx(pt.distance(ONE, other))


@pytest.mark.parametrize(("noise", "renewed"), [(0.4, 0.05), (0.4, 0.02)])
def test_correlated_draws_of_one_mode_have_one_mode(noise, renewed):
    """Draws that follow each other are close; so are draws and their copies with one item moved."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        chains = renewed_chains(rng, 1_000, noise=noise, renewed=renewed)
        assert pt.modes(pt.as_draws(chains)).n == 1


def test_a_mode_is_found_in_several_chains_or_holds_one():
    for which, n in (([0, 0, 0, 1], 2), ([0, 1, 0, 1], 2), ([0, 0, 0, 0], 1)):
        chain = np.repeat(range(4), 200)
        labels = planted([ONE, NEAR], np.repeat(which, 200), seed=1)
        assert pt.modes(pt.Draws(labels, chain=chain)).n == n
    visit = np.zeros(800, int)
    visit[300:350] = 1  # one chain, once
    assert pt.modes(pt.Draws(planted([ONE, FAR], visit, seed=1), chain=chain)).n == 1
    visit[500:550] = 1
    assert pt.modes(pt.Draws(planted([ONE, FAR], visit, seed=1), chain=chain)).n == 2
    alone = pt.modes([[0, 0, 1]])
    assert (alone.n, alone.labels.tolist()) == (1, [[0, 0, 1]])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [("111111", 1 / 6), ("123456", 1 / 6), ("112233", 1), ("111222", 1), ("112333", 1)],
)
def test_known_p_values(labels, expected):
    assert pt.p_value(FIVE, list(labels), rate=0.5) == pytest.approx(expected)


@pytest.mark.parametrize("loss", ["vi", "binder"])
@pytest.mark.parametrize("rate", [0.3, 2.0])
def test_the_definition(loss, rate):
    rng = np.random.default_rng(0)
    draws = rng.integers(0, 3, (15, 7))
    apart = pt.pairwise_distances(draws, loss=loss)
    ready = pt.conformal_set(draws, loss=loss, rate=rate)
    for labels in rng.integers(0, 4, (6, 7)):
        to_draws = pt.pairwise_distances([labels], draws, loss=loss)[0]
        expected = reference.conformal_p(apart, to_draws, rate)
        assert ready.p_value(labels) == pytest.approx(expected)


def test_without_a_rate_all_are_reported_and_one_is_quoted():
    draws = pt.Draws(np.random.default_rng(1).integers(0, 3, (30, 8)), chain=np.arange(30))
    p = pt.p_value(draws, draws[0])
    apart = pt.pairwise_distances(draws)[np.triu_indices(30, 1)]
    assert p.rate == pytest.approx(1.0 / np.median(apart))
    assert p.rates.size == p.values.size == 6
    assert float(p) == p.values[1]
    for rate, value in zip(p.rates, p.values, strict=True):
        assert pt.p_value(draws, draws[0], rate=rate) == pytest.approx(value)
    assert "all 30 draws" in str(p)
    again = pickle.loads(pickle.dumps(p))
    assert (float(again), again.drawn) == (float(p), p.drawn)


def noisy(rng: np.random.Generator, n_draws: int) -> np.ndarray:
    """Independent draws around one of two partitions."""
    modes = np.array([np.repeat([0, 1, 2], 4), np.repeat([0, 1], 6)])
    labels = modes[(rng.random(n_draws) < 0.3).astype(int)]
    return np.where(rng.random(labels.shape) < 0.2, rng.integers(0, 4, labels.shape), labels)


@pytest.mark.parametrize("options", [{"rate": 1.0}, {}, {"method": "ball"}])
def test_coverage_of_exchangeable_draws(options):
    """One more draw has p ≤ α with probability at most α, and not much less.

    Judged within three standard errors; ties make p larger, never smaller.
    """
    rng = np.random.default_rng(2)
    found = np.empty(100 if "method" in options else 400)
    for k in range(found.size):
        draws = noisy(rng, 40)
        ready = pt.conformal_set(pt.Draws(draws[:39], chain=np.arange(39)), **options)
        found[k] = ready.p_value(draws[39])
    for level in (0.1, 0.2, 0.5):
        slack = 3.0 * np.sqrt(level * (1 - level) / found.size)
        assert np.mean(found <= level) <= level + slack
    assert np.mean(found <= 0.5) >= 0.3


@pytest.mark.parametrize("stays", [0.5, 0.9])
def test_coverage_of_draws_of_correlated_chains(stays):
    """A further draw of the posterior, after a chain that stays with this probability."""
    found = np.empty(200)
    for k in range(found.size):
        rng = np.random.default_rng(k)
        draws, moves = noisy(rng, 301), rng.random(300) >= stays
        chain = draws[np.maximum.accumulate(np.where(moves, np.arange(300), 0))]
        found[k] = pt.p_value(chain, draws[300])
    for level in (0.1, 0.2, 0.5):
        slack = 3.0 * np.sqrt(level * (1 - level) / found.size)
        assert level - 2 * slack <= np.mean(found <= level) <= level + slack


def test_thinning_is_said():
    rng = np.random.default_rng(0)
    labels = noisy(rng, 1)[0]
    chain = []
    for _ in range(600):  # each draw changes a tenth of the items of the one before
        labels = np.where(rng.random(labels.size) < 0.1, rng.integers(0, 3, labels.size), labels)
        chain.append(labels)
    p = pt.p_value(chain, labels)
    assert p.n_draws < 300
    assert "as they are correlated" in p.drawn
    assert pt.p_value(chain, labels, max_draws=20).n_draws <= 20
    weighted = pt.Draws(chain, weights=rng.gamma(1.0, size=600) + 0.01)
    kish = 1.0 / np.square(weighted.probabilities).sum()
    ranked = pt.p_value(weighted, labels)
    assert ranked.n_draws == round(kish)
    assert "weighted" in ranked.drawn


def test_ball_scores_by_distance_to_the_estimate():
    draws = noisy(np.random.default_rng(5), 25)
    center = np.repeat([0, 1, 2], 4)
    far = pt.pairwise_distances([center], draws)[0]
    for labels in noisy(np.random.default_rng(6), 5):
        own = pt.distance(labels, center)
        expected = (1 + np.sum(far >= own - 1e-9)) / 26
        found = pt.p_value(draws, labels, method="ball", estimate=center)
        assert found == pytest.approx(expected)
        assert found.rate is None
    assert pt.p_value(draws, center, method="ball", estimate=center) == 1.0
