"""Multistart: descents from several starts, iterated local search, refinement on all draws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from partita._resources import available_memory
from partita._text import words
from partita.draws import Draws
from partita.labels import Labels
from partita.search import settings
from partita.search.local_search import Constraints, LocalSearch, Patience
from partita.search.problem import (
    Problem,
    by_similarity,
    co_member_work,
    cost_per_item,
    of_each_draw,
    problem_from_draws,
    problem_of,
    search_bytes,
)
from partita.search.scan_moves import descend_watched
from partita.search.starts import (
    FROM_BEST,
    PERTURBED,
    SINGLETONS,
    StartPoint,
    Starts,
    sample_draws,
)
from partita.search.task import (
    LITTLE_MEMORY,
    Candidate,
    Task,
    run_interruptible_parallel,
    tie_threshold,
)


@dataclass(frozen=True)
class LocalMinimum:
    """Where a walk ended."""

    labels: Labels
    loss: float
    origin: str
    n_evaluated: int
    budget_exhausted: bool = False
    """Whether the walk was ended because it had done much work."""
    margin: NDArray[np.float64] | None = None
    """What moving each item would have cost when it was last looked at."""
    restarts: int = 0
    """Perturbations from which the walk was taken up again."""


def make_search(task: Task, problem: Problem, start: StartPoint) -> LocalSearch:
    """A local search at a beginning, within the user's limits."""
    search = LocalSearch(
        problem,
        start.labels,
        start.rng,
        Constraints(max_clusters=task.options.max_clusters),
        stop=task.clock.is_up,
        work_limit=_work_limit(task, problem),
    )
    if start.margin is not None:
        search.sweep_first(np.argsort(start.margin, kind="stable"))
    return search


def _work_limit(task: Task, problem: Problem) -> float:
    """Work after which a walk ends; without end where the user set a time instead."""
    if task.clock.deadline is not None:
        return np.inf
    clusters = 0 if task.draws is None else int(task.draws.n_clusters.mean())
    return max(
        settings.SEARCH_WORK,
        settings.SEARCH_SWEEPS
        * task.n_items
        * cost_per_item(problem, clusters, co_member_work(problem)),
    )


def local_search_from(
    task: Task, problem: Problem, rounds: int, start: StartPoint, *, brief: bool = False
) -> LocalMinimum:
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


def iterated_search_from(
    task: Task, problem: Problem, patience: Patience, start: StartPoint
) -> LocalMinimum:
    """Iterated local search from a local minimum."""
    search = make_search(task, problem, start)
    restarts = search.iterate(patience)
    return replace(reached(search, start.origin), restarts=restarts, budget_exhausted=False)


def tabu_search_from(task: Task, problem: Problem, start: StartPoint) -> LocalMinimum:
    """Tabu search from a local minimum."""
    search = make_search(task, problem, start)
    search.tabu_search(settings.TABU_IDLE, settings.TABU_WORK / search.cost_per_item)
    search.descend(1)
    return replace(reached(search, start.origin), budget_exhausted=False)


def reached(search: LocalSearch, origin: str, evaluated: int = 0) -> LocalMinimum:
    """Where a search has ended."""
    return LocalMinimum(
        search.labels,
        search.loss,
        origin,
        evaluated + search.n_evaluated,
        budget_exhausted=search.budget_exhausted,
        margin=search.scratch.margin,
    )


def distinct(reached: list[LocalMinimum]) -> list[LocalMinimum]:
    """Each partition once, lowest loss first."""
    unique = {r.labels.tobytes(): r for r in reversed(reached)}
    return sorted(unique.values(), key=lambda r: r.loss)


LABEL_BYTES = 20
"""Bytes of a label in lists of members, with what is needed to make them."""


