"""Draws from objects in memory, and from Parquet files of other programs."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import partita as pt
from partita.errors import InvalidInputError, InvalidLabelsError

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


def test_large_tables_come_in_blocks(monkeypatch):
    labels = np.random.default_rng(0).integers(0, 600, (50, 7))
    monkeypatch.setattr("partita.io.draws_table.BLOCK_LABELS", 30)
    assert pt.as_draws(pd.DataFrame(labels)) == pt.Draws(labels)
    frame = pd.DataFrame(labels.astype(float))
    frame.iloc[20, 3] = 0.5
    with pytest.raises(InvalidLabelsError, match=r"draws\[20, 3\] is 0\.5"):
        pt.as_draws(frame)


# ---------------------------------------------------------------- Parquet files of other programs


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


def test_what_polars_writes(path):
    pl.DataFrame(LABELS, schema=["a", "b", "c"], orient="row").write_parquet(path)
    assert pt.read_draws(path) == NAMED
    pl.DataFrame({"d1": [4, 4, 9], "d2": [9, 4, 4]}).write_parquet(path)
    assert pt.read_draws(path, transpose=True) == pt.Draws(LABELS)
    with pytest.raises(InvalidInputError, match="no variables"):
        pt.read_draws(path, transpose=True, var_name="z")


def test_row_groups(path, monkeypatch):
    labels = np.random.default_rng(0).integers(0, 500, (60, 8))
    monkeypatch.setattr("partita.io.draws_table.BLOCK_LABELS", 40)
    pt.write_draws(labels, path)
    assert pq.ParquetFile(path).num_row_groups == 12
    assert pt.read_draws(path) == pt.Draws(labels)


def test_items_in_rows_keep_their_names(tmp_path):
    frame = pd.DataFrame({"run1": [0, 0, 1], "run2": [0, 1, 1]}, index=["a", "b", "c"])
    frame.to_parquet(tmp_path / "t.parquet")
    draws = pt.read_draws(tmp_path / "t.parquet", transpose=True)
    assert draws == pt.Draws([[0, 0, 1], [0, 1, 1]], item_names=["a", "b", "c"])
    assert draws == pt.as_draws(frame, transpose=True)
