"""Agglomerative clustering of a matrix of dissimilarities."""

from __future__ import annotations

import numpy as np

from partita.kernels._jit import kernel
from partita.kernels.arrays import Floats, Ints


def link(apart: Floats, *, complete: bool) -> Ints:
    """The two nodes joined by each merge, lowest first; node N + t is merge t, shape (N − 1, 2).

    Average linkage, or complete linkage. ``apart`` is symmetric, and overwritten.
    Pairs at equal heights come in the order of SciPy's ``linkage``, whose merges these are.
    """
    n = len(apart)
    pairs, height = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    _follow_chains(apart, complete, np.ones(n, np.int64), np.empty(n, np.int64), pairs, height)
    above = list(range(2 * n - 1))  # each node's parent, or itself
    merges = np.empty_like(pairs)
    for t, merge in enumerate(np.argsort(height, kind="stable").tolist()):
        roots = sorted(_root(above, item) for item in pairs[merge].tolist())
        merges[t] = roots
        for root in roots:
            above[root] = n + t
    return merges


def _root(above: list[int], node: int) -> int:
    while above[node] != node:
        above[node] = above[above[node]]
        node = above[node]
    return node


@kernel
def _follow_chains(
    apart: Floats, complete: bool, size: Ints, chain: Ints, pairs: Ints, height: Floats
) -> None:
    """Merge nearest neighbours of each other, found by going from neighbour to nearest neighbour.

    A merged cluster stays in the place of the later of its two items, and the
    place of the other one has size 0. O(N²), since no chain is left unmerged.
    """
    n = size.size
    length = 0
    for t in range(n - 1):
        if length == 0:
            chain[0] = 0
            while size[chain[0]] == 0:
                chain[0] += 1
            length = 1
        while True:
            here = chain[length - 1]
            nearest = chain[length - 2] if length > 1 else here
            least = apart[here, nearest] if length > 1 else np.inf
            for other in range(n):
                if size[other] > 0 and other != here and apart[here, other] < least:
                    least = apart[here, other]
                    nearest = other
            if length > 1 and nearest == chain[length - 2]:
                break
            chain[length] = nearest
            length += 1
        length -= 2
        first, last = min(here, nearest), max(here, nearest)
        pairs[t, 0], pairs[t, 1], height[t] = first, last, least
        n_first, n_last = size[first], size[last]
        size[first], size[last] = 0, n_first + n_last
        for other in range(n):
            if size[other] > 0 and other != last:
                one, two = apart[other, first], apart[other, last]
                if complete:
                    joined = max(one, two)
                else:
                    joined = (n_first * one + n_last * two) / (n_first + n_last)
                apart[other, last] = joined
                apart[last, other] = joined
