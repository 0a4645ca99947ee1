"""Representative clusterings side by side, and their number."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from partita._wording import counted, in_unit, with_unit, words
from partita.draws import Draws
from partita.errors import InvalidInputError
from partita.kernels.arrays import Array, Ints
from partita.labels import DataLike, Labels
from partita.plots import _style as style
from partita.plots._on_data import draw_cross_table, panels_note, scene_of
from partita.representative.modes import Modes
from partita.representative.representatives import MIN_GAIN, Representatives
from partita.representative.runs import RunComparison
from partita.samplers.fit import Fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_COLUMNS = 3

MOST_BLOCKS = 1_500
"""Items up to which similarity matrices are shown when there are no data."""


def representatives(
    source: Representatives | Modes,
    *,
    data: DataLike | None = None,
    fit: Fit | None = None,
    dims: Sequence[int | str] | None = None,
    density: tuple[ArrayLike, ArrayLike] | None = None,
    ellipses: bool | None = None,
    axes: Sequence[Axes] | Array | None = None,
    n_jobs: int | None = None,
) -> Array:
    """Each representative in a panel with the mass of its region; what differs is marked.

    Clusters keep their colours from panel to panel. With data, items that are
    elsewhere than in the first panel have a ring. Without, each panel shows
    the similarity matrix of the draws of its region, in the item order of the
    first, with a frame around each cluster and a mark at each item that moved;
    beyond 1,500 items, bars of the first one's clusters divided by its own.

    Parameters
    ----------
    source : Representatives or Modes
    data, fit, dims, density, ellipses, n_jobs
        As in :func:`estimate`.
    axes : one Axes for each representative, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ndarray of Axes, shape (n,)

    Examples
    --------
    >>> import partita as pt
    >>> found = pt.representatives([[0, 0, 1, 1]] * 3 + [[0, 1, 0, 1]] * 2, n=2)
    >>> panels = pt.plots.representatives(found)
    >>> print(panels[0].get_title(loc="left"))
    0: mass 60%
    2 clusters
    """
    expected = "Representatives or Modes. partita.representatives(draws) makes them."
    style.require_kind(source, (Representatives, Modes), expected)
    n_items = source.labels.shape[1]
    scene = scene_of(source, n_items, data, fit, dims, density, ellipses, n_jobs)
    indices = style.colour_indices(list(source.labels))
    drawn = style.many_axes(
        axes, source.n, columns=_COLUMNS, width=3.3, height=3.3, sharex=True, sharey=True
    )
    order = np.lexsort(source.labels[::-1])  # by all representatives in turn
    for r, ax in enumerate(drawn):
        labels, moved = source.labels[r], moved_items(source, r)
        if scene is not None:
            scene.draw(ax, labels, indices[r])
            x, y = scene.places
            ring: dict[str, Any] = {"facecolor": "none", "edgecolor": style.INK, "linewidth": 0.9}
            ax.scatter(x[moved], y[moved], s=70.0, zorder=5, **ring)
            note = "rings: items that are elsewhere than in 0"
        elif n_items <= MOST_BLOCKS:
            mine = source.draws[np.flatnonzero(source.assignment == r)]
            _draw_blocks(ax, mine, order, labels[order], indices[r], np.argsort(order)[moved])
            note = "similarity within each region, items in the order of 0; marks: items that moved"
        else:
            draw_cross_table(ax, source.labels[0], labels, indices[r])
            note = "clusters of 0, divided by those of each"
        style.headline(ax, _title(source, r))
    panels_note(axes, drawn, note, scene, _COLUMNS)
    return drawn


def moved_items(source: Representatives | Modes, number: int) -> Ints:
    """Items that are elsewhere in one representative than in the first."""
    changes = source.explain(number).changes
    return np.sort(np.concatenate([np.empty(0, np.int64), *(c.items for c in changes)]))


def _title(source: Representatives | Modes, r: int) -> str:
    lines = f"{r}: mass {100 * source.weights[r]:.3g}%\n"
    lines += counted(int(source.n_clusters[r]), "cluster")
    if r:
        far = in_unit(f"{source.explain(r).distance:.2g}", source.loss.unit)
        lines += f", {far} from 0"
    return lines


def _draw_blocks(
    ax: Axes, draws: Draws, order: Ints, labels: Labels, indices: Ints, moved: Ints
) -> None:
    """Similarity of a region, a frame around each cluster, and a mark at each item that moved."""
    from partita.similarity_matrix import similarity

    n = order.size
    style.heat(ax, similarity(draws)[np.ix_(order, order)], aspect="equal")
    edges = np.concatenate([[0], np.flatnonzero(np.diff(labels)) + 1, [n]])
    for start, stop in pairwise(edges.tolist()):
        side, edge = stop - start, style.colour(int(indices[labels[start]]))
        style.frame(ax, (start - 0.5, start - 0.5), side, side, edgecolor=edge, linewidth=1.6)
    ax.plot(moved, np.full(moved.size, 1.03 * n - 0.5), "^", color=style.INK, markersize=3.0)
    ax.set(xlim=(-0.5, n - 0.5), ylim=(1.06 * n - 0.5, -0.5), xticks=[], yticks=[])
    style.plain(ax)
    ax.spines[["left", "bottom"]].set_visible(False)


def representatives_curve(source: Representatives, *, ax: Axes | None = None) -> Axes:
    """Mean distance to the nearest of n representatives, on held-out draws, and the n chosen.

    Parameters
    ----------
    source : Representatives
        Made without ``n``, so that it was chosen.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import partita as pt
    >>> found = pt.representatives([[0, 0, 1, 1]] * 9 + [[0, 1, 0, 1]] * 9)
    >>> ax = pt.plots.representatives_curve(found)
    >>> ax.get_title(loc="left")
    'How many representatives? 2'
    """
    curve = style.result_of(source, Representatives, "representatives").curve
    if curve is None:
        raise InvalidInputError(
            "there is no held-out curve: the number of representatives was given. "
            "partita.representatives(draws) without n chooses it, and keeps the curve.",
            argument="source",
        )
    axes = style.one_axes(ax, width=4.6, height=3.4)
    own = words(source.draws.kind).draws
    chosen, shown = curve.chosen, [curve.chosen - 1]
    wanted = curve.held_out[shown[0]] - MIN_GAIN * curve.held_out[0] * (curve.n - chosen)
    later = curve.n >= chosen
    axes.plot(curve.n[later], wanted[later], color=style.GREY, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.plot(
        curve.n, curve.fitted, color=style.GREY, linewidth=1.0, label=f"{own} that chose them"
    )
    style.points_with_errors(
        axes, curve.n, curve.held_out, curve.error, shown, label=f"held-out {own}"
    )
    axes.set_ylim(bottom=0.0 if curve.fitted.min() < 0.3 * curve.held_out.max() else None)
    axes.legend(fontsize=style.SMALL, frameon=False, loc="upper right")
    note = f"dashed: each further one takes off {100 * MIN_GAIN:g}% of the distance to one"
    distance = with_unit("mean distance to the nearest", source.loss.unit)
    title = f"How many representatives? {chosen}"
    style.finish(axes, title, note, whole=8, xlabel="representatives", ylabel=distance)
    return axes


def by_run(source: RunComparison, *, ax: Axes | None = None) -> Axes:
    """How far the runs of each group are from the consensus, and from each other.

    Parameters
    ----------
    source : RunComparison
        Made by :func:`partita.anndata.by_run`.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> from partita.representative.runs import compare_runs
    >>> runs = pt.as_draws([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]], kind="ensemble")
    >>> found = compare_runs(runs, ["0.2", "0.2", "1.0"], pt.canonical([0, 0, 1, 1]), pt.VI())
    >>> ax = pt.plots.by_run(found)
    >>> ax.get_xlabel()
    'distance (bits)'
    """
    style.result_of(source, RunComparison, "anndata.by_run")
    n = len(source.groups)
    axes = style.one_axes(ax, width=6.4, height=1.5 + 0.32 * n)
    places = np.arange(n)
    best = int(source.to_consensus.argmin())
    spread = np.isfinite(source.spread)
    axes.hlines(places, 0.0, source.to_consensus, color=style.OTHER, linewidth=1.2)
    axes.plot(source.to_consensus, places, "o", color=style.colour(0), label="to the consensus")
    axes.plot(
        source.spread[spread],
        places[spread],
        "o",
        color=style.INK,
        markerfacecolor="none",
        label="between its runs",
    )
    rows = [
        f"{style.shorten(name, 40)}, {few if few == many else f'{few}–{many}'} clusters"
        for name, few, many in zip(
            source.groups, source.fewest.tolist(), source.most.tolist(), strict=True
        )
    ]
    axes.set_yticks(places, rows)
    axes.get_yticklabels()[best].set_fontweight("bold")
    axes.set_ylim(n - 0.5, -0.5)
    axes.margins(x=0.04)
    axes.axvline(0.0, color=style.GREY, linewidth=0.8)
    style.legend_beside(axes, axes.get_legend_handles_labels()[0], "mean distance of the runs")
    title = f"{style.shorten(source.groups[best], 40)} is nearest to the consensus"
    note = "how far the runs of each group are from it, and from each other"
    style.finish(axes, title, note, xlabel=with_unit("distance", source.loss.unit))
    return axes
