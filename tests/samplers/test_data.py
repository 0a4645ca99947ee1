"""Data sets, tables from everywhere, the choice of a kernel, and data that cannot be used."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import partita as pt
from partita.io.data_table import as_table
from partita.samplers.sample import kernel_of_types
from stored import PAPER_DRAWS, needs_paper_draws

SHORT = {"draws": 5, "burn_in": 0, "chains": 1, "rng": 0}

FRAME = pd.DataFrame(
    {
        "size": [1.5, 2.0, 7.25, 8.0],
        "count": [3, 0, 9, 12],
        "flag": [True, False, True, True],
        "kind": ["a", "b", "b", "a"],
    }
)


@needs_paper_draws
def test_galaxies_are_those_of_the_paper():
    with np.load(PAPER_DRAWS / "galaxy.npz") as stored:
        np.testing.assert_array_equal(pt.datasets.galaxies(), stored["data"])


def test_galaxies_are_82_and_the_misprint_stands():
    velocities = pt.datasets.galaxies()
    assert velocities.shape == (82,)
    assert velocities[77] == 26.69
    assert (np.diff(velocities) > 0).all()


def test_four_normals_are_where_the_paper_puts_them():
    centers = [(2, 2), (2, -2), (-2, 2), (-2, -2)]
    for example, deviations in ((1, [1, 1, 1, 1]), (2, [1, 1.5, 0.5, 1])):
        made = pt.datasets.four_normals(example=example, n=40_000, rng=1)
        assert made.data.shape == (40_000, 2)
        np.testing.assert_allclose(np.bincount(made.labels) / 40_000, 0.25, atol=0.01)
        for j in range(4):
            rows = made.data[made.labels == j]
            np.testing.assert_allclose(rows.mean(axis=0), centers[j], atol=0.06)
            np.testing.assert_allclose(rows.std(axis=0), deviations[j], rtol=0.03)
    again = pt.datasets.four_normals(example=2, n=40_000, rng=1)
    np.testing.assert_array_equal(made.data, again.data)


def test_one_table_from_everywhere(tmp_path):
    FRAME.to_csv(tmp_path / "table.csv", index=False)
    FRAME.to_csv(tmp_path / "table.tsv", index=False, sep="\t")
    FRAME.to_parquet(tmp_path / "table.parquet")
    polars = pl.from_pandas(FRAME)
    first = as_table(FRAME)
    assert [c.dtype.kind for c in first.columns] == ["f", "f", "b", "O"]
    for other in (polars, polars.to_arrow(), *sorted(tmp_path.iterdir())):
        table = as_table(other)
        assert table.names == first.names
        for a, b in zip(table.columns, first.columns, strict=True):
            assert a.dtype == b.dtype
            assert a.tolist() == b.tolist()
    fits = [pt.sample(data, **SHORT) for data in (FRAME, polars, tmp_path / "table.csv")]
    assert fits[0].draws == fits[1].draws == fits[2].draws
    assert fits[0].columns == ("size", "count", "flag", "kind")


def test_arrays_series_and_files_without_a_header(tmp_path):
    values = np.array([[1.0, 2.0], [3.5, 4.0]])
    np.savetxt(tmp_path / "plain.csv", values, delimiter=",")
    np.save(tmp_path / "plain.npy", values)
    for data in (values, values.tolist(), tmp_path / "plain.csv", str(tmp_path / "plain.npy")):
        table = as_table(data)
        assert table.names == ("0", "1")
        np.testing.assert_array_equal(np.column_stack(table.columns), values)
    assert as_table(pd.Series([1, 2, 3], name="x")).names == ("x",)
    assert as_table(pl.Series("x", [1, 2, 3])).names == ("x",)
    assert as_table([1, 2, 3]).n_columns == 1


def test_without_a_kernel_types_choose_and_it_is_said():
    fit = pt.sample(FRAME, kernel="types", **SHORT)
    (note,) = fit.notes
    assert "NormalInverseWishart for the numbers in column 'size', 'count', scale learned" in note
    assert "BetaBernoulli for the booleans in column 'flag'" in note
    assert "DirichletCategorical for the categories in column 'kind'" in note
    assert note in repr(fit)
    numbers = FRAME[["size", "count"]]
    assert fit.kernel.parts[0][0] == pt.NormalInverseWishart.hierarchical(numbers)
    kernel, _ = kernel_of_types(as_table(FRAME[["size"]]))
    assert kernel == pt.NormalInverseGamma.hierarchical(FRAME["size"], precision=0.01)
    holes = pd.DataFrame({"x": [1.0, 2, 4], "y": [2.0, np.nan, 3], "z": [1.0, 0, 5]})
    joint, alone = kernel_of_types(as_table(holes))[0].parts
    assert joint == (pt.NormalInverseWishart.hierarchical(holes[["x", "z"]]), (0, 2))
    assert alone == (pt.NormalInverseGamma.hierarchical(holes["y"], precision=0.01), (1,))


def test_kernels_by_name():
    numbers = FRAME[["size", "count"]]
    rules = {
        "empirical": pt.NormalInverseGamma.empirical,
        "hierarchical": pt.NormalInverseGamma.hierarchical,
        "wishart": pt.NormalInverseWishart.hierarchical,
        "wishart-empirical": pt.NormalInverseWishart.empirical,
    }
    for name, rule in rules.items():
        assert pt.sample(numbers, kernel=name, **SHORT).kernel == rule(numbers), name
        assert pt.sample(FRAME, kernel=name, **SHORT).kernel.parts[0][0] == rule(numbers), name
    assert pt.sample(FRAME[["flag"]], kernel="bernoulli", **SHORT).kernel == pt.BetaBernoulli()
    with pytest.raises(pt.PartitaError, match="kernel='normals' is unknown; expected one of auto"):
        pt.sample(numbers, kernel="normals", **SHORT)


@pytest.mark.parametrize(("rho", "chosen"), [(0.9, "wishart"), (0.0, "adaptive")])
def test_auto_takes_the_kernel_that_predicts_better(rho, chosen):
    """Clusters that are correlated, and independent columns, of which there are many."""
    rng = np.random.default_rng(0)
    d = 2 if rho else 12
    covariance = np.full((d, d), rho) + (1 - rho) * np.eye(d)
    rows = rng.multivariate_normal(np.zeros(d), covariance, 120) + 5.0 * rng.integers(
        0, 2, (120, 1)
    )
    fit = pt.sample(rows, **SHORT)
    assert fit.kernel.kind == pt.sample(rows, kernel=chosen, **SHORT).kernel.kind
    assert f"kernel chosen by held-out density: {chosen} is ahead" in fit.notes[0]
    assert "24 of 120 rows held out" in fit.notes[0]
    # Rounding must not decide: a narrow cluster at an equal value has any density.
    rounded = pt.sample(np.round(rows, 0 if rho else 1), **SHORT)
    assert chosen in rounded.notes[0].split("ahead")[0]


def groups(widths: list[float], n_noise: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Four groups of 75 rows in three columns, and columns in which they do not differ."""
    rng = np.random.default_rng(seed)
    centres = np.hstack([rng.uniform(-5, 5, (4, 3)), np.zeros((4, n_noise))])
    classes = np.repeat(np.arange(4), 75)
    noise = rng.normal(size=(300, 3 + n_noise))
    return centres[classes] + np.array(widths)[classes][:, None] * noise, classes


