"""Comma-, tab- and blank-separated text, CmdStan's included: what a file holds, and writing it."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from itertools import chain as chained
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from partita._progress import Status
from partita._validate import unexpected
from partita.errors import FileFormatError, InvalidInputError, InvalidWeightsError
from partita.io.collect import Collector, rows_per_block
from partita.io.columns import CHAIN, WEIGHT, columns_beside, placeholder_names
from partita.io.frames import draws_from_long, warn_of_items_in_rows
from partita.io.header import MISSING, Cell
from partita.io.ids import clean_ids
from partita.io.registry import ReadOptions
from partita.io.source import Source, line_blocks, name_of, open_bytes
from partita.io.text_layout import find_layout, read_head
from partita.io.text_rows import (
    ROW_NAMES,
    Layout,
    Rows,
    number_rows,
    refuse_commented_rows,
    string_rows,
)
from partita.partitions.draws import Draws

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_STAN = re.compile(
    rb"^#\s*(save_warmup|num_warmup|warmup|num_samples|iter|thin)\s*=\s*(\d+|true|false)\b", re.M
)
"""What Stan's programs say about warm-up in their comments."""


def read(source: Source, options: ReadOptions, *, sep: str, one_variable: bool = False) -> Draws:
    """Draws separated by a character, or by runs of blanks for ""; CmdStan's of one variable."""
    name = name_of(source)
    sep = _check_sep(sep if options.sep is None else options.sep)
    if options.strings and options.header is None:
        raise InvalidInputError(
            "strings=True was given without header=...: where labels are text, a "
            "header cannot be recognised. Pass header=True or header=False.",
            argument="strings",
        )
    with open_bytes(source) as stream:
        blocks = line_blocks(stream, name)
        head = read_head(blocks, name)
        layout = find_layout(head, sep, options, name, one_variable=one_variable)
        parse = string_rows if options.strings else number_rows
        body: Iterator[bytes] = chained([head], blocks)
        if ROW_NAMES in layout.kept:
            body = refuse_commented_rows(body, layout, sep, name)
        rows = parse(body, layout, sep, name)
        if options.transpose:
            return _assemble_items(rows, layout)
        if layout.long is not None:
            table = np.concatenate([block for block, _ in rows])
            return draws_from_long(*(table[:, column] for column in layout.long))
        draws = _assemble_draws(rows, layout, _expected_rows(stream, layout), sep)
        return _without_warmup(draws, head[: layout.body], name)


read_csv = partial(read, sep=",")
read_tsv = partial(read, sep="\t")
read_txt = partial(read, sep="")
read_cmdstan = partial(read, sep=",", one_variable=True)


def _check_sep(sep: str) -> str:
    if len(sep.encode()) > 1 or sep in ('"', "\n", "\r", "#", ".", "-", "+") or sep.isalnum():
        expected = "one ASCII character that is no part of a number, such as ';', or '' for runs of"
        raise unexpected(sep, "sep", f"{expected} blanks")
    return sep


def _expected_rows(stream: IO[Any], layout: Layout) -> int:
    """About how many rows the rest of the file holds; 0 when its size is unknown."""
    try:
        size = os.fstat(stream.fileno()).st_size
    except (OSError, AttributeError, ValueError):
        return 0
    # A cell takes at least its digit and its separator, however short the first row was.
    return int(1.1 * size / max(layout.row_bytes, 2 * layout.target.size)) + 16


