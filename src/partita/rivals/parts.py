"""Some of the draws, with masses of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.draws import Draws
from partita.scan import chains_of, here
from partita.search.methods.walks import sample_draws

_MOST_ATOMS = 4
"""A heavy draw is split into atoms of the usual mass, at most so many times the draws in all."""


def part_of(
    draws: Draws, rows: NDArray[np.int64], mass: NDArray[np.float64] | None = None
) -> Draws:
    """Some draws, kept where all are; with these masses (any scale), or with their own."""
    if mass is None and draws.weights is not None:
        mass = draws.weights[rows]
    labels, counts = draws.rows_kept(rows), draws.n_clusters[rows]
    return draws._with(labels=labels, counts=counts, weights=mass, chain=None)


def sampled(draws: Draws, size: int, rng: np.random.Generator) -> Draws:
    """A systematic sample, in memory."""
    return here(sample_draws(draws, size, rng))


def chain_shares(
    draws: Draws, region: NDArray[np.int64], n: int, mass: NDArray[np.float64]
) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
    """Names of the chains, and the share of each chain's mass in each of n regions."""
    names, number = chains_of(draws)
    table = np.zeros((names.size, n))
    np.add.at(table, (number, region), mass)
    return tuple(names.tolist()), table / table.sum(axis=1, keepdims=True)


def atoms_of(draws: Draws) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Atoms of similar mass: the draw of each, and its mass. A heavy draw becomes several.

    One heavy draw would count among others with little more than their mass.
    """
    weights = draws.probabilities
    usual = max(float(np.median(weights)), 1.0 / (_MOST_ATOMS * weights.size))
    copies = np.maximum(1, np.ceil(weights / usual * 0.999).astype(np.int64))
    index = np.repeat(np.arange(weights.size), copies)
    return index, (weights / copies)[index]
