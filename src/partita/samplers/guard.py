"""Columns that are probably no measurements, found before they become features."""

from __future__ import annotations

import re

import numpy as np

from partita._wording import listed
from partita.errors import InvalidDataError
from partita.samplers.table import Table
from partita.samplers.text_table import (
    groups_digits,
    has_decimal_comma,
    is_date,
    numbers_but_for_few,
)

_NAME = re.compile(
    r"(.*[ _.-])?(id|ids|uuid|index|key|nr|no|row|rows|rownames?|row[ _.-]names?|unnamed: \d+)",
    re.IGNORECASE,
)
_MANY = 20
"""Rows from which on all-different whole numbers are no accident."""

_WIDE = 1e12


def refuse_doubtful(
    table: Table, *, leave_out: str, missing: str, categories: str, decimal: str, thousands: str
) -> None:
    """Raise for a column that would silently spoil the clustering, with the way out.

    The texts say how a caller leaves a column out, names a spelling of missing cells, says that
    a column holds categories, and names the decimal mark and what groups digits.
    """
    for name, column in zip(table.names, table.columns, strict=True):
        mark = groups_digits(column)
        if mark is not None or has_decimal_comma(column):
            ways = [] if mark is None else [thousands.format(mark)]
            ways += [decimal] if has_decimal_comma(column) and decimal not in ways else []
            example = next(v for v in column if v is not None and not v.isdigit())
            raise InvalidDataError(
                f"column {name!r} holds numbers written like {example!r}; {', or '.join(ways)}."
            )
        odd = numbers_but_for_few(column)
        if odd:
            cells = listed([repr(column[i]) for i in odd])
            raise InvalidDataError(
                f"column {name!r} holds numbers but for {cells} in {table.where(odd)}. If that "
                f"means a missing value, {missing}; if the column holds categories, {categories}; "
                f"else correct it, or {leave_out}."
            )
        if is_date(column):
            raise InvalidDataError(
                f"column {name!r} holds dates or times, which are neither numbers nor categories; "
                f"{leave_out}, or turn them into numbers first."
            )
        # Numbers in the only column are what there is to cluster by, whatever they look like.
        why = _why_names(name, column) if len(table.names) > 1 or column.dtype.kind == "O" else None
        if why:
            raise InvalidDataError(
                f"column {name!r} {why}, so it probably names the rows; clustering by it would "
                f"spoil the result. If so, {leave_out}."
            )


def _why_names(name: str, column: np.ndarray) -> str | None:
    values = [v for v in column.tolist() if v is not None]
    if len(values) < 3 or len(set(values)) < len(values):
        return None
    if column.dtype.kind == "O":
        return "holds a different text in every row"
    if column.dtype.kind != "f" or not np.array_equal(column, np.floor(column)):
        return None
    if _NAME.fullmatch(name):
        return "has such a name and a different whole number in every row"
    if len(values) >= 5 and (np.diff(column) == 1).all():
        return "counts the rows"
    return "holds a different whole number in every row" if len(values) >= _MANY else None


def left_out(table: Table) -> dict[str, str]:
    """Columns that hold nothing to cluster by, and why."""
    found = {}
    for name, column in zip(table.names, table.columns, strict=True):
        values = {v for v in column.tolist() if v is not None and v == v}
        if len(values) < 2:
            found[name] = "constant" if values else "no value in it"
    return found


def wide_scales(table: Table) -> tuple[str, ...]:
    """A warning for each column of numbers whose magnitudes span twelve powers of ten."""
    said = []
    for name, column in zip(table.names, table.columns, strict=True):
        if column.dtype.kind != "f":
            continue
        sizes = np.abs(column[np.isfinite(column) & (column != 0)])
        if sizes.size and sizes.max() > _WIDE * sizes.min():
            said.append(
                f"column {name!r} spans {sizes.min():.1g} to {sizes.max():.1g}: a few large values "
                "will decide the clusters; consider its logarithm."
            )
    return tuple(said)
