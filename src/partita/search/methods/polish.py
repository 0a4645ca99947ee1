"""The last steps of a sweep: partitions found on a sample of the draws, put to all of them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from partita._memory import available_memory
from partita._text import words
from partita.draws import Draws
from partita.labels import Labels, canonical
from partita.search.looks import single_moves
from partita.search.methods.walks import Beginning, Reached, distinct, make_search, sample_draws
from partita.search.problem import (
    Problem,
    problem_from_draws,
    walk_bytes,
)
from partita.search.task import LITTLE_MEMORY, Task, run_until, window

POLISHED = 2
"""How many different partitions are polished on all draws."""

NEAR = 0.05
"""How far above the best, relative to it, a partition may be on the sample to be polished."""

KICKED = 6
"""Items forced out of their clusters when a partition is polished on all draws."""

LABEL_BYTES = 20
"""Bytes of a label in lists of members, with what is needed to make them."""

MOST_LOOKS = 6
"""Times that all draws are looked at, moving one item each, before they get tables."""


def polish(task: Task, reached: list[Reached], agreed: bool) -> list[Reached]:
    """The starts, the best of them where they end on all draws.

    Kicks are needed here too: the lowest valley of a sample need not be that
    of all draws, and the two often differ by a pair of doubtful items. Where
    the starts ``agreed``, only the partition that is best on all draws is
    polished; for a loss that is linear in the draws kicks are spared then, and
    so are tables of all draws, if these move few of its items.
    """
    assert task.draws is not None
    best = distinct(reached)
    best = [r for r in best[:POLISHED] if r.loss <= best[0].loss * (1.0 + NEAR)]
    sure = agreed and task.loss.is_linear
    if agreed:
        if len(best) > 1:
            best = [min(best, key=lambda r: task.evaluate(r.labels))]
        settled = _settled(task, best[0].labels) if sure else None
        if settled is not None:
            here = best[0].labels.tobytes()
            return [
                replace(r, labels=settled) if r.labels.tobytes() == here else r for r in reached
            ]
    problem = problem_from_draws(affordable(task, task.draws), task.loss)
    generators = task.rng.spawn(len(best))
    work = [
        Beginning(r.labels, r.origin, None, g, r.doubt)
        for r, g in zip(best, generators, strict=True)
    ]
    walk = partial(_sweep_and_kick, task, problem, sure)
    ended = run_until(task, walk, work, "polishing", walk_bytes(problem))
    task.looks += sum(r.looks for r in ended)
    where = {r.labels.tobytes(): e for r, e in zip(best, ended, strict=True)}
    return [replace(where.get(r.labels.tobytes(), r), origin=r.origin) for r in reached]


def _settled(task: Task, labels: Labels) -> Labels | None:
    """The partition after a few single moves on all draws, if then no move lowers the loss."""
    cap = task.n_items if task.options.max_clusters is None else task.options.max_clusters
    for _ in range(MOST_LOOKS):
        found = single_moves(task, labels, [task.loss])
        if found is None:
            break
        losses = found[0][:, :cap]
        present = float(losses[0, labels[0]])
        item, slot = np.unravel_index(int(losses.argmin()), losses.shape)
        if window(losses[item, slot]) >= present:
            return labels
        labels = labels.copy()
        labels[item] = slot
        labels = canonical(labels)
        if task.clock.is_up():
            break
    return None


def affordable(task: Task, draws: Draws) -> Draws:
    """All these draws, or as many as the lists of this machine's memory hold."""
    a_draw = LABEL_BYTES * draws.n_items
    if draws.n_draws * a_draw <= LITTLE_MEMORY:
        return draws
    free = available_memory()
    if free is None or draws.n_draws * a_draw < 0.5 * free:
        return draws
    size = max(1, int(0.5 * free / a_draw))
    task.limits.append(
        f"memory: the search saw {size:,} of {draws.n_draws:,} distinct "
        f"{words(draws.kind).draws} at a time"
    )
    return sample_draws(draws, size, task.rng)


def _sweep_and_kick(task: Task, problem: Problem, sure: bool, start: Beginning) -> Reached:
    search = make_search(task, problem, start)
    search.sweep()
    stayed = start.labels is not None and np.array_equal(search.labels, start.labels)
    if not (sure and stayed):
        search.eject(KICKED)
    return Reached(search.labels, search.loss, start.origin, search.n_evaluated)
