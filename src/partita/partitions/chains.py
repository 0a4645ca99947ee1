"""Quantities of draws, arranged by chain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.partitions.draws import Draws


def by_chain(draws: Draws, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """One row per chain, in the order sampled; draws of unknown chain form one chain.

    Chains of different length are cut to the shortest by dropping their
    earliest draws, those most likely to be burn-in.

    Parameters
    ----------
    draws : Draws
    values : ndarray, shape (n_draws,)

    Returns
    -------
    ndarray, shape (n_chains, draws in the shortest chain)
    """
    if draws.chain is None:
        return values[None, :]
    rows = [values[draws.chain == name] for name in np.unique(draws.chain)]
    shortest = min(row.size for row in rows)
    return np.stack([row[row.size - shortest :] for row in rows])
