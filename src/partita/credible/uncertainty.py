"""How certain items, clusters and features are, their number and their sizes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita._progress import Status
from partita._resources import Clock, require_memory, run_interruptible, stream
from partita._result import Result
from partita._storage import chunk_rows
from partita._tolerance import MASS, SUM
from partita._validate import integer, probability
from partita._wording import Kind, clip, counted, words
from partita.draws import AnyDraws, Draws, any_draws, as_draws
from partita.kernels.arrays import Bools, Floats, Int32s, Ints
from partita.labels import (
    DrawsLike,
    Labels,
    LabelsLike,
    as_numbered,
    by_size,
    data_frame,
    from_one,
    items_from_one,
)
from partita.losses.base import Loss
from partita.losses.evaluate import loss_for
from partita.posterior import as_posterior
from partita.scan import Block, Sums, concatenate_arrays, is_remote, map_blocks, sum_blocks

if TYPE_CHECKING:
    import pandas as pd

    from partita.features.draws import FeatureDraws

JACCARD = 0.8
"""Overlap from which on a cluster counts as recovered, by default."""

_WAITING = 3
"""Sums held at the least: the total, one that is made and one that waits."""

_SUM_BYTES = 1 << 27
"""Bytes that the sums of one block of items may take."""

_NEAR_BYTES = 1 << 22
"""The same where the overlaps are known: so few that the sums stay in cache."""

_ROUNDING = SUM
"""A Jaccard similarity this little short of the threshold reaches it."""


class _Items(Result):
    """Base class of tables of items."""

    order: NDArray[np.int64]
    names: tuple[str, ...] | None

    def name(self, item: int) -> str:
        """Name of an item, or its position."""
        return str(item) if self.names is None else self.names[item]

    def _least_certain(self, values: Floats, form: str) -> str:
        """Five items with their values."""
        first = self.order[:5].tolist()
        return ", ".join(f"{clip(self.name(i), 40)} ({values[i]:{form}})" for i in first)


def _shares(values: Floats) -> Floats:
    """Parts of a whole, all 0 where it is 0."""
    total = float(values.sum())
    return values / total if total > 0.0 else np.zeros_like(values)


@dataclass(frozen=True, eq=False, repr=False)
class ItemUncertainty(_Items):
    """How certain the place of each item in an estimate is.

    Made by :func:`item_uncertainty`.

    Attributes
    ----------
    labels : ndarray of int32, shape (n_items,)
        The estimate, its clusters numbered by size.
    probability : ndarray of float, shape (n_items,)
        Probability that the item lies in the cluster of the draw that is matched
        to the item's cluster in the estimate.
    placement : ndarray of float, shape (n_items, K + 1)
        The same for each cluster of the estimate, and last for none of them; rows
        sum to 1.
    best, second : ndarray of int32, shape (n_items,)
        The two clusters of the estimate with the largest placement. ``second`` is
        −1 where the item is never placed into a second one, ``best`` where it is
        never placed at all.
    similarity_share : ndarray of float, shape (n_items, K)
        Mean similarity of the item to the other members of each cluster, scaled
        to sum to 1 over the clusters. A share, not a probability.
    contribution : ndarray of float, shape (n_items,)
        Each item's part of the expected VI of the estimate, in bits; they sum to it.
    share : ndarray of float, shape (n_items,)
        The same as a fraction of the whole; all 0 when the expected VI is 0.
    order : ndarray of int64, shape (n_items,)
        The items from the least certain on: lowest probability, then largest share.
    names : tuple of str, or None
        Names of the items.
    kind : "posterior" or "ensemble"
        Of the draws.
    """

    labels: Labels
    probability: NDArray[np.float64]
    placement: NDArray[np.float64]
    best: NDArray[np.int32]
    second: NDArray[np.int32]
    similarity_share: NDArray[np.float64]
    contribution: NDArray[np.float64]
    share: NDArray[np.float64]
    order: NDArray[np.int64]
    names: tuple[str, ...] | None
    kind: Kind = "posterior"

    @property
    def other(self) -> NDArray[np.int32]:
        """The likeliest cluster other than the estimated one; −1 where there is none."""
        return np.where(self.best == self.labels, self.second, self.best).astype(np.int32)

    def to_frame(self, *, one_based: bool = False) -> pd.DataFrame:
        """One row per item, in the order of the items.

        Parameters
        ----------
        one_based : bool, default False
            Count clusters, and items without names, from 1, as R does; −1 stays none.
        """
        items = np.arange(self.labels.size)
        other = self.other
        at_other = self.placement[items, np.maximum(other, 0)]
        columns = {
            "cluster": from_one(self.labels, one_based),
            "probability": self.probability,
            "other": from_one(other, one_based),
            "other_probability": np.where(other < 0, 0.0, at_other),
            "none_probability": self.placement[:, -1],
            "similarity_share": self.similarity_share[items, self.labels],
            "contribution": self.contribution,
            "share": self.share,
        }
        index = items_from_one(self.names, items.size, one_based)
        return data_frame(columns, of="the items", index=index, name="item")

    def __repr__(self) -> str:
        named = self._least_certain(self.probability, ".2f")
        return f"<ItemUncertainty: {counted(self.labels.size, 'item')}; least certain: {named}>"


def item_uncertainty(
    draws: DrawsLike, estimate: LabelsLike, *, n_jobs: int | None = None
) -> ItemUncertainty:
    r"""How certain the place of each item in an estimate is.

    In each draw m the clusters :math:`C` of the draw are matched one to one to
    the clusters :math:`E_k` of the estimate, so that the matched pairs have as
    many items in common as possible:

    .. math:: \sigma_m = \arg\max_{\sigma \text{ one to one}} \sum_k |E_k \cap C_{\sigma(k)}|

    With C(i) the cluster of item i in the draw, E(i) its cluster in the estimate
    and w the weights of the draws,

    .. math:: \text{probability}_i = \sum_m w_m \, 1[C(i) \text{ is matched to } E(i)]

    .. math:: \text{contribution}_i = \frac{1}{N} E\bigl[\log_2 |C(i)| + \log_2 |E(i)|
              - 2 \log_2 |C(i) \cap E(i)|\bigr]

    In words: the weight of the draws in which the item lies in the cluster that
    stands for its own. An item that is always with the same companions, in a
    cluster that every draw finds, has probability 1. ``placement`` is the whole
    distribution over the estimate's clusters and "none of them": a cluster of a
    draw may have no counterpart, as when the draw splits one of the estimate's
    in two, and then only the part with more items stands for it.

    ``contribution`` sums to the expected VI: which items cost the most.
    ``similarity_share`` needs no matching,

    .. math:: \text{similarity share}_{ik} \propto \frac{1}{|E_k \setminus i|}
              \sum_{j \in E_k \setminus i} p_{ij}

    with p_ij the posterior probability that items i and j are together, scaled
    to sum to 1 over k. It says which cluster the item is most like, but it is not a
    probability: with a single cluster it is 1 for every item, and in loose
    clusters it is far below 1 even for items that never move. For an item that
    the estimate leaves on its own, the entry of that cluster before scaling is
    the probability that the item is alone; an item that is never with any
    other, although the estimate puts it with some, has a row of zeros.

    Of feature draws, features are matched in the same way; ``membership`` has the probability
    of each item to be in each matched feature, and ``contribution`` is the item's part of the
    expected FARO loss: memberships of the item outside the matching, at their prices.

    Parameters
    ----------
    draws : Draws or anything as_draws accepts, or FeatureDraws
    estimate : array_like, shape (n_items,), or an estimate; of feature draws an allocation
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    ItemUncertainty, or FeatureItemUncertainty of feature draws

    Notes
    -----
    Clusters without common items are never matched. Among matchings with the same
    total the estimate's clusters choose in the order of their numbers, each the
    largest overlap that keeps the total, and among equal ones the cluster of the
    draw whose first item comes first.

    O(M·N·K) time for M draws of N items and K clusters, O(N·K) memory; the matching
    looks only at pairs of clusters that share items.

    References
    ----------
    Kuhn, H. W. (1955), The Hungarian method for the assignment problem, for the
    matching; Wade and Ghahramani (2018), Section 4, for the expected VI as a sum
    over items.

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]]
    >>> items = pt.item_uncertainty(draws, [0, 0, 1, 1])
    >>> items.probability
    array([1.  , 1.  , 0.75, 1.  ])
    >>> items.placement[2]
    array([0.25, 0.75, 0.  ])
    >>> items.order[0]
    np.int64(2)
    """
    clean = any_draws(draws)
    if not isinstance(clean, Draws):
        loss = loss_for(getattr(estimate, "loss", None), clean)
        (allocation,) = clean.shown([clean.clean(estimate, "estimate")])
        aligned = align_features(clean, allocation)
        return items_of(clean, allocation, aligned, loss)  # type: ignore[return-value]
    labels = clean.clean(estimate, "estimate")
    return items_from(compare(by_size(labels), clean, n_jobs=n_jobs), clean)


def items_from(comparison: Comparison, draws: Draws) -> ItemUncertainty:
    """The table of items from a comparison with these draws already made."""
    labels = comparison.estimate
    contribution = comparison.information / labels.size
    share = _shares(contribution)
    placement = comparison.placed
    best, second = _two_largest(placement[:, :-1], labels)
    # In place, for it may be large; where nothing is similar, it stays 0.
    affinity = comparison.affinity()
    sums = affinity.sum(axis=1, keepdims=True)
    np.divide(affinity, sums, out=affinity, where=sums > 0.0)
    probability = placement[np.arange(labels.size), labels]
    order = np.lexsort((-share, probability)).astype(np.int64)
    return ItemUncertainty(
        labels=labels,
        probability=probability,
        placement=placement,
        best=best,
        second=second,
        similarity_share=affinity,
        contribution=contribution,
        share=share,
        order=order,
        names=draws.item_names,
        kind=draws.kind,
    )


def _two_largest(placement: Floats, labels: Labels) -> tuple[Int32s, Int32s]:
    """Best and second-best cluster of each item, −1 at probability 0; the estimated one wins ties.

    The scan is per item over K clusters; among others that tie the first counts.
    """
    items = np.arange(labels.size)
    key = placement.copy()
    own = key[items, labels]
    best = np.where(own >= key.max(axis=1), labels, key.argmax(axis=1))
    best = np.where(key[items, best] > 0.0, best, -1).astype(np.int32)
    key[items, np.maximum(best, 0)] = 0.0
    second = key.argmax(axis=1)
    return best, np.where(key[items, second] > 0.0, second, -1).astype(np.int32)


@dataclass(frozen=True, eq=False, repr=False)
class ClusterUncertainty(Result):
    """How certain each of the K clusters of an estimate is.

    Made by :func:`cluster_uncertainty`. Clusters are numbered by size.

    Attributes
    ----------
    size : ndarray of int64, shape (K,)
    within : ndarray of float, shape (K,)
        Mean similarity between members; for a single item, the probability
        that it is alone.
    nearest : ndarray of int32, shape (K,)
        The other cluster with the largest mean similarity; −1 when there is none.
    nearest_similarity : ndarray of float, shape (K,)
        Mean similarity to the nearest other cluster; 0 when there is none.
    unchanged : ndarray of float, shape (K,)
        Posterior probability that the cluster appears with exactly these members.
    similar : ndarray of float, shape (K,)
        Posterior probability of a cluster that overlaps it by a Jaccard
        similarity of at least ``jaccard``.
    jaccard : float
    between : ndarray of float, shape (K, K)
        Mean similarity between the members of two clusters; the diagonal is ``within``.
    """

    size: NDArray[np.int64]
    within: NDArray[np.float64]
    nearest: NDArray[np.int32]
    nearest_similarity: NDArray[np.float64]
    unchanged: NDArray[np.float64]
    similar: NDArray[np.float64]
    jaccard: float
    between: NDArray[np.float64]

    def __len__(self) -> int:
        return int(self.size.size)

    def to_frame(self, *, one_based: bool = False) -> pd.DataFrame:
        """One row per cluster.

        Parameters
        ----------
        one_based : bool, default False
            Count clusters from 1, as R does; −1 stays none.
        """
        columns = {
            "size": self.size,
            "within": self.within,
            "nearest": from_one(self.nearest, one_based),
            "nearest_similarity": self.nearest_similarity,
            "unchanged": self.unchanged,
            "similar": self.similar,
        }
        index = range(int(one_based), len(self) + one_based)
        return data_frame(columns, of="the clusters", index=index, name="cluster")

    def __repr__(self) -> str:
        within = ", ".join(f"{value:.2f}" for value in self.within[:6].tolist())
        more = ", …" if len(self) > 6 else ""
        clusters = counted(len(self), "cluster")
        return f"<ClusterUncertainty: {clusters}; similarity within: {within}{more}>"


def cluster_uncertainty(
    draws: DrawsLike,
    estimate: LabelsLike,
    *,
    jaccard: float = JACCARD,
    n_jobs: int | None = None,
) -> ClusterUncertainty:
    r"""How certain each cluster of an estimate is.

    A stable cluster is tight (similarity within near 1), apart (similarity to
    the nearest other cluster near 0), and comes back in the draws: unchanged,
    or up to a Jaccard similarity :math:`|A \cap B| / |A \cup B|` of at least ``jaccard``.

    Parameters
    ----------
    draws : Draws or anything as_draws accepts
    estimate : array_like, shape (n_items,), or an estimate
    jaccard : float in (0, 1], default 0.8
        Overlap from which on a cluster of a draw counts as this one.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    ClusterUncertainty

    Notes
    -----
    O(M·N·K) time for M draws of N items and K estimated clusters, O(N·K)
    memory: no N×N matrix is built.

    References
    ----------
    Hennig, C. (2007), Cluster-wise assessment of cluster stability.
    Computational Statistics and Data Analysis 52 (the Jaccard criterion).

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]]
    >>> clusters = pt.cluster_uncertainty(draws, [0, 0, 1, 1])
    >>> clusters.within, clusters.unchanged
    (array([1.  , 0.75]), array([0.75, 0.75]))
    """
    clean = as_draws(draws)
    labels = clean.clean(estimate, "estimate")
    return clusters_from(compare(by_size(labels), clean, jaccard=jaccard, n_jobs=n_jobs))


def clusters_from(comparison: Comparison) -> ClusterUncertainty:
    """The table of clusters from a comparison already made."""
    affinity = comparison.affinity()
    sizes = comparison.sizes
    between = np.zeros((sizes.size, sizes.size))
    np.add.at(between, comparison.estimate, affinity)
    between /= sizes[:, None]
    within = between.diagonal().copy()
    if sizes.size == 1:
        nearest = np.full(1, -1, np.int32)
        nearest_similarity = np.zeros(1)
    else:
        others = between.copy()
        np.fill_diagonal(others, -1.0)
        nearest = others.argmax(axis=1).astype(np.int32)
        nearest_similarity = others.max(axis=1)
    return ClusterUncertainty(
        size=sizes,
        within=within,
        nearest=nearest,
        nearest_similarity=nearest_similarity,
        unchanged=comparison.unchanged,
        similar=comparison.similar,
        jaccard=comparison.jaccard,
        between=between,
    )


@dataclass(frozen=True, eq=False)
class Comparison:
    """Posterior means of what draws say about an estimate with K clusters.

    Attributes
    ----------
    estimate : ndarray of int32, shape (n_items,)
    sizes : ndarray of int64, shape (K,)
    placed : ndarray of float, shape (n_items, K + 1)
        Probability that the item's cluster in a draw is matched to each cluster
        of the estimate, and last, to none of them.
    companions : ndarray of float, shape (n_items, K)
        Expected number of other members of cluster k together with item i.
    information : ndarray of float, shape (n_items,)
        Each item's term of the expected VI, N times its contribution.
    unchanged, similar : ndarray of float, shape (K,)
        Probability that a draw has this very cluster, or one that overlaps it
        by a Jaccard similarity of at least ``jaccard``.
    jaccard : float
    """

    estimate: Labels
    sizes: NDArray[np.int64]
    placed: NDArray[np.float64]
    companions: NDArray[np.float64]
    information: NDArray[np.float64]
    unchanged: NDArray[np.float64]
    similar: NDArray[np.float64]
    jaccard: float

    def affinity(self) -> NDArray[np.float64]:
        """Mean similarity of item i to the other members of cluster k, shape (n_items, K).

        For an item that forms a cluster of its own, that cluster has no other
        members; its entry is the probability that the item is alone.
        """
        items = np.arange(self.estimate.size)
        affinity = self.companions / self.sizes
        own, others = self.companions[items, self.estimate], self.sizes[self.estimate] - 1
        affinity[items, self.estimate] = np.divide(
            own, others, out=np.zeros_like(own), where=others > 0
        )
        single = np.flatnonzero(self.sizes[self.estimate] == 1)
        affinity[single, self.estimate[single]] = self.unchanged[self.estimate[single]]
        return affinity


def compare(
    estimate: Labels,
    draws: Draws,
    *,
    jaccard: float = JACCARD,
    n_jobs: int | None = None,
    clock: Clock | None = None,
) -> Comparison:
    """Compare every draw with the estimate in O(M·N·K), without an N×N matrix.

    When time is up on the clock, that is a KeyboardInterrupt: half of the sums say nothing.
    """
    clock = Clock(None) if clock is None else clock
    with clock.until() as stop:
        found = run_interruptible(
            lambda: _comparison(estimate, draws, jaccard, n_jobs, stop), clock.interrupt
        )
        if stop[0]:
            raise KeyboardInterrupt
    return found


def _comparison(
    estimate: Labels, draws: Draws, jaccard: float, n_jobs: int | None, stop: Bools
) -> Comparison:
    threshold = clean_jaccard(jaccard)
    sizes = np.bincount(estimate).astype(np.int64)
    # Sums of every block that waits to be added, each (n_items, K) twice.
    require_memory(
        16 * _WAITING * draws.n_items * (sizes.size + 1),
        f"comparing {draws.n_items:,} items with {sizes.size:,} clusters",
        "An estimate with fewer clusters needs less.",
    )
    n, chunks = draws.n_items, _chunks(draws.n_items, sizes.size)
    # Where sums are larger than labels, more draws are seen at a time.
    rows = None if len(chunks) == 1 else chunk_rows(n)
    whole = [np.empty((n, sizes.size + 1)), np.empty((n, sizes.size)), np.empty(n)]
    mass = float(draws.n_draws) if draws.weights is None else 1.0
    compared = partial(
        _compare_block,
        estimate=estimate,
        sizes=sizes,
        limit=threshold - _ROUNDING,
        logs=np.log2(np.maximum(np.arange(n + 1), 1)),
        stop=stop,
    )
    k_most = int(draws.n_clusters.max())
    with Status(f"comparing {words(draws.kind).draws} with the estimate") as status:
        if len(chunks) > 1 and 4 * draws.n_draws * k_most * (sizes.size + 1) <= _SUM_BYTES:
            overlaps = partial(_overlaps, estimate=estimate, k=sizes.size, k_most=k_most)
            tables = concatenate_arrays(map_blocks(overlaps, draws, rows=rows, n_jobs=n_jobs))
            compared = partial(compared, tables=tables)
        by_chunks = "tables" in compared.keywords and not is_remote(draws)
        if by_chunks:
            chunks = _chunks(n, sizes.size, _NEAR_BYTES)

        def of_chunk(items: slice, threads: int | None = 1) -> Sums:
            one = partial(compared, items=items)
            return sum_blocks(one, draws, rows=rows, n_jobs=threads, say=status.say)

        # Many chunks are shared out among threads, a few are summed by all of them.
        found = (
            stream(of_chunk, chunks, n_jobs)
            if by_chunks
            else (of_chunk(items, n_jobs) for items in chunks)
        )
        for items, sums in zip(chunks, found, strict=True):
            if stop[0]:  # the sums of many clusters take seconds to go through
                raise KeyboardInterrupt
            for mean, part in zip(whole, sums[:3], strict=True):
                np.divide(part, mass, out=mean[items])
    unchanged, similar, all_of_it = (total / mass for total in sums[3:])
    placed, companions, information = whole
    # Added up in the same order, so that exactly 0 is left of an item that is with no other.
    companions[np.arange(n), estimate] -= all_of_it
    return Comparison(
        estimate, sizes, placed, companions, information, unchanged, similar, threshold
    )


def _chunks(n_items: int, n_clusters: int, size: int | None = None) -> list[slice]:
    """Items whose sums are added up at a time: those of a few blocks wait for each other."""
    step = max(1, (_SUM_BYTES if size is None else size) // (16 * (n_clusters + 2)))
    return [slice(first, min(first + step, n_items)) for first in range(0, n_items, step)]


def _overlaps(block: Block, *, estimate: Labels, k: int, k_most: int) -> tuple[Int32s, Int32s]:
    """The pass that makes tables once where sums take several chunks of items."""
    return _overlapping(block.labels, block.n_clusters, estimate, k, k_most)


def _overlapping(
    labels: NDArray[np.unsignedinteger[Any]], clusters: Ints, estimate: Labels, k: int, k_most: int
) -> tuple[Int32s, Int32s]:
    """The estimate's cluster that each is matched to, K for none, and the items that two share."""
    from partita.kernels.uncertainty import count_overlaps, match_rows

    rows = labels.astype(np.int32)
    found, _ = match_rows(estimate, k, rows, clusters)
    match = np.full((len(rows), k_most), k, np.int32)
    match[:, : found.shape[1]] = np.where(found < 0, k, found)
    return match, count_overlaps(estimate, k, rows, k_most)


