"""What leads on from a good partition, for losses that have many local minima.

Losses of each draw's three sums may have a kink where the entropies of estimate
and draw are equal. Single items do not cross it downhill: exchanges, which keep
the sizes, go along, and a walk that goes uphill where it must crosses it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from partita.labels import Labels, canonical
from partita.search.methods.walks import IDLE, WANDER_CELLS, Beginning, Reached, walker_from
from partita.search.problem import Problem
from partita.search.task import Task

KICKED = 16
"""Items that are forced out of their clusters after that."""

TRADES = 8
"""Most rounds of exchanges."""


def shaken(task: Task, problem: Problem, best: Reached) -> Reached:
    """Where exchanges and wandering lead from a partition; looks are added to its own."""
    (rng,) = task.rng.spawn(1)
    walker = walker_from(task, problem, Beginning(best.labels, best.origin, None, rng))
    walker.trade(TRADES)
    walker.wander(IDLE, WANDER_CELLS / walker.look_cells)
    walker.sweep()
    walker.kick(KICKED)
    return replace(
        best,
        labels=walker.labels,
        loss=walker.loss,
        looks=best.looks + walker.looks,
        doubt=walker.scratch.margin,
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
