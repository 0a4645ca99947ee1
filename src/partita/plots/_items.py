"""Certainty of items, memberships, the credible core and numbers; the overview of a summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._validate import integer
from partita._wording import counted, in_unit, percent, with_unit, words
from partita.credible.ball import Ball, FeatureBall
from partita.credible.core import CredibleCore, holding
from partita.credible.profiles import Profiles
from partita.credible.uncertainty import (
    ClusterCounts,
    FeatureCounts,
    FeatureItemUncertainty,
    ItemUncertainty,
    feature_counts,
    n_clusters_posterior,
)
from partita.features.draws import FeatureDraws, as_features
from partita.kernels.arrays import Array, Bools, Floats, Ints
from partita.labels import DataLike, DrawsLike, best_matching
from partita.plots import _style as style
from partita.plots._on_data import estimate, prepare_view
from partita.plots._similarity import similarity
from partita.summary.features import FeatureSummary
from partita.summary.result import AnySummary, Summary
from partita.summary.summarize import Observations

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partita.samplers.fit import Fit

_SEEN = 0.002
"""Probability below which a part of a bar is thinner than a line."""


class ItemBars(NamedTuple):
    """Bars of probabilities, each divided by cluster: the estimated cluster first, then the rest.

    What is missing to 1 is the probability of no cluster of the estimate.
    """

    items: Ints
    """From the least certain item on."""
    row: Ints
    """Of each part: the place of its item among those shown."""
    cluster: Ints
    start: Floats
    length: Floats


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
    expected = "a Summary or the result of partita.item_uncertainty(draws, estimate)."
    table = style.part_of(source, "items", ItemUncertainty, expected)
    found = prepare_items(table, integer(n, "n", least=1))
    count, total = found.items.size, table.labels.size
    axes = style.one_axes(ax, width=6.4, height=max(2.2, 0.9 + 0.17 * count))
    indices = style.colour_indices([table.labels])[0]
    fills = [style.colour(index) for index in indices[found.cluster].tolist()]
    bars: dict[str, Any] = {"height": 0.84, "edgecolor": "white", "linewidth": 0.4}
    axes.barh(found.row, found.length, left=found.start, color=fills, **bars)
    height = axes.get_window_extent().height * 72.0 / axes.figure.dpi
    size = min(style.SMALL, 0.8 * height / count)
    names = [style.shorten(table.name(i), 24) for i in found.items.tolist()]
    if size < 4.5:
        names = [""] * count
    what = f"The {count:,} least certain of {total:,} items" if count < total else "All items"
    note = "each bar begins with the item's cluster in the estimate"
    named = f"{words(table.kind).probability} of each cluster (blank: none of them)"
    style.finish(axes, what, note, xlim=(0.0, 1.0), ylim=(count - 0.4, -0.6), xlabel=named)
    axes.set_yticks(np.arange(count), names, fontsize=max(size, 4.5))
    axes.tick_params(axis="y", length=0.0)
    seen = np.unique(found.cluster)
    style.cluster_legend(axes, indices, np.bincount(table.labels), only=seen)
    return axes


_MOST_PANELS = 12


def profiles(source: Summary | Profiles, *, axes: Sequence[Axes] | Array | None = None) -> Array:
    """Parameters of each cluster with their intervals, one panel per column and parameter.

    In each panel, for each cluster: the interval with the uncertainty of the
    clustering (colour), and thin and grey the one given the partition, where a model
    provides it.

    Parameters
    ----------
    source : Summary or Profiles
        A summary made with data or from a fit; ``fit.profiles(labels)``.
    axes : sequence of Axes, optional
        One per panel; a new figure by default. At most 12 panels are drawn, means,
        rates and shares before standard deviations.

    Returns
    -------
    ndarray of Axes

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]]
    >>> found = pt.profiles(draws, [0, 0, 1, 1], data=[1.0, 2.0, 5.0, 6.0])
    >>> [ax.get_title(loc="left") for ax in pt.plots.profiles(found)]
    ['0: mean', '0: sd']
    """
    expected = "Profiles or a Summary made with data."
    table = style.part_of(source, "profiles", Profiles, expected)
    shown = panels_of(table, _MOST_PANELS)
    panels = style.many_axes(axes, len(shown), columns=3, width=2.9, height=2.0)
    for ax, ((column, parameter), rows) in zip(panels, shown.items(), strict=True):
        _panel(ax, table, rows)
        note = f"{percent(table.prob)} intervals" if ax is panels[0] else ""
        style.finish(ax, style.shorten(f"{column}: {parameter}", 30), note, ylabel="cluster")
    return panels


def panels_of(table: Profiles, most: int) -> dict[tuple[str, str], Ints]:
    """Columns with a parameter each, deviations last, and their rows in the table, by cluster."""
    names = list(dict.fromkeys(zip(table.column, table.parameter, strict=True)))
    order = sorted(range(len(names)), key=lambda j: names[j][1] == "sd")
    return {names[j]: np.arange(j, len(table), len(names)) for j in order[:most]}


def _panel(ax: Any, table: Profiles, at: Ints) -> None:
    for k, r in enumerate(at.tolist()):
        low, high = table.given_low[r], table.given_high[r]
        if np.isfinite(low) and np.isfinite(high):
            ax.plot([low, high], [k + 0.22] * 2, color=style.GREY, linewidth=0.8)
        ax.plot([table.given[r]], [k + 0.22], "|", color=style.GREY, markersize=6)
        ends = [table.averaged_low[r], table.averaged_high[r]]
        ax.plot(ends, [k] * 2, color=style.colour(k), linewidth=2.2, solid_capstyle="butt")
        ax.plot([table.averaged[r]], [k], "o", color=style.colour(k), markersize=4)
    ax.set_yticks(range(at.size), [str(k) for k in range(at.size)])
    ax.set_ylim(at.size - 0.5, -0.5)


def core(
    source: CredibleCore | Summary,
    *,
    data: DataLike | None = None,
    dims: Sequence[int | str] | None = None,
    axes: Axes | Sequence[Axes] | Array | None = None,
) -> Array:
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
    few = "a Summary of draws few enough for a quick one. partita.credible_core(draws) makes one."
    found = style.part_of(source, "core", CredibleCore, f"a CredibleCore, or {few}")
    observed = style.observations_of(source, data, None, found.draws.n_items)
    count = 1 if observed is None else 2
    panels = style.many_axes(axes, count, columns=2, width=4.6, height=3.4)
    _curve(panels[0], found)
    if observed is not None:
        _items(panels[1], found, observed, dims)
    return panels


def _curve(ax: Axes, found: CredibleCore) -> None:
    said = words(found.draws.kind)
    sizes = np.arange(1, found.curve.size + 1)
    ax.step(sizes, found.curve, where="post", color=style.colour(0), linewidth=1.4)
    ax.axhline(found.prob, color=style.GREY, linewidth=0.8, linestyle=(0, (4, 3)))
    size, held_out = found.size, found.is_held_out
    reached = float(found.curve[size - 1])
    reached = max(reached, found.probability) if held_out else reached
    ax.plot([size], [reached], "o", color=style.INK, markersize=5)
    if held_out and size > 1:
        ax.plot([size, size], [found.probability_low, reached], color=style.INK, linewidth=1.0)
    text = f"{size:,} items\n{holding(found)}"
    above = (6.0, -4.0) if reached > 0.8 else (6.0, 6.0)  # below the note
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
    align = "top" if reached > 0.8 else "baseline"
    style.remark(ax, text, (size, reached), above, color=style.INK, va=align, bbox=ground)
    ax.set(xlim=(0.5, found.curve.size + 0.5), ylim=(0.0, 1.06))
    where = f"in these {said.draws}"
    if held_out:
        where = "on held-out draws; the bar ends at the lower 95% limit"
    title = f"Grouped identically {said.holding.format(f'{found.prob:g}')}"
    share = f"{said.probability} that all are grouped identically"
    style.finish(ax, title, where, whole=8, xlabel="items", ylabel=share)


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
    ax.scatter(x[outside], y[outside], s=9, color=style.OTHER, linewidths=0.0, zorder=1)
    for c in found.clusters.tolist():
        mine = labels == c
        style.items(ax, x[mine], y[mine], c, 24.0, edgecolors="white", linewidths=0.4)
    if flat:
        ticks = [-1, *range(found.n_clusters)]
        ax.set_yticks(ticks, ["not stated", *map(str, found.clusters.tolist())])
    named = (view.names[0], "cluster of the core" if flat else view.names[1])
    xlabel, ylabel = (style.shorten(name, 40) for name in named)
    title = f"{found.size:,} of {found.draws.n_items:,} items in the core"
    style.finish(ax, title, "grey: nothing is stated", xlabel=xlabel, ylabel=ylabel)
    sizes = np.bincount(labels[~outside])
    style.cluster_legend(ax, np.arange(sizes.size), sizes, only=found.clusters)


# ------------------------------------------------------------------ feature allocations

_FRAME = "#56B4E9"
"""Seen on light and on dark cells."""
_NAMED = 60
"""Items up to which each has its name or number."""
_WRITTEN = (40, 12)
"""Items and features up to which probabilities are written into the cells."""


def item_order(allocation: Bools, membership: Floats | None = None) -> Ints:
    """Items with the same features next to each other, those of the first feature first."""
    keys = [-allocation[:, k].astype(np.float64) for k in range(allocation.shape[1])]
    if membership is not None:
        keys.append(-membership.sum(axis=1))
    return np.lexsort(keys[::-1]) if keys else np.arange(len(allocation))


def memberships(source: FeatureSummary | FeatureItemUncertainty, *, ax: Axes | None = None) -> Axes:
    """Items against the features of the estimate, with the probability of each membership.

    Framed cells are the memberships of the estimate. The last column has the probability that an
    item is in no feature. Rows need not sum to 1: an item may be in several features.

    Parameters
    ----------
    source : FeatureSummary or FeatureItemUncertainty
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.FeatureDraws.from_sets([[{0, 1}, {1, 2}], [{0, 1}, {2}]], n_items=4)
    >>> ax = pt.plots.memberships(pt.item_uncertainty(draws, draws[0]))
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['0\\n2 items', '1\\n2 items', 'none']
    """
    expected = "a FeatureSummary or what item_uncertainty(feature_draws, estimate) returns."
    table = style.part_of(source, "items", FeatureItemUncertainty, expected)
    n_items, k = table.allocation.shape
    order = item_order(table.allocation, table.membership)
    cells = np.column_stack([table.membership, np.full(n_items, np.nan), table.none])[order]
    shown = min(n_items, 120)
    axes = style.one_axes(ax, width=2.6 + 0.62 * (k + 1), height=2.0 + 0.17 * shown)
    image = style.heat(axes, cells, aspect="auto", interpolation="none")
    if n_items * k <= 4_000:
        for row, column in zip(*np.nonzero(table.allocation[order]), strict=True):
            style.frame(axes, (column - 0.46, row - 0.46), 0.92, 0.92, lw=1.4, ec=_FRAME)
    if n_items <= _WRITTEN[0] and k <= _WRITTEN[1]:
        _write(axes, cells)
    sizes = table.allocation.sum(axis=0)
    labels = [f"{j}\n{counted(int(size), 'item')}" for j, size in enumerate(sizes)]
    axes.set_xticks([*range(k), k + 1], [*labels, "none"])
    _name_items(axes, order, table.names)
    axes.tick_params(length=0.0, labelsize=style.SMALL)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("feature of the estimate", fontsize=style.SMALL + 0.5)
    title = f"{words(table.kind).probability} of membership"
    style.colour_bar(axes, image, title, shrink=0.6, aspect=22).outline.set_visible(False)
    note = "framed: the estimate; features of draws matched with its own"
    style.headline(axes, "Memberships", note)
    return axes


def _write(axes: Axes, cells: Floats) -> None:
    for (row, column), value in np.ndenumerate(cells):
        if np.isnan(value) or value < 0.005:
            continue
        text = "1" if value > 0.995 else f"{value:.2f}"[1:]
        white = "white" if value > 0.45 else style.INK
        axes.text(column, row, text, ha="center", va="center", fontsize=6.5, color=white)


def _name_items(axes: Axes, order: Ints, names: tuple[str, ...] | None) -> None:
    if order.size > _NAMED:
        axes.set_yticks([])
        axes.set_ylabel(f"{order.size:,} items", fontsize=style.SMALL + 0.5)
        return
    shown = [str(i) if names is None else style.shorten(names[i], 18) for i in order.tolist()]
    axes.set_yticks(range(order.size), shown)
    if names is None:
        axes.set_ylabel("item", fontsize=style.SMALL + 0.5)


class BoundPanel(NamedTuple):
    """An allocation in the columns of the centre: what both have, what is more, what is missing.

    Features without a counterpart in the centre follow in columns of their own.
    """

    title: str
    note: str
    both: Bools
    more: Bools
    missing: Bools


def prepare_bounds(ball: FeatureBall) -> tuple[BoundPanel, ...]:
    """The centre and the first allocation of each bound, features matched with the centre's."""
    unit = ball.loss.unit
    center = counted(ball.n_parts, "feature")
    number = int(ball.center.sum())
    panels = [_bound_panel("centre", f"{center}, {number:,} memberships", ball.center, ball.center)]
    for name, bound in ball.bounds.items():
        ties = f", first of {len(bound)}" if len(bound) > 1 else ""
        features = counted(int(bound.n_features[0]), "feature")
        members = f"{bound.n_memberships[0]:,} {unit}"
        note = f"{features}, {members}, at distance {bound.distance:g}{ties}"
        panels.append(_bound_panel(name, note, ball.center, bound.allocations[0]))
    return tuple(panels)


