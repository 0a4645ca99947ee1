"""Modes at planted masses, and p-values: known values, their definitions, coverage."""

import pickle

import numpy as np
import pytest

import partita as pt
from partita.representative.modes import find_peaks, neighbour_graph
from reference import representatives as reference
from simulated import FIVE, renewed_chains

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


@pytest.mark.parametrize(("noise", "renewed"), [(0.15, 1.0), (0.4, 0.05), (0.4, 0.02)])
def test_correlated_draws_of_one_mode_have_one_mode(noise, renewed):
    """Draws that follow each other are close; so are draws and their copies with one item moved."""
    for seed in range(1 if renewed == 1.0 else 3):
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


def test_one_draw_is_one_mode():
    found = pt.modes([[0, 0, 1]])
    assert (found.n, found.labels.tolist()) == (1, [[0, 0, 1]])


# ----------------------------------------------------------------------------------------- p-values


@pytest.mark.parametrize(
    ("labels", "expected"),
    [("111111", 1 / 6), ("123456", 1 / 6), ("112233", 1), ("111222", 1), ("112333", 1)],
)
def test_known_values(labels, expected):
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
