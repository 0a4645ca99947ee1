"""A similarity matrix from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.errors import FileFormatError, UnknownNameError
from partita.io.cells import read_cells, separator_of
from partita.io.header import Cell
from partita.io.source import check_file


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
        try:
            return np.asarray(np.load(place, allow_pickle=False), np.float64), None
        except (ValueError, OSError, EOFError) as error:
            raise FileFormatError(f"{path} is no npy file of numbers ({error}).") from error
    if place.suffix.lower() in (".rds", ".rdata", ".rda"):
        return _from_r(place)
    raise UnknownNameError(
        f"{path}: a similarity matrix is read from .csv, .tsv, .txt, .npy, .rds or .RData files."
    )


def _from_cells(
    rows: list[list[Cell]], path: str
) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    names = None
    if len(rows) > 1 and (len(rows[0]) < len(rows[1]) or None in [c.number for c in rows[0][1:]]):
        heading, rows = rows[0], rows[1:]
        names = tuple(cell.text for cell in heading[-len(rows) :])
    offset = len(rows[0]) - len(rows)
    if offset not in (0, 1):
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


def _from_r(place: Path) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    from partita.io.r_files import only_matrix

    found: Any = only_matrix(place)
    return np.asarray(np.ma.filled(found.values, np.nan), np.float64), found.columns
