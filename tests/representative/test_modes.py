"""Modes: peaks by their definition, one on unimodal draws, planted ones at their masses."""

import numpy as np
import pytest

import partita as pt
from partita.representative.modes import find_peaks, neighbour_graph
from reference import representatives as reference
from simulated import renewed_chains

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
