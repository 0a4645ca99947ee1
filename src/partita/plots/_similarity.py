"""The similarity matrix as a heat map: on matplotlib, in the report, and as a small PNG."""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._validate import integer
from partita._wording import counted, words
from partita.draws import Draws
from partita.kernels.arrays import Floats, Integers, Ints
from partita.labels import DrawsLike, Labels, LabelsLike
from partita.plots import _style as style
from partita.posterior import as_posterior
from partita.scan import Block, sum_blocks
from partita.similarity_matrix import similarity as similarity_matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_CELLS = 500
"""Rows of a heat map: about as many as a page or a screen can show."""

_LINKED = 1_000
"""Most items of one cluster that linkage orders; the others follow them."""
_COMPARED, _FEWEST_LINKED = 10**10, 30
"""Labels compared with those of these items, about, and fewest of them all the same: a thousand of
them for a million items in 40 draws take 25 of the 35 s of a report."""

_TABLE_CELLS = 1 << 20
"""Counts of one task, of which every thread holds one."""


_EMPTY = 7
"""Groups for each item of a mean cluster above which a table has too few entries to be full."""


@dataclass(frozen=True, eq=False)
class SimilarityMap:
    """A similarity matrix ordered by an estimate, and within its clusters by linkage.

    Attributes
    ----------
    values : ndarray of float, shape (n_cells, n_cells)
        Similarities in that order. Where cells hold several items: the mean
        over pairs of different items.
    edges : ndarray of int64, shape (n_cells + 1,)
        Cell c holds the items ``order[edges[c]:edges[c + 1]]``.
    order : ndarray of int64, shape (n_items,)
        The items from top to bottom.
    clusters : ndarray of int64, shape (n_clusters,)
        The estimate's clusters from top to bottom.
    starts : ndarray of int64, shape (n_clusters + 1,)
        Cluster ``clusters[j]`` takes places ``starts[j]`` to ``starts[j + 1]``.
    """

    values: Floats
    edges: Ints
    order: Ints
    clusters: Ints
    starts: Ints

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.order.size)

    @property
    def is_aggregated(self) -> bool:
        """Whether cells hold more than one item."""
        return self.n_items > len(self.values)


def prepare_similarity(
    source: DrawsLike, labels: Labels, *, most_cells: int = MOST_CELLS, n_jobs: int | None = None
) -> SimilarityMap:
    """Order the items by an estimate and by linkage within it, and aggregate if they are many.

    With more than ``most_cells`` items neighbours in the order share a cell. Up to that many the
    cost is O(M·N²); beyond, O(M·(N + G²·K)) for G cells and K clusters per draw, and
    O(M·n·min(n, 1000)) for a cluster of n items,
    less where labels are many, without an N × N matrix.

    Examples
    --------
    >>> import partita as pt
    >>> from partita.plots._similarity import prepare_similarity
    >>> draws = pt.Draws([[0, 1, 0, 1], [0, 1, 0, 0]])
    >>> found = prepare_similarity(draws, pt.canonical([0, 1, 0, 1]))
    >>> found.order, found.starts
    (array([0, 2, 1, 3]), array([0, 2, 4]))
    >>> found.values[2]
    array([0. , 0. , 1. , 0.5])
    """
    posterior = as_posterior(source, n_jobs)
    draws = posterior.draws
    clusters = np.arange(int(labels.max()) + 1)
    parts = [_order_within(draws, np.flatnonzero(labels == k), n_jobs) for k in clusters.tolist()]
    order = np.concatenate(parts)
    starts = np.concatenate(([0], np.cumsum([part.size for part in parts])))
    n_items = draws.n_items
    cells = min(n_items, most_cells)
    edges = np.linspace(0, n_items, cells + 1).round().astype(np.int64)
    if cells == n_items:
        values = posterior.similarity[np.ix_(order, order)]
    else:
        cell = np.empty(n_items, np.int64)
        cell[order] = np.repeat(np.arange(cells), np.diff(edges))
        values = mean_similarity(draws, cell, n_jobs)
    return SimilarityMap(values, edges, order, clusters, starts)


