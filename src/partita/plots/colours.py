"""Colours and marker shapes of clusters, told apart by colour-blind readers as well.

They follow clusters from one partition to the next. Needs NumPy and SciPy only, so that everything
which shows clusters can use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita.kernels.arrays import Bools, Ints
from partita.labels import Labels, shared_items

Shape = Literal["circle", "square", "triangle", "diamond", "inverted_triangle", "hex", "plus"]

COLOURS: tuple[str, ...] = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#404040"),
    *("#2D0078", "#0000D2", "#B4D2B4", "#C31EFF", "#785A69", "#874B00", "#78E1FF", "#2D2D00"),
    *("#692D96", "#A5B487", "#4B004B", "#D200B4", "#E1C369", "#9687FF", "#5A3C00", "#2D3C69"),
)
"""Okabe and Ito's colours (black as dark grey, apart from text), then 16 more.

Each of the 16 is the colour farthest from white and all earlier ones, in OKLab, for the nearest
pair as seen with normal, protanopic, deuteranopic or tritanopic vision. No pair is closer under
red-green blindness than the closest pair of the first eight.
"""

SHAPES: tuple[Shape, ...] = get_args(Shape)
"""One per eight colours, so that clusters of similar colours differ in shape."""

_PER_SHAPE = 8

OTHER = "#BDBDBD"
"""Light grey, for what belongs to no cluster."""

_TOGETHER = ("#FFFFFF", "#FDDDB0", "#F98E6A", "#D6456C", "#8C2981", "#45107A", "#0B0724")


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


def _continue_extra(labels: Labels, indices: Ints, extra: list[Bools], offset: int) -> None:
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


def _assign(table: Ints) -> Ints:
    """Row assigned to each column, −1 for none, so that the assigned entries add up to the most."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(table, maximize=True)
    found = np.full(table.shape[1], -1, np.int64)
    common = table[rows, columns] > 0
    found[columns[common]] = rows[common]
    return found


def similarity_colours() -> list[str]:
    """256 colours of similarities from 0 to 1, the same in every figure and in the report.

    White for never together, and ever darker, so that it survives a copy in black and white.
    """
    return mixed_colours(_TOGETHER, 256)


def mixed_colours(scale: Sequence[str], n: int) -> list[str]:
    """So many colours, as ``#RRGGBB``, evenly along a scale."""
    stops = np.array([channels(c) for c in scale])
    at = np.linspace(0.0, len(scale) - 1.0, max(n, 2))[:n]
    mixed = [np.interp(at, np.arange(len(scale)), channel) for channel in stops.T]
    return ["#{:02X}{:02X}{:02X}".format(*row) for row in np.rint(mixed).astype(int).T.tolist()]


def channels(text: str) -> list[int]:
    """Red, green and blue of ``#RRGGBB``, from 0 to 255."""
    return [int(text[i : i + 2], 16) for i in (1, 3, 5)]


def colour(index: int) -> str:
    """Colour of the cluster with a colour index, as ``#RRGGBB``; they repeat after 24.

    Examples
    --------
    >>> from partita.plots.colours import colour, shape
    >>> colour(0), shape(0), shape(8)
    ('#0072B2', 'circle', 'square')
    """
    return COLOURS[index % len(COLOURS)]


def shape(index: int) -> Shape:
    """Marker shape of the cluster with a colour index; with its colour unique below 168."""
    return SHAPES[index // _PER_SHAPE % len(SHAPES)]


def is_dark(text: str) -> bool:
    """Whether writing on a colour must be white to be legible."""
    seen = np.array(channels(text)) / 255.0
    linear = np.where(seen <= 0.04045, seen / 12.92, ((seen + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ np.array([0.2126, 0.7152, 0.0722]))
    # Where contrast with white and with black, as WCAG 2 defines it, are equal.
    return luminance < 0.179
