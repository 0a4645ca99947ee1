"""Delimited text and tables: headers, separators; each column is what it is, or refused.

Further spellings of the same draws are in ``tests/fuzz/spellings.py``.
"""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import partita as pt
from io_r import write_coda
from partita.errors import FileFormatError, InvalidInputError, InvalidLabelsError
from partita.io import table
from partita.io.table import read_cells

CMDSTAN = Path(__file__).parent / "data" / "cmdstan_output.csv"
EXPECTED = pt.Draws([[0, 0, 1, 1], [0, 1, 1, 1]])


def read(text, **options):
    return pt.read_draws(io.StringIO(text), **options)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1,1,2,2\n1,2,2,2\n", None),
        ("a,b,c,d\n1,1,2,2\n1,2,2,2", ("a", "b", "c", "d")),
        ('"1","2","3","4"\n1,1,2,2\n1,2,2,2\n', ("1", "2", "3", "4")),
        ("# made by hand\n\n 1, 1 ,2,2\n  \n1,2,2,2\n", None),
        ("5.0,5.0,-7,-7\n1e+00,2.000e+00,2,2\n", None),
        # R's write.table, whose header lacks the heading of the row names
        ('"a","b","c","d"\n"x,y",1,1,2,2\n"2",1,2,2,2\n', ("a", "b", "c", "d")),
        # R's posterior package
        (".draw,.iteration,a,b,c,d\n1,1,1,1,2,2\n2,2,1,2,2,2\n", ("a", "b", "c", "d")),
    ],
)
def test_what_is_a_header(text, names):
    assert read(text) == pt.Draws(EXPECTED.labels, item_names=names)


def test_a_first_row_that_counts_must_be_explained():
    for first in ("0,1,2,3", "1,2,3,4"):
        text = f"{first}\n1,1,2,2\n1,2,2,2\n"
        with pytest.raises(FileFormatError, match=r"counts .*header=True") as caught:
            read(text)
        assert caught.value.argument == "header"
        assert read(text, header=False).n_draws == 3
        named = read(text, header=True)
        assert named == pt.Draws(EXPECTED.labels, item_names=first.split(","))


def test_a_first_row_that_mixes_must_be_explained():
    text = "draw,1,2\n0,5,5\n"
    with pytest.raises(FileFormatError, match=r"mixes numbers with 'draw'.*header=True"):
        read(text)
    assert read(text, header=True).item_names == ("1", "2")  # draw counts draws
    with pytest.raises(InvalidLabelsError, match="line 1, column 1: 'draw' is not a whole number"):
        read(text, header=False)


def test_what_pandas_writes():
    frame = pd.DataFrame([[1, 1, 2, 2], [1, 2, 2, 2]])
    with pytest.raises(FileFormatError, match="mixes numbers with ''"):
        read(frame.to_csv())
    assert read(frame.to_csv(), header=True).n_items == 4
    frame.columns = list("abcd")
    assert read(frame.to_csv()) == pt.Draws(EXPECTED.labels, item_names="abcd")


def test_separators():
    assert read("1;1;2;2\n1;2;2;2\n", sep=";") == EXPECTED
    assert read("1\t1\t2\t2\n1\t2\t2\t2\n", format="tsv") == EXPECTED
    assert read("  1 1\t2   2 \n1 2 2 2\n", format="txt") == EXPECTED
    assert read('"a b" c\n1 2\n', format="txt").item_names == ("a b", "c")
    for sep in ("ab", "1", '"', "é"):
        with pytest.raises(InvalidInputError, match="one ASCII character"):
            read("1,2\n", sep=sep)


def test_transposed():
    assert read("1,1\n1,2\n2,2\n2,2\n", transpose=True) == EXPECTED
    named = read(',x,y\na,1,1\n"b",1,2\nc,2,2\nd,2,2\n', transpose=True)
    assert named == pt.Draws(EXPECTED.labels, item_names="abcd")
    assert read("x,y\n1,1\n1,2\n", transpose=True).item_names is None
    with pytest.raises(InvalidInputError, match="one row per draw"):
        read(".weight,a\n1,1\n", transpose=True)


