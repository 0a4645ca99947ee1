"""Draws to time jobs on."""

from __future__ import annotations

import numpy as np
from examples.paper.draws import find_draws
from numpy.typing import NDArray


def simulated_labels(
    n_draws: int, n_items: int, n_clusters: int, *, redrawn: float, seed: int = 0
) -> NDArray[np.int64]:
    """Draws around one partition: each redraws that share of its labels uniformly."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_clusters, n_items)
    noise = rng.integers(0, n_clusters, (n_draws, n_items))
    return np.where(rng.random((n_draws, n_items)) < redrawn, noise, truth)


def example1_like() -> NDArray[np.int64]:
    """10,000 draws of 200 items, the size of the paper's Example 1."""
    return simulated_labels(10_000, 200, 8, redrawn=0.1)


def paper_labels(name: str) -> NDArray[np.int64] | None:
    """The paper's draws ("example1" or "galaxy"), or None where they are missing."""
    folder = find_draws()
    if folder is None:
        return None
    with np.load(folder / f"{name}.npz") as stored:
        return stored["labels"].astype(np.int64)
