"""Learned weights, numbers of components and rates against enumeration over grids of them."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats
from scipy.interpolate import CubicSpline
from scipy.special import logsumexp, multigammaln

import partita as pt
from partita.kernels.gibbs.prior import log_rising
from partita.samplers.finite_mixture import _log_rising
from partita.testing import assert_exact, frequencies
from reference import samplers_models as references
from samplers.test_user_defined import forged

N = 5
PARTITIONS = np.array(list(pt.lattice.all_partitions(N)))
DATA = np.array([-1.3, -0.9, 0.2, 1.1, 1.4])
CELLS = {"mean": 0.2, "precision": 0.5, "shape": 2.0}
KERNEL = pt.NormalInverseGamma(**CELLS, rate=1)
RUN = {"draws": 1_500, "burn_in": 50, "chains": 40, "rng": 7, "progress": False}
GRID = np.linspace(-13, 13, 174)
"""Log weights and log rates; the trapezoidal rule on it is exact to many digits."""

NUMBERS = np.array([0.1, 0.2, 0.3, 0.1, 0.1, 0.2])
"""Probabilities of 1 … 6 components."""

LAWS = {
    "gamma": (pt.Gamma(1.5, 1.2), stats.gamma(1.5, scale=1 / 1.2)),
    "F": (pt.F(6, 3), stats.f(6, 3)),
    "fixed": (0.7, None),
}


@cache
def log_marginals(rate: float = 1.0) -> np.ndarray:
    """Log density of the data given each partition."""
    reference = references.normal_inverse_gamma(**CELLS, rate=rate)
    rows = DATA[:, None]
    part = cache(lambda members: references.log_marginal(reference, rows[list(members)]))
    return np.array(
        [
            sum(part(tuple(np.flatnonzero(c == j).tolist())) for j in range(c.max() + 1))
            for c in PARTITIONS
        ]
    )


@cache
def exact(law: str, dynamic: bool) -> np.ndarray:
    """Joint probabilities of partition, number of components and weight on the grid."""
    prior, density = LAWS[law]
    weights = np.exp(GRID) if density else np.array([prior])
    log_density = density.logpdf(weights) + GRID if density else np.zeros(1)
    log_p = np.full((len(PARTITIONS), NUMBERS.size, weights.size), -np.inf)
    alone = np.eye(NUMBERS.size)
    for n, w in np.ndindex(NUMBERS.size, weights.size):
        own = weights[w] / (n + 1) if dynamic else weights[w]
        of = cache(
            lambda *sizes, n=n, own=own: references.log_prior_sizes(
                "finite", sizes, weight=own, components=alone[n]
            )
        )
        log_p[:, n, w] = [of(*sorted(np.bincount(labels).tolist())) for labels in PARTITIONS]
    log_p += np.log(NUMBERS)[:, None] + log_density
    log_p += log_marginals()[:, None, None]
    return np.exp(log_p - logsumexp(log_p))


def prior_of(law: str, dynamic: bool) -> pt.FiniteMixture:
    return pt.FiniteMixture(LAWS[law][0], components=NUMBERS, dynamic=dynamic)


def assert_distribution(trace: np.ndarray, grid: np.ndarray, p: np.ndarray) -> None:
    """The probabilities below a few quantiles, within Monte Carlo error between chains."""
    fine = np.linspace(grid[0], grid[-1], 2001)
    density = np.exp(CubicSpline(grid, np.log(np.maximum(p, 1e-60)))(fine))
    below = np.cumsum(density / density.sum())
    for q in (0.1, 0.3, 0.5, 0.7, 0.9):
        at = np.interp(q, below, fine)
        found = (np.log(trace) < at).mean(axis=1)
        error = found.std(ddof=1) / np.sqrt(found.size)
        assert abs(found.mean() - q) < 4.5 * error + 1e-3, (q, found.mean(), error)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("law", LAWS)
def test_finite_mixtures(law, dynamic):
    p = exact(law, dynamic)
    fit = pt.sample(DATA, kernel=KERNEL, prior=prior_of(law, dynamic), **RUN)
    assert_exact(frequencies(fit.draws, PARTITIONS), p.sum(axis=(1, 2)))
    numbers = fit.trace["n_components"][..., None] == np.arange(1, 1 + NUMBERS.size)
    assert_exact(numbers.mean(axis=1), p.sum(axis=(0, 2)))
    assert ("weight" in fit.trace) == (law != "fixed")
    if law != "fixed":
        assert_distribution(fit.trace["weight"], GRID, p.sum(axis=(0, 1)))


@pytest.mark.parametrize("x", [1e-9, 0.3, 7.0, 9.9e4, 1.1e5, 1e9, 1e14])
def test_rising_factorials_keep_their_digits(x):
    expected = np.log(x + np.arange(60.0)).sum()
    assert log_rising(x, 60.0) == pytest.approx(expected, rel=1e-10, abs=1e-8)
    assert _log_rising(np.array([x, 1.0]), 60)[0] == pytest.approx(expected, rel=1e-10, abs=1e-8)


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_learned_weight_is_integrated_out_of_the_prior(dynamic):
    """Sums of all partitions, expected clusters, and the sampler without information."""
    law = pt.F(6, 3) if dynamic else pt.Gamma(0.5, 0.2)
    pt.testing.check_prior(pt.FiniteMixture(law, mean_components=3, dynamic=dynamic), n_items=5)


def test_a_fixed_number_of_components_learns_its_weight():
    prior = pt.FiniteMixture.exactly(3, weight=pt.Gamma(1.5, 1.2))
    fit = pt.sample(DATA, kernel=KERNEL, prior=prior, **RUN)
    log_p = np.array([prior.log_probability(labels) for labels in PARTITIONS]) + log_marginals()
    assert_exact(frequencies(fit.draws, PARTITIONS), np.exp(log_p - logsumexp(log_p)))
    assert (fit.trace["n_components"] == 3).all()


TWO = np.array([[-1.3, 3.0], [-0.9, np.nan], [0.2, 5.5], [1.1, 4.0], [1.4, 9.0]])


def two_columns(kind: str) -> tuple[pt.Kernel, list[tuple[float, float, float, pt.Gamma | float]]]:
    """Two columns in two blocks of different order, as one kernel or as a product of two."""
    columns = [(0.2, 0.5, 2.0, pt.Gamma(1.5, 0.8)), (5.0, 0.1, 1.5, pt.Gamma(2.0, 0.3))]
    if kind == "one of two":
        columns[0] = (*columns[0][:3], 0.7)
    if kind == "product":
        one, two = (pt.NormalInverseGamma(*column) for column in columns)
        return pt.Product((two, [1]), (one, [0])), columns
    return pt.NormalInverseGamma(*zip(*columns, strict=True)), columns


@pytest.mark.parametrize("kind", ["both", "one of two", "product"])
def test_learned_rates_of_several_columns_with_a_missing_cell(kind):
    kernel, columns = two_columns(kind)
    grid = np.linspace(-7, 6, 40)
    log_p = np.array([pt.DirichletProcess(1.0).log_probability(c) for c in PARTITIONS])
    margins = []
    for column, (mean, c, a, rate) in enumerate(columns):
        here = ~np.isnan(TWO[:, column])
        rates = np.exp(grid) if isinstance(rate, pt.Gamma) else np.array([rate])
        log_q = np.zeros(1)
        if isinstance(rate, pt.Gamma):
            log_q = stats.gamma(rate.shape, scale=1 / rate.rate).logpdf(rates) + grid
        each = np.empty((len(PARTITIONS), rates.size))
        for b, value in enumerate(rates):
            reference = references.normal_inverse_gamma(mean, c, a, value)
            part = cache(
                lambda members, reference=reference, column=column: references.log_marginal(
                    reference, TWO[list(members)][:, [column]]
                )
            )
            for m, labels in enumerate(PARTITIONS):
                groups = [np.flatnonzero(here & (labels == j)) for j in range(labels.max() + 1)]
                each[m, b] = log_q[b] + sum(part(tuple(g.tolist())) for g in groups if g.size)
        margins.append(each)
        log_p = log_p + logsumexp(each, axis=1)
    fit = pt.sample(TWO, kernel=kernel, prior=pt.DirichletProcess(1.0), **RUN)
    p = np.exp(log_p - logsumexp(log_p))
    assert_exact(frequencies(fit.draws, PARTITIONS), p)
    rate = np.exp(margins[1] - logsumexp(margins[1], axis=1, keepdims=True))
    assert_distribution(fit.trace["rate of 1"], grid, p @ rate)
    assert ("rate of 0" in fit.trace) == (kind != "one of two")


PLANE = np.array([[-1.3, 3.0], [-0.9, 3.9], [0.2, 5.5], [1.1, 5.0], [1.4, 9.0]])
SCALES = (pt.Gamma(1.5, 0.8), pt.Gamma(2.0, 0.5))
WIDE = {"mean": (0.2, 5.0), "precision": 0.3, "degrees": 4.5}


def wishart_marginals(rows: np.ndarray, one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Log density of a cluster under diagonal scales (one, two), by its closed form."""
    n, kappa, nu = len(rows), WIDE["precision"], WIDE["degrees"]
    away = rows - np.array(WIDE["mean"])
    spread = away.T @ away - np.outer(away.sum(axis=0), away.sum(axis=0)) / (kappa + n)
    posterior = (one + spread[0, 0]) * (two + spread[1, 1]) - spread[0, 1] ** 2
    constant = multigammaln((nu + n) / 2, 2) - multigammaln(nu / 2, 2) - n * np.log(np.pi)
    constant += np.log(kappa / (kappa + n))
    return constant + nu / 2 * np.log(one * two) - (nu + n) / 2 * np.log(posterior)


