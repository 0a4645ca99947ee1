"""Draws to time jobs on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PAPER_DRAWS = Path(__file__).resolve().parents[1] / "tests" / "data" / "paper" / "draws"
"""The paper's own draws: in the repository, not in the source distribution."""


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
    path = PAPER_DRAWS / f"{name}.npz"
    if not path.exists():
        return None
    with np.load(path) as stored:
        return stored["labels"].astype(np.int64)
