"""The partitions that a report can show: estimates, bounds, the price path and the curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita._text import counted, of_sizes, percent, words
from partita.labels import Labels
from partita.plots._price_path import prepare_price_path
from partita.plots._style import OTHER, colour, colour_indices
from partita.report import wording
from partita.report.wording import amount
from partita.search.clusters_curve import STANDARD_ERRORS

if TYPE_CHECKING:
    from partita.credible.ball import CredibleBall
    from partita.search.clusters_curve import ClustersCurve
    from partita.search.price_path import PricePath
    from partita.search.result import PointEstimate
    from partita.summary.result import Summary


PROBS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99)
"""Credible probabilities on offer, besides the one of the summary."""


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
            f"{wording.clusters(c.labels)}; optimal for prices of splitting from {c.low:.4f} to "
            f"{c.high:.4f}.",
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
    bounds = {
        kind: BoundChoice(
            partition=distinct.number(bound.labels[0]),
            n_clusters=int(bound.n_clusters[0]),
            distance=wording.amount(bound.distance, ball.loss),
            mass=f"{bound.mass[0]:.2g}",
            n_ties=len(bound),
            text=wording.bound_text(ball, kind),
        )
        for kind, bound in ball.bounds.items()
    }
    return Level(
        prob=ball.prob,
        percent=percent(ball.prob),
        radius=ball.radius,
        ball=wording.radius(ball),
        sentence=replace(summary, ball=ball).sentence,
        bounds=bounds,
    )


WIDTH, HEIGHT = 600.0, 260.0
"""Of a picture, in the units of its drawing."""

_TOP, _BOTTOM, _SIDE = 16.0, 34.0, 46.0
"""Room for numbers above, prices below, and losses at the side."""

_LABELLED = 14.0
"""Width of a column from which on its number of clusters is written above it."""


@dataclass(frozen=True)
class Band:
    """A cluster of a column, or the items that two clusters share: a polygon."""

    points: str
    colour: str


@dataclass(frozen=True)
class CornerShown:
    """A column of the path's picture and a row of its table."""

    key: str
    x: float
    width: float
    number: str
    """Written above the column; empty where there is no room."""
    bands: tuple[Band, ...]
    prices: str
    n_clusters: int
    sizes: str
    proven: str


@dataclass(frozen=True)
class PathShown:
    """The picture of a price path, and its corners."""

    corners: tuple[CornerShown, ...]
    ribbons: tuple[Band, ...]
    ticks: tuple[tuple[float, str], ...]
    own: float | None
    """Where the price of the loss is."""
    text: str


@dataclass(frozen=True)
class PointShown:
    """The best partition of one number of clusters."""

    key: str
    k: int
    x: float
    y: float
    low: float
    high: float
    """Ends of its bar: two standard errors of the excess."""
    is_good: bool
    is_estimate: bool
    text: str


@dataclass(frozen=True)
class CurveShown:
    """The picture of the curve."""

    points: tuple[PointShown, ...]
    line: str
    half: float
    """Half the width that belongs to a number."""
    ticks: tuple[tuple[float, str], ...]
    text: str


@dataclass(frozen=True)
class HowMany:
    """What the section says and shows; either picture may be missing."""

    path: PathShown | None
    curve: CurveShown | None
    seconds: str


def how_many(summary: Summary, shown: Shown) -> HowMany | None:
    """The section of a summary that has a path or a curve."""
    path, curve = summary.path, summary.curve
    if path is None and curve is None:
        return None
    seconds = sum(part.seconds for part in (path, curve) if part is not None)
    return HowMany(
        None if path is None else _path(summary, path, shown),
        None if curve is None else _curve(curve, summary.how_many),
        f"{seconds:.2g}",
    )


