"""What the columns of a text file are, told from its first rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from partita.errors import FileFormatError, InvalidInputError
from partita.io.columns import (
    CHAIN,
    WEIGHT,
    Columns,
    choose_columns,
    draw_number,
    long_columns,
    refuse_long,
)
from partita.io.header import Cell, cells_of, is_header
from partita.io.registry import ReadOptions
from partita.io.source import refuse_endless
from partita.io.text_rows import ROW_NAMES, Layout
from partita.kernels.arrays import Ints

_ROW = re.compile(rb"^[ \t\r\f\v]*+[^\s#][^\n]*\n", re.MULTILINE)
"""A line that is neither blank nor a comment."""


def read_head(blocks: Iterable[bytes], name: str) -> bytes:
    """The beginning of the file, far enough to hold its first three rows if it has them."""
    pieces: list[bytes] = []
    rows = passed_over = 0
    for block in blocks:
        pieces.append(block)
        spans = list(islice(_content_lines(block), 3))
        rows += len(spans)
        if rows >= 3:
            break
        passed_over += len(block) - sum(stop - start for start, stop in spans)
        refuse_endless(passed_over, name)
    if not rows:
        raise FileFormatError(f"{name} is empty; expected draws, one row each.")
    return b"".join(pieces)


def find_layout(
    head: bytes, sep: str, options: ReadOptions, name: str, *, one_variable: bool
) -> Layout:
    """What the columns are, from the first rows and what the user says."""
    (start, stop), *others = islice(_content_lines(head), 3)
    if options.sep is None:
        last = others[-1] if others else (start, stop)
        _refuse_other_separator(head[slice(*last)], sep, name)
    first = cells_of(head[start:stop], sep, name)
    following = [cells_of(head[slice(*span)], sep, name) for span in others]
    header = is_header(first, name, following) if options.header is None else options.header
    if not header:
        if one_variable or options.var_name is not None:
            raise FileFormatError(
                f"{name} has no header, so no variable can be found by name; "
                "expected columns such as z.1, z.2, …."
            )
        return Layout(np.arange(len(first)), len(first), None, (), start, stop - start)
    if not others:
        raise FileFormatError(f"{name} has a header and no draws; expected at least one row.")
    second = following[0]
    row_names = first[0].text == "" or len(first) == len(second) - 1
    if row_names and len(first) == len(second):
        first = first[1:]
    names = [cell.text for cell in first]
    offset = int(row_names)
    row_bytes = others[0][1] - others[0][0]
    if not options.transpose and _is_long(names, following):
        return _long_layout(names, offset, stop, row_bytes)
    number = None if options.transpose else draw_number(names)
    if number is not None and _repeats(following, number - len(names)):
        refuse_long(names[number])
    columns = (
        Columns(list(range(len(names))), None, None, None)
        if options.transpose
        else choose_columns(
            names,
            var_name=options.var_name,
            is_whole=lambda i: _is_whole(second, i + offset),
            one_variable=one_variable,
        )
    )
    _refuse_transposed(names, options)
    target, kept = _targets(len(names) + offset, columns, offset)
    return Layout(
        target, len(columns.items), columns.names, kept, stop, row_bytes, kind=columns.kind
    )


def _content_lines(text: bytes) -> Iterator[tuple[int, int]]:
    """Start and stop of the lines that are neither blank nor comments."""
    return (found.span() for found in _ROW.finditer(text))


def _targets(n_columns: int, columns: Columns, offset: int) -> tuple[Ints, tuple[str, ...]]:
    """Where the kernel puts each column, and what the columns kept as text are."""
    target = np.full(n_columns, -1, np.int64)
    target[np.array(columns.items, np.int64) + offset] = np.arange(len(columns.items))
    special = [(columns.chain, CHAIN), (columns.weight, WEIGHT)]
    kept = [(position + offset, what) for position, what in special if position is not None]
    if offset:
        kept.append((0, ROW_NAMES))
    for slot, (position, _) in enumerate(kept):
        target[position] = -2 - slot
    return target, tuple(what for _, what in kept)


def _is_whole(row: list[Cell], position: int) -> bool:
    number = row[position].number if position < len(row) else None
    return number is not None and number.is_integer()


def _refuse_transposed(names: list[str], options: ReadOptions) -> None:
    special = sorted({CHAIN, WEIGHT} & set(names))
    if options.transpose and (special or options.var_name):
        raise InvalidInputError(
            f"transpose=True was given for a table with "
            f"{special or 'var_name=...'}; a table of named variables has one row per draw.",
            argument="transpose",
        )


def _refuse_other_separator(row: bytes, sep: str, name: str) -> None:
    """A row that is one cell with another separator inside: say which option reads it."""
    bare = re.sub(rb'"[^"]*"', b'""', row).strip().decode(errors="replace")
    if sep in bare if sep else len(bare.split()) > 1:
        return
    formats = {"\t": "tsv", ",": "csv", " ": "txt"}
    choices = {";": "sep=';'", **{each: f"format={f!r}" for each, f in formats.items()}}
    for other, option in choices.items():
        if other in bare:
            came = "blanks" if other == " " else repr(other)
            raise FileFormatError(
                f"{name}: cells seem to be separated by {came}, not by "
                f"{repr(sep) if sep else 'blanks'}. Pass {option}."
            )


def _is_long(names: list[str], rows: list[list[Cell]]) -> bool:
    """Whether the columns are those of the long format and the first two rows are one draw."""
    if long_columns(names) is None or len(rows) < 2:
        return False
    return _repeats(rows, names.index(".draw") - len(names))


def _repeats(rows: list[list[Cell]], place: int) -> bool:
    """Whether the first two rows agree in a column, counted from the end: row names come first."""
    if len(rows) < 2 or min(len(rows[0]), len(rows[1])) < -place:
        return False
    return rows[0][place].text == rows[1][place].text


def _long_layout(names: list[str], offset: int, body: int, row_bytes: int) -> Layout:
    target = np.arange(len(names) + offset) - offset
    place = (names.index(".chain"), names.index(".draw"), *(long_columns(names) or (0, 0)))
    return Layout(target, len(names), None, (), body, row_bytes, place)
