"""The partitions that a report can show: estimates, bounds, the price path and the curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita._text import counted, of_sizes, percent
from partita.labels import Labels
from partita.plots._style import colour_indices
from partita.report import wording

if TYPE_CHECKING:
    from partita.credible.ball import CredibleBall
    from partita.search.price_path import PricePath
    from partita.search.result import PointEstimate
    from partita.summary.result import Summary


PROBS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Probabilities of balls and cores on offer, besides the one of the summary."""


_WIDEST = 250
"""Corners of a path as narrow as this part of it are too narrow to be chosen."""


@dataclass(frozen=True)
class Choice:
    """An estimate that can be shown, whatever the credible probability."""

    key: str
    title: str
    partition: int
    """Which of the distinct partitions it is."""
    text: str


@dataclass(frozen=True)
class BoundChoice:
    """A bound of one ball."""

    partition: int
    n_clusters: int
    distance: str
    mass: str
    n_ties: int
    text: str


@dataclass(frozen=True)
class Level:
    """A credible ball in words, with its bounds by name."""

    prob: float
    percent: str
    radius: float
    ball: str
    sentence: str
    bounds: Mapping[str, BoundChoice]


@dataclass(frozen=True, eq=False)
class Shown:
    """Every partition once, with colours that follow the clusters, and who refers to it."""

    labels: tuple[Labels, ...]
    """Clusters of the items that are shown."""
    colours: tuple[NDArray[np.int64], ...]
    """Colour index of each cluster of each partition."""
    sizes: tuple[NDArray[np.int64], ...]
    """Items of each cluster, of all that there are."""
    choices: tuple[Choice, ...]
    levels: tuple[Level, ...]
    start: int
    """The level of the summary's own probability."""


def shown_partitions(summary: Summary) -> Shown:
    """Estimates and bounds; the estimate of the summary is partition 0.

    Colours are matched with the estimate's by :func:`colour_indices`. One ball
    per probability, from distances already computed.
    """
    distinct = _Distinct()
    choices = tuple(
        Choice(key, title, distinct.number(found.labels), wording.estimate_text(found))
        for key, title, found in _estimates(summary)
    )
    several = summary.representatives
    if several is not None and several.n > 1:
        choices += tuple(
            Choice(
                f"representative{r}",
                f"Representative {r} ({percent(round(float(several.weights[r]), 3))})",
                distinct.number(labels),
                wording.representative_text(several, r),
            )
            for r, labels in enumerate(several.labels)
        )
    choices += _of_path(summary, distinct) + _of_curve(summary, distinct)
    probs = sorted({*PROBS, summary.prob})
    levels = tuple(_level(summary, summary.ball.at(prob), distinct) for prob in probs)
    labels = tuple(distinct.labels)
    sizes = tuple(np.bincount(row) for row in labels)
    own = probs.index(summary.prob)
    return Shown(labels, tuple(colour_indices(labels)), sizes, choices, levels, own)


def wide_corners(path: PricePath) -> list[int]:
    """Corners of a price path that can be seen in a picture, and that of the loss's own price."""
    least = (path.high - path.low) / _WIDEST
    own = int(np.searchsorted(path.breakpoints, path.loss.price, side="right"))
    return [j for j, c in enumerate(path) if c.high - c.low >= least or j == own]


def _of_path(summary: Summary, distinct: _Distinct) -> tuple[Choice, ...]:
    path = summary.path
    if path is None:
        return ()
    corners = list(path)
    return tuple(
        Choice(
            f"price{j}",
            f"{counted(c.n_clusters, 'cluster')}, prices {c.low:.2f} to {c.high:.2f}",
            distinct.number(c.labels),
            f"{wording.clusters(c.labels)}; {'optimal' if c.is_proven else 'the best found'} for "
            f"prices of splitting from {c.low:.4f} to {c.high:.4f}.",
        )
        for j, c in ((j, corners[j]) for j in wide_corners(path))
    )


