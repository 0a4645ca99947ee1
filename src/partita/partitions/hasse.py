"""The Hasse diagram of the lattice of partitions, stretched by a loss."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from partita._result import Result
from partita._validate import whole
from partita.errors import UnknownNameError
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.partitions.enumeration import partition_blocks
from partita.partitions.labels import Labels

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
    loss : str

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
    loss: str

    def names(self) -> list[str]:
        """Each node as text, items counted from 1: ``{1,2}{3}``."""
        return [_name(row) for row in self.nodes]


def hasse_diagram(n: int, *, loss: object = "vi") -> HasseDiagram:
    """Hasse diagram of all partitions of n items, with heights stretched by a loss.

    The height of c is d(1, c), which is the entropy of c in bits for VI and
    1 − Σ(n_i/N)² for Binder's loss. Both losses are aligned with the lattice:
    the distance between two partitions is the length of the path down to their
    meet and up again, read off the heights.

    Parameters
    ----------
    n : int
        Number of items, 1 to 8 (4,140 nodes).
    loss : {"vi", "binder"}, or VI() or Binder()

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
    name = _aligned(loss)
    n = whole(n, "n", least=1, most=_MAX_DRAWN)
    nodes = np.concatenate(list(partition_blocks(n, 1024)))
    sizes = np.stack([(nodes == k).sum(axis=1) for k in range(n)], axis=1)
    heights = _heights(sizes / n, name)
    level = nodes.max(axis=1)
    # Highest level first, then by height, so that equal shapes stand side by side.
    order = np.lexsort((np.arange(len(nodes)), heights, level))
    nodes, heights, level = nodes[order], heights[order], level[order]
    positions = np.stack([_spread(level), -heights], axis=1)
    return HasseDiagram(nodes, _edges(nodes), heights, positions, name)


def _aligned(loss: object) -> str:
    """Name of a loss aligned with the lattice, given by name or by value."""
    # By attributes, because the losses live one floor up.
    fair = isinstance(loss, str) or getattr(loss, "a", None) == 1
    name = str(getattr(loss, "name", loss))
    if not fair or name not in ("vi", "binder"):
        raise UnknownNameError(
            f"loss={loss!r}; the Hasse diagram is stretched by 'vi' or 'binder' (with a=1), the "
            "losses that are aligned with the lattice.",
            argument="loss",
        )
    return name


def _heights(shares: Floats, loss: str) -> Floats:
    if loss == "binder":
        return np.asarray(1.0 - (shares**2).sum(axis=1))
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=1)) + 0.0  # + 0.0 turns the minus zero of 1 into 0


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
