"""Tables in text files: nothing is guessed that could be guessed wrong."""

from __future__ import annotations

import csv
import io as text_io
import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._wording import listed
from partita.errors import FileFormatError, InvalidDataError
from partita.io.header import MISSING
from partita.samplers.table import Table

_WHOLE = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE)
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
"""Digits grouped by commas; every group has three."""
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?"
    r"|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
)
_SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}


@dataclass(frozen=True)
class TextOptions:
    """How a text file is to be read where its name does not say.

    ``sep`` and ``header`` None: by the suffix, and by the first line. ``missing``: spellings
    besides the usual ones. ``thousands``: what groups digits by three.
    """

    sep: str | None = None
    decimal: str = "."
    thousands: str | None = None
    missing: tuple[str, ...] = ()
    header: bool | None = None


_WITHOUT_OPTIONS = "Read it as it is meant, with pandas say, and pass the table."


def read_text_table(path: Path, options: TextOptions | None) -> Table:
    """A table from separated text; the first line is a header unless all its cells are numbers.

    An unnamed first column of different values is taken as names of the rows.
    """
    advice = _WITHOUT_OPTIONS if options is None else ""
    options = options or TextOptions()
    separator = options.sep or ("\t" if path.suffix.lower() == ".tsv" else ",")
    lines, rows = _rows(path, separator, advice)
    header = _has_header(path, rows, options, advice)
    names, lines, rows = _headed(path, lines, rows, header)
    if not rows:
        raise FileFormatError(f"{path} has a header and no rows; expected one row per item.")
    cells = [tuple(row[j].strip() for row in rows) for j in range(len(names))]
    item_names, notes = None, tuple[str, ...]()
    if names[0] == "":
        item_names = _row_names(path, cells[0])
        names, cells, notes = names[1:], cells[1:], (_NAMED,)
    if not names:
        raise FileFormatError(f"{path} has a column of names and no other; expected data.")
    _check_names(path, names)
    spellings = MISSING | set(options.missing)
    columns = tuple(_column(column, spellings, options) for column in cells)
    return Table(tuple(names), columns, tuple(cells), tuple(lines), item_names, notes, str(path))