def _bound_panel(title: str, note: str, center: Bools, other: Bools) -> BoundPanel:
    mate, k = best_matching(center.T.astype(np.int64) @ other), center.shape[1]
    extra = np.flatnonzero(mate < 0)
    theirs = np.zeros((len(center), k + extra.size), np.bool_)
    theirs[:, mate[mate >= 0]] = other[:, mate >= 0]
    theirs[:, k:] = other[:, extra]
    mine = np.column_stack([center, np.zeros((len(center), extra.size), np.bool_)])
    return BoundPanel(title, note, mine & theirs, theirs & ~mine, mine & ~theirs)


def feature_ball(source: FeatureSummary | FeatureBall, *, axes: Any = None) -> Array:
    """The centre of a credible ball of allocations beside its five bounds, item by item.

    Each panel has one row per item and one column per feature, in the colour of the feature of
    the centre that it is matched with. Full squares are memberships; framed ones are memberships
    of the centre that the bound does not have.

    Parameters
    ----------
    source : FeatureSummary or FeatureBall
    axes : Axes, six of them, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ndarray of Axes

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.FeatureDraws.from_sets([[{0, 1}, {1, 2}], [{0, 1}, {2}]], n_items=4)
    >>> panels = pt.plots.feature_ball(pt.credible_ball(draws, draws[0]))
    >>> len(panels)
    6
    """
    expected = "a FeatureSummary or the credible ball of feature draws."
    ball = style.part_of(source, "ball", FeatureBall, expected)
    shown = prepare_bounds(ball)
    order = item_order(ball.center)
    height = 0.9 + 0.11 * min(order.size, 120)
    widest = max(panel.both.shape[1] for panel in shown)
    panels = style.many_axes(
        axes, len(shown), columns=3, width=1.1 + max(1.4, 0.17 * widest), height=height
    )
    for ax, panel in zip(panels, shown, strict=True):
        _draw_panel(ax, panel, order, ball.draws.item_names)
        ax.set_xlim(-0.6, widest - 0.4)  # columns of a feature below each other
    return panels


