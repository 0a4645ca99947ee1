"""Comma-, tab- and blank-separated text, CmdStan's included: what a file holds."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable
from itertools import chain as chained
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from partita._progress import Status
from partita.errors import FileFormatError, InvalidInputError, InvalidWeightsError
from partita.io.collect import Collector
from partita.io.columns import CHAIN, WEIGHT, Columns, choose_columns
from partita.io.header import Cell, is_header, split_line
from partita.io.options import ReadOptions
from partita.io.source import Source, line_blocks, name_of, open_bytes
from partita.io.text_rows import Layout, Rows, number_rows, string_rows
from partita.partitions.draws import Draws

_ROW_NAMES = "row names"


def read_csv(source: Source, options: ReadOptions) -> Draws:
    """Draws separated by commas."""
    return _read(source, options, ",")


def read_tsv(source: Source, options: ReadOptions) -> Draws:
    """Draws separated by tabs."""
    return _read(source, options, "\t")


def read_txt(source: Source, options: ReadOptions) -> Draws:
    """Draws separated by runs of blanks."""
    return _read(source, options, "")


def read_cmdstan(source: Source, options: ReadOptions) -> Draws:
    """Draws of one variable of CmdStan's output."""
    return _read(source, options, ",", one_variable=True)


def _read(source: Source, options: ReadOptions, sep: str, *, one_variable: bool = False) -> Draws:
    name = name_of(source)
    sep = _check_sep(sep if options.sep is None else options.sep)
    if options.strings and options.header is None:
        raise InvalidInputError(
            "strings=True was given without header=...: where labels are text, a header cannot "
            "be recognised. Pass header=True or header=False."
        )
    with open_bytes(source) as stream:
        blocks = line_blocks(stream, name)
        head = _head(blocks, name)
        layout = _layout(head, sep, options, name, one_variable=one_variable)
        parse = string_rows if options.strings else number_rows
        rows = parse(chained([head], blocks), layout, sep, name)
        if options.transpose:
            return _assemble_items(rows, layout)
        return _assemble_draws(rows, layout, _expected_rows(stream, layout))


def _check_sep(sep: str) -> str:
    if len(sep.encode()) > 1 or sep in ('"', "\n", "\r", "#", ".", "-", "+") or sep.isalnum():
        raise InvalidInputError(
            f"sep={sep!r}; expected one ASCII character that is no part of a number, such as ';', "
            "or '' for runs of blanks."
        )
    return sep


def _content_lines(text: bytes) -> Iterable[tuple[int, int]]:
    """Start and stop of the lines that are neither blank nor comments."""
    start = 0
    while start < len(text):
        stop = text.index(b"\n", start) + 1
        line = text[start : min(stop, start + 200)].strip()
        if line and not line.startswith(b"#"):
            yield start, stop
        start = stop


def _head(blocks: Iterable[bytes], name: str) -> bytes:
    """The beginning of the file, far enough to hold its first two rows if it has them."""
    head = b""
    for block in blocks:
        head += block
        lines = _content_lines(head)
        if next(iter(lines), None) and next(iter(lines), None):
            break
    if not any(True for _ in _content_lines(head)):
        raise FileFormatError(f"{name} is empty; expected draws, one row each.")
    return head


def _layout(
    head: bytes, sep: str, options: ReadOptions, name: str, *, one_variable: bool
) -> Layout:
    (start, stop), *others = [span for span, _ in zip(_content_lines(head), range(2), strict=False)]
    first = _cells(head[start:stop], sep, name)
    header = is_header(first, name) if options.header is None else options.header
    if not header:
        if one_variable or options.var_name is not None:
            raise FileFormatError(
                f"{name} has no header, so no variable can be found by name; "
                "expected columns such as z.1, z.2, …."
            )
        return Layout(np.arange(len(first)), len(first), None, (), start, stop - start)
    if not others:
        raise FileFormatError(f"{name} has a header and no draws; expected at least one row.")
    second = _cells(head[others[0][0] : others[0][1]], sep, name)
    row_names = first[0].text == "" or len(first) == len(second) - 1
    if row_names and len(first) == len(second):
        first = first[1:]
    _warn_of_warmup(head[:start], name)
    names = [cell.text for cell in first]
    offset = int(row_names)
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
    target, kept = _targets(len(names) + offset, columns, offset, keep_first=options.transpose)
    row_bytes = others[0][1] - others[0][0]
    return Layout(target, len(columns.items), columns.names, kept, stop, row_bytes)


