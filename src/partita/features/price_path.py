"""The price path of feature allocations: every one that is optimal for some price a."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from partita._progress import Status
from partita._validate import Rng
from partita.features.draws import FeatureDraws, unpack_columns
from partita.features.estimate import Descent, descend_from, feature_task, lower_bound, start_draws
from partita.kernels.arrays import Bools, Floats, Ints, UInt64s
from partita.losses.builtin import FARO, matchings
from partita.search.price_path import AnyPath, Point, lower_hull
from partita.search.task import Task, run_interruptible, run_interruptible_parallel

LEAST = 0.1
"""Prices nearer to 0 and 2 are left out: an optimum there may have 2·E[K]/a features."""

EXPLORED = (1.0, 0.6, 1.4, 0.3, 1.7)
"""Prices at which the search begins from draws; the rest follows from crossings."""


@dataclass(frozen=True, eq=False, repr=False)
class FeaturePath(AnyPath):
    """Every allocation that is optimal for some price a, in order of increasing a.

    Attributes
    ----------
    allocations : tuple of ndarray of bool, each of shape (n_items, n_features)
        The corners.
    n_features : ndarray of int, shape (n,)
    breakpoints : ndarray of float, shape (n − 1,)
        Prices at which the optimum changes.
    claimed, missed : ndarray of float, shape (n,)
        A and B of each corner: expected memberships that are claimed and not true, and that are
        true and not claimed. Its expected loss is a·A + (2 − a)·B.
    low, high : float
        Prices between which the path was sought.
    lower_bounds : ndarray of float, shape (n + 1,), or None
        No allocation has a lower expected loss at ``low``, at the breakpoints and at ``high``.
    loss : FARO
    n_seen : int
        Allocations that were compared.
    seconds : float
    interrupted : bool
        Whether the time limit or Ctrl-C ended the search: corners may be missing.
    item_names : tuple of str, or None
    limits : tuple of str
        Limits that were binding, in words; empty when none was.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.FeatureDraws.from_sets([[{0, 1}, {2}], [{0, 1}], [{0}]], n_items=3)
    >>> path = pt.price_path(draws)
    >>> path.n_features, path.breakpoints.round(3)
    (array([2, 1, 1]), array([0.667, 1.333]))
    """

    allocations: tuple[Bools, ...]
    n_features: Ints
    breakpoints: Floats
    claimed: Floats
    missed: Floats
    low: float
    high: float
    lower_bounds: Floats | None
    loss: FARO
    n_seen: int
    seconds: float
    interrupted: bool
    item_names: tuple[str, ...] | None = None
    limits: tuple[str, ...] = ()

    _called: ClassVar[str] = "allocation"
    _names: ClassVar[tuple[str, str, str]] = ("n_features", "claimed", "missed")
    _columns: ClassVar[tuple[str, ...]] = (
        *("price a", "features", "memberships"),
        *("claimed, not true", "missed"),
    )

    @property
    def _points(self) -> tuple[Bools, ...]:
        return self.allocations

    @property
    def _bounds(self) -> Floats:
        return np.asarray(self.lower_bounds)

    @property
    def edges(self) -> Floats:
        """The breakpoints with both ends."""
        return self._edges

    def at(self, a: float) -> Bools:
        """The optimal allocation at a price; at a breakpoint, the one that holds above it."""
        return np.asarray(self._at(a))

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                f"{self.edges[j]:.3f} – {self.edges[j + 1]:.3f}",
                f"{self.n_features[j]:,}",
                f"{int(allocation.sum()):,}",
                f"{self.claimed[j]:.4g}",
                f"{self.missed[j]:.4g}",
            )
            for j, allocation in enumerate(self.allocations)
        ]


def feature_path(
    draws: FeatureDraws,
    loss: FARO,
    low: float,
    high: float,
    *,
    n_starts: int,
    bound: str | None,
    time_limit: float | None,
    n_jobs: int | None,
    progress: bool | None,
    rng: Rng | None,
) -> FeaturePath:
    """See :func:`partita.price_path`."""
    with Status("price path", progress) as status:
        task = feature_task(loss, n_starts, n_jobs, time_limit, status.say, rng)
        reached = (max(low, LEAST), min(high, 2.0 - LEAST))
        if reached != (low, high):
            task.log.limit(
                f"prices below {LEAST:g} and above {2.0 - LEAST:g} were left out: optimal "
                "allocations there have very many features, or none"
            )
        search = _Search(task, draws.unique(), *reached)
        search.run()
        return search.result(draws, bound)


class _Search:
    """Descents at some prices from draws, then at every crossing from both of its corners."""

    def __init__(self, task: Task, draws: FeatureDraws, low: float, high: float) -> None:
        self.task, self.draws, self.low, self.high = task, draws, low, high
        self.pool: dict[bytes, Point] = {}
        self.mass = draws.probabilities
        self.true = float(self.mass @ draws.n_memberships)
        self.done: set[tuple[bytes, bytes]] = set()
        none = np.empty((0, draws.columns.shape[1]), np.uint64)
        self.starts = [none, *draws.rows_at(start_draws(draws, task.options.n_starts, task.rng))]

    def run(self) -> None:
        """Complete the path: no crossing is left from which a descent leads below it."""
        inside = [a for a in EXPLORED if self.low <= a <= self.high]
        for a in [*inside, self.low, self.high]:
            known: list[Any] = [point.labels for point in self.pool.values()]
            self._descend(a, [*self.starts, *known[-self.task.options.n_starts :]])
        while not self.task.clock.is_up():
            corners, breaks = lower_hull(list(self.pool.values()), self.low, self.high)
            pairs = zip(corners[:-1], corners[1:], breaks, strict=True)
            fresh: list[tuple[float, Any, Any]] = []
            for p, q, a in pairs:
                key = (p.labels.tobytes(), q.labels.tobytes())
                if key not in self.done:
                    self.done.add(key)
                    fresh.append((a, p.labels, q.labels))
            if not fresh:
                return
            for price, below, above in fresh:
                self._descend(price, [below, above, *self.starts[:3]])

    def _descend(self, a: float, starts: Iterable[UInt64s]) -> None:
        """Descents at a price; what they reach goes to the pool."""
        if self.task.clock.is_up() and self.pool:
            return
        search = Descent(self.draws, FARO(a), self.task.clock.is_up)
        begins = list(starts)
        rngs = self.task.rng.spawn(len(begins))
        work = [(point, "", rng) for point, rng in zip(begins, rngs, strict=True)]
        said = f"price path, {len(self.pool):,} allocations"
        for end in run_interruptible_parallel(self.task, partial(descend_from, search), work, said):
            key = end.point.tobytes()
            if key not in self.pool:
                matched = float(self.mass @ matchings(end.point, self.draws, 1))
                own = float(np.bitwise_count(end.point).sum())
                self.pool[key] = Point(end.point, own - matched, self.true - matched)  # type: ignore[arg-type]

    def result(self, given: FeatureDraws, bound: str | None) -> FeaturePath:
        """The lower hull of what was met."""
        corners, breaks = lower_hull(list(self.pool.values()), self.low, self.high)
        cut_short = self.task.clock.interrupted
        points: list[UInt64s] = [corner.labels for corner in corners]  # type: ignore[misc]
        edges = [self.low, *breaks, self.high]
        bounds = None
        if bound is not None:
            bounds = np.zeros(len(edges))
            for j, a in enumerate(edges):
                if self.task.clock.is_up():
                    break
                at, corner = FARO(a), corners[min(j, len(corners) - 1)]
                proof = (self.draws, at, points[min(j, len(points) - 1)], corner.at(a), bound)
                prove = partial(lower_bound, *proof, self.task)
                bounds[j] = min(run_interruptible(self.task, prove, "proving"), corner.at(a))
        return FeaturePath(
            allocations=tuple(unpack_columns(point, given.n_items) for point in points),
            n_features=np.array([len(point) for point in points], np.int64),
            breakpoints=np.array(breaks, np.float64),
            claimed=np.array([corner.splitting for corner in corners]),
            missed=np.array([corner.merging for corner in corners]),
            low=self.low,
            high=self.high,
            lower_bounds=bounds,
            loss=self.task.loss,  # type: ignore[arg-type]
            n_seen=len(self.pool),
            seconds=self.task.clock.seconds,
            interrupted=cut_short,
            item_names=given.item_names,
            limits=tuple(self.task.log.limits),
        )
