"""Missing cells are integrated out: against densities of the cells that are there."""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest

import partita as pt
from partita.kernels.gibbs import family
from partita.kernels.gibbs.family import join_weights
from reference import samplers_models as references
from samplers.cases import PRIORS, Case, exact
from samplers.test_families import LABELS, compiled, flat

normal, poisson = references.normal_inverse_gamma, references.gamma_poisson
beta, levels = references.beta_bernoulli, references.dirichlet_categorical
NORMAL = pt.NormalInverseGamma(0.2, 0.5, 2, 1)
HOLES = [(0, 1), (1, 0), (3, 0), (3, 1), (5, 1)]  # item 3 has no cell at all
KERNELS = {
    "normal": (NORMAL, [normal(0.2, 0.5, 2, 1)] * 2),
    "normal by column": (
        pt.NormalInverseGamma([0, 1], [0.5, 2], [2, 3], [1, 2]),
        [normal(0, 0.5, 2, 1), normal(1, 2, 3, 2)],
    ),
    "bernoulli": (pt.BetaBernoulli([0.5, 1], 0.7), [beta(0.5, 0.7), beta(1, 0.7)]),
    "categorical": (
        pt.DirichletCategorical(0.6, ((0, 1, 2), (0, 1, 2, 3))),
        [levels(0.6, [3]), levels(0.6, [4])],
    ),
    "poisson": (pt.GammaPoisson([2, 1], 0.4), [poisson(2, 0.4), poisson(1, 0.4)]),
    "product": (
        pt.Product((pt.GammaPoisson(2, 0.4), [1]), (NORMAL, [0])),
        [normal(0.2, 0.5, 2, 1), poisson(2, 0.4)],
    ),
}
"""Kernels and the references of their columns."""


def rows_for(name: str, n: int) -> np.ndarray:
    rng = np.random.default_rng(5)
    side = np.where(np.arange(n) % 2 == 0, 0.0, 1.0)
    rows = {
        "bernoulli": (rng.random((n, 2)) < 0.25 + 0.5 * side[:, None]).astype(float),
        "categorical": (rng.integers(0, 3, (n, 2)) + side[:, None]) % [3, 4],
        "poisson": rng.poisson(2 + 7 * side[:, None], (n, 2)).astype(float),
    }.get(name, 2 * side[:, None] + 0.8 * rng.standard_normal((n, 2)))
    if name == "product":
        rows[:, 1] = rng.poisson(2 + 7 * side)
    for row, column in HOLES:
        rows[row, column] = np.nan
    return rows


def case_of(name: str, n: int) -> Case:
    kernel, columns = KERNELS[name]
    rows = rows_for(name, n)
    return Case(name, kernel, rows, references.of_present_cells(columns))


@pytest.mark.parametrize("name", KERNELS)
def test_densities_are_those_of_the_cells_that_are_there(name):
    case = case_of(name, 14)
    _, model, bound = compiled(case)
    base = bound.log_base(case.values)
    _, joining = join_weights(model, model, flat(14), LABELS, 4)
    alone = family.prior_predictive(model, flat(14))
    for i, point in enumerate(case.values):
        expected = [case.reference(point, case.values[j == LABELS]) for j in range(4)]
        np.testing.assert_allclose(joining[i] + base[i], expected, atol=1e-9)
        assert alone[i] + base[i] == pytest.approx(case.reference(point, case.values[:0]), abs=1e-9)


@pytest.mark.parametrize("name", KERNELS)
def test_the_posterior_of_all_partitions_is_the_exact_one(name):
    case = case_of(name, 14)
    reference = partial(references.log_marginal, case.reference)
    prior = PRIORS["dirichlet, random"]
    pt.testing.check_kernel(case.kernel, case.rows, log_marginal=reference, prior=prior)


