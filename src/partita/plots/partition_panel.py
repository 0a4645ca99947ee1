"""Drawing one partition into one panel: on a density, in the plane, or against another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita.kernels.arrays import Floats, Ints
from partita.labels import Labels, cross_table
from partita.plots.canvas import INK, library, marker, plain, shorten, whole_ticks
from partita.plots.colours import colour
from partita.plots.on_data import ClusterShapes, Curve, View, packed_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEVIATIONS = 2.0
"""Standard deviations shown by bars and ellipses."""

_DEEPEST = 0.6
"""Most room for the bars below a density, as a fraction of its height."""


def draw_partition(
    ax: Axes,
    labels: Labels,
    indices: NDArray[np.int64],
    view: View,
    shapes: ClusterShapes | None,
    curve: Curve | None,
) -> None:
    """Items in the colours of their clusters, with a star and a bar or ellipse for each cluster."""
    if curve is None:
        _draw_items(ax, labels, indices, view.points[:, 0], view.points[:, 1])
        if shapes is not None:
            _draw_ellipses(ax, indices, shapes, np.bincount(labels))
        ax.set_ylabel(shorten(view.names[1], 40))
    else:
        ax.plot(curve.grid, curve.values, color="#9A9A9A", linewidth=1.0, zorder=1)
        _draw_items(ax, labels, indices, view.points[:, 0], curve.at_items)
        if shapes is not None:
            _draw_bars(ax, indices, shapes, curve)
        ax.set_ylabel(curve.name)
    ax.set_xlabel(shorten(view.names[0], 40))
    plain(ax)


def draw_cross_table(ax: Axes, center: Labels, labels: Labels, indices: NDArray[np.int64]) -> None:
    """One bar per cluster of the centre, divided by the clusters of another partition."""
    table = cross_table(center, labels)
    order = np.argsort(-table.sum(axis=1), kind="stable")
    table = table[order]
    places = np.arange(len(table))
    base = np.zeros(len(table))
    for cluster in np.argsort(indices, kind="stable").tolist():
        here = table[:, cluster] > 0
        heights = table[here, cluster]
        ax.bar(
            places[here],
            heights,
            bottom=base[here],
            width=0.82,
            color=colour(int(indices[cluster])),
            edgecolor="white",
            linewidth=0.4,
        )
        base[here] += heights
    step = -(-len(table) // 12)
    ax.set_xticks(places[::step], [str(k) for k in order[::step].tolist()])
    ax.set_xlabel("cluster of the estimate")
    ax.set_ylabel("items")
    whole_ticks(ax, "y", most=5)
    plain(ax)


def shapes_note(shapes: ClusterShapes | None, dimensions: int) -> str:
    """What stars, bars and ellipses are; nothing where there are none."""
    if shapes is None:
        return ""
    what = "bars" if dimensions == 1 else "ellipses"
    if shapes.source == "posterior":
        return f"stars and {what}: posterior mean ± {DEVIATIONS:g} sd of each cluster"
    return f"stars and {what}: mean ± {DEVIATIONS:g} sd of each cluster's items"


def _draw_items(ax: Axes, labels: Labels, indices: Ints, x: Floats, y: Floats) -> None:
    size = float(np.clip(4_000.0 / labels.size, 6.0, 26.0))
    for cluster in np.argsort(-np.bincount(labels), kind="stable").tolist():
        members = labels == cluster
        index = int(indices[cluster])
        ax.scatter(
            x[members],
            y[members],
            s=size,
            marker=marker(index),
            color=colour(index),
            edgecolor="white" if size > 8.0 else "none",
            linewidth=0.3,
            zorder=2,
            label=str(cluster),
        )


def _draw_star(ax: Axes, index: int, x: float, y: float, *, size: float = 9.0) -> None:
    ax.plot(
        [x],
        [y],
        marker="*",
        markersize=size,
        markerfacecolor=colour(index),
        markeredgecolor=INK,
        markeredgewidth=0.6,
        linestyle="none",
        zorder=4,
    )


def _draw_ellipses(ax: Axes, indices: Ints, shapes: ClusterShapes, sizes: Ints) -> None:
    ellipse = library("patches").Ellipse
    for k, index in enumerate(indices.tolist()):
        x, y = shapes.means[k].tolist()
        if np.isfinite(shapes.covariances[k]).all():
            lengths, axes = np.linalg.eigh(shapes.covariances[k])
            minor, major = 2.0 * DEVIATIONS * np.sqrt(lengths.clip(0.0))
            angle = float(np.degrees(np.arctan2(axes[1, 1], axes[0, 1])))
            outline = ellipse((x, y), major, minor, angle=angle, fill=False, zorder=3)
            outline.set(edgecolor=colour(index), linewidth=1.2)
            if sizes[k] <= 2:  # wide, because it says little more than the prior: not in the way
                outline.set(linewidth=0.5, alpha=0.6)
            ax.add_patch(outline)
        if shapes.source == "posterior" or sizes[k] > 1:  # or else the star would hide the item
            _draw_star(ax, index, x, y)


def _draw_bars(ax: Axes, indices: Ints, shapes: ClusterShapes, curve: Curve) -> None:
    """Stars and bars below the density, in as many rows as keep them apart."""
    mean = shapes.means[:, 0]
    deviation = np.nan_to_num(np.sqrt(shapes.covariances[:, 0, 0]))
    low, high = float(curve.grid[0]), float(curve.grid[-1])
    half = np.maximum(DEVIATIONS * deviation, 0.02 * (high - low))
    rows = packed_rows(mean - half, mean + half)
    top = float(max(curve.values.max(), curve.at_items.max()))
    step = min(0.06, _DEEPEST / (int(rows.max()) + 2)) * top
    for k, index in enumerate(indices.tolist()):
        y = -step * (int(rows[k]) + 1)
        if deviation[k] > 0.0:
            ends = mean[k] + DEVIATIONS * deviation[k] * np.array([-1.0, 1.0])
            ax.plot(ends, [y, y], color=colour(index), linewidth=2.0, solid_capstyle="butt")
        _draw_star(ax, index, float(mean[k]), y, size=9.0 if rows.max() < 6 else 6.0)
    ax.axhline(0.0, color="#9A9A9A", linewidth=0.6, zorder=0)
    ax.set_ylim(-step * (int(rows.max()) + 2), 1.06 * top)
    ticks = [tick for tick in ax.get_yticks().tolist() if 0.0 <= tick <= 1.06 * top]
    ax.set_yticks(ticks)
