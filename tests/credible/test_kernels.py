"""Kernels of uncertainty against their slow twins, by value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita as pt
from partita.credible.comparison import compare
from partita.kernels.credible.uncertainty import count_together
from partita.partitions.functionals import shapes_of
from reference import uncertainty as twin
from strategies import label_vectors


@st.composite
def draws_and_estimate(draw):
    n = draw(st.integers(1, 9))
    rows = draw(st.lists(label_vectors(n), min_size=1, max_size=6))
    weights = draw(st.none() | st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows)))
    return pt.Draws(rows, weights=weights), pt.canonical(draw(label_vectors(n)))


@settings(deadline=None)
@given(draws_and_estimate(), st.sampled_from([0.5, 0.8, 1.0]))
def test_comparison_with_an_estimate(case, jaccard):
    draws, estimate = case
    found = compare(estimate, draws, jaccard=jaccard, n_jobs=1)
    wanted = twin.comparison(draws.labels.tolist(), estimate.tolist(), jaccard, draws.probabilities)
    wanted["companions"][np.arange(estimate.size), estimate] -= 1.0  # the item itself
    for name, value in wanted.items():
        np.testing.assert_allclose(getattr(found, name), value, rtol=0, atol=1e-13, err_msg=name)


@settings(deadline=None)
@given(draws_and_estimate(), st.integers(1, 4))
def test_shapes(case, n_ranks):
    draws, _ = case
    entropy, ranked = shapes_of(draws, n_ranks)
    for r, row in enumerate(draws.labels.tolist()):
        wanted, sizes = twin.shape(row)
        assert entropy[r] == pytest.approx(wanted, abs=1e-12)
        assert ranked[r].tolist() == (sizes + [0] * n_ranks)[:n_ranks]


@settings(deadline=None)
@given(draws_and_estimate())
def test_count_together(case):
    draws, _ = case
    first, second = (index.astype(np.int64) for index in np.triu_indices(draws.n_items, 1))
    columns = np.ascontiguousarray(draws.rows(0, draws.n_draws).T)
    found = count_together(columns, first, second)
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    assert found.tolist() == twin.together(draws.labels.tolist(), pairs)


def test_threads_do_not_change_the_comparison():
    rng = np.random.default_rng(3)
    draws = pt.Draws(rng.integers(0, 4, (20_000, 12)), weights=rng.random(20_000) + 0.1)
    estimate = pt.canonical(rng.integers(0, 3, 12))
    one, two = (compare(estimate, draws, n_jobs=jobs) for jobs in (1, 2))
    for name in ("placed", "companions", "information", "alone", "unchanged", "similar"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


def test_comparison_in_batches():
    """More draws, items and clusters than a batch holds: as one batch, and as draw by draw."""
    rng = np.random.default_rng(0)
    draws = pt.Draws(rng.integers(0, 200, (40, 300)))
    estimate = pt.canonical(rng.integers(0, 200, 300))
    whole = compare(estimate, draws, n_jobs=1)
    single = [compare(estimate, draws[m : m + 1], n_jobs=1) for m in range(40)]
    for name in ("placed", "companions", "information", "alone", "unchanged", "similar"):
        wanted = np.mean([getattr(one, name) for one in single], axis=0)
        np.testing.assert_allclose(getattr(whole, name), wanted, rtol=0, atol=1e-12, err_msg=name)
    alone = (draws.labels[:, :, None] == draws.labels[:, None, :]).sum(axis=2) == 1
    np.testing.assert_allclose(whole.alone, alone.mean(axis=0), rtol=0, atol=1e-12)
