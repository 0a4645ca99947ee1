"""Ids of chains, from whatever a file or table writes them as."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.errors import InvalidInputError
from partita.kernels.arrays import Floats, Ints

_LARGEST = 2.0**53  # beyond it floats skip whole numbers


def clean_ids(values: Any) -> NDArray[Any]:
    """Chain ids as integers where all are whole numbers, else as text; none may be missing."""
    ids = np.asarray(values)
    missing = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    if missing is not None and missing.any():
        _refuse(int(np.flatnonzero(missing)[0]), "is missing")
    if ids.dtype.kind in "iu":
        return ids
    if ids.dtype.kind in "OTU":
        return _from_objects(ids)
    if ids.dtype.kind not in "fb":
        raise InvalidInputError(
            f"chain ids are of type {ids.dtype}; expected whole numbers or text, one per draw."
        )
    return _from_floats(ids.astype(np.float64))


def _from_objects(ids: NDArray[Any]) -> NDArray[Any]:
    listed = ids.tolist()
    for draw, value in enumerate(listed):
        if isinstance(value, str):
            if not value:
                _refuse(draw, "is empty")
        elif value is None or type(value).__name__ == "NAType" or value != value:
            _refuse(draw, "is missing")
    if any(isinstance(value, str) for value in listed):
        return np.array([str(value) for value in listed])
    try:
        if all(isinstance(value, (int, np.integer)) for value in listed):
            return np.array(listed, np.int64)
        numbers = np.array(listed, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(
            f"chain ids such as {listed[0]!r} are neither whole numbers nor text."
        ) from None
    return _from_floats(numbers)


def _from_floats(numbers: Floats) -> Ints:
    with np.errstate(invalid="ignore"):
        bad = ~((numbers == np.floor(numbers)) & (np.abs(numbers) < _LARGEST))
    if bad.any():
        draw = int(np.flatnonzero(bad)[0])
        value = float(numbers[draw])
        _refuse(draw, "is missing" if value != value else f"is {value!r}")
    return numbers.astype(np.int64)


def _refuse(draw: int, came: str) -> None:
    raise InvalidInputError(
        f"the chain id of draw {draw} {came}; expected whole numbers or text, one per draw."
    )
