"""The paper's greedy search over the Hasse diagram of partitions.

From a partition, the l closest partitions that cover it (two clusters merged)
and the l closest that it covers (one cluster split) are evaluated exactly,
and the search moves to the one with the smallest expected loss. It stops when
none is lower, or at ``max_iter``. Closeness is that of the chosen loss:
entropic losses measure x·log2(x), losses that count pairs x².

Reference: Wade and Ghahramani (2018), Section 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partita.kernels.arrays import Floats
from partita.kernels.search.hasse import Moves, columns_of, move_set, score_sets
from partita.kernels.search.moves import objective, slack
from partita.labels import Labels, canonical
from partita.search import problem as problems
from partita.search.methods.linkage import search_average, search_complete
from partita.search.methods.neighbours import closest
from partita.search.problem import (
    Problem,
    State,
    grown,
    has_counts,
    n_items_of,
    new_state,
    problem_of,
    reads_of,
)
from partita.search.task import Candidate, Task, distinct_candidates, run_until

TABLE_CELLS = 1 << 22
"""Most cells of a count table for which the search also starts from singletons."""

CHUNK_CELLS = 1e8
"""Table cells read between two looks at the clock, about a fifth of a second."""


@dataclass(frozen=True)
class Descent:
    """Where one start ended."""

    labels: Labels
    origin: str
    looks: int
    cut_short: bool
    """Whether ``max_iter`` ended it."""


def search(task: Task) -> list[Candidate]:
    """Greedy descents from several starts; each proposes where it ended.

    Per step O(l M s) from draws and O(l N s) from a similarity matrix, with s
    the number of items that a move carries: 1 for most splits.
    """
    problem = problem_of(task)
    starts = _starts(task, problem)
    generators = task.rng.spawn(len(starts))
    work = [(*start, rng) for start, rng in zip(starts, generators, strict=True)]
    reached = run_until(task, lambda s: _descend(task, problem, *s), work, "descending")
    task.looks += sum(r.looks for r in reached)
    unfinished = sum(r.cut_short for r in reached)
    if unfinished:
        task.limits.append(
            f"max_iter={task.options.max_iter} ended {unfinished} of {len(reached)} descents"
        )
    return [Candidate(r.labels, r.origin) for r in reached]


def _table_rows(problem: Problem) -> int:
    n = n_items_of(problem)
    return max(int(problem.row_draw.size), n) if has_counts(problem) else n


def _starts(task: Task, problem: Problem) -> list[Candidate]:
    """The user's partitions, the other methods' best, the two ends of the lattice, draws."""
    n = task.n_items
    cap = n if task.options.max_clusters is None else task.options.max_clusters
    starts = [Candidate(row, "user") for row in task.options.starts]
    if n <= problems.MATRIX_ITEMS:
        starts += search_average(task) + search_complete(task)
    starts.append(Candidate(np.zeros(n, np.int32), "one cluster"))
    if cap == n and _table_rows(problem) * n <= TABLE_CELLS:
        starts.append(Candidate(np.arange(n, dtype=np.int32), "singletons"))
    starts += [Candidate(row, "draw") for row in _random_draws(task, cap)]
    task.keep(starts)
    return distinct_candidates(starts)


def _random_draws(task: Task, cap: int) -> list[Labels]:
    """Draws of at most ``cap`` clusters, each as likely as its mass."""
    draws = task.draws
    if draws is None:
        return []
    allowed = np.flatnonzero(draws.n_clusters <= cap)
    if not allowed.size:
        return []
    mass = draws.probabilities[allowed]
    count = min(task.options.n_starts, allowed.size)
    chosen = task.rng.choice(allowed, count, replace=False, p=mass / mass.sum())
    return [draws.rows(int(m), int(m) + 1)[0] for m in chosen]


def _descend(
    task: Task, problem: Problem, start: Labels, origin: str, rng: np.random.Generator
) -> Descent:
    n = n_items_of(problem)
    most = task.options.neighbours or 2 * n
    cap = n if task.options.max_clusters is None else task.options.max_clusters
    state = new_state(problem, start)
    present = float(objective(problem, state))
    looks = 0
    cut_short = False
    for iteration in range(task.options.max_iter + 1):
        splits = int(state.k[0]) < cap
        moves = closest(state.slot_of, problem.terms, most, rng, splits=splits)
        scores = _scored(task, problem, state, moves)
        looks += moves.items.size
        best = int(scores.argmin()) if scores.size else -1
        if best < 0 or scores[best] >= present - slack(problem, state):
            break
        if iteration == task.options.max_iter:
            cut_short = True
            break
        if state.k[0] + 2 > state.sizes.size - 1:
            state = grown(problem, state)
        members = moves.items[moves.start[best] : moves.start[best + 1]]
        move_set(problem, state, members, int(moves.target[best]))
        present = float(scores[best])
        if task.clock.is_up():
            break
    return Descent(canonical(state.slot_of), origin, looks, cut_short)


def _scored(task: Task, problem: Problem, state: State, moves: Moves) -> Floats:
    """Expected loss after each move; infinite where time ran out."""
    scores = np.full(moves.source.size, np.inf)
    cells = max(reads_of(problem), n_items_of(problem))
    columns = columns_of(state)
    first = 0
    while first < scores.size:
        budget = moves.start[first] + max(1, int(CHUNK_CELLS / cells))
        last = max(first + 1, int(np.searchsorted(moves.start, budget, side="right")) - 1)
        score_sets(problem, state, columns, moves, first, last, scores)
        first = last
        if task.clock.is_up():
            break
    return scores
