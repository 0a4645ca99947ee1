"""The partitions that a report can show: estimates, bounds, the price path and the curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita._text import brief, counted, in_unit, of_sizes, percent, words
from partita.labels import Labels
from partita.plots._style import colour_indices

if TYPE_CHECKING:
    from partita.credible.ball import CredibleBall
    from partita.losses.base import Loss
    from partita.representative.representatives import Representatives
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
        Choice(key, title, distinct.number(found.labels), estimate_text(found))
        for key, title, found in _estimates(summary)
    )
    several = summary.representatives
    if several is not None and several.n > 1:
        choices += tuple(
            Choice(
                f"representative{r}",
                f"Representative {r} ({percent(round(float(several.weights[r]), 3))})",
                distinct.number(labels),
                representative_text(several, r),
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
            f"{clusters(c.labels)}; {'optimal' if c.is_proven else 'the best found'} for "
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
            f"{clusters(curve.labels[j])}; {amount(curve.excess[j], curve.loss)} "
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
            far = amount(bound.distance, ball.loss)
            distinct.words[number] = far, clusters(bound.labels[0]), difference(ball, kind)
        far, sizes, changes = distinct.words[number]
        ties = f" One of {n_ties:,} that tie." if n_ties > 1 else ""
        bounds[kind] = BoundChoice(
            partition=number,
            n_clusters=int(bound.n_clusters[0]),
            distance=far,
            mass=f"{bound.mass[0]:.2g}",
            n_ties=n_ties,
            text=f"{sizes}; {far} from the estimate. Among the partitions in the {level} "
            f"ball: {BOUNDS[kind][1]}.{ties}{changes}",
        )
    return Level(
        prob=ball.prob,
        percent=level,
        radius=ball.radius,
        ball=radius(ball),
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


# ---------------------------------------------------------------- in words

_SIZES = 12
"""Cluster sizes that a sentence lists before it says how many more there are."""


def amount(value: float, loss: Loss) -> str:
    """A loss or distance with its unit."""
    return in_unit(brief(value, 3), loss.unit)


def clusters(labels: Labels) -> str:
    """Number and sizes of the clusters of a partition."""
    k = int(labels.max()) + 1
    return f"{counted(k, 'cluster')} of {of_sizes(np.bincount(labels).tolist(), _SIZES)}"


def loss_reached(found: PointEstimate) -> str:
    """The expected loss of an estimate, with its name."""
    return f"{amount(found.expected_loss, found.loss)} ({found.loss.title})"


def radius(ball: CredibleBall) -> str:
    """Radius of a ball with its error, and what is inside."""
    error = ball.radius_mcse
    plus_minus = f" ± {error:.2g}" if np.isfinite(error) else ""
    inside = counted(int(ball.inside.sum()), words(ball.draws.kind).draw)
    value, _, unit = amount(ball.radius, ball.loss).partition(" ")
    return (
        f"radius {value}{plus_minus}{' ' if unit else ''}{unit} ({ball.loss.title}); "
        f"{inside} inside, coverage {percent(ball.coverage)}"
    )


def estimate_text(found: PointEstimate) -> str:
    """What is seen when an estimate is shown."""
    loss = f"{words(found.kind).expected} loss {loss_reached(found)}"
    text = f"{clusters(found.labels)}; {loss}, {found.proof}."
    if len(found.ties):
        others = counted(len(found.ties), "other partition")
        text += f" {others} reach{'es' if len(found.ties) == 1 else ''} the same loss."
    return text


EXPLAINED_ITEMS = 2_000
"""Up to this number of items a bound's difference from the estimate is put into words."""

BOUNDS = {
    "upper": ("Upper vertical bound", "fewest clusters, and of those the most distant"),
    "lower": ("Lower vertical bound", "most clusters, and of those the most distant"),
    "horizontal": ("Horizontal bound", "most distant from the estimate"),
}
"""Titles of the bounds, and which partition in the ball each one is."""


def difference(ball: CredibleBall, kind: str) -> str:
    """What the bound does differently from the estimate, where there are not too many items."""
    if ball.center.size > EXPLAINED_ITEMS:
        return ""
    told = ball.explain(kind)
    return f" From the estimate: {told.in_words()}." if told.changes else ""


def representative_text(found: Representatives, number: int) -> str:
    """A representative: its mass, and what differs from the heaviest."""
    own = words(found.draws.kind).draws
    mass = f"Representative {number}, nearest to {100 * found.weights[number]:.3g}% of the {own}"
    if number == 0:
        return f"{mass}."
    return f"{mass}. From representative 0: {found.explain(number).in_words()}."
