"""Observations: a table with one row per item, from whatever holds it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._optional import require
from partita._wording import listed
from partita.errors import InvalidDataError, UnknownNameError, about
from partita.partitions.arrays import plain_array


@dataclass(frozen=True)
class Table:
    """Columns of equal length, each of floats, booleans or objects, with names.

    Integers are kept as floats; text and categories as objects, None where missing. A table from
    a text file has its ``cells`` as they stand there and the ``lines`` of its rows; names of the
    rows, and ``notes`` on what was understood, where there are any.
    """

    names: tuple[str, ...]
    columns: tuple[NDArray[Any], ...]
    cells: tuple[tuple[str, ...], ...] | None = None
    lines: tuple[int, ...] | None = None
    item_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    source: str = "the data"

    @property
    def n_rows(self) -> int:
        """Number of items."""
        return int(self.columns[0].size)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    def rows(self, rows: slice) -> Table:
        """The same columns with some rows."""
        return Table(self.names, tuple(column[rows] for column in self.columns))

    def where(self, rows: list[int]) -> str:
        """Rows in the words of a message: as the file counts lines, if there is one."""
        if self.lines is not None:
            return f"lines {listed([self.lines[row] for row in rows])}"
        return f"rows {listed(rows)} (0-based)"

    def select(self, positions: list[int]) -> Table:
        """The same rows with some columns."""
        return replace(
            self,
            names=tuple(self.names[p] for p in positions),
            columns=tuple(self.columns[p] for p in positions),
            cells=None if self.cells is None else tuple(self.cells[p] for p in positions),
        )


@about("data", "path", "header")
def as_table(data: Any, options: Any = None) -> Table:
    """A table from NumPy, pandas, polars or Arrow data, nested lists, or a csv or parquet path.

    ``options`` are the TextOptions of a text file.
    """
    if isinstance(data, Table):
        return data
    if isinstance(data, (str, os.PathLike)):
        table = _read(Path(data), options)
    else:
        library = type(data).__module__.partition(".")[0]
        if library in ("pandas", "polars", "pyarrow"):
            table = _from_frame(data)
        else:
            table = _from_array(data)
    if not table.n_columns or not table.n_rows:
        raise InvalidDataError("the data are empty; expected one row per item and a column.")
    return table


def _from_array(data: Any) -> Table:
    if np.ma.isMaskedArray(data):
        data = np.ma.filled(data.astype(np.float64), np.nan)  # masked is missing
    array = plain_array(data, "the data", InvalidDataError)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InvalidDataError(
            f"the data have shape {array.shape}; expected (n_items,) or (n_items, n_columns)."
        )
    columns = tuple(_column(array[:, j]) for j in range(array.shape[1]))
    return Table(tuple(str(j) for j in range(array.shape[1])), columns)


def _from_frame(data: Any) -> Table:
    if type(data).__name__ == "LazyFrame":
        raise InvalidDataError("a polars LazyFrame was given; call .collect() first.")
    if type(data).__name__ == "Categorical":
        data = import_module("pandas").Series(data)
    if hasattr(data, "to_frame"):  # a Series
        data = data.to_frame()
    if hasattr(data, "iloc"):
        names = [str(name) for name in data.columns]
        columns = [_pandas_column(data.iloc[:, j]) for j in range(len(names))]
        return _named_by_index(Table(tuple(names), tuple(columns)), data.index)
    if hasattr(data, "to_series"):
        names = list(data.columns)
        columns = [_column(_polars_values(data[name])) for name in names]
    elif hasattr(data, "column_names"):
        names = list(data.column_names)
        columns = [_arrow_column(data.column(name)) for name in names]
    else:
        raise InvalidDataError(
            f"the data came as {type(data).__name__}, which is not a table; expected a DataFrame, "
            "a Series or an array, one row per item."
        )
    return Table(tuple(names), tuple(columns))


def _named_by_index(table: Table, index: Any) -> Table:
    """The index of a DataFrame as names of the items, unless it only counts them."""
    names = tuple(str(name) for name in index)
    counts = index.dtype.kind in "iu" and np.array_equal(index, np.arange(len(index)))
    if counts or index.nlevels > 1 or index.hasnans or len(set(names)) < len(names):
        return table
    return replace(table, item_names=names)


def _pandas_column(series: Any) -> NDArray[Any]:
    kind = getattr(series.dtype, "kind", "O")
    if kind in "iufb":
        missing = series.isna().to_numpy()
        if missing.any():
            return np.asarray(series.astype("float64").to_numpy())
        return _column(series.to_numpy())
    objects = np.asarray(series.astype(object).where(~series.isna(), None).to_numpy(), object)
    return objects if hasattr(series.dtype, "categories") else _column(objects)


def _polars_values(series: Any) -> NDArray[Any]:
    if series.dtype.is_numeric():
        return np.asarray(series.to_numpy())
    return _objects(series.to_list())


def _arrow_column(column: Any) -> NDArray[Any]:
    objects = _objects(column.to_pylist())
    return objects if hasattr(column.type, "value_type") else _column(objects)


def _objects(values: list[Any]) -> NDArray[Any]:
    """One column of objects, lists in cells included."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


