"""What is said about a core once it is found."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from partita.credible.core_search import WeightedDraws, grow_path, grown
from partita.kernels.arrays import Bools, Floats, Ints
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels
from partita.partitions.passes import Block, map_blocks, sum_blocks


def holding(draws: Draws, partial: Labels) -> tuple[NDArray[np.bool_], float]:
    """The draws that group the items as the partial labels do, and their weight."""
    held = functools.partial(_held, partial=partial)
    holds = np.concatenate(list(map_blocks(held, draws)))
    if draws.weights is None:
        return holds, int(holds.sum()) / draws.n_draws
    return holds, min(1.0, float(draws.weights[holds].sum()))


def _held(block: Block, *, partial: Labels) -> Bools:
    from partita.kernels.credible.growth import agreeing

    return agreeing(block.rows, partial)


def cluster_probabilities(draws: Draws, partial: Labels) -> NDArray[np.float64]:
    """For each cluster, the weight of the draws that have its items together and apart from the
    other items of the core."""
    items = np.flatnonzero(partial >= 0)
    grouping = partial[items]
    clusters = [np.flatnonzero(grouping == c) for c in range(int(grouping.max()) + 1)]
    alike = functools.partial(_weights_alike, items=items, clusters=clusters)
    (found,) = sum_blocks(alike, draws)
    total = 1.0 if draws.weights is not None else draws.n_draws
    return np.minimum(found / total, 1.0)


def _weights_alike(block: Block, *, items: Ints, clusters: list[Ints]) -> tuple[Floats]:
    rows = block.labels[:, items]
    found = np.zeros(len(clusters))
    for c, members in enumerate(clusters):
        same = rows == rows[:, members[:1]]
        alike = same[:, members].all(axis=1) & (same.sum(axis=1) == members.size)
        found[c] = block.counts[alike].sum()
    return (found,)


def nested_path(
    posterior: WeightedDraws, partial: Labels
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """An order in which the core's items come in one by one, then all others, and its curve.

    It begins with the first item of the core from which the growth keeps most,
    among a few evenly spread over the core.
    """
    inside = np.flatnonzero(partial >= 0)
    best: tuple[float, NDArray[np.int64], NDArray[np.float64]] | None = None
    for first in inside[:: max(1, inside.size // 8)].tolist():
        start = np.full(partial.size, -1, np.int32)
        start[first] = 0
        path = grow_path(posterior, start, waiting=partial < 0)
        curve = np.concatenate([[posterior.total], path.mass]) / posterior.total
        area = float(curve.sum())
        if best is None or area > best[0]:
            best = (area, np.concatenate([[first], path.order]), np.minimum(curve, 1.0))
    assert best is not None, "a core has at least one item"
    return best[1], best[2]


def probability_if_added(
    posterior: WeightedDraws, partial: Labels, probability: float
) -> NDArray[np.float64]:
    """Probability of the core with each item outside, at the best place for it."""
    # A floor no weight reaches: nothing comes in that costs a draw.
    _, reach = grown(posterior, partial.copy(), floor=2.0 * posterior.total)
    reach /= posterior.total
    reach[partial >= 0] = probability
    return np.minimum(reach, probability)