def _compare_block(
    block: Block,
    *,
    estimate: Labels,
    sizes: Ints,
    limit: float,
    logs: Floats,
    items: slice,
    stop: Bools,
    tables: tuple[Int32s, ...] | None = None,
) -> tuple[Floats, ...]:
    """Sums over one block. Whole weights until the end: unweighted, they are exact counts."""
    from partita.kernels.uncertainty import add_comparison, batch_rows, new_comparison

    n_rows, counts = len(block.labels), block.counts
    sums = new_comparison(items.stop - items.start, sizes.size)
    k, k_most = sizes.size, int(block.n_clusters.max())
    step = batch_rows(n_rows, estimate.size, k_most * k)
    for first in range(0, n_rows, step):
        if stop[0]:
            break
        some = slice(first, min(first + step, n_rows))
        labels, clusters = block.labels[some], block.n_clusters[some]
        if tables is None:
            match, shared = _overlapping(labels, clusters, estimate, k, k_most)
        else:
            there = slice(block.start + some.start, block.start + some.stop)
            match, shared = (table[there] for table in tables)
        add_comparison(
            estimate[items],
            sizes,
            labels[:, items].astype(np.int32),
            clusters,
            counts[some],
            limit,
            match,
            shared,
            logs,
            sums,
        )
    sums[1] = sums[1].T.copy()
    return tuple(sums)