def _of_curve(summary: Summary, distinct: _Distinct) -> tuple[Choice, ...]:
    curve = summary.curve
    if curve is None:
        return ()
    return tuple(
        Choice(
            f"k{k}",
            f"Best with {counted(k, 'cluster')}",
            distinct.number(curve.labels[j]),
            f"{wording.clusters(curve.labels[j])}; {wording.amount(curve.excess[j], curve.loss)} "
            f"({curve.percent[j]:.2g}%) above the estimate.",
        )
        for j, k in enumerate(curve.k.tolist())
    )


class _Distinct:
    """Numbers partitions in order of appearance, each distinct one once."""

    def __init__(self) -> None:
        self.labels: list[Labels] = []
        self.words: dict[int, tuple[str, str, str]] = {}
        """Of a bound: its distance, its clusters, and what differs from the estimate."""
        self._known: dict[bytes, int] = {}

    def number(self, labels: Labels) -> int:
        key = np.asarray(labels, np.int32).tobytes()
        if key not in self._known:
            self._known[key] = len(self.labels)
            self.labels.append(labels)
        return self._known[key]


def _estimates(summary: Summary) -> list[tuple[str, str, PointEstimate]]:
    main = summary.estimate
    found = [("estimate", "Estimate", main)]
    if summary.vi_estimate is not main:
        found.append(("vi", "VI's estimate", summary.vi_estimate))
    if summary.binder_estimate is not main:
        found.append(("binder", "Binder's estimate", summary.binder_estimate))
    return found


def _level(summary: Summary, ball: CredibleBall, distinct: _Distinct) -> Level:
    """A ball in words; where several partitions tie at a bound, the first is shown."""
    level, bounds = percent(ball.prob), {}
    for kind, bound in ball.bounds.items():
        number, n_ties = distinct.number(bound.labels[0]), len(bound.mass)
        if number not in distinct.words:  # most bounds stay from one probability to the next
            distance = wording.amount(bound.distance, ball.loss)
            clusters = wording.clusters(bound.labels[0])
            distinct.words[number] = distance, clusters, wording.difference(ball, kind)
        distance, clusters, difference = distinct.words[number]
        ties = f" One of {n_ties:,} that tie." if n_ties > 1 else ""
        bounds[kind] = BoundChoice(
            partition=number,
            n_clusters=int(bound.n_clusters[0]),
            distance=distance,
            mass=f"{bound.mass[0]:.2g}",
            n_ties=n_ties,
            text=f"{clusters}; {distance} from the estimate. Among the partitions in the {level} "
            f"ball: {wording.BOUNDS[kind][1]}.{ties}{difference}",
        )
    return Level(
        prob=ball.prob,
        percent=level,
        radius=ball.radius,
        ball=wording.radius(ball),
        sentence=replace(summary, ball=ball).sentence,
        bounds=bounds,
    )


def corners(summary: Summary) -> dict[str, tuple[str, ...]]:
    """Prices, clusters, sizes and proof of every clustering of the path that can be seen."""
    path = summary.path
    if path is None:
        return {}
    found = list(path)
    return {
        f"price{j}": (
            f"{found[j].low:.4f} to {found[j].high:.4f}",
            f"{found[j].n_clusters:,}",
            of_sizes(np.bincount(found[j].labels).tolist()).partition(" ")[2],
            "yes" if found[j].is_proven else "no",
        )
        for j in wide_corners(path)
    }


def path_text(summary: Summary) -> str:
    """At which prices the estimate is the best, and how many other clusterings are at some."""
    path = summary.path
    if path is None:
        return ""
    said = f"The estimate is {path.stability(summary.labels).in_words}"
    hidden = len(path) - len(wide_corners(path))
    left = f" Not shown: {counted(hidden, 'clustering')} of too narrow a range." if hidden else ""
    best = "optimal" if path.gap == 0.0 else "the best found"
    many = f"{counted(len(path), 'clustering')} {'is' if len(path) == 1 else 'are'}"
    return f"{said}; {many} {best} at some price.{left}"
