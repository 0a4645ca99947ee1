"""Simulated chains of a known law."""

from __future__ import annotations

import numpy as np

TRUTH = np.repeat([0, 1, 2], 8)


def renewed_chains(
    rng: np.random.Generator, n_draws: int, *, noise: float, renewed: float
) -> np.ndarray:
    """Four chains around three clusters of eight items; each step renews a share of the items."""
    shape = (4, n_draws, TRUTH.size)
    fresh = np.where(rng.random(shape) < noise, rng.integers(0, 3, shape), TRUTH)
    renews = rng.random(shape) < renewed
    renews[:, 0] = True
    last = np.maximum.accumulate(np.where(renews, np.arange(n_draws)[:, None], 0), axis=1)
    return np.take_along_axis(fresh, last, axis=1)
