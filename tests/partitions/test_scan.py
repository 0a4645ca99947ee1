"""Scans over blocks of draws do not depend on the number of threads or the size of blocks."""

from functools import partial

import numpy as np
import pytest

import partita as pt
from partita import _storage
from partita.scan import Block, concatenate_arrays, map_blocks, sum_arrays

RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 4, (50, 7))


def posterior(*, weighted: bool) -> pt.Draws:
    weights = RNG.random(50) + 0.1 if weighted else None
    return pt.Draws(LABELS, weights=weights, chain=np.repeat([0, 1], 25))


def tally(block: Block, *, factor: float) -> tuple[np.ndarray, np.ndarray]:
    return factor * block.counts @ block.rows, block.probabilities.sum(keepdims=True)


@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_cover_the_draws_in_order(weighted):
    draws = posterior(weighted=weighted)
    seen = list(map_blocks(lambda b: (b.labels, b.n_clusters, b.probabilities), draws, rows=7))
    labels, n_clusters, probabilities = concatenate_arrays(seen)
    assert np.array_equal(labels, draws.labels)
    assert np.array_equal(n_clusters, draws.n_clusters)
    assert np.array_equal(probabilities, draws.probabilities)
    counts, mass = sum_arrays(map_blocks(partial(tally, factor=2.0), draws, rows=7))
    weights = draws.weights if weighted else np.ones(50)
    assert counts == pytest.approx(2.0 * weights @ draws.labels)
    assert mass == pytest.approx(1.0)


@pytest.mark.parametrize("weighted", [False, True])
def test_answers_agree_on_either_side_of_one_block(weighted, monkeypatch):
    draws = posterior(weighted=weighted)
    estimate = LABELS[0]

    def answers():
        found = pt.item_uncertainty(draws, estimate)
        return [
            pt.similarity(draws),
            pt.pairwise_distances([estimate], draws),
            pt.expected_loss(estimate, draws),
            found.contribution,
            found.probability,
            pt.cluster_sizes_posterior(draws).mean,
            pt.plots.similarity(draws, estimate=estimate, most_cells=3).images[0].get_array(),
            np.array([pt.chain_agreement(draws).average_sd]),
        ]

    whole = answers()
    monkeypatch.setattr(_storage, "_MOST_DRAWS", 3)
    for one, many in zip(whole, answers(), strict=True):
        assert np.asarray(many) == pytest.approx(np.asarray(one), abs=1e-12)
