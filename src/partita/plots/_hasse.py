"""The Hasse diagram of all partitions of a few items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita._text import counted, percent, with_unit
from partita._tolerance import DISTANCE
from partita.credible.ball import CredibleBall, tie_tolerance
from partita.draws import Draws
from partita.errors import InvalidInputError
from partita.labels import Labels, LabelsLike, as_labels
from partita.losses.base import Loss
from partita.losses.evaluate import as_loss
from partita.losses.hasse import HasseDiagram, hasse_diagram
from partita.plots._style import (
    INK,
    SMALL,
    ball_of,
    headline,
    is_dark,
    key_beside,
    library,
    mixed_colours,
    one_axes,
    plain,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_NAMED = 5
"""Most items for which every partition can be named."""

_SCALE = ("#0B3C5D", "#0072B2", "#56B4E9", "#BFE3F5", "#FFF3C4", "#F7C86A", "#E69F00", "#B34700")
"""From the centre outwards, dark to light to dark in another hue; cut to the number of levels."""


@dataclass(frozen=True, eq=False)
class LatticeColours:
    """Distances of all partitions from a centre.

    Attributes
    ----------
    center : int
        Node of the centre.
    level : ndarray of int64, shape (n_nodes,)
        Rank of each node's distance, 0 for the centre; −1 outside the ball.
    distances : ndarray of float, shape (n_levels,)
        The distances, increasing.
    """

    center: int
    level: NDArray[np.int64]
    distances: NDArray[np.float64]


def prepare_lattice(
    diagram: HasseDiagram, center: Labels, loss: Loss, radius: float = np.inf
) -> LatticeColours:
    """Levels of equal distance around a centre, up to a radius."""
    apart = loss.distances(center, Draws(diagram.nodes))
    tolerance = max(tie_tolerance(loss), DISTANCE)
    order = np.argsort(apart, kind="stable")
    steps = np.concatenate(([0], np.diff(apart[order]) > tolerance))
    level = np.empty(apart.size, np.int64)
    level[order] = np.cumsum(steps)
    level[apart > radius + tolerance] = -1
    values = np.array([apart[level == k].mean() for k in range(int(level.max()) + 1)])
    return LatticeColours(int(order[0]), level, values)


def hasse(
    source: int | HasseDiagram,
    *,
    loss: str | Loss | None = None,
    center: LabelsLike | None = None,
    ball: CredibleBall | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The Hasse diagram of all partitions of n items, stretched by VI or Binder's loss.

    A line goes from a partition up to each one that merges two of its
    clusters; the height is the distance from the partition of one cluster.
    With a centre, partitions are coloured by their distance from it, as in the
    paper's supplement; with a ball only those inside. Up to five items every
    partition is named, in the form 12|34 from five on.

    Parameters
    ----------
    source : int, 1 to 8, or HasseDiagram
        Number of items, or the result of :func:`hasse_diagram`.
    loss : str or Loss, optional
        What stretches the diagram of n items: "vi", "binder" or another one that is aligned
        with the lattice. By default the loss of the ball, else VI.
    center : array_like, shape (n,), or an estimate, optional
    ball : CredibleBall of n items, optional
        In place of a centre.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Notes
    -----
    8 items have 4,140 partitions, which takes seconds to draw.

    References
    ----------
    Wade and Ghahramani (2018), section 3.1, Figures 1 to 3, and supplement.

    Examples
    --------
    >>> import partita as pt
    >>> ax = pt.plots.hasse(4, loss="binder", center=[0, 0, 1, 1])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['0', '0.375', '0.5', '0.625', '0.75']
    """
    library("figure")
    if center is not None and ball is not None:
        raise InvalidInputError("give either center=... or ball=..., not both.", argument="center")
    ball = None if ball is None else ball_of(ball, "ball")
    diagram = _diagram(source, loss, ball)
    n_items = diagram.nodes.shape[1]
    measure = diagram.loss
    colours = None
    if ball is not None:
        middle = as_labels(
            ball.center, n_items=n_items, argument="ball", what="labels of the ball's center"
        )
        colours = prepare_lattice(diagram, middle, ball.loss, ball.radius)
    elif center is not None:
        middle = as_labels(center, n_items=n_items, argument="center")
        colours = prepare_lattice(diagram, middle, measure)
    width, height = (8.6, 5.2) if n_items <= 4 else (10.5, 6.6)
    axes = one_axes(ax, width=width, height=height)
    _draw_edges(axes, diagram)
    _draw_nodes(axes, diagram, colours)
    _draw_scale(axes, diagram, measure)
    if colours is not None:
        _draw_key(axes, colours, ball)
    shown = counted(len(diagram.nodes), "partition")
    items = counted(n_items, "item")
    headline(axes, f"{shown} of {items}, stretched by {measure.title}")
    return axes


