"""Entropy and sorted cluster sizes of draws: quantities that do not depend on labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita._parallel import run
from partita.partitions.draws import Draws


def shapes_of(
    draws: Draws, n_ranks: int, n_jobs: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Entropy of each draw, and the sizes of its n_ranks largest clusters."""
    from partita.kernels.credible.uncertainty import shapes
    from partita.kernels.losses.forms import entropy_terms

    terms = entropy_terms(draws.n_items)

    def measure(block: slice) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        rows = draws.rows(block.start, block.stop)
        entropy = np.empty(rows.shape[0])
        ranked = np.empty((rows.shape[0], n_ranks), np.int32)
        shapes(rows, draws.n_clusters[block], terms, entropy, ranked)
        return entropy, ranked

    blocks = draws.blocks(max(1, min(2_048, (1 << 22) // draws.n_items)))
    parts = run(measure, blocks, n_jobs)
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
