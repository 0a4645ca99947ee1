"""The arrays of draws, fixed when they are made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._result import frozen
from partita._validate import whole
from partita._vocabulary import Kind
from partita.kernels.arrays import Bools, Ints
from partita.partitions.arrays import Labels
from partita.partitions.cleaning import (
    BLOCK_LABELS,
    clean_chain,
    clean_kind,
    clean_names,
    clean_weights,
)
from partita.partitions.pieces import stores
from partita.partitions.remote import RemoteLabels

Stored = NDArray[np.unsignedinteger[Any]] | RemoteLabels
"""Canonical labels in memory, in a file that is mapped there, or on the workers of a cluster."""


class DrawsArrays:
    """Canonical labels with weights, chains, names and kind: what ``Draws`` is made of."""

    __slots__ = (
        "_chain",
        "_item_names",
        "_kind",
        "_labels",
        "_n_clusters",
        "_numbered",
        "_weights",
    )

    _labels: Stored
    _weights: NDArray[np.float64] | None
    _chain: NDArray[Any] | None
    _item_names: tuple[str, ...] | None
    _n_clusters: NDArray[np.int64]
    _kind: Kind
    _numbered: tuple[NDArray[np.int64], NDArray[np.float64]] | None

    def _set(
        self,
        labels: Stored,
        counts: Ints,
        weights: ArrayLike | None,
        chain: ArrayLike | None,
        item_names: Sequence[str] | None,
        kind: Kind,
    ) -> None:
        n_draws, n_items = labels.shape
        fields: dict[str, Any] = {
            "_labels": frozen(labels),
            "_n_clusters": frozen(counts),
            "_weights": None if weights is None else frozen(clean_weights(weights, n_draws)),
            "_chain": None if chain is None else frozen(clean_chain(chain, n_draws)),
            "_item_names": None if item_names is None else clean_names(item_names, n_items),
            "_kind": clean_kind(kind, chain),
            "_numbered": None,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def _from_canonical(
        cls,
        labels: Stored,
        counts: Ints,
        *,
        weights: ArrayLike | None = None,
        chain: ArrayLike | None = None,
        item_names: Sequence[str] | None = None,
        kind: Kind = "posterior",
    ) -> Self:
        draws = object.__new__(cls)
        draws._set(labels, counts, weights, chain, item_names, kind)
        return draws

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Draws are immutable: {name!r} cannot be set; make new Draws instead")

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.labels, self._n_clusters, self._weights, self._chain, self._item_names)
        return _restored, (type(self), *fields, self._kind)

    # ------------------------------------------------------------------ what is there

    @property
    def labels(self) -> NDArray[np.unsignedinteger[Any]]:
        """Canonical labels, shape (n_draws, n_items), read-only.

        Those on the workers of a cluster are fetched, if memory can hold them.
        """
        if isinstance(self._labels, RemoteLabels):
            fetched: NDArray[np.unsignedinteger[Any]] = frozen(self._labels.gathered())
            return fetched
        return self._labels

    @property
    def stored(self) -> Stored:
        """The labels where they are kept: for passes over them, which fetch nothing."""
        return self._labels

    def _with(self, **changed: Any) -> Self:
        """The same draws but for what is given, by the names of ``_from_canonical``."""
        fields: dict[str, Any] = {
            "labels": self._labels,
            "counts": self._n_clusters,
            "weights": self._weights,
            "chain": self._chain,
            "item_names": self._item_names,
            "kind": self._kind,
        }
        return self._from_canonical(**(fields | changed))

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """Weights that sum to 1, or None when all draws weigh the same."""
        return self._weights

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The weights, or 1/n_draws for each draw when there are none."""
        if self._weights is not None:
            return self._weights
        equal: NDArray[np.float64] = frozen(np.full(self.n_draws, 1.0 / self.n_draws))
        return equal

    @property
    def chain(self) -> NDArray[Any] | None:
        """Chain of each draw, or None when unknown."""
        return self._chain

    @property
    def item_names(self) -> tuple[str, ...] | None:
        """Names of the items, or None."""
        return self._item_names

    @property
    def kind(self) -> Kind:
        """What the rows are: draws of a "posterior", runs of an "ensemble", or "tilted" draws."""
        return self._kind

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return int(self._labels.shape[0])

    @property
    def n_items(self) -> int:
        """Number of items in each partition."""
        return int(self._labels.shape[1])

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """Number of clusters of each draw."""
        return self._n_clusters

    @property
    def n_chains(self) -> int:
        """Number of chains; 1 when chains are unknown."""
        return 1 if self._chain is None else len(np.unique(self._chain))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DrawsArrays):
            return NotImplemented
        return (
            self._same_labels(other)
            and _same(self._weights, other._weights)
            and _same(self._chain, other._chain)
            and self._item_names == other._item_names
            and self._kind == other._kind
        )

    def _same_labels(self, other: DrawsArrays) -> bool:
        if self._labels is other._labels:
            return True
        if self._labels.shape != other._labels.shape:
            return False
        where = stores(self.n_draws, self.n_items)
        return all(np.array_equal(self.labels_at(s), other.labels_at(s)) for s in where)

    __hash__ = None  # type: ignore[assignment]

    # ------------------------------------------------------------------ how kernels see it

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.labels, dtype=dtype, copy=copy)

    def __iter__(self) -> Iterator[NDArray[np.unsignedinteger[Any]]]:
        for where in self.blocks():
            yield from self.labels_at(where)

    def rows_kept(self, index: slice | Ints | Bools) -> Stored:
        """Some draws, kept where all of them are."""
        if isinstance(self._labels, RemoteLabels):
            return self._labels.select(np.arange(self.n_draws)[index])
        return np.ascontiguousarray(self._labels[index])

    def rows(self, start: int, stop: int) -> Labels:
        """Draws start … stop − 1 in the dtype of the kernels (int32)."""
        return self.labels_at(slice(start, stop)).astype(np.int32)

    def rows_at(self, draws: ArrayLike) -> Labels:
        """Some draws by number, in the order given, in the dtype of the kernels."""
        return self.labels_at(np.asarray(draws, np.int64)).astype(np.int32)

    def labels_at(self, where: slice | NDArray[np.int64]) -> NDArray[np.unsignedinteger[Any]]:
        """Labels of some draws, fetched where they live on a cluster."""
        if isinstance(self._labels, RemoteLabels):
            return self._labels.rows(np.arange(self.n_draws)[where])
        return self._labels[where]

    def blocks(self, rows: int | None = None) -> Iterator[slice]:
        """Slices of draws that are small enough to convert for a kernel."""
        usual = max(1, BLOCK_LABELS // self.n_items)
        step = usual if rows is None else whole(rows, "rows", least=1)
        for start in range(0, self.n_draws, step):
            yield slice(start, min(start + step, self.n_draws))


def _same(a: NDArray[Any] | None, b: NDArray[Any] | None) -> bool:
    if a is None or b is None:
        return a is b
    return np.array_equal(a, b)


def _restored(cls: type[DrawsArrays], *fields: Any) -> DrawsArrays:
    names = ("weights", "chain", "item_names", "kind")  # earlier versions pickled no kind
    labels, counts, *rest = fields
    return cls._from_canonical(labels, counts, **dict(zip(names, rest, strict=False)))
