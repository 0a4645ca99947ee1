"""The workhorse for all losses: item and cluster moves from many starts.

Starts explore a small sample of the draws, where a sweep costs little; the
best partitions they reach are then polished on all draws. Losses that need
only the similarity matrix explore with that matrix, whose cost does not grow
with the number of draws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from partita._memory import available_memory
from partita.kernels.search.types import AVERAGED, PAIRS, PAIRS_LOG, Problem
from partita.losses.base import Loss
from partita.losses.binder import Binder
from partita.losses.vi import VI
from partita.losses.vi_lower_bound import VILowerBound
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels
from partita.search.descent import Walker
from partita.search.problem import (
    problem_from_draws,
    problem_from_similarity,
    table_bytes,
)
from partita.search.task import Candidate, Task, run_until

SAMPLE_LABELS = 150_000
MOST_DRAWS, FEWEST_DRAWS = 750, 100
"""Starts explore a sample of the draws of about so many labels, within limits on its draws."""

MATRIX_ITEMS = 2_000
"""Up to so many items, Binder's loss and PEAR are searched with the similarity matrix."""

BATCH = 4
"""Starts between two looks at how many agree: fixed, so that threads do not change the answer."""

MOVED = 2
"""How many different partitions of a batch go on with cluster moves."""

POLISHED = 2
"""How many different partitions are polished on all draws."""

KICKED = 10
"""Items forced out of their clusters when a partition is polished on all draws."""

ROUNDS = 8
"""Most alternations of cluster moves and sweeps in one walk."""


class Beginning(NamedTuple):
    """Where a start begins; without labels, with a sequential allocation."""

    labels: Labels | None
    origin: str
    rng: np.random.Generator


@dataclass(frozen=True)
class Reached:
    """Where a start ended on the explored problem."""

    labels: Labels
    loss: float
    origin: str
    looks: int


def search(task: Task) -> list[Candidate]:
    """Explore from many starts until they agree, then polish the best on all draws."""
    problem, is_sample = _explored(task, task.loss)
    reached = _explore(task, problem)
    task.keep([Candidate(r.labels, r.origin) for r in reached])
    if is_sample and not task.clock.is_up():
        sure = problem.kind == AVERAGED and _agree(reached)
        ended = _polish(task, _distinct(reached)[:POLISHED], sure)
        reached = [replace(ended.get(r.labels.tobytes(), r), origin=r.origin) for r in reached]
    return [Candidate(r.labels, r.origin) for r in reached]


def _explored(task: Task, loss: Loss) -> tuple[Problem, bool]:
    """The problem that starts explore, and whether it is only a sample of the draws."""
    matrix = task.draws is None or isinstance(loss, VILowerBound)
    if loss.uses_similarity and (matrix or task.n_items <= MATRIX_ITEMS):
        return problem_from_similarity(task.similarity, loss), False
    sample = _sample(task)
    assert task.draws is not None
    return problem_from_draws(sample, loss), sample.n_draws < task.draws.n_draws


