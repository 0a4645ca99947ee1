"""Rows of labels from blocks of text, with an error for every bad cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from partita._vocabulary import Kind
from partita.errors import FileFormatError, FractionalLabelsError, InvalidLabelsError
from partita.io.header import MISSING, Cell, cells_of, decoded, split_line
from partita.kernels.arrays import Ints


@dataclass(frozen=True)
class Layout:
    """What the columns of a text file are.

    ``target`` gives each column the number of its item, -1 for a column passed
    over, or -2, -3, … for one kept as text. The draws start at byte ``body`` of
    the first block; a row takes about ``row_bytes``. In the ``long`` format every
    column is read as numbers; it gives the places of chain, draw, item and label.
    """

    target: NDArray[np.int64]
    n_items: int
    names: tuple[str, ...] | None
    kept: tuple[str, ...]
    body: int
    row_bytes: int
    long: tuple[int, int, int, int] | None = None
    kind: Kind = "posterior"


ROW_NAMES = "row names"
"""What a first column without a heading holds."""

Rows = Iterator[tuple[NDArray[Any], list[list[Cell]]]]
"""Blocks of labels, and for each column kept as text its cells."""


def number_rows(blocks: Iterable[bytes], layout: Layout, sep: str, name: str) -> Rows:
    """Labels that are whole numbers, through the compiled parser."""
    from partita.kernels.io.text import WHOLE, parse_rows

    lines, start = 0, layout.body
    separator = ord(sep) if sep else 0
    for block in blocks:
        text = np.frombuffer(block, np.uint8)
        # A cell takes at least one byte, its separator.
        room = (text.size - start) // layout.target.size + 1
        out = np.empty((room, layout.n_items), np.int64)
        spans = np.empty((room, len(layout.kept), 2), np.int64)
        rows, position, status, column = parse_rows(
            text, start, separator, layout.target, out, spans
        )
        if status != WHOLE:
            line = lines + block.count(b"\n", 0, position) + 1
            _refuse(block[position:], status, line, column, layout.target.size, sep, name)
        yield out[:rows], _kept_cells(block, spans[:rows], name)
        lines += block.count(b"\n")
        start = 0


def refuse_commented_rows(
    blocks: Iterable[bytes], layout: Layout, sep: str, name: str
) -> Iterator[bytes]:
    """The blocks, unless a row whose name starts with # would be passed over as a comment."""
    position = 0
    for block in blocks:
        for found in re.finditer(rb"^[ \t]*#.*$", block, re.MULTILINE):
            cells = found[0].decode(errors="replace").split(sep or None)
            if position + found.start() >= layout.body and len(cells) == layout.target.size:
                raise FileFormatError(
                    f"{name}: a row starts with {cells[0]!r}; rows that start with # are comments, "
                    "but this one has as many cells as the others. Put its name in quotes, or "
                    "remove the row."
                )
        position += len(block)
        yield block


def _kept_cells(block: bytes, spans: Ints, name: str) -> list[list[Cell]]:
    return [
        [cells_of(block[a:b], "\0", name)[0] for a, b in spans[:, column].tolist()]
        for column in range(spans.shape[1])
    ]


def _refuse(
    rest: bytes, status: int, line: int, column: int, n_columns: int, sep: str, name: str
) -> NoReturn:
    from partita.kernels.io.text import TOO_FEW, TOO_MANY, UNCLOSED

    if status in (TOO_FEW, TOO_MANY):
        count = f"only {column}" if status == TOO_FEW else f"more than {n_columns}"
        raise FileFormatError(
            f"{name}, line {line}: {count} cells, where earlier rows have {n_columns}. "
            "Every draw must label every item."
        )
    where = f"{name}, line {line}, column {column + 1}"
    if status == UNCLOSED:
        raise FileFormatError(f"{where}: a quoted cell is not closed on its line.")
    text = rest.partition(b"\n")[0].decode(errors="replace").strip()
    numbers = [Cell(cell.strip(), False).number for cell in text.split(sep or None)]
    if not text.startswith('"'):
        text = text.split(sep or None, 1)[0].strip() if text else ""
    fractional = any(number is not None and number % 1 > 0 for number in numbers)
    error = FractionalLabelsError if fractional and text not in MISSING else InvalidLabelsError
    raise error(f"{where}: {_complaint(text)}{_hint(numbers)}")


def _hint(numbers: list[float | None]) -> str:
    """Shares up to one of items with themselves are what similarity matrices hold."""
    shares = all(number is not None and 0 <= number <= 1 for number in numbers)
    if not shares or not any(number is not None and 0 < number < 1 for number in numbers):
        return ""
    return " If this is a posterior similarity matrix, pass it as similarity=..., not as draws."


def _complaint(text: str) -> str:
    """What is wrong with a cell that is no whole number."""
    if text in MISSING:
        shown = f"{text!r} stands for a missing label" if text else "the label is missing"
        return (
            f"{shown}; every item needs a label in every draw. Drop the item or the draw before "
            "partita sees it."
        )
    number = Cell(text, False).number
    if number is None:
        return (
            f"{text[:40]!r} is not a whole number. If labels are text, pass strings=True "
            f"and header=True or header=False; if another character separates cells, "
            f"pass sep=...."
        )
    if number != number // 1:
        return f"{text!r} is not a whole number; labels must be whole."
    return f"{text!r} is too large for a label; at most 18 digits are read. Relabel the clusters."


def string_rows(blocks: Iterable[bytes], layout: Layout, sep: str, name: str) -> Rows:
    """Labels that are text, cell by cell."""
    lines, start = 0, layout.body
    columns = np.argsort(layout.target, kind="stable")
    items = columns[layout.target[columns] >= 0].tolist()
    kept = [int(np.flatnonzero(layout.target == -2 - slot)[0]) for slot in range(len(layout.kept))]
    for block in blocks:
        text = decoded(block[start:], name)
        lines += block.count(b"\n", 0, start)
        start = 0
        labels, others = [], []
        for line in text.split("\n")[:-1]:
            lines += 1
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            cells = split_line(line, sep)
            if len(cells) != layout.target.size:
                raise FileFormatError(
                    f"{name}, line {lines}: {len(cells)} cells, where the first row has "
                    f"{layout.target.size}. Every draw must label every item."
                )
            for item in items:
                if cells[item].text in MISSING:
                    raise InvalidLabelsError(
                        f"{name}, line {lines}, column {item + 1}: {_complaint(cells[item].text)}"
                    )
            labels.append([cells[item].text for item in items])
            others.append([cells[column] for column in kept])
        if labels:
            yield np.array(labels), [list(column) for column in zip(*others, strict=True)]
