"""Multistart: descents from several starts, iterated local search, refinement on all draws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from partita._resources import available_memory
from partita._text import words
from partita.draws import Draws
from partita.labels import Labels, canonical
from partita.search.local_search import Constraints, LocalSearch
from partita.search.problem import (
    Problem,
    by_similarity,
    companion_cells,
    look_cells,
    of_each_draw,
    problem_from_draws,
    problem_of,
    walk_bytes,
)
from partita.search.scan_moves import single_moves
from partita.search.starts import (
    FROM_BEST,
    PERTURBED,
    SINGLETONS,
    Beginning,
    Starts,
    sample_draws,
)
from partita.search.task import LITTLE_MEMORY, Candidate, Task, run_until, window

TABU_IDLE, TABU_CELLS = 200, 6e8
"""Moves in a row without a gain, and table cells read, after which a tabu search ends."""

WALK_CELLS, WALK_SWEEPS = 5e9, 50
"""Table cells read, a few seconds, and sweeps at the draws' own number of clusters, whichever
is more, after which a walk ends. Only estimates of very many clusters get there."""


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


SAMPLE_LABELS = 150_000
MOST_DRAWS, FEWEST_DRAWS = 500, 100
"""Starts explore a sample of the draws of about this number of labels, between these limits."""

KINDS = 3
"""Different kinds of starts that must end at the same loss before they are believed."""

MOVED = 2
"""How many different partitions of the first batch go on with cluster moves."""

DEFAULT_STARTS = 64
"""Restarts in a row without a gain after which a search ends, where they cost little."""

LITTLE_WORK, MUCH_WORK, NONLINEAR_WORK = 6e6, 5e7, 1e8
"""Table cells read by such restarts after which it ends, where they cost more: if kinds of starts
have met, if not, and for losses that are not linear, which have many more local minima."""

NONLINEAR_TIMES = 2
"""Times as many restarts for these."""

CHAINS, NONLINEAR_CHAINS = 2, 6
"""Partitions from which iterated local search begins, and for losses that are not linear.
Crossing modes under ID and two modes under NID, four seeds each: 0.15% lower on average and no
miss instead of one, for 0.9 and 0.3 times the processor time of 2 with three times the work and
twice the restarts each."""

TIRED = (
    "work: the search was ended while single items still moved, because partitions of so many "
    "clusters take long to improve; with time_limit=... it goes on until then"
)
"""What is said of walks that did not end by themselves."""

ROUNDS = 8
"""Most alternations of cluster moves and sweeps in one walk."""


def search(task: Task) -> list[Candidate]:
    """Explore from many starts until they agree, then polish the best on all draws."""
    problem, sample = explored(task)
    is_sample = not by_similarity(task) and sample is not task.draws
    reached = explore(task, problem, sample)
    task.keep([Candidate(r.labels, r.origin) for r in reached])
    if is_sample and not task.clock.is_up():
        reached = polish(task, reached, len(kinds_at_best(reached)) >= KINDS)
    return [Candidate(r.labels, r.origin) for r in reached]


def explored(task: Task) -> tuple[Problem, Draws | None]:
    """The problem that starts explore, and a sample of the draws where there are any."""
    sample = None if task.draws is None else _sample(task)
    if by_similarity(task):
        return problem_of(task), sample
    assert sample is not None
    return problem_from_draws(sample, task.loss), sample


def _sample(task: Task) -> Draws:
    assert task.draws is not None
    size = int(np.clip(SAMPLE_LABELS // task.n_items, FEWEST_DRAWS, MOST_DRAWS))
    return affordable(task, sample_draws(task.draws, size, task.rng))


def explore(task: Task, problem: Problem, sample: Draws | None) -> list[Reached]:
    """Descend from starts of several kinds, then iterated local search from the best ends."""
    starts = Starts(task, problem, sample)
    ends = _descended(task, problem, starts.first(), MOVED)
    if len(kinds_at_best(ends)) < KINDS and not _is_over(task, ends):
        ends += _descended(task, problem, starts.more(distinct(ends)[0].labels), len(ends))
    ends = _iterated(task, problem, ends)
    if any(r.tired for r in ends):
        task.limits.append(TIRED)
    return [*ends, *_dissolved(task, sample, ends)]


def _is_over(task: Task, ends: list[Reached]) -> bool:
    return task.clock.is_up() or any(r.tired for r in ends)


def _descended(task: Task, problem: Problem, batch: list[Beginning], most: int) -> list[Reached]:
    walk = partial(descend_from, task, problem, 0)
    swept = run_until(task, walk, batch, "sweeping", walk_bytes(problem))
    return _move_clusters(task, problem, swept, most)


def _iterated(task: Task, problem: Problem, ends: list[Reached]) -> list[Reached]:
    """Iterated local search from the best ends; for losses of each draw's sums tabu search, too."""
    each, nonlinear = walk_bytes(problem), of_each_draw(problem)
    share = task.options.n_starts / DEFAULT_STARTS
    agree = len(kinds_at_best(ends)) >= KINDS
    work = NONLINEAR_WORK if nonlinear else LITTLE_WORK if agree else MUCH_WORK
    patience = task.options.n_starts * (NONLINEAR_TIMES if nonlinear else 1), share * work
    chains = NONLINEAR_CHAINS if nonlinear else 1 if agree else CHAINS
    walk = partial(iterate_from, task, problem, patience)
    while not _is_over(task, ends):
        lead = distinct(ends)[:chains]
        rngs = task.rng.spawn(len(lead))
        begin = [
            Beginning(r.labels, PERTURBED, None, g, r.doubt)
            for r, g in zip(lead, rngs, strict=True)
        ]
        found = run_until(task, walk, begin, "iterated local search", each)
        ends = [*ends, *found]
        if not nonlinear or _is_over(task, ends):
            break
        best = distinct(ends)[0]
        start = Beginning(best.labels, PERTURBED, None, task.rng.spawn(1)[0])
        found = run_until(task, partial(tabu_from, task, problem), [start], "tabu search", each)
        ends = [*ends, *found]
        if window(found[0].loss) >= best.loss:
            break
    task.looks += sum(r.looks for r in ends if r.origin == PERTURBED)
    task.restarts += sum(r.restarts for r in ends)
    return ends


