"""The items whose place is least certain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita._text import words
from partita._validate import whole
from partita.credible.uncertainty import ItemUncertainty
from partita.plots.canvas import SMALL, cluster_legend, headline, library, one_axes, plain, shorten
from partita.plots.colours import colour, colour_indices
from partita.plots.inputs import of_kind
from partita.summary.result import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SEEN = 0.002
"""Probability below which a part of a bar is thinner than a line."""


@dataclass(frozen=True, eq=False)
class ItemBars:
    """Bars of probabilities, each divided by cluster: the estimated cluster first, then the rest.

    What is missing to 1 is the probability of no cluster of the estimate.

    Attributes
    ----------
    items : ndarray of int64, shape (n_shown,)
        From the least certain item on.
    row, cluster : ndarray of int64, shape (n_parts,)
        Place of the item among those shown, and cluster, of each part.
    start, length : ndarray of float, shape (n_parts,)
    """

    items: NDArray[np.int64]
    row: NDArray[np.int64]
    cluster: NDArray[np.int64]
    start: NDArray[np.float64]
    length: NDArray[np.float64]


def prepare_items(table: ItemUncertainty, n: int) -> ItemBars:
    """The n least certain items."""
    shown = table.order[:n]
    key = table.placement[shown, :-1].copy()
    key[np.arange(shown.size), table.labels[shown]] = 2.0  # above every probability: comes first
    order = np.argsort(-key, axis=1, kind="stable")
    length = np.take_along_axis(table.placement[shown, :-1], order, axis=1)
    start = np.cumsum(length, axis=1) - length
    row, column = np.nonzero(length > _SEEN)
    return ItemBars(shown, row, order[row, column], start[row, column], length[row, column])


def items(source: Summary | ItemUncertainty, *, n: int = 25, ax: Axes | None = None) -> Axes:
    """Bars of the probabilities with which the least certain items belong to each cluster.

    Each bar begins with the cluster the estimate puts the item into, so that
    its end is the item's ``probability``; then follow the other clusters, the
    most probable first. What is missing to 1 is the probability that the item's
    cluster in a draw is matched to no cluster of the estimate.

    Parameters
    ----------
    source : Summary or ItemUncertainty
    n : int, default 25
        How many items to show, from the least certain on.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]]
    >>> ax = pt.plots.items(pt.item_uncertainty(draws, [0, 0, 1, 1]))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['2', '3', '0', '1']
    """
    library("figure")
    expected = "a Summary or the result of partita.item_uncertainty(draws, estimate)."
    table = source.items if isinstance(source, Summary) else source
    of_kind(table, ItemUncertainty, expected)
    found = prepare_items(table, whole(n, "n", least=1))
    count, total = found.items.size, table.labels.size
    axes = one_axes(ax, width=6.4, height=max(2.2, 0.9 + 0.17 * count))
    indices = colour_indices([table.labels])[0]
    axes.barh(
        found.row,
        found.length,
        left=found.start,
        height=0.84,
        color=[colour(index) for index in indices[found.cluster].tolist()],
        edgecolor="white",
        linewidth=0.4,
    )
    axes.set(
        xlim=(0.0, 1.0),
        ylim=(count - 0.4, -0.6),
        xlabel=f"{words(table.kind).probability} of each cluster (blank: none of them)",
    )
    height = axes.get_window_extent().height * 72.0 / axes.figure.dpi
    size = min(SMALL, 0.8 * height / count)
    names = [shorten(table.name(i), 24) for i in found.items.tolist()]
    if size < 4.5:
        names = [""] * count
    plain(axes)
    axes.set_yticks(np.arange(count), names, fontsize=max(size, 4.5))
    axes.tick_params(axis="y", length=0.0)
    what = f"The {count:,} least certain of {total:,} items" if count < total else "All items"
    headline(axes, what, "each bar begins with the item's cluster in the estimate")
    seen = np.unique(found.cluster)
    cluster_legend(axes, indices, np.bincount(table.labels), only=seen)
    return axes
