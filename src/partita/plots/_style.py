"""Colours, and the figures and axes that all plots draw into.

A figure goes through pyplot when pyplot is the user's way: in IPython and
notebooks, which show pyplot's figures, and wherever pyplot has been imported,
so that ``plt.show`` and ``plt.savefig`` find it. Elsewhere (the command line,
a script that saves ``ax.figure``) it belongs to nobody but its axes and is
gone with them. Colours need no matplotlib.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike

from partita._imports import require
from partita._validate import has, refuse_views
from partita._wording import clip
from partita.credible.ball import CredibleBall
from partita.errors import InvalidInputError
from partita.kernels.arrays import Array, Bools, Floats, Integers, Ints
from partita.labels import (
    DataLike,
    DrawsLike,
    Labels,
    LabelsLike,
    as_labels,
    best_matching,
    by_size,
    shared_items,
)
from partita.posterior import Posterior, as_posterior
from partita.samplers.fit import Fit
from partita.summary.result import AnySummary, Summary
from partita.summary.summarize import Observations, as_observations

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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


def colour_indices(partitions: Sequence[ArrayLike]) -> list[Ints]:
    """Colour index of each cluster of each partition, the same for corresponding clusters.

    The first partition is the reference: its clusters get 0, 1, … from the
    largest on, so that large clusters have the most distinct colours. Clusters
    of the others take the index of the cluster of the reference they are
    matched with, one to one so that most items keep their colour; those left over are matched
    with what was left over in earlier partitions, or else get new indices. For labels 0, 1, … of
    partition p, ``indices[p][labels]`` is the index of each item.

    Examples
    --------
    >>> from partita.plots._style import colour_indices
    >>> estimate, bound = [0, 0, 1, 1, 1, 1], [0, 0, 1, 2, 2, 2]
    >>> colour_indices([estimate, bound])
    [array([1, 0]), array([1, 2, 0])]
    """
    first, *others = [_dense(labels) for labels in partitions]
    sizes = np.bincount(first)
    start = np.empty(sizes.size, np.int64)
    start[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
    found = [start]
    extra: list[Bools] = []  # items of each cluster that got a new index
    matches = [best_matching(shared_items(first, vector)) for vector in others]
    for vector, matched in zip(others, matches, strict=True):
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
        known = best_matching(table[:, left])
        indices[left] = np.where(known >= 0, offset + known, -1)
        left = left[known < 0]
    for cluster in left.tolist():
        indices[cluster] = offset + len(extra)
        extra.append(labels == cluster)


def similarity_colours() -> list[str]:
    """256 colours of similarities from 0 to 1, the same in every figure and in the report.

    White for never together, and ever darker, so that it survives a copy in black and white.
    """
    return mixed_colours(_TOGETHER, 256)


def mixed_colours(scale: Sequence[str], n: int) -> list[str]:
    """n colours, as ``#RRGGBB``, evenly along a scale."""
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
    >>> from partita.plots._style import colour, shape
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


SMALL = 8.0
"""Points, of text that explains."""
NORMAL = 9.5
"""Points, of titles."""
INK = "#262626"
GREY = "#6E6E6E"

_MARKERS = dict(zip(SHAPES, "os^DvhP", strict=True))


def library(name: str) -> Any:
    """A module of matplotlib, such as ``"figure"``, or an error that names the extra."""
    module = f"matplotlib.{name}"
    loaded = sys.modules.get(module)
    return loaded or require(module, extra="plot", purpose="drawing a figure")


