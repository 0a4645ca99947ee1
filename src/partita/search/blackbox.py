"""Local search by evaluation, for losses that are measured by evaluation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from partita._tolerance import SUM
from partita.labels import Labels, canonical
from partita.losses.base import Loss
from partita.losses.builtin import VI, Binder
from partita.search import large, linkage, settings
from partita.search.task import Candidate, Task, distinct_candidates

SAID = "searched by evaluation: a local minimum under moves of single items, without a lower bound"
"""What the result says about itself."""


class Evaluated:
    """Expected losses of the partitions looked at, each evaluated once."""

    def __init__(self, task: Task) -> None:
        assert task.draws is not None
        self._task = task
        self._draws = task.draws
        self._value: dict[bytes, float] = {}

    def __call__(self, labels: Labels) -> float:
        """The expected loss of a partition."""
        key = labels.tobytes()
        if key not in self._value:
            self._value[key] = self._task.loss.expected(labels, self._draws, 1)
            self._task.n_evaluated += 1
            self._task.report(f"{len(self._value):,} partitions evaluated")
        return self._value[key]


def search(task: Task) -> list[Candidate]:
    """Evaluate candidates of every kind, then move items of the best."""
    value = Evaluated(task)
    candidates = []
    for candidate in _candidates(task):
        value(candidate.labels)
        candidates.append(candidate)
        task.keep([candidate])
        if task.clock.is_up():
            break
    task.limits.append(SAID)
    ranked = sorted(candidates, key=lambda c: value(c.labels))
    best = distinct_candidates(ranked)[: settings.LEADING]
    moved = [Candidate(_descend(task, value, c.labels), c.origin) for c in best]
    return [*moved, *candidates]


def _candidates(task: Task) -> list[Candidate]:
    """The user's partitions, the two ends, minimisers and linkage cuts of two losses, draws."""
    n, cap = task.n_items, task.options.max_clusters
    found = [Candidate(row, "user") for row in task.options.starts]
    found.append(Candidate(np.zeros(n, np.int32), "one cluster"))
    if cap is None or cap >= n:
        found.append(Candidate(np.arange(n, dtype=np.int32), "singletons"))
    losses: tuple[Loss, ...] = (VI(), Binder())
    for other in losses:
        nearby = replace(task, loss=other, limits=[], found=[], _distances={})
        kinds = [min(large.search(nearby), key=lambda c: nearby.evaluate(c.labels))]
        if n <= settings.MATRIX_ITEMS:
            kinds += linkage.search_average(nearby)[:1] + linkage.search_complete(nearby)[:1]
        found += [Candidate(c.labels, f"{c.origin} under {other!r}") for c in kinds]
    assert task.draws is not None
    few = np.flatnonzero(task.draws.n_clusters <= (n if cap is None else cap))
    heavy = few[np.argsort(-task.draws.probabilities[few], kind="stable")]
    for m in heavy[: task.options.n_starts]:
        found.append(Candidate(task.draws.rows(int(m), int(m) + 1)[0], "draw"))
    return found


def _descend(task: Task, value: Evaluated, start: Labels) -> Labels:
    """Move single items, each to its best cluster, until none moves or time is up."""
    labels = start
    cap = task.n_items if task.options.max_clusters is None else task.options.max_clusters
    settled = 0
    order = task.rng.permutation(task.n_items)
    while settled < order.size:
        for item in order:
            if task.clock.is_up():
                return labels
            best = min(_moves(labels, int(item), cap), key=value, default=labels)
            settled += 1
            if value(best) < value(labels) - SUM * abs(value(labels)):
                labels, settled = best, 0
            if settled == order.size:
                break
    return labels


def _moves(labels: Labels, item: int, cap: int) -> list[Labels]:
    """The partitions in which the item has moved to another cluster, or to its own."""
    k = int(labels.max()) + 1
    alone = int((labels == labels[item]).sum()) == 1
    targets = [t for t in range(k) if t != labels[item]]
    if not alone and k < cap:
        targets.append(k)
    moved = []
    for target in targets:
        other = labels.copy()
        other[item] = target
        moved.append(canonical(other))
    return moved
