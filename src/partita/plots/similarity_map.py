"""The similarity matrix made ready to be looked at: ordered, and aggregated when it is large.

Needs no drawing library.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from partita.draws import Draws
from partita.kernels.arrays import Floats
from partita.labels import DrawsLike, Labels
from partita.posterior import as_posterior
from partita.scan import Block, sum_blocks
from partita.similarity_matrix import similarity

Positions = NDArray[np.int64]

MOST_CELLS = 500
"""Rows of a heat map: about as many as a page or a screen can show."""

_LINKED = 1_000
"""Items of one cluster that linkage orders; of a larger one so many, and the rest follow them."""

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
    edges: Positions
    order: Positions
    clusters: Positions
    starts: Positions

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
    O(M·n·min(n, 1000)) for a cluster of n items, without an N × N matrix.

    Examples
    --------
    >>> import partita as pt
    >>> from partita.plots.similarity_map import prepare_similarity
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
    parts = [_within(draws, np.flatnonzero(labels == k), n_jobs) for k in clusters.tolist()]
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


def mean_similarity(draws: Draws, groups: NDArray[np.integer], n_jobs: int | None = None) -> Floats:
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


def _pairs(block: Block, *, groups: NDArray[np.integer], n_groups: int) -> tuple[Floats]:
    """Expected pairs between groups, as far as one block of draws contributes."""
    counts = block.n_clusters
    columns = int(counts.sum())
    first = np.cumsum(counts) - counts
    cells = block.rows + first[:, None] + groups[None, :] * columns
    table = np.bincount(cells.reshape(-1), minlength=n_groups * columns)
    scaled = table.reshape(n_groups, columns) * np.sqrt(np.repeat(block.probabilities, counts))
    return (np.asarray(scaled @ scaled.T, np.float64),)


def _few_pairs(block: Block, *, groups: NDArray[np.integer], n_groups: int) -> tuple[Floats]:
    """The same from the items alone, where most groups have no item in most clusters."""
    from scipy.sparse import csr_array

    counts, n_items = block.n_clusters, groups.size
    clusters = (block.rows + (np.cumsum(counts) - counts)[:, None]).reshape(-1)
    weights = np.sqrt(np.repeat(block.probabilities, n_items))
    shape = (n_groups, int(counts.sum()))
    table = csr_array((weights, (np.tile(groups, counts.size), clusters)), shape)
    return (np.asarray((table @ table.T).toarray(), np.float64),)


def _within(draws: Draws, members: Positions, n_jobs: int | None) -> Positions:
    """The items of one cluster, ordered by linkage."""
    if members.size < 3:
        return members
    # Chosen at random, for items often come in a regular order; the same ones every time.
    count = min(members.size, _LINKED)
    chosen = np.sort(np.random.default_rng(0).permutation(members.size)[:count])
    part = draws.select_items(members)
    together = similarity(part, rows=chosen, n_jobs=n_jobs, dtype=np.float32)
    leaves = _leaves(together[:, chosen].astype(np.float64))
    place = np.argsort(leaves)
    leader = together.argmax(axis=0)
    leader[chosen] = np.arange(chosen.size)  # an item that is always with another leads itself
    found: Positions = members[np.argsort(place[leader], kind="stable")]
    return found


def _leaves(together: Floats) -> Positions:
    """Order of the leaves of average linkage on 1 − p."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    apart = 1.0 - (together + together.T) / 2.0
    np.fill_diagonal(apart, 0.0)
    tree = linkage(squareform(apart.clip(0.0), checks=False), method="average")
    return leaves_list(tree).astype(np.int64)
