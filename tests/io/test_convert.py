"""Draws from objects in memory, Parquet and NumPy files; every bad file says what to do."""

import io
import os

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import partita as pt
from partita.errors import (
    FileFormatError,
    InvalidInputError,
    InvalidLabelsError,
    UnknownNameError,
)

LABELS = [[4, 4, 9], [9, 4, 4]]
EXPECTED = pt.Draws(LABELS)


def test_draws_are_returned_as_they_are():
    assert pt.as_draws(EXPECTED) is EXPECTED
    assert pt.as_draws(EXPECTED, weights=[1, 3]).weights.tolist() == [0.25, 0.75]


def test_transpose():
    assert pt.as_draws(np.array(LABELS).T, transpose=True) == EXPECTED
    chains = np.array([LABELS, LABELS])
    assert pt.as_draws(chains.swapaxes(1, 2), transpose=True) == pt.as_draws(chains)


@pytest.mark.parametrize("order", ["C", "F"])
def test_chains_by_the_first_axis(order):
    values = np.random.default_rng(0).integers(0, 3, (3, 4, 5))
    draws = pt.as_draws(np.asarray(values, order=order), weights=np.arange(1, 13).reshape(3, 4))
    assert draws.chain.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert draws.labels.tolist() == pt.Draws(values.reshape(12, 5)).labels.tolist()
    assert draws.weights.tolist() == (np.arange(1, 13) / 78).tolist()
    with pytest.raises(InvalidInputError, match="first axis is the chain already"):
        pt.as_draws(values, chain=[0] * 12)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tables(make):
    columns = {"a": [4, 9], "b": [4, 4], "c": [9, 4]}
    named = pt.Draws(LABELS, item_names=["a", "b", "c"])
    assert pt.as_draws(make(columns)) == named
    extra = {".chain": ["x", "y"], ".weight": [1.0, 3.0], ".iteration": [1, 2]}
    assert pt.as_draws(make(columns | extra)) == pt.as_draws(
        named, chain=["x", "y"], weights=[1, 3]
    )
    stan = {"lp__": [0.5, 0.1], "z.1": [4.0, 9.0], "z.3": [9.0, 4.0], "z.2": [4.0, 4.0]}
    assert pt.as_draws(make(stan)) == EXPECTED
    assert pt.as_draws(make(stan), var_name="z") == EXPECTED
    texts = {"a": ["x", "y"], "b": ["x", "x"]}
    assert pt.as_draws(make(texts)).labels.tolist() == [[0, 0], [0, 1]]
    assert pt.as_draws(make({"d1": [4, 4, 9], "d2": [9, 4, 4]}), transpose=True) == EXPECTED
    with pytest.raises(InvalidLabelsError, match="no draws"):
        pt.as_draws(make(columns)[:0] if make is not pa.table else make(columns).slice(0, 0))
    with pytest.raises(InvalidLabelsError, match=r"missing|NaN"):
        pt.as_draws(make({"a": [1, None], "b": [1, 2]}))
    with pytest.raises(InvalidLabelsError, match="mix or hold"):
        pt.as_draws(make({"a": [1, 2], "b": ["x", "y"]}))


def test_pandas_details():
    frame = pd.DataFrame(LABELS)
    assert pt.as_draws(frame) == EXPECTED
    assert pt.as_draws(frame.astype("Int8")) == EXPECTED
    assert pt.as_draws(frame.astype({0: float, 1: bool})).n_draws == 2
    assert pt.as_draws(frame.astype("category")) == EXPECTED
    assert pt.as_draws(frame.rename(columns=lambda c: 10 * c)).item_names == ("0", "10", "20")
    items = pd.DataFrame(np.array(LABELS).T, index=["a", "b", "c"])
    assert pt.as_draws(items, transpose=True).item_names == ("a", "b", "c")
    frame.index = pd.MultiIndex.from_product([[3, 5], [0]], names=["chain", "draw"])
    assert pt.as_draws(frame).chain.tolist() == [3, 5]