def _path(summary: Summary, path: PricePath, shown: Shown) -> PathShown:
    chosen = wide_corners(path)
    corners = list(path)
    between = [(corners[a].high + corners[b].low) / 2.0 for a, b in pairwise(chosen)]
    drawn = replace(path, labels=path.labels[chosen], breakpoints=np.array(between))
    columns, ribbons = prepare_price_path(drawn)
    n, span = path.labels.shape[1], path.high - path.low
    depth = HEIGHT - _TOP - _BOTTOM

    def x(price: float) -> float:
        return WIDTH * (price - path.low) / span

    def y(items: float) -> float:
        return _TOP + float(depth * (1.0 - items / n))

    found = []
    partition_of = {choice.key: choice.partition for choice in shown.choices}
    for j, column in zip(chosen, columns, strict=True):
        corner, left, right = corners[j], x(column.left), x(column.right)
        indices = shown.colours[partition_of[f"price{j}"]]
        bands = tuple(
            Band(
                _quad(left, right, y(bottom), y(bottom), depth * height / n),
                OTHER if height == 1 else colour(int(index)),
            )
            for bottom, height, index in zip(column.bottoms, column.heights, indices, strict=True)
        )
        found.append(
            CornerShown(
                key=f"price{j}",
                x=x(corner.low),
                width=x(corner.high) - x(corner.low),
                number=str(corner.n_clusters) if right - left >= _LABELLED else "",
                bands=bands,
                prices=f"{corner.low:.4f} to {corner.high:.4f}",
                n_clusters=corner.n_clusters,
                sizes=of_sizes(np.bincount(corner.labels).tolist()),
                proven="yes" if corner.is_proven else "no",
            )
        )
    flows = tuple(
        Band(_quad(x(r.left), x(r.right), y(r.start), y(r.stop), depth * r.height / n), r.colour)
        for r in ribbons
    )
    price = path.loss.price
    return PathShown(
        corners=tuple(found),
        ribbons=flows,
        ticks=tuple((x(a), f"{a:g}") for a in np.linspace(path.low, path.high, 5).round(2)),
        own=x(price) if path.low <= price <= path.high else None,
        text=_stability(summary, path, len(chosen)),
    )


def _stability(summary: Summary, path: PricePath, n_drawn: int) -> str:
    said = f"The estimate is {path.stability(summary.labels).in_words}"
    hidden = len(path) - n_drawn
    left = f" {counted(hidden, 'sliver')} too narrow to be seen left out." if hidden else ""
    return f"{said}; {counted(len(path), 'clustering')} optimal at some price.{left}"


def _quad(left: float, right: float, start: float, stop: float, height: float) -> str:
    return (
        f"{left:.2f},{start:.2f} {right:.2f},{stop:.2f} "
        f"{right:.2f},{stop - height:.2f} {left:.2f},{start - height:.2f}"
    )


def _curve(curve: ClustersCurve, text: str) -> CurveShown:
    error = STANDARD_ERRORS * np.nan_to_num(curve.standard_error)
    low = float((curve.expected_loss - error).min())
    high = float((curve.expected_loss + error).max())
    margin = 0.06 * (high - low) or 1.0
    depth, n = HEIGHT - _TOP - _BOTTOM, curve.k.size
    half = (WIDTH - _SIDE) / (2.0 * n)

    def y(loss: float) -> float:
        return _TOP + depth * (high + margin - loss) / (high - low + 2.0 * margin)

    good, own = set(curve.plateau.tolist()), int(curve.estimate.max()) + 1
    points = tuple(
        PointShown(
            key=f"k{k}",
            k=k,
            x=_SIDE + half * (2 * j + 1),
            y=y(loss),
            low=y(loss - error[j]),
            high=y(loss + error[j]),
            is_good=k in good,
            is_estimate=k == own,
            text=f"{counted(k, 'cluster')}: {words(curve.kind).expected} {curve.loss.title} "
            f"{amount(loss, curve.loss)}, {curve.percent[j]:.2g}% above the estimate",
        )
        for j, (k, loss) in enumerate(
            zip(curve.k.tolist(), curve.expected_loss.tolist(), strict=True)
        )
    )
    return CurveShown(
        points=points,
        line=" ".join(f"{p.x:.2f},{p.y:.2f}" for p in points),
        half=half,
        ticks=tuple((y(value), f"{value:.3g}") for value in np.linspace(low, high, 4)),
        text=text,
    )
