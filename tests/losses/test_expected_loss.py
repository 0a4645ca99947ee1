"""Expected losses: definition, reference, merged draws, similarity, threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita as pt
from loss_instances import INSTANCES, every_loss
from reference import losses as slow
from reference.partitions import every_partition
from strategies import same_items

at_price_one = pytest.mark.parametrize("loss", [x for x in INSTANCES if x.price == 1.0], ids=repr)


@pytest.fixture(scope="module")
def posterior() -> pt.Draws:
    """5,000 weighted draws of 30 items with repetitions: several blocks of work."""
    rng = np.random.default_rng(11)
    base = np.repeat(np.arange(5), 6)
    labels = np.where(rng.random((300, 30)) < 0.2, rng.integers(0, 9, (300, 30)), base)
    return pt.Draws(labels[rng.integers(0, 300, 5_000)], weights=rng.random(5_000) + 0.1)


def candidates_of(draws: pt.Draws) -> np.ndarray:
    n = draws.n_items
    return np.vstack([np.zeros(n, int), np.arange(n), draws.labels[:3]])


@pytest.mark.parametrize("loss", [x for x in INSTANCES if x.averages_distances], ids=repr)
def test_expected_loss_is_the_weighted_mean_of_distances(loss, posterior):
    candidates = candidates_of(posterior)
    means = pt.pairwise_distances(candidates, posterior, loss) @ posterior.weights
    assert pt.expected_loss(candidates, posterior, loss) == pytest.approx(means, abs=1e-12)


@at_price_one
@settings(max_examples=25, deadline=None)
@given(rows=same_items(5, most=9), weights=st.tuples(*[st.floats(0.01, 10)] * 4))
def test_expected_loss_equals_the_reference(loss, rows, weights):
    candidate, *draws = rows
    for given_weights in (None, weights):
        ours = pt.expected_loss(candidate, pt.Draws(draws, weights=given_weights), loss)
        assert ours == pytest.approx(
            [slow.expected(loss.name, candidate, draws, given_weights)], abs=1e-11
        )


@at_price_one
def test_surrogates_of_one_draw_are_distances(loss):
    # What makes vi_lb and ompear losses at all: on a single draw they are VI and 1 − ARI.
    for estimate in every_partition(4):
        for truth in every_partition(4):
            assert pt.expected_loss(estimate, [truth], loss) == pytest.approx(
                [pt.distance(estimate, truth, loss)], abs=1e-12
            )


@every_loss
def test_merged_draws_have_the_same_expected_loss(loss, posterior):
    candidates = candidates_of(posterior)
    merged = posterior.unique()
    assert merged.n_draws <= 300 < posterior.n_draws
    assert pt.expected_loss(candidates, merged, loss) == pytest.approx(
        pt.expected_loss(candidates, posterior, loss), abs=1e-12
    )


@pytest.mark.parametrize("loss", [x for x in INSTANCES if x.uses_similarity], ids=repr)
def test_draws_and_their_similarity_agree(loss, posterior):
    labels = posterior.unique().labels
    together = labels[:, :, None] == labels[:, None, :]
    matrix = np.einsum("mij,m->ij", together, posterior.unique().weights)
    np.fill_diagonal(matrix, 1.0)
    candidates = candidates_of(posterior)
    assert pt.expected_loss(candidates, loss=loss, similarity=matrix) == pytest.approx(
        pt.expected_loss(candidates, posterior, loss), abs=1e-12
    )


@every_loss
def test_results_do_not_depend_on_threads(loss, posterior):
    candidates = candidates_of(posterior)
    one = pt.expected_loss(candidates, posterior, loss, n_jobs=1)
    some = posterior.thin(25)
    table = pt.pairwise_distances(some, loss=loss, n_jobs=1)
    for n_jobs in (2, 5, -1, None):
        assert np.array_equal(pt.expected_loss(candidates, posterior, loss, n_jobs=n_jobs), one)
        assert np.array_equal(pt.pairwise_distances(some, loss=loss, n_jobs=n_jobs), table)


@pytest.mark.parametrize("loss", [pt.VI(), pt.VI(a=0.5)], ids=repr)
def test_pairwise_distances_in_small_blocks(loss, posterior, monkeypatch):
    some = posterior.thin(37)
    table = pt.pairwise_distances(some, loss=loss)
    across = pt.pairwise_distances(some, some.labels, loss)
    monkeypatch.setattr("partita.losses.evaluate._BLOCK_CELLS", 10 * some.n_draws)
    assert np.array_equal(pt.pairwise_distances(some, loss=loss), table)
    assert across == pytest.approx(table, abs=1e-12)
    if loss.is_metric:
        assert np.array_equal(table, table.T)


@every_loss
def test_several_candidates_at_once(loss, posterior):
    candidates = candidates_of(posterior)
    one_by_one = [pt.expected_loss(row, posterior, loss) for row in candidates]
    together = pt.expected_loss(candidates, posterior, loss)
    assert np.array_equal(together, np.concatenate(one_by_one))