def test_large_tables_come_and_go_in_blocks(tmp_path, monkeypatch):
    labels = np.random.default_rng(0).integers(0, 600, (50, 7))
    monkeypatch.setattr("partita._storage.BLOCK_LABELS", 30)
    assert pt.as_draws(pd.DataFrame(labels)) == pt.Draws(labels)
    pt.write_draws(labels, tmp_path / "a.parquet")
    assert pq.ParquetFile(tmp_path / "a.parquet").num_row_groups == 13
    assert pt.read_draws(tmp_path / "a.parquet") == pt.Draws(labels)
    frame = pd.DataFrame(labels.astype(float))
    frame.iloc[20, 3] = 0.5
    with pytest.raises(InvalidLabelsError, match=r"draws\[20, 3\] is 0\.5"):
        pt.as_draws(frame)


NAMED = pt.Draws(LABELS, item_names="abc")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.parquet"


def test_what_pandas_writes(path):
    frame = pd.DataFrame(LABELS, columns=list("abc"))
    frame.to_parquet(path)
    assert pt.read_draws(path) == NAMED
    frame.index = ["first", "second"]
    frame.to_parquet(path)
    assert pt.read_draws(path) == NAMED
    frame.index = pd.MultiIndex.from_tuples([(7, 0), (8, 0)], names=["chain", "draw"])
    frame.to_parquet(path)
    assert pt.read_draws(path) == pt.as_draws(NAMED, chain=[7, 8])


def test_items_in_rows_keep_their_names(tmp_path):
    frame = pd.DataFrame({"run1": [0, 0, 1], "run2": [0, 1, 1]}, index=["a", "b", "c"])
    frame.to_parquet(tmp_path / "t.parquet")
    draws = pt.read_draws(tmp_path / "t.parquet", transpose=True)
    assert draws == pt.Draws([[0, 0, 1], [0, 1, 1]], item_names=["a", "b", "c"])
    assert draws == pt.as_draws(frame, transpose=True)


FORMATS = ["csv", "csv.gz", "tsv", "npy", "npz", "parquet", "nc", "rds", "RData"]
rng = np.random.default_rng(0)
# Damaged, cut and forged files of every format are in tests/fuzz.


