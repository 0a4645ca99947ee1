"""The table that ``partita fit`` clusters: how it is read, and what was understood of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from partita.cli.options import F, all_of, value_option
from partita.cli.reading import names_from, read_table
from partita.errors import InvalidInputError

if TYPE_CHECKING:
    from partita.samplers.base import Kernel
    from partita.samplers.table import Table

_READING = ("sep", "decimal", "thousands", "na", "header", "dates", "categories")
"""Options that say how the table is to be read."""


def data_options(function: F) -> F:
    """Options of a table of data."""
    return all_of(
        function,
        click.option(
            "--columns",
            multiple=True,
            metavar="A,B,…",
            help="Columns to cluster by. Default: all but the names.",
        ),
        click.option("--names", metavar="COLUMN", help="The column that names the items."),
        click.option(
            "--categories",
            multiple=True,
            metavar="A,B,…",
            help="Columns of numbers that are codes of categories.",
        ),
        click.option(
            "--dates",
            multiple=True,
            metavar="A,B,…",
            help="Columns of dates, to be taken as numbers of days.",
        ),
        click.option(
            "--na", multiple=True, metavar="TEXT", help="Another spelling of a missing value."
        ),
        click.option("--sep", metavar="C", help="What separates columns. Default: , or tab."),
        value_option("--decimal", default=".", metavar="C", help="The decimal point of numbers."),
        click.option("--thousands", metavar="C", help="What groups the digits of numbers."),
        click.option(
            "--header/--no-header",
            default=None,
            help="The first line names the columns, or is a row. Default: by its cells.",
        ),
    )


@dataclass(frozen=True)
class Understood:
    """The columns to cluster by, names of the items, and a line for each column of the file."""

    table: Table
    item_names: tuple[str, ...] | None
    others: tuple[tuple[str, str], ...]
    """Columns that are not clustered by: name, and role with its reason."""
    warnings: tuple[str, ...]

    def show(self, kernel: Kernel) -> str:
        """What was understood, one line per column."""
        from partita.cli.fit import prior_of, role_of

        lines = [("column", "role", "kernel", "prior", "missing")]
        lines += [(name, role, "", "", "") for name, role in self.others]
        for position, name in enumerate(self.table.names):
            part, column = _part(kernel, position)
            missing = sum(_missing(self.table.columns[position]))
            role = role_of(part, self.table.columns[position])
            lines.append((name, role, part.kind, prior_of(part, column), str(missing or "")))
        widths = [max(len(line[c]) for line in lines) for c in range(5)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )


def understand(
    source: str, columns: tuple[str, ...], names: str | None, choices: dict[str, Any]
) -> Understood:
    """Read the table; refuse what is doubtful, leave out what holds nothing.

    Takes the options of reading out of the choices.
    """
    from partita.samplers.guard import left_out, refuse_doubtful, wide_scales
    from partita.samplers.text_table import TextOptions

    reading = {name: choices.pop(name) for name in _READING}
    options = TextOptions(
        sep=reading["sep"],
        decimal=reading["decimal"],
        thousands=reading["thousands"],
        missing=reading["na"],
        header=reading["header"],
    )
    table = read_table(source, options)
    told = {"categories": _listed(reading["categories"]), "dates": _listed(reading["dates"])}
    table = _retyped(table, source, **told)
    item_names, others = table.item_names, []
    if item_names is not None:
        others.append(("", "name"))
    if names is not None:
        item_names = names_from(table, _position(table, names, source))
        others = [(names, "name")]
    wanted = [_position(table, name, source) for name in _listed(columns)]
    positions = wanted or [p for p, name in enumerate(table.names) if name != names]
    if not wanted:
        unsure = [p for p in positions if table.names[p] not in told["categories"]]
        refuse_doubtful(
            table.select(unsure),
            leave_out="name the rows by --names COLUMN, or the columns to use by --columns A,B",
            missing="say --na TEXT",
            categories="say --categories COLUMN",
            decimal="say --decimal ,",
            thousands="say --thousands '{}'",
        )
    empty = left_out(table.select(positions))
    others += [(name, f"left out: {why}") for name, why in empty.items()]
    positions = [p for p in positions if table.names[p] not in empty]
    if not positions:
        reasons = ", ".join(f"{name!r} is {role}" for name, role in others)
        raise InvalidInputError(f"{source} has no column to cluster by: {reasons}.")
    chosen = table.select(positions)
    return Understood(chosen, item_names, tuple(others), wide_scales(chosen))


def _listed(groups: Iterable[str]) -> list[str]:
    return [name.strip() for group in groups for name in group.split(",") if name.strip()]


def _position(table: Table, name: str, source: str) -> int:
    if name in table.names:
        return table.names.index(name)
    listed = ", ".join(table.names[:10]) + (", …" if len(table.names) > 10 else "")
    raise InvalidInputError(f"{source} has no column {name!r}. Its columns are {listed}.")


def _retyped(table: Table, source: str, categories: list[str], dates: list[str]) -> Table:
    """Columns as the user says they are."""
    from dataclasses import replace

    import numpy as np

    from partita.samplers.text_table import days

    columns = list(table.columns)
    for name in categories:
        p = _position(table, name, source)
        columns[p] = np.array(names_from(table, p), object)
        columns[p][_missing(table.columns[p])] = None
    for name in dates:
        p = _position(table, name, source)
        columns[p] = days(columns[p], name)
    return replace(table, columns=tuple(columns))


def _missing(column: Any) -> list[bool]:
    return [value is None or value != value for value in column.tolist()]


def _part(kernel: Kernel, position: int) -> tuple[Kernel, int]:
    """The kernel of one column, and its position among that kernel's columns."""
    for part, columns in getattr(kernel, "parts", ()):
        if position in columns:
            return part, columns.index(position)
    return kernel, position
