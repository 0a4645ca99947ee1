"""The workhorse for all losses: item and cluster moves from many starts.

Starts explore a small sample of the draws, where a sweep costs little; the
best partitions they reach are then polished on all draws. Losses that need
only the similarity matrix explore with that matrix, whose cost does not grow
with the number of draws.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from partita.draws import Draws
from partita.search.methods.polish import affordable, polish
from partita.search.methods.starts import FROM_BEST, PERTURBED, SINGLETONS, Starts
from partita.search.methods.walks import (
    Beginning,
    Reached,
    descend_from,
    distinct,
    iterate_from,
    sample_draws,
    tabu_from,
)
from partita.search.problem import (
    Problem,
    by_similarity,
    of_each_draw,
    problem_from_draws,
    problem_of,
    walk_bytes,
)
from partita.search.task import Candidate, Task, run_until, window

SAMPLE_LABELS = 150_000
MOST_DRAWS, FEWEST_DRAWS = 500, 100
"""Starts explore a sample of the draws of about so many labels, within limits on its draws."""

KINDS = 3
"""Different kinds of starts that must end at the same loss before they are believed."""

MOVED = 2
"""How many different partitions of the first batch go on with cluster moves."""

DEFAULT_STARTS = 64
"""Restarts in a row without a gain after which a search ends, where they cost little."""

LITTLE_WORK, MUCH_WORK, NONLINEAR_WORK = 2e7, 5e7, 3e8
"""Table cells read by such restarts after which it ends, where they cost more: if kinds of starts
have met, if not, and for losses that are not linear, which have many more local minima."""

NONLINEAR_TIMES = 4
"""Times as many restarts for these."""

CHAINS = 2
"""Partitions from which iterated local search begins."""

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
    chains = 1 if agree and not nonlinear else CHAINS
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
