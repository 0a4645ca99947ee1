"""Equal draws: numbered through hashes, by a pass over the draws."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.partitions.draws import Draws
from partita.partitions.passes import Block, concatenated, map_blocks


def _hashes(block: Block) -> tuple[NDArray[np.uint64]]:
    """The pass: a hash of each row."""
    from partita.kernels.partitions.labels import hash_rows

    return (hash_rows(block.rows),)


def number_distinct(draws: Draws) -> NDArray[np.int64]:
    """Number the distinct rows by first appearance, through hashes that are then verified."""
    (hashes,) = concatenated(map_blocks(_hashes, draws))
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    labels = draws.labels
    collision = any((labels[b] != labels[first[inverse[b]]]).any() for b in draws.blocks())
    if collision:  # two different partitions with one 64-bit hash: sort the rows themselves
        _, first, inverse = np.unique(labels, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse.reshape(-1)]