def test_adaptive_precisions_are_those_of_the_groups_known():
    """1/c is the mean over the groups of (μ − μ0)²/σ², up to rounding, prior and estimation."""
    rows, classes = groups([1, 1, 1, 1], 3)
    kernel = pt.sample(rows, kernel="adaptive", **SHORT).kernel
    away = [(rows[classes == j].mean(axis=0) - rows.mean(axis=0)) ** 2 for j in range(4)]
    known = 1 / np.mean(away, axis=0)
    found = np.array(kernel.precision)
    assert (np.abs(np.log10(found / known))[:3] < 0.6).all()
    assert (found[3:] >= 10).all()
    assert kernel.mean == pytest.approx(rows.mean(axis=0))
    assert kernel.shape > 2


def test_columns_of_noise_do_not_merge_groups():
    """Fixed precisions charge a new group for every column, also where groups do not differ."""
    rows, classes = groups([1, 1, 1, 1], 7, seed=6)
    run = {"draws": 100, "burn_in": 150, "chains": 2, "rng": 0}
    fits = {name: pt.sample(rows, kernel=name, **run) for name in ("auto", "hierarchical")}
    found = {name: pt.estimate(fit, bound=None).labels for name, fit in fits.items()}
    index = {
        name: 1 - pt.distance(classes, labels, loss="one_minus_ari")
        for name, labels in found.items()
    }
    assert index["auto"] > 0.9
    assert index["hierarchical"] < index["auto"] - 0.1
    assert "adaptive is ahead" in fits["auto"].notes[0]


def test_groups_of_unequal_widths_are_no_reason_for_similar_ones():
    rows, _ = groups([0.1, 0.3, 1, 3], 0)
    assert "hierarchical is ahead" in pt.sample(rows, **SHORT).notes[0]


GOOD = pt.NormalInverseGamma(0, 1, 2, 1)
BAD = np.arange(12.0).reshape(6, 2)
SCALES = np.array([1.0, 2.0, 4.0, 1.5])
CORNERS = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]


def with_cell(value) -> np.ndarray:
    rows = BAD.copy()
    rows[4, 1] = value
    return rows


