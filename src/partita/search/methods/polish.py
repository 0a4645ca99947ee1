"""The last steps of a sweep: partitions found on a sample of the draws, put to all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from partita._memory import available_memory
from partita._text import words
from partita.draws import Draws
from partita.kernels.arrays import Floats
from partita.kernels.search.moves import move_losses
from partita.kernels.search.single_moves import joint_steps, moved_losses
from partita.labels import Labels, canonical
from partita.losses.base import Loss
from partita.scan import Block, Sums, sum_blocks
from partita.search.methods.walks import Beginning, Reached, distinct, make_search, sample_draws
from partita.search.problem import (
    Problem,
    lists_from_draws,
    new_scratch,
    new_state,
    padded,
    problem_from_draws,
    terms_and_steps,
    walk_bytes,
)
from partita.search.task import LITTLE_MEMORY, Task, run_until, shielded, window

POLISHED = 2
"""How many different partitions are polished on all draws."""

NEAR = 0.05
"""How far above the best, relative to it, a partition may be on the sample to be polished."""

KICKED = 6
"""Items forced out of their clusters when a partition is polished on all draws."""

LABEL_BYTES = 20
"""Bytes of a label in lists of members, with what is needed to make them."""

PIECES, PIECES_CELLS = 8, 25_000_000
"""Pieces of work when a partition is only looked at, and cells that their results may have; they
do not depend on the number of threads, which therefore does not change the answer."""

MOST_LOOKS = 6
"""Times that all draws are looked at, moving one item each, before they get tables."""

WIDE_CELLS = 1 << 22
"""Cells of the table of one draw above which lists of members are used instead."""


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
        (losses,) = single_moves(task, labels, [task.loss])
        losses = losses[:, :cap]
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


def single_moves(task: Task, labels: Labels, losses: Sequence[Loss]) -> list[NDArray[np.float64]]:
    """Expected losses on all draws after each item has moved to each cluster, block by block.

    The losses are linear in the draws and share their terms: one loss at
    several prices. One array for each, of shape (n_items, k + 1).
    """
    assert task.draws is not None
    draws, n = task.draws, task.n_items
    k = int(labels.max()) + 1
    if int(draws.n_clusters.max()) * padded(k + 1) > WIDE_CELLS:
        return _moves_by_lists(task, labels, losses)
    sizes = np.append(np.bincount(labels), 0)
    terms, steps = terms_and_steps(losses[0], n)

    look = partial(_looked_at, labels=labels, n_slots=sizes.size, terms=terms, steps=steps)
    pieces = min(PIECES, max(1, PIECES_CELLS // (n * padded(k + 1))))
    rows, n_jobs = -(-draws.n_draws // pieces), task.options.n_jobs
    steps_of, (joint, truth) = shielded(
        task, lambda: sum_blocks(look, draws, rows=rows, n_jobs=n_jobs), "looking at all draws"
    )
    task.looks += n
    return [
        moved_losses(loss.form(n), steps_of, joint, truth, labels, sizes, terms, steps)
        for loss in losses
    ]


def _looked_at(block: Block, *, labels: Labels, n_slots: int, terms: Floats, steps: Floats) -> Sums:
    """What the joint sum owes to each item in each slot, and that sum with the draws' own."""
    # Copies, because read-only arrays would compile again.
    clusters, mass = np.array(block.n_clusters), np.array(block.probabilities)
    steps_of, *sums = joint_steps(block.rows, clusters, mass, labels, n_slots, terms, steps)
    return steps_of, np.array(sums)


def _moves_by_lists(task: Task, labels: Labels, losses: Sequence[Loss]) -> list[Floats]:
    """The same for draws of very many clusters, in one thread."""
    assert task.draws is not None
    problem = lists_from_draws(affordable(task, task.draws), losses[0])
    state = new_state(problem, labels)
    scratch = new_scratch(problem, state)
    forms = [loss.form(task.n_items) for loss in losses]
    items = np.arange(task.n_items)
    return [move_losses(problem._replace(form=form), state, items, scratch) for form in forms]


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