@pytest.mark.parametrize("suffix", FORMATS)
def test_no_file_an_empty_file_and_a_directory(suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    with pytest.raises(FileNotFoundError, match="does not exist") as caught:
        pt.read_draws(path)
    assert isinstance(caught.value, pt.PartitaError)
    path.touch()
    with pytest.raises(FileFormatError, match="is empty"):
        pt.read_draws(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match="is a directory"):
        pt.read_draws(path)


def test_no_permission(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("1,1\n")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(OSError, match="permission denied"):
        pt.read_draws(path)


def test_unknown_suffix_and_format(tmp_path):
    for name in ("a.xlsx", "a"):
        with pytest.raises(UnknownNameError, match=r"\.csv.*format="):
            pt.read_draws(tmp_path / name)
        with pytest.raises(UnknownNameError):
            pt.write_draws([[0]], tmp_path / name)
    with pytest.raises(UnknownNameError, match="format 'excel' is unknown"):
        pt.read_draws(tmp_path / "a.csv", format="excel")


def test_options_of_text_elsewhere(tmp_path):
    np.save(tmp_path / "a.npy", [[0, 1]])
    with pytest.raises(InvalidInputError, match="header, sep has a meaning for text"):
        pt.read_draws(tmp_path / "a.npy", header=True, sep=";")


def test_objects_are_said_to_be_pickled(tmp_path):
    """That no code runs, tests/fuzz shows."""
    np.save(tmp_path / "a.npy", np.array([["a", 1]], object))
    with pytest.raises(FileFormatError, match="pickled Python objects"):
        pt.read_draws(tmp_path / "a.npy")


def test_npy(tmp_path):
    labels = rng.integers(0, 10, (40, 6))
    for values in (labels, np.asfortranarray(labels), labels.astype(">i2"), labels.astype("f4")):
        np.save(tmp_path / "a.npy", values)
        assert pt.read_draws(tmp_path / "a.npy") == pt.Draws(labels)
    np.save(tmp_path / "a.npy", labels.T)
    assert pt.read_draws(tmp_path / "a.npy", transpose=True) == pt.Draws(labels)
    np.save(tmp_path / "a.npy", labels.reshape(2, 20, 6))
    assert pt.read_draws(tmp_path / "a.npy").n_chains == 2
    with pytest.raises(InvalidInputError, match="no variables"):
        pt.read_draws(tmp_path / "a.npy", var_name="x")


def test_npz(tmp_path, monkeypatch):
    labels = rng.integers(0, 10, (40, 6))
    monkeypatch.setattr("partita._storage.BLOCK_LABELS", 50)
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", x=labels, y=labels[0])
        assert pt.read_draws(tmp_path / "a.npz") == pt.Draws(labels)
        save(tmp_path / "a.npz", labels=np.asfortranarray(labels), other=labels)
        assert pt.read_draws(tmp_path / "a.npz") == pt.Draws(labels)
    np.savez(tmp_path / "a.npz", x=labels.T, y=labels)
    with pytest.raises(InvalidInputError, match=r"x \(6, 40\), y \(40, 6\)"):
        pt.read_draws(tmp_path / "a.npz")
    assert pt.read_draws(tmp_path / "a.npz", var_name="x", transpose=True) == pt.Draws(labels)
    with pytest.raises(InvalidInputError, match=r"'q' is not among .*: x"):
        pt.read_draws(tmp_path / "a.npz", var_name="q")


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("1,1\n2,2\n3\n", FileFormatError, "line 3: only 1 cells, where earlier rows have 2"),
        ("a,b\n1,1\n\n1,2,3\n", FileFormatError, "line 4: more than 2 cells"),
        ("1,1\n2,\n", InvalidLabelsError, "line 2, column 2: the label is missing"),
        ("1,1\n2,NA\n", InvalidLabelsError, "line 2, column 2: 'NA' stands for a missing label"),
        ("1,1\n2.5,2\n", InvalidLabelsError, r"column 1: '2\.5' is not a whole number"),
        ("1,0.5\n0.5,1\n", InvalidLabelsError, r"'0\.5' is not .*posterior similarity matrix"),
        ("1,1\n2,x\n", InvalidLabelsError, r"'x' is not a whole number.*strings=True"),
        ("1,1\n2,12345678901234567890\n", InvalidLabelsError, "too large for a label"),
        ("a,a\n1,1\n", InvalidInputError, "the name 'a' is the heading of several"),
        ('"a,b\n1,1\n', FileFormatError, "not closed"),
        (".chain,.weight\n1,1\n", InvalidLabelsError, "no items"),
        (".weight,a\n1,1\nx,1\n", InvalidInputError, "weight of draw 1 reads 'x'"),
        *(
            (f"{header}\n1,1,0\n", InvalidInputError, "would all be the same")
            for header in (".chain,.chain,a", ".weight,.weight,a", "Chain,.chain,a")
        ),
        ('.chain,a,b\n left",1,1\n"left",1,2\n', FileFormatError, "a quote inside a cell"),
        # A heading that was lost or changed is no item.
        (".cha n,.item1,.item2\n1,1,1\n", InvalidInputError, r"not \.item1, \.item2, … in order"),
        (".item1,.item3\n1,1\n1,2\n", InvalidInputError, "lost, moved or renamed"),
        ("lp__,z.1,z.2,w.1\n0.5,1,1,1\n", InvalidInputError, r"several variables .* 'z', 'w'"),
        ("lp__,x.1\n0.5,1.5\n", InvalidInputError, r"no variable of this table .*'x'"),
    ],
)
def test_bad_text(text, error, message):
    with pytest.raises(error, match=message):
        pt.read_draws(io.StringIO(text))
