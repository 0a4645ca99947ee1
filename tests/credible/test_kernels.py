"""Kernels of uncertainty against their reference implementations, by value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import partita as pt
from partita.credible.uncertainty import compare
from partita.scan import shapes_of
from reference import uncertainty as reference
from strategies import posteriors


def as_draws(case):
    rows, weights, estimate = case
    return pt.Draws(rows, weights=weights), pt.canonical(estimate)


CASES = posteriors(draws=6, others=1).map(as_draws)


@given(CASES, st.sampled_from([0.5, 0.8, 1.0]))
def test_comparison_with_an_estimate(case, jaccard):
    draws, estimate = case
    found = compare(estimate, draws, jaccard=jaccard, n_jobs=1)
    wanted = reference.comparison(
        draws.labels.tolist(), estimate.tolist(), jaccard, draws.probabilities
    )
    wanted["companions"][np.arange(estimate.size), estimate] -= 1.0  # the item itself
    for name, value in wanted.items():
        np.testing.assert_allclose(getattr(found, name), value, rtol=0, atol=1e-13, err_msg=name)


@given(CASES, st.integers(1, 4))
def test_shapes(case, n_ranks):
    draws, _ = case
    entropy, ranked = shapes_of(draws, n_ranks)
    for r, row in enumerate(draws.labels.tolist()):
        wanted, sizes = reference.shape(row)
        assert entropy[r] == pytest.approx(wanted, abs=1e-12)
        assert ranked[r].tolist() == (sizes + [0] * n_ranks)[:n_ranks]


def test_a_tie_that_takes_two_chains_of_moves():
    # Cluster 0 may have the first of its two overlaps only if clusters 3 and 4 both move.
    estimate, row = [0, 1, 2, 0, 1, 2, 3, 3, 4, 3], [0, 1, 2, 3, 4, 5, 6, 0, 3, 0]
    assert pt.align([row], estimate).tolist() == [[0, 1, 2, 4, -1, -2, 3, 0, 4, 0]]
    assert reference.matching(row, estimate) == {0: 0, 1: 1, 2: 2, 6: 3, 3: 4}


def test_matching_many_clusters_is_not_cubic():
    rng = np.random.default_rng(0)
    for n_items in (500, 1000):
        flat = rng.integers(0, n_items // 2, (20, n_items))
        singletons = np.arange(n_items)
        aligned = pt.align(flat, singletons)
        # Singletons overlap one cluster each by one item, so each cluster has its first item.
        for row, found in zip(flat, aligned, strict=True):
            firsts = np.unique(row, return_index=True)[1]
            assert np.array_equal(np.unique(found), np.sort(firsts))
        assert pt.item_uncertainty(flat[:3], singletons).placement.shape == (n_items, n_items + 1)


def test_weights_that_round_leave_no_similarity():
    # Item 0 is never with another item; 1 − Σw·1 used to leave 1e-16 of it, scaled to a share of 1.
    weights = np.array([1.0, 1e-17, 0.3, 0.7])
    draws = pt.Draws([[0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 1, 2], [0, 1, 2, 1]], weights=weights)
    items = pt.item_uncertainty(draws, [0, 0, 1, 1])
    assert items.similarity_share[0].tolist() == [0.0, 0.0]
    rng = np.random.default_rng(1)
    for _ in range(50):
        weights = 10.0 ** rng.uniform(-12, 3, 6)
        labels = np.column_stack([np.full(6, 9), rng.integers(0, 3, (6, 4))])
        share = pt.item_uncertainty(pt.Draws(labels, weights=weights), [0, 0, 0, 1, 1])
        assert not share.similarity_share[0].any()


def test_comparison_in_batches():
    """More draws, items and clusters than a batch holds: as one batch, and as draw by draw."""
    rng = np.random.default_rng(0)
    draws = pt.Draws(rng.integers(0, 200, (40, 300)))
    estimate = pt.canonical(rng.integers(0, 200, 300))
    whole = compare(estimate, draws, n_jobs=1)
    single = [compare(estimate, draws[m : m + 1], n_jobs=1) for m in range(40)]
    for name in ("placed", "companions", "information", "unchanged", "similar"):
        wanted = np.mean([getattr(one, name) for one in single], axis=0)
        np.testing.assert_allclose(getattr(whole, name), wanted, rtol=0, atol=1e-12, err_msg=name)
