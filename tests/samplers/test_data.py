"""Data sets, tables as people have them, the choice of a kernel, and data that cannot be used."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import partita as pt
from partita.io.data_table import TextOptions, as_table, days, left_out, numbers, wide_scales
from partita.io.table import MISSING
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
    frame = pl.from_pandas(FRAME)
    first = as_table(FRAME)
    assert [c.dtype.kind for c in first.columns] == ["f", "f", "b", "O"]
    for other in (frame, frame.to_arrow(), *sorted(tmp_path.iterdir())):
        table = as_table(other)
        assert table.names == first.names
        for a, b in zip(table.columns, first.columns, strict=True):
            assert a.dtype == b.dtype
            assert a.tolist() == b.tolist()
    fits = [pt.sample(data, **SHORT) for data in (FRAME, frame, tmp_path / "table.csv")]
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


# ----------------------------------------------------------------------- tables as people have them


NUMBERS = pd.DataFrame({"a": [0.5, 1.25, 3.5], "b": [2.25, 9.5, 4.5]})


def written(path, text: str, name: str = "t.csv"):
    (path / name).write_bytes(text.encode("utf-8"))
    return path / name


@pytest.mark.parametrize("sep", [",", "\t"])
def test_row_numbers_of_pandas_and_r_are_names(tmp_path, sep):
    name = "t.csv" if sep == "," else "t.tsv"
    rows = NUMBERS.to_csv(sep=sep)
    fit = pt.sample(written(tmp_path, rows, name), **SHORT)
    assert fit.columns == ("a", "b")
    assert fit.draws.item_names == ("0", "1", "2")
    assert "taken as names" in fit.notes[0]
    r_table = rows.replace(f"{sep}a", "a", 1)  # write.table heads the columns only
    assert as_table(written(tmp_path, r_table, name)).item_names == ("0", "1", "2")
    with pytest.raises(pt.PartitaError, match=r"'0[.]5' is a measurement rather than a name"):
        as_table(written(tmp_path, f"b\n0.5{sep}1\n2.5{sep}3\n", name))
    quoted = '"","a","b"\n"s,1",0.5,1\n"s""2",2.5,3\n'
    assert as_table(written(tmp_path, quoted)).item_names == ("s,1", 's"2')


def test_the_index_of_a_parquet_file_is_names_with_numbers_spelled_as_whole_ones(tmp_path):
    path = tmp_path / "t.parquet"
    for index, names in ((["u", "v"], ("u", "v")), ([7, 10**15 + 1], ("7", "1000000000000001"))):
        pd.DataFrame({"x": [0.1, 0.2]}, index=index).to_parquet(path)
        assert (as_table(path).names, as_table(path).item_names) == (("x",), names)
    pd.DataFrame({"x": [0.1, 0.2]}, index=[2**53, 2**53 + 1]).to_parquet(path)
    with pytest.raises(pt.PartitaError, match="Write them as text"):
        as_table(path)


@pytest.mark.parametrize("text", ["1,2\n0.5,3.5\n", "1990,1991\n3,4\n7,9\n", "7\n0.5\n1.5\n"])
def test_a_header_of_numbers_is_asked_about(tmp_path, text):
    path = written(tmp_path, text)
    with pytest.raises(pt.PartitaError, match=r"may name the columns.*pass the table") as caught:
        pt.sample(path, **SHORT)
    assert caught.value.argument == "data"
    lines = text.split()
    named = as_table(path, TextOptions(header=True))
    assert named.names == tuple(lines[0].split(","))
    assert as_table(path, TextOptions(header=False)).n_rows == named.n_rows + 1


def test_usual_and_unusual_spellings_of_missing_cells(tmp_path):
    spellings = sorted(MISSING)
    assert {"", "NA", "NaN", "n/a", "N/A", "null", "?", "None", "."} < MISSING
    path = written(tmp_path, "x,y\n" + "".join(f"{s},1.5\n" for s in spellings) + "2,1\n3.5,2\n")
    column = as_table(path).columns[0]
    assert np.isnan(column).tolist() == [True] * len(spellings) + [False] * 2
    path = written(tmp_path, "x\n1.5\n-99\nunknown\n2.5\n1.0\n")
    with pytest.raises(pt.PartitaError, match=r"numbers but for 'unknown' in lines 4\."):
        pt.sample(path, **SHORT)
    table = as_table(path, TextOptions(missing=("-99", "unknown")))
    assert np.isnan(table.columns[0]).tolist() == [False, True, True, False, False]


def test_lines_are_counted_as_the_file_counts_them(tmp_path):
    text = 'x,y\n1.5,"two\nlines"\n\n2.5,b\noops,a\n3.5,a\n4.5,b\n'
    with pytest.raises(pt.PartitaError, match="'oops' in lines 6"):
        pt.sample(written(tmp_path, text), **SHORT)
    with pytest.raises(pt.PartitaError, match="line 4 has 1 cells"):
        as_table(written(tmp_path, 'x,y\n1,"a\nb"\n2\n'))


def test_an_empty_line_of_one_column_is_a_missing_cell(tmp_path):
    table = as_table(written(tmp_path, "x\n1.5\n\n2.5\n\n3.5\n\n\n"))
    np.testing.assert_array_equal(table.columns[0], [1.5, np.nan, 2.5, np.nan, 3.5])
    assert as_table(written(tmp_path, "x,y\n1,2\n\n3,4\n")).n_rows == 2


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"id": [3, 9, 1, 4]}, "'id' has such a name and a different whole number"),
        ({"sample_id": [3, 9, 1, 4]}, "'sample_id' has such a name"),
        ({"Unnamed: 0": [0, 1, 2, 3]}, "'Unnamed: 0' has such a name"),
        ({"t": [11, 12, 13, 14, 15]}, "'t' counts the rows"),
        ({"n": [7 * i % 101 for i in range(25)]}, "'n' holds a different whole number"),
        ({"who": ["a", "b", "c", "d"]}, "'who' holds a different text"),
        ({"when": ["2021-03-04", "2021-03-05", "2021-03-05"]}, "'when' holds dates"),
        ({"when": ["4.3.2021", "5.3.2021", None, "5.3.2021"]}, "'when' holds dates"),
        ({"x": ["1.5", "2", "n.d.", "3"]}, "numbers but for 'n.d.' in rows 2"),
    ],
)
def test_doubtful_columns_are_refused_with_the_way_out(tmp_path, frame, message):
    frame = pd.DataFrame(frame)
    frame["x2"] = np.linspace(0.5, 3, len(frame)) ** 2
    with pytest.raises(pt.PartitaError, match=message):
        pt.sample(frame, **SHORT)
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(pt.PartitaError, match=message.split(" in rows")[0]):
        pt.sample(tmp_path / "t.csv", **SHORT)


def test_what_is_no_name_passes():
    frame = pd.DataFrame(
        {"size": [3, 9, 1, 4], "mark": ["a", "b", "a", "c"], "id": [1.5, 2.5, 3, 7]}
    )
    assert pt.sample(frame, **SHORT).columns == ("size", "mark", "id")


def test_the_only_column_is_data_whatever_it_looks_like():
    velocities = (1000 * pt.datasets.galaxies()).astype(int)  # 82 of them, nearly all different
    assert pt.sample(pd.DataFrame({"km/s": np.unique(velocities)}), **SHORT).columns == ("km/s",)


def test_columns_with_nothing_in_them_and_wide_ones():
    table = as_table(
        pd.DataFrame({"c": [1, 1, 1], "m": [np.nan] * 3, "t": ["a", None, "a"], "x": [1, 2, 3.5]})
    )
    assert left_out(table) == {"c": "constant", "m": "no value in it", "t": "constant"}
    wide = as_table(pd.DataFrame({"x": [1e-3, 0.0, 2e9], "y": [1.0, -5, np.nan]}))
    assert wide_scales(wide)[0].startswith("column 'x' spans 0.001 to 2e+09")
    assert len(wide_scales(wide)) == 1


def test_dates_as_days():
    found = days(np.array(["1970-01-02", None, "1970-01-01T12:00:00"], object), "d")
    np.testing.assert_array_equal(found, [1.0, np.nan, 0.5])
    german = days(np.array(["2.1.1970", "02.01.1970 12:00"], object), "d")
    np.testing.assert_array_equal(german, [1.0, 1.5])
    with pytest.raises(pt.PartitaError, match="not written as year-month-day"):
        days(np.array(["3/4/2021"], object), "d")


def test_a_masked_cell_is_a_missing_one():
    data = np.ma.masked_greater(np.array([[0.5], [1.5], [999.0], [2.5]]), 900)
    assert np.isnan(as_table(data).columns[0]).tolist() == [False, False, True, False]


def test_categories_of_numbers_are_categories():
    codes = pd.Categorical([3, 1, 2, 3, None, 1])
    for held in (pd.DataFrame({"c": codes}), pd.Series(codes, name="c"), codes):
        table = as_table(held)
        assert table.columns[0].tolist() == [3, 1, 2, 3, None, 1]
    dictionary = pa.table({"c": pa.array([7, 9, 7]).dictionary_encode()})
    assert as_table(dictionary).columns[0].tolist() == [7, 9, 7]
    frame = pd.DataFrame({"c": pd.Categorical([3, 1, 2, 3, 1, 2]), "x": np.arange(6) / 3})
    kernel = pt.sample(frame, **SHORT).kernel
    assert [part.kind for part, _ in kernel.parts] == ["NormalInverseGamma", "DirichletCategorical"]


@pytest.mark.parametrize(
    "values",
    [
        pd.to_datetime(["2021-03-04", "2021-03-04", "2021-03-05", "2022-01-01"]),
        pd.to_datetime(["2021-03-04"] * 3 + [None]),
        pd.to_datetime(["2021-03-04", "2021-03-05", "2021-03-05", "2021-03-05"], utc=True),
        pd.to_timedelta([1, 1, 2, 3], unit="D"),
        np.array(["2021-03-04", "2021-03-04", "2021-03-05", "NaT"], "M8[ns]"),
    ],
)
def test_dates_and_durations_are_refused_in_every_table(values):
    numbers = [0.5, 1.5, 2.5, 4.0]
    frame = pd.DataFrame({"x": numbers, "when": values})
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    for table in (frame, pl.from_pandas(frame), arrow):
        with pytest.raises(pt.PartitaError, match="'when' holds dates or times"):
            pt.sample(table, **SHORT)
        with pytest.raises(pt.PartitaError, match="'when'"):
            pt.summarize(np.zeros((3, 4), int), data=table)
    found = days(as_table(frame).columns[1], "when")
    assert found[1] in (1.0, 18690.0, 18691.0)


def test_digits_grouped_by_three(tmp_path):
    path = written(tmp_path, "x;y\n1.234,56;1.5\n1.234;2.5\n-7,5;2.5\n1.234.567;3\n")
    table = as_table(path, TextOptions(sep=";", decimal=","))
    assert table.columns[0].tolist() == [1234.56, 1234.0, -7.5, 1234567.0]
    assert table.columns[1].dtype.kind == "O"  # a point is no decimal mark here
    whole = written(tmp_path, "x,y\n1.234,1\n5.678,2\n9.012,2\n")
    options = TextOptions(decimal=",", thousands=".")
    assert as_table(whole, options).columns[0].tolist() == [1234.0, 5678.0, 9012.0]
    english = written(tmp_path, 'x;y\n"1,234.5";1\n"5,678";2\n"12";2\n')
    options = TextOptions(sep=";", thousands=",")
    assert as_table(english, options).columns[0].tolist() == [1234.5, 5678.0, 12.0]
    with pytest.raises(pt.PartitaError, match=r"'1,234\.5'; turn them into numbers"):
        pt.sample(pd.DataFrame({"x": ["1,234.5", "5,678", "12"], "y": [1.5, 2.5, 2.5]}), **SHORT)
    odd = written(tmp_path, "x;y\n1.23,5;1\n12;2\n1;2\n")
    assert as_table(odd, TextOptions(sep=";", decimal=",")).columns[0].dtype.kind == "O"


def test_the_index_of_a_frame_names_the_items():
    frame = NUMBERS.set_axis(["ann", "bob", "cyd"])
    assert pt.sample(frame, **SHORT).draws.item_names == ("ann", "bob", "cyd")
    assert as_table(NUMBERS.set_axis([4, 7, 9])).item_names == ("4", "7", "9")
    assert as_table(frame["a"]).item_names == ("ann", "bob", "cyd")
    for unnamed in (NUMBERS, NUMBERS.set_axis(["a", "a", "b"]), NUMBERS.set_axis(["a", None, "b"])):
        assert as_table(unnamed).item_names is None


@pytest.mark.parametrize("suffix", ["npy", "parquet"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_one_copy(tmp_path: Path, suffix: str, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    data = (100 * rng.normal(size=(500, 3))).astype(dtype)
    path = tmp_path / f"data.{suffix}"
    if suffix == "npy":
        np.save(path, data)
    else:
        columns = {f"x{j}": data[:, j] for j in range(3)}
        parquet.write_table(pa.table(columns), path, row_group_size=64)
    table = as_table(path)
    values = numbers(table, "a kernel")
    np.testing.assert_array_equal(values, data.astype(np.float64))
    assert all(np.shares_memory(values, column) for column in table.columns)
    part = numbers(table.select([2, 0]), "a kernel")
    np.testing.assert_array_equal(part, data[:, [2, 0]].astype(np.float64))


def test_missing_cells_of_parquet(tmp_path: Path) -> None:
    parquet.write_table(
        pa.table({"a": [1, None, 3], "b": [0.5, 1.5, None]}), tmp_path / "d.parquet"
    )
    values = numbers(as_table(tmp_path / "d.parquet"), "a kernel", missing=True)
    np.testing.assert_array_equal(values, [[1, 0.5], [np.nan, 1.5], [3, np.nan]])


def test_arrays_of_users_are_not_shared() -> None:
    data = np.ones((4, 2))
    assert not np.shares_memory(numbers(as_table(data), "a kernel"), data)


def test_parquet_is_not_twice_in_memory(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(4, 200_000))
    path = tmp_path / "d.parquet"
    parquet.write_table(
        pa.table(dict(zip("abcd", values, strict=True))), path, row_group_size=10**4
    )
    usual = pa.default_memory_pool()
    watched = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(watched)
    try:
        read = as_table(path)
    finally:
        pa.set_memory_pool(usual)
    np.testing.assert_array_equal(read.matrix, values.T)
    assert watched.max_memory() < values.nbytes / 4