def clean_jaccard(jaccard: float) -> float:
    """Validate a Jaccard threshold."""
    return probability(jaccard, "jaccard", "an overlap above 0 and at most 1, such as 0.8")


@dataclass(frozen=True, eq=False, repr=False)
class ClusterCounts(Result):
    """Posterior of the number of clusters. Made by :func:`n_clusters_posterior`.

    Attributes
    ----------
    values : ndarray of int64
        The numbers of clusters that occur, increasing.
    probabilities : ndarray of float, same shape
    kind : "posterior" or "ensemble"
        Of the draws.
    """

    values: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    kind: Kind = "posterior"

    _part: ClassVar[str] = "cluster"

    @property
    def mode(self) -> int:
        """The most probable number; the smallest of those that tie."""
        return int(self.values[self.probabilities.argmax()])

    @property
    def mean(self) -> float:
        """Posterior mean."""
        return float((self.values * self.probabilities).sum())

    def interval(self, prob: float = 0.95) -> tuple[int, int]:
        """Equal-tailed interval: the quantiles at (1 − prob)/2 and (1 + prob)/2."""
        level = probability(prob)
        reached = np.cumsum(self.probabilities)
        ends = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        at = np.searchsorted(reached, ends - MASS).clip(0, self.values.size - 1)
        return int(self.values[at[0]]), int(self.values[at[1]])

    def to_frame(self) -> pd.DataFrame:
        """One row per number of clusters, or of features."""
        columns = {f"n_{self._part}s": self.values, "probability": self.probabilities}
        return data_frame(columns, of=f"{self._part} counts")

    def __repr__(self) -> str:
        low, high = self.interval()
        top = float(self.probabilities.max())
        return (
            f"<{type(self).__name__}: mode {self.mode} ({words(self.kind).probability} {top:.3g}), "
            f"mean {self.mean:.3g}, 95% in {low} to {high}>"
        )


