"""Profiles of clusters: exact laws given a partition, enumeration of the averages."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import brentq
from scipy.special import gammaln

import partita as pt
from partita.io.data_table import as_table
from partita.samplers.predict import laws_of, profile
from reference import samplers_models as references


def row_of(found, cluster, column, parameter):
    frame = found.to_frame()
    rows = frame.query("cluster == @cluster and column == @column and parameter == @parameter")
    assert len(rows) == 1
    return rows.iloc[0]


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
    assert [mean["given_low"], mean["given_high"]] == pytest.approx(law.interval(0.9))
    sd = row_of(found, 0, "0", "sd")
    variance = stats.invgamma(a, scale=b)
    assert [sd["given_low"], sd["given_high"]] == pytest.approx(np.sqrt(variance.interval(0.9)))
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
    assert [sd["given_low"], sd["given_high"]] == pytest.approx(exact, rel=0.01)
    expected = p @ (np.sqrt(rates) * np.exp(gammaln(a - 0.5) - gammaln(a)))
    assert sd["given"] == pytest.approx(expected, rel=0.01)
    mean = row_of(found, 0, "0", "mean")
    exact = [quantile(means.cdf, q, -50, 50) for q in (0.05, 0.95)]
    assert [mean["given_low"], mean["given_high"]] == pytest.approx(exact, abs=0.005)


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
        assert [row["given_low"], row["given_high"]] == pytest.approx(law.interval(0.8))
        variance = stats.invgamma(freedom / 2, scale=psi[j, j] / 2)
        row = row_of(found, 0, str(j), "sd")
        assert [row["given_low"], row["given_high"]] == pytest.approx(
            np.sqrt(variance.interval(0.8))
        )


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


def test_a_certain_clustering_has_both_ways_alike():
    data = np.array([0.0, 0.2, 8.0, 8.3])
    labels = np.array([0, 0, 1, 1], np.int32)
    table = as_table(data)
    kernel = pt.NormalInverseGamma(mean=0, precision=0.5, shape=3, rate=1).bind(table)
    draws = pt.Draws(np.repeat(labels[None, :], 1_500, axis=0))
    rng = np.random.default_rng(1)
    found = profile(kernel, kernel.encode(table), ("x",), draws, labels, prob=0.8, rng=rng)
    np.testing.assert_allclose(found.averaged, found.given)
    # Quantiles of 1,500 draws: within a few percent of the spread.
    width = found.given_high - found.given_low
    assert (np.abs(found.averaged_low - found.given_low) < 0.12 * width).all()
    assert (np.abs(found.averaged_high - found.given_high) < 0.12 * width).all()


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
