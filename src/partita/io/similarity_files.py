"""A similarity matrix from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.errors import FileFormatError, UnknownNameError
from partita.io.cells import read_cells, separator_of
from partita.io.files import reading
from partita.io.header import Cell
from partita.io.numpy_files import read_array
from partita.io.source import check_file
from partita.kernels.arrays import Floats


def read_similarity(path: str) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """The matrix and the names of its items: csv, tsv, txt, npy, or a matrix in an .rds file.

    Text may have a heading and a first column of names, as ``partita
    summarize --similarity csv`` and R's ``write.csv`` write them.
    """
    place = check_file(path)
    sep = separator_of(place.name)
    if sep is not None:
        return _from_cells(read_cells(place, sep), path)
    if place.suffix.lower() == ".npy":
        with reading(path, "npy"):
            return read_array(place).astype(np.float64), None
    if place.suffix.lower() in (".rds", ".rdata", ".rda"):
        return _from_r(place)
    raise UnknownNameError(
        f"{path}: a similarity matrix is read from .csv, .tsv, .txt, .npy, .rds or .RData files."
    )


def _from_cells(rows: list[list[Cell]], path: str) -> tuple[Floats, tuple[str, ...] | None]:
    names = None
    first = rows[0] if len(rows) > 1 and len(rows[0]) < len(rows[1]) else rows[0][1:]
    if len(rows) > 1 and _are_names(first):
        heading, rows = rows[0], rows[1:]
        names = tuple(cell.text for cell in heading[-len(rows) :])
    offset = len(rows[0]) - len(rows)
    named_rows = names is not None or _are_names([row[0] for row in rows])
    if offset != 0 and not (offset == 1 and named_rows):
        raise FileFormatError(
            f"{path} has {len(rows)} rows and {len(rows[0])} columns; expected a square matrix."
        )
    values = np.empty((len(rows), len(rows)))
    for i, row in enumerate(rows):
        for j, cell in enumerate(row[offset:]):
            number = cell.number
            if number is None:
                raise FileFormatError(
                    f"{path}, row {i + 1}, column {j + 1}: {cell.text!r} is not a number."
                )
            values[i, j] = number
    return values, names


def _are_names(cells: list[Cell]) -> bool:
    """Whether cells head columns or rows: texts, where a damaged cell is but one, or 1, 2, 3, …."""
    numbers = [cell.number for cell in cells]
    counting = len(cells) > 1 and numbers == list(range(1, len(cells) + 1))
    return set(numbers) == {None} or counting


def _from_r(place: Path) -> tuple[Floats, tuple[str, ...] | None]:
    from partita.io.r_files import only_matrix

    found: Any = only_matrix(place)
    return np.asarray(np.ma.filled(found.values, np.nan), np.float64), found.columns
