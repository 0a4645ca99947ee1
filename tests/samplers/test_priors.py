"""Partition priors against seating one item after the other, and against their own sums."""

import json

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

import partita as pt
from samplers.cases import PRIORS, log_prior_by_seating
from stored import GROUND_TRUTH


@pytest.mark.parametrize("name", PRIORS)
def test_log_probability_is_that_of_seating_items(name):
    for labels in ([0, 0, 0, 0, 0], [0, 1, 0, 2, 1], [0, 1, 2, 3, 4], [0, 0, 1, 1, 1], [0, 1]):
        sizes = pt.cluster_sizes(labels).tolist()
        expected = log_prior_by_seating(name, sizes)
        assert PRIORS[name].log_probability(labels) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("shape", [0.01, 1.0, 100.0, 300.0, 1e3, 1e5])
def test_weights_of_a_quadrature_sum_to_one(shape):
    for law in (pt.Gamma(shape, 2.0), pt.F(2 * shape, shape)):
        assert np.exp(law.nodes(0.0)[1]).sum() == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize(
    ("n", "k"), [(20, 5), (2_000, 200), (5_000, 2_000), (5_000, 2), (3_000, 2_999)]
)
@pytest.mark.parametrize("sigma", [0.0, 0.3])
@pytest.mark.parametrize("gamma", [pt.Gamma(1, 1), pt.Gamma(1_000, 1)])
def test_a_concentration_that_is_well_known_is_integrated(n, k, sigma, gamma):
    """By an adaptive rule around the mode, of the density and the seating as they are written."""
    sizes = np.full(k, n // k) + (np.arange(k) < n % k)
    law, own = stats.gamma(gamma.shape, scale=1 / gamma.rate), gammaln(sizes - sigma)

    def log_integrand(u):
        alpha = np.exp(u)
        seats = np.log(alpha + sigma * np.arange(1, k)).sum() + gammaln(alpha + 1)
        return law.logpdf(alpha) + u + seats - gammaln(alpha + n)

    found = minimize_scalar(lambda u: -log_integrand(u), bounds=(-40, 12), method="bounded")
    top = -found.fun
    ends = [found.x - 3.0, found.x + 3.0]
    while log_integrand(ends[0]) > top - 60 and ends[0] > -700:
        ends[0] -= 10.0
    whole = quad(
        lambda u: np.exp(log_integrand(u) - top), *ends, points=[found.x], limit=500, epsabs=0
    )[0]
    expected = np.log(whole) + top + (own - gammaln(1 - sigma)).sum()
    prior = pt.PitmanYor(gamma, sigma) if sigma else pt.DirichletProcess(gamma)
    labels = np.repeat(np.arange(k), sizes)
    assert prior.log_probability(labels) == pytest.approx(expected, abs=1e-6)


def test_pitman_yor_without_discount_is_the_dirichlet_process():
    for concentration in (0.7, pt.Gamma(2, 3)):
        a, b = pt.PitmanYor(concentration, 0), pt.DirichletProcess(concentration)
        assert a.log_probability([0, 1, 1, 2]) == b.log_probability([0, 1, 1, 2])
        assert a.expected_clusters(50) == b.expected_clusters(50)


def test_a_very_vague_concentration_is_integrated():
    prior = pt.DirichletProcess(pt.Gamma(0.02, 0.02))
    p = [np.exp(prior.log_probability(c)) for c in pt.lattice.all_partitions(5)]
    assert sum(p) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("discount", [0.0, 0.3, 0.9])
@pytest.mark.parametrize(("n_clusters", "n_items"), [(1.001, 50), (5, 100), (10, 1000), (40, 41)])
def test_concentration_for_inverts_the_expected_number(discount, n_clusters, n_items):
    alpha = pt.concentration_for(n_clusters, n_items=n_items, discount=discount)
    found = pt.PitmanYor(alpha, discount).expected_clusters(n_items)
    assert found == pytest.approx(n_clusters, rel=1e-9)


def test_concentration_for_agrees_with_bnpmix():
    records = [
        r for r in json.loads(GROUND_TRUTH.read_text()) if r.get("function") == "PYcalibrate"
    ]
    assert len(records) >= 3
    for record in records:
        given = record["arguments"]
        found = pt.concentration_for(given["Ek"], n_items=given["n"], discount=given["discount"])
        assert found == pytest.approx(record["value"], abs=2e-4)  # their solver's tolerance
