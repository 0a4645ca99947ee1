"""One walk of a search: where it begins, and where it ended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.draws import Draws, systematic
from partita.labels import Labels
from partita.search.local_search import Constraints, LocalSearch
from partita.search.problem import Problem, companion_cells, look_cells
from partita.search.task import Task

TABU_IDLE, TABU_CELLS = 200, 6e8
"""Moves in a row without a gain, and table cells read, after which a tabu search ends."""

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
    restarts: int = 0
    """Perturbations from which the walk was taken up again."""


def make_search(task: Task, problem: Problem, start: Beginning) -> LocalSearch:
    """A local search at a beginning, within the user's limits."""
    search = LocalSearch(
        problem,
        start.labels,
        start.rng,
        Constraints(max_clusters=task.options.max_clusters),
        stop=task.clock.is_up,
        work_limit=_work_limit(task, problem),
    )
    if start.doubt is not None:
        search.sweep_first(np.argsort(start.doubt, kind="stable"))
    return search


def _work_limit(task: Task, problem: Problem) -> float:
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
    evaluated = 0
    if start.before is not None:
        before = make_search(task, start.before, start)
        before.descend(start.rounds_before)
        evaluated = before.n_evaluated
        start = start._replace(labels=before.labels)
    search = make_search(task, problem, start)
    search.descend(rounds, brief=brief)
    return reached(search, start.origin, evaluated)


def iterate_from(
    task: Task, problem: Problem, patience: tuple[int, float], start: Beginning
) -> Reached:
    """Iterated local search from a local minimum, until nothing lower was found for a while."""
    search = make_search(task, problem, start)
    restarts = search.iterate(*patience)
    return replace(reached(search, start.origin), restarts=restarts, tired=False)


def tabu_from(task: Task, problem: Problem, start: Beginning) -> Reached:
    """Tabu search from a local minimum."""
    search = make_search(task, problem, start)
    search.tabu_search(TABU_IDLE, TABU_CELLS / search.cost_per_item)
    search.descend(1)
    return replace(reached(search, start.origin), tired=False)


def reached(search: LocalSearch, origin: str, evaluated: int = 0) -> Reached:
    """Where a search has ended."""
    return Reached(
        search.labels,
        search.loss,
        origin,
        evaluated + search.n_evaluated,
        tired=search.budget_exhausted,
        doubt=search.scratch.margin,
    )


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
