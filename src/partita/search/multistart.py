"""Multistart: descents from several starts, iterated local search, refinement on all draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import cycle
from typing import NamedTuple

import numpy as np

from partita._resources import available_memory
from partita._wording import words
from partita.draws import Draws, systematic
from partita.kernels.arrays import Floats
from partita.labels import Labels
from partita.losses.base import Loss
from partita.losses.builtin import VI, Binder
from partita.search import settings
from partita.search.linkage import best_cuts
from partita.search.local_search import FREE, Constraints, Items, LocalSearch, Patience
from partita.search.problem import (
    Problem,
    co_member_work,
    cost_per_item,
    has_counts,
    has_lists,
    of_each_draw,
    problem_from_draws,
    problem_from_similarity,
    problem_of,
    reads_of,
    search_bytes,
)
from partita.search.task import (
    LITTLE_MEMORY,
    Candidate,
    Task,
    run_interruptible_parallel,
    tie_threshold,
)

USER, DRAW, SINGLETONS = "user", "draw", "singletons"
NEAR_BEST, PERTURBED = "near minimiser", "perturbed best"
FROM_BEST = (NEAR_BEST, PERTURBED)
"""Start kinds derived from an earlier optimum; not counted as independent agreement."""

BUDGET_EXHAUSTED = (
    "work: the search was ended while single items still moved, because partitions with many "
    "clusters take long to improve; with time_limit=... it goes on until then"
)
"""The limit that is reported for searches that did not end by themselves."""

LABEL_BYTES = 20
"""Bytes of a label in lists of members, with what is needed to make them."""


class StartPoint(NamedTuple):
    """Starting point of a local search."""

    labels: Labels | None
    """A partition; items labelled −1, or all items, are placed one by one."""
    origin: str
    """Kind of start."""
    rng: np.random.Generator
    before: Problem | None = None
    """A neighbouring problem that is descended first."""
    margin: Floats | None = None
    """Estimated margin of each item; items with the smallest margin are scored first."""
    rounds_before: int = 1
    """Rounds of cluster moves there."""


@dataclass(frozen=True)
class LocalMinimum:
    """A local minimum and how it was reached."""

    labels: Labels
    loss: float
    origin: str
    n_evaluated: int
    margin: Floats
    """Cost of each item's best move."""
    budget_exhausted: bool = False
    """Whether the descent was ended because it had done much work."""
    restarts: int = 0
    """Perturbations from which the descent was taken up again."""


class Effort(NamedTuple):
    """Effort of a search."""

    leading: int = settings.LEADING
    """Different partitions that go on with moves of clusters, and on all draws."""
    rounds: int = settings.ROUNDS
    """Most alternations of moves of clusters and sweeps in one descent."""
    restarts: bool = True
    """Whether iterated local search follows."""


FULL, BRIEF = Effort(), Effort(leading=1, rounds=1, restarts=False)


