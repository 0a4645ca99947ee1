"""Observations: a table with one row per item, from whatever holds it."""

from __future__ import annotations

import csv
import io as text_io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._optional import require
from partita.errors import FileFormatError, InvalidDataError, UnknownNameError
from partita.samplers.checks import listed

MISSING = frozenset({"", "NA", "NaN", "nan", "NAN", "None", "null", "NULL", "<NA>", "."})
"""How programs spell a missing value in text."""


@dataclass(frozen=True)
class Table:
    """Columns of equal length, each of floats, booleans or objects, with names.

    Integers are kept as floats; text and categories as objects, None where missing.
    """

    names: tuple[str, ...]
    columns: tuple[NDArray[Any], ...]

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

    def select(self, positions: list[int]) -> Table:
        """The same rows with some columns."""
        return Table(
            tuple(self.names[p] for p in positions), tuple(self.columns[p] for p in positions)
        )


def as_table(data: Any) -> Table:
    """A table from NumPy, pandas, polars or Arrow data, nested lists, or a csv or parquet path."""
    if isinstance(data, Table):
        return data
    if isinstance(data, (str, os.PathLike)):
        table = _read(Path(data))
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
    try:
        array = np.asarray(data)
    except ValueError:
        raise InvalidDataError(
            "the rows of the data have different lengths; expected a table, one row per item."
        ) from None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InvalidDataError(
            f"the data have shape {array.shape}; expected (n_items,) or (n_items, n_columns)."
        )
    columns = tuple(_column(array[:, j]) for j in range(array.shape[1]))
    return Table(tuple(str(j) for j in range(array.shape[1])), columns)


def _from_frame(data: Any) -> Table:
    if hasattr(data, "to_frame"):  # a Series
        data = data.to_frame()
    if type(data).__name__ == "LazyFrame":
        raise InvalidDataError("a polars LazyFrame was given; call .collect() first.")
    if hasattr(data, "iloc"):
        names = [str(name) for name in data.columns]
        columns = [_pandas_column(data.iloc[:, j]) for j in range(len(names))]
    elif hasattr(data, "to_series"):
        names = list(data.columns)
        columns = [_column(_polars_values(data[name])) for name in names]
    else:
        names = list(data.column_names)
        columns = [_column(np.asarray(data.column(name).to_pylist(), object)) for name in names]
    return Table(tuple(names), tuple(columns))


def _pandas_column(series: Any) -> NDArray[Any]:
    if getattr(series.dtype, "kind", "O") in "iufb":
        missing = series.isna().to_numpy()
        if missing.any():
            return np.asarray(series.astype("float64").to_numpy())
        return _column(series.to_numpy())
    values = series.astype(object)
    return _column(values.where(~series.isna(), None).to_numpy())


def _polars_values(series: Any) -> NDArray[Any]:
    if series.dtype.is_numeric():
        return np.asarray(series.to_numpy())
    return np.asarray(series.to_list(), object)


def _column(values: NDArray[Any]) -> NDArray[Any]:
    """One column as float64, bool or object."""
    kind = values.dtype.kind
    if kind == "b":
        return values.astype(np.bool_)
    if kind in "iuf":
        return values.astype(np.float64)
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


def _read(path: Path) -> Table:
    from partita.io.source import check_file

    check_file(path)
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq"):
        parquet = require("pyarrow.parquet", extra="parquet", purpose="reading .parquet files")
        return _from_frame(parquet.read_table(path))
    if suffix == ".npy":
        return _from_array(np.load(path, allow_pickle=False))
    if suffix in (".csv", ".tsv"):
        return _read_text(path, "," if suffix == ".csv" else "\t")
    raise UnknownNameError(
        f"{path}: observations are read from .csv, .tsv, .parquet and .npy files. "
        "Load other files yourself and pass the table."
    )


def _read_text(path: Path, separator: str) -> Table:
    """Text cells; the first line is a header unless all its cells are numbers."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise FileFormatError(f"{path} is not UTF-8 text. Save it as UTF-8.") from None
    rows = [r for r in csv.reader(text_io.StringIO(text), delimiter=separator) if r]
    if not rows:
        raise FileFormatError(f"{path} is empty; expected one row per item.")
    width = len(rows[0])
    ragged = [i for i, row in enumerate(rows) if len(row) != width]
    if ragged:
        raise FileFormatError(
            f"{path}: line {ragged[0] + 1} has {len(rows[ragged[0]])} cells, the first has {width}."
        )
    header = any(_as_number(cell) is None for cell in rows[0])
    names = tuple(cell.strip() for cell in rows[0]) if header else tuple(map(str, range(width)))
    body = rows[1:] if header else rows
    if not body:
        raise FileFormatError(f"{path} has a header and no rows; expected one row per item.")
    columns = tuple(_text_column([row[j].strip() for row in body]) for j in range(width))
    return Table(names, columns)


def _as_number(cell: str) -> float | None:
    if cell.strip() in MISSING:
        return np.nan
    try:
        return float(cell)
    except ValueError:
        return None


def _text_column(cells: list[str]) -> NDArray[Any]:
    numbers = [_as_number(cell) for cell in cells]
    if all(number is not None for number in numbers):
        return np.array(numbers, np.float64)
    lower = {cell.lower() for cell in cells}
    if lower <= {"true", "false"}:
        return np.array([cell.lower() == "true" for cell in cells])
    return np.array([None if cell in MISSING else cell for cell in cells], object)


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
            f"the data have missing or infinite values in rows {listed(rows)} (0-based), columns "
            f"{listed(columns)}. {advice}"
        )