@dataclass(frozen=True, eq=False, repr=False)
class ClusterSizes(Result):
    """Posterior of the sorted cluster sizes. Made by :func:`cluster_sizes_posterior`.

    Entry j describes the size of the (j+1)-th largest cluster, 0 in draws that
    have fewer clusters.

    Attributes
    ----------
    mean, median, lower, upper : ndarray of float, shape (n_ranks,)
        Mean, median, and the ends of the equal-tailed interval of probability ``prob``.
    present : ndarray of float, shape (n_ranks,)
        Probability that there are that many clusters.
    prob : float
    """

    mean: NDArray[np.float64]
    median: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    present: NDArray[np.float64]
    prob: float

    def __len__(self) -> int:
        return int(self.mean.size)

    def to_frame(self) -> pd.DataFrame:
        """One row per rank, from the largest cluster on."""
        names = ("mean", "median", "lower", "upper", "present")
        columns = {name: getattr(self, name) for name in names}
        return data_frame(columns, of="cluster sizes", index=range(1, len(self) + 1), name="rank")

    def __repr__(self) -> str:
        sizes = ", ".join(f"{value:.1f}" for value in self.mean[:6].tolist())
        more = ", …" if len(self) > 6 else ""
        return f"<ClusterSizes: mean sizes from the largest on: {sizes}{more}>"