class Multistart:
    """Descents from several starts, iterated local search from the best, refinement on all draws.

    Parameters
    ----------
    problem : Problem
        What the starts explore.
    sample : Draws or None
        The draws it was made of, where it was made of draws.
    constraints : Constraints, optional
        By default the user's limit on clusters.
    """

    def __init__(
        self,
        task: Task,
        problem: Problem,
        sample: Draws | None,
        constraints: Constraints | None = None,
    ) -> None:
        self.task, self.problem, self.sample = task, problem, sample
        self.constraints = constraints or Constraints(max_clusters=task.options.max_clusters)

    @property
    def is_on_sample(self) -> bool:
        """Whether the problem has fewer draws than the task."""
        return not self.task.by_similarity and self.sample is not self.task.draws

    def run(self) -> list[LocalMinimum]:
        """Local minima from starts of several kinds."""
        starts = Starts(self.task, self.problem, self.sample)
        minima = self.explore(starts.first(), starts.more)
        return [*minima, *self._try_singletons(minima)]

    def explore(
        self,
        starts: list[StartPoint],
        more: Callable[[Labels], list[StartPoint]] | None = None,
        effort: Effort = FULL,
    ) -> list[LocalMinimum]:
        """Local minima of the starts, and of ``more`` where different kinds end apart."""
        minima = self._descend_batch(starts, effort)
        agree = agreed(minima)
        if more is not None and not agree and not self._is_over(minima):
            batch = more(distinct(minima)[0].labels)
            minima += self._descend_batch(batch, effort._replace(leading=len(batch)))
        if effort.restarts:
            minima = self._iterate(minima, agree)
        if any(r.budget_exhausted for r in minima):
            self.task.log.limit(BUDGET_EXHAUSTED)
        return minima

    def _is_over(self, minima: list[LocalMinimum]) -> bool:
        return self.task.clock.is_up() or any(r.budget_exhausted for r in minima)

    def _run(
        self,
        search: Callable[[StartPoint], LocalMinimum | None],
        starts: Sequence[StartPoint],
        say: str,
        problem: Problem | None = None,
    ) -> list[LocalMinimum]:
        """Local minima of searches, on as many threads as memory holds tables for."""
        each = search_bytes(problem or self.problem)
        ended = run_interruptible_parallel(self.task, search, starts, say, each)
        reached = [end for end in ended if end is not None]
        self.task.log.n_evaluated += sum(r.n_evaluated for r in reached)
        self.task.log.restarts += sum(r.restarts for r in reached)
        return reached

    # ------------------------------------------------------------------ one start

    def _search(
        self, start: StartPoint, problem: Problem | None = None, items: Items | None = None
    ) -> LocalSearch:
        problem = problem or self.problem
        search = LocalSearch(
            problem,
            start.labels,
            start.rng,
            self.constraints,
            items=items,
            time_is_up=self.task.clock.is_up,
            work_limit=self._work_limit(problem),
        )
        if start.margin is not None and items is None:
            search.sweep_first(np.argsort(start.margin, kind="stable"))
        return search

    def _work_limit(self, problem: Problem) -> float:
        """Work after which a descent ends; without end where the user set a time instead."""
        task = self.task
        if task.clock.deadline is not None:
            return np.inf
        clusters = 0 if task.draws is None else int(task.draws.n_clusters.mean())
        cost = cost_per_item(problem, clusters, co_member_work(problem))
        return max(settings.SEARCH_WORK, settings.SEARCH_SWEEPS * task.n_items * cost)

    def descend(self, start: StartPoint, rounds: int, *, brief: bool = False) -> LocalMinimum:
        """Descend from a start; ``rounds`` of cluster moves at most."""
        evaluated = 0
        if start.before is not None:
            before = self._search(start, start.before)
            before.descend(start.rounds_before)
            evaluated = before.n_evaluated
            start = start._replace(labels=before.labels)
        search = self._search(start)
        search.descend(rounds, brief=brief)
        return _minimum(search, start.origin, evaluated)

    def _iterated_search(self, patience: Patience, start: StartPoint) -> LocalMinimum:
        search = self._search(start)
        restarts = search.iterate(patience)
        return replace(_minimum(search, PERTURBED), restarts=restarts, budget_exhausted=False)

    def _tabu_search(self, start: StartPoint) -> LocalMinimum:
        search = self._search(start)
        search.tabu_search(settings.TABU_IDLE, settings.TABU_WORK / search.cost_per_item)
        search.descend(1)
        return replace(_minimum(search, start.origin), budget_exhausted=False)

    # ------------------------------------------------------------------ many starts

    def _descend_batch(self, batch: list[StartPoint], effort: Effort) -> list[LocalMinimum]:
        stop = self.task.clock.is_up

        def descend(start: StartPoint) -> LocalMinimum | None:
            """Late starts are left out, but for whole partitions: candidates as they are."""
            needed = start is batch[0] or start.origin in (USER, DRAW)
            return self.descend(start, 0) if needed or not stop() else None

        swept = self._run(descend, batch, "sweeping")
        return swept if stop() else self._move_clusters(swept, effort)

    def _move_clusters(self, swept: list[LocalMinimum], effort: Effort) -> list[LocalMinimum]:
        """Cluster moves from the best different partitions of a batch; equal ones share the result.

        Not where different kinds of starts have met already, unless constraints are in the way of
        single items: of 418 cases of the contest under linear losses none ends higher for it.
        """
        if self.constraints == FREE and agreed(swept):
            return swept
        different = distinct(swept)[: effort.leading]
        descend = partial(self.descend, rounds=effort.rounds, brief=effort.rounds == 1)
        begin = from_minima(self.task, different, in_order=False)
        return _replaced(swept, different, self._run(descend, begin, "moving clusters"))

    def _iterate(self, minima: list[LocalMinimum], agree: bool) -> list[LocalMinimum]:
        """Iterated local search from the best ends. Where starts of nonlinear losses end apart and
        clusters may come and go, it begins again as long as it, or a tabu search, has ended lower.

        Contest 1207 (NID) is missed for 6 of 24 seeds where only a tabu search may lead to another
        round, for 1 with this; 158 (ID) ends 0.12% too high without tabu search, 0.03% with it.
        """
        if self._is_over(minima):
            return minima
        nonlinear, free = of_each_draw(self.problem), not self.constraints.fix_clusters
        chains = settings.ALTERNATIVES if free and (nonlinear or not agree) else 1
        search = partial(self._iterated_search, self._patience(nonlinear, agree))
        for _ in range(settings.ALTERNATIVES):
            begin = distinct(minima)[:chains]
            minima = [*minima, *self._run(search, from_minima(self.task, begin), "iterated search")]
            if agree or not (nonlinear and free) or self._is_over(minima):
                break
            best = distinct(minima)[0]
            if tie_threshold(best.loss) >= begin[0].loss:
                start = StartPoint(best.labels, PERTURBED, self.task.rng.spawn(1)[0])
                minima += self._run(self._tabu_search, [start], "tabu search")
                if tie_threshold(minima[-1].loss) >= best.loss or self._is_over(minima):
                    break
        return minima

    def _patience(self, nonlinear: bool, agree: bool) -> Patience:
        """How long restarts go on, in proportion to the user's number of starts."""
        n_starts = self.task.options.n_starts
        share = n_starts / settings.DEFAULT_STARTS
        times = settings.NONLINEAR_TIMES if nonlinear else 1
        work = share * (settings.MUCH_WORK if nonlinear or not agree else settings.LITTLE_WORK)
        returns = max(1, round(share * settings.RETURNS * times)) if agree else -1
        return Patience(n_starts * times, work, settings.TOTAL_WORK * work, returns)

    def _try_singletons(self, minima: list[LocalMinimum]) -> list[LocalMinimum]:
        """Singletons, where starts end apart, none has tried them and they are better."""
        task, sample = self.task, self.sample
        tried = agreed(minima) or any(r.origin == SINGLETONS for r in minima)
        if tried or task.max_clusters < task.n_items:
            return []
        labels = np.arange(task.n_items, dtype=np.int32)
        if sample is None or task.by_similarity:
            loss = task.evaluate(labels)
        else:
            loss = task.loss.expected(labels, sample, task.options.n_jobs)
        lower = loss < min(r.loss for r in minima)
        margin = np.zeros(task.n_items)
        return [LocalMinimum(labels, loss, SINGLETONS, 0, margin)] if lower else []

    # ------------------------------------------------------------------ all draws

    @cached_property
    def _problem_of_all_draws(self) -> Problem:
        assert self.task.draws is not None
        return problem_from_draws(affordable(self.task, self.task.draws), self.task.loss)

    def refine(self, minima: list[LocalMinimum], effort: Effort = FULL) -> list[LocalMinimum]:
        """The local minima, the best of them refined on all draws.

        Where the starts agreed, the best partition's least certain items are scored on all draws.
        Otherwise, and where these do not settle, the best partitions get tables of all draws and
        ejections: the lowest minimum of a sample need not be that of all draws, and the two often
        differ by a pair of items.
        """
        from partita.search.blockwise import descend_on_items  # which searches by this module

        task, free, agree = self.task, not self.constraints.fix_clusters, agreed(minima)
        best = distinct(minima)[: 1 if agree else effort.leading]
        best = [r for r in best if r.loss <= best[0].loss * (1.0 + settings.NEAR)]
        watched = None
        if agree and free:  # the items that cost least to move on the sample
            size = max(settings.UNCERTAIN, task.n_items // settings.UNCERTAIN_SHARE)
            watched = np.sort(np.argsort(best[0].margin, kind="stable")[:size])
        if watched is not None and task.loss.is_linear:
            labels = descend_on_items(task, best[0].labels, watched)
            if labels is not None:
                return _replaced(minima, best, [replace(best[0], labels=labels)])
        problem = self._problem_of_all_draws

        def refine_one(start: StartPoint) -> LocalMinimum:
            search = self._search(start, problem, watched)
            search.refine(settings.FEW_UNCERTAIN)
            return _minimum(search, start.origin)

        begin = from_minima(task, best)
        return _replaced(minima, best, self._run(refine_one, begin, "refining", problem))


def _minimum(search: LocalSearch, origin: str, evaluated: int = 0) -> LocalMinimum:
    """The local minimum at which a search has stopped."""
    return LocalMinimum(
        search.labels,
        search.loss,
        origin,
        evaluated + search.n_evaluated,
        search.scratch.margin,
        search.budget_exhausted,
    )


def distinct(minima: list[LocalMinimum]) -> list[LocalMinimum]:
    """Each partition once, lowest loss first."""
    unique = {r.labels.tobytes(): r for r in reversed(minima)}
    return sorted(unique.values(), key=lambda r: r.loss)


def agreed(minima: list[LocalMinimum]) -> bool:
    """Whether several kinds of starts, without those that set out from there, ended at the best."""
    lowest = tie_threshold(min(r.loss for r in minima))
    kinds = {r.origin for r in minima if r.loss <= lowest and r.origin not in FROM_BEST}
    return len(kinds) >= settings.KINDS


def from_minima(
    task: Task, minima: Sequence[LocalMinimum], *, in_order: bool = True
) -> list[StartPoint]:
    """Starts at the ends of earlier descents, each with random numbers of its own.

    Where ``in_order``, the items that cost least to move there are evaluated first.
    """
    generators = task.rng.spawn(len(minima))
    return [
        StartPoint(end.labels, end.origin, rng, margin=end.margin if in_order else None)
        for end, rng in zip(minima, generators, strict=True)
    ]


def _replaced(
    minima: list[LocalMinimum], before: list[LocalMinimum], after: list[LocalMinimum]
) -> list[LocalMinimum]:
    """The local minima, those in ``before`` replaced by ``after``."""
    where = {b.labels.tobytes(): a for b, a in zip(before, after, strict=True)}
    return [replace(where.get(r.labels.tobytes(), r), origin=r.origin) for r in minima]


def search(task: Task) -> list[Candidate]:
    """Explore from many starts until they agree, then refine the best on all draws."""
    multistart = Multistart(task, *exploration_problem(task))
    minima = multistart.run()
    task.log.found.extend(as_candidates(minima))
    if multistart.is_on_sample and not task.clock.is_up():
        minima = multistart.refine(minima)
    return as_candidates(minima)


def as_candidates(minima: list[LocalMinimum]) -> list[Candidate]:
    """Local minima as candidates."""
    return [Candidate(end.labels, end.origin) for end in minima]


def exploration_problem(task: Task) -> tuple[Problem, Draws | None]:
    """The problem that starts explore, and a sample of the draws where there are any."""
    sample = None
    if task.draws is not None:
        most = settings.MOST_DRAWS if task.loss.is_linear else settings.MOST_DRAWS_NONLINEAR
        size = int(np.clip(settings.SAMPLE_LABELS // task.n_items, settings.FEWEST_DRAWS, most))
        sample = affordable(task, sample_draws(task.draws, size, task.rng))
    if task.by_similarity:
        return problem_of(task), sample
    assert sample is not None
    return problem_from_draws(sample, task.loss), sample


def affordable(task: Task, draws: Draws) -> Draws:
    """All these draws, or as many as the lists of this machine's memory hold."""
    a_draw = LABEL_BYTES * draws.n_items
    if draws.n_draws * a_draw <= LITTLE_MEMORY:
        return draws
    free = available_memory()
    if free is None or draws.n_draws * a_draw < 0.5 * free:
        return draws
    size = max(1, int(0.5 * free / a_draw))
    task.log.limit(
        f"memory: the search saw {size:,} of {draws.n_draws:,} distinct "
        f"{words(draws.kind).draws} at a time"
    )
    return sample_draws(draws, size, task.rng)


# ------------------------------------------------------------------ starts


Place = tuple[Labels | None, str, Problem | None]


class Starts:
    """Batches of starting partitions."""

    def __init__(self, task: Task, problem: Problem, sample: Draws | None) -> None:
        self._task = task
        self._problem = problem
        self._sample = sample
        self._drawn = _promising_draws(task, sample)
        self._cuts = iter(_cuts(task, sample))
        self._nearby = _neighbours(task, problem, sample)

    def first(self) -> list[StartPoint]:
        """Starts that are always tried: the user's, and one of each kind."""
        user = [(row, USER, None) for row in self._task.options.starts]
        own = [self._cut(), self._draw() or self._one(), self._allocation()]
        return self._begin([*user, *own], 0)

    def more(self, best: Labels) -> list[StartPoint]:
        """Starts that are tried where the first ones end apart."""
        near = [self._neighbour(best), self._neighbour(best)]
        own = [self._one(), self._singletons(), self._draw() or self._allocation()]
        return self._begin([*near, *own], 1)

    def _begin(self, places: Sequence[Place | None], batch: int) -> list[StartPoint]:
        plan = [p for p in places if p is not None]
        rounds = 0 if batch == 0 and self._task.loss.has_price else 1
        generators = self._task.rng.spawn(len(plan))
        return [
            StartPoint(labels, origin, rng, before, rounds_before=rounds)
            for (labels, origin, before), rng in zip(plan, generators, strict=True)
        ]

    def _cut(self) -> Place | None:
        """A cut; of some of the items where these are many, the others placed by a neighbouring
        loss where the loss cannot judge half an allocation.
        """
        cut = next(self._cuts, None)
        if cut is None:
            return None
        judges = cut.min() >= 0 or scores_partial(self._task.loss, self._problem)
        return cut, "average linkage", None if judges else next(self._nearby)[1]

    def _draw(self) -> Place | None:
        draw = next(self._drawn, None)
        return None if draw is None else (draw, DRAW, None)

    def _one(self) -> Place:
        return np.zeros(self._task.n_items, np.int32), "one cluster", None

    def _singletons(self) -> Place | None:
        n, reads = self._task.n_items, reads_of(self._problem)
        cells = reads if has_lists(self._problem) else float(n) * reads
        if n * cells > settings.STEP_WORK or self._task.max_clusters < n:
            return None
        return np.arange(n, dtype=np.int32), SINGLETONS, None

    def _allocation(self) -> Place | None:
        """Items one by one; by a neighbouring price where there is one, and by a neighbouring loss
        where the loss cannot judge half an allocation.
        """
        loss = self._task.loss
        if not loss.has_price and scores_partial(loss, self._problem):
            return None, "allocation", None
        near = next(self._nearby, None)
        return None if near is None else (None, near[0], near[1])

    def _neighbour(self, best: Labels) -> Place | None:
        near = next(self._nearby, None)
        return None if near is None else (best, NEAR_BEST, near[1])


def scores_partial(loss: Loss, problem: Problem) -> bool:
    """Whether partial partitions can be scored under the loss."""
    return loss.is_linear or not (has_counts(problem) or has_lists(problem))


def _promising_draws(task: Task, sample: Draws | None) -> Iterator[Labels]:
    """Draws at random, but first the best of as many as are quickly compared."""
    draws = task.draws
    if draws is None or sample is None:
        return
    few = sample_draws(sample, settings.JUDGES, task.rng)
    many = int(settings.SAMPLE_LABELS / (few.n_draws * task.n_items))
    positive = int((draws.probabilities > 0).sum())
    size = min(max(task.options.n_starts, many), positive)
    chosen = task.rng.choice(draws.n_draws, size, replace=False, p=draws.probabilities).tolist()
    if many > 1:
        losses = _approximate_losses(task, [draws.rows(m, m + 1)[0] for m in chosen[:many]], few)
        chosen.insert(0, chosen.pop(int(np.argmin(losses))))
    for m in chosen:
        yield draws.rows(m, m + 1)[0]


def _approximate_losses(task: Task, candidates: list[Labels], judges: Draws) -> list[float]:
    """About the expected losses of some partitions."""
    if task.by_similarity or not task.loss.averages_distances:
        judge = task if task.by_similarity else task.on(judges)
        return [judge.evaluate(labels) for labels in candidates]
    rows, clusters = judges.rows(0, judges.n_draws), judges.n_clusters
    measure, mass = task.loss.against(task.n_items), judges.probabilities
    return [float(measure(labels, rows, clusters) @ mass) for labels in candidates]


def _cuts(task: Task, sample: Draws | None) -> list[Labels]:
    """Cuts of average linkage at which the loss is locally lowest, best first."""
    n = task.n_items
    if n <= settings.LINKED_ITEMS:
        # The similarity of all draws is there already where a search goes by it.
        return best_cuts(task if sample is None or task.by_similarity else task.on(sample))
    if sample is None:
        return []
    items = np.sort(task.rng.choice(n, settings.LINKED_ITEMS, replace=False))
    some = Draws(np.ascontiguousarray(sample.labels[:, items]), weights=sample.weights)
    cuts = best_cuts(task.on(some))
    whole = []
    for cut in cuts:
        labels = np.full(n, -1, np.int32)
        labels[items] = cut
        whole.append(labels)
    return whole


def _neighbours(
    task: Task, problem: Problem, sample: Draws | None
) -> Iterator[tuple[str, Problem]]:
    """Problems whose minimisers are likely near: other prices, or the two linear losses."""
    loss = task.loss
    if loss.has_price:
        for factor in cycle(settings.PRICE_RATIOS):
            ratio = factor * loss.price / (2.0 - loss.price)
            price = 2.0 * ratio / (1.0 + ratio)
            yield (
                f"minimiser of a={price:.2g}",
                problem._replace(form=loss.with_price(price).form(task.n_items)),
            )
    prices = (1.0, 0.75, 1.25)
    losses = [*loss.near_losses, *(kind(a) for a in prices for kind in (VI, Binder))]
    made: dict[int, Problem] = {}
    for position in cycle(range(len(losses))):
        loss = losses[position]
        if position not in made:
            if sample is not None:
                made[position] = problem_from_draws(sample, loss)
            elif loss.uses_similarity:
                made[position] = problem_from_similarity(task.similarity, loss)
            else:
                continue
        yield f"minimiser of {loss!r}", made[position]


def sample_draws(draws: Draws, size: int, rng: np.random.Generator) -> Draws:
    """A systematic sample of the posterior: spread over the chain, in proportion to weight."""
    if draws.n_draws <= size:
        return draws
    index, counts = np.unique(systematic(draws.probabilities, size, rng), return_counts=True)
    labels = np.ascontiguousarray(draws.labels_at(index))
    clusters = draws.n_clusters[index]
    return draws._with(labels=labels, counts=clusters, weights=counts, chain=None, item_names=None)
