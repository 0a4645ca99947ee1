"""The compiled families against textbook densities, numerical integrals and the chain rule."""

import numpy as np
import pytest
from scipy import stats

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


# ------------------------------------------------------------ against simulation from the prior


def marginal_of(kernel, rows) -> float:
    rows = np.asarray(rows, float)
    case = Case("rows", kernel, rows, rows, None)
    _, _, bound = compiled(case)
    found = family.log_marginal(*filled(case, np.zeros(len(rows), np.int32)), 0)
    return found + bound.log_base(rows).sum()


SCALE = np.array([[1.5, 0.4], [0.4, 1.0]])
THREE = np.array([[0.3], [-0.8], [1.9]])
PLANE = np.array([[0.3, 0.1], [-0.8, 0.4], [1.0, -0.2]])


def simulated(n: int):
    """Kernels with rows, and the density of the rows given n draws of the kernel's parameters."""
    rng = np.random.default_rng(0)
    variance = stats.invgamma.rvs(2, scale=1.5, size=n, random_state=rng)
    mean = rng.normal(0.4, np.sqrt(variance / 0.5))
    density = stats.norm.pdf(THREE, mean, np.sqrt(variance)).prod(axis=0)
    yield pt.NormalInverseGamma(0.4, 0.5, 2, 1.5), THREE, density
    covariance = stats.invwishart(5, SCALE).rvs(n, random_state=rng)
    root = np.linalg.cholesky(covariance)
    mean = [0.2, -0.1] + np.einsum("mij,mj->mi", root, rng.normal(size=(n, 2))) / np.sqrt(0.7)
    away = np.linalg.solve(root, (PLANE - mean[:, None]).transpose(0, 2, 1))
    log_p = -0.5 * (away**2).sum(axis=(1, 2)) - 3 * np.log(root[:, [0, 1], [0, 1]]).sum(axis=1)
    kernel = pt.NormalInverseWishart((0.2, -0.1), 0.7, 5, SCALE)
    yield kernel, PLANE, np.exp(log_p) / (2 * np.pi) ** 3
    p = rng.beta(0.8, 1.7, n)
    yield pt.BetaBernoulli(0.8, 1.7), [[1], [0], [1], [1]], p**3 * (1 - p)
    shares = rng.dirichlet([1.4] * 3, n)
    yield pt.DirichletCategorical(1.4), [[0], [0], [1], [2]], shares.prod(axis=1) * shares[:, 0]
    rates, counts = rng.gamma(1.3, 1 / 0.4, n), np.array([[3], [0], [14], [5]])
    yield pt.GammaPoisson(1.3, 0.4), counts, stats.poisson.pmf(counts, rates).prod(axis=0)


def test_marginals_are_means_over_parameters_from_the_prior():
    n = 400_000
    for kernel, rows, density in simulated(n):
        error = density.std() / density.mean() / np.sqrt(n)
        assert error < 0.012, kernel
        assert abs(np.exp(marginal_of(kernel, rows)) / density.mean() - 1) < 4 * error, kernel


def test_wishart_in_one_dimension_is_inverse_gamma():
    a = marginal_of(pt.NormalInverseWishart(0.4, 0.5, 4, 3), THREE)
    b = marginal_of(pt.NormalInverseGamma(0.4, 0.5, 2, 1.5), THREE)
    assert a == pytest.approx(b, abs=1e-12)
