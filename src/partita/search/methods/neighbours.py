"""The partitions next to a partition in the Hasse diagram, closest first.

A partition is covered by those that merge two of its clusters and covers
those that split one. Both lie at f(x + y) − f(x) − f(y) from it, with x ≤ y
the sizes of the two parts and f the loss's term. Neighbours whose parts have
the same sizes are therefore equally close: they form sets, which are counted
without being listed. Sets are taken whole while they fit; of the set that
does not, a uniform sample without replacement fills what is left, so that the
order of the items never decides which neighbours are seen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from partita.kernels.arrays import Ints
from partita.kernels.search.hasse import Moves

EQUAL = 1e-9
"""Distances this close (relative above 1) are equal; rounding of x·log2(x) is far below."""

Part = tuple[Ints, Ints, Ints, Ints]
"""Moves as flat items, sizes of the sets, sources, targets."""


def closest(
    slot_of: NDArray[np.int32],
    terms: NDArray[np.float64],
    most: int,
    rng: np.random.Generator,
    *,
    splits: bool = True,
) -> Moves:
    """The ``most`` closest covers of a partition and, if wanted, as many that it covers."""
    parts = Merges(slot_of).closest(terms, most, rng)
    if splits:
        parts += Splits(slot_of).closest(terms, most, rng)
    if not parts:
        none = np.empty(0, np.int64)
        return Moves(none, np.zeros(1, np.int64), none, none)
    items, sizes, source, target = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Moves(items, np.concatenate(([0], np.cumsum(sizes))), source, target)


class Neighbours(ABC):
    """Neighbours of one direction; a subclass says which sizes there are, and lists them."""

    def __init__(self, slot_of: NDArray[np.int32]) -> None:
        sizes = np.bincount(slot_of)
        order = np.argsort(slot_of, kind="stable")
        self.members: list[Ints] = np.split(order, np.cumsum(sizes)[:-1])
        self.slots_of_size = {int(x): np.flatnonzero(sizes == x) for x in np.unique(sizes)}

    @abstractmethod
    def pairs_of_sizes(self) -> Ints:
        """Every (x, y), x ≤ y, that the parts of a neighbour can have, shape (n, 2)."""

    @abstractmethod
    def count(self, x: int, y: int) -> int:
        """Number of neighbours with parts of these sizes."""

    @abstractmethod
    def listed(self, x: int, y: int, ranks: Ints) -> Part:
        """Those of the given ranks below ``count(x, y)``."""

    def closest(
        self, terms: NDArray[np.float64], most: int, rng: np.random.Generator
    ) -> list[Part]:
        """The ``most`` closest neighbours."""
        pairs = self.pairs_of_sizes()
        x, y = pairs.T
        away = terms[x + y] - terms[x] - terms[y]
        order = np.argsort(away, kind="stable")
        pairs, away = pairs[order], away[order]
        steps = np.diff(away) > EQUAL * np.maximum(1.0, away[1:])
        left = most
        parts: list[Part] = []
        for equally_close in np.split(pairs, np.flatnonzero(steps) + 1):
            if left == 0 or not len(equally_close):
                break
            sizes: list[tuple[int, int]] = [(int(a), int(b)) for a, b in equally_close]
            counts = [self.count(a, b) for a, b in sizes]
            taken = min(left, sum(counts))
            numbers = _sample(sum(counts), taken, rng)
            first = 0
            for (a, b), count in zip(sizes, counts, strict=True):
                ranks = numbers[(numbers >= first) & (numbers < first + count)] - first
                parts.append(self.listed(a, b, ranks))
                first += count
            left -= taken
        return parts


class Merges(Neighbours):
    """Partitions that cover this one: two clusters become one."""

    def pairs_of_sizes(self) -> Ints:
        """Every two sizes, one of them twice only if two clusters have it."""
        sizes = np.array(list(self.slots_of_size), np.int64)
        lower, upper = np.triu_indices(sizes.size)
        pairs = np.column_stack((sizes[lower], sizes[upper]))
        exists = [self.count(int(x), int(y)) > 0 for x, y in pairs]
        return np.compress(exists, pairs, axis=0)

    def count(self, x: int, y: int) -> int:
        """Pairs of clusters of these sizes."""
        of_x, of_y = self.slots_of_size[x].size, self.slots_of_size[y].size
        return comb(of_x, 2) if x == y else of_x * of_y

    def listed(self, x: int, y: int, ranks: Ints) -> Part:
        """The smaller cluster moves: scoring a move costs as much as it has items."""
        of_x, of_y = self.slots_of_size[x], self.slots_of_size[y]
        if x == y:
            source, target = of_x[subsets(ranks, of_x.size, 2)].T
        else:
            source, target = of_x[ranks // of_y.size], of_y[ranks % of_y.size]
        moved = [self.members[slot] for slot in source]
        items = np.concatenate([np.empty(0, np.int64), *moved])
        return items, np.full(ranks.size, x), source, target


class Splits(Neighbours):
    """Partitions that this one covers: one cluster becomes two."""

    def pairs_of_sizes(self) -> Ints:
        """Every way to write the size of a cluster as a sum of two."""
        pairs = [(j, x - j) for x in self.slots_of_size for j in range(1, x // 2 + 1)]
        return np.array(pairs, np.int64).reshape(-1, 2)

    def _per_cluster(self, x: int, y: int) -> int:
        return comb(x + y, x) // (2 if x == y else 1)

    def count(self, x: int, y: int) -> int:
        """Subsets of x items of the clusters of x + y items."""
        return self._per_cluster(x, y) * self.slots_of_size[x + y].size

    def listed(self, x: int, y: int, ranks: Ints) -> Part:
        """The smaller part moves to a slot of its own."""
        per_cluster = self._per_cluster(x, y)
        slots = self.slots_of_size[x + y]
        members = np.stack([self.members[slot] for slot in slots])
        which = ranks // per_cluster
        # With halves, the first half of all subsets are those without the last member: each
        # split is then listed once.
        chosen = subsets(ranks % per_cluster, x + y, x)
        items = members[which[:, None], chosen]
        target = np.full(ranks.size, len(self.members))
        return items.ravel(), np.full(ranks.size, x), slots[which], target


def _sample(total: int, taken: int, rng: np.random.Generator) -> Ints:
    """All numbers below the total, or a uniform sample without replacement, ascending."""
    if taken == total:
        return np.arange(total)
    return np.sort(rng.choice(total, taken, replace=False, shuffle=False))


def subsets(ranks: Ints, n: int, size: int) -> Ints:
    """Subsets of 0 … n − 1 by their rank in colexicographic order, shape (n_ranks, size).

    Rank Σ_t C(c_t, t) for members c_1 < c_2 < …: the largest member is the
    last c with C(c, size) ≤ rank, and so on downwards.
    """
    out = np.empty((ranks.size, size), np.int64)
    left = ranks.copy()
    for t in range(size, 0, -1):
        table = _binomials(n, t)
        out[:, t - 1] = np.searchsorted(table, left, side="right") - 1
        left -= table[out[:, t - 1]]
    return out


@lru_cache(maxsize=4096)
def _binomials(n: int, t: int) -> Ints:
    """C(0, t), …, C(n − 1, t), by C(c, t) = Σ_{d < c} C(d, t − 1)."""
    if t == 0:
        return np.ones(n, np.int64)
    return np.concatenate(([0], np.cumsum(_binomials(n, t - 1))[:-1]))
