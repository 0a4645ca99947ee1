"""What runs on the workers that hold labels: functions of stores, and of nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from partita.partitions.arrays import first_appearance
from partita.partitions.cleaning import smallest_unsigned

R = TypeVar("R")

Small = NDArray[np.unsignedinteger[Any]]


def canonical_store(values: NDArray[np.int64]) -> tuple[Small, NDArray[np.int64]]:
    """A store from whole numbers: canonical labels in the smallest dtype, numbers of clusters."""
    rows = np.empty(values.shape, np.int32)
    counts = first_appearance(values, rows)
    return rows.astype(smallest_unsigned(int(counts.max()) - 1)), counts


def on_piece(
    function: Callable[..., R],
    labels: Small,
    where: slice,
    dtype: np.dtype[Any],
    more: tuple[Any, ...],
) -> R:
    """A pass on a piece of a store."""
    return function(labels[where].astype(dtype, copy=False), *more)


def on_group(
    function: Callable[..., tuple[NDArray[Any], ...]],
    labels: Sequence[Small],
    places: Sequence[tuple[int, slice]],
    dtype: np.dtype[Any],
    more: Sequence[tuple[Any, ...]],
) -> tuple[NDArray[Any], ...]:
    """Sums of a pass over pieces of some stores."""
    from partita.partitions.passes import summed

    return summed(
        on_piece(function, labels[number], where, dtype, each)
        for (number, where), each in zip(places, more, strict=True)
    )


def added(
    sums: tuple[NDArray[Any], ...], more: tuple[NDArray[Any], ...]
) -> tuple[NDArray[Any], ...]:
    """Two sets of sums as one; neither is written to, for it may be asked for again."""
    return tuple(a + b for a, b in zip(sums, more, strict=True))


def rows_of(labels: Small, rows: NDArray[np.int64]) -> Small:
    """Some draws of a store."""
    return labels[rows]


def on_set(
    function: Callable[..., Any] | None,
    parts: Sequence[Small],
    order: NDArray[np.int64],
    dtype: np.dtype[Any],
    more: tuple[Any, ...],
) -> Any:
    """A function of draws that came from several stores, or these draws themselves."""
    rows = np.empty((order.size, parts[0].shape[1]), dtype)
    start = 0
    for part in parts:
        rows[order[start : start + len(part)]] = part
        start += len(part)
    return rows if function is None else function(rows, *more)


def columns_of(
    items: NDArray[np.int64], parts: Sequence[Small], order: NDArray[np.int64]
) -> tuple[Small, NDArray[np.int64]]:
    """Some items of draws that came from several stores, as a store."""
    chosen = [part[:, items] for part in parts]
    rows = on_set(None, chosen, order, np.result_type(*chosen), ())
    return canonical_store(rows.astype(np.int64))