def _column(values: NDArray[Any]) -> NDArray[Any]:
    """One column as float64, bool or object."""
    kind = values.dtype.kind
    if kind == "b":
        return values.astype(np.bool_)
    if kind in "iuf":
        return values.astype(np.float64)
    if kind in "Mm":  # as objects of Python, which hold microseconds
        values = values.astype(f"{kind}8[us]").astype(object)
        return np.array([None if v is None else v for v in values], object)
    if kind in "OUST":
        objects = values.astype(object)
        present = [v for v in objects if v is not None]
        if present and all(isinstance(v, (bool, np.bool_)) for v in present):
            return objects.astype(np.bool_) if len(present) == objects.size else objects
        if all(isinstance(v, (int, float, np.number)) and not isinstance(v, bool) for v in present):
            return np.array([np.nan if v is None else float(v) for v in objects])
        return objects
    raise InvalidDataError(
        f"a column of the data has dtype {values.dtype}; expected numbers, booleans or text."
    )


def _read(path: Path, options: Any) -> Table:
    from partita.io.files import reading
    from partita.io.numpy_files import read_array
    from partita.io.source import check_file

    check_file(path)
    suffix = path.suffix.lower()
    with reading(path, suffix.removeprefix(".")):
        if suffix in (".parquet", ".pq"):
            parquet = require("pyarrow.parquet", extra="parquet", purpose="reading .parquet files")
            return _without_index(_from_frame(parquet.read_table(path)), path)
        if suffix == ".npy":
            return _from_array(read_array(path))
        if suffix in (".csv", ".tsv", ".txt"):
            from partita.samplers.text_table import read_text_table

            return read_text_table(path, options)
    raise UnknownNameError(
        f"{path}: observations are read from .csv, .tsv, .txt, .parquet and .npy files. "
        "Load other files yourself and pass the table."
    )


def _without_index(table: Table, path: Path) -> Table:
    """The index that pandas wrote, as names of the items."""
    index = [p for p, name in enumerate(table.names) if _INDEX.fullmatch(name)]
    if not index:
        return table
    names = names_of(table.columns[index[0]])
    if len(index) > 1 or len(set(names)) < len(names):
        raise InvalidDataError(
            f"{path} was written with an index that does not name each row once. Write it without, "
            "by index=False."
        )
    rest = table.select([p for p in range(table.n_columns) if p not in index])
    return replace(rest, item_names=names, notes=("the index is taken as names of the items",))


def names_of(column: NDArray[Any]) -> tuple[str, ...]:
    """The values of a column as names, whole numbers without a point."""
    values = column.tolist()
    if column.dtype.kind != "f":
        return tuple("" if value is None else str(value) for value in values)
    if np.abs(column[np.isfinite(column)]).max(initial=0.0) >= _LARGEST:
        raise InvalidDataError(
            "ids of 2^53 or more cannot be told apart as numbers. Write them as text."
        )
    return tuple(str(int(value)) if value.is_integer() else str(value) for value in values)


_LARGEST = 2.0**53  # beyond it floats skip whole numbers
_INDEX = re.compile(r"__index_level_\d+__")


def numbers(
    table: Table,
    kernel: str,
    *,
    missing: bool = False,
    advice: str = "Drop or impute them first.",
) -> NDArray[np.float64]:
    """All columns as floats, shape (n_rows, n_columns), NaN where a cell may be missing."""
    for name, column in zip(table.names, table.columns, strict=True):
        if column.dtype.kind == "O":
            example = next((v for v in column if v is not None), None)
            raise InvalidDataError(
                f"column {name!r} holds text or other objects (such as {example!r}), but "
                f"{kernel} needs numbers. Use DirichletCategorical for categories, and Product "
                "where a table mixes both."
            )
    values = np.column_stack([column.astype(np.float64) for column in table.columns])
    if missing:
        refuse_missing(np.isinf(values), table, "Drop these rows, or mark the cells as missing.")
    else:
        refuse_missing(~np.isfinite(values), table, advice)
    return values


def refuse_missing(missing: NDArray[np.bool_], table: Table, advice: str) -> None:
    """Raise where a mask of missing or infinite cells has any, saying which rows and columns."""
    if missing.any():
        rows = np.flatnonzero(missing.any(axis=1)).tolist()
        columns = [table.names[j] for j in np.flatnonzero(missing.any(axis=0))]
        raise InvalidDataError(
            f"{table.source} have missing or infinite values in {table.where(rows)}, columns "
            f"{listed(columns)}. {advice}"
        )
