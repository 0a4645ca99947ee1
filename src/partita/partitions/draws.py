"""Draws: the one container in which partitions flow through the library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita import _html as html
from partita._result import frozen
from partita._validate import whole
from partita._vocabulary import Kind, words
from partita._wording import counted, span
from partita.errors import InvalidInputError, about
from partita.partitions.arrays import plain_array
from partita.partitions.cleaning import canonicalise, refuse_what_holds_draws, table_of_draws
from partita.partitions.draws_arrays import DrawsArrays, Stored
from partita.partitions.joining import joined
from partita.partitions.remote import RemoteLabels
from partita.partitions.selection import in_chains, item_positions, positions_in_chain


class Draws(DrawsArrays):
    """Draws of a partition of N items: from a posterior, or the runs of an ensemble.

    Parameters
    ----------
    labels : array_like, shape (n_draws, n_items)
        One partition per row; integers, whole-valued floats, booleans or strings. Other Draws
        keep what stands beside them, where nothing else is given.
    weights : array_like, shape (n_draws,), optional
        Positive weights of the draws; scaled to sum to 1. Equal when omitted.
    chain : array_like, shape (n_draws,), optional
        Which chain each draw came from; draws of a chain are in the order sampled.
    item_names : sequence of str, optional
        One unique name per item.
    kind : "posterior", "ensemble" or "tilted"
        What the rows are: draws from a posterior (the default), or runs of clustering
        algorithms (Leiden, k-means, HDBSCAN with several seeds or settings). Estimates, balls
        and shares are the same numbers, but every sentence differs: of an ensemble nothing is
        said about probability or convergence, and its runs have no chains and no order. Draws
        are "tilted" once :meth:`reweighted` has changed their weights.

    Attributes
    ----------
    labels : ndarray, shape (n_draws, n_items), read-only
        Canonical (0-based in order of first appearance), in the smallest unsigned dtype.
    weights : ndarray of float, shape (n_draws,), or None
    chain : ndarray, shape (n_draws,), or None
    item_names : tuple of str, or None
    kind : "posterior", "ensemble" or "tilted"
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

    __slots__ = ()

    def __init__(
        self,
        labels: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        chain: ArrayLike | None = None,
        item_names: Sequence[str] | None = None,
        kind: Kind | None = None,
    ) -> None:
        if isinstance(labels, Draws):  # the same draws, with what is given beside them
            weights = labels.weights if weights is None else weights
            chain = labels.chain if chain is None else chain
            item_names = labels.item_names if item_names is None else item_names
            kind = labels.kind if kind is None else kind
            labels = labels.labels
        with about("labels"):
            refuse_what_holds_draws(labels)
            values = table_of_draws(plain_array(labels, "draws"))
            canonical, counts = canonicalise(values)
        self._set(
            canonical, counts, weights, chain, item_names, "posterior" if kind is None else kind
        )

    def __draws__(self) -> Draws:
        return self

    def __len__(self) -> int:
        return self.n_draws

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> NDArray[np.unsignedinteger[Any]]: ...

    @overload
    def __getitem__(self, index: slice | ArrayLike) -> Draws: ...

    def __getitem__(self, index: Any) -> NDArray[np.unsignedinteger[Any]] | Draws:
        """``draws[3]`` is one label vector; a slice, mask or list of positions gives Draws."""
        if isinstance(index, (int, np.integer)) and not isinstance(index, bool):
            if not -self.n_draws <= index < self.n_draws:
                raise IndexError(f"draw {index} was asked for; there are {self.n_draws:,}.")
            at = int(index) % self.n_draws
            row: NDArray[np.unsignedinteger[Any]] = self.labels_at(slice(at, at + 1))[0]
            return row
        chosen = index if isinstance(index, slice) else plain_array(index, "positions of draws")
        if not isinstance(chosen, slice) and (chosen.ndim != 1 or chosen.dtype.kind not in "iub"):
            raise InvalidInputError(
                f"draws[{index!r}]: draws are picked by a position, a slice, a mask or a list of "
                "positions. For items see select_items.",
                argument="index",
            )
        if np.arange(self.n_draws)[chosen].size == 0:
            raise InvalidInputError("no draws selected; at least one is needed.", argument="index")
        return self._take(chosen)

    def __repr__(self) -> str:
        low, high = int(self._n_clusters.min()), int(self._n_clusters.max())
        clusters = span(low, high, "cluster") + (" each" if low == high else "")
        parts = [self._counted(), clusters]
        if self._chain is not None:
            parts.append(counted(self.n_chains, "chain"))
        if self._weights is not None:
            parts.append("weighted")
        if self._item_names is not None:
            parts.append("named items")
        return f"<Draws: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        low, high = int(self._n_clusters.min()), int(self._n_clusters.max())
        one = words(self._kind).draw
        lines = [
            ("clusters", f"{low:,} to {high:,} in a {one}"),
            (f"first {one}", self._shown(0)),
        ]
        if self.n_draws > 1:
            lines.append((f"last {one}", self._shown(self.n_draws - 1)))
        if self._chain is not None:
            lines.append(("chains", f"{self.n_chains:,}"))
        if self._weights is not None:
            lines.append(("weights", f"{self._weights.min():.3g} to {self._weights.max():.3g}"))
        if self._item_names is not None:
            lines.append(("items", ", ".join(self._item_names[:6]) + " …" * (self.n_items > 6)))
        return html.title(self._counted()) + html.facts(lines)

    def _counted(self) -> str:
        own = counted(self.n_draws, words(self._kind).draw)
        return f"{own} of {counted(self.n_items, 'item')}"

    def _shown(self, row: int) -> str:
        return " ".join(map(str, self[row][:20].tolist())) + " …" * (self.n_items > 20)

    # ------------------------------------------------------------------ selection

    def _take(self, index: Any) -> Draws:
        return self._with(
            labels=self.rows_kept(index),
            counts=self._n_clusters[index],
            weights=None if self._weights is None else self._weights[index],
            chain=None if self._chain is None else self._chain[index],
        )

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
        ``n_effective`` of the result says how many draws are left. They are no longer draws of
        the posterior: their ``kind`` is "tilted", and everything made of them speaks of shares of
        the tilted weight, not of probability. Cost O(M·N).

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
        from partita.partitions.functionals import entropy_weights

        weights = entropy_weights(self, by, strength)
        tilted = self._kind == "posterior" and strength != 0
        return self._with(weights=weights, kind="tilted" if tilted else self._kind)

    def drop(self, n: int) -> Draws:
        """Without the first n draws of each chain (burn-in)."""
        n = whole(n, "n", least=0)
        keep = positions_in_chain(self._chain, self.n_draws) >= n
        if not keep.any():
            there = f"{self.n_draws} draws in {self.n_chains} chain(s)"
            said = f"dropping {n} draws of each chain leaves nothing: there are {there}."
            raise InvalidInputError(said, argument="n")
        return self._take(keep)

    def thin(self, step: int) -> Draws:
        """Every step-th draw of each chain, from its first."""
        step = min(whole(step, "step", least=1), self.n_draws)
        return self._take(positions_in_chain(self._chain, self.n_draws) % step == 0)

    def select_chains(self, chains: ArrayLike) -> Draws:
        """Only the draws of the named chains."""
        return self._take(in_chains(chains, self._chain))

    def select_items(self, items: ArrayLike) -> Draws:
        """The same draws restricted to some items, given by position, mask or name."""
        columns = self.item_positions(items)
        labels: Stored
        if isinstance(self._labels, RemoteLabels):
            labels, counts = self._labels.columns(columns)
        else:
            labels, counts = canonicalise(self._labels, columns)
        names = self._item_names
        chosen = None if names is None else [names[i] for i in columns.tolist()]
        return self._with(labels=labels, counts=counts, item_names=chosen)

    def item_positions(self, items: ArrayLike) -> NDArray[np.int64]:
        """Positions of items given by position, mask or name; each may appear once."""
        return item_positions(items, self.n_items, self._item_names)

    @staticmethod
    def concat(parts: Sequence[Draws]) -> Draws:
        """One Draws from several of the same items, each keeping its share of the mass.

        Chain ids are kept when every part has them and they do not clash;
        otherwise each part becomes a chain (or chains) of its own. Weighted and
        unweighted parts mix: a part's mass is its share of all draws. Parts are
        of one kind; runs of an ensemble get no chains.
        """
        fields = joined(parts)
        return parts[0]._with(**fields)

    def unique(self) -> Draws:
        """Each distinct partition once, in order of first appearance, with its mass as weight.

        Chain ids are dropped: a merged draw may come from several chains.
        """
        return self.merged(*self.unique_index())

    def merged(self, index: NDArray[np.int64], mass: NDArray[np.float64]) -> Draws:
        """The distinct partitions from what ``unique_index`` returned."""
        rows = np.arange(self.n_draws)
        first = np.empty(mass.size, np.int64)
        first[index[::-1]] = rows[::-1]  # of equal draws the last one written stays: the first
        all_differ = mass.size == self.n_draws
        labels = self._labels if all_differ else self.rows_kept(first)
        return self._with(labels=labels, counts=self._n_clusters[first], weights=mass, chain=None)

    def unique_index(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Number of each draw's partition among the distinct ones, and their masses.

        Found once: most questions about the same draws begin here.
        """
        if self._numbered is None:
            from partita.partitions.distinct import number_distinct

            index = number_distinct(self)
            mass = np.bincount(index, weights=self.probabilities)
            object.__setattr__(self, "_numbered", (frozen(index), frozen(mass)))
        assert self._numbered is not None
        return self._numbered
