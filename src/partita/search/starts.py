"""Starting partitions of different kinds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.draws import Draws, systematic
from partita.labels import Labels
from partita.losses.base import Loss
from partita.losses.builtin import VI, Binder
from partita.search import settings
from partita.search.linkage import best_cuts
from partita.search.problem import (
    Problem,
    by_similarity,
    has_counts,
    has_lists,
    problem_from_draws,
    problem_from_similarity,
    reads_of,
)
from partita.search.task import Task

Place = tuple[Labels | None, str, Problem | None]

SINGLETONS = "singletons"
NEAR_BEST, PERTURBED = "near minimiser", "perturbed best"
FROM_BEST = (NEAR_BEST, PERTURBED)
"""Start kinds derived from an earlier optimum; not counted as independent agreement."""


class StartPoint(NamedTuple):
    """Where a local search begins."""

    labels: Labels | None
    """A partition; items labelled −1, or all items, are placed one by one."""
    origin: str
    """What kind of start it is."""
    before: Problem | None
    """A neighbouring problem that is descended first."""
    rng: np.random.Generator
    margin: NDArray[np.float64] | None = None
    """What moving each item is thought to cost: the most doubtful ones are looked at first."""
    rounds_before: int = 1
    """Rounds of cluster moves there."""


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
        """What is always tried: the user's starts and one of each kind."""
        user = [(row, "user", None) for row in self._task.options.starts]
        own = [self._cut(), self._draw() or self._one(), self._allocation()]
        return self._begin([*user, *own], 0)

    def more(self, best: Labels) -> list[StartPoint]:
        """What is tried where the first starts end apart."""
        near = [self._neighbour(best), self._neighbour(best)]
        own = [self._one(), self._singletons(), self._draw() or self._allocation()]
        return self._begin([*near, *own], 1)

    def _begin(self, places: Sequence[Place | None], batch: int) -> list[StartPoint]:
        plan = [p for p in places if p is not None]
        rounds = 0 if batch == 0 and self._task.loss.has_price else 1
        generators = self._task.rng.spawn(len(plan))
        return [
            StartPoint(*place, rng, rounds_before=rounds)
            for place, rng in zip(plan, generators, strict=True)
        ]

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

    def _one(self) -> Place:
        return np.zeros(self._task.n_items, np.int32), "one cluster", None

    def _singletons(self) -> Place | None:
        n, reads = self._task.n_items, reads_of(self._problem)
        cap = self._task.options.max_clusters
        cells = reads if has_lists(self._problem) else float(n) * reads
        if n * cells > settings.SINGLETON_WORK or (cap is not None and cap < n):
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

    def _neighbour(self, best: Labels) -> Place | None:
        near = next(self._nearby, None)
        return None if near is None else (best, NEAR_BEST, near[1])


def places_items(loss: Loss, problem: Problem) -> bool:
    """Whether the loss can judge an allocation of some of the items."""
    return loss.is_linear or not (has_counts(problem) or has_lists(problem))


def _promising_draws(task: Task, sample: Draws | None) -> Iterator[Labels]:
    """Draws at random, but first the best of as many as are quickly compared."""
    draws = task.draws
    if draws is None or sample is None:
        return
    few = sample_draws(sample, settings.JUDGES, task.rng)
    many = int(settings.JUDGED_LABELS / (few.n_draws * task.n_items))
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
    if n <= settings.LINKED_ITEMS:
        # The similarity of all draws is there already where a search goes by it.
        return best_cuts(task if sample is None or by_similarity(task) else task.on(sample))
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


def sample_draws(draws: Draws, size: int, rng: np.random.Generator) -> Draws:
    """A systematic sample of the posterior: spread over the chain, in proportion to weight."""
    if draws.n_draws <= size:
        return draws
    index, counts = np.unique(systematic(draws.probabilities, size, rng), return_counts=True)
    labels = np.ascontiguousarray(draws.labels_at(index))
    clusters = draws.n_clusters[index]
    return draws._with(labels=labels, counts=clusters, weights=counts, chain=None, item_names=None)