def test_transposed_labels_are_held_in_few_bytes():
    for low, high in ((0, 256), (-2, 254), (1, 70000), (-(10**17), 10**17)):
        draws = read(f"{low},5\n{high},5\n{low},2\n", transpose=True)
        assert draws == pt.Draws([[0, 1, 0], [0, 0, 1]])


def test_text_labels():
    text = "a,b,a\nNaN?,x,x\n"
    with pytest.raises(InvalidInputError, match="Pass header=True or header=False"):
        read(text, strings=True)
    assert read(text, strings=True, header=False) == pt.Draws([[0, 1, 0], [0, 1, 1]])
    one = read(".chain,p,q,r\n7,u,u,v\n", strings=True, header=True)
    assert one == pt.Draws([[0, 0, 1]], chain=[7], item_names=["p", "q", "r"])
    with pytest.raises(InvalidLabelsError, match=r"line 3, column 2: 'NA' stands for a missing"):
        read("p,q\nu,v\nu,NA\n", strings=True, header=True)
    with pytest.raises(FileFormatError, match="line 3: only 1 cells, where earlier rows have 2"):
        read("p,q\nu,v\nu\n", strings=True, header=True)


def test_blocks_of_any_size(monkeypatch):
    labels = np.random.default_rng(0).integers(0, 300, (40, 5))
    text = "\n".join(",".join(map(str, row)) for row in labels.tolist()) + "\n"
    for size in (1, 7, 64, 1000):
        monkeypatch.setattr("partita.io.table._BLOCK_BYTES", size)
        assert read("#" + "x" * 50 + "\na,b,c,d,e\n" + text).labels.tolist() == (
            pt.Draws(labels).labels.tolist()
        )
        with pytest.raises(InvalidLabelsError, match=r"line 41, column 3: '2.5'"):
            read(text + "1,1,2.5,1,1\n", header=False)


STAN = pt.Draws([[1, 1, 3, 3], [2, 2, 2, 1], [3, 1, 1, 2], [1, 1, 1, 1]])


def test_cmdstan():
    for options in ({}, {"var_name": "z"}, {"format": "cmdstan"}):
        assert pt.read_draws(CMDSTAN, **options) == STAN
    draws = pt.read_draws([CMDSTAN, CMDSTAN])
    assert draws.n_chains == 2
    assert draws.select_chains([1]).labels.tolist() == STAN.labels.tolist()


@pytest.mark.parametrize(
    ("first", "filling"),
    [("", "\n"), ("", "#\n"), ("", " \n"), ("1,1\n", "\n"), ("1,1\n", " \n")],
)
def test_a_file_is_not_searched_for_its_rows_without_end(first, filling, monkeypatch):
    monkeypatch.setattr(table, "_MAX_PREAMBLE", 10)
    monkeypatch.setattr(table, "_BLOCK_BYTES", 4)
    for reader in (pt.read_draws, lambda stream: read_cells(stream, ",")):
        with pytest.raises(pt.PartitaError, match="blank lines and comments"):
            reader(io.StringIO(first + filling * 30 + "1,1\n1,2\n"))
    assert pt.read_draws(io.StringIO(first + filling * 3 + "1,1\n1,2\n")).n_draws >= 2


# ----------------------------------------------------------- tables as people's programs write them


Z = np.array([[1, 1, 2], [3, 1, 1], [2, 2, 2], [1, 2, 3]])
NAMED = pt.Draws(Z, item_names=list("abc"))
CHAINS = pt.Draws(Z, chain=[1, 1, 2, 2])
LABELS = "a,b,c\n1,1,2\n3,1,1\n2,2,2\n1,2,3\n"


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


