"""Small random posteriors, with what is known about them by enumeration."""

from __future__ import annotations

import numpy as np

import partita as pt


def random_posterior(n_items: int, n_draws: int, seed: int, *, weighted: bool = False) -> pt.Draws:
    """Noisy copies of one partition: some agreement, some doubt."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, max(2, n_items // 3), n_items)
    noise = rng.integers(0, n_items, (n_draws, n_items))
    keep = rng.random((n_draws, n_items)) < rng.uniform(0.3, 0.95)
    weights = rng.gamma(0.5, size=n_draws) + 1e-3 if weighted else None
    return pt.Draws(np.where(keep, truth, noise), weights=weights)


def all_losses(draws: pt.Draws, loss: pt.VI) -> tuple[np.ndarray, np.ndarray]:
    """Every partition of the items, and its expected loss."""
    partitions = np.array(list(pt.lattice.all_partitions(draws.n_items)))
    return partitions, pt.expected_loss(partitions, draws, loss=loss)