def _diagram(
    source: int | HasseDiagram, loss: str | Loss | None, ball: CredibleBall | None
) -> HasseDiagram:
    if isinstance(source, HasseDiagram):
        if loss is not None and as_loss(loss) != source.loss:
            raise InvalidInputError(
                f"the diagram is stretched by {source.loss!r}, not by {loss!r}. Pass the number "
                "of items to have one made.",
                argument="loss",
            )
        return source
    if loss is None:
        loss = "vi" if ball is None else ball.loss
    return hasse_diagram(source, loss=loss)


def _draw_edges(axes: Axes, diagram: HasseDiagram) -> None:
    lines = library("collections").LineCollection
    strength = float(np.clip(500.0 / max(len(diagram.edges), 1), 0.03, 1.0))
    edges = lines(diagram.positions[diagram.edges], colors="#9A9A9A", zorder=1)
    edges.set(linewidth=0.7 if strength == 1.0 else 0.3, alpha=max(strength**0.7, 0.06))
    axes.add_collection(edges)


def _draw_nodes(axes: Axes, diagram: HasseDiagram, colours: LatticeColours | None) -> None:
    fills = np.array(["#FFFFFF"] * len(diagram.nodes), object)
    if colours is not None:
        scale = mixed_colours(_SCALE, colours.distances.size)
        inside = colours.level >= 0
        fills[inside] = [scale[k] for k in colours.level[inside].tolist()]
    n_items = diagram.nodes.shape[1]
    if n_items > _NAMED:
        x, y = diagram.positions.T
        size = float(np.clip(4_000 / len(diagram.nodes), 4.0, 24.0))
        axes.scatter(x, y, s=size, c=fills.tolist(), edgecolor=INK, linewidth=0.3, zorder=2)
        if colours is not None:
            place = diagram.positions[colours.center]
            axes.plot(*place, marker="o", markersize=9, fillstyle="none", color=INK, zorder=3)
        axes.margins(0.04)
        return
    names = diagram.names() if n_items < _NAMED else [_short(row) for row in diagram.nodes]
    for i, (x, y) in enumerate(diagram.positions.tolist()):
        middle = colours is not None and i == colours.center
        axes.text(
            x,
            y,
            names[i],
            ha="center",
            va="center",
            rotation=0 if n_items < _NAMED else 90,
            fontsize=SMALL,
            fontweight="bold" if middle else "normal",
            color="white" if is_dark(fills[i]) else INK,
            zorder=3,
            bbox={
                "boxstyle": "round,pad=0.25",
                "facecolor": fills[i],
                "edgecolor": INK if middle else "#9A9A9A",
                "linewidth": 1.6 if middle else 0.6,
            },
        )
    axes.set_xlim(-1.16 if n_items < _NAMED else -1.05, 1.16 if n_items < _NAMED else 1.05)
    span = max(float(diagram.heights.max()), 1e-9)
    axes.set_ylim(-1.07 * span, 0.07 * span)


def _draw_scale(axes: Axes, diagram: HasseDiagram, measure: Loss) -> None:
    """Heights as positive numbers: each one where they are few."""
    plain(axes)
    axes.spines[["bottom"]].set_visible(False)
    axes.set_xticks([])
    heights = np.unique(diagram.heights.round(9))
    if heights.size > 8:
        step = library("ticker").MaxNLocator(6)
        heights = np.array(step.tick_values(0.0, float(heights[-1])))
        heights = heights[heights <= diagram.heights.max() + 1e-9]
    axes.set_yticks(-heights, [f"{height:.3g}" for height in heights.tolist()])
    axes.set_ylabel(with_unit("distance from one cluster", measure.unit))


def _draw_key(axes: Axes, colours: LatticeColours, ball: CredibleBall | None) -> None:
    """Distances and their colours; some of them when they are many."""
    patch = library("patches").Patch
    count = colours.distances.size
    shown = np.unique(np.linspace(0, count - 1, min(count, 12)).round().astype(int))
    scale = mixed_colours(_SCALE, count)
    handles = [
        patch(facecolor=scale[k], edgecolor="#9A9A9A", label=f"{colours.distances[k]:.3g}")
        for k in shown.tolist()
    ]
    if (colours.level < 0).any():
        handles.append(patch(facecolor="white", edgecolor="#9A9A9A", label="outside"))
    title = "distance from\nthe estimate"
    if ball is not None:
        title += f",\n{percent(ball.prob)} ball"
    key_beside(axes, handles, title)


def _short(row: Labels) -> str:
    """As in 12|34."""
    clusters = [np.flatnonzero(row == k) + 1 for k in range(int(row.max()) + 1)]
    return "|".join("".join(str(i) for i in cluster) for cluster in clusters)
