"""Ranges of columns: what empirical rules and squares of numbers need of them."""

from __future__ import annotations

import numpy as np

from partita._wording import listed
from partita.errors import InvalidDataError
from partita.kernels.arrays import Floats
from partita.samplers.table import Table, numbers


def varying(table: Table, kind: str) -> Floats:
    """The columns as numbers for a kernel of that kind; each needs two values that differ."""
    values = numbers(table, kind, missing=True)
    present = np.isfinite(values).sum(axis=0)
    if present.min() < 2:
        raise InvalidDataError(
            f"column {table.names[int(present.argmin())]} has {present.min()} values, which "
            "have no variance; the empirical rule needs two or more."
        )
    constant = [table.names[j] for j in np.flatnonzero(refuse_extremes(values, table) == 0)]
    if constant:
        raise InvalidDataError(
            f"column {listed(constant)} is constant, so the empirical rule (rate = sample "
            "variance) has no answer. Drop the column, or give the kernel yourself."
        )
    return values


def refuse_extremes(values: Floats, table: Table) -> Floats:
    """Range of each column; refuses numbers whose squares are no numbers, or that lost digits."""
    largest = np.nanmax(np.abs(values), axis=0)
    ranges = np.nanmax(values, axis=0) - np.nanmin(values, axis=0)
    for name, high, width in zip(table.names, largest, ranges, strict=True):
        problem = None
        if width == 0:
            continue
        if high > 1e100:
            problem = f"has values up to {high:.2g}, whose squares overflow; divide it first"
        elif width < 1e-100:
            problem = f"has differences of {width:.2g}, whose squares vanish; multiply it first"
        elif width < 1e-12 * high:
            problem = (
                f"varies by {width:.2g} around {high:.2g}, which leaves too few digits; subtract "
                "a constant where the numbers come from"
            )
        if problem:
            raise InvalidDataError(f"column {name!r} {problem}.")
    return np.asarray(ranges)