def n_clusters_posterior(draws: DrawsLike) -> ClusterCounts:
    """The posterior of the number of clusters.

    Parameters
    ----------
    draws : Draws or anything as_draws accepts

    Returns
    -------
    ClusterCounts

    Notes
    -----
    O(M) for M draws.

    Examples
    --------
    >>> import partita as pt
    >>> k = pt.n_clusters_posterior([[0, 0, 1], [0, 1, 2], [0, 1, 1], [0, 0, 0]])
    >>> k.values, k.probabilities
    (array([1, 2, 3]), array([0.25, 0.5 , 0.25]))
    >>> k.mode, k.mean
    (2, 2.0)
    """
    clean = as_draws(draws)
    return ClusterCounts(*_masses(clean.n_clusters, clean), clean.kind)


def _masses(numbers: Ints, draws: AnyDraws) -> tuple[Ints, Floats]:
    """The values that occur among the draws, and their masses."""
    values, number = np.unique(numbers, return_inverse=True)
    if draws.weights is None:
        return values, np.bincount(number) / draws.n_draws
    return values, np.asarray(np.bincount(number, weights=draws.weights), np.float64)


def cluster_sizes_posterior(
    draws: DrawsLike, *, prob: float = 0.95, n_ranks: int | None = None
) -> ClusterSizes:
    """The posterior of the cluster sizes, sorted from the largest cluster on.

    Sorting makes sizes comparable across draws without matching labels.

    Parameters
    ----------
    draws : Draws or anything as_draws accepts
    prob : float in (0, 1], default 0.95
        Probability of the equal-tailed intervals.
    n_ranks : int, optional
        How many of the largest clusters to describe; all by default.

    Returns
    -------
    ClusterSizes

    Notes
    -----
    O(M·(N + R·log M)) time for M draws of N items and R ranks, O(M·R) memory.

    Examples
    --------
    >>> import partita as pt
    >>> sizes = pt.cluster_sizes_posterior([[0, 0, 1], [0, 0, 0], [0, 1, 1], [0, 0, 0]])
    >>> sizes.mean, sizes.present
    (array([2.5, 0.5]), array([1. , 0.5]))
    """
    posterior = as_posterior(draws)
    clean, level = posterior.draws, probability(prob)
    most = int(clean.n_clusters.max())
    kept = most if n_ranks is None else min(integer(n_ranks, "n_ranks", least=1), most)
    columns = np.ascontiguousarray(posterior.shapes(kept)[1].T)
    tails = np.array([(1.0 - level) / 2.0, 0.5, (1.0 + level) / 2.0]) - MASS
    total = float(clean.n_draws) if clean.weights is None else 1.0
    rows = []
    for sizes in columns:
        mass = np.bincount(sizes, clean.weights)  # whole numbers where draws are not weighted
        # The smallest sizes whose mass up to them reaches each probability.
        ends = np.searchsorted(np.cumsum(mass) / total, tails)
        mean = float(mass @ np.arange(mass.size)) / total
        present = float(mass[1:].sum()) / total
        rows.append((mean, *ends.clip(int(sizes.min()), mass.size - 1), present))
    mean, *quantiles, present = np.array(rows).T
    lower, median, upper = np.array(quantiles, np.int32)
    return ClusterSizes(mean, median, lower, upper, present, level)


