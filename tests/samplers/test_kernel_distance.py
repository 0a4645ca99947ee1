"""Hellinger distances between clusters' densities, against integrals of the densities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import partita as pt


class Fixed(np.random.Generator):
    """Random numbers without randomness: parameters at their posterior location."""

    def __init__(self):
        super().__init__(np.random.PCG64(0))

    def normal(self, size=None):
        return np.zeros(size)

    def standard_gamma(self, shape, size=None):
        return np.asarray(shape, float)


def test_normal_distances_are_the_integrals():
    rows = np.array([[0.0], [0.4], [2.0], [2.5], [2.2], [7.0]])
    labels = np.array([0, 0, 1, 1, 1, 2], np.int32)
    kernel = pt.NormalInverseGamma(1.0, 0.5, 2, 1)
    found = kernel.hellinger(rows, labels, Fixed())
    grid = np.linspace(-40, 50, 90_001)
    densities = []
    for j in range(3):
        x = rows[labels == j, 0] - 1.0
        n = x.size
        b = 1 + 0.5 * ((x**2).sum() - x.sum() ** 2 / (0.5 + n))
        sigma = np.sqrt(b / (2 + n / 2))
        densities.append(stats.norm.pdf(grid, 1 + x.sum() / (0.5 + n), sigma))
    for i in range(3):
        for j in range(3):
            affinity = np.trapezoid(np.sqrt(densities[i] * densities[j]), grid)
            assert found[i, j] == pytest.approx(np.sqrt(max(1 - affinity, 0)), abs=1e-6)


def test_the_joint_normal_agrees_with_independent_columns_where_both_apply():
    """With one column an inverse Wishart is an inverse gamma: the same distribution of h."""
    rows = np.array([[0.0], [0.4], [2.0], [2.5], [2.2]])
    labels = np.array([0, 0, 1, 1, 1], np.int32)
    rng = np.random.default_rng(0)
    one = pt.NormalInverseGamma(1.0, 0.5, 2, 1)
    joint = pt.NormalInverseWishart(1.0, 0.5, 4, 2)
    a = np.mean([one.hellinger(rows, labels, rng)[0, 1] for _ in range(1_000)])
    b = np.mean([joint.hellinger(rows, labels, rng)[0, 1] for _ in range(1_000)])
    assert a == pytest.approx(b, abs=0.03)  # both have a standard error of about 0.006


def test_distances_of_a_fit_and_the_estimate_that_merges_what_is_close():
    data = pt.datasets.four_normals(n=80, rng=0).data
    fit = pt.sample(
        data, kernel="empirical", draws=200, burn_in=100, chains=2, rng=0, progress=False
    )
    found = fit.kernel_distance(draws=100)
    assert found.shape == (80, 80)
    np.testing.assert_allclose(found, found.T)
    assert np.abs(np.diag(found)).max() < 1e-7
    assert found.min() >= 0
    assert found.max() <= 1
    estimates = [
        pt.estimate(similarity=1 - found, loss=pt.Binder(a=2 * w / (1 + w))).n_clusters
        for w in (0.2, 5.0)
    ]
    assert estimates[0] > estimates[1]
    with pytest.raises(pt.PartitaError, match="no Hellinger distance"):
        pt.sample([[1.0], [2.0], [3.0]], kernel=pt.GammaPoisson(1, 1), draws=2).kernel_distance()
