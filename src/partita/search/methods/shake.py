"""Small disturbances of a good partition, for losses that have many local minima.

Losses of each draw's three sums may have a kink where the entropies of estimate
and draw are equal. Single items do not cross it: exchanges, which keep the
sizes, go along, and a few items moved at random often fall to another side.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from partita.partitions.labels import Labels, canonical
from partita.search.methods.walks import Beginning, Reached, walker_from
from partita.search.problem import Problem
from partita.search.task import Task, window

IDLE = 30
"""So many disturbances in a row that lead nowhere lower end it."""

SHARES = (0.01, 0.05)
"""Share of the items that a disturbance moves."""

KICKED = 16
"""Items that are forced out of their clusters after each."""

TRADES = 8
"""Most rounds of exchanges."""


def shaken(task: Task, problem: Problem, best: Reached, most_looks: float) -> Reached:
    """Where exchanges and small disturbances lead from a partition; looks are added to its own."""
    (rng,) = task.rng.spawn(1)
    walker = walker_from(task, problem, Beginning(best.labels, best.origin, None, rng))
    walker.trade(TRADES)
    end, looks, idle = walker, walker.looks, 0
    while idle < IDLE and looks < most_looks and not task.clock.is_up():
        start = Beginning(disturbed(end.labels, rng, SHARES), best.origin, None, rng)
        walker = walker_from(task, problem, start)
        walker.sweep()
        walker.kick(KICKED)
        looks += walker.looks
        idle += 1
        if window(walker.loss) < end.loss:
            end, idle = walker, 0
    return replace(
        best,
        labels=end.labels,
        loss=end.loss,
        looks=best.looks + looks,
        doubt=end.scratch.margin,
    )


def disturbed(labels: Labels, rng: np.random.Generator, shares: tuple[float, float]) -> Labels:
    """Another partition: some items moved at random, or two clusters merged and one divided."""
    out, n, k = labels.copy(), labels.size, int(labels.max()) + 1
    if rng.random() < 0.5:
        some = rng.random(n) < rng.uniform(*shares)
        some[rng.integers(n)] = True
        out[some] = rng.integers(0, k + 1, int(some.sum()))
    else:
        a, b, c = rng.integers(0, k, 3)
        out[out == b] = a
        out[(out == c) & (rng.random(n) < 0.5)] = k
    return canonical(out)
