"""What follows from a fit: densities, parameters, predictions, distances, files."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import brentq
from scipy.special import gammaln

import partita as pt
from partita.io.data_table import as_table
from partita.samplers import predict
from partita.samplers.predict import laws_of, profile
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


def densities(case, fit, points):
    """Predictive density of each point given each draw, shape (draw, point)."""
    alphas = fit.trace.get("concentration", np.full(len(fit.draws), None)).ravel()
    draws = list(zip(fit.draws.labels.astype(int), alphas, strict=True))
    return np.array([[density_given(case, *draw, fit.prior, x) for x in points] for draw in draws])


@pytest.mark.parametrize("prior", ["dirichlet, random", "pitman–yor, random", "finite"])
@pytest.mark.parametrize("name", CASES)
def test_density_is_the_ratio_of_partition_probabilities(name, prior):
    case = CASES[name]
    fit = short(case, prior, draws=6)
    points = case.values[[0, 5, 8]]
    rows = np.asarray(case.rows)[[0, 5, 8]]
    found = fit.density(rows, prob=0.5)
    each = densities(case, fit, points)
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
    one = Case("counts", case.kernel, x, references.gamma_poisson([1], 0.01))
    expected = densities(one, fit, grid[:, None]).mean(axis=0)
    np.testing.assert_allclose(found.mean, expected, rtol=1e-9)


def test_density_in_blocks_of_points_is_the_same(monkeypatch):
    fit = short(CASES["product"])
    whole = fit.density(CASES["product"].rows)
    monkeypatch.setattr(predict, "_CELLS", 100)
    again = fit.density(CASES["product"].rows)  # sums over draws may run in another order
    np.testing.assert_allclose(whole.mean, again.mean, rtol=1e-13)


@pytest.mark.parametrize(
    "prior", ["dirichlet", "dirichlet, random", "pitman–yor", "pitman–yor, random", "finite"]
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
    x = np.array([0.4, 1.1, 2.0, -3.0, -2.5])
    fit = pt.sample(x, kernel=pt.NormalInverseGamma(0.3, 0.5, 3.2, 1.4), draws=5, rng=0)
    found = fit.cluster_parameters([7, 7, 7, 2, 2])
    assert found.sizes.tolist() == [3, 2]
    for j, rows in enumerate((x[:3], x[3:])):
        kappa, shape = 0.5 + rows.size, 3.2 + rows.size / 2
        away = 0.5 * rows.size / kappa * (rows.mean() - 0.3) ** 2
        rate = 1.4 + (rows.size * rows.var() + away) / 2
        center = (0.5 * 0.3 + rows.sum()) / kappa
        laws = {
            "mean": stats.t(2 * shape, center, np.sqrt(rate / (shape * kappa))),
            "variance": stats.invgamma(shape, scale=rate),
        }
        for name, law in laws.items():
            moments = found[name].mean[j, 0], found[name].variance[j, 0]
            assert moments == pytest.approx((law.mean(), law.var()))


def test_wishart_parameters_are_posterior_moments():
    case = CASES["wishart"]
    labels = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0])
    found = short(case).cluster_parameters(labels)
    for j in range(2):
        rows = case.values[labels == j]
        n = len(rows)
        kappa, away = 0.5 + n, rows.mean(axis=0) - [0, 0.5]
        scatter = n * np.cov(rows.T, bias=True) + 0.5 * n / kappa * np.outer(away, away)
        law = stats.invwishart(4 + n, np.array([[1.5, 0.4], [0.4, 1.0]]) + scatter)
        center = (0.5 * np.array([0, 0.5]) + rows.sum(axis=0)) / kappa
        np.testing.assert_allclose(found["mean"].mean[j], center, rtol=1e-12)
        np.testing.assert_allclose(found["mean"].variance[j], np.diag(law.mean()) / kappa)
        np.testing.assert_allclose(found["covariance"].mean[j], law.mean())
        np.testing.assert_allclose(found["covariance"].variance[j], law.var())


@pytest.mark.parametrize(
    ("name", "parameter", "cluster", "law"),
    [
        (
            *("bernoulli", "probability", 1),
            lambda x: stats.beta(np.array([0.5, 1, 2]) + x.sum(axis=0), 4.7 - x.sum(axis=0)),
        ),
        ("poisson", "rate", 0, lambda x: stats.gamma(np.add([2, 1], x.sum(axis=0)), scale=1 / 5.4)),
        (
            *("categorical", "probability of 1", 1),
            lambda x: stats.dirichlet(0.6 + np.bincount(x[:, 1].astype(int), minlength=4)),
        ),
    ],
)
def test_parameters_of_categories_and_counts(name, parameter, cluster, law):
    labels = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0])
    found = short(CASES[name]).cluster_parameters(labels)[parameter]
    posterior = law(CASES[name].values[labels == cluster])
    np.testing.assert_allclose(found.mean[cluster], posterior.mean())
    np.testing.assert_allclose(found.variance[cluster], posterior.var())
    assert parameter[-1] != "1" or found.columns == ("0", "1", "2", "3")


def test_parameters_of_a_product_are_side_by_side():
    case = CASES["product"]
    found = short(case).cluster_parameters(np.zeros(9))
    names = {"rate", "mean", "variance", "probability", "probability of 3"}
    assert set(found.parameters) == names
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


# ----------------------------------------------------------------------------- profiles of clusters


def row_of(found, cluster, column, parameter):
    frame = found.to_frame()
    rows = frame.query("cluster == @cluster and column == @column and parameter == @parameter")
    assert len(rows) == 1
    return rows.iloc[0]


def interval(row):
    return [row["given_low"], row["given_high"]]


def fitted(data, kernel):
    return pt.sample(data, kernel=kernel, draws=20, burn_in=5, chains=1, rng=0)


def test_a_normal_column_given_the_partition():
    data = np.array([0.1, 0.4, -0.3, 5.0, 5.6])
    kernel = pt.NormalInverseGamma(mean=1.0, precision=0.5, shape=2.0, rate=1.5)
    found = fitted(data, kernel).profiles([0, 0, 0, 1, 1], prob=0.9)
    x = data[:3]
    n, c, a = 3, 3.5, 2.0 + 1.5
    centre = (0.5 * 1.0 + x.sum()) / c
    b = 1.5 + ((x - x.mean()) ** 2).sum() / 2 + 0.5 * n / (2 * c) * (x.mean() - 1.0) ** 2
    mean = row_of(found, 0, "0", "mean")
    law = stats.t(2 * a, centre, np.sqrt(b / (a * c)))
    assert mean["given"] == pytest.approx(centre)
    assert interval(mean) == pytest.approx(law.interval(0.9))
    sd = row_of(found, 0, "0", "sd")
    variance = stats.invgamma(a, scale=b)
    assert interval(sd) == pytest.approx(np.sqrt(variance.interval(0.9)))
    assert sd["given"] == pytest.approx(variance.expect(np.sqrt), rel=1e-6)


@pytest.mark.parametrize("size", [3, 4, 20])
def test_a_learned_rate_is_integrated_out(size):
    """Mean, and quantiles of μ and σ, by sums over a fine grid of rates."""
    data = np.concatenate([np.linspace(-0.4, 0.5, size), [5.0, 5.6]])
    prior, c0, a0 = stats.gamma(0.2, scale=1 / 0.4), 0.5, 2.0
    kernel = pt.NormalInverseGamma(mean=1.0, precision=c0, shape=a0, rate=pt.Gamma(0.2, 0.4))
    found = fitted(data, kernel).profiles([0] * size + [1, 1], prob=0.9)
    b = np.exp(np.linspace(-30, 8, 2_001))
    log_p = prior.logpdf(b) + np.log(b)
    for x in (data[:size], data[size:]):
        c, a = c0 + x.size, a0 + x.size / 2
        spread = ((x - x.mean()) ** 2).sum() / 2 + c0 * x.size / (2 * c) * (x.mean() - 1.0) ** 2
        log_p += a0 * np.log(b) - a * np.log(b + spread)
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    x = data[:size]
    c, a = c0 + size, a0 + size / 2
    centre = (c0 + x.sum()) / c
    rates = b + ((x - x.mean()) ** 2).sum() / 2 + c0 * size / (2 * c) * (x.mean() - 1.0) ** 2
    variances = stats.invgamma(a, scale=rates)
    means = stats.t(2 * a, centre, np.sqrt(rates / (a * c)))

    def quantile(cdf, q, low, high):
        return brentq(lambda value: p @ cdf(value) - q, low, high)

    sd = row_of(found, 0, "0", "sd")
    exact = [np.sqrt(quantile(variances.cdf, q, 1e-9, 1e3)) for q in (0.05, 0.95)]
    assert interval(sd) == pytest.approx(exact, rel=0.01)
    expected = p @ (np.sqrt(rates) * np.exp(gammaln(a - 0.5) - gammaln(a)))
    assert sd["given"] == pytest.approx(expected, rel=0.01)
    mean = row_of(found, 0, "0", "mean")
    exact = [quantile(means.cdf, q, -50, 50) for q in (0.05, 0.95)]
    assert interval(mean) == pytest.approx(exact, abs=0.005)


def test_correlated_columns_have_the_marginal_laws():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(6, 2))
    kernel = pt.NormalInverseWishart(mean=0.0, precision=0.5, degrees=6, scale=1.0)
    found = fitted(data, kernel).profiles([0] * 6, prob=0.8)
    n, d = data.shape
    centre = data.sum(axis=0) / (n + 0.5)
    average = data.mean(axis=0)
    away = data - average
    psi = np.eye(2) + away.T @ away + 0.5 * n / (n + 0.5) * np.outer(average, average)
    freedom = 6 + n - d + 1
    for j in range(d):
        law = stats.t(freedom, centre[j], np.sqrt(psi[j, j] / ((n + 0.5) * freedom)))
        row = row_of(found, 0, str(j), "mean")
        assert interval(row) == pytest.approx(law.interval(0.8))
        variance = stats.invgamma(freedom / 2, scale=psi[j, j] / 2)
        row = row_of(found, 0, str(j), "sd")
        assert interval(row) == pytest.approx(np.sqrt(variance.interval(0.8)))


def test_counts_and_levels_given_the_partition():
    counts = fitted(np.array([1, 2, 9]), pt.GammaPoisson(shape=2, rate=0.5)).profiles([0, 0, 1])
    rate = row_of(counts, 0, "0", "rate")
    law = stats.gamma(5, scale=1 / 2.5)
    assert [rate["given"], rate["given_low"]] == pytest.approx([law.mean(), law.ppf(0.025)])
    table = {"smoker": [0, 1, 1]}
    shares = fitted(pd.DataFrame(table), pt.BetaBernoulli(a=1, b=1)).profiles([0, 0, 1])
    share = row_of(shares, 0, "smoker", "share of 1")
    law = stats.beta(2, 2)
    assert [share["given"], share["given_high"]] == pytest.approx([0.5, law.ppf(0.975)])
    levels = fitted(pd.DataFrame({"kind": ["a", "b", "b"]}), pt.DirichletCategorical(weight=1))
    share = row_of(levels.profiles([0, 0, 1]), 0, "kind", "share of b")
    assert share["given"] == pytest.approx(0.5)


def test_averages_over_the_draws_clusters_by_enumeration():
    data = np.array([1.0, 2.0, 9.0, 4.0])
    partitions = list(pt.lattice.all_partitions(4))
    log_prior = np.array([pt.DirichletProcess(1.0).log_probability(c) for c in partitions])
    poisson = references.gamma_poisson(2, 0.5)
    weights = references.exact_posterior(data[:, None], partitions, poisson, log_prior)
    labels = np.array([0, 0, 1, 1], np.int32)
    kernel = pt.GammaPoisson(shape=2, rate=0.5)
    table = as_table(data)
    bound = kernel.bind(table)
    values = bound.encode(table)
    draws = pt.Draws(np.array(partitions), weights=weights)
    rng = np.random.default_rng(0)
    found = profile(bound, values, ("0",), draws, labels, prob=0.9, rng=rng)
    for cluster in (0, 1):
        members = np.flatnonzero(labels == cluster)
        expected = 0.0
        for row, weight in zip(partitions, weights, strict=True):
            rates = [
                (2 + data[row == row[i]].sum()) / (0.5 + (row == row[i]).sum()) for i in members
            ]
            expected += weight * np.mean(rates)
        assert found.averaged[cluster] == pytest.approx(expected)
    # The interval: by simulation of the same mixture, written out item by item.
    many = rng.choice(len(partitions), 4_000, p=weights)
    repeated = pt.Draws(np.array(partitions)[many])
    sims = np.empty((4_000, 2))
    for s, m in enumerate(many):
        row = partitions[m]
        theta = [
            rng.gamma(2 + data[row == k].sum(), 1 / (0.5 + (row == k).sum()))
            for k in range(row.max() + 1)
        ]
        sims[s] = [np.mean([theta[row[i]] for i in np.flatnonzero(labels == c)]) for c in (0, 1)]
    wide = profile(bound, values, ("0",), repeated, labels, prob=0.9, rng=np.random.default_rng(3))
    for c in (0, 1):  # two samples of 4,000: quantiles agree to about 3%
        low, high = np.quantile(sims[:, c], [0.05, 0.95])
        assert wide.averaged_low[c] == pytest.approx(low, rel=0.1)
        assert wide.averaged_high[c] == pytest.approx(high, rel=0.1)


def test_a_law_that_the_moments_do_not_determine_is_not_guessed():
    kernel = pt.NormalInverseGamma(mean=0, precision=0.5, shape=0.5, rate=1)
    table = as_table(np.array([0.0, 1.0]))
    moments = kernel.bind(table).moments(kernel.encode(table), np.zeros(2, np.int32), ("x",))
    found = laws_of(moments)
    assert np.isnan(found.quantile(0.5)).all()


def test_data_without_a_model_by_hand():
    data = pd.DataFrame({"x": [1.0, 2.0, 5.0, 6.0], "kind": ["a", "a", "b", "a"]})
    draws = [[0, 0, 1, 1], [0, 0, 0, 1]]
    found = pt.profiles(draws, [0, 0, 1, 1], data=data, prob=1.0)
    mean = row_of(found, 1, "x", "mean")
    assert mean["given"] == 5.5
    first, second = 5.5, (8 / 3 + 6) / 2
    assert mean["averaged"] == pytest.approx((first + second) / 2)
    assert [mean["averaged_low"], mean["averaged_high"]] == pytest.approx([second, first])
    sd = row_of(found, 0, "x", "sd")
    wide = np.std([1, 2, 5])
    assert [sd["given"], sd["averaged_high"]] == pytest.approx([0.5, wide])
    share = row_of(found, 1, "kind", "share of b")
    assert share["given"] == 0.5
    assert share["averaged"] == pytest.approx((0.5 + (1 / 3 + 0) / 2) / 2)
    with pytest.raises(pt.PartitaError, match="one row per item"):
        pt.profiles(draws, [0, 0, 1, 1], data=[1.0, 2.0])


def test_names_are_shown_whole_and_at_most_ten_levels():
    name = "systolic_blood_pressure_at_the_first_visit_in_the_morning"
    levels = [f"level {i:02}" for i in range(14)] * 5
    data = pd.DataFrame({name: np.arange(70.0), "clinic": levels})
    shown = str(pt.profiles([[0] * 70] * 4, [0] * 70, data=data))
    assert name in shown
    assert shown.count("share of") == 10
    assert "4 rows of less frequent levels are in to_frame()" in shown
