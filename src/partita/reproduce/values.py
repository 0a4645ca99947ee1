"""Our values beside the paper's: in its own tables, and one by one with what the difference is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from partita.reproduce import paper
from partita.reproduce.digits import as_printed, printed_digits, same_digits, short
from partita.reproduce.experiments import Kind
from partita.reproduce.pages import PageTable

Source = Literal["data", "Monte Carlo"]
"""Why two runs differ: another random data set, or other draws for the same data."""

_USUAL = 0.9987
"""A value beyond this quantile of Student's t (3 sd, if the spread were known) is unusual."""


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over repeated runs."""

    mean: float
    sd: float
    n: int

    def score(self, value: float) -> float:
        """How many standard deviations a new run's value lies from the mean of these runs."""
        if self.sd == 0.0:
            return 0.0 if value == self.mean else float("inf")
        return abs(value - self.mean) / (self.sd * math.sqrt(1.0 + 1.0 / self.n))

    def explains(self, value: float) -> bool:
        """Whether a value is no more unusual than one run in 400, given how few runs these are."""
        from scipy.special import stdtrit

        return self.score(value) <= float(stdtrit(self.n - 1, _USUAL))


def spreads(rows: Sequence[Mapping[str, float]]) -> dict[str, Spread]:
    """Spread of each column over runs; at least two are needed."""
    found = {}
    for name in rows[0]:
        column = np.array([row[name] for row in rows])
        found[name] = Spread(float(column.mean()), float(column.std(ddof=1)), column.size)
    return found


@dataclass(frozen=True)
class Value:
    """One number of a table."""

    what: str
    ours: float
    printed: str
    source: Source
    spread: Spread
    """Over other data sets, or over other runs on the same data."""
    error: float | None = None
    """Monte Carlo standard error of ours."""
    search: float | None = None
    """What the paper's greedy search gives on our draws, where it was run."""
    minimised: bool = False
    """Whether the searches minimise this number."""

    @property
    def better(self) -> bool:
        """Whether our search reached less than the paper's, on the same draws."""
        return (
            self.minimised
            and self.search is not None
            and self.search > self.ours + 1e-9 * max(1.0, abs(self.ours))
        )

    @property
    def reading(self) -> str:
        """What the difference is, in words."""
        score = self.spread.score(float(self.printed))
        if same_digits(self.ours, self.printed):
            words = "none in the digits printed"
        elif self.spread.explains(float(self.printed)):
            words = f"{self.source} ({score:.1f} sd)"
        elif self.spread.sd == 0.0:
            words = f"{self.source}; our {self.spread.n} repeats all give {short(self.spread.mean)}"
        else:
            words = f"more than {self.source} alone ({score:.1f} sd)"
        if self.better and self.search is not None:
            digits = printed_digits(self.printed) + 2
            gain = self.search - self.ours
            words += f"; better optimiser: the paper's search ends {gain:.{digits}f} higher"
        return words

    def cells(self) -> tuple[str, ...]:
        """The row of :func:`value_table`."""
        digits = printed_digits(self.printed)
        ours = as_printed(self.ours, self.printed)
        difference = float(ours) - float(self.printed)
        spread = f"{self.spread.mean:.{max(digits, 1)}f} ± {self.spread.sd:.{max(digits, 1)}f}"
        return (
            self.what,
            ours,
            self.printed,
            f"{difference:+.{digits}f}",
            short(self.error, 4),
            spread,
            "–" if self.search is None else as_printed(self.search, self.printed),
            self.reading,
        )


def value_table(title: str, values: Iterable[Value]) -> PageTable:
    """One row per value, with everything that tells what the difference is."""
    shown = list(values)
    over = {"data": "other data sets", "Monte Carlo": "other runs, same data"}[shown[0].source]
    header = (
        "value",
        "ours",
        "paper",
        "difference",
        "Monte Carlo s.e.",
        f"{shown[0].spread.n} {over}: mean ± sd",
        "paper's search, our draws",
        "what the difference is",
    )
    return PageTable(title, header, tuple(value.cells() for value in shown))


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