@pytest.mark.parametrize("kind", ["alone", "product"])
def test_learned_scale(kind):
    """Partitions and both scales against enumeration; in a product around a normal column."""
    kernel = pt.NormalInverseWishart(**WIDE, scale=SCALES)
    prior = pt.DirichletProcess(1.0)
    grid = np.linspace(-7, 6, 53)
    one, two = np.meshgrid(np.exp(grid), np.exp(grid), indexing="ij")
    laws = [stats.gamma(g.shape, scale=1 / g.rate).logpdf(np.exp(grid)) + grid for g in SCALES]
    part = cache(lambda members: wishart_marginals(PLANE[list(members)], one, two))
    log_p = np.empty((len(PARTITIONS), grid.size, grid.size))
    for m, labels in enumerate(PARTITIONS):
        groups = [tuple(np.flatnonzero(labels == j).tolist()) for j in range(labels.max() + 1)]
        log_p[m] = prior.log_probability(labels) + sum(map(part, groups))
    log_p += laws[0][:, None] + laws[1]
    data, names = PLANE, ("scale of 0", "scale of 1")
    if kind == "product":
        normal = pt.NormalInverseGamma(**CELLS, rate=pt.Gamma(1.5, 0.8))
        kernel = pt.Product((normal, [1]), (kernel, [0, 2]))
        data = np.column_stack([PLANE[:, 0], DATA, PLANE[:, 1]])
        names = ("scale of 0", "scale of 2")
        rates = np.stack([log_marginals(float(b)) for b in np.exp(grid)], axis=1)
        rates += stats.gamma(1.5, scale=1 / 0.8).logpdf(np.exp(grid)) + grid
        log_p += logsumexp(rates, axis=1)[:, None, None]
    p = np.exp(log_p - logsumexp(log_p))
    fit = pt.sample(data, kernel=kernel, prior=prior, **RUN)
    assert_exact(frequencies(fit.draws, PARTITIONS), p.sum(axis=(1, 2)))
    assert_distribution(fit.trace[names[0]], grid, p.sum(axis=(0, 2)))
    assert_distribution(fit.trace[names[1]], grid, p.sum(axis=(0, 1)))
    assert set(names) < set(pt.diagnose(fit).names)