def _sample(task: Task) -> Draws:
    assert task.draws is not None
    size = int(np.clip(SAMPLE_LABELS // task.n_items, FEWEST_DRAWS, MOST_DRAWS))
    return sample_draws(task.draws, size, task.rng)


def sample_draws(draws: Draws, size: int, rng: np.random.Generator) -> Draws:
    """A systematic sample of the posterior: spread over the chain, in proportion to weight."""
    if draws.n_draws <= size:
        return draws
    edges = np.cumsum(draws.probabilities)
    points = (np.arange(size) + rng.random()) / size * edges[-1]
    index, counts = np.unique(np.searchsorted(edges, points), return_counts=True)
    index = np.minimum(index, draws.n_draws - 1)
    return Draws._from_canonical(
        np.ascontiguousarray(draws.labels[index]), draws.n_clusters[index], weights=counts
    )


def _explore(task: Task, problem: Problem) -> list[Reached]:
    plan = _plan_starts(task, problem)
    reached: list[Reached] = []
    for first in range(0, len(plan), BATCH):
        batch = plan[first : first + BATCH]
        swept = run_until(task, partial(_descend_from, task, problem, 0), batch, "sweeping")
        reached.extend(_move_clusters(task, problem, swept))
        if task.clock.is_up() or _agree(reached):
            break
    return reached


def _agree(reached: list[Reached]) -> bool:
    """Whether a batch of starts ended at the best loss, or a whole later batch found none lower."""
    best = min(r.loss for r in reached) + 1e-10
    reached_it = [r.loss <= best for r in reached]
    return sum(reached_it) >= BATCH or any(reached_it[:-BATCH])


def _move_clusters(task: Task, problem: Problem, swept: list[Reached]) -> list[Reached]:
    """Cluster moves from the best different partitions of a batch; equal ones share the result."""
    different = _distinct(swept)[:MOVED]
    generators = task.rng.spawn(len(different))
    work = [Beginning(r.labels, r.origin, g) for r, g in zip(different, generators, strict=True)]
    moved = run_until(task, partial(_descend_from, task, problem, ROUNDS), work, "moving clusters")
    task.looks += sum(r.looks for r in (*swept, *moved))
    where = {r.labels.tobytes(): m for r, m in zip(different, moved, strict=True)}
    return [replace(where.get(r.labels.tobytes(), r), origin=r.origin) for r in swept]


def _descend_from(task: Task, problem: Problem, rounds: int, start: Beginning) -> Reached:
    """Walk downhill from a start; ``rounds`` of cluster moves at most."""
    walker = _walker(task, problem, start)
    walker.descend(rounds)
    return Reached(walker.labels, walker.loss, start.origin, walker.looks)


def _walker(task: Task, problem: Problem, start: Beginning) -> Walker:
    cap = task.options.max_clusters
    return Walker(problem, start.labels, start.rng, max_clusters=cap, stop=task.clock.is_up)


def _plan_starts(task: Task, problem: Problem) -> list[Beginning]:
    """The user's starts, then draws and sequential allocations in turn.

    A loss that is not linear in the sums cannot judge half an allocation, so
    its other starts are the minimisers of the two losses that can.
    """
    options = task.options
    others = _other_starts(task, problem, options.n_starts)
    drawn = _random_draws(task, options.n_starts)
    turns = [pair for both in zip_longest(others, drawn) for pair in both if pair is not None]
    plan = [(row, "user") for row in options.starts] + turns[: options.n_starts]
    generators = task.rng.spawn(len(plan))
    return [Beginning(*start, g) for start, g in zip(plan, generators, strict=True)]


def _random_draws(task: Task, count: int) -> list[tuple[Labels | None, str]]:
    draws = task.draws
    if draws is None:
        return []
    chosen = task.rng.choice(
        draws.n_draws, min(count, draws.n_draws), replace=False, p=draws.probabilities
    )
    return [(draws.rows(int(m), int(m) + 1)[0], "draw") for m in chosen]


def _other_starts(task: Task, problem: Problem, count: int) -> list[tuple[Labels | None, str]]:
    linear = isinstance(task.loss, (VI, Binder)) or problem.kind in (PAIRS, PAIRS_LOG)
    if linear:
        return [(None, "allocation")] * count
    sample = _sample(task)
    losses = (VI(), Binder())
    work = [
        (problem_from_draws(sample, loss), Beginning(None, f"minimiser of {loss!r}", generator))
        for loss, generator in zip(losses, task.rng.spawn(len(losses)), strict=True)
    ]
    ended = run_until(task, lambda w: _descend_from(task, w[0], 0, w[1]), work, "finding starts")
    task.looks += sum(r.looks for r in ended)
    return [(r.labels, r.origin) for r in ended]


def _distinct(reached: list[Reached]) -> list[Reached]:
    """Each partition once, lowest loss first."""
    unique = {r.labels.tobytes(): r for r in reversed(reached)}
    return sorted(unique.values(), key=lambda r: r.loss)


def _polish(task: Task, best: list[Reached], sure: bool) -> dict[bytes, Reached]:
    """Where each of the best partitions ends on all draws.

    Kicks are needed here too: the lowest valley of a sample need not be that
    of all draws, and the two often differ by a pair of doubtful items. They
    are spared when the starts agreed, for a loss that is linear in the draws,
    on a partition from which all draws move no item.
    """
    problem = problem_from_draws(_affordable(task, best), task.loss)
    generators = task.rng.spawn(len(best))
    work = [Beginning(r.labels, r.origin, g) for r, g in zip(best, generators, strict=True)]
    ended = run_until(task, partial(_sweep_and_kick, task, problem, sure), work, "polishing")
    task.looks += sum(r.looks for r in ended)
    return {r.labels.tobytes(): e for r, e in zip(best, ended, strict=True)}


def _affordable(task: Task, best: list[Reached]) -> Draws:
    """All draws, or as many as the tables of this machine's memory hold."""
    assert task.draws is not None
    draws = task.draws
    free = available_memory()
    clusters = max(int(r.labels.max()) + 1 for r in best)
    a_draw = 4 * draws.n_items + len(best) * table_bytes(float(draws.n_clusters.mean()), clusters)
    if free is None or draws.n_draws * a_draw < 0.5 * free:
        return draws
    size = max(1, int(0.5 * free / a_draw))
    task.limits.append(
        f"memory: the search saw {size:,} of {draws.n_draws:,} distinct draws at a time"
    )
    return sample_draws(draws, size, task.rng)


def _sweep_and_kick(task: Task, problem: Problem, sure: bool, start: Beginning) -> Reached:
    walker = _walker(task, problem, start)
    walker.sweep()
    stayed = start.labels is not None and np.array_equal(walker.labels, start.labels)
    if not (sure and stayed):
        walker.kick(KICKED)
    return Reached(walker.labels, walker.loss, start.origin, walker.looks)