def align(draws: DrawsLike, reference: LabelsLike, *, n_jobs: int | None = None) -> Labels:
    r"""Labels of every draw in the numbering of a reference partition.

    In each draw the clusters :math:`C` are matched one to one to the clusters
    :math:`E_k` of the reference by the largest total overlap,

    .. math:: \max_{\sigma \text{ one to one}} \sum_k |E_k \cap C_{\sigma(k)}|,

    and a matched cluster gets the number of its counterpart. Choose it for what
    has to be compared cluster by cluster: a trace of the size of "cluster 2", a
    parameter by cluster. What only needs the partitions (losses, similarities,
    :meth:`Fit.profiles`) never needs it.

    Parameters
    ----------
    draws : Draws or anything as_draws accepts
        Any number of clusters per draw.
    reference : array_like, shape (n_items,), or an estimate
        Its own numbers are used where they are 0 … K − 1, else its clusters are
        numbered by size, the largest first.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    ndarray of int32, shape (n_draws, n_items)
        Clusters that have no counterpart in the reference are marked by negative
        numbers: −1, −2, … within each draw, in order of first appearance.

    Notes
    -----
    Clusters without common items are not matched. Ties are settled as in
    :func:`item_uncertainty`: the reference's clusters choose in the order of their
    numbers. About O(N) per draw: only pairs of clusters that share items are looked at.
    4 bytes per label.

    References
    ----------
    Kuhn, H. W. (1955), The Hungarian method for the assignment problem.

    Examples
    --------
    >>> import partita as pt
    >>> pt.align([[0, 0, 1, 1, 1], [0, 1, 2, 2, 2]], [1, 1, 0, 0, 0])
    array([[ 1,  1,  0,  0,  0],
           [ 1, -1,  0,  0,  0]], dtype=int32)
    """
    clean = as_draws(draws)
    labels = as_numbered(reference, clean, "reference")
    aligned = partial(_align_block, reference=labels, k=int(labels.max()) + 1)
    return np.concatenate(list(map_blocks(aligned, clean, n_jobs=n_jobs)))


