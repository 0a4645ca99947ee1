"""The rule that tells a header from a draw."""

from __future__ import annotations

import math
from itertools import repeat
from typing import NamedTuple

from partita.errors import FileFormatError, about

MISSING = frozenset(
    {"", "NA", "NaN", "nan", "NAN", "n/a", "N/A", "None", "null", "NULL", "<NA>", "?", "."}
)
"""How programs spell a missing value, in labels and in data."""


class Cell(NamedTuple):
    """One cell of a line, without the quotes it may have had."""

    text: str
    quoted: bool

    @property
    def number(self) -> float | None:
        """Its value, or None; quoted cells and missing values are no numbers."""
        if self.quoted or self.text in MISSING:
            return None
        try:
            value = float(self.text)
        except ValueError:
            return None
        return None if math.isnan(value) else value


def decoded(text: bytes, name: str) -> str:
    """UTF-8, which every text file must be."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise FileFormatError(f"{name} is not UTF-8 text; save it as UTF-8.") from None


def cells_of(line: bytes, sep: str, name: str) -> list[Cell]:
    """The cells of one line of a file; see :func:`split_line`."""
    text = decoded(line, name)
    try:
        return split_line(text, sep)
    except FileFormatError as error:
        raise FileFormatError(f"{name}: {error}") from None


def split_line(line: str, sep: str) -> list[Cell]:
    """The cells of one line; an empty ``sep`` means runs of blanks."""
    line = line.strip("\r\n")
    if '"' not in line:
        parts = line.split(sep) if sep else line.split()
        # A row may have a million cells: made in one go, they take a third of the time.
        return list(map(Cell._make, zip(map(str.strip, parts), repeat(False), strict=False)))
    cells: list[Cell] = []
    i = 0
    while True:
        while i < len(line) and line[i] in " \t" and line[i] != sep:
            i += 1
        if not sep and i == len(line):
            return cells
        if line[i : i + 1] == '"':
            end = i + 1
            while True:
                end = line.find('"', end)
                if end < 0:
                    raise FileFormatError("a quoted cell is not closed on its line.")
                if line[end + 1 : end + 2] != '"':
                    break
                end += 2
            cells.append(Cell(line[i + 1 : end].replace('""', '"'), True))
            i = end + 1
            while i < len(line) and line[i] in " \t" and line[i] != sep:
                i += 1
        else:
            stops = [p for p in map(line.find, sep or " \t", (i, i)) if p >= 0]
            end = min(stops, default=len(line))
            if '"' in line[i:end]:
                raise FileFormatError(f"a quote stands inside a cell ({line[i:end].strip()!r}).")
            cells.append(Cell(line[i:end].strip(), False))
            i = end
        if sep:
            if i >= len(line):
                return cells
            if line[i] != sep:
                raise FileFormatError(f"text follows a quoted cell ({line[i : i + 10]!r}).")
            i += 1


@about("header", "path")
def is_header(first: list[Cell], name: str, following: list[list[Cell]]) -> bool:
    """Whether the first row is a header.

    It is one when no cell of it is a number, and a draw when all are. Where
    both readings are possible the user must say: numbers and text mixed,
    numbers that count 0, 1, 2, … or 1, 2, 3, … as column numbers do, or
    numbers that are all different, as ids of items are, and appear in none of
    the rows that follow. Fractions are neither, and are refused as labels.
    """
    numbers = [cell.number for cell in first]
    known = [number for number in numbers if number is not None]
    say = "Pass header=True if it is a header, header=False if it is a draw."
    if not known:
        return True
    if len(known) < len(numbers):
        odd = next(cell for cell, number in zip(first, numbers, strict=True) if number is None)
        raise FileFormatError(
            f"{name}: the first row mixes numbers with {odd.text!r}, so it may be a header or "
            f"a draw with a bad label. {say}"
        )
    if any(number % 1 > 0 for number in known):  # neither ids of items nor labels
        return False
    different = len(known) > 1 and len(set(known)) == len(known) and max(known) > len(known)
    if different and not any(cell.number in known for row in following for cell in row):
        raise FileFormatError(
            f"{name}: the numbers of the first row are all different ({known[0]:g}, {known[1]:g}, "
            f"…), so it may be a header of item ids or a draw with every item alone. {say}"
        )
    if len(known) > 1 and known[0] in (0, 1):
        counting = all(number == known[0] + i for i, number in enumerate(known))
        if counting:
            raise FileFormatError(
                f"{name}: the first row counts {known[0]:.0f}, {known[1]:.0f}, …, so it may be a "
                f"header of column numbers or a draw with every item alone. {say}"
            )
    return False