def test_a_learned_scale_is_used_saved_and_extended(tmp_path):
    kernel = pt.NormalInverseWishart.hierarchical(PLANE)
    short = {"kernel": kernel, "burn_in": 20, "chains": 2, "rng": 3, "progress": False}
    whole = pt.sample(PLANE, draws=30, **short)
    part = pt.sample(PLANE, draws=20, **short)
    part.save(tmp_path / "fit.npz")
    loaded = pt.Fit.load(tmp_path / "fit.npz")
    assert loaded.kernel == kernel
    again = loaded.extend(draws=10, progress=False)
    assert all(np.array_equal(again.trace[name], whole.trace[name]) for name in whole.trace)
    # The density is that of the draws' own scales.
    point, expected = np.array([[0.3, 4.0]]), []
    for labels, *scale in zip(
        whole.draws.labels, *(whole.trace[f"scale of {c}"].ravel() for c in (0, 1)), strict=True
    ):
        fixed = pt.NormalInverseWishart(kernel.mean, 0.01, 5.0, np.diag(scale))
        reference = references.normal_inverse_wishart(kernel.mean, 0.01, 5.0, np.diag(scale))
        assert kernel.at(np.array(scale)) == fixed
        alpha = whole.trace["concentration"].ravel()[len(expected)]
        groups = [PLANE[labels == j] for j in range(labels.max() + 1)] + [PLANE[:0]]
        weights = np.array([len(g) for g in groups[:-1]] + [alpha]) / (N + alpha)
        expected.append(weights @ [np.exp(reference(point[0], g)) for g in groups])
    np.testing.assert_allclose(whole.density(point).mean, np.mean(expected), rtol=1e-9)
    assert whole.replicate(3).shape == (3, 5, 2)
    assert whole.predict(point, [0, 0, 0, 1, 1]).sum() == pytest.approx(1)
    # Scales given a partition: the mean of their draws is that of a grid.
    grid = np.exp(np.linspace(-7, 7, 90))
    one, two = np.meshgrid(grid, grid, indexing="ij")
    wide = pt.NormalInverseWishart(**WIDE, scale=SCALES)
    log_q = sum(wishart_marginals(PLANE[s], one, two) for s in (slice(0, 2), slice(2, 5)))
    for law, value in zip(SCALES, (one, two), strict=True):
        log_q = log_q + stats.gamma(law.shape, scale=1 / law.rate).logpdf(value) + np.log(value)
    q = np.exp(log_q - logsumexp(log_q))
    given = np.array([np.diag(k.scale) for k in wide.given(PLANE, np.array([0, 0, 1, 1, 1]))])
    error = given.std(axis=0) / np.sqrt(len(given))
    assert (np.abs(given.mean(axis=0) - [(q * one).sum(), (q * two).sum()]) < 4 * error).all()


