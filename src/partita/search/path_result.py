"""What the price path reports: every optimal partition, and how firmly each stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._result import Result
from partita._validate import number, unexpected, whole
from partita._wording import roughly
from partita.errors import InvalidInputError
from partita.kernels.arrays import Floats
from partita.losses.base import Loss
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels, as_labels
from partita.partitions.numbering import data_frame
from partita.partitions.types import LabelsLike
from partita.search.result import PROVEN

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Corner(Result):
    """One optimal partition of a path. Made by iterating over a :class:`PricePath`.

    Attributes
    ----------
    labels : ndarray of int32, shape (n_items,)
        Labels by size.
    n_clusters : int
    low, high : float
        The prices between which it is optimal.
    splitting, merging : float
        Its A and B: its expected loss for splitting and for merging true clusters.
    is_proven : bool
        Whether it is proven optimal from low to high.
    """

    labels: Labels
    n_clusters: int
    low: float
    high: float
    splitting: float
    merging: float
    is_proven: bool


@dataclass(frozen=True, repr=False)
class Stability(Result):
    """Over which prices a partition is optimal, and what it loses elsewhere.

    Attributes
    ----------
    low, high : float
        The prices between which it is optimal, which may be one; NaN where it never is.
    splitting, merging : float
        Its A and B: its expected loss at price a is a·A + (2 − a)·B.
    """

    low: float
    high: float
    splitting: float
    merging: float
    _path: PricePath = field(repr=False, compare=False)

    @property
    def is_optimal(self) -> bool:
        """Whether it is optimal for some price of the path."""
        return not np.isnan(self.low)

    @property
    def in_words(self) -> str:
        """Over which prices of splitting it is optimal, after "the estimate is"."""
        if self.low == self.high:
            return f"optimal at the price of splitting {self.low:.2f} only"
        if self.is_optimal:
            return f"optimal for prices of splitting from {self.low:.2f} to {self.high:.2f}"
        path = self._path
        whole = (path.low, path.high) == (0.0, 2.0)
        between = "" if whole else f" from {path.low:g} to {path.high:g}"
        price, more = path.loss.price, 0.0
        if path.low <= price <= path.high and (best := float(path.expected(price))) > 0.0:
            more = self.excess(price) / (best + self.excess(price))
        less = f"; at its own price the path has one that costs {roughly(more)} less"
        return f"optimal at no price of splitting{between}{less if more else ''}"

    def excess(self, a: float) -> float:
        """By how much it loses against the optimum at a price, in the unit of the loss."""
        a = number(a, "a", "a price")
        own = a * self.splitting + (2.0 - a) * self.merging
        return max(0.0, own - float(self._path.expected(a)))


@dataclass(frozen=True, eq=False, repr=False)
class PricePath(Result):
    """Every partition that is optimal for some price a, in order of increasing a.

    Attributes
    ----------
    labels : ndarray of int32, shape (n, n_items), read-only
        The corners, each with labels by size.
    n_clusters : ndarray of int, shape (n,)
    breakpoints : ndarray of float, shape (n − 1,)
        Prices at which the optimum changes.
    splitting, merging : ndarray of float, shape (n,)
        A and B of each corner: its expected loss is a·A + (2 − a)·B.
    low, high : float
        Prices between which the path was sought.
    lower_bounds : ndarray of float, shape (n − 1,), or None
        No partition has a lower expected loss at the breakpoints.
    loss : Loss
    n_seen : int
        Partitions that were compared.
    seconds : float
    interrupted : bool
        Whether the time limit or Ctrl-C ended the search: corners may be missing.
    item_names : tuple of str, or None

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 2], [0, 0, 0, 1, 1, 1],
    ...          [0, 0, 1, 1, 1, 1], [0, 1, 1, 2, 2, 2]]
    >>> path = pt.price_path(draws)
    >>> path.n_clusters
    array([6, 4, 3, 2, 1])
    >>> path.breakpoints.round(3)
    array([0.4  , 0.51 , 1.014, 1.655])
    >>> path.at(1.0)
    array([1, 1, 2, 0, 0, 0], dtype=int32)
    """

    labels: NDArray[np.int32]
    n_clusters: NDArray[np.int64]
    breakpoints: NDArray[np.float64]
    splitting: NDArray[np.float64]
    merging: NDArray[np.float64]
    low: float
    high: float
    lower_bounds: NDArray[np.float64] | None
    loss: Loss
    n_seen: int
    seconds: float
    interrupted: bool
    item_names: tuple[str, ...] | None = None
    _draws: Draws | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Corner]:
        edges = np.concatenate(([self.low], self.breakpoints, [self.high]))
        proven = self.is_proven
        for j in range(len(self)):
            yield Corner(
                self.labels[j],
                int(self.n_clusters[j]),
                float(edges[j]),
                float(edges[j + 1]),
                float(self.splitting[j]),
                float(self.merging[j]),
                bool(proven[j]),
            )

    # ------------------------------------------------------------------ along the path

    def expected(self, a: ArrayLike) -> NDArray[np.float64]:
        """The lowest expected loss at each price: concave and piecewise linear."""
        prices = self._price(a)
        losses = np.multiply.outer(prices, self.splitting)
        losses += np.multiply.outer(2.0 - prices, self.merging)
        return np.asarray(losses.min(axis=-1))

    def at(self, a: float) -> Labels:
        """The optimal labels at a price; at a breakpoint, those that hold above it."""
        price = float(self._price(number(a, "a", "a price")))
        place = int(np.searchsorted(self.breakpoints, price, side="right"))
        return np.asarray(self.labels[place])

    def for_clusters(self, k: int) -> Labels | None:
        """The labels with k clusters that hold over the widest range of prices.

        None where no price gives k clusters; :meth:`neighbours` then names the
        corners on both sides, and ``estimate(draws, n_clusters=k)`` finds the
        best partition of that number all the same.
        """
        k = whole(k, "k", least=1)
        having = [c for c in self if c.n_clusters == k]
        return max(having, key=lambda c: c.high - c.low).labels if having else None

    def neighbours(self, k: int) -> tuple[Corner | None, Corner | None]:
        """The corners with the next more and the next fewer clusters than k."""
        k = whole(k, "k", least=1)
        more = [c for c in self if c.n_clusters > k]
        fewer = [c for c in self if c.n_clusters < k]
        return (
            min(more, key=lambda c: c.n_clusters, default=None),
            max(fewer, key=lambda c: c.n_clusters, default=None),
        )

    def stability(self, labels: LabelsLike) -> Stability:
        """Over which prices a partition stays optimal, and what it loses elsewhere."""
        from partita.search.path_search import costs

        if self._draws is None:
            raise InvalidInputError("this path was made without draws, so it can measure nothing.")
        mine = as_labels(labels, n_items=self.labels.shape[1])
        ((splitting, merging),) = costs(self._draws, self.loss, [mine])
        edges = np.concatenate(([self.low], self.breakpoints, [self.high]))
        own = edges * splitting + (2.0 - edges) * merging
        best = self.expected(edges)
        ties = np.flatnonzero(own <= best + 1e-10 * best + 1e-13)
        low, high = (edges[ties[0]], edges[ties[-1]]) if ties.size else (np.nan, np.nan)
        return Stability(float(low), float(high), splitting, merging, self)

    def _price(self, a: ArrayLike) -> Floats:
        try:
            prices = np.asarray(a, np.float64)
        except (TypeError, ValueError):  # how NumPy says that these are no numbers
            prices = np.array(np.nan)
        if not ((prices >= self.low) & (prices <= self.high)).all():
            between = f"prices between {self.low:g} and {self.high:g}, where this path was sought"
            raise unexpected(a, "a", between)
        return prices

    # ------------------------------------------------------------------ proof

    @property
    def gap(self) -> float | None:
        """The largest relative gap along the path; 0 where every corner is proven.

        The optimum is concave in a, so lower bounds at the breakpoints bound
        it everywhere between them.
        """
        if self.lower_bounds is None:
            return None
        return float(self._gaps().max(initial=0.0))

    @property
    def is_proven(self) -> NDArray[np.bool_]:
        """Which corners are proven optimal over all of their prices, shape (n,)."""
        if self.lower_bounds is None:
            return np.zeros(len(self), bool)
        sure = np.concatenate(([True], self._gaps() == 0.0, [True]))
        return sure[:-1] & sure[1:]

    def _gaps(self) -> Floats:
        assert self.lower_bounds is not None
        best = self.expected(self.breakpoints)
        gaps = (best - self.lower_bounds) / np.maximum(best, 1e-300)
        return np.where(gaps <= PROVEN, 0.0, gaps)

    # ------------------------------------------------------------------ shown

    def to_frame(self) -> pd.DataFrame:
        """One row for each corner: clusters, prices, A, B, proof, as a pandas table."""
        names = ("n_clusters", "low", "high", "splitting", "merging", "is_proven")
        return data_frame({n: [getattr(c, n) for c in self] for n in names}, of="the path")

    def _rows(self) -> list[tuple[str, str, str]]:
        shown = []
        for c in self:
            sizes = ", ".join(str(s) for s in np.bincount(c.labels)[:8])
            more = ", …" if c.n_clusters > 8 else ""
            shown.append((f"{c.low:.4f} – {c.high:.4f}", str(c.n_clusters), sizes + more))
        return shown

    def _head(self) -> str:
        gap = self.gap
        proof = "no proof" if gap is None else f"largest gap {roughly(gap)}"
        if gap == 0.0:
            proof = "proven"
        cut = ", cut short: corners may be missing" if self.interrupted else ""
        return f"{len(self)} optimal partitions under {self.loss.title}, {proof}{cut}"

    def __repr__(self) -> str:
        return f"<PricePath: {self._head()}>"

    def __str__(self) -> str:
        lines = [self._head(), f"{'price a':>19}  clusters  sizes"]
        lines += [f"{prices:>19}  {k:>8}  {sizes}" for prices, k, sizes in self._rows()[:40]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{prices}</td><td>{k}</td><td>{escape(sizes)}</td></tr>"
            for prices, k, sizes in self._rows()
        )
        head = "<tr><th>price a</th><th>clusters</th><th>sizes</th></tr>"
        return f"<table><caption>{escape(self._head())}</caption>{head}{rows}</table>"
