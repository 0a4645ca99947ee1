"""Feature allocations: memberships with their probabilities, bounds of the ball, numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._text import counted, percent, words
from partita.credible.ball import FeatureBall
from partita.credible.features import FeatureCounts, FeatureItemUncertainty, feature_counts
from partita.kernels.arrays import Bools, Floats, Ints
from partita.plots._style import (
    INK,
    OTHER,
    SMALL,
    colour,
    headline,
    library,
    many_axes,
    of_kind,
    one_axes,
    plain,
    shorten,
    similarity_scale,
    whole_ticks,
)
from partita.summary.features import FeatureSummary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partita.features.draws import FeatureDraws

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
    library("figure")
    table = source.items if isinstance(source, FeatureSummary) else source
    table = of_kind(
        table,
        FeatureItemUncertainty,
        "a FeatureSummary or what item_uncertainty(feature_draws, estimate) returns.",
    )
    n_items, k = table.allocation.shape
    order = item_order(table.allocation, table.membership)
    cells = np.column_stack([table.membership, np.full(n_items, np.nan), table.none])[order]
    shown = min(n_items, 120)
    axes = one_axes(ax, width=2.6 + 0.62 * (k + 1), height=2.0 + 0.17 * shown)
    image = axes.imshow(
        cells, cmap=similarity_scale(), vmin=0.0, vmax=1.0, aspect="auto", interpolation="none"
    )
    rectangle = library("patches").Rectangle
    if n_items * k <= 4_000:
        for row, column in zip(*np.nonzero(table.allocation[order]), strict=True):
            frame = rectangle(
                (column - 0.46, row - 0.46), 0.92, 0.92, fill=False, lw=1.4, ec=_FRAME
            )
            axes.add_patch(frame)
    if n_items <= _WRITTEN[0] and k <= _WRITTEN[1]:
        _write(axes, cells)
    sizes = table.allocation.sum(axis=0)
    labels = [f"{j}\n{counted(int(size), 'item')}" for j, size in enumerate(sizes)]
    axes.set_xticks([*range(k), k + 1], [*labels, "none"])
    _name_items(axes, order, table.names)
    axes.tick_params(length=0.0, labelsize=SMALL)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("feature of the estimate", fontsize=SMALL + 0.5)
    bar = axes.figure.colorbar(image, ax=axes, shrink=0.6, aspect=22, pad=0.02)
    bar.set_label(f"{words(table.kind).probability} of membership", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
    bar.outline.set_visible(False)
    headline(axes, "Memberships", "framed: the estimate; features of draws matched with its own")
    return axes


def _write(axes: Axes, cells: Floats) -> None:
    for (row, column), value in np.ndenumerate(cells):
        if np.isnan(value) or value < 0.005:
            continue
        text = "1" if value > 0.995 else f"{value:.2f}"[1:]
        white = "white" if value > 0.45 else INK
        axes.text(column, row, text, ha="center", va="center", fontsize=6.5, color=white)


def _name_items(axes: Axes, order: Ints, names: tuple[str, ...] | None) -> None:
    if order.size > _NAMED:
        axes.set_yticks([])
        axes.set_ylabel(f"{order.size:,} items", fontsize=SMALL + 0.5)
        return
    shown = [str(i) if names is None else shorten(names[i], 18) for i in order.tolist()]
    axes.set_yticks(range(order.size), shown)
    if names is None:
        axes.set_ylabel("item", fontsize=SMALL + 0.5)


@dataclass(frozen=True, eq=False)
class BoundPanel:
    """An allocation in the columns of the centre: what both have, what is more, what is missing."""

    title: str
    note: str
    columns: Ints
    """Colour of each column: its number in the centre, or one that the centre does not have."""
    both: NDArray[np.bool_]
    more: NDArray[np.bool_]
    missing: NDArray[np.bool_]


def prepare_bounds(ball: FeatureBall) -> tuple[BoundPanel, ...]:
    """The centre and the first allocation of each bound, features matched with the centre's."""
    unit = ball.loss.unit
    center = counted(ball.n_parts, "feature")
    number = int(ball.center.sum())
    panels = [_panel("centre", f"{center}, {number:,} memberships", ball.center, ball.center)]
    for name, bound in ball.bounds.items():
        ties = f", first of {len(bound)}" if len(bound) > 1 else ""
        features = counted(int(bound.n_features[0]), "feature")
        members = f"{bound.n_memberships[0]:,} {unit}"
        note = f"{features}, {members}, at distance {bound.distance:g}{ties}"
        panels.append(_panel(name, note, ball.center, bound.allocations[0]))
    return tuple(panels)


