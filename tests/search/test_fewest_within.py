"""The fewest clusters near the lowest loss, and where VI stops telling two normals apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import partita as pt

THRESHOLDS = {0.5: 1.5818, 0.75: 2.0209, 1.0: 2.4528, 1.25: 2.9156, 1.5: 3.4627}
"""Distance in sd from which on two equal normals are two clusters under VI(a)."""


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3])
def test_fewest_within_against_enumeration(share):
    every = np.array(list(pt.lattice.all_partitions(6)))
    for seed in range(4):
        draws = pt.Draws(np.random.default_rng(seed).integers(0, 3, (9, 6)))
        losses = np.array([pt.expected_loss(labels, draws) for labels in every]).ravel()
        near = losses <= (1 + share) * losses.min() + 1e-12
        found = pt.estimate(draws, fewest_within=share)
        assert found.n_clusters == (every[near].max(axis=1) + 1).min()
        assert found.expected_loss == pt.expected_loss(found.labels, draws)
        assert found.expected_loss <= (1 + share) * losses.min() + 1e-12
        assert found.constraints[0].startswith("the fewest clusters within")
    with pytest.raises(pt.PartitaError, match="fewest_within chooses the number"):
        pt.estimate(draws, fewest_within=0.1, n_clusters=2)


def test_undecided_items_are_named_in_the_summary():
    """Item 4 is with either pair in 60% of the draws, with neither in half of them."""
    rows = [[0, 0, 1, 1, 0]] * 30 + [[0, 0, 1, 1, 1]] * 30 + [[0, 0, 1, 1, 2]] * 40
    order = np.random.default_rng(0).permutation(100)
    summary = pt.summarize(pt.Draws(np.array(rows)[order], chain=np.arange(100) // 50))
    assert summary.n_clusters == 3
    assert "undecided (4)" in summary.how_many


def two_normals(distance: float, a: float) -> float:
    """Expected VI(a) of the best split into halves less that of one cluster, in bits, N → ∞.

    E VI(a) = a·H(c) − 2·I(c; Z) + const, I by numerical integration over x.
    """

    def terms(x: float) -> float:
        densities = 0.5 * stats.norm.pdf(x, [-distance / 2, distance / 2])
        return float(densities[1])

    mass = integrate.quad(terms, 0, distance / 2 + 12)[0]  # of Z = 1 on the right
    joint = np.array([[0.5 - mass, mass], [mass, 0.5 - mass]])
    information = (joint * np.log2(joint / 0.25)).sum()
    return a - 2 * information


@pytest.mark.parametrize(("a", "expected"), THRESHOLDS.items())
def test_the_threshold_of_two_normals(a, expected):
    assert optimize.brentq(two_normals, 0.5, 6, args=(a,)) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("a", "distance", "k"), [(1, 2.2, 1), (1, 2.8, 2), (0.5, 1.3, 1), (0.5, 1.9, 2)]
)
def test_estimates_have_one_or_two_clusters_as_the_threshold_says(a, distance, k):
    """Labels drawn independently given the known densities."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=400) + distance * np.repeat([-0.5, 0.5], 200)
    p = 1 / (1 + np.exp(-distance * x))
    draws = (rng.random((150, 400)) < p).astype(int)
    assert pt.estimate(draws, loss=pt.VI(a), bound=None).n_clusters == k
