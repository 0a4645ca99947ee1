"""The lattice of partitions: order, neighbours, enumeration, random partitions, diagrams."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._resources import require_memory
from partita._result import Result, as_html
from partita._validate import Rng, integer, integers, positive
from partita._validate import generator as generator_from
from partita._wording import counted
from partita.errors import InvalidInputError, InvalidLabelsError, NotSupportedError, about
from partita.kernels.arrays import Array, Floats, Int32s, Ints
from partita.labels import (
    Labels,
    LabelsLike,
    as_labels,
    by_size,
    names_of_items,
    plain_labels,
    relabel,
)

if TYPE_CHECKING:
    from partita.losses.base import Loss

__all__ = [
    "PartialPartition",
    "all_partitions",
    "bell_number",
    "closest_neighbours",
    "covered_by",
    "covers",
    "join",
    "meet",
    "random_partition",
    "refines",
    "stirling_number",
]


def __dir__() -> list[str]:
    return sorted(__all__)


NOT_STATED = -1
"""Label of the items a partial partition says nothing about."""


class PartialPartition:
    """A grouping of some of the items; −1 marks the others.

    Labels are numbered by size, the largest cluster first, ties by the first
    item. As an array (``np.asarray``) it is the label vector. Equal when the
    same items are grouped in the same way.

    Parameters
    ----------
    labels : array_like, shape (n_items,), or anything that stands for one partition
        Integers; negative ones are not stated. A file or an estimate states every item.

    Notes
    -----
    O(N). What needs every item placed, such as a loss, refuses it;
    :func:`partita.lattice.refines` takes it as its first argument.

    Examples
    --------
    >>> from partita.lattice import PartialPartition
    >>> part = PartialPartition([4, -1, 2, 2])
    >>> part
    <PartialPartition: 3 of 4 items in 2 clusters>
    >>> part.labels
    array([ 1, -1,  0,  0], dtype=int32)
    >>> part.agrees([0, 0, 1, 1]), part.agrees([0, 0, 0, 1])
    (True, False)
    """

    __slots__ = ("_labels",)

    @about("labels")
    def __init__(self, labels: LabelsLike | PartialPartition) -> None:
        values = plain_labels(labels, "labels of a partial partition", single=True)
        if values.ndim != 1 or values.size == 0:
            raise InvalidLabelsError(
                f"a partial partition has shape {values.shape}; expected one label per item, "
                "shape (n_items,)."
            )
        numbers = integers(values, "labels of a partial partition")
        clean = np.full(numbers.size, NOT_STATED, np.int32)
        stated = numbers >= 0
        if stated.any():
            clean[stated] = by_size(numbers[stated])
        clean.flags.writeable = False
        self._labels: Labels = clean

    @property
    def labels(self) -> Labels:
        """One label per item, −1 for items that are not grouped; read-only."""
        return self._labels

    @property
    def items(self) -> Ints:
        """Positions of the items that are grouped."""
        return np.flatnonzero(self._labels >= 0)

    @property
    def size(self) -> int:
        """Number of items that are grouped."""
        return int((self._labels >= 0).sum())

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the items that are grouped."""
        return int(self._labels.max()) + 1

    @property
    def is_full(self) -> bool:
        """Whether every item is grouped."""
        return bool((self._labels >= 0).all())

    def agrees(self, labels: LabelsLike) -> bool:
        """Whether a full partition groups the stated items exactly as this one does."""
        items = self.items
        full = as_labels(labels, n_items=self._labels.size)
        return items.size == 0 or bool((by_size(full[items]) == self._labels[items]).all())

    def __len__(self) -> int:
        return int(self._labels.size)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self._labels, dtype=dtype, copy=True if copy is None else copy)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartialPartition):
            return NotImplemented
        return np.array_equal(self._labels, other._labels)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        clusters = counted(self.n_clusters, "cluster")
        return f"<PartialPartition: {self.size:,} of {len(self):,} items in {clusters}>"

    def _repr_html_(self) -> str:
        return as_html(self)


def meet(a: LabelsLike, b: LabelsLike) -> Labels:
    """Greatest lower bound a ∧ b: two items are together when both partitions say so.

    Its clusters are the non-empty intersections of a cluster of ``a`` with a
    cluster of ``b``. For VI and Binder's loss d(a, b) = d(a, a∧b) + d(b, a∧b).

    Parameters
    ----------
    a, b : array_like, shape (n_items,)

    Returns
    -------
    ndarray of int32, shape (n_items,)
        Canonical labels.

    Notes
    -----
    Cost O(N).

    References
    ----------
    Wade and Ghahramani (2018), section 3.1 and Property 3.

    Examples
    --------
    >>> import partita as pt
    >>> pt.lattice.meet([0, 0, 1, 1], [0, 1, 1, 1])
    array([0, 1, 2, 2], dtype=int32)
    """
    first, second = _pair(a, b)
    cells = first.astype(np.int64) * (int(second.max()) + 1) + second
    return relabel(np.unique(cells, return_inverse=True)[1])


