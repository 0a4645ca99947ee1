"""Draws with other weights: a posterior seen under another taste."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita._validate import choice, number
from partita.partitions.draws import Draws
from partita.partitions.functionals import shapes_of


def entropy_weights(draws: Draws, by: str, strength: float) -> NDArray[np.float64]:
    """w ∝ w·exp(λ·H/log k), with H/log k := 0 for one cluster; see ``Draws.reweighted``."""
    choice(by, "by", ("entropy",))
    strength = number(strength, "strength")
    entropy, _ = shapes_of(draws, 1)
    k = draws.n_clusters
    balance = np.where(k > 1, entropy / np.log2(np.maximum(k, 2)), 0.0)
    log_weights = np.log(draws.probabilities) + strength * balance
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())
