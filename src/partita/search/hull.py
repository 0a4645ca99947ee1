"""The lower convex hull of two costs: what is optimal for some price of one against the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.partitions.labels import Labels


def rounding(cost: float) -> float:
    """A difference of costs below this is none: Binder's may be as small as 2/N²."""
    return 1e-12 * abs(cost) + 1e-13


class Point(NamedTuple):
    """A partition and its two costs."""

    labels: Labels
    splitting: float
    merging: float

    def at(self, a: float) -> float:
        """Its expected loss at a price."""
        return a * self.splitting + (2.0 - a) * self.merging


def hull(points: Sequence[Point], low: float, high: float) -> tuple[list[Point], list[float]]:
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
    breaks = [crossing(p, q) for p, q in pairwise(corners)]
    first = sum(a <= low for a in breaks)
    last = sum(a < high for a in breaks)
    return corners[first : last + 1], breaks[first:last]


def crossing(p: Point, q: Point) -> float:
    """The price at which two neighbours cost the same."""
    up, down = q.merging - p.merging, p.splitting - q.splitting
    return 2.0 * up / (up + down)


def possible_gains(edges: NDArray[np.float64], best: NDArray[np.float64]) -> NDArray[np.float64]:
    """What could be won at each breakpoint, relative to the loss, if its neighbours stay.

    The optimum is concave in the price, so it is nowhere below the chord between
    two of its values. ``edges`` are the breakpoints and both ends of the path,
    ``best`` the loss there.
    """
    share = (edges[1:-1] - edges[:-2]) / (edges[2:] - edges[:-2])
    chord = (1.0 - share) * best[:-2] + share * best[2:]
    return np.asarray((best[1:-1] - chord) / np.maximum(best[1:-1], 1e-300))


def _bends(p: Point, q: Point, r: Point) -> bool:
    """Whether q is below the line from p to r."""
    a = crossing(p, r)
    return not _is_reached(q.at(a), p.at(a))


def _is_reached(cost: float, other: float) -> bool:
    """Whether a cost is not below another, but for rounding."""
    return cost >= other - rounding(other)