def _assemble_draws(rows: Rows, layout: Layout, expected: int, sep: str) -> Draws:
    collector = Collector(layout.n_items, expected)
    kept: list[list[Cell]] = [[] for _ in layout.kept]
    with Status("reading draws") as status:
        for block, cells in rows:
            collector.add(block)
            for column, more in zip(kept, cells, strict=True):
                column.extend(more)
            status.say(f"{collector.n_rows:,} so far")
    found = dict(zip(layout.kept, kept, strict=True))
    if ROW_NAMES in found:
        row_names = [cell.text for cell in found[ROW_NAMES]]
        warn_of_items_in_rows(row_names, collector.n_rows, layout.n_items)
    return collector.finish(
        weights=_weights(found[WEIGHT], sep) if WEIGHT in found else None,
        chain=_chain(found[CHAIN]) if CHAIN in found else None,
        item_names=layout.names,
        kind=layout.kind,
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


def _weights(cells: list[Cell], sep: str) -> list[float]:
    if sep == ";":  # where cells end with ; numbers may have a decimal comma
        cells = [Cell(cell.text.replace(",", "."), cell.quoted) for cell in cells]
    values = [cell.number for cell in cells]
    if None in values:
        row = values.index(None)
        raise InvalidWeightsError(
            f"the weight of draw {row} reads {cells[row].text!r}; expected a number."
        )
    return [value for value in values if value is not None]


def _chain(cells: list[Cell]) -> NDArray[Any]:
    plain = not any(cell.quoted for cell in cells)
    if plain and all(_INTEGER.fullmatch(cell.text) for cell in cells):
        return np.array([int(cell.text) for cell in cells])
    if plain and all(cell.number is not None for cell in cells):
        return clean_ids(np.array([cell.number for cell in cells], np.float64))
    for draw, cell in enumerate(cells):
        if not cell.quoted and cell.text in MISSING:
            raise InvalidInputError(
                f"the chain id of draw {draw} reads {cell.text!r}; expected whole numbers or text, "
                "one per draw."
            )
    return np.array([cell.text for cell in cells])


def _without_warmup(draws: Draws, comments: bytes, name: str) -> Draws:
    """The draws less those that the file's comments call warm-up, with a warning.

    CmdStan writes ``num_warmup = 1000`` and ``num_samples = 1000``, rstan
    ``warmup=1000`` and ``iter=2000``; both note ``save_warmup`` and ``thin``.
    A file with exactly as many rows as there are samples has lost its warm-up
    already.
    """
    said = {b"true": b"1", b"false": b"0"}
    found = {key: int(said.get(value, value)) for key, value in _STAN.findall(comments)}
    warmup = found.get(b"num_warmup", found.get(b"warmup", 0))
    if not found.get(b"save_warmup") or not warmup:
        return draws
    thin = max(1, found.get(b"thin", 1))
    samples = found.get(b"num_samples", found.get(b"iter", warmup) - warmup)
    n_warmup = -(-warmup // thin)
    if draws.n_draws == -(-samples // thin):
        return draws
    if draws.n_draws <= n_warmup:
        raise FileFormatError(
            f"{name} has {draws.n_draws} draws, all of them warm-up by its comments "
            f"(save_warmup, {n_warmup} draws of warm-up). There is no posterior draw in it."
        )
    warnings.warn(
        f"{name} was written with save_warmup: its first {n_warmup} draws are warm-up and were "
        "left out.",
        stacklevel=2,
    )
    return draws[n_warmup:]


def write(draws: Draws, target: Path | IO[Any], *, sep: str) -> None:
    """Write draws separated by a character, under a header."""
    with Status("writing draws") as status:
        lines = _lines(draws, sep, status)
        if not isinstance(target, Path):
            target.writelines(lines)
        else:
            with target.open("wb") as raw, _packed(raw, target.suffix.lower()) as stream:
                stream.writelines(lines)


write_csv = partial(write, sep=",")
write_tsv = partial(write, sep="\t")


def _packed(raw: IO[bytes], suffix: str) -> Any:
    if suffix == ".gz":  # no time stamp and no name inside: equal draws give equal files
        return gzip.GzipFile("", "wb", fileobj=raw, mtime=0)
    if suffix == ".xz":
        return lzma.LZMAFile(raw, "wb")
    return bz2.BZ2File(raw, "wb") if suffix == ".bz2" else nullcontext(raw)


def _lines(draws: Draws, sep: str, status: Status) -> Iterator[bytes]:
    from partita.kernels.io.text import format_rows

    beside = columns_beside(draws)
    names = placeholder_names(draws.n_items)
    if draws.item_names is not None:  # in quotes, so that 1, 2, 3 are not taken for labels
        names = [_cell(name) for name in draws.item_names]
    yield (sep.join([*beside, *names]) + "\n").encode()
    rows = rows_per_block(draws.n_items)
    room = np.empty(11 * min(rows, draws.n_draws) * draws.n_items, np.uint8)
    for block in draws.blocks(rows):
        status.say(f"{block.start:,} of {draws.n_draws:,}")
        ends = np.empty(block.stop - block.start, np.int64)
        used = format_rows(draws.rows(block.start, block.stop), ord(sep), room, ends)
        text = room[:used].tobytes()
        if not beside:
            yield text
            continue
        cells = [map(_cell, values[block].tolist()) for values in beside.values()]
        starts = [0, *ends[:-1].tolist()]
        for *before, start, end in zip(*cells, starts, ends.tolist(), strict=True):
            yield (sep.join(before) + sep).encode() + text[start:end]


def _cell(value: str | float) -> str:
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else repr(value)
