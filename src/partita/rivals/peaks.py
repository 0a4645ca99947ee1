"""Peaks of a score on a graph, and how far each stands out: persistence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._result import Result

Neighbours = list[NDArray[np.int64]]


def neighbour_graph(apart: NDArray[np.float64], k: int) -> Neighbours:
    """Each node's k nearest nodes, both ways, and a spanning tree of shortest edges.

    The tree connects what nearest neighbours leave apart, so that every two
    peaks have a valley between them.
    """
    from scipy.sparse.csgraph import minimum_spanning_tree

    n = len(apart)
    linked = np.zeros((n, n), bool)
    nearest = np.argsort(apart, axis=1, kind="stable")[:, 1 : k + 1]
    np.put_along_axis(linked, nearest, True, axis=1)
    tree = minimum_spanning_tree(apart).tocoo()
    linked[tree.row, tree.col] = True
    linked |= linked.T
    np.fill_diagonal(linked, False)
    return [np.flatnonzero(row) for row in linked]


@dataclass(frozen=True, eq=False, repr=False)
class Peaks(Result):
    """Every local maximum of a score, highest first.

    Attributes
    ----------
    node : ndarray of int64
        Where each peak is.
    birth, death : ndarray of float
        Score of the peak, and of the highest valley towards a higher peak (0 for the highest).
    valley : ndarray of int64
        Where that valley is; −1 for the highest peak.
    """

    node: NDArray[np.int64]
    birth: NDArray[np.float64]
    death: NDArray[np.float64]
    valley: NDArray[np.int64]
    _bridge: Mapping[int, int]
    _above: NDArray[np.int64]

    @property
    def persistence(self) -> NDArray[np.float64]:
        """(birth − death) / birth: the share of a peak that stands above its valley."""
        return 1.0 - np.divide(
            self.death, self.birth, out=np.ones_like(self.death), where=self.birth > 0.0
        )

    def regions(self, kept: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Number of the kept peak that each node flows to, uphill and over low valleys."""
        goal = {int(node): int(node) for node in self.node[kept]}
        target = self._above.copy()
        for peak in self.node[~kept].tolist():
            target[peak] = self._bridge[peak]
        number = {int(node): i for i, node in enumerate(self.node[kept])}
        region = np.full(target.size, -1, np.int64)
        for node in range(target.size):
            path = [node]
            while path[-1] not in goal and region[path[-1]] < 0:
                path.append(int(target[path[-1]]))
            end = path[-1]
            region[path] = number[end] if end in goal else region[end]
        return region


def find_peaks(score: NDArray[np.float64], graph: Neighbours) -> Peaks:
    """Flood the graph from the highest node down; the lower of two peaks that meet dies there.

    O(edges · log) and sequential. Equal scores go by the number of the node.
    """
    order = np.argsort(-score, kind="stable")
    rank = np.argsort(order)
    root = np.arange(order.size)
    above = np.arange(order.size)
    valley: dict[int, int] = {}
    bridge: dict[int, int] = {}

    def top(node: int) -> int:
        while root[node] != node:
            root[node] = root[root[node]]
            node = int(root[node])
        return node

    for node in order.tolist():
        higher = graph[node][rank[graph[node]] < rank[node]]
        higher = higher[np.argsort(rank[higher])]
        if higher.size == 0:
            continue
        above[node] = higher[0]
        root[node] = top(int(higher[0]))
        for other in higher[1:].tolist():
            mine, its = top(node), top(other)
            if mine == its:
                continue
            lower, upper = (mine, its) if rank[mine] > rank[its] else (its, mine)
            valley[lower] = node
            # A peak that is not kept flows across its valley, to the side of the one that lives.
            bridge[lower] = other if upper == its else int(above[node])
            root[lower] = upper
    peaks = np.flatnonzero(above == np.arange(order.size))
    peaks = peaks[np.argsort(rank[peaks])]
    lowest = np.array([valley.get(p, -1) for p in peaks.tolist()])
    death = np.where(lowest >= 0, score[lowest], 0.0)
    return Peaks(peaks, score[peaks], death, lowest, bridge, above)
