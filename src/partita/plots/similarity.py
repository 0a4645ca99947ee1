"""The posterior similarity matrix as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita._text import counted, words
from partita._validate import whole
from partita.draws import Draws
from partita.labels import DrawsLike, LabelsLike
from partita.plots.canvas import GREY, SMALL, headline, library, one_axes, shorten, similarity_scale
from partita.plots.colours import colour, colour_indices, is_dark
from partita.plots.inputs import estimate_for, posterior_of
from partita.plots.similarity_map import MOST_CELLS, SimilarityMap, prepare_similarity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STRIP = (-0.050, 0.034)
"""Left end and width of the coloured strip, as fractions of the axes."""


def similarity(
    source: DrawsLike,
    *,
    estimate: LabelsLike | None = None,
    most_cells: int = MOST_CELLS,
    ax: Axes | None = None,
    n_jobs: int | None = None,
) -> Axes:
    """Heat map of the posterior similarity matrix, ordered by the estimate.

    Rows and columns are the items: clusters of the estimate one after the
    other, similar clusters side by side, and within each cluster the items as
    average linkage on 1 − p orders them. A strip at the left shows the
    clusters in their colours, with their numbers where there is room. With
    more than ``most_cells`` items neighbours are averaged, and the title says
    so.

    Parameters
    ----------
    source : Summary, Fit, CredibleBall, Draws or anything as_draws accepts
    estimate : array_like, shape (n_items,), or an estimate, optional
        The partition to order by; by default that of a summary or ball, and
        for plain draws the VI estimate, which is searched for.
    most_cells : int, default 500
    ax : Axes, optional
        Where to draw; a new figure by default, ``ax.figure`` of the result.
    n_jobs : int, optional
        Threads; every core by default.

    Returns
    -------
    Axes

    Notes
    -----
    O(M·N²) for M draws of N items; less, and without an N × N matrix, when the map is aggregated.

    References
    ----------
    Wade and Ghahramani (2018), section 5, Figures 6 to 10.

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]
    >>> ax = pt.plots.similarity(draws)
    >>> ax.figure.savefig("similarity.svg")
    """
    library("figure")
    most_cells = whole(most_cells, "most_cells", least=1)
    posterior = posterior_of(source, n_jobs)
    draws = posterior.draws
    labels = estimate_for(source, estimate, draws.n_items)
    if labels is None:
        from partita.search.estimate import estimate as search

        labels = search(posterior, bound=None, n_jobs=n_jobs).labels
    prepared = prepare_similarity(posterior, labels, most_cells=most_cells, n_jobs=n_jobs)
    return _draw(prepared, colour_indices([labels])[0].tolist(), draws, ax)


def _draw(found: SimilarityMap, indices: list[int], draws: Draws, ax: Axes | None) -> Axes:
    axes = one_axes(ax, width=6.0, height=5.4)
    n = found.n_items
    image = axes.imshow(
        found.values,
        cmap=similarity_scale(),
        vmin=0.0,
        vmax=1.0,
        interpolation="nearest",
        extent=(0.0, n, n, 0.0),
        aspect="equal",
    )
    _brackets(axes, found, indices)
    _item_names(axes, found, draws)
    bar = axes.figure.colorbar(image, ax=axes, shrink=0.8, aspect=28, pad=0.02)
    bar.set_label(words(draws.kind).together, fontsize=SMALL + 0.5)
    bar.ax.tick_params(labelsize=SMALL)
    title = f"Similarity of {counted(n, 'item')}, {counted(found.clusters.size, 'cluster')}"
    note = ""
    if found.is_aggregated:
        side = f"{n / len(found.values):.3g}"
        note = f"aggregated: each cell is the mean of about {side} × {side} pairs of items"
    headline(axes, title, note)
    return axes


def _brackets(axes: Axes, found: SimilarityMap, indices: list[int]) -> None:
    """A coloured strip at the left edge, and a frame around each cluster's block."""
    rectangle = library("patches").Rectangle
    n, (offset, width) = found.n_items, _STRIP
    across = axes.get_yaxis_transform()
    line = 0.6 if found.clusters.size <= 60 else 0.0
    for j, cluster in enumerate(found.clusters.tolist()):
        start, size = int(found.starts[j]), int(found.starts[j + 1] - found.starts[j])
        fill = colour(indices[cluster])
        strip = rectangle((offset, start), width, size, transform=across, clip_on=False)
        strip.set(facecolor=fill, edgecolor="white", linewidth=line)
        axes.add_patch(strip)
        if size > 1:
            axes.add_patch(
                rectangle((start, start), size, size, fill=False, edgecolor=GREY, linewidth=0.6)
            )
        if size >= 0.03 * n:
            axes.text(
                offset + width / 2,
                start + size / 2,
                str(cluster),
                transform=across,
                color="white" if is_dark(fill) else "black",
                fontsize=SMALL - 1.0,
                ha="center",
                va="center",
            )


def _item_names(axes: Axes, found: SimilarityMap, draws: Draws) -> None:
    """Names of the items at the left and below, where they can be read."""
    axes.tick_params(length=0.0, labelsize=SMALL)
    height = axes.get_window_extent().height * 72.0 / axes.figure.dpi
    size = min(SMALL, 0.8 * height / found.n_items)
    if size < 4.5:
        axes.set(xticks=[], yticks=[], xlabel="items", ylabel="")
        axes.xaxis.label.set(size=SMALL + 0.5, color=GREY)
        return
    names = [
        shorten(str(i) if draws.item_names is None else draws.item_names[i], 16)
        for i in found.order.tolist()
    ]
    places = [place + 0.5 for place in range(found.n_items)]
    axes.set_yticks(places, names, fontsize=size)
    axes.set_xticks(places, names, fontsize=size, rotation=90)
    axes.tick_params(axis="y", pad=-_STRIP[0] * height + 3.0)