def _align_block(block: Block, *, reference: Labels, k: int) -> Int32s:
    from partita.kernels.uncertainty import match_rows

    rows = block.rows
    match, _ = match_rows(reference, k, rows, block.n_clusters)
    return np.take_along_axis(match, rows, axis=1)


# ------------------------------------------------------------------ feature allocations


@dataclass(frozen=True, eq=False, repr=False)
class FeatureItemUncertainty(_Items):
    """How certain the memberships of each item are. Made by :func:`item_uncertainty`.

    Attributes
    ----------
    allocation : ndarray of bool, shape (n_items, n_features)
        The estimate.
    membership : ndarray of float, shape (n_items, n_features)
        Probability that the item is in the feature of the draw that is matched to each feature
        of the estimate. They need not sum to 1 over the features.
    none : ndarray of float, shape (n_items,)
        Probability that the item is in no feature at all.
    n_features : ndarray of float, shape (n_items,)
        Expected number of features of the item, matched or not.
    contribution : ndarray of float, shape (n_items,)
        Each item's part of the expected loss of the estimate; they sum to it.
    share : ndarray of float, shape (n_items,)
        The same as a fraction of the whole; all 0 when the expected loss is 0.
    order : ndarray of int64, shape (n_items,)
        The items from the least certain on: largest contribution first.
    loss : Loss
    names : tuple of str, or None
    kind : "posterior" or "ensemble"
        Of the draws.

    Examples
    --------
    >>> import partita as pt
    >>> draws = pt.FeatureDraws.from_sets([[{0, 1}, {1, 2}], [{0, 1}, {2}]], n_items=4)
    >>> items = pt.item_uncertainty(draws, draws[0])
    >>> items.membership
    array([[1. , 0. ],
           [1. , 0.5],
           [0. , 1. ],
           [0. , 0. ]])
    >>> items.contribution
    array([0. , 0.5, 0. , 0. ])
    """

    allocation: NDArray[np.bool_]
    membership: NDArray[np.float64]
    none: NDArray[np.float64]
    n_features: NDArray[np.float64]
    contribution: NDArray[np.float64]
    share: NDArray[np.float64]
    order: NDArray[np.int64]
    loss: Loss
    names: tuple[str, ...] | None
    kind: Kind = "posterior"

    def to_frame(self, *, one_based: bool = False) -> pd.DataFrame:
        """One row per item: its memberships by feature, and its part of the loss.

        Parameters
        ----------
        one_based : bool, default False
            Count features, and items without names, from 1, as R does.
        """
        first = int(one_based)
        columns: dict[str, NDArray[np.float64]] = {
            f"feature_{k + first}": self.membership[:, k] for k in range(self.membership.shape[1])
        }
        columns |= {"none": self.none, "n_features": self.n_features}
        columns |= {"contribution": self.contribution, "share": self.share}
        index = items_from_one(self.names, self.none.size, one_based)
        return data_frame(columns, of="the items", index=index, name="item")

    def __repr__(self) -> str:
        worst = self._least_certain(self.contribution, ".2g")
        items = counted(self.none.size, "item")
        return f"<FeatureItemUncertainty: {items}; largest parts of the loss: {worst}>"


