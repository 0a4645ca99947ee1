"""Quantities of draws that do not depend on labels, their arrangement by chain, and weights."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from partita._validate import choice, number
from partita.partitions.draws import Draws
from partita.partitions.passes import Block, concatenated, map_blocks


def shapes_of(
    draws: Draws, n_ranks: int, n_jobs: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Entropy of each draw, and the sizes of its n_ranks largest clusters."""
    entropy, ranked = concatenated(
        map_blocks(partial(_shapes, n_ranks=n_ranks), draws, n_jobs=n_jobs)
    )
    return entropy, ranked


def _shapes(block: Block, *, n_ranks: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    from partita.kernels.credible.uncertainty import shapes
    from partita.kernels.losses.forms import entropy_terms

    rows = block.rows
    entropy = np.empty(rows.shape[0])
    ranked = np.empty((rows.shape[0], n_ranks), np.int32)
    shapes(rows, block.n_clusters, entropy_terms(rows.shape[1]), entropy, ranked)
    return entropy, ranked


def by_chain(draws: Draws, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """One row per chain, in the order sampled; draws of unknown chain form one chain.

    Chains of different length are cut to the shortest by dropping their
    earliest draws, those most likely to be burn-in.
    """
    if draws.chain is None:
        return values[None, :]
    rows = [values[draws.chain == name] for name in np.unique(draws.chain)]
    shortest = min(row.size for row in rows)
    return np.stack([row[row.size - shortest :] for row in rows])


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
