"""Every optimal partition for every price: the lower convex hull of (A, B)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from partita._progress import Status
from partita._validate import Rng, generator, number, whole
from partita.errors import InvalidInputError, NotSupportedError, UnknownNameError
from partita.losses.base import Loss
from partita.losses.evaluate import expected_loss
from partita.losses.registry import as_loss
from partita.partitions.convert import as_draws
from partita.partitions.draws import Draws
from partita.partitions.enumeration import partition_blocks
from partita.partitions.labels import Labels, by_size, canonical
from partita.partitions.types import DrawsLike
from partita.search.hull import Point, hull
from partita.search.lower_bounds.bound import EFFORTS, lower_bound
from partita.search.methods.linkage import priced_cuts
from partita.search.methods.polish import single_moves
from partita.search.methods.registry import ENUMERATED_ITEMS
from partita.search.methods.sweep import ROUNDS, explore, explored
from partita.search.methods.walks import Beginning, descend_from
from partita.search.path_result import PricePath
from partita.search.problem import Problem, by_similarity
from partita.search.task import Clock, Options, Task, run_until

PRICES = (0.5, 1.5)
"""Two prices at which the expected loss tells A and B."""

EXPLORED = (0.6, 1.0, 1.4)
"""Prices at which the path is begun by a whole search."""

NEAR = 0.02
"""How far above the path on a sample, relative to it, a partition may be to be put to all draws."""

Pool = dict[bytes, Point]


def price_path(
    draws: DrawsLike,
    *,
    loss: str | Loss = "vi",
    low: float = 0.0,
    high: float = 2.0,
    n_starts: int = 16,
    bound: Literal["fast", "tight"] | None = "fast",
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    rng: Rng | None = None,
) -> PricePath:
    r"""Find every partition that is optimal for some price of splitting.

    For a loss with a price the posterior expected loss of a partition c is

    .. math:: a\,A(c) + (2 - a)\,B(c)

    with A the expected loss for splitting true clusters and B for merging
    them. The optimum :math:`g(a) = \min_c` is concave and piecewise linear,
    and the partitions that are optimal for some a are the corners of the lower
    convex hull of the points (A, B). The search solves at the crossing of two
    neighbours, again and again until nothing lower is found.

    Choose it to see whether someone with another taste would report another
    number of clusters, and how firmly an estimate stands.

    Parameters
    ----------
    draws : Draws, array_like or path
        Anything :func:`as_draws` accepts. Equal draws are merged first.
    loss : str or Loss, default "vi"
        A loss with a price: "vi", "binder". Its own price does not matter.
    low, high : float
        Prices between which the path is sought; all of 0 to 2 by default.
    n_starts : int, default 16
        Most starts of the searches that the path begins with.
    bound : "fast", "tight" or None
        How hard to prove lower bounds at the breakpoints.
    time_limit : float, optional
        Seconds after which the path found so far is returned.
    n_jobs : int, optional
        Threads, every core by default. The answer does not depend on it.
    progress : bool, optional
        Show progress; by default on a terminal, after two seconds.
    rng : int, SeedSequence or Generator, optional
        The same rng gives the same answer. A fixed one by default.

    Returns
    -------
    PricePath

    Notes
    -----
    About two walks for each breakpoint, first on a sample of the draws, then
    on all of them. Up to 8 items all partitions are compared, and the path is
    proven. k along Binder's path need not fall with a.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018), Bayesian cluster analysis: Point
    estimation and credible balls. Bayesian Analysis 13.
    Dahl, D. B., Johnson, D. J. and Müller, P. (2022), Search algorithms and
    loss functions for Bayesian clustering. Journal of Computational and
    Graphical Statistics 31.

    Examples
    --------
    >>> import partita as pt
    >>> path = pt.price_path([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
    >>> path.n_clusters
    array([3, 2, 1])
    >>> path.gap
    0.0
    """
    measure = as_loss(loss)
    if not measure.has_price:
        raise NotSupportedError(
            f"{measure!r} has no price of splitting, so it has no path; losses that have: "
            "'vi', 'binder'."
        )
    if bound is not None and bound not in EFFORTS:
        raise UnknownNameError(f"unknown bound {bound!r}; expected 'fast', 'tight' or None.")
    low, high = number(low, "low"), number(high, "high")
    if not 0.0 <= low < high <= 2.0:
        raise InvalidInputError(f"low={low!r}, high={high!r}; expected 0 ≤ low < high ≤ 2.")
    if time_limit is not None and not time_limit > 0:
        raise InvalidInputError(f"time_limit={time_limit!r}; expected a positive number.")
    given = as_draws(draws)
    with Status("price path", progress) as status:
        starts = np.empty((0, given.n_items), np.int32)
        task = Task(
            draws=given.unique(),
            given_similarity=None,
            loss=measure,
            options=Options(
                whole(n_starts, "n_starts", least=1), starts, None, None, 10_000, n_jobs
            ),
            rng=generator(rng),
            clock=Clock(time_limit),
            report=status.say,
        )
        return _path(task, given, low, high, bound)


def _path(task: Task, given: Draws, low: float, high: float, bound: str | None) -> PricePath:
    assert task.draws is not None
    exact = task.n_items <= ENUMERATED_ITEMS
    pool = _every_partition(task.draws, task.loss) if exact else _searched(task, low, high)
    corners, breaks = hull(list(pool.values()), low, high)
    cut_short = task.clock.interrupted
    bounds = None
    if exact:
        bounds = np.array([c.at(a) for c, a in zip(corners[1:], breaks, strict=True)])
    elif bound is not None:
        bounds = _proven(task, corners, breaks, bound)
    labels = by_size(np.stack([c.labels for c in corners]))
    arrays = (
        labels,
        labels.max(axis=1).astype(np.int64) + 1,
        np.array(breaks, np.float64),
        np.array([c.splitting for c in corners]),
        np.array([c.merging for c in corners]),
    )
    for array in (*arrays, *([] if bounds is None else [bounds])):
        array.flags.writeable = False
    return PricePath(
        *arrays,
        low=low,
        high=high,
        lower_bounds=bounds,
        loss=task.loss,
        n_seen=len(pool),
        seconds=task.clock.seconds,
        interrupted=cut_short,
        item_names=given.item_names,
        _draws=task.draws,
    )


def costs(draws: Draws, loss: Loss, labels: Labels) -> tuple[float, float]:
    """A and B of one partition, from its expected losses at two prices."""
    below, above = (loss.with_price(a).expected(labels, draws) for a in PRICES)
    return _solved(below, above)


def _solved(below: float, above: float) -> tuple[float, float]:
    # E(1/2) = A/2 + 3B/2 and E(3/2) = 3A/2 + B/2. Neither cost is negative; rounding might be.
    return max(0.0, (3.0 * above - below) / 4.0), max(0.0, (3.0 * below - above) / 4.0)


def _every_partition(draws: Draws, loss: Loss) -> Pool:
    pool: Pool = {}
    for block in partition_blocks(draws.n_items, 1024):
        rows = np.array(block, np.int32)
        both = [expected_loss(rows, draws, loss=loss.with_price(a)) for a in PRICES]
        for row, below, above in zip(rows, *both, strict=True):
            pool[row.tobytes()] = Point(row, *_solved(float(below), float(above)))
    return pool


def _searched(task: Task, low: float, high: float) -> Pool:
    """All partitions that were met, with their costs on all draws."""
    assert task.draws is not None
    problem, sample = explored(task)
    assert sample is not None
    looked = task.draws if by_similarity(task) else sample
    pool: Pool = {}
    _add(pool, looked, task.loss, _ends(task.draws))
    _add(pool, looked, task.loss, priced_cuts(task.on(sample), PRICES))
    for a in EXPLORED:
        if low <= a <= high and not task.clock.is_up():
            at = replace(task, loss=task.loss.with_price(a), posterior=None, _distances={})
            found = explore(at, _priced(problem, task, a), sample)
            _add(pool, looked, task.loss, [r.labels for r in found])
    _complete(task, pool, problem, looked, low, high)
    if looked is task.draws:
        return pool
    near = _near(pool, low, high)
    whole_pool: Pool = {}
    _add(whole_pool, task.draws, task.loss, near)
    _checked(task, whole_pool, low, high)
    return whole_pool


def _priced(problem: Problem, task: Task, a: float) -> Problem:
    """The same tables under another price."""
    return problem._replace(form=task.loss.with_price(a).form(task.n_items))


def _add(pool: Pool, draws: Draws, loss: Loss, rows: Sequence[Labels]) -> bool:
    """Put partitions into the pool; whether any was new."""
    size = len(pool)
    for labels in rows:
        if labels.tobytes() not in pool:
            pool[labels.tobytes()] = Point(labels, *costs(draws, loss, labels))
    return len(pool) > size


def _complete(
    task: Task, pool: Pool, problem: Problem, draws: Draws, low: float, high: float
) -> None:
    """Walk from both sides of every crossing until none leads lower."""
    done: set[tuple[bytes, bytes]] = set()
    while not task.clock.is_up():
        corners, breaks = hull(list(pool.values()), low, high)
        work = []
        for p, q, a in zip(corners[:-1], corners[1:], breaks, strict=True):
            pair = (p.labels.tobytes(), q.labels.tobytes())
            if pair not in done:
                done.add(pair)
                work += [(a, p), (a, q)]
        if not work:
            return
        generators = task.rng.spawn(len(work))
        pieces = [(a, p, g) for (a, p), g in zip(work, generators, strict=True)]
        walk = partial(_walked, task, problem)
        ends = run_until(task, walk, pieces, f"price path, {len(corners)} corners")
        _add(pool, draws, task.loss, ends)


def _checked(task: Task, pool: Pool, low: float, high: float) -> None:
    """Move single items of every corner on all draws while that leads below the path.

    The costs of a move do not depend on the price, so a corner is looked at once.
    """
    assert task.draws is not None
    losses = [task.loss.with_price(a) for a in PRICES]
    done: set[bytes] = set()
    while not task.clock.is_up():
        corners, breaks = hull(list(pool.values()), low, high)
        fresh = [c for c in corners if c.labels.tobytes() not in done]
        if not fresh:
            return
        prices = np.array([low, *breaks, high])
        best = np.min([[c.at(a) for a in prices] for c in corners], axis=0)
        found: list[Labels] = []
        for corner in fresh:
            done.add(corner.labels.tobytes())
            below, above = single_moves(task, corner.labels, losses)
            splitting, merging = (3.0 * above - below) / 4.0, (3.0 * below - above) / 4.0
            for a, lowest in zip(prices, best, strict=True):
                after = a * splitting + (2.0 - a) * merging
                item, slot = np.unravel_index(int(after.argmin()), after.shape)
                if after[item, slot] < lowest - 1e-10 * max(1.0, lowest):
                    labels = corner.labels.copy()
                    labels[item] = slot
                    found.append(canonical(labels))
        _add(pool, task.draws, task.loss, found)


def _walked(
    task: Task, problem: Problem, piece: tuple[float, Point, np.random.Generator]
) -> Labels:
    a, point, rng = piece
    start = Beginning(point.labels, "corner", None, rng)
    return descend_from(task, _priced(problem, task, a), ROUNDS, start, brief=True).labels


def _ends(draws: Draws) -> list[Labels]:
    """What is optimal for the lowest and the highest price: the meet and the join of all draws."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, m = draws.n_items, draws.n_draws
    together = np.unique(draws.labels, axis=1, return_inverse=True)[1]
    offsets = np.concatenate(([0], np.cumsum(draws.n_clusters)[:-1]))
    rows = (draws.labels.astype(np.int64) + offsets[:, None]).ravel()
    items = np.tile(np.arange(n), m)
    size = n + int(draws.n_clusters.sum())
    graph = coo_array((np.ones(rows.size, np.int8), (items, n + rows)), shape=(size, size))
    joined = connected_components(graph, directed=False)[1][:n]
    return [canonical(np.asarray(together).ravel()), canonical(joined)]


def _near(pool: Pool, low: float, high: float) -> list[Labels]:
    """Partitions of a sample's pool that come near its path at some price."""
    corners, breaks = hull(list(pool.values()), low, high)
    edges = np.array([low, *breaks, high])
    prices = np.concatenate((edges, (edges[:-1] + edges[1:]) / 2.0))
    best = np.min([[c.at(a) for a in prices] for c in corners], axis=0)
    limit = best * (1.0 + NEAR) + 1e-9
    return [
        p.labels
        for p in pool.values()
        if any(p.at(a) <= m for a, m in zip(prices, limit, strict=True))
    ]


def _proven(
    task: Task, corners: list[Point], breaks: list[float], bound: str
) -> NDArray[np.float64]:
    """Lower bounds at the breakpoints; nothing is proven where time has run out."""
    bounds = np.zeros(len(breaks))
    for j, (corner, a) in enumerate(zip(corners[1:], breaks, strict=True)):
        if task.clock.is_up():
            break
        at = replace(task, loss=task.loss.with_price(a), posterior=None, limits=[], _distances={})
        value = corner.at(a)
        prove = partial(lower_bound, at, corner.labels, value, EFFORTS[bound])
        say = f"proving breakpoint {j + 1} of {len(breaks)}"
        found = run_until(task, lambda run: run(), [prove], say)[0]
        bounds[j] = 0.0 if found is None else min(found, value)
    return bounds
