"""The compiled families against textbook densities, numerical integrals and the chain rule."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

import partita as pt
from partita.io.data_table import as_table
from partita.kernels.gibbs import family
from partita.kernels.gibbs.density import join_weights
from partita.kernels.gibbs.primitives import Likelihood, Prior
from partita.samplers.chains import Arrays, flatten
from reference import samplers_models as references
from samplers.cases import Case, cases

CASES = cases(n=14)


def compiled(case: Case) -> tuple[Arrays, Likelihood, object]:
    table = as_table(case.rows)
    bound = case.kernel.bind(table)
    values = bound.encode(table)
    np.testing.assert_array_equal(values, case.values)
    arrays = flatten(bound, len(values), np.isnan(values).any(axis=0))
    return arrays, arrays.likelihood(values), bound


def flat(n_items: int) -> Prior:
    """A prior under which all weights of joining are 1."""
    zeros = np.zeros(n_items + 1)
    return Prior(0.0, zeros, zeros, zeros, 0.0, 0.0)


def filled(case: Case, labels: np.ndarray) -> tuple[Likelihood, np.ndarray, np.ndarray]:
    arrays, model, _ = compiled(case)
    k = int(labels.max()) + 1
    store, work = np.empty((arrays.n_rows, k)), np.empty((arrays.n_work, k))
    family.fill_store(model, flat(labels.size), labels, k, store, work)
    return model, store, work


LABELS = np.array([0, 0, 1, 0, 2, 2, 0, 3, 3, 3, 0, 3, 0, 2], np.int32)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_log_predictive_is_the_textbook_density(case):
    _, model, bound = compiled(case)
    sizes, found = join_weights(model, model, flat(14), LABELS, 4)
    assert sizes.tolist() == [0.0] * 4
    found += bound.log_base(case.values)[:, None]
    for i, point in enumerate(case.values):
        for j in range(4):
            expected = case.reference(point, case.values[j == LABELS])
            assert found[i, j] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_prior_predictive_is_that_of_an_empty_cluster(case):
    _, model, bound = compiled(case)
    found = family.prior_predictive(model, flat(14))
    found += bound.log_base(case.values)
    nobody = case.values[:0]
    expected = [case.reference(point, nobody) for point in case.values]
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_many_columns_do_not_overflow():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((6, 120)) * np.exp(rng.uniform(-30, 30, 120))
    kernel = pt.NormalInverseGamma(0, 0.5, 2, tuple(rows.var(axis=0)))
    reference = references.normal_inverse_gamma(0, 0.5, 2, rows.var(axis=0))
    case = Case("wide", kernel, rows, rows, reference)
    labels = np.array([0, 0, 0, 1, 1, 1], np.int32)
    found = family.log_marginal(*filled(case, labels), 0)
    assert found == pytest.approx(references.log_marginal(reference, rows[:3]), rel=1e-10)


def test_many_columns_of_levels():
    rows = np.random.default_rng(0).integers(0, 3, (9, 19))
    rows[:3] = np.arange(3)[:, None]
    reference = references.dirichlet_categorical(0.6, [3] * 19)
    case = Case("wide", pt.DirichletCategorical(weight=0.6), rows, rows.astype(float), reference)
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 1, 1], np.int32)
    found = family.log_marginal(*filled(case, labels), 0)
    assert found == pytest.approx(
        references.log_marginal(reference, rows[:3].astype(float)), rel=1e-10
    )


def test_data_far_from_zero_keep_their_precision():
    rows = 1e7 + np.array([[0.1], [0.2], [0.4], [1.0]])
    kernel = pt.NormalInverseGamma(1e7, 0.5, 2, 0.1)
    near = pt.NormalInverseGamma(0, 0.5, 2, 0.1)
    labels = np.zeros(4, np.int32)
    values = []
    for shift, each in ((0.0, kernel), (1e7, near)):
        case = Case("far", each, rows - shift, rows - shift, None)
        values.append(family.log_marginal(*filled(case, labels), 0))
    assert values[0] == pytest.approx(values[1], abs=1e-6)


# ---------------------------------------------------------------- against numerical integration


def marginal_of(kernel, rows) -> float:
    rows = np.asarray(rows, float)
    case = Case("rows", kernel, rows, rows, None)
    _, _, bound = compiled(case)
    found = family.log_marginal(*filled(case, np.zeros(len(rows), np.int32)), 0)
    return found + bound.log_base(rows).sum()


def test_normal_inverse_gamma_integrates():
    x = np.array([0.3, -0.8, 1.9])
    c, a, b, m = 0.5, 2.0, 1.5, 0.4

    # Trapezoids over a wide range converge exponentially for integrands that vanish at both ends.
    mu, s = np.meshgrid(np.linspace(-20, 20, 801), np.linspace(-4, 9, 261), indexing="ij")
    v = np.exp(s)
    log_p = stats.norm.logpdf(x[:, None, None], mu, np.sqrt(v)).sum(axis=0)
    log_p += stats.norm.logpdf(mu, m, np.sqrt(v / c)) + stats.invgamma.logpdf(v, a, scale=b) + s
    total = np.exp(log_p).sum() * (40 / 800) * (13 / 260)
    found = marginal_of(pt.NormalInverseGamma(m, c, a, b), x[:, None])
    assert found == pytest.approx(math.log(total), abs=1e-4)


def test_normal_inverse_wishart_integrates():
    x = np.array([[0.3, 0.1], [-0.8, 0.4], [1.0, -0.2]])
    kappa, nu, scale = 0.7, 5.0, np.array([[1.5, 0.4], [0.4, 1.0]])
    mean = np.array([0.2, -0.1])
    # Σ = LLᵀ, L = [[e^p, 0], [r, e^q]], dΣ = 4 e^{3p + 2q} dp dq dr; the mean is integrated out.
    p, q, r = np.meshgrid(
        np.linspace(-2.5, 3.5, 97),
        np.linspace(-2.5, 3.0, 89),
        np.linspace(-7, 7, 141),
        indexing="ij",
    )
    steps = (6 / 96) * (5.5 / 88) * (14 / 140)
    a, b = np.exp(p), np.exp(q)
    sigma = np.stack([np.stack([a * a, a * r], -1), np.stack([a * r, r * r + b * b], -1)], -2)
    inverse = np.linalg.inv(sigma)
    log_det = 2 * (p + q)
    n = len(x)
    center = (kappa * mean + x.sum(axis=0)) / (kappa + n)
    spread = x.T @ x + kappa * np.outer(mean, mean) - (kappa + n) * np.outer(center, center)
    log_likelihood = -n * math.log(2 * math.pi) - n / 2 * log_det + math.log(kappa / (kappa + n))
    log_likelihood = log_likelihood - 0.5 * np.einsum("...ij,ji->...", inverse, spread)
    log_prior = (
        nu / 2 * math.log(np.linalg.det(scale))
        - nu * math.log(2)
        - math.log(math.pi) / 2
        - math.lgamma(nu / 2)
        - math.lgamma((nu - 1) / 2)
        - (nu + 3) / 2 * log_det
        - 0.5 * np.einsum("...ij,ji->...", inverse, scale)
    )
    jacobian = math.log(4) + 3 * p + 2 * q
    total = np.exp(log_likelihood + log_prior + jacobian).sum() * steps
    found = marginal_of(pt.NormalInverseWishart(tuple(mean), kappa, nu, scale), x)
    assert found == pytest.approx(math.log(total), abs=1e-3)


def test_beta_bernoulli_integrates():
    x = np.array([1.0, 0, 1, 1])

    def integrand(p):
        return stats.beta.pdf(p, 0.8, 1.7) * p ** x.sum() * (1 - p) ** (4 - x.sum())

    total, _ = integrate.quad(integrand, 0, 1)
    assert marginal_of(pt.BetaBernoulli(0.8, 1.7), x[:, None]) == pytest.approx(
        math.log(total), abs=1e-7
    )


def test_dirichlet_categorical_integrates():
    counts = [2, 1, 1]
    x = np.repeat([0.0, 1.0, 2.0], counts)

    def integrand(q, p):
        rest = max(1 - p - q, 0.0)
        return stats.dirichlet.pdf([p, q, 1 - p - q], [1.4] * 3) * p**2 * q * rest

    total, _ = integrate.dblquad(integrand, 1e-9, 1 - 1e-9, 1e-10, lambda p: 1 - p - 1e-10)
    assert marginal_of(pt.DirichletCategorical(1.4), x[:, None]) == pytest.approx(
        math.log(total), abs=1e-5
    )


def test_gamma_poisson_integrates():
    x = np.array([3.0, 0, 14, 5])

    def integrand(rate):
        return stats.gamma.pdf(rate, 1.3, scale=1 / 0.4) * stats.poisson.pmf(x, rate).prod()

    total, _ = integrate.quad(integrand, 0, 60, epsabs=0, limit=200)
    assert marginal_of(pt.GammaPoisson(1.3, 0.4), x[:, None]) == pytest.approx(
        math.log(total), abs=1e-7
    )


def test_wishart_in_one_dimension_is_inverse_gamma():
    x = np.array([[0.3], [-0.8], [1.9]])
    a = marginal_of(pt.NormalInverseWishart(0.4, 0.5, 4, 3), x)
    b = marginal_of(pt.NormalInverseGamma(0.4, 0.5, 2, 1.5), x)
    assert a == pytest.approx(b, abs=1e-12)
