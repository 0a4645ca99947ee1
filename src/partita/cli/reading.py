"""Files that commands read besides their options: draws, tables of data, weights, partitions."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.cli.outputs import say
from partita.errors import (
    FractionalLabelsError,
    InvalidInputError,
    InvalidLabelsError,
    InvalidWeightsError,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from partita.partitions.draws import Draws
    from partita.partitions.labels import Labels
    from partita.samplers.table import Table
    from partita.samplers.text_table import TextOptions
    from partita.summary.observations import Observations

STDIN = "-"
ITEM_COLUMNS = ("item", "")
"""Headings of a column of item names: partita's own, and R's for row names."""


def read_draws_of(sources: Sequence[str], *, weights: str | None = None, **choices: Any) -> Draws:
    """Draws from one or several files, with weights, less burn-in and thinning."""
    from partita.io.files import read_draws
    from partita.partitions.convert import as_draws

    burn_in, thin = choices.pop("burn_in"), choices.pop("thin")
    choices["format"] = choices.pop("file_format")
    try:
        draws = read_draws(list(sources) if len(sources) > 1 else sources[0], **choices)
    except FractionalLabelsError as error:
        raise FractionalLabelsError(
            f"{error} For a table of data, one row per item: partita fit {sources[0]}. For a "
            f"similarity matrix: partita summarize --similarity {sources[0]}"
        ) from error
    if weights is not None:
        draws = as_draws(draws, weights=_read_weights(weights))
    if burn_in:
        draws = draws.drop(burn_in)
    return draws.thin(thin) if thin > 1 else draws


def refuse_two_readers_of_stdin(*paths: str | None) -> None:
    """Standard input can be read once."""
    if sum(path == STDIN for path in paths) > 1:
        raise InvalidInputError(
            "standard input (-) was given twice; it can stand for one file. Name the other."
        )


def _read_weights(path: str) -> NDArray[np.float64]:
    from partita.samplers.table import numbers

    table = read_table(path)
    if table.n_columns > 1:
        raise InvalidWeightsError(
            f"{path} has {table.n_columns} columns; expected one weight per draw in one column."
        )
    return numbers(table, "a weight")[:, 0]


def read_table(path: str, options: TextOptions | None = None) -> Table:
    """A table from a file, or from standard input as csv."""
    from partita.samplers.table import as_table
    from partita.samplers.text_table import TextOptions

    options = options or TextOptions()
    if path != STDIN:
        return as_table(path, options)
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory) / "standard input.csv"
        copy.write_bytes(sys.stdin.buffer.read())
        return as_table(copy, options)


def read_observations(path: str) -> Observations | None:
    """The columns of numbers, or None when there are none; says which are left out."""
    import numpy as np

    from partita.summary.observations import Observations

    table = read_table(path)
    fits = [
        c.dtype.kind in "fb" and bool(np.isfinite(c.astype(np.float64)).all())
        for c in table.columns
    ]
    if left := [name for name, fit in zip(table.names, fits, strict=True) if not fit]:
        say(f"{path}: columns left out, as they are text or have missing values: {', '.join(left)}")
    if not any(fits):
        return None
    part = table.select([position for position, fit in enumerate(fits) if fit])
    values = np.column_stack([column.astype(np.float64) for column in part.columns])
    return Observations(values, part.names)


@dataclass(frozen=True)
class Partition:
    """Labels of one clustering, and the names of its items where the file has them."""

    source: str
    labels: Labels
    names: tuple[str, ...] | None


def read_partition(source: str) -> Partition:
    """One clustering from ``FILE`` or ``FILE:COLUMN``."""
    from partita.partitions.labels import as_labels

    path, column = _split_source(source)
    headings, columns = _columns(path)
    body = [p for p, name in enumerate(headings) if name not in ITEM_COLUMNS]
    named = [columns[p] for p, name in enumerate(headings) if name in ITEM_COLUMNS]
    if column is None and len(columns[0]) == 1 and len(body) > 1:
        row = [columns[p][0] for p in body]
        heads = tuple(headings[p] for p in body)
        counted = heads == tuple(map(str, range(len(heads))))
        return Partition(source, as_labels(row, what=source), None if counted else heads)
    chosen = _choose_column(source, column, [headings[p] for p in body])
    labels = as_labels(columns[body[chosen]], what=source)
    return Partition(source, labels, tuple(map(str, named[0])) if named else None)


def _columns(path: str) -> tuple[list[str], list[list[Any]]]:
    """Headings and columns; text as it stands, so that 01 is not 1 and no digit is lost."""
    from partita.io.cells import read_cells, separator_of
    from partita.io.header import MISSING

    sep = "," if path == STDIN else separator_of(path)
    if sep is None:
        return _exact_columns(path)
    rows = read_cells(path, sep)
    if len(rows) == 1 and not any(cell.text.lstrip("+-")[:1].isdigit() for cell in rows[0]):
        raise InvalidLabelsError(
            f"{path} has one row of text, as headings are, and no labels. If these are labels, "
            "write one in each row."
        )
    width = len(rows[-1])
    headings = [str(i) for i in range(width)]
    if len(rows) > 1 and all(cell.number is None for cell in rows[0]):
        headings = [cell.text for cell in rows[0]]
        headings = ["", *headings] if len(headings) < width else headings
        rows = rows[1:]
    for number, row in enumerate(rows, start=1):
        for heading, cell in zip(headings, row, strict=True):
            if not cell.quoted and cell.text in MISSING and heading not in ITEM_COLUMNS:
                raise InvalidLabelsError(
                    f"{path}, row {number}: {cell.text!r} in column {heading!r} is no label."
                )
    return headings, [[row[i].text for row in rows] for i in range(width)]


def _exact_columns(path: str) -> tuple[list[str], list[list[Any]]]:
    """Headings and columns of a file that is no text, whole numbers to the last digit."""
    from partita.io.files import reading
    from partita.io.registry import find_format
    from partita.io.source import check_file

    kind = find_format(None, path).name
    if kind not in ("npy", "parquet"):
        raise InvalidLabelsError(
            f"{path}: one clustering is read from text, npy or parquet, not from {kind}. Write it "
            "as a column of a csv file."
        )
    place = check_file(path)
    with reading(path, kind):
        if kind == "parquet":
            from partita.io.parquet import read_columns

            headings, columns = read_columns(place)
        else:
            from partita.io.numpy_files import read_array

            array = read_array(place)
            array = array[:, None] if array.ndim == 1 else array
            if array.ndim != 2:
                raise InvalidLabelsError(
                    f"{path} has shape {array.shape}; expected one label for each item."
                )
            headings = [str(i) for i in range(array.shape[1])]
            columns = [array[:, i].tolist() for i in range(array.shape[1])]
    for heading, column in zip(headings, columns, strict=True):
        for number, value in enumerate(column, start=1):
            if heading not in ITEM_COLUMNS and (value is None or value != value):
                raise InvalidLabelsError(f"{path}, row {number}: no label in column {heading!r}.")
    if not columns or not columns[0]:
        raise InvalidLabelsError(f"{path} is empty; expected one label for each item.")
    return headings, columns


def _split_source(source: str) -> tuple[str, str | None]:
    path, colon, column = source.rpartition(":")
    if not colon or Path(source).exists() or not (path == STDIN or Path(path).exists()):
        return source, None
    return path, column


def _choose_column(source: str, wanted: str | None, names: list[str]) -> int:
    if wanted is None and len(names) == 1:
        return 0
    if wanted is None and "cluster" in names:
        return names.index("cluster")
    if wanted in names:
        return names.index(wanted)
    listed = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    came = f"there is no column {wanted!r} in it" if wanted else "it has several columns"
    raise InvalidLabelsError(
        f"{source} is no single clustering: {came}. Expected one column or one row of labels; "
        f"name a column as FILE:COLUMN. Columns: {listed}."
    )


def names_from(table: Table, position: int) -> tuple[str, ...]:
    """A column as names: as the file spells them, else whole numbers without a point."""
    from partita.samplers.table import names_of

    return names_of(table.columns[position]) if table.cells is None else table.cells[position]


def aligned(a: Partition, b: Partition) -> tuple[Labels, Labels, tuple[str, ...] | None, bool]:
    """Labels of both in the order of a, the names, and whether b had to be put in order."""
    import numpy as np

    from partita.partitions.labels import canonical

    if a.names is None or b.names is None or a.names == b.names:
        if a.labels.size != b.labels.size:
            raise InvalidLabelsError(
                f"{a.source} labels {a.labels.size:,} items and {b.source} {b.labels.size:,}; "
                "both must be clusterings of the same items."
            )
        return a.labels, b.labels, a.names or b.names, False
    different = set(a.names) ^ set(b.names)
    if different or len(set(a.names)) != len(a.names) or len(a.names) != len(b.names):
        example = f", such as {min(different)!r}" if different else ", or one appears twice"
        raise InvalidLabelsError(
            f"{a.source} and {b.source} name different items{example}; both must be clusterings "
            "of the same items."
        )
    position = {name: i for i, name in enumerate(b.names)}
    order = np.array([position[name] for name in a.names])
    return a.labels, canonical(b.labels[order]), a.names, True
