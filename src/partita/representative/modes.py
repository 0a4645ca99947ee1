"""Modes of the posterior: peaks of closeness that persist over a range of scales."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita._result import Result, Table
from partita._validate import integer
from partita._wording import counted
from partita.draws import AnyDraws, any_draws
from partita.kernels.arrays import Bools, Floats, Int32s, Ints
from partita.labels import DrawsLike
from partita.losses.base import Loss
from partita.losses.evaluate import metric_for, pairwise_distances
from partita.representative.conformal import MAX_DRAWS, thin_to_effective
from partita.representative.representatives import (
    AllocationSet,
    PartitionSet,
    PointSet,
    chain_shares,
)
from partita.scan import chains_of

Neighbours = list[Ints]


def neighbour_graph(distance_matrix: Floats, k: int) -> Neighbours:
    """Each node's k nearest nodes, both ways, and a spanning tree of shortest edges.

    The tree connects what nearest neighbours leave apart, so that every two
    peaks have a valley between them.
    """
    from scipy.sparse.csgraph import minimum_spanning_tree

    n = len(distance_matrix)
    linked = np.zeros((n, n), bool)
    nearest = np.argsort(distance_matrix, axis=1, kind="stable")[:, 1 : k + 1]
    np.put_along_axis(linked, nearest, True, axis=1)
    tree = minimum_spanning_tree(distance_matrix).tocoo()
    linked[tree.row, tree.col] = True
    linked |= linked.T
    np.fill_diagonal(linked, False)
    return [np.flatnonzero(row) for row in linked]


@dataclass(frozen=True, eq=False, repr=False)
class Peaks(Result):
    """Every local maximum of a score, highest first.

    Attributes
    ----------
    node : ndarray of int64
        Where each peak is.
    birth, death : ndarray of float
        Score of the peak, and of the highest valley towards a higher peak (0 for the highest).
    valley : ndarray of int64
        Where that valley is; −1 for the highest peak.
    """

    node: Ints
    birth: Floats
    death: Floats
    valley: Ints
    _bridge: Mapping[int, int]
    _above: Ints

    @property
    def persistence(self) -> Floats:
        """(birth − death) / birth: the share of a peak that rises above its valley."""
        return 1.0 - np.divide(
            self.death, self.birth, out=np.ones_like(self.death), where=self.birth > 0.0
        )

    def regions(self, kept: Bools) -> Ints:
        """Number of the kept peak that each node flows to, uphill and over low valleys."""
        goal = {int(node): int(node) for node in self.node[kept]}
        target = self._above.copy()
        for peak in self.node[~kept].tolist():
            target[peak] = self._bridge[peak]
        number = {int(node): i for i, node in enumerate(self.node[kept])}
        region = np.full(target.size, -1, np.int64)
        for node in range(target.size):
            path = [node]
            while path[-1] not in goal and region[path[-1]] < 0:
                path.append(int(target[path[-1]]))
            end = path[-1]
            region[path] = number[end] if end in goal else region[end]
        return region


def find_peaks(score: Floats, graph: Neighbours) -> Peaks:
    """Flood the graph from the highest node down; the lower of two peaks that meet dies there.

    O(edges · log) and sequential. Equal scores go by the number of the node.
    """
    order = np.argsort(-score, kind="stable")
    rank = np.argsort(order)
    root = np.arange(order.size)
    above = np.arange(order.size)
    valley: dict[int, int] = {}
    bridge: dict[int, int] = {}

    def top(node: int) -> int:
        while root[node] != node:
            root[node] = root[root[node]]
            node = int(root[node])
        return node

    for node in order.tolist():
        higher = graph[node][rank[graph[node]] < rank[node]]
        higher = higher[np.argsort(rank[higher])]
        if higher.size == 0:
            continue
        above[node] = higher[0]
        root[node] = top(int(higher[0]))
        for other in higher[1:].tolist():
            mine, its = top(node), top(other)
            if mine == its:
                continue
            lower, upper = (mine, its) if rank[mine] > rank[its] else (its, mine)
            valley[lower] = node
            # A peak that is not kept flows across its valley, to the side of the one that lives.
            bridge[lower] = other if upper == its else int(above[node])
            root[lower] = upper
    peaks = np.flatnonzero(above == np.arange(order.size))
    peaks = peaks[np.argsort(rank[peaks])]
    lowest = np.array([valley.get(p, -1) for p in peaks.tolist()])
    death = np.where(lowest >= 0, score[lowest], 0.0)
    return Peaks(peaks, score[peaks], death, lowest, bridge, above)


@dataclass(frozen=True, eq=False, repr=False)
class PersistentPeaks(PointSet):
    """Base class of modes of partitions and of feature allocations."""

    weights: Floats
    persistence: Floats
    rate: float
    rates: Floats
    counts: Ints
    peaks: tuple[Peaks, ...]
    stands_out: tuple[Bools, ...]
    assignment: Ints
    chains: Floats
    chain_names: tuple[Any, ...]
    draws: AnyDraws
    drawn: str
    loss: Loss

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.n}, masses {np.round(self.weights, 3).tolist()}>"

    def __str__(self) -> str:
        from textwrap import wrap

        columns = {
            "": map(str, range(self.n)),
            "mass": (f"{weight:.3f}" for weight in self.weights),
            "persistence": (f"{share:.2f}" for share in self.persistence),
            f"sizes of {self.draws.part_name}s": map(self._shown_sizes, range(self.n)),
        }
        head = f"{counted(self.n, 'mode')} ({self.drawn})"
        lines = [head, Table.of_columns("", columns).text(), *self._differences()]
        seen = ", ".join(f"{c} at {x:.3g}" for c, x in zip(self.counts, self.rates, strict=True))
        lines += wrap(f"modes by rate: {seen}", 80, subsequent_indent="    ")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class Modes(PartitionSet, PersistentPeaks):
    """Modes of the posterior over partitions. Made by :func:`modes`.

    Attributes
    ----------
    labels : ndarray of int32, shape (n, n_items)
        The draw at each peak, heaviest region first; clusters numbered by size.
    weights : ndarray of float, shape (n,)
        Share of the draws in the region of each mode.
    persistence : ndarray of float, shape (n,)
        Share of each peak that stands above the valley towards a higher one, at ``rate``.
    rate : float
        The smallest rate at which this number of modes shows.
    rates : ndarray of float, shape (n_rates,)
    counts : ndarray of int64, shape (n_rates,)
        Number of modes at each rate; 0 where fewer than five draws make any peak.
    peaks : tuple of Peaks
        Every peak at each rate, with birth and death.
    stands_out : tuple of ndarray of bool
        Which of them are modes at that rate.
    assignment : ndarray of int64, shape (n_draws,)
        Region of each of the draws used.
    chains : ndarray of float, shape (n_chains, n)
        Share of each chain in each region; rows sum to 1.
    chain_names : tuple
    draws : Draws
        The draws used, after thinning.
    drawn : str
        Which draws these are.
    loss : Loss

    Examples
    --------
    >>> import partita as pt
    >>> found = pt.modes([[0, 0, 1, 1]] * 30)
    >>> found.n, found.labels
    (1, array([[0, 0, 1, 1]], dtype=int32))
    """

    labels: Int32s


@dataclass(frozen=True, eq=False, repr=False)
class FeatureModes(AllocationSet, PersistentPeaks):
    """Modes of the posterior over feature allocations. Made by :func:`modes`.

    Attributes
    ----------
    allocations : tuple of ndarray of bool, each of shape (n_items, n_features)
        The draw at each peak, heaviest region first.
    weights, persistence, rate, rates, counts, peaks, stands_out, assignment, chains
        As of :class:`Modes`.
    chain_names, drawn, loss
        As of :class:`Modes`.
    draws : FeatureDraws
        The draws used, after thinning.

    Examples
    --------
    >>> import partita as pt
    >>> pt.modes(pt.FeatureDraws.from_sets([[{0, 1}, {1, 2}]] * 30, n_items=3))
    <FeatureModes: 1, masses [1.0]>
    """

    allocations: tuple[Bools, ...]


_RESULTS: dict[str, tuple[type[Any], str]] = {
    "cluster": (Modes, "labels"),
    "feature": (FeatureModes, "allocations"),
}
"""The result and the name of its points, by what draws consist of."""


RATES = np.geomspace(0.5, 32.0, 13)
"""Rates of the kernel, times one over the median distance of two draws."""

MIN_PERSISTENCE = 0.5
"""Persistence from which on a peak is a mode: closeness halves on every way to a higher one."""

MIN_DRAWS_OF_MODE = 5.0
"""Least number of draws that make up the closeness of a mode; fewer are chance."""

MIN_CHAIN_SHARE = 0.9
"""Share of a chain that a mode found in that chain alone must hold."""

PARTS = 8
"""Parts of a single chain that stand for several."""

MIN_DRAWS = 200
"""Draws that are kept whatever they are worth: slow chains are judged by each other."""


def modes(
    draws: DrawsLike,
    *,
    loss: str | Loss | None = None,
    neighbours: int | None = None,
    max_draws: int = MAX_DRAWS,
    n_jobs: int | None = None,
) -> Modes:
    r"""Find the modes of the posterior: peaks of closeness that hold over a range of scales.

    Each distinct draw c scores its closeness to the other draws,
    :math:`\sum_j e^{-\text{rate}\, d(c, c_j)}`. On the graph of nearest neighbours, a peak of
    the score is born at its height and dies at the highest valley towards a
    higher peak; persistence is (birth − death) / birth. A peak is a mode when

    - its persistence is at least one half, and closeness can halve on the shortest way to each
      higher draw (for a way of length d to a draw of score s it is at least
      :math:`s\, e^{-\text{rate}\, d/2}` everywhere);
    - its closeness comes from at least five other draws,
      :math:`(\sum_j k_j)^2 / \sum_j k_j^2 \ge 5`;
    - both hold without the chain that contributes most, or it holds 90% of a chain: draws that
      follow each other are close because they do. Of a single chain, an eighth and its
      neighbours are left out.

    This is asked for thirteen rates, from half to 32 over the median distance of two draws; the
    number of modes is the largest that two neighbouring rates agree on, and regions are
    those of the smallest rate that shows it. These thresholds are conventions: a mode that is
    visited once, by one chain, is not reported.

    Choose it to ask whether the posterior has separate pieces at all;
    :func:`representatives` also divides one wide piece. Where the noise of each
    draw is larger than what tells two modes apart, there is no valley between
    their draws, and one mode is reported.

    Parameters
    ----------
    draws : Draws, array_like or path, or FeatureDraws
    loss : str or Loss, optional
        A metric; VI by default, and FARO of feature draws.
    neighbours : int, optional
        Nearest neighbours of a draw in the graph; 2 + log2 of the number of
        distinct draws by default.
    max_draws : int, default 2000
        Draws are thinned to the effective number of each chain (but not below 200), and to
        this.
    n_jobs : int, optional
        Threads; every core by default.

    Returns
    -------
    Modes, or FeatureModes of feature draws

    Notes
    -----
    O(M² (N + K²)) for M draws after thinning; 10 M² bytes.

    References
    ----------
    Chazal, F., Guibas, L. J., Oudot, S. Y. and Skraba, P. (2013),
    Persistence-based clustering in Riemannian manifolds. Journal of the ACM 60.
    Rodriguez, A. and Laio, A. (2014), Clustering by fast search and find of
    density peaks. Science 344.

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> rng = np.random.default_rng(0)
    >>> planted = np.array([[0] * 6 + [1] * 6, [0, 1] * 6])[(np.arange(300) % 3 == 0).astype(int)]
    >>> noisy = np.where(rng.random(planted.shape) < 0.05, 2, planted)
    >>> found = pt.modes(pt.Draws(noisy, chain=np.arange(300)))
    >>> found.n, found.weights.round(2)
    (2, array([0.67, 0.33]))
    """
    posterior: AnyDraws = any_draws(draws)
    measure = metric_for(loss, posterior, "closeness needs one")
    most = integer(max_draws, "max_draws", least=2)
    ready = thin_to_effective(posterior, most, min_draws=MIN_DRAWS, each_chain=True)
    index, mass = ready.draws.unique_index()
    distinct = ready.draws.merged(index, mass)
    distance_matrix = pairwise_distances(distinct, loss=measure, n_jobs=n_jobs)
    k = 2 + int(np.ceil(np.log2(max(2, len(distance_matrix)))))
    if neighbours is not None:
        k = integer(neighbours, "neighbours", least=1)
    graph = neighbour_graph(distance_matrix, k)
    counts = mass * ready.draws.n_draws
    rates = RATES / _median(distance_matrix, counts)
    by_part = _counts_by_part(ready.draws, index, len(distance_matrix))
    peaks, kept = [], []
    for rate in rates:
        score, close = _closeness(distance_matrix, counts, rate)
        found = find_peaks(score, graph)
        stands_out = (found.persistence >= MIN_PERSISTENCE) & (
            close[found.node] >= MIN_DRAWS_OF_MODE
        )
        for i in np.flatnonzero(stands_out)[1:].tolist():
            stands_out[i] = _has_valley(found, i, score, rate * distance_matrix[found.node[i]])
        stands_out = _confirm_peaks(
            found, stands_out, distance_matrix, rate, by_part, ready.draws.n_chains == 1
        )
        peaks.append(found)
        kept.append(stands_out)
    chosen, number = _plateau_rate(np.array([int(k.sum()) for k in kept]))
    mine = kept[chosen].copy()
    if number == 1:  # the highest peak, also where no peak has five draws around it
        mine[:] = False
        mine[0] = True
    return _result(
        ready.draws, ready.said, index, distinct, measure, rates, tuple(peaks), kept, chosen, mine
    )


def _closeness(distance_matrix: Floats, counts: Floats, rate: float) -> tuple[Floats, Floats]:
    """Each distinct draw's closeness to the other draws, and how many draws make it up."""
    close = np.exp(-rate * distance_matrix)
    np.fill_diagonal(close, 0.0)
    others = counts - 1.0  # as close as can be: equal to it
    score = close @ counts + others
    squares = np.square(close, out=close) @ counts + others
    number = np.divide(score * score, squares, out=np.zeros_like(score), where=squares > 0.0)
    return score, number