def _draw_panel(ax: Axes, panel: BoundPanel, order: Ints, names: tuple[str, ...] | None) -> None:
    n_items, width = panel.both.shape
    colours = style.library("colors")
    image = np.ones((n_items, width, 4))
    image[:, :, 3] = 0.0
    for k in range(width):
        image[(panel.both | panel.more)[:, k], k] = colours.to_rgba(style.colour(k))
    ax.imshow(image[order], aspect="auto", interpolation="none")
    if n_items * width <= 4_000:
        for row, k in zip(*np.nonzero(panel.missing[order]), strict=True):
            style.frame(ax, (k - 0.4, row - 0.4), 0.8, 0.8, lw=0.9, ec=style.colour(int(k)))
    ax.set_xticks([])
    if n_items <= _NAMED // 2:
        _name_items(ax, order, names)
    else:
        ax.set_yticks([])
    ax.set_ylabel("")
    ax.tick_params(length=0.0, labelsize=style.SMALL - 1.5)
    ax.spines[:].set_color(style.OTHER)
    first, _, rest = panel.note.partition(", at ")
    style.headline(ax, panel.title, first + (f"\nat {rest}" if rest else "\n"))


# ------------------------------------------------------------------ overview of a summary


def n_clusters(
    source: DrawsLike | ClusterCounts, *, prob: float = 0.95, ax: Axes | None = None
) -> Axes:
    """Posterior of the number of clusters, with its equal-tailed interval in colour.

    Parameters
    ----------
    source : Summary, ClusterCounts, Fit, Draws or anything as_draws accepts
    prob : float in (0, 1], default 0.95
        Probability of the interval.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import partita as pt
    >>> ax = pt.plots.n_clusters([[0, 0, 1], [0, 1, 2], [0, 1, 1], [0, 0, 0]])
    >>> [float(bar.get_height()) for bar in ax.patches]
    [0.25, 0.5, 0.25]
    """
    style.library("figure")
    counts = source.counts if isinstance(source, Summary) else source
    if not isinstance(counts, ClusterCounts):
        counts = n_clusters_posterior(counts)
    estimated = source.n_clusters if isinstance(source, Summary) else None
    return _numbers(counts, "clusters", prob, ax, estimated)


