"""Posteriors of the number of clusters and of sorted sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita as pt
from reference.uncertainty import masses_of, shape
from strategies import label_vectors


@st.composite
def cases(draw):
    n = draw(st.integers(1, 8))
    rows = draw(st.lists(label_vectors(n), min_size=1, max_size=8))
    weights = draw(st.none() | st.lists(st.integers(1, 5), min_size=len(rows), max_size=len(rows)))
    return rows, weights


@settings(deadline=None)
@given(cases())
def test_number_of_clusters(case):
    rows, weights = case
    found = pt.n_clusters_posterior(pt.Draws(rows, weights=weights))
    wanted: dict = {}
    for row, mass in zip(rows, masses_of(rows, weights), strict=True):
        wanted[len(set(row))] = wanted.get(len(set(row)), 0) + mass
    assert found.values.tolist() == sorted(wanted)
    assert found.probabilities == pytest.approx([float(wanted[k]) for k in sorted(wanted)])
    assert found.mean == pytest.approx(float(sum(k * m for k, m in wanted.items())))
    assert found.interval(1.0) == (min(wanted), max(wanted))


@settings(deadline=None)
@given(cases())
def test_sorted_sizes(case):
    rows, weights = case
    found = pt.cluster_sizes_posterior(pt.Draws(rows, weights=weights), prob=0.5)
    masses = masses_of(rows, weights)
    most = max(len(set(row)) for row in rows)
    table = [(shape(row)[1] + [0] * most)[:most] for row in rows]
    for j in range(most):
        sizes = [row[j] for row in table]
        mean = sum(s * m for s, m in zip(sizes, masses, strict=True))
        present = sum(m for s, m in zip(sizes, masses, strict=True) if s > 0)
        assert found.mean[j] == pytest.approx(float(mean))
        assert found.present[j] == pytest.approx(float(present))
        for level, column in ((0.25, found.lower), (0.5, found.median), (0.75, found.upper)):
            below = sum(m for s, m in zip(sizes, masses, strict=True) if s <= column[j])
            smaller = sum(m for s, m in zip(sizes, masses, strict=True) if s < column[j])
            assert smaller < level + 1e-8
            assert below >= level - 1e-8


def test_few_ranks_are_the_first_of_all():
    draws = pt.Draws(np.random.default_rng(0).integers(0, 5, (100, 9)))
    everything, three = (pt.cluster_sizes_posterior(draws, n_ranks=n) for n in (None, 3))
    assert len(three) == 3
    assert np.array_equal(three.mean, everything.mean[:3])
    assert three.to_frame().index.tolist() == [1, 2, 3]
    assert "mean sizes" in repr(three)


def test_the_interval_leaves_out_equal_tails():
    rows = [[0] * (10 - k) + list(range(k)) for k in range(10)]  # 1, 1, 2, …, 9 clusters
    counts = pt.n_clusters_posterior(rows)
    assert counts.interval(0.8) == (1, 8)
    assert counts.interval(0.4) == (2, 6)
