"""Colours that follow clusters from one partition to the next.

Needs NumPy and SciPy only, so that everything which shows clusters can use it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita.partitions.labels import Labels, shared_items


def match_clusters(reference: ArrayLike, other: ArrayLike) -> NDArray[np.int64]:
    r"""The cluster of the reference that each cluster of another partition corresponds to.

    .. math:: \max_{\pi} \sum_j n_{\pi(j) j}

    over one-to-one assignments π, with n the cross table: the assignment which
    leaves the fewest items in clusters that do not correspond. −1 stands for a cluster left over
    or without a common item. The Hungarian method, O(K³) for K clusters.

    Examples
    --------
    >>> from partita.plots.colours import match_clusters
    >>> match_clusters([0, 0, 0, 1, 1, 1], [0, 1, 1, 2, 2, 2])
    array([-1,  0,  1])
    """
    return _assign(shared_items(_dense(reference), _dense(other)))


def colour_indices(partitions: Sequence[ArrayLike]) -> list[NDArray[np.int64]]:
    """Colour index of each cluster of each partition, the same for corresponding clusters.

    The first partition is the reference: its clusters get 0, 1, … from the
    largest on, so that large clusters have the most distinct colours. Clusters
    of the others take the index of the cluster of the reference they are
    matched with by :func:`match_clusters`; those left over are matched with
    what was left over in earlier partitions, or else get new indices. For labels 0, 1, … of
    partition p, ``indices[p][labels]`` is the index of each item.

    Examples
    --------
    >>> from partita.plots.colours import colour_indices
    >>> estimate, bound = [0, 0, 1, 1, 1, 1], [0, 0, 1, 2, 2, 2]
    >>> colour_indices([estimate, bound])
    [array([1, 0]), array([1, 2, 0])]
    """
    first, *others = (_dense(labels) for labels in partitions)
    sizes = np.bincount(first)
    start = np.empty(sizes.size, np.int64)
    start[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
    found = [start]
    extra: list[NDArray[np.bool_]] = []  # items of each cluster that got a new index
    for vector in others:
        matched = match_clusters(first, vector)
        indices = np.where(matched >= 0, start[matched], -1)
        _continue_extra(vector, indices, extra, sizes.size)
        found.append(indices)
    return found


def _dense(labels: ArrayLike) -> Labels:
    """Labels 0, 1, … in the order of the values, so that a reported numbering stays."""
    return np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.int32)


def _continue_extra(
    labels: Labels, indices: NDArray[np.int64], extra: list[NDArray[np.bool_]], offset: int
) -> None:
    """Give left-over clusters indices from ``offset`` on, in place; new ones are remembered."""
    counts = np.bincount(labels)
    left = np.flatnonzero(indices < 0)
    left = left[np.argsort(-counts[left], kind="stable")]
    if extra and left.size:
        table = np.array([np.bincount(labels[items], minlength=counts.size) for items in extra])
        known = _assign(table[:, left])
        indices[left] = np.where(known >= 0, offset + known, -1)
        left = left[known < 0]
    for cluster in left.tolist():
        indices[cluster] = offset + len(extra)
        extra.append(labels == cluster)


def _assign(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row assigned to each column, −1 for none, so that the assigned entries add up to the most."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(table, maximize=True)
    found = np.full(table.shape[1], -1, np.int64)
    common = table[rows, columns] > 0
    found[columns[common]] = rows[common]
    return found