def new_figure(width: float, height: float) -> Figure:
    """A new figure where the user will look for it: pyplot's current one, or one of its own."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    with_pyplot = "matplotlib.pyplot" in sys.modules or shell is not None
    make = library("pyplot").figure if with_pyplot else library("figure").Figure
    figure: Figure = make(figsize=(width, height), layout="constrained")
    return figure


def close_figure(figure: Figure) -> None:
    """Give a figure back that has been written, where pyplot would keep it."""
    if "matplotlib.pyplot" in sys.modules:
        library("pyplot").close(figure)


def one_axes(ax: Axes | None, *, width: float, height: float) -> Axes:
    """The axes given, or those of a new figure."""
    library("figure")  # axes can only exist with matplotlib, but what came may be no axes
    if ax is None:
        return new_figure(width, height).subplots()
    if not has(ax, "add_artist"):
        raise InvalidInputError(
            f"ax is {type(ax).__name__}; expected matplotlib Axes or None.", argument="ax"
        )
    return ax


def many_axes(
    axes: Any, count: int, *, columns: int, width: float, height: float, **sharing: Any
) -> Array:
    """The axes given, in one row, or those of a new figure; ``width`` and ``height`` per panel."""
    columns = max(1, min(columns, count))
    rows = -(-count // columns)
    if axes is None:
        figure = new_figure(width * columns, height * rows)
        made = np.atleast_1d(figure.subplots(rows, columns, **sharing)).reshape(-1)
        for unused in made[count:]:
            unused.remove()
        return made[:count]
    try:
        refuse_views(axes, "axes")
        given = np.asarray(axes, dtype=object).reshape(-1)
    except Exception:  # whatever an object of a user raises
        given = np.array([None], dtype=object)
    if given.size != count or not all(has(ax, "add_artist") for ax in given):
        raise InvalidInputError(
            f"axes hold {given.size} object(s); expected {count} matplotlib Axes, one per panel, "
            "such as those of matplotlib.figure.Figure().subplots(...).",
            argument="axes",
        )
    return given


def headline(ax: Axes, title: str, note: str = "") -> None:
    """A title, and below it in small print what a reader must know to read the figure."""
    lines = note.count("\n") + 1 if note else 0
    ax.set_title(title, loc="left", fontsize=NORMAL, color=INK, pad=6.0 + 11.0 * lines)
    if note:
        remark(ax, note, (0.0, 1.0), (0.0, 4.0), xycoords="axes fraction", va="bottom")


def finish(ax: Axes, title: str, note: str = "", *, whole: int = 0, **layout: Any) -> None:
    """Labels and limits, a title, and no frame where there is no scale.

    ``whole`` is the most ticks of an x axis that has whole numbers only.
    """
    ax.set(**layout)
    if whole:
        whole_ticks(ax, "x", most=whole)
    plain(ax)
    headline(ax, title, note)


def remark(
    ax: Axes, text: str, at: tuple[float, float], offset: tuple[float, float], **layout: Any
) -> None:
    """Small print at an offset in points from a place."""
    style: dict[str, Any] = {"fontsize": SMALL, "color": GREY, "textcoords": "offset points"}
    ax.annotate(text, at, offset, **style | layout)


def heat(ax: Axes, cells: Floats, **layout: Any) -> Any:
    """Shares from 0 to 1 as an image, in the colours of similarities."""
    scale = library("colors").ListedColormap(similarity_colours(), name="similarity")
    return ax.imshow(cells, cmap=scale, vmin=0.0, vmax=1.0, **layout)


def colour_bar(ax: Axes, image: Any, title: str, **layout: Any) -> Any:
    """The scale of an image at the right of the axes."""
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02, **layout)
    bar.set_label(title, fontsize=SMALL + 0.5)
    bar.ax.tick_params(labelsize=SMALL)
    return bar


def frame(ax: Axes, at: tuple[float, float], width: float, height: float, **layout: Any) -> None:
    """An empty rectangle."""
    ax.add_patch(library("patches").Rectangle(at, width, height, fill=False, **layout))


def items(ax: Axes, x: Any, y: Any, index: int, size: float, **layout: Any) -> None:
    """Points in the colour and the shape of a cluster."""
    ax.scatter(x, y, s=size, marker=marker(index), color=colour(index), zorder=2, **layout)


def points_with_errors(ax: Axes, x: Any, y: Any, error: Any, ringed: Any, **layout: Any) -> None:
    """A line through points with their error bars; some of them have a ring."""
    line: dict[str, Any] = {"color": colour(0), "markersize": 4.5, "linewidth": 1.4, "capsize": 2.5}
    ring: dict[str, Any] = {"linestyle": "none", "markersize": 11.0, "markerfacecolor": "none"}
    ax.errorbar(x, y, error, marker="o", **line | layout)
    ax.plot(x[ringed], y[ringed], marker="o", markeredgecolor=INK, **ring)


def plain(ax: Axes) -> None:
    """No frame where there is no scale, and small tick labels."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=SMALL, color=GREY)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_fontsize(SMALL + 0.5)


def whole_ticks(ax: Axes, axis: str, *, most: int = 8) -> None:
    """Ticks at whole numbers only, and not many."""
    locator = library("ticker").MaxNLocator(most, integer=True, min_n_ticks=1)
    getattr(ax, f"{axis}axis").set_major_locator(locator)


def marker(index: int) -> str:
    """Marker of a colour index, in matplotlib's letters."""
    return _MARKERS[shape(index)]