def test_without_holes_nothing_changes_and_a_new_point_may_have_them():
    rows = rows_for("normal", 9)
    whole = np.nan_to_num(rows)
    kernel = KERNELS["normal"][0]
    fit = pt.sample(whole, kernel=kernel, draws=20, burn_in=5, chains=1, rng=0)
    labels = fit.draws.labels[-1]
    first = pt.sample(whole[:, :1], kernel=kernel, draws=1, burn_in=0, chains=1, rng=0)
    point = np.array([[0.4, np.nan]])
    np.testing.assert_allclose(
        fit.predict(point, labels), first.predict(point[:, :1], labels), rtol=1e-12
    )
    assert fit.density(point).mean.shape == (1,)


def test_tables_from_everywhere_may_have_holes():
    frame = pd.DataFrame({"a": [1.5, None, 3, 2, 9], "b": ["x", None, "y", "x", "y"]})
    fit = pt.sample(frame, draws=20, burn_in=5, chains=1, rng=0)
    assert np.isnan(fit.values).sum() == 2
    assert fit.kernel.parts[0][0].mean == (5.25,)  # the middle of the range
    assert fit.kernel.parts[1][0].levels == (("x", "y"),)
    found = fit.cluster_parameters([0, 0, 0, 1, 1])
    assert found["mean"].mean.shape == (2, 1)
    np.testing.assert_allclose(found["probability of b"].mean[0], [0.5, 0.5])


MEANS = {
    pt.NormalInverseGamma: lambda h, x: (
        (h["precision"] * h["mean"] + x.sum()) / (h["precision"] + x.size)
    ),
    pt.GammaPoisson: lambda h, x: (h["shape"] + x.sum()) / (h["rate"] + x.size),
    pt.BetaBernoulli: lambda h, x: (h["a"] + x.sum()) / (h["a"] + h["b"] + x.size),
}
"""Posterior predictive means given hyperparameters and the cells of a cluster."""
SECOND = {
    "normal": (pt.NormalInverseGamma, {"mean": 0.2, "precision": 0.5}),
    "poisson": (pt.GammaPoisson, {"shape": 1, "rate": 0.4}),
    "bernoulli": (pt.BetaBernoulli, {"a": 1, "b": 0.7}),
}
"""What the kernels of these names say about the second column."""


@pytest.mark.parametrize("name", SECOND)
def test_imputed_means_are_those_of_the_exact_posterior(name):
    case, prior = case_of(name, 6), PRIORS["dirichlet"]
    partitions = np.array(list(pt.lattice.all_partitions(6)))
    expected, (kind, hyper) = 0.0, SECOND[name]
    for p, labels in zip(exact(case, prior, partitions), partitions, strict=True):
        cells = case.values[labels == labels[0], 1]  # the second cell of item 0 is missing
        expected += p * MEANS[kind](hyper, cells[~np.isnan(cells)])
    fit = pt.sample(
        case.rows, kernel=case.kernel, prior=prior, draws=4_000, burn_in=50, rng=1, progress=False
    )
    found = fit.impute()
    assert found.row.tolist() == sorted(row for row, _ in HOLES)
    assert found.column[0] == "1"
    # Means differ by about 1 between partitions, and 16,000 draws are worth some 5,000.
    assert found.mean[0] == pytest.approx(expected, abs=0.03, rel=0.02)
    assert (found.lower <= found.upper).all()
    assert found.filled[0, 1] == found.mean[0]
    assert not np.isnan(found.filled).any()


RATES = (1.3, [1.0, 2.0, 0.5], pt.Gamma(2, 1), [1.0, pt.Gamma(2, 1), pt.Gamma(3, 2)])
HYPER = {
    pt.NormalInverseGamma: {
        **{"mean": (0.2, [0, 1, -1]), "precision": (0.5, [0.5, 1, 2]), "shape": (2, [2, 3, 4])},
        "rate": RATES,
    },
    pt.GammaPoisson: {"shape": (2, [1, 2, 3]), "rate": (0.4, [0.1, 0.2, 0.3])},
    pt.BetaBernoulli: {"a": (1, [1, 2, 3]), "b": (0.7, [0.1, 0.2, 0.3])},
}
SHAPES = [
    (kind, dict(zip(values, hyper, strict=True)))
    for kind, values in HYPER.items()
    for hyper in product(*values.values())
]


