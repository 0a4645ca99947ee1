"""The lattice of partitions: order, meet, join and neighbours.

A partition is below another, a ≤ b, when every cluster of a lies inside a
cluster of b. The greatest partition, **1**, is one cluster; the least, **0**,
is all singletons.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from partita.kernels.arrays import Ints
from partita.partitions.labels import Labels, as_labels
from partita.partitions.partial import PartialPartition
from partita.partitions.types import LabelsLike


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
    >>> pt.meet([0, 0, 1, 1], [0, 1, 1, 1])
    array([0, 1, 2, 2], dtype=int32)
    """
    first, second = _pair(a, b)
    return as_labels(first.astype(np.int64) * (int(second.max()) + 1) + second)


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
    >>> pt.join([0, 0, 1, 1, 2], [0, 1, 1, 2, 3])
    array([0, 0, 0, 0, 1], dtype=int32)
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first, second = _pair(a, b)
    offset = int(first.max()) + 1
    n_nodes = offset + int(second.max()) + 1
    ones = np.ones(first.size, np.int8)
    links = coo_array((ones, (first, second + offset)), shape=(n_nodes, n_nodes))
    component = connected_components(links, directed=False)[1]
    return as_labels(component[first])


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
    >>> pt.refines([0, 1, 2, 2], [0, 0, 1, 1])
    True
    >>> pt.refines([0, 0, 1, 1], [0, 1, 2, 2])
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
    >>> [c.tolist() for c in pt.covers([0, 0, 1, 2])]
    [[0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 1, 1]]
    """
    return _merges(as_labels(labels))


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
    >>> [c.tolist() for c in pt.covered_by([0, 0, 0, 1])]
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
    >>> [c.tolist() for c in pt.closest_neighbours([0, 1, 2, 2])]
    [[0, 0, 1, 1], [0, 1, 2, 3]]
    >>> [c.tolist() for c in pt.closest_neighbours([0, 0, 0])]
    [[0, 1, 1], [0, 1, 0], [0, 0, 1]]
    """
    return _closest(as_labels(labels))


def _pair(a: LabelsLike, b: LabelsLike) -> tuple[Labels, Labels]:
    first = as_labels(a, argument="a")
    return first, as_labels(b, n_items=first.size, argument="b")


def _merges(vector: Labels) -> Iterator[Labels]:
    for low, high in combinations(range(int(vector.max()) + 1), 2):
        yield as_labels(np.where(vector == high, low, vector))


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
        yield as_labels(parted)


def _closest(vector: Labels) -> Iterator[Labels]:
    sizes = np.bincount(vector)
    singletons = np.flatnonzero(sizes == 1)
    if singletons.size >= 2:
        for low, high in combinations(singletons.tolist(), 2):
            yield as_labels(np.where(vector == high, low, vector))
        smallest = 2
    elif sizes.max() > 1:
        smallest = int(sizes[sizes > 1].min())
    else:
        return
    for cluster in np.flatnonzero(sizes == smallest).tolist():
        yield from _parts(vector, np.flatnonzero(vector == cluster), 1)
