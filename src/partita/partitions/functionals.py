"""Quantities of draws that do not depend on labels, their arrangement by chain, and weights."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._validate import choice, number
from partita.kernels.arrays import Floats, Int32s
from partita.partitions.draws import Draws
from partita.partitions.mcmc import mcse_mean
from partita.partitions.passes import Block, concatenated, map_blocks

FEW_DRAWS = 4
"""Draws per chain below which no effective number of draws can be estimated."""


def shapes_of(
    draws: Draws, n_ranks: int, n_jobs: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Entropy of each draw, and the sizes of its n_ranks largest clusters."""
    entropy, ranked = concatenated(
        map_blocks(partial(_shapes, n_ranks=n_ranks), draws, n_jobs=n_jobs)
    )
    return entropy, ranked


def _shapes(block: Block, *, n_ranks: int) -> tuple[Floats, Int32s]:
    from partita.kernels.losses.forms import entropy_terms
    from partita.kernels.uncertainty import shapes

    rows = block.rows
    entropy = np.empty(rows.shape[0])
    ranked = np.empty((rows.shape[0], n_ranks), np.int32)
    shapes(rows, block.n_clusters, entropy_terms(rows.shape[1]), entropy, ranked)
    return entropy, ranked


def chains_of(draws: Draws) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Names of the chains, and the number of each draw's; draws of unknown chain form one."""
    chain = np.zeros(draws.n_draws, np.int64) if draws.chain is None else draws.chain
    return np.unique(chain, return_inverse=True)


def long_chains(draws: Draws) -> NDArray[np.bool_]:
    """Which chains are long enough to be compared with the longest.

    Chains below a tenth of the longest are not, nor are those below eight draws beside one that
    has eight or more: all chains are cut to the shortest that counts.
    """
    _, number = chains_of(draws)
    lengths = np.bincount(number)
    longest = int(lengths.max())
    return np.asarray((10 * lengths >= longest) & ((lengths >= 8) | (longest < 8)))


def by_chain(draws: Draws, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """One row per chain, in the order sampled; draws of unknown chain form one chain.

    Chains of different length are cut to the shortest by dropping their
    earliest draws, those most likely to be burn-in. Chains that are too short beside the
    others (:func:`long_chains`) are left out.
    """
    _, number = chains_of(draws)
    rows = [values[number == chain] for chain in np.flatnonzero(long_chains(draws)).tolist()]
    shortest = min(row.size for row in rows)
    return np.stack([row[row.size - shortest :] for row in rows])


def error_of(
    draws: Draws,
    values: NDArray[np.float64],
    error: Callable[[NDArray[np.float64]], float] = mcse_mean,
) -> float:
    """Monte Carlo error of one value per draw: 0 for a constant, NaN for chains that are short."""
    chains = by_chain(draws, values)
    if chains.shape[1] < FEW_DRAWS:
        return float("nan")
    return 0.0 if np.ptp(chains) == 0.0 else error(chains)


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
