"""Some of the draws, with masses of their own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.partitions.draws import Draws


def part_of(
    draws: Draws, rows: NDArray[np.int64], mass: NDArray[np.float64] | None = None
) -> Draws:
    """Some draws; with these masses (any scale), or with their own."""
    if mass is None and draws.weights is not None:
        mass = draws.weights[rows]
    return Draws._from_canonical(
        np.ascontiguousarray(draws.labels[rows]),
        draws.n_clusters[rows],
        weights=mass,
        item_names=draws.item_names,
    )


def sampled(draws: Draws, size: int, rng: np.random.Generator) -> Draws:
    """A systematic sample: spread over the draws in their order, in proportion to mass."""
    if draws.n_draws <= size:
        return draws
    index = systematic(draws.probabilities, size, rng)
    rows, counts = np.unique(index, return_counts=True)
    return part_of(draws, rows, counts.astype(np.float64))


def systematic(
    probabilities: NDArray[np.float64], size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Positions of a systematic sample, in order; a heavy draw may come several times."""
    edges = np.cumsum(probabilities)
    points = (np.arange(size) + rng.random()) / size * edges[-1]
    index: NDArray[np.int64] = np.searchsorted(edges, points)
    return np.minimum(index, probabilities.size - 1)
