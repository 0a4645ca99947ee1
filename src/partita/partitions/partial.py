"""Partial partitions: some items are grouped, of the others nothing is said."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._result import as_html
from partita._wording import counted
from partita.errors import InvalidLabelsError, about
from partita.partitions.arrays import integers
from partita.partitions.labels import Labels, as_labels, by_size, plain_labels
from partita.partitions.types import LabelsLike

NOT_STATED = -1
"""Label of the items a partial partition says nothing about."""


class PartialPartition:
    """A grouping of some of the items; −1 marks those of which nothing is said.

    Labels are numbered by size, the largest cluster first, ties by the first
    item. As an array (``np.asarray``) it is the label vector. Equal when the
    same items are grouped in the same way.

    Parameters
    ----------
    labels : array_like, shape (n_items,), or anything that stands for one partition
        Integers; negative ones are not stated. A file or an estimate states every item.

    Notes
    -----
    O(N). What needs every item placed, such as a loss, refuses it;
    :func:`partita.refines` takes it as its first argument.

    Examples
    --------
    >>> from partita.partitions.partial import PartialPartition
    >>> part = PartialPartition([4, -1, 2, 2])
    >>> part
    <PartialPartition: 3 of 4 items in 2 clusters>
    >>> part.labels
    array([ 1, -1,  0,  0], dtype=int32)
    >>> part.agrees([0, 0, 1, 1]), part.agrees([0, 0, 0, 1])
    (True, False)
    """

    __slots__ = ("_labels",)

    @about("labels")
    def __init__(self, labels: LabelsLike | PartialPartition) -> None:
        values = plain_labels(labels, "labels of a partial partition", single=True)
        if values.ndim != 1 or values.size == 0:
            raise InvalidLabelsError(
                f"a partial partition has shape {values.shape}; expected one label per item, "
                "shape (n_items,)."
            )
        numbers = integers(values, "labels of a partial partition")
        clean = np.full(numbers.size, NOT_STATED, np.int32)
        stated = numbers >= 0
        if stated.any():
            clean[stated] = by_size(numbers[stated])
        clean.flags.writeable = False
        self._labels: Labels = clean

    @property
    def labels(self) -> Labels:
        """One label per item, −1 where nothing is said; read-only."""
        return self._labels

    @property
    def items(self) -> NDArray[np.int64]:
        """Positions of the items that are grouped."""
        return np.flatnonzero(self._labels >= 0)

    @property
    def size(self) -> int:
        """Number of items that are grouped."""
        return int((self._labels >= 0).sum())

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the items that are grouped."""
        return int(self._labels.max()) + 1

    @property
    def is_full(self) -> bool:
        """Whether every item is grouped."""
        return bool((self._labels >= 0).all())

    def agrees(self, labels: LabelsLike) -> bool:
        """Whether a full partition groups the stated items exactly as this one does."""
        items = self.items
        full = as_labels(labels, n_items=self._labels.size)
        return items.size == 0 or bool((by_size(full[items]) == self._labels[items]).all())

    def __len__(self) -> int:
        return int(self._labels.size)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self._labels, dtype=dtype, copy=True if copy is None else copy)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartialPartition):
            return NotImplemented
        return np.array_equal(self._labels, other._labels)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        clusters = counted(self.n_clusters, "cluster")
        return f"<PartialPartition: {self.size:,} of {len(self):,} items in {clusters}>"

    def _repr_html_(self) -> str:
        return as_html(self)