def refine_on_all_draws(
    task: Task, problem: Problem, reached: list[LocalMinimum], agreed: bool
) -> list[LocalMinimum]:
    """The starts, the best of them where they end on all draws.

    Where the starts ``agreed``, the best partition's least certain items are scored on all draws.
    Otherwise, and where these do not settle, the best partitions get tables of all draws and
    ejections: the lowest valley of a sample need not be that of all draws, and the two often
    differ by a pair of items.
    """
    assert task.draws is not None
    best = distinct(reached)
    best = [
        r
        for r in best[: 1 if agreed else settings.LEADING]
        if r.loss <= best[0].loss * (1.0 + settings.NEAR)
    ]
    watched = _least_certain(task, problem, best[0]) if agreed else None
    if watched is not None and task.loss.is_linear:
        labels = descend_watched(task, best[0].labels, watched)
        if labels is not None:
            here = best[0].labels.tobytes()
            return [replace(r, labels=labels) if r.labels.tobytes() == here else r for r in reached]
    problem = problem_from_draws(affordable(task, task.draws), task.loss)
    generators = task.rng.spawn(len(best))
    work = [
        StartPoint(r.labels, r.origin, None, g, r.margin)
        for r, g in zip(best, generators, strict=True)
    ]
    walk = partial(_sweep_and_eject, task, problem, watched)
    ended = run_interruptible_parallel(task, walk, work, "polishing", search_bytes(problem))
    task.n_evaluated += sum(r.n_evaluated for r in ended)
    where = {r.labels.tobytes(): e for r, e in zip(best, ended, strict=True)}
    return [replace(where.get(r.labels.tobytes(), r), origin=r.origin) for r in reached]


