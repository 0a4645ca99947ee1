"""Simulated draws of known laws, and five draws of six items."""

import numpy as np

TRUTH = np.repeat([0, 1, 2], 8)
FIVE = [[int(c) for c in row] for row in ("112233", "112223", "111222", "112222", "122333")]


def labels_around(
    truth: np.ndarray, n_draws: int, *, seed: int = 0, redrawn: float = 0.15, k: int = 4
) -> np.ndarray:
    """Independent draws: each item keeps its cluster, or one of k is drawn for it."""
    rng = np.random.default_rng(seed)
    noise = rng.integers(0, k, (n_draws, truth.size))
    return np.where(rng.random(noise.shape) < redrawn, noise, truth)


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
