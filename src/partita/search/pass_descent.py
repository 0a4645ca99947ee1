"""Downhill by passes: single items move as all draws tell, many of them at once.

Moves that each lower the loss alone need not do so together. A set of moves
that did not lower it is halved, down to the single best move, which does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from partita._text import counted
from partita.kernels.arrays import Ints
from partita.kernels.search.types import LANES
from partita.labels import Labels, canonical
from partita.search.looks import Items, Look, look
from partita.search.task import Task

DOUBTFUL = 32
"""One item in so many, those that cost least to move, is looked at until none of them moves."""

MOST_STEPS, MOST_SWEEPS, MOST_CELLS = 60, 20, 5e9
"""Steps after which a descent ends that opens one cluster after the other, and would not; and its
work: sweeps at the draws' own number of clusters or table cells read, whichever is more."""


def descend(task: Task, labels: Labels, keep: Callable[[Labels], None]) -> tuple[Labels, bool]:
    """Where single moves end, and whether a look at every item found no move that helps.

    ``keep`` is told each partition on the way. All items are looked at first
    and last; in between only those in doubt.
    """
    steps, most = 0, _most_looks(task, labels)
    seen, everyone = look(task, labels), True
    watched = np.empty(0, np.int64)
    while seen is not None:
        falls = seen.downhill
        if everyone and not falls.size:
            return labels, True
        if steps == MOST_STEPS or task.looks >= most:
            break
        steps += 1
        if falls.size:
            if everyone:
                watched = _doubtful(seen, falls.size)
            labels, seen = _moved(task, labels, seen, falls, watched, most)
            everyone = False
            keep(labels)
        else:
            seen, everyone = look(task, labels), True
    if not task.clock.is_up():
        task.limits.append(
            f"passes: after {counted(steps, 'step')} over all draws, each of many moves, single "
            "items may still move"
        )
    return labels, False


def _most_looks(task: Task, labels: Labels) -> float:
    """Looks at items until when a descent may go on; without end where the user set a time."""
    if task.clock.deadline is not None:
        return np.inf
    assert task.draws is not None
    clusters, draws = int(labels.max()) + 1 + LANES, task.draws.n_draws
    usual = MOST_SWEEPS * task.n_items * (float(task.draws.n_clusters.mean()) + LANES) / clusters
    return task.looks + max(usual, MOST_CELLS / (draws * clusters))


def _doubtful(seen: Look, n_falling: int) -> Items:
    """The items that cost least to move: a share of all, and more where many move."""
    size = min(seen.items.size, max(seen.items.size // DOUBTFUL, 2 * n_falling))
    lowest = np.argpartition(seen.margin, size - 1)[:size]
    return np.sort(seen.items[lowest])


def _moved(
    task: Task, labels: Labels, seen: Look, falls: Ints, watched: Items, most_looks: float = np.inf
) -> tuple[Labels, Look | None]:
    """The partition after as many of the moves as lower the loss, and what is seen there.

    Nothing is seen (None) if time was up, or looks; the partition is then the one before.
    """
    chosen, slots = _compatible(labels, seen, falls, task.options.max_clusters)
    while True:
        after = labels.copy()
        after[seen.items[chosen]] = slots
        after = canonical(after)
        now = look(task, after, watched)
        if now is None:
            return labels, None
        if now.loss < seen.loss - seen.slack:
            return after, now
        if chosen.size == 1:  # what it would gain is rounding, after all
            margin = seen.margin.copy()
            margin[chosen] = 0.0
            return labels, replace(seen, margin=margin)
        if task.looks > most_looks:
            return labels, None
        half = (chosen.size + 1) // 2
        chosen, slots = chosen[:half], slots[:half]


def _compatible(labels: Labels, seen: Look, falls: Ints, most: int | None) -> tuple[Ints, Ints]:
    """The moves that may be made together, and where to: each new cluster has one item.

    No more new ones than there are clusters already, the best first.
    """
    k = int(labels.max()) + 1
    slots = seen.best[falls].copy()
    opens = slots == k
    number = np.cumsum(opens)
    slots[opens] = k + number[opens] - 1
    room = k if most is None else min(k, most - k)
    made = ~opens | (number <= room)
    return falls[made], slots[made]