def mean_similarity(draws: Draws, groups: Integers, n_jobs: int | None = None) -> Floats:
    """Mean similarity of the pairs of different items between and within groups of items.

    Groups are numbered 0 to n_groups − 1, none empty; a single item has similarity 1 with itself.
    In each draw the pairs between groups g and h are Σ_k n_gk·n_hk, with n the
    cross table of groups and clusters: a matrix product. Where clusters have
    fewer items than there are groups, most of the table is empty, and only what
    is there is multiplied.
    """
    sizes = np.bincount(groups).astype(np.float64)
    rows = max(1, _TABLE_CELLS // draws.n_items)
    multiply = _few_pairs
    if draws.n_items * _EMPTY > sizes.size * float(draws.n_clusters.mean()):
        multiply = _pairs
        rows = min(rows, max(1, _TABLE_CELLS // (sizes.size * int(draws.n_clusters.max()))))
    count = partial(multiply, groups=groups, n_groups=sizes.size)
    (pairs,) = sum_blocks(count, draws, rows=rows, n_jobs=n_jobs)
    means = pairs / np.outer(sizes, sizes)
    several = sizes > 1
    own = np.ones_like(sizes)
    own[several] = (np.diagonal(pairs) - sizes)[several] / (sizes * (sizes - 1))[several]
    np.fill_diagonal(means, own)
    return np.asarray(means.clip(0.0, 1.0))


def _pairs(block: Block, *, groups: Integers, n_groups: int) -> tuple[Floats]:
    """Expected pairs between groups, as far as one block of draws contributes."""
    counts = block.n_clusters
    columns = int(counts.sum())
    first = np.cumsum(counts) - counts
    cells = block.rows + first[:, None] + groups[None, :] * columns
    table = np.bincount(cells.reshape(-1), minlength=n_groups * columns)
    scaled = table.reshape(n_groups, columns) * np.sqrt(np.repeat(block.probabilities, counts))
    return (np.asarray(scaled @ scaled.T, np.float64),)


def _few_pairs(block: Block, *, groups: Integers, n_groups: int) -> tuple[Floats]:
    """The same from the items alone, where most groups have no item in most clusters."""
    from scipy.sparse import csr_array

    counts, n_items = block.n_clusters, groups.size
    clusters = (block.rows + (np.cumsum(counts) - counts)[:, None]).reshape(-1)
    weights = np.sqrt(np.repeat(block.probabilities, n_items))
    shape = (n_groups, int(counts.sum()))
    table = csr_array((weights, (np.tile(groups, counts.size), clusters)), shape)
    return (np.asarray((table @ table.T).toarray(), np.float64),)


def _order_within(draws: Draws, members: Ints, n_jobs: int | None) -> Ints:
    """The items of one cluster, ordered by linkage."""
    if members.size < 3:
        return members
    # Chosen at random, for items often come in a regular order; the same ones every time.
    labels = draws.n_draws * draws.n_items
    count = min(members.size, _LINKED, max(_FEWEST_LINKED, _COMPARED // labels))
    chosen = np.sort(np.random.default_rng(0).permutation(members.size)[:count])
    part = draws.select_items(members)
    together = similarity_matrix(part, rows=chosen, n_jobs=n_jobs, dtype=np.float32)
    leaves = _leaves(together[:, chosen].astype(np.float64))
    place = np.argsort(leaves)
    leader = together.argmax(axis=0)
    leader[chosen] = np.arange(chosen.size)  # an item that is always with another leads itself
    found: Ints = members[np.argsort(place[leader], kind="stable")]
    return found


def _leaves(together: Floats) -> Ints:
    """Order of the leaves of average linkage on 1 − p."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    apart = 1.0 - (together + together.T) / 2.0
    np.fill_diagonal(apart, 0.0)
    tree = linkage(squareform(apart.clip(0.0), checks=False), method="average")
    return leaves_list(tree).astype(np.int64)


_CELLS = 120
_MOST_LABELS = 20_000_000
"""With more labels the picture would take seconds, and a summary is shown often."""


def thumbnail(source: DrawsLike, labels: Labels, n_labels: int) -> str | None:
    """The similarity matrix, ordered by an estimate, as the address of a PNG picture.

    None where it would not be quick. Cost as of :func:`prepare_similarity`.
    """
    if n_labels > _MOST_LABELS:
        return None
    values = prepare_similarity(source, labels, most_cells=_CELLS).values
    scale = np.array([style.channels(text) for text in style.similarity_colours()])
    pixels = scale[np.rint(values * 255).astype(int)].astype(np.uint8)
    return f"data:image/png;base64,{base64.b64encode(png(pixels)).decode()}"


def png(pixels: NDArray[np.uint8]) -> bytes:
    """An image of shape (height, width, 3) in the PNG format, 8 bits a channel."""
    height, width, _ = pixels.shape

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)  # 0: no filter
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(lines, 9))
        + chunk(b"IEND", b"")
    )


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
    style.library("figure")
    most_cells = integer(most_cells, "most_cells", least=1)
    posterior = style.posterior_of(source, n_jobs)
    draws = posterior.draws
    labels = style.estimate_for(source, estimate, draws.n_items)
    if labels is None:
        from partita.search.estimate import estimate as search

        labels = search(posterior, bound=None, n_jobs=n_jobs).labels
    prepared = prepare_similarity(posterior, labels, most_cells=most_cells, n_jobs=n_jobs)
    return _draw(prepared, style.colour_indices([labels])[0].tolist(), draws, ax)


def _draw(found: SimilarityMap, indices: list[int], draws: Draws, ax: Axes | None) -> Axes:
    axes = style.one_axes(ax, width=6.0, height=5.4)
    n = found.n_items
    whole = (0.0, n, n, 0.0)
    image = style.heat(axes, found.values, interpolation="nearest", extent=whole, aspect="equal")
    _brackets(axes, found, indices)
    _item_names(axes, found, draws)
    style.colour_bar(axes, image, words(draws.kind).together, shrink=0.8, aspect=28)
    title = f"Similarity of {counted(n, 'item')}, {counted(found.clusters.size, 'cluster')}"
    note = ""
    if found.is_aggregated:
        side = f"{n / len(found.values):.3g}"
        note = f"aggregated: each cell is the mean of about {side} × {side} pairs of items"
    style.headline(axes, title, note)
    return axes


def _brackets(axes: Axes, found: SimilarityMap, indices: list[int]) -> None:
    """A coloured strip at the left edge, and a frame around each cluster's block."""
    rectangle = style.library("patches").Rectangle
    n, (offset, width) = found.n_items, _STRIP
    across = axes.get_yaxis_transform()
    line = 0.6 if found.clusters.size <= 60 else 0.0
    for j, cluster in enumerate(found.clusters.tolist()):
        start, size = int(found.starts[j]), int(found.starts[j + 1] - found.starts[j])
        fill = style.colour(indices[cluster])
        strip = rectangle((offset, start), width, size, transform=across, clip_on=False)
        strip.set(facecolor=fill, edgecolor="white", linewidth=line)
        axes.add_patch(strip)
        if size > 1:
            style.frame(axes, (start, start), size, size, edgecolor=style.GREY, linewidth=0.6)
        if size >= 0.03 * n:
            middle = (offset + width / 2, start + size / 2)
            ink = "white" if style.is_dark(fill) else "black"
            look: dict[str, Any] = {"color": ink, "fontsize": style.SMALL - 1.0}
            axes.text(*middle, str(cluster), transform=across, ha="center", va="center", **look)


def _item_names(axes: Axes, found: SimilarityMap, draws: Draws) -> None:
    """Names of the items at the left and below, where they can be read."""
    axes.tick_params(length=0.0, labelsize=style.SMALL)
    height = axes.get_window_extent().height * 72.0 / axes.figure.dpi
    size = min(style.SMALL, 0.8 * height / found.n_items)
    if size < 4.5:
        axes.set(xticks=[], yticks=[], xlabel="items", ylabel="")
        axes.xaxis.label.set(size=style.SMALL + 0.5, color=style.GREY)
        return
    names = [
        style.shorten(str(i) if draws.item_names is None else draws.item_names[i], 16)
        for i in found.order.tolist()
    ]
    places = [place + 0.5 for place in range(found.n_items)]
    axes.set_yticks(places, names, fontsize=size)
    axes.set_xticks(places, names, fontsize=size, rotation=90)
    axes.tick_params(axis="y", pad=-_STRIP[0] * height + 3.0)
