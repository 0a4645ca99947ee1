"""Modes of the posterior: peaks of closeness that hold over a range of scales."""

from __future__ import annotations

import numpy as np

from partita._validate import whole
from partita.draws import Draws, as_draws
from partita.kernels.arrays import Bools, Floats, Ints
from partita.labels import DrawsLike, by_size
from partita.losses.base import Loss
from partita.losses.evaluate import as_metric, pairwise_distances
from partita.rivals.conformal import MAX_DRAWS
from partita.rivals.exchangeable import thinned
from partita.rivals.modes_result import Modes
from partita.rivals.parts import chain_shares
from partita.rivals.peaks import Peaks, find_peaks, neighbour_graph
from partita.scan import chains_of

RATES = np.geomspace(0.5, 32.0, 13)
"""Rates of the kernel, times one over the median distance of two draws."""

STANDS_OUT = 0.5
"""Persistence from which on a peak is a mode: closeness halves on every way to a higher one."""

LEAST = 5.0
"""Least number of draws that make up the closeness of a mode; fewer are chance."""

HELD = 0.9
"""Share of a chain that a mode found in that chain alone must hold."""

PARTS = 8
"""Parts of a single chain that stand for several."""

MIN_DRAWS = 200
"""Draws that are kept whatever they are worth: slow chains are judged by each other."""


def modes(
    draws: DrawsLike,
    *,
    loss: str | Loss = "vi",
    neighbours: int | None = None,
    max_draws: int = MAX_DRAWS,
    n_jobs: int | None = None,
) -> Modes:
    r"""Find the modes of the posterior over partitions: peaks that hold over a range of scales.

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
    draws : Draws, array_like or path
    loss : str or Loss, default "vi"
        A metric.
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
    Modes

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
    posterior = as_draws(draws)
    measure = as_metric(loss, "closeness needs one")
    most = whole(max_draws, "max_draws", least=2)
    ready = thinned(posterior, most, min_draws=MIN_DRAWS, each_chain=True)
    index, mass = ready.draws.unique_index()
    distinct = ready.draws.merged(index, mass)
    apart = pairwise_distances(distinct, loss=measure, n_jobs=n_jobs)
    k = 2 + int(np.ceil(np.log2(max(2, len(apart)))))
    if neighbours is not None:
        k = whole(neighbours, "neighbours", least=1)
    graph = neighbour_graph(apart, k)
    counts = mass * ready.draws.n_draws
    rates = RATES / _median(apart, counts)
    by_part = _counts_by_part(ready.draws, index, len(apart))
    peaks, kept = [], []
    for rate in rates:
        score, close = _closeness(apart, counts, rate)
        found = find_peaks(score, graph)
        stands_out = (found.persistence >= STANDS_OUT) & (close[found.node] >= LEAST)
        for i in np.flatnonzero(stands_out)[1:].tolist():
            stands_out[i] = _has_valley(found, i, score, rate * apart[found.node[i]])
        stands_out = _confirmed(found, stands_out, apart, rate, by_part, ready.draws.n_chains == 1)
        peaks.append(found)
        kept.append(stands_out)
    chosen, number = _agreed(np.array([int(k.sum()) for k in kept]))
    mine = kept[chosen].copy()
    if number == 1:  # the highest peak, also where no peak has five draws around it
        mine[:] = False
        mine[0] = True
    return _result(
        ready.draws, ready.said, index, distinct, measure, rates, tuple(peaks), kept, chosen, mine
    )


def _closeness(apart: Floats, counts: Floats, rate: float) -> tuple[Floats, Floats]:
    """Each distinct draw's closeness to the other draws, and how many draws make it up."""
    close = np.exp(-rate * apart)
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
    return not bool((np.exp(-far / 2.0) * score > STANDS_OUT * own)[score > own].any())


def _counts_by_part(draws: Draws, index: Ints, n_distinct: int) -> Floats:
    """How often each distinct draw occurs in each chain, or in each part of a single one."""
    names, part = chains_of(draws)
    if names.size == 1:
        part = PARTS * np.arange(draws.n_draws) // draws.n_draws
    table = np.zeros((n_distinct, int(part.max()) + 1))
    np.add.at(table, (index, part), 1.0)
    return table


def _confirmed(
    peaks: Peaks, kept: Bools, apart: Floats, rate: float, by_part: Floats, one_chain: bool
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
        kernel = np.exp(-rate * apart[ends])
        close = kernel @ by_part
        others = np.abs(part - close[0].argmax()) > int(one_chain)
        top, low = close[:, others].sum(axis=1)
        squares = float((np.square(kernel[0]) @ by_part)[others].sum())
        if low <= STANDS_OUT * top and top * top >= LEAST * squares:
            continue
        region = peaks.regions(confirmed) == int(confirmed[:i].sum())
        confirmed[i] = not one_chain and bool((by_part[region].sum(axis=0) > HELD * sizes).any())
    confirmed[0] = kept[0]
    return confirmed


def _median(apart: Floats, counts: Floats) -> float:
    """Median distance of two draws, from the distances of the distinct ones and their counts."""
    first, second = np.triu_indices(len(apart), 1)
    distances, pairs = apart[first, second], counts[first] * counts[second]
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


def _agreed(counts: Ints) -> tuple[int, int]:
    """The smallest rate that shows the largest number on which two neighbours agree."""
    agreed = counts[:-1][counts[:-1] == counts[1:]]
    number = max(1, int(agreed.max(initial=1)))
    shown = np.flatnonzero(counts == number)
    return (int(shown[0]) if shown.size else 0), number


def _result(
    draws: Draws,
    drawn: str,
    index: Ints,
    distinct: Draws,
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
    return Modes(
        labels=by_size(distinct.labels_at(found.node[mine][order])),
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