def quadrature(labels: np.ndarray, rate: pt.Gamma) -> tuple[np.ndarray, np.ndarray]:
    """Rates and their probabilities given a partition of the data."""
    grid = np.linspace(-7, 7, 281)
    log_q = stats.gamma(rate.shape, scale=1 / rate.rate).logpdf(np.exp(grid)) + grid
    for u, b in enumerate(np.exp(grid)):
        reference = references.normal_inverse_gamma(**CELLS, rate=b)
        for j in range(labels.max() + 1):
            log_q[u] += references.log_marginal(reference, DATA[labels == j][:, None])
    return np.exp(grid), np.exp(log_q - logsumexp(log_q))


@cache
def learned_fit() -> pt.Fit:
    kernel = replace(KERNEL, rate=pt.Gamma(1.5, 0.8))
    short = {"draws": 30, "burn_in": 20, "chains": 2, "rng": 1, "progress": False}
    return pt.sample(DATA, kernel=kernel, prior=prior_of("gamma", True), **short)


def test_density_is_that_of_the_draws_own_parameters():
    fit = learned_fit()
    points = np.array([-2.0, 0.3, 4.0])
    expected = []
    names = ("n_components", "weight", "rate of 0")
    numbers, weights, rates = (fit.trace[name].ravel() for name in names)
    for labels, n, weight, rate in zip(fit.draws.labels, numbers, weights, rates, strict=True):
        prior = pt.FiniteMixture.exactly(int(n), weight=float(weight) / n)
        reference = references.normal_inverse_gamma(**CELLS, rate=rate)
        seats = [prior.log_ratio(np.append(labels, j), labels) for j in range(labels.max() + 2)]
        expected.append(
            [
                sum(
                    np.exp(seat + reference(np.array([x]), DATA[labels == j][:, None]))
                    for j, seat in enumerate(seats)
                )
                for x in points
            ]
        )
    np.testing.assert_allclose(fit.density(points).mean, np.mean(expected, axis=0), rtol=1e-9)


