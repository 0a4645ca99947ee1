"""The credible core: how its probability falls with its size, and where its items are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._text import words
from partita.credible.core import CredibleCore, holding
from partita.errors import InvalidInputError
from partita.labels import DataLike
from partita.plots._on_data import prepare_view
from partita.plots._style import (
    GREY,
    INK,
    OTHER,
    cluster_legend,
    colour,
    headline,
    library,
    many_axes,
    marker,
    observations_of,
    plain,
    remark,
    whole_ticks,
)
from partita.summary.result import Summary
from partita.summary.summarize import Observations

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def core(
    source: CredibleCore | Summary,
    *,
    data: DataLike | None = None,
    dims: Sequence[int | str] | None = None,
    axes: Axes | Sequence[Axes] | NDArray[Any] | None = None,
) -> NDArray[Any]:
    """The curve of a credible core, and its items on the data, all others greyed out.

    The curve is the probability of the first items of the core's path, on the draws held out;
    the core ends where its lower confidence limit reaches the probability asked for. Of an
    ensemble, and of a core that describes its draws, it is the share of them.

    Parameters
    ----------
    source : CredibleCore, or Summary
        Of a summary its own, a short search at 0.9; see :func:`partita.credible_core`.
    data : array_like, shape (n_items,) or (n_items, n_columns), optional
        The observations; by default those of the summary. Without any the curve is
        drawn alone.
    dims : sequence of two columns, optional
        Columns to show, by name or position; by default one or two as they are, more
        as principal components.
    axes : Axes, optional
        One, or two with data; a new figure by default.

    Returns
    -------
    ndarray of Axes

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]]
    >>> panels = pt.plots.core(pt.credible_core(draws, held_out=False), data=[1.0, 1.2, 3.0, 3.1])
    >>> panels[0].get_xlabel()
    'items'
    """
    library("figure")
    found = source.core if isinstance(source, Summary) else source
    if not isinstance(found, CredibleCore):
        raise InvalidInputError(
            f"got {type(source).__name__}; expected a CredibleCore, or a Summary of draws few "
            "enough for a quick one. partita.credible_core(draws) makes one.",
            argument="source",
        )
    observed = observations_of(source, data, None, found.draws.n_items)
    count = 1 if observed is None else 2
    panels = many_axes(axes, count, columns=2, width=4.6, height=3.4)
    _curve(panels[0], found)
    if observed is not None:
        _items(panels[1], found, observed, dims)
    return panels


def _curve(ax: Axes, found: CredibleCore) -> None:
    said = words(found.draws.kind)
    sizes = np.arange(1, found.curve.size + 1)
    ax.step(sizes, found.curve, where="post", color=colour(0), linewidth=1.4)
    ax.axhline(found.prob, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)))
    reached = float(found.curve[found.size - 1])
    reached = max(reached, found.probability) if found.is_held_out else reached
    ax.plot([found.size], [reached], "o", color=INK, markersize=5)
    if found.is_held_out and found.size > 1:
        low = found.probability_low
        ax.plot([found.size, found.size], [low, reached], color=INK, linewidth=1.0)
    text = f"{found.size:,} items\n{holding(found)}"
    above = (6.0, -4.0) if reached > 0.8 else (6.0, 6.0)  # below the note
    layout = {"va": "top"} if reached > 0.8 else {}
    remark(ax, text, (found.size, reached), above, color=INK, **layout)
    ax.set(xlim=(0.5, found.curve.size + 0.5), ylim=(0.0, 1.06))
    ax.set(xlabel="items", ylabel=f"{said.probability} that all are grouped alike")
    plain(ax)
    whole_ticks(ax, "x")
    held_out = "on held-out draws; the bar ends at the lower 95% limit"
    where = held_out if found.is_held_out else f"in these {said.draws}"
    headline(ax, f"What holds {said.holding.format(f'{found.prob:g}')}", where)


def _items(
    ax: Axes, found: CredibleCore, observed: Observations, dims: Sequence[int | str] | None
) -> None:
    view = prepare_view(observed, dims)
    x = view.points[:, 0]
    labels = found.labels
    flat = view.points.shape[1] == 1
    # On a line the clusters are stacked in the order of their numbers, below them the rest.
    height = np.searchsorted(found.clusters, labels).astype(np.float64)
    height[labels < 0] = -1.0
    y = height if flat else view.points[:, 1]
    outside = labels < 0
    ax.scatter(x[outside], y[outside], s=9, color=OTHER, linewidths=0.0, zorder=1)
    for c in found.clusters.tolist():
        mine = labels == c
        ax.scatter(
            x[mine],
            y[mine],
            s=24,
            color=colour(c),
            marker=marker(c),
            edgecolors="white",
            linewidths=0.4,
            zorder=2,
        )
    ax.set_xlabel(view.names[0])
    if flat:
        ticks = [-1, *range(found.n_clusters)]
        ax.set_yticks(ticks, ["not stated", *map(str, found.clusters.tolist())])
        ax.set_ylabel("cluster of the core")
    else:
        ax.set_ylabel(view.names[1])
    plain(ax)
    n = found.draws.n_items
    headline(ax, f"{found.size:,} of {n:,} items in the core", "grey: nothing is stated")
    sizes = np.bincount(labels[~outside])
    cluster_legend(ax, np.arange(sizes.size), sizes, only=found.clusters)
