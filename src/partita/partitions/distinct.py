"""Equal draws: numbered through hashes, by a pass over the draws."""

from __future__ import annotations

from functools import partial
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from partita.partitions.draws import Draws
from partita.partitions.passes import Block, concatenated, map_blocks


def _hashes(block: Block) -> tuple[NDArray[np.uint64]]:
    """The pass: a hash of each row."""
    from partita.kernels.partitions.labels import hash_rows

    return (hash_rows(block.rows),)


def _digests(block: Block, *, doubtful: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """The pass over rows that share a hash: another, independent one; 0 for all other rows."""
    found = np.zeros(len(block.labels), np.uint64)
    for row in np.flatnonzero(doubtful[block.start : block.start + len(found)]):
        content = blake2b(block.labels[row].tobytes(), digest_size=8).digest()
        found[row] = int.from_bytes(content, "little")
    return found


def number_distinct(draws: Draws) -> NDArray[np.int64]:
    """Number the distinct rows by first appearance, through 128 bits of each where they repeat.

    No label has to travel, wherever the draws live.
    """
    (hashes,) = concatenated(map_blocks(_hashes, draws))
    _, first, inverse, count = np.unique(
        hashes, return_index=True, return_inverse=True, return_counts=True
    )
    if first.size < hashes.size:
        compared = partial(_digests, doubtful=count[inverse] > 1)
        digests = np.concatenate(list(map_blocks(compared, draws)))
        kinds, other = np.unique(digests, return_inverse=True)
        pair = inverse * kinds.size + other
        _, first, inverse = np.unique(pair, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse]
