"""Some of the draws, with masses of their own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.partitions.draws import Draws
from partita.partitions.passes import here

_MOST_ATOMS = 4
"""A heavy draw is split into atoms of the usual mass, at most so many times the draws in all."""


def part_of(
    draws: Draws, rows: NDArray[np.int64], mass: NDArray[np.float64] | None = None
) -> Draws:
    """Some draws, kept where all are; with these masses (any scale), or with their own."""
    if mass is None and draws.weights is not None:
        mass = draws.weights[rows]
    return Draws._from_canonical(
        draws.rows_kept(rows),
        draws.n_clusters[rows],
        weights=mass,
        item_names=draws.item_names,
        kind=draws.kind,
    )


def sampled(draws: Draws, size: int, rng: np.random.Generator) -> Draws:
    """A systematic sample, in memory: spread over the draws in their order, by their mass."""
    if draws.n_draws <= size:
        return here(draws)
    index = systematic(draws.probabilities, size, rng)
    rows, counts = np.unique(index, return_counts=True)
    return here(part_of(draws, rows, counts.astype(np.float64)))


def systematic(
    probabilities: NDArray[np.float64], size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Positions of a systematic sample, in order; a heavy draw may come several times."""
    edges = np.cumsum(probabilities)
    points = (np.arange(size) + rng.random()) / size * edges[-1]
    index: NDArray[np.int64] = np.searchsorted(edges, points)
    return np.minimum(index, probabilities.size - 1)


def atoms_of(draws: Draws) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Atoms of similar mass: the draw of each, and its mass. A heavy draw becomes several.

    One heavy draw would count among others with little more than their mass.
    """
    weights = draws.probabilities
    usual = max(float(np.median(weights)), 1.0 / (_MOST_ATOMS * weights.size))
    copies = np.maximum(1, np.ceil(weights / usual * 0.999).astype(np.int64))
    index = np.repeat(np.arange(weights.size), copies)
    return index, (weights / copies)[index]
