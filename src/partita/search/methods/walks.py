"""One walk of a search: where it begins, and where it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.draws import Draws, systematic
from partita.labels import Labels
from partita.search.descent import Walker
from partita.search.problem import Problem, companion_cells, look_cells, of_each_draw
from partita.search.task import Task

FALL_CELLS = 3e8
"""Table cells read, some tenths of a second, while the item that gains most is moved first."""

IDLE, WANDER_CELLS = 200, 6e8
"""Moves in a row that lead nowhere lower, and table cells read, after which wandering ends."""

WALK_CELLS, WALK_SWEEPS = 5e9, 50
"""Table cells read, a few seconds, and sweeps at the draws' own number of clusters, whichever
is more, after which a walk ends. Only estimates of very many clusters get there."""


class Beginning(NamedTuple):
    """Where a walk begins."""

    labels: Labels | None
    """A partition; items labelled −1, or all items, are placed one by one."""
    origin: str
    """What kind of start it is."""
    before: Problem | None
    """A neighbouring problem that is walked downhill first."""
    rng: np.random.Generator
    doubt: NDArray[np.float64] | None = None
    """What moving each item is thought to cost: the most doubtful ones are looked at first."""
    rounds_before: int = 1
    """Rounds of cluster moves there."""
    best_first: bool = False
    """Whether the item that gains most is moved first, one after the other."""
    wanders: bool = False
    """Whether the walk goes on from there, uphill where it must."""


@dataclass(frozen=True)
class Reached:
    """Where a walk ended."""

    labels: Labels
    loss: float
    origin: str
    looks: int
    tired: bool = False
    """Whether the walk was ended because it had done much work."""
    doubt: NDArray[np.float64] | None = None
    """What moving each item would have cost when it was last looked at."""


def walker_from(task: Task, problem: Problem, start: Beginning) -> Walker:
    """A walker at a beginning, who keeps to the user's limits."""
    walker = Walker(
        problem,
        start.labels,
        start.rng,
        max_clusters=task.options.max_clusters,
        stop=task.clock.is_up,
        most_cells=_most_cells(task, problem),
    )
    if start.doubt is not None:
        walker.look_first(np.argsort(start.doubt, kind="stable"))
    return walker


def _most_cells(task: Task, problem: Problem) -> float:
    """Work after which a walk ends; without end where the user set a time instead."""
    if task.clock.deadline is not None:
        return np.inf
    clusters = 0 if task.draws is None else int(task.draws.n_clusters.mean())
    return max(
        WALK_CELLS,
        WALK_SWEEPS * task.n_items * look_cells(problem, clusters, companion_cells(problem)),
    )


def descend_from(
    task: Task, problem: Problem, rounds: int, start: Beginning, *, brief: bool = False
) -> Reached:
    """Walk downhill from a beginning; ``rounds`` of cluster moves at most."""
    looks = 0
    if start.before is not None:
        walker = walker_from(task, start.before, start)
        walker.descend(start.rounds_before)
        looks = walker.looks
        start = start._replace(labels=walker.labels)
    walker = walker_from(task, problem, start)
    if start.best_first:
        walker.fall(FALL_CELLS / walker.look_cells)
    if start.wanders:
        walker.wander(IDLE, WANDER_CELLS / walker.look_cells)
    walker.descend(rounds, brief=brief)
    if rounds and not brief and of_each_draw(problem):
        walker.trade(rounds)
    looks += walker.looks
    end = (walker.labels, walker.loss, start.origin, looks)
    return Reached(*end, tired=walker.tired, doubt=walker.scratch.margin)


def distinct(reached: list[Reached]) -> list[Reached]:
    """Each partition once, lowest loss first."""
    unique = {r.labels.tobytes(): r for r in reversed(reached)}
    return sorted(unique.values(), key=lambda r: r.loss)


def sample_draws(draws: Draws, size: int, rng: np.random.Generator) -> Draws:
    """A systematic sample of the posterior: spread over the chain, in proportion to weight."""
    if draws.n_draws <= size:
        return draws
    index, counts = np.unique(systematic(draws.probabilities, size, rng), return_counts=True)
    labels = np.ascontiguousarray(draws.labels_at(index))
    clusters = draws.n_clusters[index]
    return draws._with(labels=labels, counts=clusters, weights=counts, chain=None, item_names=None)
