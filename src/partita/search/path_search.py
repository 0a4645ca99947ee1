"""Partitions for the corners of a price path, searched for by the engine of ``estimate``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from partita.kernels.arrays import Floats
from partita.losses.base import Loss
from partita.losses.evaluate import expected_loss
from partita.partitions.draws import Draws
from partita.partitions.enumeration import partition_blocks
from partita.partitions.labels import Labels, canonical
from partita.search.hull import Point, hull, possible_gains
from partita.search.methods.linkage import priced_cuts
from partita.search.methods.polish import single_moves
from partita.search.methods.sweep import ROUNDS, explore, explored
from partita.search.methods.walks import Beginning, descend_from, sample_draws
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

CHECKED_CELLS = 80_000_000
"""Draws × items × clusters, at most, of a corner that is looked at on all draws."""

DISSOLVED_DRAWS, NEARLY = 1_000, 1e-4
"""Draws on which dissolved clusters are tried, and how far above the path, relative to it, they
may come there to be put to all draws."""

MANY, WORTH = 32, 1e-4
"""With more clusters walks on a sample move single items only, and only from a crossing where so
much of the loss could be won."""

Pool = dict[bytes, Point]


def costs(draws: Draws, loss: Loss, rows: Sequence[Labels]) -> list[tuple[float, float]]:
    """A and B of each partition, from one expected loss.

    At price 1 that is A + B. A − B needs no intersections: it is what the
    partition is away from a single cluster, less what the draws are on average.
    """
    fair = loss.with_price(1.0)
    whole = np.zeros(draws.n_items, np.int32)
    single = Draws(whole[None])
    away = fair.expected(whole, draws) if len(rows) else 0.0
    found = []
    for labels in rows:
        total, less = fair.expected(labels, draws), fair.expected(labels, single) - away
        # Neither cost is negative; rounding might be.
        found.append((max(0.0, (total + less) / 2.0), max(0.0, (total - less) / 2.0)))
    return found


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


def _add(pool: Pool, draws: Draws, loss: Loss, rows: Sequence[Labels]) -> None:
    """Put partitions into the pool."""
    new = {labels.tobytes(): labels for labels in rows if labels.tobytes() not in pool}
    measured = costs(draws, loss, list(new.values()))
    for (key, labels), both in zip(new.items(), measured, strict=True):
        pool[key] = Point(labels, *both)


def _complete(
    task: Task, pool: Pool, problem: Problem, draws: Draws, low: float, high: float
) -> None:
    """Walk from both sides of every crossing until none leads lower.

    On a sample, from one side where clusters are many: there walks are long and
    crossings close, and what is lowest on a sample is not what is lowest on all draws.
    """
    done: set[tuple[bytes, bytes]] = set()
    while not task.clock.is_up():
        corners, breaks = hull(list(pool.values()), low, high)
        edges, best = _lowest(corners, breaks, low, high)
        gains = possible_gains(edges, best)
        work = []
        for p, q, a, gain in zip(corners[:-1], corners[1:], breaks, gains, strict=True):
            pair = (p.labels.tobytes(), q.labels.tobytes())
            few = draws is task.draws or q.labels.max() < MANY
            if pair not in done and (few or gain > WORTH):
                done.add(pair)
                work += [(a, p, ROUNDS), (a, q, ROUNDS)] if few else [(a, p, 0)]
        if not work:
            return
        generators = task.rng.spawn(len(work))
        pieces = [(*piece, rng) for piece, rng in zip(work, generators, strict=True)]
        walk = partial(_walked, task, problem)
        ends = run_until(task, walk, pieces, f"price path, {len(corners)} corners")
        _add(pool, draws, task.loss, ends)


def _checked(task: Task, pool: Pool, low: float, high: float) -> None:
    """Change single items and clusters of the corners while that leads below the path.

    The costs of a change do not depend on the price, so a corner is looked at once.
    """
    assert task.draws is not None
    some = sample_draws(task.draws, DISSOLVED_DRAWS, task.rng)
    room = CHECKED_CELLS / (task.draws.n_draws * task.n_items) - 1.0
    done: set[bytes] = set()
    while not task.clock.is_up():
        corners, breaks = hull(list(pool.values()), low, high)
        fresh = [c for c in corners if c.labels.max() < room and c.labels.tobytes() not in done]
        if not fresh:
            return
        edges, best = _lowest(corners, breaks, low, high)
        found: list[Labels] = []
        for corner in fresh:
            done.add(corner.labels.tobytes())
            for moved in _moved(task, corner, edges, best):
                pool.setdefault(moved.labels.tobytes(), moved)
            found += _dissolved(some, task.loss, corner, edges, best)
        _add(pool, task.draws, task.loss, found)


def _lowest(
    corners: list[Point], breaks: list[float], low: float, high: float
) -> tuple[Floats, Floats]:
    """The breakpoints with both ends of the path, and the lowest loss there."""
    edges = np.array([low, *breaks, high])
    splitting, merging = (np.array([c[j] for c in corners]) for j in (1, 2))
    losses = np.multiply.outer(edges, splitting) + np.multiply.outer(2.0 - edges, merging)
    return edges, losses.min(axis=1)


def _moved(task: Task, corner: Point, prices: Floats, best: Floats) -> list[Point]:
    """The move of a single item that is lowest at each price, where it leads below the path."""
    below, above = single_moves(task, corner.labels, [task.loss.with_price(a) for a in PRICES])
    splitting, merging = (3.0 * above - below) / 4.0, (3.0 * below - above) / 4.0
    found = []
    for a, lowest in zip(prices, best, strict=True):
        after = a * splitting + (2.0 - a) * merging
        place = np.unravel_index(int(after.argmin()), after.shape)
        if window(after[place]) < lowest:
            labels = corner.labels.copy()
            labels[place[0]] = place[1]
            both = max(0.0, float(splitting[place])), max(0.0, float(merging[place]))
            found.append(Point(canonical(labels), *both))
    return found


def _dissolved(
    sample: Draws, loss: Loss, corner: Point, prices: Floats, best: Floats
) -> list[Labels]:
    """The corner with one of its few clusters of several items dissolved into single items.

    At low prices of splitting such a cluster gains only when all of its items
    leave. What that changes is measured on a sample, and partitions are kept
    that seem to come below the path, or nearly so.
    """
    sizes = np.bincount(corner.labels)
    large = np.flatnonzero(sizes > 1)
    if large.size > DISSOLVED:
        return []
    alone = sizes.size + np.arange(corner.labels.size)
    rows = [canonical(np.where(corner.labels == k, alone, corner.labels)) for k in large]
    (a, b), *others = costs(sample, loss, [corner.labels, *rows])
    splitting = np.array([x for x, _ in others]) + corner.splitting - a
    merging = np.array([y for _, y in others]) + corner.merging - b
    losses = np.multiply.outer(splitting, prices) + np.multiply.outer(merging, 2.0 - prices)
    kept = np.flatnonzero((losses < best * (1.0 + NEARLY)).any(axis=1))
    return [rows[j] for j in kept]


def _walked(
    task: Task, problem: Problem, piece: tuple[float, Point, int, np.random.Generator]
) -> Labels:
    a, point, rounds, rng = piece
    start = Beginning(point.labels, "corner", None, rng)
    return descend_from(task, _priced(problem, task, a), rounds, start, brief=True).labels


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