def _dissolved(task: Task, sample: Draws | None, reached: list[Reached]) -> list[Reached]:
    """Singletons, where no start has tried them and they are better than what was reached."""
    cap = task.options.max_clusters
    if (cap is not None and cap < task.n_items) or any(r.origin == SINGLETONS for r in reached):
        return []
    labels = np.arange(task.n_items, dtype=np.int32)
    if sample is None or by_similarity(task):
        loss = task.evaluate(labels)
    else:
        loss = task.loss.expected(labels, sample, task.options.n_jobs)
    if loss >= min(r.loss for r in reached):
        return []
    return [Reached(labels, loss, SINGLETONS, 0)]


def kinds_at_best(reached: list[Reached]) -> set[str]:
    """Kinds of starts at the lowest loss, without those that set out from there."""
    lowest = window(min(r.loss for r in reached))
    return {r.origin for r in reached if r.loss <= lowest and r.origin not in FROM_BEST}


def _move_clusters(task: Task, problem: Problem, swept: list[Reached], most: int) -> list[Reached]:
    """Cluster moves from the best different partitions of a batch; equal ones share the result.

    Where different kinds of starts have met already, from there alone and briefly.
    """
    met = len(kinds_at_best(swept)) >= KINDS
    different = distinct(swept)[: 1 if met else most]
    generators = task.rng.spawn(len(different))
    work = [
        Beginning(r.labels, r.origin, None, g) for r, g in zip(different, generators, strict=True)
    ]
    walk = partial(descend_from, task, problem, ROUNDS, brief=met)
    moved = run_until(task, walk, work, "moving clusters", walk_bytes(problem))
    task.looks += sum(r.looks for r in (*swept, *moved))
    where = {r.labels.tobytes(): m for r, m in zip(different, moved, strict=True)}
    return [replace(where.get(r.labels.tobytes(), r), origin=r.origin) for r in swept]
