"""Delimited text: the header rule, separators, row names, CmdStan's output."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import partita as pt
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
        ("\ufeffa,b,c,d\r\n1,1,2,2\r\n1,2,2,2\r\n", ("a", "b", "c", "d")),
        ("# made by hand\n\n 1, 1 ,2,2\n  \n1,2,2,2\n", None),
        ("5.0,5.0,-7,-7\n1e+00,2.000e+00,2,2\n", None),
        # R: write.csv with row names; write.table, whose header lacks their heading
        ('"","V1","V2","V3","V4"\n"1",1,1,2,2\n"2",1,2,2,2\n', ("V1", "V2", "V3", "V4")),
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


@pytest.mark.parametrize("format", ["%d", "%.18e", "%.1f"])
def test_what_numpy_writes(format, tmp_path):
    labels = np.random.default_rng(0).integers(0, 40, (50, 7))
    np.savetxt(tmp_path / "a.csv", labels, fmt=format, delimiter=",")
    np.savetxt(tmp_path / "b.txt", labels, fmt=format, header="items a b c")
    assert pt.read_draws(tmp_path / "a.csv") == pt.Draws(labels)
    assert pt.read_draws(tmp_path / "b.txt", format="txt") == pt.Draws(labels)


def test_separators():
    assert read("1;1;2;2\n1;2;2;2\n", sep=";") == EXPECTED
    assert read("1\t1\t2\t2\n1\t2\t2\t2\n", format="tsv") == EXPECTED
    assert read("  1 1\t2   2 \n1 2 2 2\n", format="txt") == EXPECTED
    assert read('"a b" c\n1 2\n', format="txt").item_names == ("a b", "c")
    with pytest.raises(FileFormatError, match=r"separated by ';', not by ','. Pass sep=';'"):
        read("1;1;2;2\n1;2;2;2\n", header=False)
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


def test_weights_and_chains_in_columns():
    draws = read('a,.weight,b,.chain\n1,3,1,"1"\n1,1,2,"2"\n')
    assert draws == pt.Draws([[1, 1], [1, 2]], weights=[3, 1], chain=["1", "2"], item_names="ab")
    with pytest.raises(ValueError, match="weight of draw 1 reads 'x'"):
        read(".weight,a\n1,1\nx,1\n")


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


# ---------------------------------------------------------------------------- CmdStan

STAN = pt.Draws([[1, 1, 3, 3], [2, 2, 2, 1], [3, 1, 1, 2], [1, 1, 1, 1]])


@pytest.mark.parametrize("options", [{}, {"var_name": "z"}, {"format": "cmdstan"}])
def test_cmdstan(options):
    assert pt.read_draws(CMDSTAN, **options) == STAN


def test_cmdstan_chains():
    draws = pt.read_draws([CMDSTAN, CMDSTAN])
    assert draws.n_chains == 2
    assert draws.select_chains([1]).labels.tolist() == STAN.labels.tolist()


@pytest.mark.parametrize(
    ("first", "filling"),
    [("", "\n"), ("", "#\n"), ("", " \n"), ("1,1\n", "\n"), ("1,1\n", " \n")],
)
def test_a_file_is_not_searched_for_its_rows_without_end(first, filling, monkeypatch):
    monkeypatch.setattr(table, "_MOST_PASSED_OVER", 10)
    monkeypatch.setattr(table, "_BLOCK_BYTES", 4)
    for reader in (pt.read_draws, lambda stream: read_cells(stream, ",")):
        with pytest.raises(pt.PartitaError, match="blank lines and comments"):
            reader(io.StringIO(first + filling * 30 + "1,1\n1,2\n"))
    assert pt.read_draws(io.StringIO(first + filling * 3 + "1,1\n1,2\n")).n_draws >= 2
