"""The extremes of a credible ball."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._result import Result
from partita._wording import counts
from partita.kernels.arrays import Floats, Ints
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels, by_size


@dataclass(frozen=True, eq=False, repr=False)
class Bound(Result):
    """The partitions at one extreme of a credible ball: usually one, more when they tie.

    Attributes
    ----------
    kind : str
        "upper", "lower" or "horizontal".
    labels : ndarray of int32, shape (n, n_items)
        Each tied partition once, in order of first appearance among the draws.
    n_clusters : ndarray of int64, shape (n,)
    distance : float
        Their distance from the centre, the same for all.
    mass : ndarray of float, shape (n,)
        Posterior probability of each.
    """

    kind: str
    labels: Labels
    n_clusters: NDArray[np.int64]
    distance: float
    mass: NDArray[np.float64]

    def __len__(self) -> int:
        return int(self.labels.shape[0])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bound):
            return NotImplemented
        return (
            self.kind == other.kind
            and self.distance == other.distance
            and np.array_equal(self.labels, other.labels)
            and np.array_equal(self.mass, other.mass)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        clusters = counts(self.n_clusters.tolist(), "cluster")
        ties = f" ({len(self)} partitions tie)" if len(self) > 1 else ""
        return f"<{self.kind} bound: {clusters} at {self.distance:.4g}{ties}>"


def find_bounds(
    draws: Draws, distances: NDArray[np.float64], levels: NDArray[np.int64], last: int
) -> tuple[Bound, Bound, Bound]:
    """Upper, lower and horizontal bounds of the ball that ends with level ``last``.

    Upper: fewest clusters, then most distant. Lower: most clusters, then most
    distant. Horizontal: most distant. Distances tie when their levels agree.
    """
    inside = np.flatnonzero(levels <= last)
    counts = draws.n_clusters[inside]
    chosen = {
        "upper": inside[counts == counts.min()],
        "lower": inside[counts == counts.max()],
        "horizontal": inside,
    }
    upper, lower, horizontal = (
        _most_distant(kind, draws, distances, levels, members) for kind, members in chosen.items()
    )
    return upper, lower, horizontal


def _most_distant(
    kind: str, draws: Draws, distances: Floats, levels: Ints, members: NDArray[Any]
) -> Bound:
    """The distinct partitions among the most distant members, with their masses.

    Copies of a partition have equal distances and numbers of clusters, so all
    of them are among the tied members and their weights add up to its mass.
    """
    tied = members[levels[members] == levels[members].max()]
    rows = np.ascontiguousarray(draws.labels_at(tied))
    # Whole rows as opaque bytes: sorting them by columns takes far longer for many items.
    keys = rows.view(f"V{rows.dtype.itemsize * rows.shape[1]}").reshape(-1)
    _, first, copy_of = np.unique(keys, return_index=True, return_inverse=True)
    weights = None if draws.weights is None else draws.weights[tied]
    mass = np.bincount(copy_of, weights=weights).astype(np.float64)
    if weights is None:
        mass /= draws.n_draws
    by_appearance = np.argsort(first)
    first = first[by_appearance]
    return Bound(
        kind=kind,
        labels=by_size(rows[first]),
        n_clusters=draws.n_clusters[tied[first]].copy(),
        distance=float(distances[tied].max()),
        mass=mass[by_appearance],
    )