@dataclass(frozen=True, eq=False, repr=False)
class FeatureUncertainty(Result):
    """How certain each feature of an allocation is; part of a :class:`FeatureSummary`.

    Attributes
    ----------
    size : ndarray of int64, shape (n_features,)
        Items of each feature in the estimate.
    matched : ndarray of float, shape (n_features,)
        Probability that a draw has a feature that is matched to it.
    matched_size : ndarray of float, shape (n_features,)
        Mean number of items of the matched features; 0 where there is none.
    kind : "posterior" or "ensemble"
        Of the draws.
    """

    size: NDArray[np.int64]
    matched: NDArray[np.float64]
    matched_size: NDArray[np.float64]
    kind: Kind = "posterior"

    def to_frame(self, *, one_based: bool = False) -> pd.DataFrame:
        """One row per feature of the estimate; ``one_based`` counts them from 1."""
        names = ("size", "matched", "matched_size")
        index = range(int(one_based), self.size.size + int(one_based))
        columns = {name: getattr(self, name) for name in names}
        return data_frame(columns, of="the features", index=index, name="feature")


@dataclass(frozen=True, eq=False, repr=False)
class FeatureCounts(ClusterCounts):
    """Posterior of the number of features; part of a :class:`FeatureSummary`.

    Attributes
    ----------
    values : ndarray of int64
        The numbers of features that occur, increasing.
    probabilities : ndarray of float, same shape
    kind : "posterior" or "ensemble"
        Of the draws.
    least_items : int
        Items from which on a feature is counted.
    """

    least_items: int = 1

    _part: ClassVar[str] = "feature"


def feature_counts(draws: FeatureDraws, least_items: int = 1) -> FeatureCounts:
    """The posterior of the number of features that have some items at least."""
    numbers = draws.n_features
    if least_items > 1:
        large = np.bitwise_count(draws.columns).sum(axis=1) >= least_items
        numbers = np.diff(np.concatenate([[0], np.cumsum(large)])[draws.offsets])
    return FeatureCounts(*_masses(numbers, draws), draws.kind, least_items)


class Alignment(NamedTuple):
    """Agreement of the draws with an allocation, features matched one to one."""

    membership: Floats
    """Probabilities of the items to be in the matched features, shape (n_items, n_features)."""
    n_features: Floats
    """Expected number of features of each item."""
    none: Floats
    """Probability of each item to be in no feature."""
    features: FeatureUncertainty


def align_features(draws: FeatureDraws, allocation: Bools) -> Alignment:
    """Match the features of every draw with those of an allocation, and average over the draws.

    Features without common items are never matched.
    """
    from partita.features.estimate import memberships

    membership, matched = memberships(draws.canonical(allocation), draws)
    counts, weights = draws.features_per_item(), draws.probabilities
    size = membership.sum(axis=0)
    mean_size = np.divide(size, matched, out=np.zeros(size.size), where=matched > 0.0)
    sizes: Ints = allocation.sum(axis=0).astype(np.int64)
    table = FeatureUncertainty(sizes, matched, mean_size, draws.kind)
    return Alignment(membership, weights @ counts, weights @ (counts == 0), table)


def items_of(
    draws: FeatureDraws, allocation: Bools, found: Alignment, loss: Loss
) -> FeatureItemUncertainty:
    """The table of items from an alignment already made."""
    agreed = (allocation * found.membership).sum(axis=1)
    excess, missed = allocation.sum(axis=1) - agreed, found.n_features - agreed
    contribution = (loss.price * excess + (2.0 - loss.price) * missed).clip(min=0.0)
    return FeatureItemUncertainty(
        allocation=allocation,
        membership=found.membership,
        none=found.none,
        n_features=found.n_features,
        contribution=contribution,
        share=_shares(contribution),
        order=np.argsort(-contribution, kind="stable"),
        loss=loss,
        names=draws.item_names,
        kind=draws.kind,
    )