def _rows(path: Path, separator: str, advice: str) -> tuple[list[int], list[list[str]]]:
    """Cells of each row, and the line of the file on which it ends."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise FileFormatError(f"{path} is not UTF-8 text. Save it as UTF-8.") from None
    reader = csv.reader(text_io.StringIO(text, newline=""), delimiter=separator, strict=True)
    found = []
    try:
        found = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise FileFormatError(f"{path}: line {reader.line_num} is no row: {error}.") from None
    while found and not any(cell.strip() for cell in found[-1][1]) and len(found[-1][1]) < 2:
        found.pop()  # empty lines at the end
    if not found:
        raise FileFormatError(f"{path} is empty; expected one row per item.")
    # In a file of one column an empty line is a missing cell; elsewhere it is no row.
    one = max(len(row) for _, row in found) == 1
    found = [(line, row or [""]) for line, row in found if row or one]
    first = found[0][1]
    if len(first) == 1 and separator in _SEPARATORS:
        # A decimal comma may cut the rows below: whole lines are looked at.
        texts = [separator.join(row) for _, row in found]
        for other in _SEPARATORS.keys() - {separator}:
            if all(other in text for text in texts if text.strip()):
                raise FileFormatError(
                    f"{path} names one column, and has {_SEPARATORS[other]} in every line. "
                    + (advice or f"If that separates columns, say so with sep={other!r}.")
                )
    return [line for line, _ in found], [row for _, row in found]


def _has_header(path: Path, rows: list[list[str]], options: TextOptions, advice: str) -> bool:
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


def _headed(
    path: Path, lines: list[int], rows: list[list[str]], header: bool
) -> tuple[list[str], list[int], list[list[str]]]:
    """Names, and lines and rows without the header."""
    width = len(rows[0])
    if header and len(rows) > 1 and all(len(row) == width + 1 for row in rows[1:]):
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


_NAMED = "the first column has no name and different values: taken as names of the items"


def _row_names(path: Path, cells: tuple[str, ...]) -> tuple[str, ...]:
    """The unnamed first column as names of the items."""
    if len(set(cells)) < len(cells):
        twice = next(cell for cell in cells if cells.count(cell) > 1)
        raise FileFormatError(
            f"{path}: the first column has no name, and {twice!r} stands in it more than once, so "
            "it does not name the rows. Give the column a name in the first line."
        )
    return cells


def _check_names(path: Path, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
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
        if not _GROUPED.fullmatch(_as_usual(cell, options)):
            return None
        cell = cell.replace(options.thousands, "")
    if options.decimal != ".":
        cell = cell.replace(options.decimal, ".") if "." not in cell else ""
    return float(cell) if _NUMBER.fullmatch(cell) else None


def _as_usual(cell: str, options: TextOptions) -> str:
    """The cell with a comma between groups of digits and a point before decimals."""
    swapped = {options.decimal: ".", options.thousands: ","}
    return "".join(swapped.get(character, character) for character in cell)


def _column(
    cells: tuple[str, ...], spellings: frozenset[str] | set[str], options: TextOptions
) -> NDArray[Any]:
    """Floats, booleans, or text with None where missing."""
    if options.decimal == "," and options.thousands is None:
        # 1.234,56 leaves no doubt what its point is; 1.234 alone would.
        by_point = replace(options, thousands=".")
        if any("," in c and _GROUPED.fullmatch(_as_usual(c, by_point)) for c in cells if "." in c):
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


def numbers_but_for_few(column: NDArray[Any]) -> list[int]:
    """Rows of a text column that are no numbers, where most others are; else none."""
    if column.dtype.kind != "O":
        return []
    texts = [(i, v) for i, v in enumerate(column) if isinstance(v, str)]
    odd = [i for i, value in texts if not _NUMBER.fullmatch(value.replace(",", "."))]
    return odd if odd and len(odd) < len(texts) / 2 else []


def has_decimal_comma(column: NDArray[Any]) -> bool:
    """Whether all texts of a column are numbers with a comma for the point."""
    texts = _texts(column)
    return any("," in v for v in texts) and all(
        _NUMBER.fullmatch(v.replace(",", ".")) for v in texts
    )


def groups_digits(column: NDArray[Any]) -> str | None:
    """What groups digits by three in a column of text that are numbers otherwise, if anything."""
    texts = _texts(column)
    for mark, decimal in ((".", ","), (",", "."), (" ", ","), (" ", "."), ("'", ".")):
        options = TextOptions(decimal=decimal, thousands=mark)
        if any(mark in v for v in texts) and all(
            _number(v, MISSING, options) is not None for v in texts
        ):
            return mark
    return None


def _texts(column: NDArray[Any]) -> list[str]:
    """The texts of a column that holds nothing else."""
    found = [v for v in column if v is not None] if column.dtype.kind == "O" else []
    return found if all(isinstance(v, str) for v in found) else []


def is_date(column: NDArray[Any]) -> bool:
    """Whether a column holds dates, times or durations, as such or as text."""
    found = [v for v in column if v is not None] if column.dtype.kind == "O" else []
    if found and all(isinstance(v, (date, time, timedelta)) for v in found):
        return True
    texts = _texts(column)
    return bool(texts) and all(_DATE.fullmatch(v) for v in texts)


def days(column: NDArray[Any], name: str) -> NDArray[np.float64]:
    """ISO dates as numbers of days since 1970; durations as days."""
    try:
        return np.array([_days(value) for value in column])
    except (TypeError, ValueError):
        raise InvalidDataError(
            f"column {name!r} holds dates that are not written as year-month-day."
        ) from None


def _days(value: Any) -> float:
    if value is None:
        return np.nan
    if isinstance(value, timedelta):
        return value / timedelta(days=1)
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return float(np.datetime64(value, "s").astype(np.int64)) / 86400.0
