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
from partita.kernels.search.types import LANES
from partita.labels import Labels
from partita.search.methods.polish import affordable, polish
from partita.search.methods.shake import shaken
from partita.search.methods.starts import FROM_BEST, SINGLETONS, Starts, places_items
from partita.search.methods.walks import Beginning, Reached, descend_from, distinct, sample_draws
from partita.search.problem import (
    Problem,
    by_similarity,
    of_each_draw,
    problem_from_draws,
    problem_of,
    reads_of,
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

LITTLE_WORK, MUCH_WORK = 4e6, 1.5e8
"""Table cells read, some hundredths and some tenths of a second, before a search ends because
kinds of starts agree, or because the last two or three batches found nothing lower."""

SMALL = 40_000
"""Labels up to which a loss that cannot judge an allocation is given much work, also when its
starts agree: they do so at the wrong place more often, most of all where items and draws are
few."""

TINY, TINY_TIMES = 12_000, 4.0
"""Labels up to which it is given so many times that work."""

LARGE, COARSE = 10, 1e-5
"""After so many times that work one batch that finds nothing lower, by this share, is enough."""

TIRED = (
    "work: the search was ended while single items still moved, because partitions of so many "
    "clusters take long to improve; with time_limit=... it goes on until then"
)
"""What is said of walks that did not end by themselves."""

LOOK = 5_000
"""Cells that could be read while an item is chosen and a move is set up."""

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
    """Walk from batches of starts until different kinds agree or nothing lower is found."""
    reached: list[Reached] = []
    best: list[Labels] = []
    sizes = [0]
    shaking, shaken_at = of_each_draw(problem), b""
    n_draws, each = reads_of(problem), walk_bytes(problem)
    little, much = _least_work(task, problem)
    for batch in Starts(task, problem, sample).batches(best):
        swept = run_until(task, partial(descend_from, task, problem, 0), batch, "sweeping", each)
        reached.extend(_move_clusters(task, problem, swept, MOVED if not reached else len(batch)))
        agree = len(kinds_at_best(reached)) >= KINDS
        cut = any(r.tired for r in reached)
        lead = distinct(reached)[0].labels
        cells = (int(lead.max()) + 1 + LANES) * n_draws + LOOK
        if shaking and not (agree or cut) and lead.tobytes() != shaken_at:
            reached = _shaken(task, problem, reached)
            lead = distinct(reached)[0].labels
            shaken_at = lead.tobytes()
        best[:] = [lead]
        worked = task.looks * cells
        met = agree and worked > little
        patience = 1 if worked > LARGE * MUCH_WORK else 2 if little < much else 3
        coarse = COARSE if worked > LARGE * MUCH_WORK else 0.0
        tired = _seen(reached, sizes[max(0, len(sizes) - patience)], coarse) and worked > much
        if cut:
            task.limits.append(TIRED)
        if task.clock.is_up() or met or tired or cut:
            break
        sizes.append(len(reached))
    return [*reached, *_dissolved(task, sample, reached)]


def _shaken(task: Task, problem: Problem, reached: list[Reached]) -> list[Reached]:
    """Where wandering leads from the best partition so far; all that reached it share the end."""
    best = distinct(reached)[0]
    shake = partial(shaken, task, problem)
    (end,) = run_until(task, shake, [best], "wandering from the best", walk_bytes(problem))
    task.looks += end.looks - best.looks
    here = best.labels.tobytes()
    return [replace(end, origin=r.origin) if r.labels.tobytes() == here else r for r in reached]


def _least_work(task: Task, problem: Problem) -> tuple[float, float]:
    """What is read before kinds of starts that agree are believed, and before a search tires."""
    labels = task.n_items * reads_of(problem)
    if places_items(task.loss, problem) or labels > SMALL:
        return LITTLE_WORK, MUCH_WORK
    much = MUCH_WORK * (TINY_TIMES if labels <= TINY else 1.0)
    return much, much


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


def _seen(reached: list[Reached], earlier: int, coarse: float) -> bool:
    """Whether the lowest loss, or nearly, was reached among the starts before the last batches."""
    lowest = window(min(r.loss for r in reached)) * (1.0 + coarse)
    return any(r.loss <= lowest for r in reached[:earlier])


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