def cluster_legend(
    ax: Axes, indices: Ints, sizes: Integers, *, only: Integers | None = None
) -> None:
    """Numbers and sizes of clusters beside the axes, the largest first; 24 at most."""
    order = np.argsort(-sizes, kind="stable")
    if only is not None:
        order = order[np.isin(order, only)]
    shown = order[:24]
    line, look = library("lines").Line2D, {"markersize": 6.0, "markeredgewidth": 0.4}
    handles = [
        line([], [], ls="none", marker=marker(i), mfc=colour(i), mec="white", label=label, **look)
        for i, label in ((int(indices[k]), f"{k} ({sizes[k]:,})") for k in shown.tolist())
    ]
    title = "cluster (size)"
    if order.size > shown.size:
        title += f",\n{shown.size} largest of {order.size:,}"
    columns = 1 if len(handles) <= 14 else 2
    spacing = {"handletextpad": 0.2, "columnspacing": 0.8, "borderaxespad": 0.2}
    legend_beside(ax, handles, title, ncols=columns, **spacing)


def legend_beside(ax: Axes, handles: list[Any], title: str, **layout: Any) -> None:
    """A legend at the right of the axes."""
    legend = ax.legend(
        handles=handles,
        title=title,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        fontsize=SMALL,
        title_fontsize=SMALL,
        alignment="left",
        frameon=False,
        **layout,
    )
    legend.get_title().set_color(GREY)


def shorten(text: str, length: int) -> str:
    """Text cut to a length, and one that matplotlib does not read as a formula."""
    return clip(text, length).replace("$", r"\$")


T = TypeVar("T")


def posterior_of(source: DrawsLike, n_jobs: int | None = None) -> Posterior:
    """The posterior of a summary, with what it has computed already, or a new one."""
    return source._posterior if isinstance(source, Summary) else as_posterior(source, n_jobs)


BALL = (
    "a summary or a credible ball of partitions. partita.credible_ball(draws, estimate) makes one; "
    "plots.feature_ball draws that of features."
)


def part_of(source: object, name: str, kind: type[T], expected: str, argument: str = "source") -> T:
    """The part of a summary, or the one given, if it is of the kind that a figure shows."""
    if isinstance(source, AnySummary) and isinstance(part := getattr(source, name, None), kind):
        source = part  # otherwise the error names what was given
    return require_kind(source, kind, expected, argument)


def require_kind(
    source: object, kind: type[T] | tuple[type[T], ...], expected: str, argument: str = "source"
) -> T:
    """The result, if it is of the kind that a figure shows, and figures can be drawn."""
    library("figure")
    if not isinstance(source, kind):
        raise InvalidInputError(
            f"got {type(source).__name__}; expected {expected}", argument=argument
        )
    return source


def result_of(source: object, kind: type[T], maker: str, argument: str = "source") -> T:
    """What a public function returned, if it is of the kind that a figure shows."""
    return require_kind(source, kind, f"{kind.__name__}, as partita.{maker} returns.", argument)


def estimate_for(source: object, estimate: LabelsLike | None, n_items: int) -> Labels | None:
    """The estimate asked for, else the one the source carries, else None."""
    if estimate is not None:
        return by_size(as_labels(estimate, n_items=n_items, argument="estimate"))
    return by_size(as_labels(source)) if isinstance(source, (Summary, CredibleBall)) else None


def observations_of(
    source: object, data: DataLike | None, fit: Fit | None, n_items: int
) -> Observations | None:
    """The data given, else those of the summary or fit, else None."""
    if data is not None:
        return as_observations(data, n_items)
    if isinstance(source, Summary) and source.data is not None:
        return Observations(source.data, source.data_names or None, source.data_categories)
    if fit is not None and isinstance(fit.values, np.ndarray):  # and not rows on workers
        _same_items(fit, n_items)
        unnamed = fit.columns == tuple(str(j) for j in range(len(fit.columns)))
        categories = fit.kernel.categories(len(fit.columns))
        return Observations(fit.values, None if unnamed else fit.columns, categories)
    return None


def fit_for(fit: Fit | None, n_items: int) -> Fit | None:
    """The fit, checked to be about as many items."""
    if fit is not None:
        _same_items(result_of(fit, Fit, "sample", "fit"), n_items)
    return fit


def _same_items(fit: Fit, n_items: int) -> None:
    if fit.draws.n_items != n_items:
        raise InvalidInputError(
            f"the fit is about {fit.draws.n_items} items, the partition about {n_items}.",
            argument="fit",
        )
