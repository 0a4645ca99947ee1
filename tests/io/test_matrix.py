"""Tables of numbers in files are read once: no second copy of the data is made."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from partita.io.data_table import as_table, numbers


@pytest.mark.parametrize("suffix", ["npy", "parquet"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_one_copy(tmp_path: Path, suffix: str, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    data = (100 * rng.normal(size=(500, 3))).astype(dtype)
    path = tmp_path / f"data.{suffix}"
    if suffix == "npy":
        np.save(path, data)
    else:
        pa = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        columns = {f"x{j}": data[:, j] for j in range(3)}
        parquet.write_table(pa.table(columns), path, row_group_size=64)
    table = as_table(path)
    values = numbers(table, "a kernel")
    np.testing.assert_array_equal(values, data.astype(np.float64))
    assert all(np.shares_memory(values, column) for column in table.columns)
    part = numbers(table.select([2, 0]), "a kernel")
    np.testing.assert_array_equal(part, data[:, [2, 0]].astype(np.float64))


def test_missing_cells_of_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(
        pa.table({"a": [1, None, 3], "b": [0.5, 1.5, None]}), tmp_path / "d.parquet"
    )
    values = numbers(as_table(tmp_path / "d.parquet"), "a kernel", missing=True)
    np.testing.assert_array_equal(values, [[1, 0.5], [np.nan, 1.5], [3, np.nan]])


def test_arrays_of_users_are_not_shared() -> None:
    data = np.ones((4, 2))
    assert not np.shares_memory(numbers(as_table(data), "a kernel"), data)


def test_parquet_is_not_twice_in_memory(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
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
