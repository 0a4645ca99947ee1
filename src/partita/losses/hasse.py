"""The Hasse diagram of the lattice of partitions, stretched by a loss."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from partita._result import Result
from partita._validate import integer
from partita.draws import Draws
from partita.errors import NotSupportedError
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.labels import Labels
from partita.lattice import meet, partition_blocks
from partita.losses.base import Loss
from partita.losses.evaluate import as_loss, pairwise_distances
from partita.losses.user import EXACT, FEW_ITEMS

_MAX_DRAWN = 8


@dataclass(frozen=True, eq=False, repr=False)
class HasseDiagram(Result):
    """What a drawing of the lattice needs.

    Attributes
    ----------
    nodes : ndarray of int32, shape (n_nodes, n_items)
        Every partition once, from one cluster to all singletons.
    edges : ndarray of int64, shape (n_edges, 2)
        Pairs of node numbers (below, above): the upper node merges two
        clusters of the lower one.
    heights : ndarray of float, shape (n_nodes,)
        Distance of each node from the one-cluster partition.
    positions : ndarray of float, shape (n_nodes, 2)
        x and y of a drawing with the one-cluster partition on top: y is minus
        the height; nodes of equally many clusters are spread evenly over
        [−1, 1].
    loss : Loss
        What stretches it.

    Examples
    --------
    >>> import partita as pt
    >>> diagram = pt.hasse_diagram(3, loss="binder")
    >>> list(zip(diagram.names(), diagram.heights.round(3).tolist(), strict=True))[:2]
    [('{1,2,3}', 0.0), ('{1,2}{3}', 0.444)]
    >>> diagram.edges.shape
    (6, 2)
    """

    nodes: Labels
    edges: NDArray[np.int64]
    heights: NDArray[np.float64]
    positions: NDArray[np.float64]
    loss: Loss

    def names(self) -> list[str]:
        """Each node as text, items counted from 1: ``{1,2}{3}``."""
        return [_name(row) for row in self.nodes]


def hasse_diagram(n: int, *, loss: str | Loss = "vi") -> HasseDiagram:
    """Hasse diagram of all partitions of n items, with heights stretched by a loss.

    The height of c is d(1, c), which is the entropy of c in bits for VI and
    1 − Σ(n_i/N)² for Binder's loss. Both losses are aligned with the lattice:
    the distance between two partitions is the length of the path down to their
    meet and up again, read off the heights. Others of which that is true are
    :class:`Entropy` and :class:`Additive`; it is checked on all partitions of
    four items.

    Parameters
    ----------
    n : int
        Number of items, 1 to 8 (4,140 nodes).
    loss : str or Loss, default "vi"
        "vi", "binder" or another one that is aligned with the lattice (with a = 1).

    Returns
    -------
    HasseDiagram

    Notes
    -----
    Cost O(B(n) n²), with B the Bell numbers.

    References
    ----------
    Wade and Ghahramani (2018), section 3.1, Figures 1 to 3.

    Examples
    --------
    >>> import partita as pt
    >>> diagram = pt.hasse_diagram(4, loss="vi")
    >>> sorted({round(float(h), 3) for h in diagram.heights})
    [0.0, 0.811, 1.0, 1.5, 2.0]
    >>> diagram.names()[1]
    '{1,2,3}{4}'
    """
    measure = as_loss(loss)
    n = integer(n, "n", least=1, most=_MAX_DRAWN)
    _refuse_unaligned(measure, n)
    nodes = _partitions(n)
    heights = measure.distances(np.zeros(n, np.int32), Draws(nodes), n_jobs=1)
    level = nodes.max(axis=1)
    # Highest level first, then by height, so that equal shapes stand side by side.
    order = np.lexsort((np.arange(len(nodes)), heights.round(9), level))
    nodes, heights, level = nodes[order], heights[order], level[order]
    positions = np.stack([_spread(level), -heights], axis=1)
    return HasseDiagram(nodes, _edges(nodes), heights, positions, measure)


def _partitions(n: int) -> Labels:
    return np.concatenate(list(partition_blocks(n, 1024)))


def _refuse_unaligned(loss: Loss, n: int) -> None:
    """Raise unless distances are those by way of the meet, on all partitions of a few items."""
    rows = _partitions(min(n, FEW_ITEMS))
    number = {row.tobytes(): i for i, row in enumerate(rows)}
    apart = pairwise_distances(rows, rows, loss, n_jobs=1)
    heights = apart[number[np.zeros_like(rows[0]).tobytes()]]
    for a, b in product(range(len(rows)), repeat=2):
        lowest = meet(rows[a], rows[b])
        path = 2.0 * heights[number[lowest.tobytes()]] - heights[a] - heights[b]
        if abs(apart[a, b] - path) > EXACT:
            raise NotSupportedError(
                f"{loss!r} is not aligned with the lattice: from {_name(rows[a])} to "
                f"{_name(rows[b])} it is {apart[a, b]:g}, but {path:g} by the heights of the two "
                f"and of their meet {_name(lowest)}. Expected 'vi' or 'binder', or another loss "
                "whose heights give its distances.",
                argument="loss",
            )


def _edges(nodes: Labels) -> Ints:
    number = {row.tobytes(): i for i, row in enumerate(nodes)}
    edges = []
    for below, row in enumerate(nodes):
        for low, high in combinations(range(int(row.max()) + 1), 2):
            # Merging the later label into the earlier one keeps first appearances in order.
            merged = np.where(row == high, low, row - (row > high)).astype(np.int32)
            edges.append((below, number[merged.tobytes()]))
    return np.array(edges, np.int64).reshape(-1, 2)


def _spread(level: Int32s) -> Floats:
    x = np.zeros(level.size)
    for k in range(int(level.max()) + 1):
        mine = np.flatnonzero(level == k)
        x[mine] = np.linspace(-1.0, 1.0, mine.size) if mine.size > 1 else 0.0
    return x


def _name(row: Labels) -> str:
    clusters = [np.flatnonzero(row == k) + 1 for k in range(int(row.max()) + 1)]
    return "".join("{" + ",".join(str(i) for i in c) + "}" for c in clusters)
