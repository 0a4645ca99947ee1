"""Draws from blocks of rows, so that a source is never held whole in a larger dtype."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._progress import Status
from partita.errors import InvalidLabelsError
from partita.kernels.arrays import Ints
from partita.partitions.arrays import first_appearance
from partita.partitions.cleaning import smallest_unsigned
from partita.partitions.draws import Draws
from partita.partitions.noise import whole_labels
from partita.partitions.room import room_for

BLOCK_LABELS = 1 << 22
"""Labels converted at a time."""

_ENOUGH_TO_COUNT = 10
"""Rows from which on a column that counts them is no coincidence."""


def rows_per_block(n_items: int) -> int:
    """Rows to hand to a :class:`Collector` at a time."""
    return max(1, BLOCK_LABELS // max(1, n_items))


class Collector:
    """Canonical labels growing by blocks of rows, about one byte per label.

    Parameters
    ----------
    n_items : int
        Columns of every block.
    expected : int
        Rows to make room for at first; a good guess saves growing.
    """

    def __init__(self, n_items: int, expected: int = 0) -> None:
        self._room = room_for(n_items, expected)
        self._n_items = n_items
        self._counts: list[NDArray[np.int64]] = []
        self._counting: NDArray[np.int64] | None = None
        self.n_rows = 0

    def add(self, block: NDArray[Any]) -> None:
        """Append rows of labels of any accepted kind."""
        if not block.shape[0]:
            return
        block = whole_labels(block, "draws", first_draw=self.n_rows)
        self._watch_counting(block)
        canonical = np.empty(block.shape, np.int32)
        counts = first_appearance(block, canonical)
        self._counts.append(counts)
        self._room.add(canonical, smallest_unsigned(int(counts.max()) - 1))
        self.n_rows += block.shape[0]

    def finish(self, *, item_names: Sequence[str] | None = None, **fields: Any) -> Draws:
        """The draws collected; the collector must not be used afterwards."""
        if not self.n_rows:
            raise InvalidLabelsError("there are no draws; at least one row is needed.")
        if self._counting is not None and self.n_rows > 1:
            mine = self._counting
            shape = (self.n_rows, self._n_items)
            refuse_counting(shape, mine, self._first[mine], self._step[mine], item_names)
        counts = np.concatenate(self._counts)
        return Draws._from_canonical(self._room.finish(), counts, item_names=item_names, **fields)

    def _watch_counting(self, block: Ints) -> None:
        """Keep track of the columns that have risen by the same step from row to row so far."""
        if self._counting is None:
            self._first, self._counting = block[0].copy(), np.arange(block.shape[1])
        if self.n_rows <= 1 < self.n_rows + block.shape[0]:
            self._step = block[1 - self.n_rows] - self._first
            self._counting = np.flatnonzero(self._step > 0)
        if self._counting.size and self.n_rows + block.shape[0] > 1:
            mine = self._counting
            rows = np.arange(self.n_rows, self.n_rows + block.shape[0])[:, None]
            expected = self._first[mine] + self._step[mine] * rows
            self._counting = mine[(block[:, mine] == expected).all(axis=0)]


def refuse_counting(
    shape: tuple[int, int],
    columns: NDArray[np.int64],
    first: NDArray[np.int64],
    step: NDArray[np.int64],
    item_names: Sequence[str] | None,
) -> None:
    """Refuse a table with columns that rise by a step from row to row, each from its first."""
    n_rows, n_items = shape
    if n_rows < _ENOUGH_TO_COUNT or not 0 < columns.size < n_items:
        return
    column, start = int(columns[0]), int(first[0])
    name = f" {item_names[column]!r}" if item_names is not None else ""
    raise InvalidLabelsError(
        f"the column of item {column}{name} counts {start}, {start + int(step[0])}, … down all "
        f"{n_rows:,} rows: it numbers the draws and labels no item. Drop it, or head it with "
        ".iteration."
    )


def collect(
    blocks: Iterable[NDArray[Any]], n_items: int, expected: int = 0, **fields: Any
) -> Draws:
    """Draws from an iterable of blocks; ``fields`` are weights, chain, item_names, kind."""
    if n_items == 0:
        raise InvalidLabelsError("there are no items; at least one column is needed.")
    collector = Collector(n_items, expected)
    with Status("reading draws") as status:
        for block in blocks:
            collector.add(block)
            status.say(f"{collector.n_rows:,} so far")
    return collector.finish(**fields)
