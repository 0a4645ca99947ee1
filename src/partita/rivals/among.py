"""All distances among a few draws, with one call of a kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.losses.base import Loss
from partita.losses.evaluate import pairwise_distances
from partita.scan import Block


def apart(block: Block, loss: Loss) -> NDArray[np.float64]:
    """Distances among the draws of a block, for a symmetric loss, shape (n, n)."""
    from partita.kernels.contingency import distances_in_blocks

    n_items = block.labels.shape[1]
    form = loss.form(n_items)
    if form is None:
        return pairwise_distances(block.rows, loss=loss, n_jobs=1)
    edges = np.array([0, len(block.labels)])
    # Arrays are copied because read-only ones would compile again.
    clusters, terms = np.array(block.n_clusters), np.array(loss.terms(n_items))
    (far,) = distances_in_blocks(block.rows, clusters, edges, terms, form)
    return np.asarray(far)
