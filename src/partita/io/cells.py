"""Small tables of text, cell by cell: nothing is rounded, renamed or left out."""

from __future__ import annotations

from partita._memory import require_memory
from partita.errors import FileFormatError
from partita.io.header import Cell, decoded, split_line
from partita.io.source import Source, line_blocks, name_of, open_bytes, refuse_endless

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "", ".dat": ""}
_COPIES = 100
"""Bytes of memory for each byte of short cells."""


def separator_of(name: str) -> str | None:
    """What stands between the cells of a text file of that name; None for other files."""
    lower = name.lower()
    for packed in (".gz", ".xz", ".bz2"):
        lower = lower.removesuffix(packed)
    return next((sep for suffix, sep in _SEPARATORS.items() if lower.endswith(suffix)), None)


def read_cells(source: Source, sep: str) -> list[list[Cell]]:
    """Every row of a text file; blank lines at its end and lines that start with # are no rows.

    Rows have as many cells as the first, or one more, which then names the row.
    """
    name = name_of(source)
    rows: list[list[Cell]] = []
    blank = False
    passed_over = 0
    with open_bytes(source) as stream:
        for block in line_blocks(stream, name):
            require_memory(_COPIES * len(block), f"reading {name}", "Write fewer rows.")
            before = len(rows)
            for number, line in enumerate(_decoded(block, name), start=1):
                if line.lstrip().startswith("#"):
                    continue
                if not line.strip():
                    blank = bool(rows)
                    continue
                if blank:
                    raise FileFormatError(
                        f"{name}: a blank line stands before row {len(rows) + 1}; it may be a "
                        "missing value. Remove it, or write the value."
                    )
                try:
                    rows.append(split_line(line, sep))
                except FileFormatError as error:
                    raise FileFormatError(f"{name}, line {number}: {error}") from None
            if len(rows) == before:
                refuse_endless(passed_over := passed_over + len(block), name)
    if not rows:
        raise FileFormatError(f"{name} is empty.")
    _check_lengths(rows, name)
    return rows


def _decoded(block: bytes, name: str) -> list[str]:
    if not block.strip():
        return [""]  # however many
    return decoded(block, name).split("\n")[:-1]


def _check_lengths(rows: list[list[Cell]], name: str) -> None:
    width = len(rows[-1])
    for number, row in enumerate(rows, start=1):
        if len(row) != width and not (number == 1 and len(row) == width - 1):
            raise FileFormatError(
                f"{name}, row {number} has {len(row)} cells, where the last has {width}."
            )
