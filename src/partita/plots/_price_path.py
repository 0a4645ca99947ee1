"""The price path, the best clustering for each number of clusters, and how long modes persist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._wording import counted, with_unit, words
from partita.kernels.arrays import Floats, Int32s
from partita.labels import Labels, LabelsLike, as_labels
from partita.plots import _style as style
from partita.representative.modes import MIN_PERSISTENCE, Modes
from partita.samplers.sensitivity import PriorSensitivity
from partita.search.clusters_curve import STANDARD_ERRORS, ClustersCurve
from partita.search.compare_losses import EstimatesByLoss
from partita.search.price_path import PricePath

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_GAP = 0.012
"""Width of the ribbons between two columns, as a part of the axis; less beside narrow columns."""

_LABELLED = 0.035
"""Width of a column, as a part of the axis, from which on its number of clusters is written."""

_EDGED = 60
"""Clusters of a column up to which white lines part them."""


class Column(NamedTuple):
    """One corner of the path as a stack of clusters."""

    left: float
    """Where its bars begin, in prices."""
    right: float
    bottoms: Floats
    """In items. Clusters that continue each other stand side by side."""
    heights: Floats
    colours: tuple[str, ...]
    """Grey for a cluster of one item."""


class Ribbon(NamedTuple):
    """The items that two clusters of neighbouring columns share."""

    left: float
    right: float
    start: float
    """Its lower edge on the left, in items."""
    stop: float
    height: float
    colour: str
    """That of the smaller of the two clusters."""


def prepare_price_path(path: PricePath) -> tuple[list[Column], list[Ribbon]]:
    """Columns from the lowest price on, and the ribbons between them.

    Items are sorted by their clusters at the highest price, within those by
    the next lower one, and so on; the clusters of a column stand in the order
    of the mean places of their items.
    """
    edges = np.concatenate(([path.low], path.breakpoints, [path.high]))
    own = int(np.searchsorted(path.breakpoints, path.loss.price, side="right"))
    gaps = np.minimum(_GAP * (path.high - path.low), 0.6 * np.diff(edges))
    return stacked_clusters(path.labels, edges, gaps, own)


def stacked_clusters(
    labels: Labels, edges: Floats, gaps: Floats, own: int
) -> tuple[list[Column], list[Ribbon]]:
    """Partitions side by side, between edges and less gaps, coloured outwards from the own one."""
    half = np.concatenate(([0.0], np.minimum(gaps[:-1], gaps[1:]) / 2, [0.0]))
    place = np.argsort(np.lexsort(labels))
    outwards = [own, *range(own - 1, -1, -1), *range(own + 1, len(labels))]
    matched = style.colour_indices([labels[j] for j in outwards])
    indices = dict(zip(outwards, matched, strict=True))
    columns, ribbons = [], []
    for j, row in enumerate(labels):
        sizes = np.bincount(row)
        order = np.argsort(np.bincount(row, place) / sizes, kind="stable")
        bottoms = np.empty(sizes.size)
        bottoms[order] = np.cumsum(sizes[order]) - sizes[order]
        chosen = tuple(
            style.OTHER if size == 1 else style.colour(index)
            for size, index in zip(sizes.tolist(), indices[j].tolist(), strict=True)
        )
        left, right = float(edges[j] + half[j]), float(edges[j + 1] - half[j + 1])
        columns.append(Column(left, right, bottoms, sizes.astype(np.float64), chosen))
        if j:
            ribbons += _ribbons(columns[-2], columns[-1], labels[j - 1], row)
    return columns, ribbons


def _ribbons(one: Column, two: Column, first: Int32s, second: Int32s) -> list[Ribbon]:
    shared, counts = np.unique(np.stack([first, second]), axis=1, return_counts=True)
    pairs = sorted(
        zip(*shared.tolist(), counts.tolist(), strict=True),
        key=lambda p: (one.bottoms[p[0]], two.bottoms[p[1]]),
    )
    leaving, arriving = one.bottoms.copy(), two.bottoms.copy()
    ribbons = []
    for a, b, count in pairs:
        smaller = one.colours[a] if one.heights[a] < two.heights[b] else two.colours[b]
        ribbons.append(Ribbon(one.right, two.left, leaving[a], arriving[b], float(count), smaller))
        leaving[a] += count
        arriving[b] += count
    return ribbons


def price_path(
    source: PricePath, *, estimate: LabelsLike | None = None, ax: Axes | None = None
) -> Axes:
    """Every optimal partition as a column, over the prices at which it is optimal.

    Bands are clusters, as high as they have items; between columns they split
    and merge. The reported estimate has a bracket under the prices at which it
    is optimal, and a line at the loss's own price: a wide one means that another
    weighting of the errors gives the same clustering. Numbers of clusters are above the columns
    that are wide enough. Single items are grey.

    Parameters
    ----------
    source : PricePath
    estimate : PointEstimate, Summary or labels, optional
        What is reported; by default the corner at the loss's own price, as
        :func:`partita.estimate` finds it. One that is optimal at no price has
        no bracket, and the title says what it loses.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]
    >>> ax = pt.plots.price_path(pt.price_path(draws))
    >>> ax.get_title(loc="left")
    'How many clusters? 2, for prices from 0.67 to 1.54'
    """
    style.result_of(source, PricePath, "price_path")
    least = _LABELLED * (source.high - source.low)
    wide = [corner for corner in source if corner.high - corner.low >= least]
    above = {(corner.low + corner.high) / 2: str(corner.n_clusters) for corner in wide}
    axes = _draw_bands(ax, source.labels.shape[1], *prepare_price_path(source), above)
    axes.set_xlim(source.low, source.high)
    title = _mark_estimate(axes, source, estimate)
    fewest, most = int(source.n_clusters.min()), int(source.n_clusters.max())
    best = "optimal partition" if source.gap == 0.0 else "best found partition"
    note = f"{counted(len(source), best)} of {fewest:,} to {most:,} clusters under "
    note += f"{source.loss.title};\neach band is a cluster, its height the number of items"
    price = "price a of splitting a true cluster (of merging two: 2 − a)"
    style.finish(axes, title, note, xlabel=f"← finer      {price}      coarser →")
    return axes


def _draw_bands(
    ax: Axes | None,
    n_items: int,
    columns: list[Column],
    ribbons: list[Ribbon],
    above: dict[float, str],
) -> Axes:
    """Columns of clusters with texts above them; a patch for each cluster would take seconds."""
    axes = style.one_axes(ax, width=7.2, height=4.2)
    lines = max((text.count("\n") for text in above.values()), default=0)
    axes.set(yticks=[], ylim=(-0.09 * n_items, (1.06 + 0.08 * lines) * n_items))
    for x, text in above.items():
        style.remark(axes, text, (x, n_items), (0.0, 2.0), ha="center", color=style.INK)
    axes.spines["left"].set_visible(False)
    collections = style.library("collections")
    flows = [_quad(*ribbon[:5]) for ribbon in ribbons]
    bands = [
        (_quad(c.left, c.right, bottom, bottom, height), fill)
        for c in columns
        for bottom, height, fill in zip(c.bottoms, c.heights, c.colours, strict=True)
    ]
    parted = [
        [(c.left, bottom), (c.right, bottom)]
        for c in columns
        if c.heights.size <= _EDGED
        for bottom in c.bottoms[c.bottoms > 0]
    ]
    quads, fills = zip(*bands, strict=True)
    for made, look in (
        (flows, {"facecolors": [r.colour for r in ribbons], "alpha": 0.45}),
        (quads, {"facecolors": fills}),
    ):
        axes.add_collection(collections.PolyCollection(made, linewidths=0.0, **look))
    axes.add_collection(collections.LineCollection(parted, colors="white", linewidths=0.7))
    return axes


def _quad(
    left: float, right: float, start: float, stop: float, height: float
) -> list[tuple[float, float]]:
    """A band from ``start`` at the left to ``stop`` at the right."""
    return [(left, start), (right, stop), (right, stop + height), (left, start + height)]


def _mark_estimate(axes: Axes, path: PricePath, estimate: LabelsLike | None) -> str:
    """A bracket under the prices of the estimate; what the title says of it."""
    price = path.loss.price
    inside = path.low <= price <= path.high
    if estimate is None and not inside:
        return "How many clusters? It depends on the price"
    n_items = path.labels.shape[1]
    if estimate is None:
        labels = path.at(price)
    else:
        labels = as_labels(estimate, n_items=n_items, argument="estimate")
    k = int(labels.max()) + 1
    stable = path.stability(labels)
    y = -0.035 * n_items
    if stable.is_optimal:
        axes.plot([stable.low, stable.high], [y, y], color=style.INK, linewidth=1.6, marker="|")
    if inside:
        axes.plot(
            [price, price], [y, n_items], color=style.INK, linewidth=0.9, linestyle=(0, (3, 2))
        )
    if not stable.is_optimal:
        lost = f"; it loses {stable.excess(price):.3g} {path.loss.unit}".rstrip() if inside else ""
        return f"How many clusters? The estimate's {k:,} are optimal at no price{lost}"
    middle = (path.low + path.high) / 2
    late = (stable.low + stable.high) / 2 > middle
    said = f"the estimate, a = {price:g}" if inside else "the estimate"
    end, offset = (stable.low if late else stable.high, y), (-5.0 if late else 5.0, 0.0)
    style.remark(axes, said, end, offset, ha="right" if late else "left", va="center")
    if stable.low == stable.high:
        return f"How many clusters? {k:,}, at the price {stable.low:.2f} only"
    prices = f"{stable.low:.2f} to {stable.high:.2f}"
    return f"How many clusters? {k:,}, for prices from {prices}"


def prior_sensitivity(source: PriorSensitivity, *, ax: Axes | None = None) -> Axes:
    """The estimate under each prior as a column, in the manner of the price path.

    Bands are clusters, as high as they have items; between columns they split and merge. Above
    each column stand its number of clusters and the posterior mean number. The prior of the draws
    has a bracket. Single items are grey; priors that the draws say too little about are named.

    Parameters
    ----------
    source : PriorSensitivity
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]] * 100
    >>> one, half = pt.DirichletProcess(1.0), pt.DirichletProcess(0.5)
    >>> ax = pt.plots.prior_sensitivity(pt.prior_sensitivity(draws, [half], from_prior=one))
    >>> ax.get_title(loc="left")
    'Would another prior say the same? Under 1 of 1'
    """
    style.result_of(source, PriorSensitivity, "prior_sensitivity")
    n, n_items = len(source), source.labels.shape[1]
    bands = stacked_clusters(source.labels, np.arange(n + 1.0), np.full(n, 0.25), source.own)
    numbers = zip(source.n_clusters, source.expected_clusters, strict=True)
    above = {m + 0.5: f"{k}\n({mean:.1f})" for m, (k, mean) in enumerate(numbers)}
    axes = _draw_bands(ax, n_items, *bands, above)
    y = -0.035 * n_items
    own = (source.own + 0.15, source.own + 0.85)
    axes.plot(own, [y, y], color=style.INK, linewidth=1.6, marker="|")
    axes.set_xlim(0.0, float(n))
    ticks = [
        f"{scale:.3g}" if np.isfinite(scale) else name.replace("(", "\n(", 1)
        for scale, name in zip(source.scale, source.priors, strict=True)
    ]
    axes.set_xticks(np.arange(n) + 0.5, ticks, fontsize=style.SMALL)
    note = "clusters of the estimate (posterior mean number); bracket: the prior of the draws"
    if source.refused:
        note += f"\ntoo little is said about {', '.join(source.refused)}"
    others = np.delete(source.same, source.own)
    said = f"Under {int(others.sum())} of {others.size}" if others.size else "Not known"
    title = f"Would another prior say the same? {said}"
    style.finish(axes, title, note, xlabel=source.parameter or "prior")
    return axes


def clusters_curve(source: ClustersCurve, *, ax: Axes | None = None) -> Axes:
    """Expected loss of the best partition for each number of clusters, the plateau shaded.

    Bars are two Monte Carlo standard errors of the excess over the estimate,
    which is ringed.

    Parameters
    ----------
    source : ClustersCurve
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1, 2]] * 9 + [[0, 0, 1, 1, 1]] * 8
    >>> ax = pt.plots.clusters_curve(pt.clusters_curve(draws, k=range(1, 5)))
    >>> ax.get_title(loc="left")
    '2 to 3 clusters are within two standard errors of the best'
    """
    style.result_of(source, ClustersCurve, "clusters_curve")
    axes = style.one_axes(ax, width=5.6, height=3.4)
    plateau = source.plateau
    for k in plateau.tolist():
        axes.axvspan(k - 0.5, k + 0.5, color=style.OTHER, alpha=0.35, linewidth=0.0)
    best = np.flatnonzero(source.k == int(source.estimate.max()) + 1)
    error = STANDARD_ERRORS * np.nan_to_num(source.standard_error)
    style.points_with_errors(axes, source.k, source.expected_loss, error, best)
    axes.set_xlim(float(source.k[0]) - 0.6, float(source.k[-1]) + 0.6)
    said = words(source.kind)
    shaded = "shaded: ties with the best" if plateau.size else ""
    errors = said.error.replace("error", "errors")
    ringed = "ringed: the estimate" if best.size else ""
    note = "; ".join(filter(None, (ringed, shaded, f"bars: two {errors}")))
    expected = with_unit(f"{said.expected} {source.loss.title}", source.loss.unit)
    style.finish(axes, source.headline, note, whole=12, xlabel="clusters", ylabel=expected)
    return axes


MOST_PEAKS = 20
"""Peaks shown for each rate, the most persistent ones."""


def persistence(source: Modes, *, ax: Axes | None = None) -> Axes:
    """Height of every peak above its valley, at each rate of the kernel.

    A point is a peak: filled where it counts as a mode (persistence of at
    least one half, with at least five draws around it), open where it does
    not. A dashed line marks the rate whose regions are reported.

    Parameters
    ----------
    source : Modes
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import partita as pt
    >>> found = pt.modes([[0, 0, 1, 1]] * 20 + [[0, 1, 0, 1]] * 10 + [[0, 0, 1, 2]] * 3)
    >>> pt.plots.persistence(found).get_xlabel()
    'rate'
    """
    style.result_of(source, Modes, "modes")
    axes = style.one_axes(ax, width=5.0, height=3.4)
    shift = 0.02 * np.log(source.rates[-1] / source.rates[0])
    for rate, peaks, modes in zip(source.rates, source.peaks, source.stands_out, strict=True):
        order = np.argsort(-peaks.persistence, kind="stable")[:MOST_PEAKS]
        stands = modes[order]
        # Peaks of the same height side by side: most modes stand at 1.
        heights = np.round(peaks.persistence[order], 2)
        beside = np.array([(heights[:i] == h).sum() for i, h in enumerate(heights)])
        x = rate * np.exp(shift * beside)
        for mode in (False, True):
            fill, edge = (style.colour(0),) * 2 if mode else ("none", style.GREY)
            look: dict[str, Any] = {"facecolor": fill, "edgecolor": edge, "linewidth": 1.0}
            y, name = peaks.persistence[order], "mode" if mode else "other peak"
            axes.scatter(x[stands == mode], y[stands == mode], s=30.0, zorder=3, label=name, **look)
    handles = axes.get_legend_handles_labels()[0][-2:]  # of the last rate: each kind once
    axes.legend(handles=handles, fontsize=style.SMALL, frameon=False, loc="lower right")
    axes.axhline(MIN_PERSISTENCE, color=style.GREY, linewidth=0.8, linestyle=(0, (1, 2)))
    axes.axvline(source.rate, color=style.GREY, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
    axes.set_xscale("log")
    axes.set_xticks(source.rates[::2], [f"{r:.2g}" for r in source.rates[::2]])
    axes.minorticks_off()
    axes.set_ylim(-0.05, 1.08)
    title = f"{counted(source.n, 'mode')} of the {words(source.draws.kind).source}"
    note = "closeness exp(−rate · distance)\ndashed: the rate whose regions are reported"
    style.finish(axes, title, note, xlabel="rate", ylabel="persistence")
    return axes


def compare_losses(source: EstimatesByLoss, *, ax: Axes | None = None) -> Axes:
    """How much worse the estimate under one loss is under another, with numbers of clusters.

    Parameters
    ----------
    source : EstimatesByLoss
        Made by :func:`partita.compare_losses`.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import partita as pt
    >>> found = pt.compare_losses([[0, 0, 1, 2], [0, 0, 1, 1], [0, 1, 2, 2]])
    >>> ax = pt.plots.compare_losses(found)
    >>> [text.get_text() for text in ax.texts[:2]]
    ['0%', '0%']
    """
    style.result_of(source, EstimatesByLoss, "compare_losses")
    n = len(source.names)
    axes = style.one_axes(ax, width=2.6 + 0.95 * n, height=1.7 + 0.5 * n)
    excess = source.excess
    most = max(float(excess.max()), 0.01)
    axes.imshow(excess, cmap="Blues", vmin=0.0, vmax=2.0 * most, aspect="auto")
    for i in range(n):
        for j in range(n):
            axes.text(
                j, i, f"{100 * excess[i, j]:.2g}%", ha="center", va="center", fontsize=style.SMALL
            )
    rows = [
        f"{name} ({counted(k, 'cluster')})"
        for name, k in zip(source.names, source.n_clusters.tolist(), strict=True)
    ]
    axes.set_xticks(range(n), source.names)
    axes.set_yticks(range(n), rows)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(length=0)
    mean = words(source.estimates[0].kind).expected
    note = f"{mean} loss above that of each loss's own estimate"
    by, of = "measured by the loss", "estimate under"
    style.finish(axes, "Does the loss matter?", note, xlabel=by, ylabel=of)
    return axes
