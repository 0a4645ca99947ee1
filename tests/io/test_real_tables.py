"""Tables as people's programs write them: each column is what it is, or the file is refused."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import partita as pt
from io_r import write_coda
from partita._files import FileMissingError
from partita.errors import (
    FileFormatError,
    InvalidInputError,
    InvalidLabelsError,
)

Z = np.array([[1, 1, 2], [3, 1, 1], [2, 2, 2], [1, 2, 3]])
NAMED = pt.Draws(Z, item_names=list("abc"))
CHAINS = pt.Draws(Z, chain=[1, 1, 2, 2])
LABELS = "a,b,c\n1,1,2\n3,1,1\n2,2,2\n1,2,3\n"


def read(text, **options):
    return pt.read_draws(io.StringIO(text), **options)


def with_column(name, values, columns="abc"):
    frame = pd.DataFrame(Z, columns=list(columns))
    frame.insert(0, name, values)
    return frame


def both_ways(frame, **options):
    """The same draws from the frame in memory and from its text, or the same refusal."""
    from_text = pt.read_draws(io.StringIO(frame.to_csv(index=False)), **options)
    assert pt.as_draws(frame, **options) == from_text
    assert pt.as_draws(pl.from_pandas(frame), **options) == from_text
    return from_text


# ------------------------------------------------------------------- columns that are no items


@pytest.mark.parametrize("name", ["iter", "Iteration", "ITER", "draw", ".draw", ".iteration"])
def test_columns_that_number_the_draws(name):
    assert both_ways(with_column(name, [1, 2, 3, 4])) == NAMED


@pytest.mark.parametrize("name", ["chain", "Chain", "CHAIN", ".chain"])
def test_chains_are_kept(name):
    expected = pt.Draws(Z, chain=[1, 1, 2, 2], item_names=list("abc"))
    assert both_ways(with_column(name, [1, 1, 2, 2])) == expected
    indexed = with_column(name, [1, 1, 2, 2])
    indexed.columns = [name, "z[1]", "z[2]", "z[3]"]
    assert both_ways(indexed) == CHAINS


@pytest.mark.parametrize("name", ["K", "lp", "n_clusters", "logpost", "deviance"])
def test_quantities_beside_the_labels_are_refused(name):
    frame = with_column(name, [2, 2, 1, 3])
    frame.columns = [name, "item1", "item2", "item3"]
    for value in (frame, pl.from_pandas(frame)):
        with pytest.raises(InvalidInputError, match=f"column {name!r} has the name of a quantity"):
            pt.as_draws(value)
    with pytest.raises(InvalidInputError, match=f"column {name!r} has the name of a quantity"):
        read(frame.to_csv(index=False))


def test_items_named_by_letters_may_include_k():
    assert pt.as_draws(pd.DataFrame(Z, columns=["j", "k", "l"])).item_names == ("j", "k", "l")
    with pytest.raises(InvalidInputError, match="column 'K' has the name of a quantity"):
        pt.as_draws(pd.DataFrame(Z, columns=["K", "a", "b"]))


def test_a_column_that_counts_is_no_item():
    """Counting down, in steps and from the start again: in tests/fuzz/labelled.py."""
    frame = pd.DataFrame(np.tile(Z, (8, 1)), columns=list("abc"))
    frame.insert(1, "t", np.tile(np.arange(1, 17), 2))
    with pytest.raises(InvalidLabelsError, match="'t' counts 1, 2"):
        pt.as_draws(frame)
    assert pt.as_draws(frame.assign(t=np.tile([1, 2], 16))).n_items == 4
    # Three rows of it, and rows that all count, prove nothing.
    assert read("1,1,1\n2,1,1\n3,1,1\n", header=False).n_items == 3
    assert read("\n".join(f"{i},{i}" for i in range(20)), header=False).n_items == 2


def test_numeric_ids_of_items_are_no_draw():
    text = "1990,1991,1992\n1,1,2\n2,1,1\n"
    with pytest.raises(FileFormatError, match=r"all different \(1990, 1991, …\)"):
        read(text)
    assert read(text, header=True).item_names == ("1990", "1991", "1992")
    assert read(text, header=False).n_draws == 3


# --------------------------------------------------------------------------------- ids


@pytest.mark.parametrize("ids", [[1, None, 2, 2], [1.5, 1.2, 2, 2], [np.inf, 1, 2, 2]])
def test_ids_that_are_none(ids):
    for dtype in ("float64", "object"):
        frame = with_column(".chain", pd.Series(ids, dtype=dtype))
        with pytest.raises(InvalidInputError, match="chain id of draw"):
            pt.as_draws(frame)
        with pytest.raises(InvalidInputError, match="chain id"):
            read(frame.to_csv(index=False))
    frame = with_column(".chain", pd.array([1, pd.NA, 2, 2], dtype="Int64"))
    with pytest.raises(InvalidInputError, match="chain id of draw 1 is missing"):
        pt.as_draws(frame)


def test_empty_chains():
    with pytest.raises(InvalidInputError, match="chain id of draw 0 is missing"):
        read(".chain,a,b\n,1,1\n,1,2\n")
    assert read('.chain,a\n"NA",1\n"x",1\n').chain.tolist() == ["NA", "x"]


# ------------------------------------------------------------------------- the long format


def long_table():
    rows = [(1 + t // 2, 1 + t % 2, 1 + t, 1 + i, Z[t, i]) for t in range(4) for i in range(3)]
    return pd.DataFrame(rows, columns=[".chain", ".iteration", ".draw", "i", "z"])


def test_tidybayes():
    assert both_ways(long_table()) == CHAINS
    assert pt.as_draws(long_table().sample(frac=1, random_state=3).sort_values(".draw")) == CHAINS
    named = long_table()
    named["i"] = named["i"].map({1: "x", 2: "y", 3: "a"})
    assert pt.as_draws(named).item_names == ("x", "y", "a")


# ---------------------------------------------------------------------------- warm-up


STAN = {
    "cmdstan": "# num_samples = 4\n# num_warmup = {w}\n# save_warmup = {s}\n# thin = {t} (D)\n",
    "cmdstan now": "# num_samples = 4\n# num_warmup = {w}\n# save_warmup = true\n# thin = {t}\n",
    "rstan": "# iter={n}\n# warmup={w}\n# save_warmup={s}\n# thin={t}\n",
}


@pytest.mark.parametrize("spelling", STAN)
def test_warmup_is_left_out(spelling):
    comments = STAN[spelling].format(w=3, s=1, t=1, n=7)
    body = "lp__,z.1,z.2\n" + "-1,1,1\n" * 3 + "-1,1,2\n" * 4
    with pytest.warns(UserWarning, match="first 3 draws are warm-up and were left out"):
        assert read(comments + body).n_clusters.tolist() == [2, 2, 2, 2]
    # Four rows: the warm-up has gone already.
    assert read(comments + "lp__,z.1,z.2\n" + "-1,1,2\n" * 4).n_draws == 4
    with pytest.raises(FileFormatError, match="no posterior draw"):
        read(comments + "lp__,z.1,z.2\n" + "-1,1,2\n" * 2)


def test_warmup_that_was_not_saved():
    comments = STAN["rstan"].format(w=3, s=0, t=1, n=7)
    assert read(comments + "lp__,z.1\n" + "-1,1\n" * 7).n_draws == 7


# ------------------------------------------------------------------- items in rows, comments


def test_items_in_rows_are_pointed_out():
    text = "," + ",".join(f"d{i}" for i in range(9)) + "\n"
    text += "".join(f"{name}" + ",1" * 9 + "\n" for name in "abcdef")
    with pytest.warns(
        UserWarning, match=r"named 'a', 'b', … and 9 columns.*transpose=True".replace("…", "…,")
    ):
        read(text)
    assert read(text, transpose=True).item_names == tuple("abcdef")
    frame = pd.DataFrame(np.ones((6, 9), int), index=list("abcdef"), columns=list("ABCDEFGHI"))
    with pytest.warns(UserWarning, match="transpose=True"):
        pt.as_draws(frame)
    # As many rows as columns, or more: names that only count the rows are no reason to doubt.
    cells = pd.DataFrame(np.ones((9, 6), int), columns=[f"leiden_{r}" for r in range(6)])
    cells.index = pd.Index([f"{name}AC-1" for name in "ABCDEFGHI"])
    with pytest.warns(UserWarning, match="transpose=True"):
        pt.as_draws(cells)
    cells.index = pd.Index([f"draw{i}" for i in range(9)])
    assert pt.as_draws(cells).n_draws == 9
    numbered = text.replace("a,", "1,").replace("b,", "2,")
    assert read(numbered).n_items == 9  # R's row names of draws only count


# ------------------------------------------------------------------------- other text


@pytest.mark.parametrize(
    ("text", "option"),
    [
        (LABELS.replace(",", ";"), "sep=';'"),
        ('"a";"b"\n1;1\n', "sep=';'"),
        (LABELS.replace(",", "\t"), "format='tsv'"),
        (LABELS.replace(",", " "), "format='txt'"),
    ],
)
def test_other_separators_name_their_option(text, option):
    with pytest.raises(FileFormatError) as caught:
        read(text)
    assert f"Pass {option}." in str(caught.value)
    with pytest.raises(FileFormatError, match="Pass format='csv'"):
        read(LABELS, format="txt")


def test_write_csv2():
    text = '"";".weight";"a";"b"\n"1";0,25;1;1\n"2";0,75;1;2\n'
    expected = pt.Draws([[0, 0], [0, 1]], weights=[0.25, 0.75], item_names=["a", "b"])
    assert read(text, sep=";") == expected


def test_feather_and_arrow(tmp_path):
    frame = pd.DataFrame(Z, columns=list("abc"))
    pyarrow.feather.write_feather(frame, tmp_path / "a.feather")
    assert pt.read_draws(tmp_path / "a.feather") == NAMED
    table = pa.Table.from_pandas(frame)
    with (
        pa.OSFile(str(tmp_path / "a.arrow"), "wb") as sink,
        pa.ipc.new_stream(sink, table.schema) as w,
    ):
        w.write_table(table)
    assert pt.read_draws(tmp_path / "a.arrow") == NAMED
    content = (tmp_path / "a.feather").read_bytes()
    (tmp_path / "a.feather").write_bytes(content[: len(content) // 2])
    with pytest.raises(FileFormatError, match="damaged"):
        pt.read_draws(tmp_path / "a.feather")


def test_coda(tmp_path):
    names = ["alpha", "z[1]", "z[2]", "z[3]"]
    alpha = np.array([0.5, 0.7, 0.1, 0.3])
    values = np.column_stack([alpha, Z])
    write_coda(tmp_path, [values[:2], values[2:]], names)
    files = [tmp_path / "CODAchain1.txt", tmp_path / "CODAchain2.txt"]
    assert pt.read_draws(files).labels.tolist() == pt.Draws(Z).labels.tolist()
    assert pt.read_draws(files).n_chains == 2
    assert pt.read_draws(files[0], var_name="z") == pt.Draws(Z[:2])
    (tmp_path / "x.out").write_bytes(files[0].read_bytes())
    (tmp_path / "x.ind").write_bytes((tmp_path / "CODAindex.txt").read_bytes())
    assert pt.read_draws(tmp_path / "x.out", format="coda") == pt.Draws(Z[:2])
    (tmp_path / "CODAindex.txt").unlink()
    with pytest.raises(FileMissingError, match="has no index beside it"):
        pt.read_draws(files[0])


def test_iterations_that_start_again_start_a_chain():
    frame = pd.DataFrame(np.tile(Z, (2, 1)), columns=list("abc"))
    frame.insert(0, "iter", [1, 2, 3, 4] * 2)
    assert both_ways(frame).chain.tolist() == [1] * 4 + [2] * 4
    for numbers in ([1, 1, 2, 2, 3, 3, 4, 4], [1, 2, 3, 2, 3, 4, 5, 6], [4, 3, 2, 1] * 2):
        with pytest.raises(InvalidInputError, match="'iter' repeats its numbers"):
            pt.as_draws(frame.assign(iter=numbers))
    repeated = frame.assign(chain=1)
    with pytest.raises(InvalidInputError, match="'iter' repeats its numbers"):
        read(repeated.to_csv(index=False))


def test_two_items_beside_numbered_draws_are_no_long_table():
    frame = pd.DataFrame({"draw": [1, 2, 3], "a": [1, 1, 2], "b": [1, 2, 2]})
    assert both_ways(frame) == pt.Draws([[0, 0], [0, 1], [0, 0]], item_names=["a", "b"])


def test_one_clustering_is_no_table_of_draws():
    frame = pd.DataFrame({"item": [1, 2, 3], "cluster": [1, 1, 2]})
    with pytest.raises(InvalidInputError, match="'item' and 'cluster' are one clustering"):
        pt.as_draws(frame)
    with pytest.raises(InvalidInputError, match="are one clustering"):
        read(frame.to_csv(index=False))


def test_a_table_with_one_row_per_item_is_read_whole(tmp_path):
    columns = {"first": [0, 0, 1, 1, 2, 2], "second": [300, 0, 0, 1, 1, 1]}
    pq.write_table(pa.table(columns), tmp_path / "groups.parquet", row_group_size=2)
    draws = pt.read_draws(tmp_path / "groups.parquet", transpose=True)
    assert draws == pt.Draws(list(columns.values()))


def test_numbers_of_draws_may_be_missing():
    table = pd.DataFrame({"draw": ["a", None, "b"], "x": [1, 2, 3], "y": [1, 1, 2], "z": [1, 1, 1]})
    assert pt.as_draws(table) == pt.Draws([[1, 1, 1], [2, 1, 1], [3, 2, 1]], item_names="xyz")