def _has_valley(peaks: Peaks, number: int, score: Floats, far: Floats) -> bool:
    """Whether closeness can halve on the shortest way from a peak to each higher draw.

    The middle of a way of length d to a draw of closeness s has a closeness of at least
    s·exp(−rate·d/2), whether or not the graph has an edge there. ``far`` is rate·d.
    """
    own = peaks.birth[number]
    return not bool((np.exp(-far / 2.0) * score > MIN_PERSISTENCE * own)[score > own].any())


def _counts_by_part(draws: AnyDraws, index: Ints, n_distinct: int) -> Floats:
    """How often each distinct draw occurs in each chain, or in each part of a single one."""
    names, part = chains_of(draws)
    if names.size == 1:
        part = PARTS * np.arange(draws.n_draws) // draws.n_draws
    table = np.zeros((n_distinct, int(part.max()) + 1))
    np.add.at(table, (index, part), 1.0)
    return table


def _confirm_peaks(
    peaks: Peaks,
    kept: Bools,
    distance_matrix: Floats,
    rate: float,
    by_part: Floats,
    one_chain: bool,
) -> Bools:
    """Which peaks also stand out without the chain that makes most of them, or hold a chain.

    Draws that follow each other are close because they do, so they cannot make a mode by
    themselves. Of a single chain, the part that makes most of a peak is left out with its
    neighbours, and no part holds a mode alone.
    """
    confirmed = kept.copy()
    confirmed[0] = True
    sizes, part = by_part.sum(axis=0), np.arange(by_part.shape[1])
    # The lowest first: where one is dropped, its region goes to a higher one.
    for i in np.flatnonzero(confirmed)[:0:-1]:
        ends = [peaks.node[i], peaks.valley[i]]
        kernel = np.exp(-rate * distance_matrix[ends])
        close = kernel @ by_part
        others = np.abs(part - close[0].argmax()) > int(one_chain)
        top, low = close[:, others].sum(axis=1)
        squares = float((np.square(kernel[0]) @ by_part)[others].sum())
        if low <= MIN_PERSISTENCE * top and top * top >= MIN_DRAWS_OF_MODE * squares:
            continue
        region = peaks.regions(confirmed) == int(confirmed[:i].sum())
        confirmed[i] = not one_chain and bool(
            (by_part[region].sum(axis=0) > MIN_CHAIN_SHARE * sizes).any()
        )
    confirmed[0] = kept[0]
    return confirmed


