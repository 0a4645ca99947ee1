"""Tables as people have them: what is understood, and what is refused with a way out."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import partita as pt
from partita.io.data_table import TextOptions, as_table, days, left_out, numbers, wide_scales
from partita.io.table import MISSING

SHORT = {"draws": 5, "burn_in": 0, "chains": 1, "rng": 0}
FRAME = pd.DataFrame({"a": [0.5, 1.25, 3.5], "b": [2.25, 9.5, 4.5]})


def written(path, text: str, name: str = "t.csv"):
    (path / name).write_bytes(text.encode("utf-8"))
    return path / name


@pytest.mark.parametrize("sep", [",", "\t"])
def test_row_numbers_of_pandas_and_r_are_names(tmp_path, sep):
    name = "t.csv" if sep == "," else "t.tsv"
    rows = FRAME.to_csv(sep=sep)
    fit = pt.sample(written(tmp_path, rows, name), **SHORT)
    assert fit.columns == ("a", "b")
    assert fit.draws.item_names == ("0", "1", "2")
    assert "taken as names" in fit.notes[0]
    r_table = rows.replace(f"{sep}a", "a", 1)  # write.table heads the columns only
    assert as_table(written(tmp_path, r_table, name)).item_names == ("0", "1", "2")
    quoted = '"","a","b"\n"s,1",0.5,1\n"s""2",2.5,3\n'
    assert as_table(written(tmp_path, quoted)).item_names == ("s,1", 's"2')


def test_numbers_as_names_are_spelled_as_whole_numbers(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"x": [0.1, 0.2]}, index=[7, 10**15 + 1]).to_parquet(path)
    assert as_table(path).item_names == ("7", "1000000000000001")
    pd.DataFrame({"x": [0.1, 0.2]}, index=[2**53, 2**53 + 1]).to_parquet(path)
    with pytest.raises(pt.PartitaError, match="Write them as text"):
        as_table(path)


def test_the_index_of_a_parquet_file_is_names(tmp_path):
    frame = FRAME.set_axis(["u", "v", "w"], axis=0)
    frame.to_parquet(tmp_path / "t.parquet")
    table = as_table(tmp_path / "t.parquet")
    assert (table.names, table.item_names) == (("a", "b"), ("u", "v", "w"))


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


def many(make) -> list:
    return [make(i) for i in range(25)]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"id": [3, 9, 1, 4]}, "'id' has such a name and a different whole number"),
        ({"sample_id": [3, 9, 1, 4]}, "'sample_id' has such a name"),
        ({"Unnamed: 0": [0, 1, 2, 3]}, "'Unnamed: 0' has such a name"),
        ({"t": [11, 12, 13, 14, 15]}, "'t' counts the rows"),
        ({"n": many(lambda i: (7 * i) % 101)}, "'n' holds a different whole number"),
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
    tables = [frame]
    tables += [polars.from_pandas(frame), pa.Table.from_pandas(frame, preserve_index=False)]
    for table in tables:
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
        pt.sample(english_frame(), **SHORT)
    odd = written(tmp_path, "x;y\n1.23,5;1\n12;2\n1;2\n")
    assert as_table(odd, TextOptions(sep=";", decimal=",")).columns[0].dtype.kind == "O"


def english_frame():
    return pd.DataFrame({"x": ["1,234.5", "5,678", "12"], "y": [1.5, 2.5, 2.5]})


def test_the_index_of_a_frame_names_the_items():
    frame = FRAME.set_axis(["ann", "bob", "cyd"])
    assert pt.sample(frame, **SHORT).draws.item_names == ("ann", "bob", "cyd")
    assert as_table(FRAME.set_axis([4, 7, 9])).item_names == ("4", "7", "9")
    assert as_table(frame["a"]).item_names == ("ann", "bob", "cyd")
    for unnamed in (FRAME, FRAME.set_axis(["a", "a", "b"]), FRAME.set_axis(["a", None, "b"])):
        assert as_table(unnamed).item_names is None


# ---------------------------------------------------------------------------- numbers are read once


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
