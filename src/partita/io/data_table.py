"""Tables of data, one row per item, from whatever holds them; columns to doubt are refused."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._validate import plain_array, repeated
from partita._wording import listed
from partita.errors import FileFormatError, InvalidDataError, UnknownNameError, about
from partita.io import table as tables
from partita.io.table import MISSING, NUMBER, NotUtf8Error, Source
from partita.kernels.arrays import Array, Bools, Floats


@dataclass(frozen=True)
class Table:
    """Columns of equal length, each of floats, booleans or objects, with names.

    Integers are kept as floats; text and categories as objects, None where missing. A table from
    a text file has its ``cells`` as they stand there and the ``lines`` of its rows; names of the
    rows, and ``notes`` on what was understood, where there are any. Columns of numbers that were
    read into one ``matrix`` of this table's own are its columns, in order.
    """

    names: tuple[str, ...]
    columns: tuple[Array, ...]
    cells: tuple[tuple[str, ...], ...] | None = None
    lines: tuple[int, ...] | None = None
    item_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    source: str = "the data"
    matrix: Floats | None = None

    @property
    def n_rows(self) -> int:
        """Number of items."""
        return int(self.columns[0].size)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    def rows(self, rows: slice | NDArray[np.intp]) -> Table:
        """The same columns with some rows."""
        return Table(self.names, tuple(column[rows] for column in self.columns))

    def where(self, rows: list[int]) -> str:
        """Rows in the words of a message: as the file counts lines, if there is one."""
        if self.lines is not None:
            return f"lines {listed([self.lines[row] for row in rows])}"
        return f"rows {listed(rows)} (0-based)"

    def select(self, positions: list[int]) -> Table:
        """The same rows with some columns."""
        if positions == list(range(self.n_columns)):
            return self
        return replace(
            self,
            matrix=None,
            names=tuple(self.names[p] for p in positions),
            columns=tuple(self.columns[p] for p in positions),
            cells=None if self.cells is None else tuple(self.cells[p] for p in positions),
        )


@about("data", "path", "header")
def as_table(data: Any, options: TextOptions | None = None) -> Table:
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


# ------------------------------------------------------------------ in memory


def _from_array(data: Any, *, own: bool = False) -> Table:
    """A table of an array, which need not be copied again where it is our ``own``."""
    if np.ma.isMaskedArray(data):
        data = np.ma.filled(data.astype(np.float64), np.nan)  # masked is missing
    array = plain_array(data, "the data", InvalidDataError)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InvalidDataError(
            f"the data have shape {array.shape}; expected (n_items,) or (n_items, n_columns)."
        )
    matrix = None
    if array.dtype.kind in "iuf" and (own or array.dtype != np.float64):
        matrix = array = np.ascontiguousarray(array, np.float64)
    columns = tuple(_column(array[:, j]) for j in range(array.shape[1]))
    return Table(tuple(str(j) for j in range(array.shape[1])), columns, matrix=matrix)


def _from_frame(data: Any) -> Table:
    if type(data).__name__ == "LazyFrame":
        raise InvalidDataError("a polars LazyFrame was given; call .collect() first.")
    if type(data).__name__ == "Categorical":
        data = import_module("pandas").Series(data)
    if hasattr(data, "to_frame"):  # a Series
        data = data.to_frame()
    frame = tables.read_frame(data)
    if frame is None:
        raise InvalidDataError(
            f"the data came as {type(data).__name__}, which is not a table; expected a DataFrame, "
            "a Series or an array, one row per item."
        )
    columns = tuple(
        values if is_category and values.dtype.kind == "O" else _column(values)
        for values, is_category in zip(frame.columns, frame.categories, strict=True)
    )
    table = Table(tuple(map(str, frame.names)), columns)
    return table if frame.index is None else _named_by_index(table, frame.index)


def _named_by_index(table: Table, index: Any) -> Table:
    """The index of a DataFrame as names of the items, unless it only counts them."""
    names = tuple(str(name) for name in index)
    counts = index.dtype.kind in "iu" and np.array_equal(index, np.arange(len(index)))
    if counts or index.nlevels > 1 or index.hasnans or len(set(names)) < len(names):
        return table
    return replace(table, item_names=names)


def _column(values: Array) -> Array:
    """One column as float64, bool or object."""
    if isinstance(values, np.ma.MaskedArray):
        return np.asarray(np.ma.filled(values.astype(np.float64), np.nan))
    kind = values.dtype.kind
    if kind == "b":
        return values.astype(np.bool_)
    if kind in "iuf":
        return values.astype(np.float64, copy=False)
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


# ------------------------------------------------------------------ files


_WHOLE = re.compile(r"[+-]?\d+")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
"""Digits grouped by commas; every group has three."""
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?"
    r"|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
)
_GERMAN = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(|[T ]\d{2}:\d{2}(:\d{2})?)")
"""Day.month.year; with slashes the order of day and month differs between countries."""
_SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}


@dataclass(frozen=True)
class TextOptions:
    """Options of reading a text file.

    ``sep`` and ``header`` None: by the suffix, and by the first line. ``missing``: spellings
    besides the usual ones. ``thousands``: what groups digits by three. ``encoding``: of the text,
    if not UTF-8.
    """

    sep: str | None = None
    decimal: str = "."
    thousands: str | None = None
    missing: tuple[str, ...] = ()
    header: bool | None = None
    encoding: str | None = None


_WITHOUT_OPTIONS = "Read it as it is meant, with pandas say, and pass the table."


def _read(path: Path, options: TextOptions | None) -> Table:
    tables.check_file(path)
    suffix = path.suffix.lower()
    with tables.translate_errors(path, suffix.removeprefix(".")):
        if suffix in (".parquet", ".pq"):
            with tables.open_parquet(path) as file:
                if all(map(tables.is_arrow_number, file.schema_arrow)):
                    return _without_index(_numbers_of_parquet(file), path)
                return _without_index(_from_frame(file.read()), path)
        if suffix == ".npy":
            read_array = import_module("partita.io.arrays").read_array
            return _from_array(read_array(path), own=True)
        if suffix in (".csv", ".tsv", ".txt"):
            return read_text_table(path, options)
    raise UnknownNameError(
        f"{path}: observations are read from .csv, .tsv, .txt, .parquet and .npy files. "
        "Load other files yourself and pass the table."
    )


def _numbers_of_parquet(file: Any) -> Table:
    """Columns of numbers, read batch by batch into one matrix: never twice in memory."""
    names = file.schema_arrow.names
    values = np.empty((file.metadata.num_rows, len(names)))
    start = 0
    for batch in tables.parquet_batches(file):
        for j, column in enumerate(batch.columns):
            values[start : start + len(batch), j] = column.to_numpy(zero_copy_only=False)
        start += len(batch)
    return Table(tuple(names), tuple(values.T), matrix=values)


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


def names_of(column: Array) -> tuple[str, ...]:
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


def read_text_table(source: Source, options: TextOptions | None, advice: str = "") -> Table:
    """A table from separated text; the first line is a header unless all its cells are numbers.

    An unnamed first column of different values is taken as names of the rows. ``advice`` is given
    in place of options that who calls does not have.
    """
    advice = _WITHOUT_OPTIONS if options is None else advice
    options = options or TextOptions()
    path = str(source)
    separator = options.sep or ("\t" if path.lower().endswith(".tsv") else ",")
    try:
        lines, rows = _rows(source, separator, options, advice)
    except NotUtf8Error as error:
        raise NotUtf8Error(
            f"{error} {advice or 'If it has another encoding, such as cp1252, name that.'}",
            argument="encoding" if not advice else None,
        ) from None
    header = _has_header(path, rows, options, advice)
    names, lines, rows = _split_header(path, lines, rows, header)
    if not rows:
        raise FileFormatError(f"{path} has a header and no rows; expected at least one.")
    cells = [tuple(row[j].strip() for row in rows) for j in range(len(names))]
    item_names, notes = None, tuple[str, ...]()
    if names[0] == "":
        item_names = _row_names(path, cells[0])
        names, cells, notes = names[1:], cells[1:], (_NAMED,)
    if not names:
        raise FileFormatError(f"{path} has a column of names and no other; expected data.")
    _check_names(path, names)
    spellings = MISSING | set(options.missing)
    columns = tuple(_text_column(column, spellings, options) for column in cells)
    return Table(tuple(names), columns, tuple(cells), tuple(lines), item_names, notes, str(path))


def _rows(
    source: Source, separator: str, options: TextOptions, advice: str
) -> tuple[list[int], list[list[str]]]:
    """Cells of each row, and the line of the file on which it ends."""
    table = tables.read_cells(
        source, separator, comments=False, blank_rows=True, encoding=options.encoding
    )
    cells = [[cell.text for cell in row] for row in table.rows]
    # In a file of one column an empty line is a missing cell; elsewhere it is skipped.
    one = max(map(len, cells)) == 1
    found = [(n, row or [""]) for n, row in zip(table.lines, cells, strict=True) if row or one]
    first = found[0][1]
    if len(first) == 1 and separator in _SEPARATORS:
        # A decimal comma may cut the rows below: whole lines are looked at.
        texts = [separator.join(row) for _, row in found]
        for other in _SEPARATORS.keys() - {separator}:
            if all(other in text for text in texts if text.strip()):
                raise FileFormatError(
                    f"{table.name} names one column, and has {_SEPARATORS[other]} in every line. "
                    + (advice or f"If that separates columns, pass sep={other!r}."),
                    argument=None if advice else "sep",
                )
    return [line for line, _ in found], [row for _, row in found]


def _has_header(path: str, rows: list[list[str]], options: TextOptions, advice: str) -> bool:
    """Whether the first line names the columns; refuses numbers that may be names."""
    if options.header is not None:
        return options.header
    if len(rows) == 1:
        return any(_number(cell.strip(), MISSING, options) is None for cell in rows[0])
    spellings = MISSING | set(options.missing)
    if any(_number(cell.strip(), spellings, options) is None for cell in rows[0]):
        return True
    first = [cell.strip() for cell in rows[0]]
    whole = [int(cell) for cell in first if _WHOLE.fullmatch(cell)]
    if len(whole) < len(first):
        return False
    counts = len(whole) > 1 and all(b - a == 1 for a, b in pairwise(whole))
    below = [cell.strip() for row in rows[1:] for cell in row]
    alone = bool(below) and not any(_WHOLE.fullmatch(cell) for cell in below)
    if counts or alone:
        shown = ",".join(first[:6]) + (",…" if len(first) > 6 else "")
        raise FileFormatError(
            f"{path}: the first line, {shown}, may name the columns or be the first row. "
            + (advice or "Say header=True or header=False."),
            argument="header",
        )
    return False


def _split_header(
    path: str, lines: list[int], rows: list[list[str]], header: bool
) -> tuple[list[str], list[int], list[list[str]]]:
    """Names, and lines and rows without the header."""
    width = len(rows[0])
    if header and len(rows) > 1 and all(len(row) == width + 1 for row in rows[1:]):
        _refuse_measured_names(path, [row[0].strip() for row in rows[1:]], width)
        rows = [["", *rows[0]], *rows[1:]]  # as R's write.table heads a table with row names
        width += 1
    ragged = [i for i, row in enumerate(rows) if len(row) != width]
    if ragged:
        raise FileFormatError(
            f"{path}: line {lines[ragged[0]]} has {len(rows[ragged[0]])} cells, the first has "
            f"{width}."
        )
    if not header:
        return [str(j) for j in range(width)], lines, rows
    return [cell.strip() for cell in rows[0]], lines[1:], rows[1:]


def _refuse_measured_names(path: str, names: list[str], width: int) -> None:
    """Refuse a first row with a cell less where the names would be numbers with decimals."""
    measured = [name for name in names if NUMBER.fullmatch(name) and "." in name]
    if len(measured) > len(names) / 2:  # R makes few of them: 1, 2, 1.1
        raise FileFormatError(
            f"{path}: the first row has {width} cells and all others {width + 1}, as tables of R "
            f"with row names have; but {measured[0]!r} is a measurement rather than a name. Give "
            "every column a name in the first line."
        )


_NAMED = "the first column has no name and different values: taken as names of the items"


def _row_names(path: str, cells: tuple[str, ...]) -> tuple[str, ...]:
    """The unnamed first column as names of the items."""
    if twice := repeated(cells):
        raise FileFormatError(
            f"{path}: the first column has no name, and {twice[0]!r} occurs in it more than once, "
            "so it does not name the rows. Give the column a name in the first line."
        )
    return cells


def _check_names(path: str, names: list[str]) -> None:
    twice = sorted(repeated(names))
    if "" in names:
        raise FileFormatError(
            f"{path}: column {names.index('') + 1} has no name. Give it one in the first line."
        )
    if twice:
        raise FileFormatError(f"{path}: {listed(twice)} names more than one column. Rename them.")


def _number(cell: str, spellings: frozenset[str] | set[str], options: TextOptions) -> float | None:
    if cell in spellings:
        return np.nan
    if options.thousands and options.thousands in cell:
        if not _GROUPED.fullmatch(_normalise_number(cell, options)):
            return None
        cell = cell.replace(options.thousands, "")
    if options.decimal != ".":
        cell = cell.replace(options.decimal, ".") if "." not in cell else ""
    return float(cell) if NUMBER.fullmatch(cell) else None


def _normalise_number(cell: str, options: TextOptions) -> str:
    """The cell with a comma between groups of digits and a point before decimals."""
    swapped = {options.decimal: ".", options.thousands: ","}
    return "".join(swapped.get(character, character) for character in cell)


def _text_column(
    cells: tuple[str, ...], spellings: frozenset[str] | set[str], options: TextOptions
) -> Array:
    """Floats, booleans, or text with None where missing."""
    if options.decimal == "," and options.thousands is None:
        # 1.234,56 leaves no doubt what its point is; 1.234 alone would.
        by_point = replace(options, thousands=".")
        if any(
            "," in c and _GROUPED.fullmatch(_normalise_number(c, by_point))
            for c in cells
            if "." in c
        ):
            options = by_point
    found = [_number(cell, spellings, options) for cell in cells]
    if all(number is not None for number in found):
        return np.array(found, np.float64)
    present = [cell for cell in cells if cell not in spellings]
    if {cell.lower() for cell in present} <= {"true", "false"}:
        if len(present) == len(cells):
            return np.array([cell.lower() == "true" for cell in cells])
        return np.array(
            [None if cell in spellings else cell.lower() == "true" for cell in cells], object
        )
    return np.array([None if cell in spellings else cell for cell in cells], object)


# ------------------------------------------------------------------ columns as numbers


def numbers(
    table: Table, kernel: str, *, missing: bool = False, advice: str = "Drop or impute them first."
) -> Floats:
    """All columns as floats, shape (n_rows, n_columns), NaN where a cell may be missing."""
    for name, column in zip(table.names, table.columns, strict=True):
        if column.dtype.kind == "O":
            example = next((v for v in column if v is not None), None)
            raise InvalidDataError(
                f"column {name!r} holds text or other objects (such as {example!r}), but "
                f"{kernel} needs numbers. Use DirichletCategorical for categories, and Product "
                "where a table mixes both."
            )
    if table.matrix is not None:
        values = table.matrix
    else:
        values = np.empty((table.n_rows, table.n_columns))
        for j, column in enumerate(table.columns):  # one copy, whatever the columns are
            values[:, j] = column
    if missing:
        refuse_missing(np.isinf(values), table, "Drop these rows, or mark the cells as missing.")
    else:
        refuse_missing(~np.isfinite(values), table, advice)
    return values


def refuse_missing(missing: Bools, table: Table, advice: str) -> None:
    """Raise where a mask of missing or infinite cells has any, saying which rows and columns."""
    if missing.any():
        rows = np.flatnonzero(missing.any(axis=1)).tolist()
        columns = [table.names[j] for j in np.flatnonzero(missing.any(axis=0))]
        raise InvalidDataError(
            f"{table.source} have missing or infinite values in {table.where(rows)}, columns "
            f"{listed(columns)}. {advice}"
        )


# ------------------------------------------------------------------ checks of columns


_NAME = re.compile(
    r"(.*[ _.-])?(id|ids|uuid|index|key|nr|no|row|rows|rownames?|row[ _.-]names?|unnamed: \d+)",
    re.IGNORECASE,
)
_MANY = 20
"""Rows from which on all-different whole numbers cannot be chance."""

_WIDE = 1e12


def refuse_doubtful(
    table: Table,
    *,
    names: str,
    leave_out: str,
    dates: str,
    missing: str,
    categories: str,
    decimal: str,
    thousands: str,
) -> None:
    """Raise for a column that would silently spoil the clustering, with the way out.

    The texts say how a caller has a column name the rows, leaves it out, takes dates as numbers,
    names a spelling of missing cells, says that a column holds categories, and names the decimal
    mark and what groups digits.
    """
    for name, column in zip(table.names, table.columns, strict=True):
        mark = groups_digits(column)
        if mark is not None or has_decimal_comma(column):
            ways = [] if mark is None else [thousands.format(mark)]
            ways += [decimal] if has_decimal_comma(column) and decimal not in ways else []
            example = next(v for v in column if v is not None and not v.isdigit())
            raise InvalidDataError(
                f"column {name!r} holds numbers written like {example!r}; {', or '.join(ways)}."
            )
        odd = stray_text_rows(column)
        if odd:
            cells = listed([repr(column[i]) for i in odd])
            raise InvalidDataError(
                f"column {name!r} holds numbers but for {cells} in {table.where(odd)}. If that "
                f"means a missing value, {missing}; if the column holds categories, {categories}; "
                f"else correct it, or {leave_out}."
            )
        if is_date(column):
            raise InvalidDataError(
                f"column {name!r} holds dates or times, which are neither numbers nor categories; "
                f"{dates}, or {leave_out}."
            )
        # Numbers in the only column are what there is to cluster by, whatever they look like.
        why = (
            _identifier_reason(name, column)
            if len(table.names) > 1 or column.dtype.kind == "O"
            else None
        )
        if why:
            raise InvalidDataError(
                f"column {name!r} {why}, so it probably names the rows; clustering by it would "
                f"spoil the result. If so, {names}{leave_out}."
            )


def _identifier_reason(name: str, column: np.ndarray) -> str | None:
    if column.dtype.kind == "b" or (
        column.dtype.kind == "f" and not np.array_equal(column, np.floor(column))
    ):
        return None
    values = [v for v in column.tolist() if v is not None]
    if len(values) < 3 or len(set(values)) < len(values):
        return None
    if column.dtype.kind == "O":
        return "holds a different text in every row"
    if _NAME.fullmatch(name):
        return "has such a name and a different whole number in every row"
    if len(values) >= 5 and (np.diff(column) == 1).all():
        return "counts the rows"
    return "holds a different whole number in every row" if len(values) >= _MANY else None


def left_out(table: Table) -> dict[str, str]:
    """Columns that hold nothing to cluster by, and why."""
    found = {}
    for name, column in zip(table.names, table.columns, strict=True):
        if column.dtype.kind == "f":
            present = column[~np.isnan(column)]
            values = {present.min(), present.max()} if present.size else set()
        else:
            values = {v for v in column.tolist() if v is not None and v == v}
        if len(values) < 2:
            found[name] = "constant" if values else "no value in it"
    return found


def wide_scales(table: Table) -> tuple[str, ...]:
    """A warning for each column of numbers whose magnitudes span twelve powers of ten."""
    said = []
    for name, column in zip(table.names, table.columns, strict=True):
        if column.dtype.kind != "f":
            continue
        sizes = np.abs(column[np.isfinite(column) & (column != 0)])
        if sizes.size and sizes.max() > _WIDE * sizes.min():
            said.append(
                f"column {name!r} spans {sizes.min():.1g} to {sizes.max():.1g}: a few large values "
                "will decide the clusters; consider its logarithm."
            )
    return tuple(said)


def stray_text_rows(column: Array) -> list[int]:
    """Rows of a text column that are not numbers, if most others are; else none."""
    if column.dtype.kind != "O":
        return []
    texts = [(i, v) for i, v in enumerate(column) if isinstance(v, str)]
    odd = [i for i, value in texts if not NUMBER.fullmatch(value.replace(",", "."))]
    return odd if odd and len(odd) < len(texts) / 2 else []


def has_decimal_comma(column: Array) -> bool:
    """Whether all texts of a column are numbers with a comma for the point."""
    texts = _texts(column)
    return any("," in v for v in texts) and all(
        NUMBER.fullmatch(v.replace(",", ".")) for v in texts
    )


def groups_digits(column: Array) -> str | None:
    """The thousands separator of a column of text whose cells are otherwise numbers, or None."""
    texts = _texts(column)
    for mark, decimal in ((".", ","), (",", "."), (" ", ","), (" ", "."), ("'", ".")):
        options = TextOptions(decimal=decimal, thousands=mark)
        if any(mark in v for v in texts) and all(
            _number(v, MISSING, options) is not None for v in texts
        ):
            return mark
    return None


def _texts(column: Array) -> list[str]:
    """The texts of a column that holds nothing else."""
    found = [v for v in column if v is not None] if column.dtype.kind == "O" else []
    return found if all(isinstance(v, str) for v in found) else []


def is_date(column: Array) -> bool:
    """Whether a column holds dates, times or durations, as such or as text."""
    found = [v for v in column if v is not None] if column.dtype.kind == "O" else []
    if found and all(isinstance(v, (date, time, timedelta)) for v in found):
        return True
    texts = _texts(column)
    return bool(texts) and all(_DATE.fullmatch(v) for v in texts)


def days(column: Array, name: str) -> Floats:
    """Dates (ISO, or day.month.year) as numbers of days since 1970; durations as days."""
    try:
        return np.array([_days(value) for value in column])
    except (TypeError, ValueError):
        raise InvalidDataError(
            f"column {name!r} holds dates that are not written as year-month-day or day.month.year."
        ) from None


def _days(value: Any) -> float:
    if value is None:
        return np.nan
    if isinstance(value, timedelta):
        return value / timedelta(days=1)
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    if isinstance(value, str) and (german := _GERMAN.fullmatch(value)):
        value = f"{german[3]}-{int(german[2]):02}-{int(german[1]):02}{german[4]}"
    return float(np.datetime64(value, "s").astype(np.int64)) / 86400.0
