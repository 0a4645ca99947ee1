"""What follows from a fit: densities, parameters, predictions, distances, files."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import partita as pt
from reference import samplers_models as references
from samplers.cases import PRIORS, Case, cases, log_prior_by_seating

CASES = {case.name: case for case in cases(n=9, seed=3)}


def short(case, prior="dirichlet, random", **options) -> pt.Fit:
    defaults = {"draws": 40, "burn_in": 20, "chains": 2, "rng": 1, "progress": False}
    options = defaults | options
    return pt.sample(case.rows, kernel=case.kernel, prior=PRIORS[prior], **options)


def density_given(case, labels, alpha, prior, point) -> float:
    """Predictive density of a point from the partition probabilities of one item more."""
    k = labels.max() + 1
    log_now = prior.log_probability(labels) if alpha is None else fixed(prior, alpha, labels)
    total = 0.0
    for j in range(k + 1):
        more = np.append(labels, j)
        log_more = prior.log_probability(more) if alpha is None else fixed(prior, alpha, more)
        log_density = case.reference(point, case.values[labels == j])
        total += np.exp(log_more - log_now + log_density)
    return total


def fixed(prior, alpha, labels) -> float:
    return pt.PitmanYor(alpha, getattr(prior, "discount", 0.0)).log_probability(labels)


@pytest.mark.parametrize("prior", ["dirichlet, random", "pitman–yor, random", "finite"])
@pytest.mark.parametrize("name", CASES)
def test_density_is_the_ratio_of_partition_probabilities(name, prior):
    case = CASES[name]
    fit = short(case, prior, draws=6)
    points = case.values[[0, 5, 8]]
    rows = np.asarray(case.rows)[[0, 5, 8]]
    found = fit.density(rows, prob=0.5)
    alphas = [None] * 12 if prior == "finite" else fit.trace["concentration"].ravel()
    each = np.array(
        [
            [
                density_given(case, labels.astype(int), alpha, PRIORS[prior], point)
                for point in points
            ]
            for labels, alpha in zip(fit.draws.labels, alphas, strict=True)
        ]
    )
    np.testing.assert_allclose(found.mean, each.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(found.lower, np.quantile(each, 0.25, axis=0), rtol=1e-9)
    np.testing.assert_allclose(found.upper, np.quantile(each, 0.75, axis=0), rtol=1e-9)


def test_density_integrates_to_one():
    fit = pt.sample(
        pt.datasets.galaxies(), kernel="empirical", draws=200, burn_in=50, chains=2, rng=0
    )
    grid = np.linspace(-400, 450, 40_001)
    found = fit.density(grid)
    assert np.trapezoid(found.mean, grid) == pytest.approx(1, abs=2e-3)  # heavy tails cut off
    assert (found.lower <= found.mean).mean() > 0.99
    assert found.grid.shape == (40_001, 1)


def test_density_of_large_counts():
    # x! is beyond the largest float from 171 on; the probability is not.
    x = np.array([3, 180, 220, 4, 700, 650, 2, 200])
    fit = pt.sample(x, kernel=pt.GammaPoisson(1, 0.01), draws=20, chains=2, rng=0)
    grid = np.array([0, 170, 171, 200, 690, 2_000])
    found = fit.density(grid)
    case = CASES["poisson"]
    one = Case("counts", case.kernel, x, x[:, None], references.gamma_poisson([1], 0.01))
    expected = [
        [
            density_given(one, labels.astype(int), alpha, fit.prior, np.array([point]))
            for point in grid
        ]
        for labels, alpha in zip(fit.draws.labels, fit.trace["concentration"].ravel(), strict=True)
    ]
    np.testing.assert_allclose(found.mean, np.mean(expected, axis=0), rtol=1e-9)


def test_density_in_blocks_of_points_is_the_same(monkeypatch):
    from partita.samplers import predict

    fit = short(CASES["product"])
    whole = fit.density(CASES["product"].rows)
    monkeypatch.setattr(predict, "_CELLS", 100)
    again = fit.density(CASES["product"].rows)  # sums over draws may run in another order
    np.testing.assert_allclose(whole.mean, again.mean, rtol=1e-13)


@pytest.mark.parametrize(
    "prior",
    ["dirichlet", "dirichlet, random", "pitman–yor", "pitman–yor, random", "finite"],
)
def test_predictions_are_predictive_probabilities(prior):
    case = CASES["product"]
    fit = short(case, prior)
    labels = np.array([1, 1, 1, 2, 2, 0, 0, 0, 0])
    rows = case.rows[:4]
    found = fit.predict(rows, labels)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    for i in range(4):
        weights = [
            np.exp(
                log_prior_by_seating(prior, np.bincount(np.append(labels, j)).tolist())
                + case.reference(case.values[i], case.values[labels == j])
            )
            for j in range(4)
        ]
        np.testing.assert_allclose(found[i], weights / np.sum(weights), rtol=1e-9)


def test_normal_parameters_are_posterior_moments():
    rng = np.random.default_rng(0)
    x = np.array([0.4, 1.1, 2.0, -3.0, -2.5])
    fit = pt.sample(x, kernel=pt.NormalInverseGamma(0.3, 0.5, 3.2, 1.4), draws=5, rng=0)
    found = fit.cluster_parameters([7, 7, 7, 2, 2])
    assert found.sizes.tolist() == [3, 2]
    # Weighted draws from the prior: the posterior by importance.
    variance = 1.4 / rng.gamma(3.2, size=2_000_000)
    mean = 0.3 + np.sqrt(variance / 0.5) * rng.standard_normal(variance.size)
    for j, rows in enumerate((x[:3], x[3:])):
        log_w = sum(stats.norm.logpdf(value, mean, np.sqrt(variance)) for value in rows)
        w = np.exp(log_w - log_w.max())
        w /= w.sum()
        for name, values in (("mean", mean), ("variance", variance)):
            center = w @ values
            assert found[name].mean[j, 0] == pytest.approx(center, rel=0.02)
            spread = w @ (values - center) ** 2
            assert found[name].variance[j, 0] == pytest.approx(spread, rel=0.1)


def test_wishart_parameters_are_posterior_moments():
    case = CASES["wishart"]
    fit = short(case)
    labels = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0])
    found = fit.cluster_parameters(labels)
    for j in range(2):
        rows = case.values[labels == j]
        n = len(rows)
        kappa, nu = 0.5 + n, 4 + n
        center = (0.5 * np.array([0, 0.5]) + rows.sum(axis=0)) / kappa
        around = rows - rows.mean(axis=0)
        away = rows.mean(axis=0) - [0, 0.5]
        posterior = np.array([[1.5, 0.4], [0.4, 1.0]]) + around.T @ around
        posterior = posterior + 0.5 * n / kappa * np.outer(away, away)
        draws = stats.invwishart(nu, posterior).rvs(150_000, random_state=1)
        np.testing.assert_allclose(found["mean"].mean[j], center, rtol=1e-12)
        np.testing.assert_allclose(found["covariance"].mean[j], draws.mean(axis=0), atol=0.02)
        expected = draws.var(axis=0)
        np.testing.assert_allclose(found["covariance"].variance[j], expected, rtol=0.15)
        np.testing.assert_allclose(
            found["mean"].variance[j], np.diag(draws.mean(axis=0)) / kappa, rtol=0.02
        )


def test_parameters_of_categories_and_counts():
    labels = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0])
    case = CASES["bernoulli"]
    found = short(case).cluster_parameters(labels)["probability"]
    ones = case.values[:4].sum(axis=0)
    posterior = stats.beta(np.array([0.5, 1, 2]) + ones, 0.7 + 4 - ones)
    np.testing.assert_allclose(found.mean[1], posterior.mean())
    np.testing.assert_allclose(found.variance[1], posterior.var())
    case = CASES["poisson"]
    found = short(case).cluster_parameters(labels)["rate"]
    posterior = stats.gamma(np.array([2, 1]) + case.values[4:].sum(axis=0), scale=1 / 5.4)
    np.testing.assert_allclose(found.mean[0], posterior.mean())
    np.testing.assert_allclose(found.variance[0], posterior.var())
    case = CASES["categorical"]
    found = short(case).cluster_parameters(labels)["probability of 1"]
    weights = 0.6 + np.bincount(case.values[:4, 1].astype(int), minlength=4)
    np.testing.assert_allclose(found.mean[1], stats.dirichlet(weights).mean())
    np.testing.assert_allclose(found.variance[1], stats.dirichlet(weights).var())
    assert found.columns == ("0", "1", "2", "3")


def test_parameters_of_a_product_are_side_by_side():
    case = CASES["product"]
    found = short(case).cluster_parameters(np.zeros(9))
    assert set(found.parameters) == {
        "rate",
        "mean",
        "variance",
        "probability",
        "probability of 3",
    }
    two = pt.NormalInverseGamma(0, 1, 2, 1)
    fit = pt.sample(case.values[:, :2], kernel=pt.Product((two, [1]), (two, [0])), draws=2, rng=0)
    assert fit.cluster_parameters(np.zeros(9))["mean"].columns == ("1", "0")
    assert fit.cluster_parameters(np.zeros(9))["mean"].mean.shape == (1, 2)


@pytest.mark.parametrize(("name", "prior"), list(zip(CASES, PRIORS, strict=True)))
def test_a_saved_fit_comes_back(name, prior, tmp_path):
    fit = short(CASES[name], prior)
    path = tmp_path / "fit.npz"
    fit.save(path)
    again = pt.Fit.load(path)
    assert again.draws == fit.draws
    assert again.kernel == fit.kernel
    assert again.prior == fit.prior
    assert again.columns == fit.columns
    assert again.settings == fit.settings
    assert all(np.array_equal(again.trace[k], fit.trace[k]) for k in fit.trace)
    points = np.asarray(CASES[name].rows)[:3]
    np.testing.assert_array_equal(again.density(points).mean, fit.density(points).mean)


# ---------------------------------------------------------------------------- Hellinger distances


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


def test_columns_of_new_data_are_found_by_name():
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)) * [1, 50], columns=["x", "y"])
    fit = pt.sample(data, draws=6, burn_in=2, chains=1, rng=0, progress=False)
    turned = fit.density(data[["y", "x"]].head(3)).mean
    np.testing.assert_array_equal(turned, fit.density(data.head(3)).mean)
    renamed = data.rename(columns={"x": "another"})
    np.testing.assert_array_equal(fit.density(renamed.head(3)).mean, turned)