@pytest.mark.parametrize("missing", range(3))
@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a product"])
def test_any_shape_of_hyperparameters_imputes_any_column(missing, inside):
    """Means of conjugate predictive distributions, recomputed draw by draw."""
    n, rng = 7, np.random.default_rng(missing)
    for kind, hyper in SHAPES:
        rows = rng.integers(0, 2, (n, 3)).astype(float)
        rows[2, missing] = np.nan
        kernel = kind(**hyper)
        if inside:  # behind another part, so that positions in the part and in the table differ
            rows = np.column_stack([np.arange(n) % 2, rows])
            kernel = pt.Product((pt.BetaBernoulli(), [0]), (kernel, [1, 2, 3]))
        fit = pt.sample(rows, kernel=kernel, draws=6, burn_in=2, chains=1, rng=0, progress=False)
        column = missing + inside
        h = {name: v[missing] if isinstance(v, list) else v for name, v in hyper.items()}
        expected = []
        for labels in fit.draws.labels:
            cells = rows[labels == labels[2], column]
            expected.append(MEANS[kind](h, cells[~np.isnan(cells)]))
        found = fit.impute()
        assert (found.row.tolist(), found.column) == ([2], (str(column),))
        assert found.mean[0] == pytest.approx(np.mean(expected), rel=1e-12)


def test_imputed_categories_and_intervals():
    fit = pt.sample(rows_for("categorical", 9), kernel=KERNELS["categorical"][0], draws=300, rng=0)
    found = fit.impute()
    assert found.probability[0].shape == (4,)
    assert found.probability[0].sum() == pytest.approx(1)
    assert found.mean[0] == found.probability[0].argmax()
    normal = pt.sample(rows_for("normal", 9), kernel=KERNELS["normal"][0], draws=2_000, rng=0)
    half, most = normal.impute(prob=0.5), normal.impute(prob=0.95)
    assert (most.upper - most.lower > half.upper - half.lower).all()


@pytest.mark.parametrize("name", KERNELS)
def test_replicates_have_the_predictive_mean(name):
    """Parameters drawn, then rows: their mean is the predictive mean that impute uses."""
    case = case_of(name, 14)
    rng = np.random.default_rng(0)
    members = np.arange(8)
    _, _, bound = compiled(case)
    simulated = np.concatenate([bound.simulate(case.values[members], 5, rng) for _ in range(2_000)])
    same = np.zeros((1, 14))
    same[0, members] = 1
    for column in range(2):
        expected, _ = bound.predict_cell(same, case.values[:, column], column, rng)
        if expected.ndim == 2:
            shares = (simulated[:, column, None] == np.arange(expected.shape[1])).mean(axis=0)
            np.testing.assert_allclose(shares, expected[0], atol=0.03)
        else:
            tolerance = 5 * simulated[:, column].std() / np.sqrt(2_000)
            assert simulated[:, column].mean() == pytest.approx(expected[0], abs=tolerance)


def test_wishart_replicates_have_the_posterior_covariance():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(40, 2)) @ [[1, 0.5], [0, 1]] + [3, -1]
    kernel = pt.NormalInverseWishart(0, 0.5, 6, 1)
    made = np.concatenate([kernel.simulate(rows, 20, rng) for _ in range(1_000)])
    moments = kernel.moments(rows, np.zeros(40, np.int32), ("a", "b"))
    np.testing.assert_allclose(made.mean(axis=0), moments["mean"].mean[0], atol=0.03)
    expected = moments["covariance"].mean[0] * (1 + 1 / 40.5)
    np.testing.assert_allclose(np.cov(made.T), expected, rtol=0.05, atol=0.03)