def _numbers(
    counts: ClusterCounts,
    parts: str,
    prob: float,
    ax: Axes | None,
    estimated: int | None,
    shared: FeatureCounts | None = None,
) -> Axes:
    """Bars of a number of clusters or features, and a line of the features that are shared."""
    low, high = counts.interval(prob)
    axes = style.one_axes(ax, width=5.6, height=3.4)
    within = (counts.values >= low) & (counts.values <= high)
    bars = np.where(within, style.colour(0), style.OTHER).tolist()
    axes.bar(counts.values, counts.probabilities, width=0.86, color=bars, label=f"all {parts}")
    ends = counts.values
    if shared is not None:
        line: dict[str, Any] = {"color": style.INK, "linewidth": 1.0, "markersize": 4.0}
        label = f"{parts} of two items or more"
        axes.plot(shared.values, shared.probabilities, "o-", label=label, **line)
        axes.legend(fontsize=style.SMALL, frameon=False, loc="upper right")
        ends = np.concatenate([ends, shared.values])
    axes.set_xlim(ends.min() - 0.9, ends.max() + 0.9)
    note = f"mode {counts.mode}, mean {counts.mean:.3g}, {percent(prob)} in {low} to {high}"
    if counts.values.size == 1:
        note = f"all {words(counts.kind).draws} have {counts.mode}"
    if estimated is not None:
        note += f"; the estimate has {estimated}"
    said, named = words(counts.kind).posterior_probability, f"number of {parts}"
    style.finish(axes, f"Number of {parts}", note, whole=14, xlabel=named, ylabel=said)
    return axes