@pytest.mark.parametrize(
    ("data", "kernel", "message"),
    [
        (with_cell(np.inf), GOOD, r"missing or infinite values in rows 4 \(0-based\), columns 1"),
        (with_cell(np.nan), pt.NormalInverseWishart(0, 1, 4, 1), "rows 4.*Product of kernels"),
        (np.ones((5, 2)), None, "column 0, 1 is constant"),
        (np.zeros((4, 2, 2)), GOOD, r"shape \(4, 2, 2\); expected \(n_items,\)"),
        (np.zeros((0, 2)), GOOD, "empty"),
        ([[1.0, 2.0]], GOOD, "one row"),
        ([["a"], ["b"]], GOOD, "holds text .*'a'.* needs numbers"),
        (FRAME, GOOD, "column 'kind' holds text"),
        ([[1.0], [-2]], pt.GammaPoisson(1, 1), "holds -2 in row 1; GammaPoisson needs counts"),
        ([[1.5], [2]], pt.GammaPoisson(1, 1), "holds 1.5 in row 0"),
        ([[0.0], [2]], pt.BetaBernoulli(), "holds 2 in row 1; BetaBernoulli needs 0 and 1"),
        (BAD, pt.NormalInverseGamma([0, 0, 0], 1, 2, 1), "mean has 3 entries for 2 columns"),
        (BAD, pt.NormalInverseWishart(0, 1, 0.5, 1), "degrees=0.5 for 2 columns"),
        (BAD, pt.NormalInverseWishart(0, 1, 4, np.eye(3)), "scale has shape"),
        (BAD, pt.Product((GOOD, [0])), "1 is in no block"),
        (BAD, pt.Product((GOOD, [0, 1]), (GOOD, [1])), "1 appears twice"),
        (BAD, pt.Product((GOOD, ["a"])), "no column 'a' in the data"),
        ([["a"], ["b"]], pt.DirichletCategorical(levels=[["a", "c"]]), "'b', which is none of"),
        (BAD, pt.DirichletCategorical(levels=[["a", "c"]]), "levels are given for 1 columns"),
        (1e200 * SCALES, None, "4e\\+200.*squares overflow"),
        (1e-160 * SCALES, None, "squares vanish"),
        (1e15 + SCALES, None, "subtract"),
        (np.full(4, 1e200), None, "constant"),
        *(
            (CORNERS, kernel, "out of proportion")
            for kernel in (
                pt.NormalInverseGamma(0, 0.5, 2, 1e-100),
                pt.NormalInverseGamma(1e200, 0.5, 2, 1),
                pt.NormalInverseWishart(0, 1, 3, 1e-250),
                pt.BetaBernoulli(a=1e-100),
                pt.DirichletCategorical(1e-100),
            )
        ),
    ],
)
def test_data_that_cannot_be_used(data, kernel, message):
    with pytest.raises(pt.PartitaError, match=message):
        pt.sample(data, kernel=kernel, **SHORT)


def fitted() -> pt.Fit:
    return pt.sample(BAD, kernel=GOOD, **SHORT)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pt.NormalInverseGamma(0, 0, 2, 1), "precision=0; expected finite and above 0"),
        (lambda: pt.NormalInverseGamma(0, 1, [2, -1], 1), "shape="),
        (lambda: pt.NormalInverseWishart(0, 1, 3, [[1, 2], [2, 1]]), "not positive definite"),
        (lambda: pt.NormalInverseWishart(0, 1, 3, [[1, 2], [0, 5]]), "not a symmetric matrix"),
        (lambda: pt.DirichletCategorical(levels=[["a", "a"]]), "each named once"),
        (lambda: pt.Product(), "at least one"),
        (lambda: pt.Product((GOOD, [])), "no columns for"),
        (lambda: pt.Product((pt.Product((GOOD, [0])), [1])), "a Product inside a Product"),
        (lambda: pt.NormalInverseGamma.empirical([[1.0, 2.0]]), "needs two or more"),
        (lambda: pt.DirichletProcess(0), "concentration=0; expected a number above 0"),
        (lambda: pt.PitmanYor(-0.5, 0.5), "expected a number above -0.5"),
        (lambda: pt.PitmanYor(1, 1), r"discount=1; expected a number in \[0, 1\)"),
        (lambda: pt.Gamma(0, 1), "Gamma shape=0; expected a positive number"),
        (lambda: pt.FiniteMixture(mean_components=1), "mean_components=1.0; expected"),
        (lambda: pt.FiniteMixture(components=[0, 0]), "components are all zero"),
        (lambda: pt.FiniteMixture(components=3), "FiniteMixture.exactly"),
        (lambda: pt.concentration_for(1, n_items=10), "above 1 and below n_items=10"),
        (lambda: fitted().density(np.zeros((4, 3))), "3 columns, the fitted data have 2"),
        (lambda: fitted().predict(np.zeros((4, 2)), np.zeros(5)), "5 items, but 6 were expected"),
        (lambda: fitted().predict([[0, 1], [np.inf, 0]], np.zeros(6)), "infinite values in rows 1"),
    ],
)
def test_what_kernels_priors_and_fits_refuse(make, message):
    with pytest.raises(pt.PartitaError, match=message):
        make()
