"""Files that commands read besides their options: draws, tables, weights, clusterings, matrices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import numpy as np

import partita as pt
from partita._wording import listed
from partita.cli import options
from partita.cli.options import say
from partita.draws import DrawsBase
from partita.errors import (
    FileFormatError,
    FractionalLabelsError,
    InvalidInputError,
    InvalidLabelsError,
    InvalidWeightsError,
    UnknownNameError,
)
from partita.io import data_table, draws_table
from partita.io import table as tables
from partita.io.data_table import Table, TextOptions, as_table, names_of
from partita.io.read import FORMATS, find_format
from partita.io.table import Cell
from partita.kernels.arrays import Array, Floats
from partita.labels import Labels, as_labels, canonical

if TYPE_CHECKING:
    from partita.samplers.base import Kernel
    from partita.summary.summarize import Observations

D = TypeVar("D", bound=DrawsBase)
STDIN = "-"
ITEM_COLUMNS = ("item", "")
"""Headings of a column of item names: partita's own, and R's for row names."""


def _noise(
    _: click.Context, __: click.Parameter, value: str | None
) -> tuple[int | str, str] | None:
    if value is None:
        return None
    label, colon, meaning = value.rpartition(":")
    if not colon or meaning not in ("singletons", "cluster"):
        raise click.BadParameter(
            f"{value!r}; expected LABEL:singletons (each such item is alone) or LABEL:cluster "
            "(they form one cluster), such as -1:singletons."
        )
    return (int(label) if label.lstrip("-").isdigit() else label), meaning


draws_options = options.several(
    options.of(
        pt.read_draws,
        format={
            "help": "Format of the draws. Default: by the file's suffix; csv for standard input.",
            "type": click.Choice(tuple(FORMATS)),
        },
        transpose="Rows are items, columns are draws.",
        var_name="The variable with the labels, if there are several.",
        header="Whether text starts with column names. Default: judged by its first line.",
        sep="Separator of cells in text files.",
        strings="Labels are text, not numbers.",
        noise={
            "help": "A label that marks noise and what it means: -1:singletons or -1:cluster.",
            "metavar": "LABEL:MEANING",
            "callback": _noise,
        },
        kind={
            "help": "What the rows are: draws of a posterior, or runs of clustering algorithms. "
            "Default: what the file says, else a posterior.",
            "type": click.Choice(("posterior", "ensemble")),
        },
    ),
    options.number("--burn-in", "Leave out the first N draws of each chain.", 0, default=0),
    options.number("--thin", "Keep every N-th draw of each chain.", default=1),
)
"""Options of reading files of draws."""


def read_draws_of(
    sources: Sequence[str],
    choices: dict[str, Any],
    *,
    weights: str | None = None,
    engine: Any = None,
) -> pt.Draws:
    """Draws from one or several files, with weights, less burn-in and thinning.

    Takes the options of reading out of the choices.
    """
    told = options.take(pt.read_draws, choices)
    if told["strings"] and told["noise"] is not None:  # labels are text, that of noise too
        label, meaning = told["noise"]
        told["noise"] = (str(label), meaning)
    path = list(sources) if len(sources) > 1 else sources[0]
    try:
        draws = pt.read_draws(path, engine=engine, **told)
    except FractionalLabelsError as error:
        raise FractionalLabelsError(
            f"{error} For a table of data, one row per item: partita fit {sources[0]}. For a "
            f"similarity matrix: partita summarize --similarity {sources[0]}"
        ) from error
    return _drop_and_thin(draws, choices, weights)


def _drop_and_thin(draws: D, choices: dict[str, Any], weights: str | None) -> D:
    """The draws with weights from a file, less burn-in and thinning."""
    if weights is not None:
        draws = draws._with(weights=_read_weights(weights))
    burn_in, thin = choices.pop("burn_in"), choices.pop("thin")
    draws = draws.drop(burn_in) if burn_in else draws
    return draws.thin(thin) if thin > 1 else draws


def read_features_of(
    sources: Sequence[str], choices: dict[str, Any], *, weights: str | None
) -> pt.FeatureDraws:
    """Feature draws from one file, or several that are chains, less burn-in and thinning."""
    options.take(pt.read_draws, choices)  # how tables of labels are read
    draws = pt.FeatureDraws.concat([pt.read_features(source) for source in sources])
    return _drop_and_thin(draws, choices, weights)


def _read_weights(path: str) -> Floats:

    table = read_table(path)
    if table.n_columns > 1:
        raise InvalidWeightsError(
            f"{path} has {table.n_columns} columns; expected one weight per draw in one column."
        )
    return data_table.numbers(table, "a weight")[:, 0]


def read_table(path: str, text: TextOptions | None = None) -> Table:
    """A table from a file, or from standard input as csv."""
    text = text or TextOptions()
    return data_table.read_text_table(path, text) if path == STDIN else as_table(path, text)


def read_observations(path: str) -> Observations | None:
    """The columns of numbers, or None when there are none; says which are left out."""
    from partita.summary.summarize import Observations

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
    sep = "," if path == STDIN else tables.separator_of(path)
    if sep is None:
        return _exact_columns(path)
    table = tables.read_cells(path, sep, rectangular=True)
    rows, lines = table.rows, table.lines
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
        rows, lines = rows[1:], lines[1:]
    for line, row in zip(lines, rows, strict=True):
        for heading, cell in zip(headings, row, strict=True):
            if not cell.quoted and cell.text in tables.MISSING and heading not in ITEM_COLUMNS:
                raise InvalidLabelsError(
                    f"{path}, line {line}: {cell.text!r} in column {heading!r} is not a label."
                )
    return headings, [[row[i].text for row in rows] for i in range(width)]


def _exact_columns(path: str) -> tuple[list[str], list[list[Any]]]:
    """Headings and columns of a file that is not text, whole numbers to the last digit.

    Pandas' index, where it is text, comes first under an empty heading.
    """
    from partita.io.arrays import read_array
    from partita.io.r import columns_of

    place, kind = tables.check_file(path), find_format(None, path).name
    with tables.translate_errors(path, kind):
        if kind == "npy":
            array = read_array(place)
            if array.ndim not in (1, 2):
                raise InvalidLabelsError(
                    f"{place} has shape {array.shape}; expected one label for each item."
                )
            columns = [array.tolist()] if array.ndim == 1 else array.T.tolist()
            headings = [str(i) for i in range(len(columns))]
        elif kind == "parquet":
            with tables.open_parquet(place) as file:
                table = draws_table.ParquetTable(file)
                columns = [file.read([name]).column(name).to_pylist() for name in table.names]
            rows = [] if table.row_names is None else [list(table.row_names)]
            headings, columns = [*([""] if rows else []), *table.names], [*rows, *columns]
        elif kind in ("rds", "rdata"):
            headings, columns = columns_of(place)
        else:
            raise InvalidLabelsError(
                f"{path}: one clustering is read from text, npy, parquet or R's files, not from "
                f"{kind}. Write it as a column of a csv file."
            )
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
    came = f"there is no column {wanted!r} in it" if wanted else "it has several columns"
    raise InvalidLabelsError(
        f"{source} is not a single clustering: {came}. Expected one column or one row of labels; "
        f"name a column as FILE:COLUMN. Columns: {listed(names, 8)}."
    )


def names_from(table: Table, position: int) -> tuple[str, ...]:
    """A column as names: as the file spells them, else whole numbers without a point."""
    return names_of(table.columns[position]) if table.cells is None else table.cells[position]


def align_by_name(
    a: Partition, b: Partition
) -> tuple[Labels, Labels, tuple[str, ...] | None, bool]:
    """Labels of both in the order of a, the names, and whether b had to be put in order."""
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


def read_similarity(path: str) -> tuple[Floats, tuple[str, ...] | None]:
    """The matrix and the names of its items: csv, tsv, txt, npy, or a matrix in an .rds file.

    Text may have a heading and a first column of names, as ``partita
    summarize --similarity csv`` and R's ``write.csv`` write them.
    """

    from partita.io.arrays import read_array

    place = tables.check_file(path)
    sep = tables.separator_of(place.name)
    if sep is not None:
        return _matrix_of_cells(tables.read_cells(place, sep, rectangular=True).rows, path)
    if place.suffix.lower() == ".npy":
        with tables.translate_errors(path, "npy"):
            return read_array(place).astype(np.float64), None
    if place.suffix.lower() in (".rds", ".rdata", ".rda"):
        from partita.io.r import only_matrix

        found = only_matrix(place)
        return np.asarray(np.ma.filled(found.values, np.nan), np.float64), found.columns
    raise UnknownNameError(
        f"{path}: a similarity matrix is read from .csv, .tsv, .txt, .npy, .rds or .RData files."
    )


def _matrix_of_cells(rows: list[list[Cell]], path: str) -> tuple[Floats, tuple[str, ...] | None]:
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


# ------------------------------------------------------------------ data of partita fit

_several = partial(options.text, metavar="A,B,…", multiple=True)
data_options = options.several(
    _several("--columns", help="Columns to cluster by. Default: all but the names."),
    _several("--exclude", help="Columns to leave out of the model."),
    options.text("--names", "COLUMN", "The column that names the items."),
    _several("--categories", help="Columns of numbers that are codes of categories."),
    _several("--dates", help="Columns of dates, to be taken as numbers of days."),
    options.of(
        TextOptions,
        missing={"help": "Another spelling of a missing value.", "multiple": True},
        sep="Separator of columns. Default: , or tab.",
        decimal="The decimal point of numbers.",
        thousands="Separator of thousands in numbers.",
        header="The first line names the columns, or is a row. Default: by its cells.",
        encoding="Encoding, such as cp1252. Default: UTF-8.",
    ),
)
"""Options of a table of data."""


@dataclass(frozen=True)
class InterpretedTable:
    """The columns to cluster by, names of the items, and a line for each column of the file."""

    table: Table
    item_names: tuple[str, ...] | None
    others: tuple[tuple[str, str], ...]
    """Columns that are not clustered by: name, and role with its reason."""
    warnings: tuple[str, ...]

    def show(self, kernel: Kernel) -> str:
        """Show how the table was read, one line per column."""
        lines: list[tuple[str, ...]] = [("column", "role", "kernel", "prior", "missing")]
        lines += [(name, role, "", "", "") for name, role in self.others]
        for position, name in enumerate(self.table.names):
            part, column = _part(kernel, position)
            missing = int(_is_missing(self.table.columns[position]).sum())
            role = role_of(part, self.table.columns[position])
            lines.append((name, role, part.kind, prior_of(part, column), str(missing or "")))
        # Without missing cells their column would only make lines too wide for a terminal.
        shown = 5 if any(line[4] for line in lines[1:]) else 4
        lines = [line[:shown] for line in lines]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )


def interpret_table(
    source: str, columns: tuple[str, ...], names: str | None, choices: dict[str, Any]
) -> InterpretedTable:
    """Read the table; refuse what is doubtful, leave out what holds nothing.

    Takes the options of reading out of the choices.
    """

    table = read_table(source, TextOptions(**options.take(TextOptions, choices)))
    told = {name: _listed(choices.pop(name)) for name in ("categories", "dates")}
    table = _convert_columns(table, source, **told)
    item_names, others = table.item_names, []
    if item_names is not None:
        others.append(("", "name"))
    if names is not None:
        item_names = names_from(table, _position(table, names, source))
        others = [(names, "name")]
    wanted = [_position(table, name, source) for name in _listed(columns)]
    excluded = [_position(table, name, source) for name in _listed(choices.pop("exclude"))]
    others += [(table.names[p], "left out: as requested") for p in excluded]
    positions = wanted or [p for p, name in enumerate(table.names) if name != names]
    positions = [p for p in positions if p not in excluded]
    if not wanted:
        unsure = [p for p in positions if table.names[p] not in told["categories"]]
        data_table.refuse_doubtful(
            table.select(unsure),
            names="name the rows by --names COLUMN, or ",
            leave_out="leave it out by --exclude COLUMN",
            dates="take it as numbers of days by --dates COLUMN",
            missing="give --na TEXT",
            categories="give --categories COLUMN",
            decimal="give --decimal ,",
            thousands="give --thousands '{}'",
        )
    empty = data_table.left_out(table.select(positions))
    others += [(name, f"left out: {why}") for name, why in empty.items()]
    positions = [p for p in positions if table.names[p] not in empty]
    if not positions:
        reasons = ", ".join(f"{name!r} is {role}" for name, role in others)
        raise InvalidInputError(f"{source} has no column to cluster by: {reasons}.")
    chosen = table.select(positions)
    return InterpretedTable(chosen, item_names, tuple(others), data_table.wide_scales(chosen))


def _listed(groups: Iterable[str]) -> list[str]:
    return [name.strip() for group in groups for name in group.split(",") if name.strip()]


def _position(table: Table, name: str, source: str) -> int:
    if name in table.names:
        return table.names.index(name)
    columns = listed(table.names, 10)
    raise InvalidInputError(f"{source} has no column {name!r}. Its columns are {columns}.")


def _convert_columns(table: Table, source: str, categories: list[str], dates: list[str]) -> Table:
    """Columns as the user says they are."""
    if not categories and not dates:
        return table
    columns = list(table.columns)
    for name in categories:
        p = _position(table, name, source)
        columns[p] = np.array(names_from(table, p), object)
        columns[p][_is_missing(table.columns[p])] = None
    for name in dates:
        p = _position(table, name, source)
        columns[p] = data_table.days(columns[p], name)
    return replace(table, columns=tuple(columns), matrix=None)


def _is_missing(column: Any) -> Any:

    if column.dtype.kind != "O":
        return np.isnan(column) if column.dtype.kind == "f" else np.zeros(column.size, bool)
    return np.array([value is None or value != value for value in column.tolist()], bool)


def _part(kernel: Kernel, position: int) -> tuple[Kernel, int]:
    """The kernel of one column, and its position among that kernel's columns."""
    for part, columns in getattr(kernel, "parts", ()):
        if position in columns:
            return part, columns.index(position)
    return kernel, position


def role_of(kernel: Kernel, column: Array) -> str:
    """The type of a column under its kernel: number, count, yes/no or category."""
    roles = {"GammaPoisson": "count", "BetaBernoulli": "yes/no", "DirichletCategorical": "category"}
    return roles.get(kernel.kind, "number" if column.dtype.kind == "f" else "category")


def prior_of(kernel: Kernel, column: int) -> str:
    """The hyperparameters of one column, in a few words."""
    shown = []
    for field in fields(kernel):  # type: ignore[arg-type]
        value = getattr(kernel, field.name)
        if isinstance(value, tuple):
            value = value[column]
        if field.name == "levels":
            shown.append(f"{len(value)} levels")
        elif isinstance(value, tuple):
            shown.append(f"{field.name} of all columns")
        elif not isinstance(value, float):  # a law
            numbers = ", ".join(f"{getattr(value, each.name):.3g}" for each in fields(value))
            shown.append(f"{field.name} ~ {type(value).__name__}({numbers})")
        else:
            shown.append(f"{field.name} {value:.3g}")
    return ", ".join(shown)