def test_predictions_integrate_what_is_learned():
    fit = learned_fit()
    labels = np.array([0, 0, 0, 1, 1])
    rates, p = quadrature(labels, fit.kernel.rate)
    for x in (-0.5, 3.0):
        found = fit.predict([x], labels)[0]
        weights = []
        for j in range(3):
            seat = fit.prior.log_ratio(np.append(labels, j), np.append(labels, 0))
            rows = DATA[labels == j][:, None]
            densities = [
                np.exp(references.normal_inverse_gamma(**CELLS, rate=b)(np.array([x]), rows))
                for b in rates
            ]
            weights.append(np.exp(seat) * (p @ densities))
        # 64 evenly spaced quantiles stand for the rate.
        np.testing.assert_allclose(found, weights / np.sum(weights), rtol=0.01)


def test_parameters_integrate_the_rate():
    fit = learned_fit()
    labels = np.array([0, 0, 0, 1, 1])
    rates, p = quadrature(labels, fit.kernel.rate)
    variances = [
        fit.kernel.at(np.array([b])).moments(DATA[:, None], labels.astype(np.int32), ("0",))
        for b in rates
    ]
    means = np.stack([m["variance"].mean for m in variances], axis=-1)
    found = fit.cluster_parameters(labels)
    np.testing.assert_allclose(found["variance"].mean, means @ p, rtol=0.01)
    single = replace(fit, kernel=KERNEL, trace={**fit.trace}).cluster_parameters(labels)
    np.testing.assert_allclose(found["mean"].mean, single["mean"].mean, rtol=1e-12)
    profiles = fit.profiles(labels)
    assert (profiles.given_low < profiles.given).all()
    assert (profiles.averaged < profiles.averaged_high).all()


def test_what_a_fit_simulates_follows_the_draws_rates():
    kernel, _ = two_columns("both")
    fit = pt.sample(TWO, kernel=kernel, draws=400, burn_in=50, chains=2, rng=0, progress=False)
    cell = fit.impute()
    assert cell.lower[0] < cell.mean[0] < cell.upper[0]
    assert fit.replicate(3).shape == (3, 5, 2)
    distances = fit.kernel_distance(draws=50)
    assert ((distances >= 0) & (distances <= 1)).all()
    # A kernel whose rate is far larger makes data that are far wider.
    wide = {name: v * (1e6 if name == "rate of 0" else 1) for name, v in fit.trace.items()}
    there = np.abs(replace(fit, trace=wide).replicate(20)[:, :, 0]).mean()
    assert there > 50 * np.abs(fit.replicate(20)[:, :, 0]).mean()