def _targets(
    n_columns: int, columns: Columns, offset: int, *, keep_first: bool
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Where the kernel puts each column, and what the columns kept as text are."""
    target = np.full(n_columns, -1, np.int64)
    target[np.array(columns.items, np.int64) + offset] = np.arange(len(columns.items))
    special = [(columns.chain, CHAIN), (columns.weight, WEIGHT)]
    kept = [(position + offset, what) for position, what in special if position is not None]
    if offset and keep_first:
        kept.append((0, _ROW_NAMES))
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
            f"transpose=True was given for a table with {special or 'var_name=...'}; a table of "
            "named variables has one row per draw."
        )


def _cells(line: bytes, sep: str, name: str) -> list[Cell]:
    try:
        return split_line(line.decode(), sep)
    except UnicodeDecodeError:
        raise FileFormatError(f"{name} is not UTF-8 text; save it as UTF-8.") from None
    except FileFormatError as error:
        raise FileFormatError(f"{name}: {error}") from None


def _warn_of_warmup(comments: bytes, name: str) -> None:
    """CmdStan notes its settings in comments; draws of the warm-up are no posterior draws."""
    if not re.search(rb"save_warmup = (1|true)\b", comments):
        return
    found = {key: int(value) for key, value in re.findall(rb"(num_warmup|thin) = (\d+)", comments)}
    draws = -(-found.get(b"num_warmup", 0) // max(1, found.get(b"thin", 1)))
    if draws:
        warnings.warn(
            f"{name} was written with save_warmup: its first {draws} draws are warm-up. "
            f"Remove them with draws.drop({draws}).",
            stacklevel=2,
        )


def _expected_rows(stream: IO[Any], layout: Layout) -> int:
    """About how many rows the rest of the file holds; 0 when its size is unknown."""
    try:
        size = os.fstat(stream.fileno()).st_size
    except (OSError, AttributeError, ValueError):
        return 0
    return int(1.1 * size / layout.row_bytes) + 16


def _assemble_draws(rows: Rows, layout: Layout, expected: int) -> Draws:
    collector = Collector(layout.n_items, expected)
    kept: list[list[Cell]] = [[] for _ in layout.kept]
    with Status("reading draws") as status:
        for block, cells in rows:
            collector.add(block)
            for column, more in zip(kept, cells, strict=True):
                column.extend(more)
            status.say(f"{collector.n_rows:,} so far")
    found = dict(zip(layout.kept, kept, strict=True))
    return collector.finish(
        weights=_weights(found[WEIGHT]) if WEIGHT in found else None,
        chain=_chain(found[CHAIN]) if CHAIN in found else None,
        item_names=layout.names,
    )


def _assemble_items(rows: Rows, layout: Layout) -> Draws:
    """Draws from a file with one row per item."""
    parts: list[NDArray[Any]] = []
    names: list[str] = []
    for block, cells in rows:
        parts.append(_compact(block))
        names.extend(cell.text for column in cells for cell in column)
    table = np.concatenate(parts) if parts else np.empty((0, layout.n_items))
    return Draws(table.T, item_names=names or None)


def _compact(block: NDArray[Any]) -> NDArray[Any]:
    """The same labels in the smallest dtype, since a whole file of them must be held."""
    if block.dtype != np.int64 or not block.size:
        return block
    low, high = int(block.min()), int(block.max())
    return block.astype(np.result_type(np.min_scalar_type(low), np.min_scalar_type(high)))


def _weights(cells: list[Cell]) -> list[float]:
    values = [cell.number for cell in cells]
    if None in values:
        row = values.index(None)
        raise InvalidWeightsError(
            f"the weight of draw {row} reads {cells[row].text!r}; expected a number."
        )
    return [value for value in values if value is not None]


def _chain(cells: list[Cell]) -> NDArray[Any]:
    if not any(cell.quoted for cell in cells):
        try:
            return np.array([int(cell.text) for cell in cells])
        except ValueError:
            pass
    return np.array([cell.text for cell in cells])
