"""The price path: every partition that is optimal for some price of splitting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._progress import Status
from partita._resources import count_jobs
from partita._result import Page, Result, Table
from partita._tolerance import DISTANCE, LAST_DIGITS, SUM
from partita._validate import Rng, choice_or_none, integer, number, seconds, unexpected
from partita._wording import roughly
from partita.draws import Draws, as_draws, is_features
from partita.errors import InvalidInputError, NotSupportedError
from partita.features.draws import FeatureDraws, as_features
from partita.kernels.arrays import Floats
from partita.labels import DrawsLike, Labels, LabelsLike, as_labels, by_size, canonical, data_frame
from partita.losses.base import Loss
from partita.losses.evaluate import as_loss, loss_for, loss_names
from partita.scan import gather_for
from partita.search import settings
from partita.search.blockwise import single_moves
from partita.search.bounds import lower_bound
from partita.search.exact import every_partition, mean_sum_losses
from partita.search.linkage import priced_cuts
from partita.search.multistart import (
    LocalMinimum,
    Multistart,
    StartPoint,
    exploration_problem,
    sample_draws,
)
from partita.search.problem import Problem, co_member_work, cost_per_item
from partita.search.result import PROVEN
from partita.search.task import (
    Task,
    run_interruptible,
    run_interruptible_parallel,
    tie_threshold,
    unconstrained_task,
)

if TYPE_CHECKING:
    import pandas as pd

    from partita.features.price_path import FeaturePath

PRICES = (0.5, 1.5)
"""Two prices at which the expected loss tells A and B."""

EXPLORED = (0.6, 1.0, 1.4)
"""Prices at which the path is begun by a whole search, as well as at ends inside of 0 and 2."""

WINDOWS = ((0.8, 1.2), (0.6, 1.4), (0.4, 1.6), (0.2, 1.8), (0.1, 1.9), (0.0, 2.0))
"""The path is completed between these prices, one after the other."""

PATH_CELLS, BATCH = 1e10, 32
"""Table cells read, about ten seconds of one core, after which no further descents begin unless
there is a time limit, and descents between two checks of that."""

NEAR = 0.02
"""How far above the path on a sample, relative to it, a partition may be to be put to all draws."""

DISSOLVED = 6
"""Clusters of several items, at most, of a corner whose clusters are dissolved one by one."""

CHECKED_CELLS = 80_000_000
"""Draws × items × clusters, at most, of a corner that is looked at on all draws."""

DISSOLVED_DRAWS, NEARLY = 1_000, 1e-4
"""Draws on which dissolved clusters are tried, and how far above the path, relative to it, they
may come there to be put to all draws."""

MANY, WORTH = 32, 1e-4
"""With more than MANY clusters, descents on a sample move single items only, and begin only at
crossings where at least the share WORTH of the loss could be won."""

_SHOWN = 32
"""Corners that ``print`` shows."""


@overload
def price_path(
    draws: FeatureDraws,
    *,
    loss: str | Loss | None = None,
    low: float = 0.0,
    high: float = 2.0,
    n_starts: int = 16,
    bound: Literal["auto", "fast", "tight"] | None = "fast",
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    rng: Rng | None = None,
) -> FeaturePath: ...


@overload
def price_path(
    draws: DrawsLike,
    *,
    loss: str | Loss | None = None,
    low: float = 0.0,
    high: float = 2.0,
    n_starts: int = 16,
    bound: Literal["auto", "fast", "tight"] | None = "fast",
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    rng: Rng | None = None,
) -> PricePath: ...


def price_path(
    draws: DrawsLike | FeatureDraws,
    *,
    loss: str | Loss | None = None,
    low: float = 0.0,
    high: float = 2.0,
    n_starts: int = 16,
    bound: Literal["auto", "fast", "tight"] | None = "fast",
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    rng: Rng | None = None,
) -> PricePath | FeaturePath:
    r"""Find every partition that is optimal for some price of splitting.

    For a loss with a price the posterior expected loss of a partition c is

    .. math:: a\,A(c) + (2 - a)\,B(c)

    with A the expected loss for splitting true clusters and B for merging
    them. The optimum :math:`g(a) = \min_c` is concave and piecewise linear,
    and the partitions that are optimal for some a are the corners of the lower
    convex hull of the points (A, B). The search solves at the crossing of two
    neighbours, again and again until nothing lower is found, from a = 1 outwards.

    Choose it to see whether another weighting of the two errors would give
    another number of clusters, and how firmly an estimate stands.

    Parameters
    ----------
    draws : Draws, array_like or path
        Anything :func:`as_draws` accepts, or FeatureDraws, whose path is a FeaturePath: there a is
        the price of a claimed membership that is not true, and prices within 0.1 of 0 and 2 are
        left out. Equal draws are merged first.
    loss : str or Loss, optional
        A loss with a price: "vi" (the default), "binder", :class:`Entropy`, :class:`Additive`;
        "faro" for FeatureDraws. Its own price does not matter.
    low, high : float
        Prices between which the path is sought; all of 0 to 2 by default. Low
        prices, where clusters are many, take longest.
    n_starts : int, default 16
        Most starts of the searches that the path begins with.
    bound : "auto", "fast", "tight" or None, default "fast"
        How hard to prove lower bounds at the breakpoints and at both ends, as in
        :func:`estimate`, at each of them.
    time_limit : float, optional
        Seconds after which the path found so far is returned. Without one no search
        begins after 10^10 table cells have been read, about ten seconds of one
        core. Where the search ended before ``low`` or ``high``, the ``low`` and
        ``high`` of the result say how far it came, and ``limits`` why.
    n_jobs : int, optional
        Threads, every core by default. The answer does not depend on it.
    progress : bool, optional
        Show progress; by default on a terminal, after two seconds.
    rng : int, SeedSequence or Generator, optional
        The same rng gives the same answer. A fixed one by default.

    Returns
    -------
    PricePath

    Notes
    -----
    About two searches for each breakpoint on a sample of the draws, each a few
    sweeps of O(M N K); then all single moves of every corner on all draws. Where
    draws × items × clusters exceed 80 million, corners are only measured on all
    draws: with thousands of draws the corners of very low prices, mostly single
    items, may then be missed or lie a percent above the optimum. Up to 10 items
    all partitions are compared, and the path is proven. k along Binder's path
    need not fall with a. A corner is proven only where the bounds at both of its
    ends are; for a = 0 and a = 2 the meet and the join of all draws are optimal.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis: Point
    estimation and credible balls. Bayesian Analysis 13.
    Dahl, D. B., Johnson, D. J. and Müller, P. (2022), Search algorithms and
    loss functions for Bayesian clustering. Journal of Computational and
    Graphical Statistics 31.

    Examples
    --------
    >>> import partita as pt
    >>> path = pt.price_path([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
    >>> path.n_clusters
    array([3, 2, 1])
    >>> path.gap
    0.0
    """
    if is_features(draws):
        from partita.features.price_path import feature_path

        features = as_features(draws)
        return feature_path(
            features,
            loss_for(loss, features),
            *clean_prices(low, high),
            n_starts=integer(n_starts, "n_starts", least=1),
            bound=choice_or_none(bound, "bound", ("auto", "fast", "tight")),
            time_limit=time_limit,
            n_jobs=n_jobs,
            progress=progress,
            rng=rng,
        )
    measure = as_loss("vi" if loss is None else loss)
    if not measure.has_price:
        raise NotSupportedError(
            f"{measure!r} has no price of splitting, so it has no path; losses that have: "
            f"{loss_names(lambda known: known.has_price)}, Entropy(…), Additive(…).",
            argument="loss",
        )
    bound = choice_or_none(bound, "bound", ("auto", "fast", "tight"))
    low, high = clean_prices(low, high)
    time_limit = seconds(time_limit)
    count_jobs(n_jobs)
    given = as_draws(draws)
    with Status("price path", progress) as status:
        given = gather_for(given, "price_path", status.say)
        starts = integer(n_starts, "n_starts", least=1)
        task = unconstrained_task(
            given.unique(), measure, starts, n_jobs, rng, time_limit, status.say
        )
        return _path(task, given, low, high, bound)


def clean_prices(low: float, high: float) -> tuple[float, float]:
    """The prices between which a path is sought, validated."""
    low, high = number(low, "low"), number(high, "high")
    if not 0.0 <= low < high <= 2.0:
        raise InvalidInputError(
            f"low={low!r}, high={high!r}; expected 0 ≤ low < high ≤ 2.", argument="low"
        )
    return low, high


def _path(task: Task, given: Draws, low: float, high: float, bound: str | None) -> PricePath:
    assert task.draws is not None
    exact = task.n_items <= settings.EXACT_ITEMS
    if exact:
        points = _every_point(task.draws, task.loss)
    else:
        pool, low, high = _search_path(task, low, high)
        points = list(pool.values())
    corners, breaks = lower_hull(points, low, high)
    cut_short = task.clock.interrupted
    edges, best = _lowest(corners, breaks, low, high)
    bounds = best if exact else None
    if bound is not None and not exact:
        bounds = _proven(task, corners, edges, bound)
    labels = by_size(np.stack([c.labels for c in corners]))
    return PricePath(
        labels=labels,
        n_clusters=labels.max(axis=1).astype(np.int64) + 1,
        breakpoints=np.array(breaks, np.float64),
        splitting=np.array([c.splitting for c in corners]),
        merging=np.array([c.merging for c in corners]),
        low=low,
        high=high,
        lower_bounds=None if bounds is None else bounds[1:-1],
        loss=task.loss,
        n_seen=len(points),
        seconds=task.clock.seconds,
        interrupted=cut_short,
        item_names=given.item_names,
        end_bounds=(0.0, 0.0) if bounds is None else (float(bounds[0]), float(bounds[-1])),
        limits=tuple(task.log.limits),
        _draws=task.draws,
    )


def _proven(task: Task, corners: list[Point], edges: Floats, bound: str) -> Floats:
    """Lower bounds at the breakpoints and at both ends; 0 where time has run out.

    For a = 0 and a = 2 that is all there is to prove: the lowest loss is 0.
    """
    bounds = np.zeros(edges.size)
    for j, a in enumerate(edges.tolist()):
        corner = corners[min(j, len(corners) - 1)]
        value = corner.at(a)
        if value <= rounding_tolerance(corner.splitting + corner.merging):
            continue
        if task.clock.is_up():
            break
        at = task.under(task.loss.with_price(a))
        prove = partial(lower_bound, at, corner.labels, value, bound)
        found = run_interruptible(task, prove, f"proving price {j + 1} of {edges.size}")
        bounds[j] = 0.0 if found is None else min(found, value)
    return bounds


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

    Optimal means here that the path has none better; ``is_proven`` says whether there is none.

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
    def is_proven(self) -> bool:
        """Whether it is proven optimal for these prices; otherwise the path has none better."""
        return self.is_optimal and self._path.proven_between(self.low, self.high)

    @property
    def in_words(self) -> str:
        """Over which prices of splitting it is optimal, after "the estimate is"."""
        claim = "optimal" if self.is_proven else "the best found"
        if self.low == self.high:
            return f"{claim} at the price of splitting {self.low:.2f} only"
        if self.is_optimal:
            return f"{claim} for prices of splitting from {self.low:.2f} to {self.high:.2f}"
        path = self._path
        whole = (path.low, path.high) == (0.0, 2.0)
        between = "" if whole else f" from {path.low:g} to {path.high:g}"
        price, more = path.loss.price, 0.0
        if path.low <= price <= path.high and (best := float(path.expected(price))) > 0.0:
            more = self.excess(price) / (best + self.excess(price))
        less = f"; at its own price the path has one that costs {roughly(more)} less"
        return f"optimal at no price of splitting{between}{less if more else ''}"

    def excess(self, a: float) -> float:
        """Its expected loss minus the lowest at a price, in the unit of the loss."""
        a = number(a, "a", "a price")
        own = a * self.splitting + (2.0 - a) * self.merging
        return max(0.0, own - float(self._path.expected(a)))


class AnyPath(Result):
    """Base class of the price paths of partitions and of feature allocations."""

    breakpoints: Floats
    low: float
    high: float
    lower_bounds: Floats | None
    loss: Loss
    interrupted: bool
    limits: tuple[str, ...]

    _called: ClassVar[str]
    """What a corner is called."""
    _names: ClassVar[tuple[str, str, str]]
    """Attributes with the numbers of parts, A and B of the corners."""
    _columns: ClassVar[tuple[str, ...]]

    def _rows(self) -> list[tuple[str, ...]]:
        """Return the corners as text, in these columns."""
        raise NotImplementedError

    @property
    def _points(self) -> Any:
        """The corners."""
        raise NotImplementedError

    @property
    def _costs(self) -> tuple[Floats, Floats]:
        """A and B of each corner: its expected loss is a·A + (2 − a)·B."""
        _, first, second = self._names
        return getattr(self, first), getattr(self, second)

    @property
    def _bounds(self) -> Floats:
        """Lower bounds at both ends and at the breakpoints, where any were sought."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._points)

    @property
    def _edges(self) -> Floats:
        """The breakpoints with both ends."""
        return np.concatenate(([self.low], self.breakpoints, [self.high]))

    def expected(self, a: ArrayLike) -> NDArray[np.float64]:
        """The lowest expected loss at each price: concave and piecewise linear."""
        prices, (first, second) = self._price(a), self._costs
        losses = np.multiply.outer(prices, first)
        losses += np.multiply.outer(2.0 - prices, second)
        return np.asarray(losses.min(axis=-1))

    def _at(self, a: float) -> Any:
        price = float(self._price(number(a, "a", "a price")))
        return self._points[int(np.searchsorted(self.breakpoints, price, side="right"))]

    def _price(self, a: ArrayLike) -> Floats:
        try:
            prices = np.asarray(a, np.float64)
        except (TypeError, ValueError):  # NumPy's errors for what is not numbers
            prices = np.array(np.nan)
        if not ((prices >= self.low) & (prices <= self.high)).all():
            between = f"prices between {self.low:g} and {self.high:g}, where this path was sought"
            raise unexpected(a, "a", between)
        return prices

    @property
    def gap(self) -> float | None:
        """The largest relative gap along the path; 0 where every corner is proven.

        The optimum is concave in a, so lower bounds at the breakpoints and at both ends bound it
        everywhere between them, and the gap is largest at one of them.
        """
        if self.lower_bounds is None:
            return None
        return float(self._gaps().max())

    @property
    def is_proven(self) -> NDArray[np.bool_]:
        """Which corners are proven optimal over all of their prices, shape (n,)."""
        if self.lower_bounds is None:
            return np.zeros(len(self), bool)
        proven = self._gaps() == 0.0
        return np.asarray(proven[:-1] & proven[1:])

    def _gaps(self) -> Floats:
        """Relative gaps at the breakpoints and at both ends."""
        best, bounds = self.expected(self._edges), self._bounds
        # At a price of 0 or 2 a loss of 0 may be rounded.
        rounding = PROVEN * best + rounding_tolerance(float(best.max()))
        gaps = (best - bounds) / np.maximum(best, 1e-300)
        return np.where(best - bounds <= rounding, 0.0, gaps)

    def to_frame(self) -> pd.DataFrame:
        """One row for each corner: number of parts, prices, A, B, proof, as a pandas table."""
        number, first, second = self._names
        columns = {
            number: getattr(self, number),
            "low": self._edges[:-1],
            "high": self._edges[1:],
            first: getattr(self, first),
            second: getattr(self, second),
            "is_proven": self.is_proven,
        }
        return data_frame(columns, of="the path")

    def _head(self) -> str:
        gap = self.gap
        proof = "no proof" if gap is None else f"largest gap {roughly(gap)}"
        if gap == 0.0:
            proof = "proven"
        cut = ", cut short: corners may be missing" if self.interrupted else ""
        whole_path = (self.low, self.high) == (0.0, 2.0)
        between = "" if whole_path else f" for prices from {self.low:g} to {self.high:g}"
        best = f"optimal {self._called}s" if gap == 0.0 else f"best {self._called}s found"
        return f"{len(self)} {best} under {self.loss.title}{between}, {proof}{cut}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._head()}>"

    def __str__(self) -> str:
        widths = (19, *map(len, self._columns[1:-1]), 0)
        lines = [
            "  ".join(map(str.rjust, cells, widths)) for cells in (self._columns, *self._rows())
        ]
        # Where there are many, those around the price 1, which is where people report from.
        at = int(np.searchsorted(self.breakpoints, 1.0))
        start = max(0, min(at - _SHOWN // 2, len(self) - _SHOWN))
        stop = min(start + _SHOWN, len(self))
        shown = [self._head(), lines[0]]
        shown += [f"{'…':>19}  {start:,} at lower prices"] if start else []
        shown += lines[1 + start : 1 + stop]
        shown += [f"{'…':>19}  {len(self) - stop:,} at higher prices"] if stop < len(self) else []
        return "\n".join([*shown, *(f"limit: {limit}" for limit in self.limits)])

    def _page(self) -> Page:
        return Page(
            self._head(), tables=[Table("", self._columns, tuple(self._rows()))], notes=self.limits
        )


@dataclass(frozen=True, eq=False, repr=False)
class PricePath(AnyPath):
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
        Prices between which the path was sought: those asked for, or how far it came.
    lower_bounds : ndarray of float, shape (n − 1,), or None
        No partition has a lower expected loss at the breakpoints.
    end_bounds : tuple of float
        The same at ``low`` and ``high``; 0 where nothing was proven, or nothing but 0 can be.
    loss : Loss
    n_seen : int
        Partitions that were compared.
    seconds : float
    interrupted : bool
        Whether the time limit or Ctrl-C ended the search: corners may be missing.
    item_names : tuple of str, or None
    limits : tuple of str
        Limits that were binding, in words; empty when none was.

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
    end_bounds: tuple[float, float] = (0.0, 0.0)
    limits: tuple[str, ...] = ()
    _draws: Draws | None = field(default=None, repr=False)

    _called: ClassVar[str] = "partition"
    _names: ClassVar[tuple[str, str, str]] = ("n_clusters", "splitting", "merging")
    _columns: ClassVar[tuple[str, ...]] = ("price a", "clusters", "sizes")

    @property
    def _points(self) -> NDArray[np.int32]:
        return self.labels

    @property
    def _bounds(self) -> Floats:
        low, high = self.end_bounds
        return np.concatenate(([low], np.asarray(self.lower_bounds), [high]))

    def __iter__(self) -> Iterator[Corner]:
        edges, proven = self._edges, self.is_proven
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

    def at(self, a: float) -> Labels:
        """The optimal labels at a price; at a breakpoint, those that hold above it."""
        return np.asarray(self._at(a))

    def for_clusters(self, k: int) -> Labels | None:
        """The labels with k clusters that hold over the widest range of prices.

        None where no price gives k clusters; :meth:`neighbours` then names the
        corners on both sides, and ``estimate(draws, n_clusters=k)`` finds the
        best partition of that number all the same.
        """
        k = integer(k, "k", least=1)
        having = [c for c in self if c.n_clusters == k]
        return max(having, key=lambda c: c.high - c.low).labels if having else None

    def neighbours(self, k: int) -> tuple[Corner | None, Corner | None]:
        """The corners with the next more and the next fewer clusters than k."""
        k = integer(k, "k", least=1)
        more = [c for c in self if c.n_clusters > k]
        fewer = [c for c in self if c.n_clusters < k]
        return (
            min(more, key=lambda c: c.n_clusters, default=None),
            max(fewer, key=lambda c: c.n_clusters, default=None),
        )

    def stability(self, labels: LabelsLike) -> Stability:
        """Over which prices a partition stays optimal, and what it loses elsewhere."""
        if self._draws is None:
            raise InvalidInputError(
                "this path was made without draws, so it cannot measure a partition."
            )
        mine = as_labels(labels, n_items=self.labels.shape[1])
        ((splitting, merging),) = costs(self._draws, self.loss, [mine])
        edges = self._edges
        own = edges * splitting + (2.0 - edges) * merging
        best = self.expected(edges)
        ties = np.flatnonzero(own <= best + DISTANCE * best + LAST_DIGITS)
        low, high = (edges[ties[0]], edges[ties[-1]]) if ties.size else (np.nan, np.nan)
        return Stability(float(low), float(high), splitting, merging, self)

    def proven_between(self, low: float, high: float) -> bool:
        """Whether the path is proven optimal at all breakpoints and ends from low to high."""
        edges = self._edges
        inside = (edges >= low) & (edges <= high)
        return self.lower_bounds is not None and not self._gaps()[inside].any()

    def _rows(self) -> list[tuple[str, ...]]:
        shown: list[tuple[str, ...]] = []
        for c in self:
            sizes = ", ".join(str(s) for s in np.bincount(c.labels)[:8])
            more = ", …" if c.n_clusters > 8 else ""
            shown.append((f"{c.low:.4f} – {c.high:.4f}", str(c.n_clusters), sizes + more))
        return shown


# ------------------------------------------------------------------ the search


class Point(NamedTuple):
    """A partition and its two costs."""

    labels: Labels
    splitting: float
    merging: float

    def at(self, a: float) -> float:
        """Its expected loss at a price."""
        return a * self.splitting + (2.0 - a) * self.merging


Pool = dict[bytes, Point]


def costs(draws: Draws, loss: Loss, rows: Sequence[Labels]) -> list[tuple[float, float]]:
    """A and B of each partition, from one expected loss.

    At price 1 that is A + B. A − B needs no intersections: it is what the
    partition is away from a single cluster, less what the draws are on average.
    """
    n = draws.n_items
    fair = loss.with_price(1.0)
    form, terms = fair.form(n), fair.terms(n)
    away = fair.expected(np.zeros(n, np.int32), draws) if len(rows) else 0.0
    found = []
    for labels in rows:
        own = float(terms[np.bincount(labels)].sum())
        total, less = fair.expected(labels, draws), form.combine(own, own, float(terms[n])) - away
        # Neither cost is negative; rounding might be.
        found.append((max(0.0, (total + less) / 2.0), max(0.0, (total - less) / 2.0)))
    return found


def _every_point(draws: Draws, loss: Loss) -> list[Point]:
    """All partitions of few items that are not worse than another in both costs."""
    listed = every_partition(draws.n_items)
    below, above = (mean_sum_losses(draws, loss.with_price(a), listed) for a in PRICES)
    # E(1/2) = A/2 + 3B/2 and E(3/2) = 3A/2 + B/2. Neither cost is negative; rounding might be.
    both = np.maximum([3.0 * above - below, 3.0 * below - above], 0.0)
    # Rounded, so that the first of those that tie is kept whatever the last bits are.
    splitting, merging = np.round(both / both.max(), 11) if both.any() else both
    order = np.lexsort((splitting, merging))
    least = np.minimum.accumulate(splitting[order])
    kept = order[np.concatenate(([True], least[1:] < least[:-1]))]
    rows = [np.ascontiguousarray(row) for row in listed.labels[kept]]
    return [Point(row, *ab) for row, ab in zip(rows, costs(draws, loss, rows), strict=True)]


def _search_path(task: Task, low: float, high: float) -> tuple[Pool, float, float]:
    """Partitions that were met, with their costs on all draws, and the prices that were reached."""
    assert task.draws is not None
    problem, sample = exploration_problem(task)
    assert sample is not None
    looked = task.draws if task.by_similarity else sample
    search = _Search(task, problem, sample, looked, low, high)
    low, high = search.run()
    if looked is task.draws:
        return search.pool, low, high
    near = _near(search.pool, low, high)
    whole_pool: Pool = {}
    _add(whole_pool, task.draws, task.loss, near)
    _checked(task, whole_pool, low, high)
    return whole_pool, low, high


class _Search:
    """Descents at prices from 1 outwards, on draws that are cheap enough."""

    def __init__(
        self, task: Task, problem: Problem, sample: Draws, draws: Draws, low: float, high: float
    ) -> None:
        self.task, self.problem, self.sample, self.draws = task, problem, sample, draws
        self.low, self.high = low, high
        self.pool: Pool = {}
        self.cells = 0.0
        self.companions = co_member_work(problem)
        self.done: set[tuple[bytes, bytes | float]] = set()
        assert task.draws is not None
        self._add(_ends(task.draws))
        self._add(priced_cuts(task.on(sample), PRICES))

    def run(self) -> tuple[float, float]:
        """The prices between which the path was completed, or begun where none was."""
        inside = [a for a in (self.low, self.high) if 0.0 < a < 2.0]
        explored_at = sorted({*EXPLORED, *inside}, key=lambda a: abs(a - 1.0))
        reached: tuple[float, float] | None = None
        for low, high in self._windows():
            for a in [a for a in explored_at if low <= a <= high]:
                explored_at.remove(a)
                if not self.is_spent:
                    self._explore(a)
            self._complete(low, high)
            if self.is_spent:
                reached = (low, high) if reached is None else reached
                break
            reached = (low, high)
        assert reached is not None
        self._say_what_is_missing(*reached)
        return reached

    def _windows(self) -> list[tuple[float, float]]:
        """Prices between which the path is completed, each pair around the one before."""
        start = float(np.clip(1.0, self.low, self.high))
        found: list[tuple[float, float]] = []
        for low, high in WINDOWS:
            pair = (
                max(self.low, min(low, start - (1.0 - low))),
                min(self.high, max(high, start + (high - 1.0))),
            )
            if pair not in found:
                found.append(pair)
        return found if found[-1] == (self.low, self.high) else [*found, (self.low, self.high)]

    @property
    def is_spent(self) -> bool:
        """Whether time or work is used up."""
        clock = self.task.clock
        return clock.is_up() or (clock.deadline is None and self.cells > PATH_CELLS)

    def _say_what_is_missing(self, low: float, high: float) -> None:
        sides = [f"below {low:g}"] if low > self.low else []
        sides += [f"above {high:g}"] if high < self.high else []
        why = "time" if self.task.clock.is_up() else "work"
        more = "" if why == "time" else "; with time_limit=... the path goes on until then"
        if sides:
            self.task.log.limit(f"{why}: prices {' and '.join(sides)} were not reached{more}")
        elif self.is_spent:
            self.task.log.limit(f"{why}: not every crossing was searched{more}")

    def _add(self, rows: Sequence[Labels]) -> None:
        _add(self.pool, self.draws, self.task.loss, rows)

    def _explore(self, a: float) -> None:
        """A whole search at a price."""
        task = self.task
        at = task.under(task.loss.with_price(a))
        found = Multistart(at, _at_price(self.problem, task, a), self.sample).run()
        self._count(found[0].labels, at.log.n_evaluated)
        self._add([r.labels for r in found])

    def _count(self, labels: Labels, n_evaluated: int) -> None:
        clusters = int(labels.max()) + 1
        self.cells += n_evaluated * cost_per_item(self.problem, clusters, self.companions)

    def _complete(self, low: float, high: float) -> None:
        """Descend from both sides of every crossing, and from both ends, until none leads lower.

        On a sample, from one side where clusters are many: there descents are long and
        crossings close, and what is lowest on a sample is not what is lowest on all draws.
        """
        while work := self._open(low, high):
            for first in range(0, len(work), BATCH):
                if self.is_spent:
                    return
                self._descend(work[first : first + BATCH])

    def _open(self, low: float, high: float) -> list[tuple[float, Point, int]]:
        """Descents not tried yet: a price, a corner to begin at, rounds of cluster moves."""
        corners, breaks = lower_hull(list(self.pool.values()), low, high)
        edges, best = _lowest(corners, breaks, low, high)
        gains = _possible_gains(edges, best)
        work = []
        for p, q, a, gain in zip(corners[:-1], corners[1:], breaks, gains, strict=True):
            pair = (p.labels.tobytes(), q.labels.tobytes())
            few = self.draws is self.task.draws or q.labels.max() < MANY
            if pair not in self.done and (few or gain > WORTH):
                self.done.add(pair)
                work += [(a, p, settings.ROUNDS), (a, q, settings.ROUNDS)] if few else [(a, p, 0)]
        for a, corner in ((self.low, corners[0]), (self.high, corners[-1])):
            here = (corner.labels.tobytes(), a)
            if 0.0 < a < 2.0 and low <= a <= high and here not in self.done:
                self.done.add(here)
                work.append((a, corner, settings.ROUNDS))
        return work

    def _descend(self, work: list[tuple[float, Point, int]]) -> None:
        generators = self.task.rng.spawn(len(work))
        pieces = [(*piece, rng) for piece, rng in zip(work, generators, strict=True)]
        descend = partial(_descend_piece, self.task, self.problem)
        ends = run_interruptible_parallel(
            self.task, descend, pieces, f"price path, {len(self.pool):,} partitions"
        )
        for end in ends:
            self._count(end.labels, end.n_evaluated)
        self._add([end.labels for end in ends])


def _at_price(problem: Problem, task: Task, a: float) -> Problem:
    """Return the same tables with another price."""
    return problem._replace(form=task.loss.with_price(a).form(task.n_items))


def _add(pool: Pool, draws: Draws, loss: Loss, rows: Sequence[Labels]) -> None:
    """Put partitions into the pool."""
    new = {labels.tobytes(): labels for labels in rows if labels.tobytes() not in pool}
    measured = costs(draws, loss, list(new.values()))
    for (key, labels), both in zip(new.items(), measured, strict=True):
        pool[key] = Point(labels, *both)


def _checked(task: Task, pool: Pool, low: float, high: float) -> None:
    """Change single items and clusters of the corners while that leads below the path.

    The costs of a change do not depend on the price, so a corner is looked at once.
    """
    assert task.draws is not None
    some = sample_draws(task.draws, DISSOLVED_DRAWS, task.rng)
    room = CHECKED_CELLS / (task.draws.n_draws * task.n_items) - 1.0
    done: set[bytes] = set()
    while not task.clock.is_up():
        corners, breaks = lower_hull(list(pool.values()), low, high)
        fresh = [c for c in corners if c.labels.max() < room and c.labels.tobytes() not in done]
        if not fresh:
            return
        edges, best = _lowest(corners, breaks, low, high)
        found: list[Labels] = []
        for corner in fresh:
            done.add(corner.labels.tobytes())
            for moved in _improving_moves(task, corner, edges, best):
                pool.setdefault(moved.labels.tobytes(), moved)
            found += _dissolve_cluster(some, task.loss, corner, edges, best)
        _add(pool, task.draws, task.loss, found)


def _lowest(
    corners: list[Point], breaks: list[float], low: float, high: float
) -> tuple[Floats, Floats]:
    """The breakpoints with both ends of the path, and the lowest loss there."""
    edges = np.array([low, *breaks, high])
    splitting, merging = (np.array([c[j] for c in corners]) for j in (1, 2))
    losses = np.multiply.outer(edges, splitting) + np.multiply.outer(2.0 - edges, merging)
    return edges, losses.min(axis=1)


def _improving_moves(task: Task, corner: Point, prices: Floats, best: Floats) -> list[Point]:
    """The move of a single item that is lowest at each price, where it leads below the path."""
    found_losses = single_moves(task, corner.labels, [task.loss.with_price(a) for a in PRICES])
    if found_losses is None:
        return []
    below, above = found_losses
    splitting, merging = (3.0 * above - below) / 4.0, (3.0 * below - above) / 4.0
    found = []
    for a, lowest in zip(prices, best, strict=True):
        after = a * splitting + (2.0 - a) * merging
        place = np.unravel_index(int(after.argmin()), after.shape)
        if tie_threshold(after[place]) < lowest:
            labels = corner.labels.copy()
            labels[place[0]] = place[1]
            both = max(0.0, float(splitting[place])), max(0.0, float(merging[place]))
            found.append(Point(canonical(labels), *both))
    return found


def _dissolve_cluster(
    sample: Draws, loss: Loss, corner: Point, prices: Floats, best: Floats
) -> list[Labels]:
    """The corner with one of its few clusters of several items dissolved into single items.

    At low prices of splitting such a cluster gains only when all of its items
    leave. What that changes is measured on a sample, and partitions are kept
    that seem to come below the path, or nearly so.
    """
    sizes = np.bincount(corner.labels)
    large = np.flatnonzero(sizes > 1)
    if large.size > DISSOLVED:
        return []
    alone = sizes.size + np.arange(corner.labels.size)
    rows = [canonical(np.where(corner.labels == k, alone, corner.labels)) for k in large]
    (a, b), *others = costs(sample, loss, [corner.labels, *rows])
    splitting = np.array([x for x, _ in others]) + corner.splitting - a
    merging = np.array([y for _, y in others]) + corner.merging - b
    losses = np.multiply.outer(splitting, prices) + np.multiply.outer(merging, 2.0 - prices)
    kept = np.flatnonzero((losses < best * (1.0 + NEARLY)).any(axis=1))
    return [rows[j] for j in kept]


def _descend_piece(
    task: Task, problem: Problem, piece: tuple[float, Point, int, np.random.Generator]
) -> LocalMinimum:
    a, point, rounds, rng = piece
    start = StartPoint(point.labels, "corner", rng)
    search = Multistart(task, _at_price(problem, task, a), None)
    return search.descend(start, rounds, brief=True)


def _ends(draws: Draws) -> list[Labels]:
    """The optimum at the lowest and at the highest price: the meet and the join of all draws."""
    numbers: dict[bytes, int] = {}
    columns = np.ascontiguousarray(draws.labels.T)
    meet = [numbers.setdefault(column.tobytes(), len(numbers)) for column in columns]
    join = np.arange(draws.n_items)
    for row in draws.labels:
        # Components that share a cluster become one: each takes the lowest of its cluster's, and
        # each cluster the lowest of its items', until nothing changes.
        while True:
            lowest = np.full(draws.n_items, draws.n_items)
            np.minimum.at(lowest, row, join)
            joined = np.full(draws.n_items, draws.n_items)
            np.minimum.at(joined, join, lowest[row])
            joined = joined[join]
            if np.array_equal(joined, join):
                break
            join = joined
        if not join.any():
            break
    return [canonical(np.array(meet)), canonical(join)]


def _near(pool: Pool, low: float, high: float) -> list[Labels]:
    """Partitions of a sample's pool that come near its path at some price."""
    corners, breaks = lower_hull(list(pool.values()), low, high)
    edges = np.array([low, *breaks, high])
    prices = np.concatenate((edges, (edges[:-1] + edges[1:]) / 2.0))
    best = np.min([[c.at(a) for a in prices] for c in corners], axis=0)
    limit = best * (1.0 + NEAR) + 1e-9
    return [
        p.labels
        for p in pool.values()
        if any(p.at(a) <= m for a, m in zip(prices, limit, strict=True))
    ]


# ------------------------------------------------------------------ the lower convex hull


def rounding_tolerance(cost: float) -> float:
    """A difference of costs below this is none: Binder's may be as small as 2/N²."""
    return SUM * abs(cost) + LAST_DIGITS


def lower_hull(points: Sequence[Point], low: float, high: float) -> tuple[list[Point], list[float]]:
    """Corners of the lower convex hull that are optimal between two prices, and breakpoints."""
    order = sorted(points, key=lambda p: (p.merging, p.splitting, p.labels.tobytes()))
    corners: list[Point] = []
    for point in order:
        if corners and _is_reached(point.splitting, corners[-1].splitting):
            continue
        while len(corners) > 1 and not _bends(corners[-2], corners[-1], point):
            corners.pop()
        if corners and _is_reached(corners[-1].merging, point.merging):
            corners.pop()
        corners.append(point)
    breaks = [_crossing(p, q) for p, q in pairwise(corners)]
    first = sum(a <= low for a in breaks)
    last = sum(a < high for a in breaks)
    return corners[first : last + 1], breaks[first:last]


def _crossing(p: Point, q: Point) -> float:
    """The price at which two neighbours cost the same."""
    up, down = q.merging - p.merging, p.splitting - q.splitting
    return 2.0 * up / (up + down)


def _possible_gains(edges: NDArray[np.float64], best: NDArray[np.float64]) -> NDArray[np.float64]:
    """The possible gain at each breakpoint, relative to the loss, if its neighbours stay.

    The optimum is concave in the price, so it is nowhere below the chord between
    two of its values. ``edges`` are the breakpoints and both ends of the path,
    ``best`` the loss there.
    """
    share = (edges[1:-1] - edges[:-2]) / (edges[2:] - edges[:-2])
    chord = (1.0 - share) * best[:-2] + share * best[2:]
    return np.asarray((best[1:-1] - chord) / np.maximum(best[1:-1], 1e-300))


def _bends(p: Point, q: Point, r: Point) -> bool:
    """Whether q is below the line from p to r."""
    a = _crossing(p, r)
    return not _is_reached(q.at(a), p.at(a))


def _is_reached(cost: float, other: float) -> bool:
    """Whether a cost is not below another, but for rounding."""
    return cost >= other - rounding_tolerance(other)