def test_learned_parameters_are_saved_resumed_and_extended(tmp_path, monkeypatch):
    kernel, _ = two_columns("product")
    model = {"kernel": kernel, "prior": prior_of("F", True), "burn_in": 20, "chains": 2}
    model |= {"rng": 3, "progress": False}
    whole = pt.sample(TWO, draws=60, **model)
    part = pt.sample(TWO, draws=35, checkpoint=tmp_path / "run.npz", **model)
    resumed = pt.sample(TWO, draws=60, resume=tmp_path / "run.npz", **model)
    part.save(tmp_path / "fit.npz")
    loaded = pt.Fit.load(tmp_path / "fit.npz")
    assert (loaded.kernel, loaded.prior) == (whole.kernel, whole.prior)
    for again in (resumed, loaded.extend(draws=25, progress=False)):
        assert again.draws == whole.draws
        assert set(again.trace) == set(whole.trace)
        assert all(np.array_equal(again.trace[name], whole.trace[name]) for name in whole.trace)
    assert {"weight", "n_components", "rate of 0", "rate of 1"} < set(whole.trace)
    names = pt.diagnose(whole).names
    assert {"weight", "n_components", "rate of 0", "log_posterior"} < set(names)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("trace_weight", lambda a: -a),
        ("trace_rate of 0", lambda a: 0 * a),
        ("rates_0", lambda a: -a),
        ("rates_1", lambda a: a[:0]),
    ],
)
def test_a_forged_file_is_refused(tmp_path, name, change):
    learned_fit().save(tmp_path / "fit.npz")
    path = forged(tmp_path / "fit.npz", tmp_path / "forged.npz", **{name: change})
    with pytest.raises(pt.PartitaError, match="not a complete partita fit"):
        pt.Fit.load(path)


def test_log_posterior_is_complete():
    fit = learned_fit()
    weight, rate = LAWS["gamma"][1], stats.gamma(1.5, scale=1 / 0.8)
    trace = {name: values.ravel() for name, values in fit.trace.items()}
    for m, labels in enumerate(fit.draws.labels[:10]):
        n, w, b = trace["n_components"][m], trace["weight"][m], trace["rate of 0"][m]
        prior = pt.FiniteMixture.exactly(int(n), weight=w / n)
        expected = prior.log_probability(labels) + np.log(NUMBERS[n - 1])
        expected += weight.logpdf(w) + rate.logpdf(b)
        reference = references.normal_inverse_gamma(**CELLS, rate=b)
        for j in range(labels.max() + 1):
            expected += references.log_marginal(reference, DATA[labels == j][:, None])
        assert trace["log_posterior"][m] == pytest.approx(expected, abs=1e-9)


def test_the_galaxies_are_narrower_groups_than_their_variance_says():
    """Six clusters rather than four or five; see ``docs/explain/known_answers.md``."""
    data = pt.datasets.galaxies()
    kernel = pt.NormalInverseGamma.hierarchical(data)
    fit = pt.sample(data, kernel=kernel, draws=2_500, burn_in=500, chains=4, rng=0, progress=False)
    k = fit.trace["n_clusters"]
    assert 5.9 < k.mean() < 7.0  # 6.44 in a run of 40,000 draws; the standard error is 0.12
    assert (k <= 2).mean() < 0.005
    assert 0.7 < fit.trace["rate of 0"].mean() < 1.4  # of data whose variance is 20.8


def test_expected_offsets_are_those_of_a_grid():
    """E[(μ − μ0)²/σ²] given the rows of a cluster, by summing over means and log variances."""
    kernel = pt.NormalInverseGamma(mean=0.2, precision=0.5, shape=3.0, rate=1.5)
    rows = np.array([[-1.3, 0.4], [0.9, np.nan], [0.2, 2.0], [1.4, np.nan]])
    found = kernel.offsets(rows, np.array([0, 0, 1, 1], np.int32))
    mu, log_var = np.meshgrid(np.linspace(-12, 12, 2401), np.linspace(-5, 9, 701), indexing="ij")
    variance = np.exp(log_var)
    prior = stats.norm.logpdf(mu, 0.2, np.sqrt(variance / 0.5))
    prior += stats.invgamma.logpdf(variance, 3.0, scale=1.5) + log_var
    for j, part in enumerate((rows[:2], rows[2:])):
        for column in range(2):
            cells = part[np.isfinite(part[:, column]), column]
            logs = prior + sum(stats.norm.logpdf(x, mu, np.sqrt(variance)) for x in cells)
            weights = np.exp(logs - logs.max())
            expected = (weights * (mu - 0.2) ** 2 / variance).sum() / weights.sum()
            assert found[j, column] == pytest.approx(expected, rel=1e-3)