def _panel(title: str, note: str, center: Bools, other: Bools) -> BoundPanel:
    from scipy.optimize import linear_sum_assignment

    shared = center.T.astype(np.int64) @ other
    rows, columns = linear_sum_assignment(shared, maximize=True)
    matched = shared[rows, columns] > 0
    rows, columns = rows[matched], columns[matched]
    extra = np.setdiff1d(np.arange(other.shape[1]), columns)
    k = center.shape[1]
    theirs = np.zeros((len(center), k + extra.size), np.bool_)
    theirs[:, rows] = other[:, columns]
    theirs[:, k:] = other[:, extra]
    mine = np.column_stack([center, np.zeros((len(center), extra.size), np.bool_)])
    numbers = np.arange(k + extra.size)
    return BoundPanel(title, note, numbers, mine & theirs, theirs & ~mine, mine & ~theirs)


def feature_ball(source: FeatureSummary | FeatureBall, *, axes: Any = None) -> NDArray[Any]:
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
    library("figure")
    found = source.ball if isinstance(source, FeatureSummary) else source
    ball = of_kind(
        found,
        FeatureBall,
        "a FeatureSummary or the credible ball of feature draws.",
    )
    shown = prepare_bounds(ball)
    order = item_order(ball.center)
    height = 0.9 + 0.11 * min(order.size, 120)
    widest = max(panel.columns.size for panel in shown)
    panels = many_axes(
        axes, len(shown), columns=3, width=1.1 + max(1.4, 0.17 * widest), height=height
    )
    for ax, panel in zip(panels, shown, strict=True):
        _draw_panel(ax, panel, order, ball.draws.item_names)
        ax.set_xlim(-0.6, widest - 0.4)  # columns of a feature below each other
    return panels


def _draw_panel(ax: Axes, panel: BoundPanel, order: Ints, names: tuple[str, ...] | None) -> None:
    n_items, width = panel.both.shape
    colours = library("colors")
    image = np.ones((n_items, width, 4))
    image[:, :, 3] = 0.0
    for k in range(width):
        image[(panel.both | panel.more)[:, k], k] = colours.to_rgba(colour(int(panel.columns[k])))
    ax.imshow(image[order], aspect="auto", interpolation="none")
    if n_items * width <= 4_000:
        rectangle = library("patches").Rectangle
        for row, k in zip(*np.nonzero(panel.missing[order]), strict=True):
            edge = colour(int(panel.columns[k]))
            place = (k - 0.4, row - 0.4)
            ax.add_patch(rectangle(place, 0.8, 0.8, fill=False, lw=0.9, ec=edge))
    ax.set_xticks([])
    if n_items <= _NAMED // 2:
        _name_items(ax, order, names)
    else:
        ax.set_yticks([])
    ax.set_ylabel("")
    ax.tick_params(length=0.0, labelsize=SMALL - 1.5)
    ax.spines[:].set_color(OTHER)
    first, _, rest = panel.note.partition(", at ")
    headline(ax, panel.title, first + (f"\nat {rest}" if rest else "\n"))


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
    library("figure")
    if isinstance(source, FeatureCounts):
        counted_ones: tuple[FeatureCounts, ...] = (source,)
    elif isinstance(source, FeatureSummary):
        counted_ones = (source.counts, source.counts_shared)
    else:
        from partita.features.draws import as_features

        draws = as_features(source)
        counted_ones = (feature_counts(draws), feature_counts(draws, 2))
    first, last = counted_ones[0], counted_ones[-1]
    low, high = first.interval(prob)
    axes = one_axes(ax, width=5.6, height=3.4)
    within = (first.values >= low) & (first.values <= high)
    bars = np.where(within, colour(0), OTHER).tolist()
    axes.bar(first.values, first.probabilities, width=0.86, color=bars, label="all features")
    if last is not first and not _same(first, last):
        axes.plot(
            last.values,
            last.probabilities,
            "o-",
            color=INK,
            linewidth=1.0,
            markersize=4.0,
            label="features of two items or more",
        )
        axes.legend(fontsize=SMALL, frameon=False, loc="upper right")
    everything = np.concatenate([first.values, last.values])
    axes.set_xlim(everything.min() - 0.9, everything.max() + 0.9)
    axes.set_xlabel("number of features")
    axes.set_ylabel(words(first.kind).posterior_probability)
    whole_ticks(axes, "x", most=14)
    plain(axes)
    note = f"mode {first.mode}, mean {first.mean:.3g}, {percent(prob)} in {low} to {high}"
    if isinstance(source, FeatureSummary):
        note += f"; the estimate has {source.n_features}"
    headline(axes, "Number of features", note)
    return axes


def _same(a: FeatureCounts, b: FeatureCounts) -> bool:
    return np.array_equal(a.values, b.values) and np.allclose(a.probabilities, b.probabilities)
