"""Equal draws: numbered through hashes, by a pass over the draws."""

from __future__ import annotations

from functools import partial
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from partita.kernels.arrays import Bools, Ints, UInt64s
from partita.partitions.draws import Draws
from partita.partitions.passes import Block, concatenated, map_blocks


def _hashes(block: Block) -> tuple[UInt64s]:
    """The pass: a hash of each row."""
    from partita.kernels.partitions.labels import hash_rows

    return (hash_rows(block.rows),)


def _digests(block: Block, *, doubtful: Bools) -> UInt64s:
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
    kept, number, count = np.unique(hashes, return_inverse=True, return_counts=True)
    if kept.size == hashes.size:
        return np.arange(hashes.size)
    doubtful = count[number] > 1
    digests = np.concatenate(list(map_blocks(partial(_digests, doubtful=doubtful), draws)))
    some = np.flatnonzero(doubtful)
    kinds, other = np.unique(digests[some], return_inverse=True)
    _, apart = np.unique(number[some] * kinds.size + other, return_inverse=True)
    number[some] = kept.size + apart
    return _by_first_appearance(number)


def _by_first_appearance(number: Ints) -> Ints:
    """The same groups, numbered in the order in which they appear; without sorting."""
    rows = np.arange(number.size)
    first = np.zeros(int(number.max()) + 1, np.int64)
    first[number[::-1]] = rows[::-1]  # of several rows the last one written stays: the first
    is_first = first[number] == rows
    ranks: NDArray[np.int64] = (np.cumsum(is_first) - 1)[first[number]]
    return ranks