def _least_certain(task: Task, problem: Problem, at: LocalMinimum) -> NDArray[np.int64]:
    """The items that cost least to move on the sample, ascending."""
    search = make_search(task, problem, StartPoint(at.labels, at.origin, None, task.rng))
    search.sweep()
    size = min(task.n_items, max(settings.UNCERTAIN, task.n_items // settings.UNCERTAIN_SHARE))
    return np.sort(np.argsort(search.scratch.margin, kind="stable")[:size])


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


def _sweep_and_eject(
    task: Task, problem: Problem, watched: NDArray[np.int64] | None, start: StartPoint
) -> LocalMinimum:
    search = make_search(task, problem, start)
    if watched is None:
        search.sweep()
        search.eject(settings.FEW_UNCERTAIN)
    else:
        search.refine_among(watched, settings.FEW_UNCERTAIN)
    return LocalMinimum(search.labels, search.loss, start.origin, search.n_evaluated)


BUDGET_EXHAUSTED = (
    "work: the search was ended while single items still moved, because partitions with many "
    "clusters take long to improve; with time_limit=... it goes on until then"
)
"""The limit that is reported for searches that did not end by themselves."""


def search(task: Task) -> list[Candidate]:
    """Explore from many starts until they agree, then polish the best on all draws."""
    problem, sample = exploration_problem(task)
    is_sample = not by_similarity(task) and sample is not task.draws
    reached = multistart_from(task, problem, sample)
    task.keep([Candidate(r.labels, r.origin) for r in reached])
    if is_sample and not task.clock.is_up():
        reached = refine_on_all_draws(
            task, problem, reached, len(kinds_at_best(reached)) >= settings.KINDS
        )
    return [Candidate(r.labels, r.origin) for r in reached]


def exploration_problem(task: Task) -> tuple[Problem, Draws | None]:
    """The problem that starts explore, and a sample of the draws where there are any."""
    sample = None if task.draws is None else _sample(task)
    if by_similarity(task):
        return problem_of(task), sample
    assert sample is not None
    return problem_from_draws(sample, task.loss), sample


def _sample(task: Task) -> Draws:
    assert task.draws is not None
    most = settings.MOST_DRAWS if task.loss.is_linear else settings.MOST_DRAWS_NONLINEAR
    size = int(np.clip(settings.SAMPLE_LABELS // task.n_items, settings.FEWEST_DRAWS, most))
    return affordable(task, sample_draws(task.draws, size, task.rng))


def multistart_from(task: Task, problem: Problem, sample: Draws | None) -> list[LocalMinimum]:
    """Descend from starts of several kinds, then iterated local search from the best ends."""
    starts = Starts(task, problem, sample)
    ends = _descended(task, problem, starts.first(), settings.LEADING)
    if len(kinds_at_best(ends)) < settings.KINDS and not _is_over(task, ends):
        more = starts.more(distinct(ends)[0].labels)
        ends += _descended(task, problem, more, len(more))
    ends = _iterated(task, problem, ends)
    if any(r.budget_exhausted for r in ends):
        task.limits.append(BUDGET_EXHAUSTED)
    return [*ends, *_dissolved(task, sample, ends)]


def _is_over(task: Task, ends: list[LocalMinimum]) -> bool:
    return task.clock.is_up() or any(r.budget_exhausted for r in ends)


def _descended(
    task: Task, problem: Problem, batch: list[StartPoint], most: int
) -> list[LocalMinimum]:
    walk = partial(local_search_from, task, problem, 0)
    swept = run_interruptible_parallel(task, walk, batch, "sweeping", search_bytes(problem))
    return _move_clusters(task, problem, swept, most)


def _iterated(task: Task, problem: Problem, ends: list[LocalMinimum]) -> list[LocalMinimum]:
    """Iterated local search from the best ends; tabu search, too, where starts of nonlinear losses
    end apart.
    """
    if _is_over(task, ends):
        return ends
    each, nonlinear = search_bytes(problem), of_each_draw(problem)
    agree = len(kinds_at_best(ends)) >= settings.KINDS
    chains = settings.LEADING_NONLINEAR if nonlinear else 1 if agree else settings.LEADING
    search = partial(iterated_search_from, task, problem, _patience(task, nonlinear, agree))
    for _ in range(settings.ALTERNATIVES):
        lead = distinct(ends)[:chains]
        rngs = task.rng.spawn(len(lead))
        begin = [
            StartPoint(r.labels, PERTURBED, None, g, r.margin)
            for r, g in zip(lead, rngs, strict=True)
        ]
        ends = [*ends, *run_interruptible_parallel(task, search, begin, "iterated search", each)]
        if agree or not nonlinear or _is_over(task, ends):
            break
        best = distinct(ends)[0]
        start = StartPoint(best.labels, PERTURBED, None, task.rng.spawn(1)[0])
        tabu = partial(tabu_search_from, task, problem)
        ends += run_interruptible_parallel(task, tabu, [start], "tabu search", each)
        if tie_threshold(ends[-1].loss) >= best.loss or _is_over(task, ends):
            break
    task.n_evaluated += sum(r.n_evaluated for r in ends if r.origin == PERTURBED)
    task.restarts += sum(r.restarts for r in ends)
    return ends


def _patience(task: Task, nonlinear: bool, agree: bool) -> Patience:
    """How long restarts go on, in proportion to the user's number of starts."""
    share, times = task.options.n_starts / settings.DEFAULT_STARTS, 1
    work, returns = settings.LITTLE_WORK, settings.RETURNS
    if nonlinear:
        times, returns = settings.NONLINEAR_TIMES, settings.RETURNS_NONLINEAR
    if nonlinear or not agree:
        work = settings.MUCH_WORK
    most = max(1, round(share * returns)) if agree else -1
    total = settings.TOTAL_WORK * share * work
    return Patience(task.options.n_starts * times, share * work, total, most)


def _dissolved(task: Task, sample: Draws | None, reached: list[LocalMinimum]) -> list[LocalMinimum]:
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
    return [LocalMinimum(labels, loss, SINGLETONS, 0)]


def kinds_at_best(reached: list[LocalMinimum]) -> set[str]:
    """Kinds of starts at the lowest loss, without those that set out from there."""
    lowest = tie_threshold(min(r.loss for r in reached))
    return {r.origin for r in reached if r.loss <= lowest and r.origin not in FROM_BEST}


def _move_clusters(
    task: Task, problem: Problem, swept: list[LocalMinimum], most: int
) -> list[LocalMinimum]:
    """Cluster moves from the best different partitions of a batch; equal ones share the result.

    Where different kinds of starts have met already, from there alone and briefly.
    """
    met = len(kinds_at_best(swept)) >= settings.KINDS
    different = distinct(swept)[: 1 if met else most]
    generators = task.rng.spawn(len(different))
    work = [
        StartPoint(r.labels, r.origin, None, g) for r, g in zip(different, generators, strict=True)
    ]
    walk = partial(local_search_from, task, problem, settings.ROUNDS, brief=met)
    moved = run_interruptible_parallel(task, walk, work, "moving clusters", search_bytes(problem))
    task.n_evaluated += sum(r.n_evaluated for r in (*swept, *moved))
    where = {r.labels.tobytes(): m for r, m in zip(different, moved, strict=True)}
    return [replace(where.get(r.labels.tobytes(), r), origin=r.origin) for r in swept]