def join(a: LabelsLike, b: LabelsLike) -> Labels:
    """Least upper bound a ∨ b: items are together when a chain of clusters links them.

    Its clusters are the connected components of the graph whose nodes are the
    clusters of both partitions, linked when they share an item.

    Parameters
    ----------
    a, b : array_like, shape (n_items,)

    Returns
    -------
    ndarray of int32, shape (n_items,)
        Canonical labels.

    Notes
    -----
    Cost O(N).

    References
    ----------
    Wade and Ghahramani (2018), section 3.1.

    Examples
    --------
    >>> import partita as pt
    >>> pt.lattice.join([0, 0, 1, 1, 2], [0, 1, 1, 2, 3])
    array([0, 0, 0, 0, 1], dtype=int32)
    """
    return relabel(components(*_pair(a, b)))


def components(first: Labels, second: Labels) -> Labels:
    """The cluster of the join that each item is in, in any numbering."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    offset = int(first.max()) + 1
    n_nodes = offset + int(second.max()) + 1
    ones = np.ones(first.size, np.int8)
    links = coo_array((ones, (first, second + offset)), shape=(n_nodes, n_nodes))
    component: Labels = connected_components(links, directed=False)[1]
    return component[first]


def refines(a: LabelsLike, b: LabelsLike) -> bool:
    """Whether a ≤ b: every cluster of ``a`` lies inside a cluster of ``b``.

    Parameters
    ----------
    a, b : array_like, shape (n_items,)
        ``a`` may be a PartialPartition: each cluster it states lies inside a cluster of ``b``.

    Returns
    -------
    bool

    Notes
    -----
    Cost O(N). Every partition refines itself.

    References
    ----------
    Wade and Ghahramani (2018), section 3.1.

    Examples
    --------
    >>> import partita as pt
    >>> pt.lattice.refines([0, 1, 2, 2], [0, 0, 1, 1])
    True
    >>> pt.lattice.refines([0, 0, 1, 1], [0, 1, 2, 2])
    False
    """
    if isinstance(a, PartialPartition):
        if not a.size:
            return True
        b = as_labels(b, n_items=len(a))[a.items]
        a = a.labels[a.items]
    first, second = _pair(a, b)
    # a ≤ b exactly when the meet has no more clusters than a.
    return int(meet(first, second).max()) == int(first.max())


def covers(labels: LabelsLike) -> Iterator[Labels]:
    """The covers of a partition, one step up the lattice: each merges two of its clusters.

    Parameters
    ----------
    labels : array_like, shape (n_items,)

    Yields
    ------
    ndarray of int32, shape (n_items,)
        Canonical labels; k(k−1)/2 of them for k clusters.

    Notes
    -----
    Lazy; cost O(N) each.

    Examples
    --------
    >>> import partita as pt
    >>> [c.tolist() for c in pt.lattice.covers([0, 0, 1, 2])]
    [[0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 1, 1]]
    """
    vector = as_labels(labels)
    return _merges(vector, range(int(vector.max()) + 1))


def covered_by(labels: LabelsLike) -> Iterator[Labels]:
    """The partitions covered by one, one step down the lattice: each splits one cluster in two.

    Parameters
    ----------
    labels : array_like, shape (n_items,)

    Yields
    ------
    ndarray of int32, shape (n_items,)
        Canonical labels; 2^(n−1) − 1 of them for each cluster of size n. Within
        a cluster the most uneven splits, which are the closest under VI and
        Binder's loss, come first.

    Notes
    -----
    Lazy; cost O(N) each. There are too many to exhaust once a cluster has more
    than about twenty items.

    Examples
    --------
    >>> import partita as pt
    >>> [c.tolist() for c in pt.lattice.covered_by([0, 0, 0, 1])]
    [[0, 1, 1, 2], [0, 1, 0, 2], [0, 0, 1, 2]]
    """
    return _splits(as_labels(labels))


def closest_neighbours(labels: LabelsLike) -> Iterator[Labels]:
    """The partitions at the smallest positive distance, the same under VI and Binder's loss.

    With at least two singletons: those that merge two singletons, and those
    that split a cluster of size two. Otherwise: those that split a singleton
    off a smallest cluster of size above one.

    Parameters
    ----------
    labels : array_like, shape (n_items,)

    Yields
    ------
    ndarray of int32, shape (n_items,)
        Canonical labels; none for a single item, which has one partition only.

    Notes
    -----
    Lazy; cost O(N) each.

    References
    ----------
    Wade and Ghahramani (2018), Property 5.

    Examples
    --------
    >>> import partita as pt
    >>> [c.tolist() for c in pt.lattice.closest_neighbours([0, 1, 2, 2])]
    [[0, 0, 1, 1], [0, 1, 2, 3]]
    >>> [c.tolist() for c in pt.lattice.closest_neighbours([0, 0, 0])]
    [[0, 1, 1], [0, 1, 0], [0, 0, 1]]
    """
    return _closest(as_labels(labels))


def _pair(a: LabelsLike, b: LabelsLike) -> tuple[Labels, Labels]:
    first = as_labels(a, argument="a")
    return first, as_labels(b, n_items=first.size, names=names_of_items(a), argument="b")


def _merges(vector: Labels, clusters: Iterable[int]) -> Iterator[Labels]:
    for low, high in combinations(clusters, 2):
        yield relabel(np.where(vector == high, low, vector))


def _splits(vector: Labels) -> Iterator[Labels]:
    for cluster in range(int(vector.max()) + 1):
        members = np.flatnonzero(vector == cluster)
        for size in range(1, members.size // 2 + 1):
            yield from _parts(vector, members, size)


def _parts(vector: Labels, members: Ints, size: int) -> Iterator[Labels]:
    """Split ``size`` members off their cluster, each split once."""
    fixed, rest, chosen = members[:0], members, size
    if 2 * size == members.size:  # both halves name the same split: keep the first member's
        fixed, rest, chosen = members[:1], members[1:], size - 1
    for others in combinations(rest.tolist(), chosen):
        parted = vector.copy()
        parted[fixed] = parted[list(others)] = int(vector.max()) + 1
        yield relabel(parted)


def _closest(vector: Labels) -> Iterator[Labels]:
    sizes = np.bincount(vector)
    singletons = np.flatnonzero(sizes == 1)
    if singletons.size >= 2:
        yield from _merges(vector, singletons.tolist())
        smallest = 2
    elif sizes.max() > 1:
        smallest = int(sizes[sizes > 1].min())
    else:
        return
    for cluster in np.flatnonzero(sizes == smallest).tolist():
        yield from _parts(vector, np.flatnonzero(vector == cluster), 1)


MAX_ENUMERATED = 12
"""Most items whose partitions are listed: Bell(12) is 4.2 million, Bell(13) 27.6 million."""

_LARGEST = 10_000
"""Most items whose partitions are counted: the numbers have 27,665 digits there."""


def bell_number(n: int) -> int:
    """Number of partitions of n items, exactly.

    B(n) = Σ_k S(n, k), with S the Stirling numbers of the second kind.

    Parameters
    ----------
    n : int
        Number of items, at least 0.

    Returns
    -------
    int
        A Python integer of any size; ``math.log`` takes it whole.

    Notes
    -----
    Bell's triangle, O(n²) additions.

    References
    ----------
    Rota, G.-C. (1964), The number of partitions of a set. American
    Mathematical Monthly 71.

    Examples
    --------
    >>> import partita as pt
    >>> [pt.lattice.bell_number(n) for n in range(7)]
    [1, 1, 2, 5, 15, 52, 203]
    """
    row = [1]
    for _ in range(integer(n, "n", most=_LARGEST)):
        row = list(accumulate([row[-1], *row]))
    return row[0]


def stirling_number(n: int, k: int) -> int:
    """Number of partitions of n items into k clusters (Stirling, second kind), exactly.

    S(n, k) = (1/k!) Σ_j (−1)^(k−j) C(k, j) jⁿ

    Parameters
    ----------
    n, k : int
        Numbers of items and of clusters, at least 0.

    Returns
    -------
    int

    Notes
    -----
    O(k) products of Python integers.

    References
    ----------
    Graham, R. L., Knuth, D. E. and Patashnik, O. (1994), Concrete
    Mathematics, section 6.1.

    Examples
    --------
    >>> import partita as pt
    >>> [pt.lattice.stirling_number(4, k) for k in range(1, 5)]
    [1, 7, 6, 1]
    """
    n, k = integer(n, "n", most=_LARGEST), integer(k, "k", most=_LARGEST)
    if k > n:
        return 0
    terms = (math.comb(k, j) * j**n * (1 if (k - j) % 2 == 0 else -1) for j in range(k + 1))
    total: int = sum(terms)
    return total // math.factorial(k)


def all_partitions(n: int) -> Iterator[Labels]:
    """Every partition of n items, once, from one cluster to all singletons.

    Restricted growth strings in lexicographic order. For exact answers on
    small problems, and as an oracle in tests.

    Parameters
    ----------
    n : int
        Number of items, 1 to 12.

    Yields
    ------
    ndarray of int32, shape (n,)
        Canonical labels.

    Notes
    -----
    Lazy; :func:`bell_number` of n in all: 4,213,597 for n = 12.

    Examples
    --------
    >>> import partita as pt
    >>> [c.tolist() for c in pt.lattice.all_partitions(3)]
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]]
    """
    blocks = partition_blocks(n, 256)
    return (row for block in blocks for row in block)


def partition_blocks(n: int, rows: int) -> Iterator[Labels]:
    """Every partition of n items in matrices of up to ``rows`` rows, for searches in bulk."""
    items = integer(n, "n")
    if not 1 <= items <= MAX_ENUMERATED:
        # Counted only where that is quick: the numbers grow faster than exponentially.
        many = f"{bell_number(items):.3g}" if items <= 200 else "more than 1e+275"
        raise InvalidInputError(
            f"n={n}; partitions are listed for 1 to {MAX_ENUMERATED} items, and {items:,} items "
            f"have {many} of them. Draw some with random_partition instead.",
            argument="n",
        )
    return _blocks(items, rows)


def partition_table(n: int) -> Labels:
    """Every partition of n items in one matrix."""
    return np.concatenate(list(partition_blocks(n, 1024)))


def _blocks(n: int, rows: int) -> Iterator[Labels]:
    from partita.kernels.labels import fill_partitions

    current = np.zeros(n, np.int32)
    first = 1  # the kernel writes successors: the one-cluster partition is put in here
    while True:
        block = np.zeros((rows, n), np.int32)
        filled = first + fill_partitions(current, block[first:])
        if filled:
            yield block[:filled]
        if filled < rows:
            return
        first = 0


def random_partition(n: int, *, concentration: float = 1.0, rng: Rng | None = None) -> Labels:
    """Draw a partition of n items from the Chinese restaurant process.

    P(c) = α^k Γ(α)/Γ(α+n) · Π_j (n_j − 1)!, the partition law of a Dirichlet
    process with concentration α. The expected number of clusters is
    Σ_i α/(α+i), i = 0 … n−1.

    Parameters
    ----------
    n : int
        Number of items, at least 1.
    concentration : float
        α > 0; larger values give more clusters.
    rng : int, SeedSequence or Generator, optional
        Another partition each time by default.

    Returns
    -------
    ndarray of int32, shape (n,)
        Canonical labels.

    Notes
    -----
    Cost O(n log n). For the prior of a model with data, see ``sample``.

    References
    ----------
    Pitman (2006), Combinatorial Stochastic Processes, chapter 3.

    Examples
    --------
    >>> import partita as pt
    >>> pt.lattice.random_partition(8, concentration=1.0, rng=1).shape
    (8,)
    """
    n, concentration = integer(n, "n", least=1), positive(concentration, "concentration")
    require_memory(40 * n, f"a random partition of {n:,} items", "Ask for fewer items.")
    generator = generator_from(rng, default=None)
    item = np.arange(n)
    opens = generator.random(n) < concentration / (concentration + item)
    opens[0] = True
    # An item that opens no cluster joins that of an earlier item chosen uniformly, which picks a
    # cluster with probability proportional to its size. Following the links leads to the opener.
    leader = np.where(opens, item, generator.integers(0, np.maximum(item, 1)))
    while not opens[leader].all():
        leader = leader[leader]
    return as_labels(leader)


# ------------------------------------------------------------------ the Hasse diagram


_MAX_DRAWN = 8


@dataclass(frozen=True, eq=False, repr=False)
class HasseDiagram(Result):
    """Nodes, edges and heights of a Hasse diagram.

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
    edges: Ints
    heights: Floats
    positions: Floats
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
    from partita.draws import Draws
    from partita.losses.evaluate import as_loss

    measure = as_loss(loss)
    n = integer(n, "n", least=1, most=_MAX_DRAWN)
    _refuse_unaligned(measure, n)
    nodes = partition_table(n)
    heights = measure.distances(np.zeros(n, np.int32), Draws(nodes), n_jobs=1)
    level = nodes.max(axis=1)
    # Highest level first, then by height, so that equal shapes stand side by side.
    order = np.lexsort((np.arange(len(nodes)), heights.round(9), level))
    nodes, heights, level = nodes[order], heights[order], level[order]
    positions = np.stack([_spread(level), -heights], axis=1)
    return HasseDiagram(nodes, _edges(nodes), heights, positions, measure)


def _refuse_unaligned(loss: Loss, n: int) -> None:
    """Raise unless distances are those by way of the meet, on all partitions of a few items."""
    from partita.losses.evaluate import pairwise_distances
    from partita.losses.user import EXACT, FEW_ITEMS

    rows = partition_table(min(n, FEW_ITEMS))
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