def n_features(
    source: FeatureSummary | FeatureDraws | FeatureCounts,
    *,
    prob: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Posterior of the number of features, and of those with at least two items.

    Under an Indian buffet process many features have a single item; they say little, and the
    number of all features is dominated by them.

    Parameters
    ----------
    source : FeatureSummary, FeatureDraws or FeatureCounts
    prob : float in (0, 1], default 0.95
        Probability of the interval.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.FeatureDraws.from_sets([[{0, 1}, {2}], [{0, 1}, {1, 2}]], n_items=3)
    >>> ax = pt.plots.n_features(draws)
    >>> ax.get_title(loc="left")
    'Number of features'
    """
    style.library("figure")
    shared, estimated = None, None
    if isinstance(source, FeatureCounts):
        counts = source
    elif isinstance(source, FeatureSummary):
        counts, shared, estimated = source.counts, source.counts_shared, source.n_features
    else:
        draws = as_features(source)
        counts, shared = feature_counts(draws), feature_counts(draws, 2)
    if shared is not None and _same(counts, shared):
        shared = None
    return _numbers(counts, "features", prob, ax, estimated, shared)


def _same(a: FeatureCounts, b: FeatureCounts) -> bool:
    return np.array_equal(a.values, b.values) and np.allclose(a.probabilities, b.probabilities)


_MOST_BINS = 60


class DistanceHistogram(NamedTuple):
    """Posterior probability of distances from the estimate, in bins."""

    edges: Floats
    inside: Floats
    """Of draws in the ball."""
    outside: Floats
    radius: float
    mean: float
    """Mean distance: the expected loss of the estimate."""


def prepare_distances(ball: Ball) -> DistanceHistogram:
    """Bins of equal width from 0 to the largest distance, by the Freedman-Diaconis rule."""
    weights, far = ball.draws.probabilities, float(ball.distances.max())
    quartiles = np.quantile(ball.distances, [0.25, 0.75])
    width = 2.0 * float(np.diff(quartiles)[0]) / ball.distances.size ** (1.0 / 3.0)
    bins = _MOST_BINS if width == 0.0 else int(np.clip(np.ceil(far / width), 5, _MOST_BINS))
    edges = np.linspace(0.0, far if far > 0.0 else 1.0, bins + 1)
    inside, outside = (
        np.histogram(ball.distances[mask], bins=edges, weights=weights[mask])[0]
        for mask in (ball.inside, ~ball.inside)
    )
    mean = float(ball.distances @ weights)
    return DistanceHistogram(edges, inside, outside, ball.radius, mean)


def distances(source: AnySummary | Ball, *, ax: Axes | None = None) -> Axes:
    """Histogram of the draws' distances from the estimate of a credible ball, radius marked.

    Parameters
    ----------
    source : Summary or CredibleBall
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 2, 3]]
    >>> ax = pt.plots.distances(pt.credible_ball(draws, [0, 0, 1, 1]))
    >>> ax.get_xlabel()
    'variation of information to the estimate (bits)'
    """
    ball = style.part_of(source, "ball", Ball, style.BALL)
    found = prepare_distances(ball)
    axes = style.one_axes(ax, width=5.6, height=3.4)
    width = float(found.edges[1])
    left = found.edges[:-1]
    line: dict[str, Any] = {"width": width, "align": "edge", "edgecolor": "white", "linewidth": 0.4}
    axes.bar(left, found.inside, color=style.colour(0), label="inside", **line)
    axes.bar(left, found.outside, bottom=found.inside, color=style.OTHER, label="outside", **line)
    axes.axvline(found.radius, color=style.INK, linewidth=1.2)
    low, high = axes.get_xlim()
    late = found.radius > (low + high) / 2
    axes.set_ylim(0.0, 1.15 * float((found.inside + found.outside).max()))  # room for the radius
    style.remark(
        axes,
        f"{percent(ball.prob)} radius {found.radius:.3g}",
        (found.radius, 1.0),
        (-4.0 if late else 4.0, -1.0),
        xycoords=("data", "axes fraction"),
        ha="right" if late else "left",
        va="top",
        color=style.INK,
    )
    said = words(ball.draws.kind)
    style.finish(
        axes,
        f"Distance of the {said.draws} from the estimate",
        f"coverage {ball.coverage:.4g}, {int(ball.inside.sum()):,} of {ball.draws.n_draws:,} "
        f"{said.draws} inside; mean distance {in_unit(f'{found.mean:.3g}', ball.loss.unit)}",
        xlabel=with_unit(f"{ball.loss.title} to the estimate", ball.loss.unit),
        ylabel=said.posterior_probability,
    )
    axes.spines["left"].set_color(style.GREY)
    return axes


def overview(
    summary: Summary,
    *,
    fit: Fit | None = None,
    axes: Sequence[Axes] | Array | None = None,
    n_jobs: int | None = None,
) -> Array:
    """Draw a summary as one page of four panels.

    The estimate on the data (without data, the least certain items), the
    similarity matrix, the posterior of the number of clusters, and the
    distances of the draws to the estimate with the credible ball.

    Parameters
    ----------
    summary : Summary
        Made by :func:`partita.summarize`.
    fit : Fit, optional
        The fit the draws came from, for its density behind one-dimensional data.
    axes : four matplotlib Axes, optional
        Where to draw; a new figure by default.
    n_jobs : int, optional
        Threads, every core by default.

    Returns
    -------
    ndarray of Axes, shape (4,)

    Notes
    -----
    The cost is that of the similarity matrix, O(M N²), which is aggregated
    where items are many.

    Examples
    --------
    >>> import partita as pt
    >>> summary = pt.summarize([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]] * 10)
    >>> panels = pt.plots.overview(summary)
    >>> len(panels)
    4
    """
    style.result_of(summary, Summary, "summarize", "summary")
    panels = style.many_axes(axes, 4, columns=2, width=5.2, height=4.2)
    if summary.data is not None:
        estimate(summary, fit=fit, n_jobs=n_jobs, ax=panels[0])
    else:
        items(summary, n=12, ax=panels[0])
    similarity(summary, n_jobs=n_jobs, ax=panels[1])
    n_clusters(summary, ax=panels[2])
    distances(summary, ax=panels[3])
    return panels
