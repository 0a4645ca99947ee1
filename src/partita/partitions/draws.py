"""Draws: the one container in which partitions flow through the library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._result import as_html
from partita._validate import shown, whole
from partita._wording import counted, span
from partita.errors import InvalidInputError, InvalidLabelsError
from partita.partitions.arrays import Labels, plain_array
from partita.partitions.cleaning import (
    BLOCK_LABELS,
    canonicalise,
    clean_chain,
    clean_names,
    clean_weights,
    table_of_draws,
)


class Draws:
    """Draws of a partition of N items: the posterior, as MCMC or any ensemble gives it.

    Parameters
    ----------
    labels : array_like, shape (n_draws, n_items)
        One partition per row; integers, whole-valued floats, booleans or strings.
    weights : array_like, shape (n_draws,), optional
        Positive weights of the draws; scaled to sum to 1. Equal when omitted.
    chain : array_like, shape (n_draws,), optional
        Which chain each draw came from; draws of a chain are in the order sampled.
    item_names : sequence of str, optional
        One unique name per item.

    Attributes
    ----------
    labels : ndarray, shape (n_draws, n_items), read-only
        Canonical (0-based in order of first appearance), in the smallest unsigned dtype.
    weights : ndarray of float, shape (n_draws,), or None
    chain : ndarray, shape (n_draws,), or None
    item_names : tuple of str, or None
    n_clusters : ndarray of int64, shape (n_draws,)

    Notes
    -----
    About one byte per label while no draw has more than 256 clusters. Labels
    are converted in blocks: no full-size copy in a larger dtype is made.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.Draws([[3, 3, 1], [7, 7, 7], [3, 3, 1]])
    >>> draws.labels
    array([[0, 0, 1],
           [0, 0, 0],
           [0, 0, 1]], dtype=uint8)
    >>> draws.unique().weights
    array([0.66666667, 0.33333333])
    """

    __slots__ = ("_chain", "_item_names", "_labels", "_n_clusters", "_weights")

    _labels: NDArray[np.unsignedinteger[Any]]
    _weights: NDArray[np.float64] | None
    _chain: NDArray[Any] | None
    _item_names: tuple[str, ...] | None
    _n_clusters: NDArray[np.int64]

    def __init__(
        self,
        labels: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        chain: ArrayLike | None = None,
        item_names: Sequence[str] | None = None,
    ) -> None:
        values = table_of_draws(plain_array(labels, "draws"))
        canonical, counts = canonicalise(values)
        self._set(canonical, counts, weights, chain, item_names)

    def _set(
        self,
        labels: NDArray[np.unsignedinteger[Any]],
        counts: NDArray[np.int64],
        weights: ArrayLike | None,
        chain: ArrayLike | None,
        item_names: Sequence[str] | None,
    ) -> None:
        n_draws, n_items = labels.shape
        fields: dict[str, Any] = {
            "_labels": _frozen(labels),
            "_n_clusters": _frozen(counts),
            "_weights": None if weights is None else _frozen(clean_weights(weights, n_draws)),
            "_chain": None if chain is None else _frozen(clean_chain(chain, n_draws)),
            "_item_names": None if item_names is None else clean_names(item_names, n_items),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def _from_canonical(
        cls,
        labels: NDArray[np.unsignedinteger[Any]],
        counts: NDArray[np.int64],
        *,
        weights: ArrayLike | None = None,
        chain: ArrayLike | None = None,
        item_names: Sequence[str] | None = None,
    ) -> Draws:
        draws = object.__new__(cls)
        draws._set(labels, counts, weights, chain, item_names)
        return draws

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Draws are immutable: {name!r} cannot be set; make new Draws instead")

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self._labels, self._n_clusters, self._weights, self._chain, self._item_names)
        return _restore, fields

    # ------------------------------------------------------------------ what is there

    @property
    def labels(self) -> NDArray[np.unsignedinteger[Any]]:
        """Canonical labels, shape (n_draws, n_items), read-only."""
        return self._labels

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """Weights that sum to 1, or None when all draws weigh the same."""
        return self._weights

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The weights, or 1/n_draws for each draw when there are none."""
        if self._weights is not None:
            return self._weights
        return _frozen(np.full(self.n_draws, 1.0 / self.n_draws))

    @property
    def chain(self) -> NDArray[Any] | None:
        """Chain of each draw, or None when unknown."""
        return self._chain

    @property
    def item_names(self) -> tuple[str, ...] | None:
        """Names of the items, or None."""
        return self._item_names

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

    def __draws__(self) -> Draws:
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self._labels, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return self.n_draws

    def __iter__(self) -> Iterator[NDArray[np.unsignedinteger[Any]]]:
        return iter(self._labels)

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> NDArray[np.unsignedinteger[Any]]: ...

    @overload
    def __getitem__(self, index: slice | ArrayLike) -> Draws: ...

    def __getitem__(self, index: Any) -> NDArray[np.unsignedinteger[Any]] | Draws:
        """``draws[3]`` is one label vector; a slice, mask or list of positions gives Draws."""
        if isinstance(index, (int, np.integer)) and not isinstance(index, bool):
            if not -self.n_draws <= index < self.n_draws:
                raise IndexError(f"draw {index} was asked for; there are {self.n_draws:,}.")
            row: NDArray[np.unsignedinteger[Any]] = self._labels[index]
            return row
        chosen = index if isinstance(index, slice) else np.asarray(index)
        if not isinstance(chosen, slice) and (chosen.ndim != 1 or chosen.dtype.kind not in "iub"):
            raise InvalidInputError(
                f"draws[{index!r}]: draws are picked by a position, a slice, a mask or a list of "
                "positions. For items see select_items."
            )
        if np.arange(self.n_draws)[chosen].size == 0:
            raise InvalidInputError("no draws selected; at least one is needed.")
        return self._take(chosen)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Draws):
            return NotImplemented
        return (
            np.array_equal(self._labels, other._labels)
            and _same(self._weights, other._weights)
            and _same(self._chain, other._chain)
            and self._item_names == other._item_names
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        low, high = int(self._n_clusters.min()), int(self._n_clusters.max())
        clusters = span(low, high, "cluster") + (" each" if low == high else "")
        parts = [f"{counted(self.n_draws, 'draw')} of {counted(self.n_items, 'item')}", clusters]
        if self._chain is not None:
            parts.append(counted(self.n_chains, "chain"))
        if self._weights is not None:
            parts.append("weighted")
        if self._item_names is not None:
            parts.append("named items")
        return f"<Draws: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        return as_html(self)

    # ------------------------------------------------------------------ how kernels see it

    def rows(self, start: int, stop: int) -> Labels:
        """Draws start … stop − 1 in the dtype of the kernels (int32)."""
        return self._labels[start:stop].astype(np.int32)

    def blocks(self, rows: int | None = None) -> Iterator[slice]:
        """Slices of draws that are small enough to convert for a kernel."""
        step = rows or max(1, BLOCK_LABELS // self.n_items)
        for start in range(0, self.n_draws, step):
            yield slice(start, min(start + step, self.n_draws))

    # ------------------------------------------------------------------ selection

    def _take(self, index: Any) -> Draws:
        weights = None if self._weights is None else self._weights[index]
        return Draws._from_canonical(
            np.ascontiguousarray(self._labels[index]),
            self._n_clusters[index],
            weights=weights,
            chain=None if self._chain is None else self._chain[index],
            item_names=self._item_names,
        )

    def _positions_in_chain(self) -> NDArray[np.int64]:
        if self._chain is None:
            return np.arange(self.n_draws)
        position = np.empty(self.n_draws, np.int64)
        for name in np.unique(self._chain):
            mine = np.flatnonzero(self._chain == name)
            position[mine] = np.arange(mine.size)
        return position

    @property
    def n_effective(self) -> float:
        """Kish's effective number of draws, (Σw)²/Σw²: n_draws when unweighted."""
        if self._weights is None:
            return float(self.n_draws)
        return 1.0 / float(np.square(self._weights).sum())

    def reweighted(self, by: str, strength: float) -> Draws:
        """The same draws with weights that favour clusters of even sizes.

        Weights ∝ w·exp(strength · H/log k), H being the entropy of the draw's cluster sizes and
        k their number: 1 for equal sizes, near 0 where one cluster has almost all items, and 0
        by definition for one cluster. It answers a posterior that spawns tiny clusters.

        Parameters
        ----------
        by : "entropy"
        strength : float
            λ; 0 leaves the draws as they are, negative values favour uneven sizes.

        Notes
        -----
        ``n_effective`` of the result says how many draws are left. Cost O(M·N).

        References
        ----------
        Franzolini and Rebaudo (2024), Entropy regularization in probabilistic clustering.
        Statistical Methods & Applications 33.

        Examples
        --------
        >>> import partita as pt
        >>> draws = pt.Draws([[0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]])
        >>> draws.reweighted("entropy", 2.0).weights.round(3)
        array([0.549, 0.377, 0.074])
        """
        from partita.partitions.reweighting import entropy_weights

        weights = entropy_weights(self, by, strength)
        return Draws._from_canonical(
            self._labels,
            self._n_clusters,
            weights=weights,
            chain=self._chain,
            item_names=self._item_names,
        )

    def drop(self, n: int) -> Draws:
        """Without the first n draws of each chain (burn-in)."""
        n = whole(n, "n", least=0)
        keep = self._positions_in_chain() >= n
        if not keep.any():
            raise InvalidInputError(
                f"dropping {n} draws of each chain leaves nothing: there are {self.n_draws} draws "
                f"in {self.n_chains} chain(s)."
            )
        return self._take(keep)

    def thin(self, step: int) -> Draws:
        """Every step-th draw of each chain, from its first."""
        step = whole(step, "step", least=1)
        return self._take(self._positions_in_chain() % step == 0)

    def select_chains(self, chains: ArrayLike) -> Draws:
        """Only the draws of the named chains."""
        if self._chain is None:
            raise InvalidInputError(
                "these draws carry no chain ids; give chain=... when making Draws to select chains."
            )
        wanted = np.atleast_1d(np.asarray(chains))
        known = np.unique(self._chain)
        if wanted.size == 0:
            raise InvalidInputError(
                f"no chains selected; give some of {known.tolist()}.", argument="chains"
            )
        unknown = [w for w in wanted.tolist() if w not in known.tolist()]
        if unknown:
            raise InvalidInputError(f"no chain {unknown[0]!r}; the chains are {known.tolist()}.")
        return self._take(np.isin(self._chain, wanted))

    def select_items(self, items: ArrayLike) -> Draws:
        """The same draws restricted to some items, given by position, mask or name."""
        columns = self.item_positions(items)
        labels, counts = canonicalise(self._labels[:, columns])
        names = self._item_names
        return Draws._from_canonical(
            labels,
            counts,
            weights=self._weights,
            chain=self._chain,
            item_names=None if names is None else [names[i] for i in columns.tolist()],
        )

    def item_positions(self, items: ArrayLike) -> NDArray[np.int64]:
        """Positions of items given by position, mask or name; each may appear once."""
        wanted = np.atleast_1d(np.asarray(items))
        if wanted.dtype.kind in "UO":
            if self._item_names is None:
                raise InvalidInputError(
                    "items were given by name, but these draws carry no item names."
                )
            position = {name: i for i, name in enumerate(self._item_names)}
            unknown = [name for name in wanted.tolist() if name not in position]
            if unknown:
                raise InvalidInputError(f"no item named {unknown[0]!r} in these draws.")
            columns = np.array([position[name] for name in wanted.tolist()], np.int64)
        elif wanted.dtype.kind == "b":
            if wanted.size != self.n_items:
                raise InvalidInputError(
                    f"the mask of items has length {wanted.size}; expected {self.n_items}."
                )
            columns = np.flatnonzero(wanted).astype(np.int64)
        elif wanted.size and wanted.dtype.kind not in "iu":
            raise InvalidInputError(
                f"items={shown(items)}; expected positions, a mask or names.", argument="items"
            )
        else:
            columns = wanted.astype(np.int64)
            if columns.size and (columns.min() < -self.n_items or columns.max() >= self.n_items):
                raise InvalidInputError(
                    f"item positions must lie in 0 … {self.n_items - 1}, got {wanted.tolist()[:5]}."
                )
            columns %= self.n_items
        if columns.size == 0:
            raise InvalidInputError("no items selected; at least one is needed.")
        if np.unique(columns).size != columns.size:
            raise InvalidInputError("an item is selected twice; each item can appear once.")
        return columns

    @staticmethod
    def concat(parts: Sequence[Draws]) -> Draws:
        """One Draws from several of the same items, each keeping its share of the mass.

        Chain ids are kept when every part has them and they do not clash;
        otherwise each part becomes a chain (or chains) of its own. Weighted and
        unweighted parts mix: a part's mass is its share of all draws.
        """
        parts = list(parts)
        if not parts:
            raise InvalidInputError("nothing to concatenate: give at least one Draws.")
        first = parts[0]
        for part in parts[1:]:
            if part.n_items != first.n_items or part.item_names != first.item_names:
                raise InvalidLabelsError(
                    f"draws of different items cannot be concatenated: {first!r} and {part!r}."
                )
        dtype = np.result_type(*[part.labels.dtype for part in parts])
        total = sum(part.n_draws for part in parts)
        labels = np.empty((total, first.n_items), dtype)
        np.concatenate([part.labels for part in parts], out=labels)
        weights = None
        if any(part.weights is not None for part in parts):
            weights = np.concatenate([p.probabilities * (p.n_draws / total) for p in parts])
        return Draws._from_canonical(
            labels,
            np.concatenate([part.n_clusters for part in parts]),
            weights=weights,
            chain=_join_chains(parts),
            item_names=first.item_names,
        )

    def unique(self) -> Draws:
        """Each distinct partition once, in order of first appearance, with its mass as weight.

        Chain ids are dropped: a merged draw may come from several chains.
        """
        return self.merged(*self.unique_index())

    def merged(self, index: NDArray[np.int64], mass: NDArray[np.float64]) -> Draws:
        """The distinct partitions from what ``unique_index`` returned."""
        first = np.full(mass.size, self.n_draws, np.int64)
        np.minimum.at(first, index, np.arange(self.n_draws))
        return Draws._from_canonical(
            np.ascontiguousarray(self._labels[first]),
            self._n_clusters[first],
            weights=mass,
            item_names=self._item_names,
        )

    def unique_index(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Number of each draw's partition among the distinct ones, and their masses."""
        index = _number_distinct(self)
        mass = np.bincount(index, weights=self.probabilities)
        return index, np.asarray(mass, np.float64)


def _restore(
    labels: NDArray[np.unsignedinteger[Any]],
    counts: NDArray[np.int64],
    weights: NDArray[np.float64] | None,
    chain: NDArray[Any] | None,
    item_names: tuple[str, ...] | None,
) -> Draws:
    return Draws._from_canonical(
        labels, counts, weights=weights, chain=chain, item_names=item_names
    )


def _number_distinct(draws: Draws) -> NDArray[np.int64]:
    """Number the distinct rows by first appearance, through hashes that are then verified."""
    from partita.kernels.partitions.labels import hash_rows

    hashes = np.concatenate([hash_rows(draws.rows(b.start, b.stop)) for b in draws.blocks()])
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    labels = draws.labels
    collision = any((labels[b] != labels[first[inverse[b]]]).any() for b in draws.blocks())
    if collision:  # two different partitions with one 64-bit hash: sort the rows themselves
        _, first, inverse = np.unique(labels, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse.reshape(-1)]


def _join_chains(parts: Sequence[Draws]) -> NDArray[Any] | None:
    if len(parts) == 1:
        return parts[0].chain
    known = [part.chain for part in parts if part.chain is not None]
    if len(known) == len(parts):
        ids = [set(chain.tolist()) for chain in known]
        if len(set.union(*ids)) == sum(len(s) for s in ids):
            return np.concatenate(known)
    joined, offset = [], 0
    for part in parts:
        if part.chain is None:
            joined.append(np.full(part.n_draws, offset))
            offset += 1
        else:
            names, number = np.unique(part.chain, return_inverse=True)
            joined.append(number + offset)
            offset += names.size
    return np.concatenate(joined)


def _same(a: NDArray[Any] | None, b: NDArray[Any] | None) -> bool:
    if a is None or b is None:
        return a is b
    return np.array_equal(a, b)


def _frozen(values: NDArray[Any]) -> NDArray[Any]:
    frozen = values.view()
    frozen.flags.writeable = False
    return frozen
