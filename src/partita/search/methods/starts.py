"""Where walks begin: starts of different kinds, so that their agreement means something."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, cycle

import numpy as np

from partita.draws import Draws
from partita.labels import Labels
from partita.losses.base import Loss
from partita.losses.builtin import VI, Binder
from partita.search.methods.linkage import best_cuts
from partita.search.methods.shake import disturbed
from partita.search.methods.walks import Beginning, sample_draws
from partita.search.problem import (
    Problem,
    by_similarity,
    has_counts,
    has_lists,
    of_each_draw,
    problem_from_draws,
    problem_from_similarity,
    reads_of,
)
from partita.search.task import Task

LINKED_ITEMS = 1_000
"""Most items of the linkage that gives starts; of more items so many are drawn at random."""

JUDGES, JUDGED_LABELS = 200, 5e5
"""Draws, at most, that judge the draws to start from, and labels that are looked at for it."""

SINGLETON_CELLS = 2e8
"""Table cells, at most, that one sweep from singletons may read."""

FALL_CELLS_FROM_APART = 1e9
"""The same while all items, one after the other, leave where they stand alone."""

MOVED_SHARES = (0.05, 0.3)
"""Share of the items that are moved at random in the best partition so far."""

RATIOS = (1.7, 0.6, 2.9, 0.35)
"""Neighbouring prices: factors of a / (2 − a)."""


Place = tuple[Labels | None, str, Problem | None]

SINGLETONS = "singletons"
BEST_FIRST = "best item first"
NEAR_BEST, DISTURBED, WANDERED = "near minimiser", "disturbed best", "wandering"
WANDERING = (BEST_FIRST, WANDERED)
"""Kinds of starts that go on where nothing gains."""
FROM_BEST = (NEAR_BEST, DISTURBED, WANDERED)
"""Kinds of starts that set out from where others have been: no witnesses of their quality."""


class Starts:
    """Batches of starts of different kinds; later ones set out from the best partition so far."""

    def __init__(self, task: Task, problem: Problem, sample: Draws | None) -> None:
        self._task = task
        self._problem = problem
        self._sample = sample
        self._drawn = _promising_draws(task, sample)
        self._cuts = iter(_cuts(task, sample))
        self._nearby = _neighbours(task, problem, sample)

    def batches(self, best: list[Labels]) -> Iterator[list[Beginning]]:
        """Batches in turn; ``best`` holds the lowest partition once the first batch is done.

        The first holds what is always tried. No more than ``n_starts`` others follow.
        """
        left = self._task.options.n_starts
        for number in count():
            plan = [p for p in self._plan(number, best) if p is not None]
            if number == 0:
                plan = [(row, "user", None) for row in self._task.options.starts] + plan
            elif left <= 0:
                return
            else:
                plan = plan[:left]
            left -= len(plan)
            generators = self._task.rng.spawn(len(plan))
            yield [
                Beginning(
                    *place,
                    g,
                    rounds_before=0 if number == 0 and self._task.loss.has_price else 1,
                    best_first=place[1] == BEST_FIRST,
                    wanders=place[1] in WANDERING,
                )
                for place, g in zip(plan, generators, strict=True)
            ]

    def _plan(self, number: int, best: list[Labels]) -> list[Place | None]:
        n = self._task.n_items
        if number == 0:
            cut, one = self._cut(), np.zeros(n, np.int32)
            always = [cut, (one, "one cluster", None), self._draw(), self._allocation()]
            return [*always, self._cheaper(one if cut is None else cut[0])]
        if number == 1:
            near = [self._neighbour(best[0]), self._neighbour(best[0])]
            return [*near, self._singletons(), self._draw() or self._allocation(), *self._falls()]
        other = self._cut() or self._draw() or self._allocation()
        first = other if number % 2 else self._neighbour(best[0])
        if of_each_draw(self._problem):
            return [first, self._disturbed(best[0]), *[(best[0], WANDERED, None)] * 2]
        return [first, *(self._disturbed(best[0]) for _ in range(3))]

    def _falls(self) -> list[Place]:
        """Items leave one cluster, or join, those first that gain most; for losses of each draw's
        sums.

        Where draws agree on little, their entropy is best matched by one large cluster and items
        that stand alone: what counts is which.
        """
        if not of_each_draw(self._problem):
            return []
        n, alone = self._task.n_items, self._singletons()
        falls: list[Place] = [(np.zeros(n, np.int32), BEST_FIRST, None)]
        # From singletons about n items move, past up to n clusters.
        if alone is not None and float(n) ** 3 * reads_of(self._problem) <= FALL_CELLS_FROM_APART:
            falls.append((alone[0], BEST_FIRST, None))
        return falls

    def _cut(self) -> Place | None:
        """A cut; of some of the items where these are many, the others placed by a neighbouring
        loss where the loss cannot judge half an allocation.
        """
        cut = next(self._cuts, None)
        if cut is None:
            return None
        judges = cut.min() >= 0 or places_items(self._task.loss, self._problem)
        return cut, "average linkage", None if judges else next(self._nearby)[1]

    def _draw(self) -> Place | None:
        draw = next(self._drawn, None)
        return None if draw is None else (draw, "draw", None)

    def _singletons(self) -> Place | None:
        n, reads = self._task.n_items, reads_of(self._problem)
        cap = self._task.options.max_clusters
        cells = reads if has_lists(self._problem) else float(n) * reads
        if n * cells > SINGLETON_CELLS or (cap is not None and cap < n):
            return None
        return np.arange(n, dtype=np.int32), SINGLETONS, None

    def _allocation(self) -> Place | None:
        """Items one by one; by a neighbouring price where there is one, and by a neighbouring loss
        where the loss cannot judge half an allocation.
        """
        loss = self._task.loss
        if not loss.has_price and places_items(loss, self._problem):
            return None, "allocation", None
        near = next(self._nearby, None)
        return None if near is None else (None, near[0], near[1])

    def _cheaper(self, labels: Labels | None) -> Place | None:
        """The minimiser near here of the price on the other side of the one that allocates.

        No witness of where another start has led: it sets out from there.
        """
        return (labels, NEAR_BEST, next(self._nearby)[1]) if self._task.loss.has_price else None

    def _neighbour(self, best: Labels) -> Place | None:
        near = next(self._nearby, None)
        return None if near is None else (best, NEAR_BEST, near[1])

    def _disturbed(self, best: Labels) -> Place:
        """The best so far with some items, or some clusters, moved at random."""
        return disturbed(best, self._task.rng, MOVED_SHARES), DISTURBED, None


def places_items(loss: Loss, problem: Problem) -> bool:
    """Whether the loss can judge an allocation of some of the items."""
    return loss.is_linear or not (has_counts(problem) or has_lists(problem))


def _promising_draws(task: Task, sample: Draws | None) -> Iterator[Labels]:
    """Draws at random, but first the best of as many as are quickly compared."""
    draws = task.draws
    if draws is None or sample is None:
        return
    few = sample_draws(sample, JUDGES, task.rng)
    many = int(JUDGED_LABELS / (few.n_draws * task.n_items))
    positive = int((draws.probabilities > 0).sum())
    size = min(max(task.options.n_starts, many), positive)
    chosen = task.rng.choice(draws.n_draws, size, replace=False, p=draws.probabilities).tolist()
    if many > 1:
        losses = _judged(task, [draws.rows(m, m + 1)[0] for m in chosen[:many]], few)
        chosen.insert(0, chosen.pop(int(np.argmin(losses))))
    for m in chosen:
        yield draws.rows(m, m + 1)[0]


def _judged(task: Task, candidates: list[Labels], judges: Draws) -> list[float]:
    """About the expected losses of some partitions."""
    if by_similarity(task) or not task.loss.averages_distances:
        judge = task if by_similarity(task) else task.on(judges)
        return [judge.evaluate(labels) for labels in candidates]
    rows, clusters = judges.rows(0, judges.n_draws), judges.n_clusters
    measure, mass = task.loss.against(task.n_items), judges.probabilities
    return [float(measure(labels, rows, clusters) @ mass) for labels in candidates]


def _cuts(task: Task, sample: Draws | None) -> list[Labels]:
    """Cuts of average linkage at which the loss is locally lowest, best first."""
    n = task.n_items
    if n <= LINKED_ITEMS:
        # The similarity of all draws is there already where a search goes by it.
        return best_cuts(task if sample is None or by_similarity(task) else task.on(sample))
    if sample is None:
        return []
    items = np.sort(task.rng.choice(n, LINKED_ITEMS, replace=False))
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
        for factor in cycle(RATIOS):
            ratio = factor * loss.price / (2.0 - loss.price)
            price = 2.0 * ratio / (1.0 + ratio)
            yield (
                f"minimiser of a={price:.2g}",
                problem._replace(form=loss.with_price(price).form(task.n_items)),
            )
    prices = (1.0, 0.75, 1.25)
    losses: list[Loss] = [kind(a) for a in prices for kind in (VI, Binder)]
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
