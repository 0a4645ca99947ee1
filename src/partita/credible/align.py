"""Draws in the numbering of a reference partition."""

from __future__ import annotations

from functools import partial

import numpy as np

from partita.draws import as_draws
from partita.kernels.arrays import Int32s
from partita.labels import DrawsLike, Labels, LabelsLike, as_numbered
from partita.scan import Block, map_blocks


def align(draws: DrawsLike, reference: LabelsLike, *, n_jobs: int | None = None) -> Labels:
    r"""Labels of every draw in the numbering of a reference partition.

    In each draw the clusters :math:`C` are matched one to one to the clusters
    :math:`E_k` of the reference by the largest total overlap,

    .. math:: \max_{\sigma \text{ one to one}} \sum_k |E_k \cap C_{\sigma(k)}|,

    and a matched cluster gets the number of its counterpart. Choose it for what
    has to be compared cluster by cluster: a trace of the size of "cluster 2", a
    parameter by cluster. What only needs the partitions (losses, similarities,
    :meth:`Fit.profiles`) never needs it.

    Parameters
    ----------
    draws : Draws or anything as_draws accepts
        Any number of clusters per draw.
    reference : array_like, shape (n_items,), or an estimate
        Its own numbers are used where they are 0 … K − 1, else its clusters are
        numbered by size, the largest first.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    ndarray of int32, shape (n_draws, n_items)
        Clusters that have no counterpart in the reference are marked by negative
        numbers: −1, −2, … within each draw, in order of first appearance.

    Notes
    -----
    Clusters without common items are not matched. Ties are settled as in
    :func:`item_uncertainty`: the reference's clusters choose in the order of their
    numbers. About O(N) per draw: only pairs of clusters that share items are looked at.
    4 bytes per label.

    References
    ----------
    Kuhn, H. W. (1955), The Hungarian method for the assignment problem.

    Examples
    --------
    >>> import partita as pt
    >>> pt.align([[0, 0, 1, 1, 1], [0, 1, 2, 2, 2]], [1, 1, 0, 0, 0])
    array([[ 1,  1,  0,  0,  0],
           [ 1, -1,  0,  0,  0]], dtype=int32)
    """
    clean = as_draws(draws)
    labels = as_numbered(reference, n_items=clean.n_items, argument="reference")
    aligned = partial(_aligned, reference=labels, k=int(labels.max()) + 1)
    return np.concatenate(list(map_blocks(aligned, clean, n_jobs=n_jobs)))


def _aligned(block: Block, *, reference: Labels, k: int) -> Int32s:
    from partita.kernels.uncertainty import align_rows

    out = np.empty(block.labels.shape, np.int32)
    align_rows(reference, k, block.rows, block.n_clusters, out)
    return out
