"""Parquet files of other programs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

import partita as pt
from partita.errors import InvalidInputError

LABELS = np.array([[4, 4, 9], [9, 4, 4]])
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
    with pytest.raises(InvalidInputError, match="no meaning transposed"):
        pt.read_draws(path, transpose=True, var_name="z")


def test_tables_of_variables(path):
    pl.DataFrame({"lp__": [0.5], "z[2]": [1], "z[1]": [2], "p[1]": [0.5]}).write_parquet(path)
    assert pt.read_draws(path) == pt.Draws([[2, 1]])
    with pytest.raises(InvalidInputError, match="'q' is not an indexed variable"):
        pt.read_draws(path, var_name="q")


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
