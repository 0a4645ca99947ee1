"""Partitions for the corners of a price path, searched for by the engine of ``estimate``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from partita.losses.base import Loss
from partita.losses.evaluate import expected_loss
from partita.partitions.draws import Draws
from partita.partitions.enumeration import partition_blocks
from partita.partitions.labels import Labels, canonical
from partita.search.hull import Point, hull
from partita.search.methods.linkage import priced_cuts
from partita.search.methods.polish import single_moves
from partita.search.methods.sweep import ROUNDS, explore, explored
from partita.search.methods.walks import Beginning, descend_from
from partita.search.problem import Problem, by_similarity
from partita.search.task import Task, run_until, window

PRICES = (0.5, 1.5)
"""Two prices at which the expected loss tells A and B."""

EXPLORED = (0.6, 1.0, 1.4)
"""Prices at which the path is begun by a whole search."""

NEAR = 0.02
"""How far above the path on a sample, relative to it, a partition may be to be put to all draws."""

DISSOLVED = 6
"""Clusters of several items, at most, of a corner whose clusters are dissolved one by one."""

Pool = dict[bytes, Point]


def costs(draws: Draws, loss: Loss, labels: Labels) -> tuple[float, float]:
    """A and B of one partition, from its expected losses at two prices."""
    below, above = (loss.with_price(a).expected(labels, draws) for a in PRICES)
    return _solved(below, above)


def _solved(below: float, above: float) -> tuple[float, float]:
    # E(1/2) = A/2 + 3B/2 and E(3/2) = 3A/2 + B/2. Neither cost is negative; rounding might be.
    return max(0.0, (3.0 * above - below) / 4.0), max(0.0, (3.0 * below - above) / 4.0)


def every_partition(draws: Draws, loss: Loss) -> Pool:
    """All partitions of few items, with their costs."""
    pool: Pool = {}
    for block in partition_blocks(draws.n_items, 1024):
        rows = np.array(block, np.int32)
        both = [expected_loss(rows, draws, loss=loss.with_price(a)) for a in PRICES]
        for row, below, above in zip(rows, *both, strict=True):
            pool[row.tobytes()] = Point(row, *_solved(float(below), float(above)))
    return pool


def searched(task: Task, low: float, high: float) -> Pool:
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
            found += _dissolved(corner.labels)
            below, above = single_moves(task, corner.labels, losses)
            splitting, merging = (3.0 * above - below) / 4.0, (3.0 * below - above) / 4.0
            for a, lowest in zip(prices, best, strict=True):
                after = a * splitting + (2.0 - a) * merging
                item, slot = np.unravel_index(int(after.argmin()), after.shape)
                if window(after[item, slot]) < lowest:
                    labels = corner.labels.copy()
                    labels[item] = slot
                    found.append(canonical(labels))
        _add(pool, task.draws, task.loss, found)


def _dissolved(labels: Labels) -> list[Labels]:
    """The partition with one of its few clusters of several items dissolved into single items.

    At low prices of splitting such a cluster gains only when all of its items leave.
    """
    sizes = np.bincount(labels)
    large = np.flatnonzero(sizes > 1)
    if large.size > DISSOLVED:
        return []
    alone = sizes.size + np.arange(labels.size)
    return [canonical(np.where(labels == slot, alone, labels)) for slot in large]


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
