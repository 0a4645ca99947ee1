"""The door to matplotlib, and what all figures share.

A figure goes through pyplot when pyplot is the user's way: in IPython and
notebooks, which show pyplot's figures, and wherever pyplot has been imported,
so that ``plt.show`` and ``plt.savefig`` find it. Elsewhere (the command line,
a script that saves ``ax.figure``) it belongs to nobody but its axes and is
gone with them.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._optional import require
from partita.errors import InvalidInputError
from partita.plots.colours import SHAPES, colour, shape, similarity_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

SMALL = 8.0
"""Points, of text that explains."""
NORMAL = 9.5
"""Points, of titles."""
INK = "#262626"
GREY = "#6E6E6E"

_MARKERS = dict(zip(SHAPES, "os^DvhP", strict=True))


def library(name: str) -> Any:
    """A module of matplotlib, such as ``"figure"``, or an error that names the extra."""
    return require(f"matplotlib.{name}", extra="plot", purpose="drawing a figure")


def new_figure(width: float, height: float) -> Figure:
    """A figure of so many inches outside pyplot, for what is written to a file at once."""
    figure: Figure = library("figure").Figure(figsize=(width, height), layout="constrained")
    return figure


def shown_figure(width: float, height: float) -> Figure:
    """A new figure where the user will look for it: pyplot's current one, or one of its own."""
    if not _pyplot_is_in_use():
        return new_figure(width, height)
    figure: Figure = library("pyplot").figure(figsize=(width, height), layout="constrained")
    return figure


def close_figure(figure: Figure) -> None:
    """Give a figure back that has been written, where pyplot would keep it."""
    if "matplotlib.pyplot" in sys.modules:
        library("pyplot").close(figure)


def _pyplot_is_in_use() -> bool:
    if "matplotlib.pyplot" in sys.modules:
        return True
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None


def one_axes(ax: Axes | None, *, width: float, height: float) -> Axes:
    """The axes given, or those of a new figure."""
    library("figure")  # axes can only exist with matplotlib, but what came may be no axes
    if ax is None:
        return shown_figure(width, height).subplots()
    if not hasattr(ax, "add_artist"):
        raise InvalidInputError(
            f"ax is {type(ax).__name__}; expected matplotlib Axes or None.", argument="ax"
        )
    return ax


def many_axes(
    axes: Any, count: int, *, columns: int, width: float, height: float, **sharing: Any
) -> NDArray[Any]:
    """The axes given, in one row, or those of a new figure; ``width`` and ``height`` per panel."""
    columns = max(1, min(columns, count))
    rows = -(-count // columns)
    if axes is None:
        figure = shown_figure(width * columns, height * rows)
        made = np.atleast_1d(figure.subplots(rows, columns, **sharing)).reshape(-1)
        for unused in made[count:]:
            unused.remove()
        return made[:count]
    given = np.asarray(axes, dtype=object).reshape(-1)
    if given.size != count or not all(hasattr(ax, "add_artist") for ax in given):
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


def remark(
    ax: Axes, text: str, at: tuple[float, float], offset: tuple[float, float], **layout: Any
) -> None:
    """Small print so many points beside a place."""
    style: dict[str, Any] = {"fontsize": SMALL, "color": GREY, "textcoords": "offset points"}
    ax.annotate(text, at, offset, **style | layout)


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
    locator = library("ticker").MaxNLocator(most, integer=True)
    getattr(ax, f"{axis}axis").set_major_locator(locator)


def marker(index: int) -> str:
    """Marker of a colour index, in matplotlib's letters."""
    return _MARKERS[shape(index)]


def cluster_handle(index: int, label: str) -> Line2D:
    """What stands for a cluster in a legend."""
    handle: Line2D = library("lines").Line2D(
        [],
        [],
        linestyle="none",
        marker=marker(index),
        markersize=6.0,
        markerfacecolor=colour(index),
        markeredgecolor="white",
        markeredgewidth=0.4,
        label=label,
    )
    return handle


def cluster_legend(
    ax: Axes,
    indices: NDArray[np.int64],
    sizes: NDArray[np.integer],
    *,
    only: NDArray[np.integer] | None = None,
) -> None:
    """Numbers and sizes of clusters beside the axes, the largest first; 24 at most."""
    order = np.argsort(-sizes, kind="stable")
    if only is not None:
        order = order[np.isin(order, only)]
    shown = order[:24]
    handles = [cluster_handle(int(indices[k]), f"{k} ({sizes[k]:,})") for k in shown.tolist()]
    title = "cluster (size)"
    if order.size > shown.size:
        title += f",\n{shown.size} largest of {order.size:,}"
    columns = 1 if len(handles) <= 14 else 2
    spacing = {"handletextpad": 0.2, "columnspacing": 0.8, "borderaxespad": 0.2}
    key_beside(ax, handles, title, ncols=columns, **spacing)


def key_beside(ax: Axes, handles: list[Any], title: str, **layout: Any) -> None:
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
    """Text of at most so many characters, and one that matplotlib does not read as a formula."""
    cut = text if len(text) <= length else text[: length - 1] + "…"
    return cut.replace("$", r"\$")


def similarity_scale() -> Any:
    """Colour map of similarities."""
    return library("colors").ListedColormap(similarity_colours(), name="similarity")