def _median(distance_matrix: Floats, counts: Floats) -> float:
    """Median distance of two draws, from the distances of the distinct ones and their counts."""
    first, second = np.triu_indices(len(distance_matrix), 1)
    distances, pairs = distance_matrix[first, second], counts[first] * counts[second]
    distances = np.append(distances, 0.0)
    pairs = np.append(pairs, (counts * (counts - 1.0)).sum() / 2.0)
    order = np.argsort(distances, kind="stable")
    reached = np.cumsum(pairs[order])
    if reached[-1] == 0.0:  # a single draw
        return 1.0
    median = float(distances[order][np.searchsorted(reached, 0.5 * reached[-1])])
    if median > 0.0:
        return median
    # Most draws are equal: any scale tells them from the others.
    return float((distances * pairs).sum() / pairs.sum()) or 1.0


def _plateau_rate(counts: Ints) -> tuple[int, int]:
    """The smallest rate that shows the largest number on which two neighbours agree."""
    agreed = counts[:-1][counts[:-1] == counts[1:]]
    number = max(1, int(agreed.max(initial=1)))
    shown = np.flatnonzero(counts == number)
    return (int(shown[0]) if shown.size else 0), number


def _result(
    draws: AnyDraws,
    drawn: str,
    index: Ints,
    distinct: AnyDraws,
    loss: Loss,
    rates: Floats,
    peaks: tuple[Peaks, ...],
    kept: list[Bools],
    chosen: int,
    mine: Bools,
) -> Modes:
    found = peaks[chosen]
    n = int(mine.sum())
    region = found.regions(mine)[index]
    weights = np.bincount(region, minlength=n) / draws.n_draws
    order = np.argsort(-weights, kind="stable")
    region = np.argsort(order)[region]
    names, shares = chain_shares(draws, region, n, np.ones(region.size))
    result, points = _RESULTS[draws.part_name]
    made: Modes = result(
        **{points: draws.shown(distinct.rows_at(found.node[mine][order]))},
        weights=weights[order],
        persistence=found.persistence[mine][order],
        rate=float(rates[chosen]),
        rates=rates,
        counts=np.array([int(k.sum()) for k in kept], np.int64),
        peaks=peaks,
        stands_out=tuple(kept),
        assignment=region,
        chains=shares,
        chain_names=names,
        draws=draws,
        drawn=drawn,
        loss=loss,
    )
    return made