@pytest.mark.parametrize("ids", [[1, None, 2, 2], [1.5, 1.2, 2, 2], [np.inf, 1, 2, 2]])
def test_ids_that_are_none(ids):
    for dtype in ("float64", "object"):
        frame = with_column(".chain", pd.Series(ids, dtype=dtype))
        with pytest.raises(InvalidInputError, match="chain id of draw"):
            pt.as_draws(frame)
        with pytest.raises(InvalidInputError, match="chain id"):
            read(frame.to_csv(index=False))
    frame = with_column(".chain", pd.array([1, pd.NA, 2, 2], dtype="Int64"))
    with pytest.raises(InvalidInputError, match="chain id of draw 1 is missing") as caught:
        pt.as_draws(frame)
    assert caught.value.argument == "draws"


def test_empty_chains():
    with pytest.raises(InvalidInputError, match="chain id of draw 0 is missing"):
        read(".chain,a,b\n,1,1\n,1,2\n")
    assert read('.chain,a\n"NA",1\n"x",1\n').chain.tolist() == ["NA", "x"]


def long_table():
    rows = [(1 + t // 2, 1 + t % 2, 1 + t, 1 + i, Z[t, i]) for t in range(4) for i in range(3)]
    return pd.DataFrame(rows, columns=[".chain", ".iteration", ".draw", "i", "z"])


def test_tidybayes():
    assert both_ways(long_table()) == CHAINS
    assert pt.as_draws(long_table().sample(frac=1, random_state=3).sort_values(".draw")) == CHAINS
    named = long_table()
    named["i"] = named["i"].map({1: "x", 2: "y", 3: "a"})
    assert pt.as_draws(named).item_names == ("x", "y", "a")
    with pytest.raises(InvalidInputError, match="'draw' repeats its numbers"):
        pt.as_draws(
            named.drop(columns=[".chain", ".iteration"])
            .rename(columns={".draw": "draw"})
            .assign(w=1)
        )


STAN_COMMENTS = {
    "cmdstan": "# num_samples = 4\n# num_warmup = {w}\n# save_warmup = {s}\n# thin = {t} (D)\n",
    "cmdstan now": "# num_samples = 4\n# num_warmup = {w}\n# save_warmup = true\n# thin = {t}\n",
    "rstan": "# iter={n}\n# warmup={w}\n# save_warmup={s}\n# thin={t}\n",
}


@pytest.mark.parametrize("spelling", STAN_COMMENTS)
def test_warmup_is_left_out(spelling):
    comments = STAN_COMMENTS[spelling].format(w=3, s=1, t=1, n=7)
    body = "lp__,z.1,z.2\n" + "-1,1,1\n" * 3 + "-1,1,2\n" * 4
    with pytest.warns(UserWarning, match="first 3 draws are warm-up and were left out"):
        assert read(comments + body).n_clusters.tolist() == [2, 2, 2, 2]
    # Four rows: the warm-up has gone already.
    assert read(comments + "lp__,z.1,z.2\n" + "-1,1,2\n" * 4).n_draws == 4
    with pytest.raises(FileFormatError, match="no posterior draw"):
        read(comments + "lp__,z.1,z.2\n" + "-1,1,2\n" * 2)


def test_warmup_that_was_not_saved():
    comments = STAN_COMMENTS["rstan"].format(w=3, s=0, t=1, n=7)
    assert read(comments + "lp__,z.1\n" + "-1,1\n" * 7).n_draws == 7


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
    for said in ("7 x", "7 1 1", "x"):
        (tmp_path / "x.out").write_text(f"1 1\n\n{said}\n")
        with pytest.raises(FileFormatError, match=f"line 3: '{said}'; expected an iteration"):
            pt.read_draws(tmp_path / "x.out", format="coda")
    (tmp_path / "CODAindex.txt").unlink()
    with pytest.raises(FileNotFoundError, match="has no index beside it"):
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
