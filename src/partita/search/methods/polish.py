"""The last steps of a sweep: partitions found on a sample of the draws, put to all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from partita._memory import available_memory
from partita.kernels.search.moves import move_losses
from partita.losses.base import Loss
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels
from partita.search.methods.walks import Beginning, Reached, distinct, sample_draws, walker_from
from partita.search.problem import Problem, new_scratch, new_state, problem_from_draws
from partita.search.task import Task, run_until

POLISHED = 2
"""How many different partitions are polished on all draws."""

NEAR = 0.05
"""How far above the best, relative to it, a partition may be on the sample to be polished."""

KICKED = 10
"""Items forced out of their clusters when a partition is polished on all draws."""

TABLE_CELLS = 1 << 16
"""Cells of the tables of one block of draws when a partition is only looked at: they stay in
cache."""

LABEL_BYTES = 20
"""Bytes of a label in lists of members, with what is needed to make them."""

ROUNDING = 1e-11
"""A gain below this, of a sum over blocks of draws, is rounding."""


def polish(task: Task, reached: list[Reached], sure: bool) -> list[Reached]:
    """The starts, the best of them where they end on all draws.

    Kicks are needed here too: the lowest valley of a sample need not be that
    of all draws, and the two often differ by a pair of doubtful items. They
    are spared, and so are tables of all draws, when the starts agreed (they
    are ``sure``), for a loss that is linear in the draws, on a partition from
    which all draws move no item.
    """
    assert task.draws is not None
    best = distinct(reached)
    best = [r for r in best[:POLISHED] if r.loss <= best[0].loss * (1.0 + NEAR)]
    if sure:
        best.sort(key=lambda r: task.evaluate(r.labels))
        if _stays(task, best[0].labels):
            return reached
    problem = problem_from_draws(affordable(task, task.draws), task.loss)
    generators = task.rng.spawn(len(best))
    work = [Beginning(r.labels, r.origin, None, g) for r, g in zip(best, generators, strict=True)]
    ended = run_until(task, partial(_sweep_and_kick, task, problem, sure), work, "polishing")
    task.looks += sum(r.looks for r in ended)
    where = {r.labels.tobytes(): e for r, e in zip(best, ended, strict=True)}
    return [replace(where.get(r.labels.tobytes(), r), origin=r.origin) for r in reached]


def _stays(task: Task, labels: Labels) -> bool:
    """Whether no move of a single item lowers the loss on all draws."""
    (losses,) = single_moves(task, labels, [task.loss])
    present = losses[np.arange(task.n_items), labels]
    return bool((losses >= present[:, None] - ROUNDING).all())


def single_moves(task: Task, labels: Labels, losses: Sequence[Loss]) -> list[NDArray[np.float64]]:
    """Expected losses on all draws after each item has moved to each cluster, block by block.

    The losses are linear in the draws and share their terms: one loss at
    several prices. One array for each, of shape (n_items, k + 1).
    """
    assert task.draws is not None
    draws = task.draws
    cells = (int(labels.max()) + 9) * float(draws.n_clusters.mean())
    blocks = list(draws.blocks(max(1, int(TABLE_CELLS / cells))))
    masses = np.array([draws.probabilities[block].sum() for block in blocks])
    work = [(block, mass) for block, mass in zip(blocks, masses, strict=True) if mass > 0]
    forms = [loss.form(task.n_items) for loss in losses]

    def look(piece: tuple[slice, float]) -> NDArray[np.float64]:
        problem = problem_from_draws(draws._take(piece[0]), losses[0])
        state = new_state(problem, labels)
        scratch = new_scratch(problem, state)
        parts = [move_losses(problem._replace(form=form), state, scratch) for form in forms]
        return piece[1] * np.stack(parts)

    total = sum(run_until(task, look, work, "looking at all draws"), start=np.zeros(()))
    task.looks += task.n_items
    return list(total)


def affordable(task: Task, draws: Draws) -> Draws:
    """All these draws, or as many as the lists of this machine's memory hold."""
    free = available_memory()
    a_draw = LABEL_BYTES * draws.n_items
    if free is None or draws.n_draws * a_draw < 0.5 * free:
        return draws
    size = max(1, int(0.5 * free / a_draw))
    task.limits.append(
        f"memory: the search saw {size:,} of {draws.n_draws:,} distinct draws at a time"
    )
    return sample_draws(draws, size, task.rng)


def _sweep_and_kick(task: Task, problem: Problem, sure: bool, start: Beginning) -> Reached:
    walker = walker_from(task, problem, start)
    walker.sweep()
    stayed = start.labels is not None and np.array_equal(walker.labels, start.labels)
    if not (sure and stayed):
        walker.kick(KICKED)
    return Reached(walker.labels, walker.loss, start.origin, walker.looks)
