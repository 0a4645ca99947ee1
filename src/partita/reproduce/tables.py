"""The paper's tables in its own layout: our value, and the paper's in brackets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from partita.reproduce import paper
from partita.reproduce.digits import as_printed, short
from partita.reproduce.experiments import MINIMISED, Kind
from partita.reproduce.pages import PageTable
from partita.reproduce.values import Source, Spread, Value

KIND_TITLES: dict[Kind, str] = {
    "binder": "B̃",
    "vi": "VI, through VI_LB as in the paper",
    "exact": "VI itself (partita's default)",
}


def layout_table(
    title: str,
    columns: Mapping[str, str],
    rows: Sequence[tuple[str, Mapping[str, float], paper.Row | None]],
    note: str = "",
) -> PageTable:
    """One row per estimate; rows without a counterpart in the paper have no brackets."""
    body = []
    for name, ours, printed in rows:
        if printed is None:
            cells = [short(ours[column]) for column in columns]
        else:
            cells = [
                f"{as_printed(ours[column], printed[column])} ({printed[column]})"
                for column in columns
            ]
        body.append((name, *cells))
    return PageTable(title, ("", *columns.values()), tuple(body), note)


def values_of(
    title: str,
    kind: Kind,
    columns: Mapping[str, str],
    ours: Mapping[str, float],
    printed: paper.Row,
    source: Source,
    spread: Mapping[str, Spread],
    errors: Mapping[str, float],
    search: Mapping[str, float] | None = None,
) -> list[Value]:
    """Every number of one row of a table, ready to be compared."""
    return [
        Value(
            what=f"{title}, {label}",
            ours=ours[name],
            printed=printed[name],
            source=source,
            spread=spread[name],
            error=errors.get(name),
            search=None if search is None else search.get(name),
            minimised=MINIMISED[kind] == name,
        )
        for name, label in columns.items()
    ]


def cross_table_pair(
    title: str, rows_are: str, ours: NDArray[np.int64], printed: paper.CrossTable
) -> tuple[PageTable, PageTable]:
    """Our cross tabulation and the paper's, one after the other."""
    return (
        _cross(f"{title}, ours: {ours.shape[1]} clusters", rows_are, ours.tolist()),
        _cross(f"{title}, paper: {len(printed[0])} clusters", rows_are, printed),
    )


def _cross(title: str, rows_are: str, counts: Sequence[Sequence[int]]) -> PageTable:
    header = (rows_are, *(str(j + 1) for j in range(len(counts[0]))))
    rows = tuple((str(i + 1), *(str(n) for n in row)) for i, row in enumerate(counts))
    return PageTable(title, header, rows)
