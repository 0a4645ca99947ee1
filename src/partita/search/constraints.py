"""The best partition within constraints: k clusters, a smallest size, or a partial partition."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from partita._tolerance import SUM
from partita._validate import integer
from partita._wording import counted, roughly
from partita.draws import Draws
from partita.errors import InvalidInputError, NotSupportedError
from partita.labels import Labels, by_size, relabel
from partita.lattice import PartialPartition
from partita.losses.base import Loss
from partita.losses.evaluate import as_loss
from partita.scan import map_blocks
from partita.search import settings
from partita.search.exact import search_few
from partita.search.linkage import Tree, cut_into, link
from partita.search.local_search import Constraints, LocalSearch, Patience, repair
from partita.search.multistart import (
    DRAW,
    Effort,
    Multistart,
    StartPoint,
    as_candidates,
    distinct,
    exploration_problem,
)
from partita.search.problem import Problem, problem_from_draws, problem_from_similarity
from partita.search.task import Candidate, Task, distinct_candidates, run_interruptible
from partita.similarity_matrix import similarity

WITHIN = Effort(leading=settings.LEADING_WITHIN)


def clean_constraints(
    n_items: int, n_clusters: int | None, min_size: int, max_clusters: int | None, method: str
) -> Constraints | None:
    """Return the constraints on an estimate; None if there are none."""
    least = integer(min_size, "min_size", least=1)
    k = None if n_clusters is None else integer(n_clusters, "n_clusters", least=1)
    if k is None and least == 1:
        return None
    if method not in ("auto", "sweep"):
        raise NotSupportedError(
            f"method {method!r} does not take n_clusters or min_size; use 'auto' or 'sweep'.",
            argument="method",
        )
    if max_clusters is not None:
        raise InvalidInputError(
            "give max_clusters, or n_clusters and min_size, not both.", argument="max_clusters"
        )
    if (k or 1) * least > n_items:
        asked = {} if k is None else {"n_clusters": k}
        asked |= {"min_size": least} if least > 1 else {}
        rules = ", ".join(f"{name}={value}" for name, value in asked.items())
        raise InvalidInputError(
            f"{rules}: {(k or 1) * least:,} items would be needed, but there are {n_items:,}.",
            argument=next(iter(asked)),
        )
    return Constraints(k, least)


def search_constrained(task: Task, rules: Constraints, free: list[Candidate]) -> list[Candidate]:
    """The partitions that keep the constraints; their cost is added to the limits."""
    best = min(free, key=lambda c: task.evaluate(c.labels))
    if rules.allow(best.labels):
        return [c for c in free if rules.allow(c.labels)]
    if rules.n_clusters is not None and rules.min_size == 1:
        from partita.search.clusters_curve import search_number  # which searches by this module

        found = search_number(task, rules.n_clusters, best.labels, free)
    else:
        found = ConstrainedSearch(task).search(rules, free)
    sizes = np.bincount(best.labels)
    lowest = min(task.evaluate(c.labels) for c in found)
    cost = max(0.0, lowest - task.evaluate(best.labels))
    asked = [] if rules.n_clusters is None else [f"n_clusters={rules.n_clusters}"]
    asked += [f"min_size={rules.min_size}"] if rules.min_size > 1 else []
    small = int((sizes < rules.min_size).sum())
    dust = f", {small} of them smaller than {rules.min_size}" if small else ""
    share = f" ({roughly(cost / (lowest - cost))})" if lowest > cost else ""
    unit = f" {task.loss.unit}" if task.loss.unit else ""
    task.log.limit(
        f"{' and '.join(asked)}: without it {counted(sizes.size, 'cluster')}{dust}; it costs "
        f"{cost:.4g}{unit}{share}"
    )
    return found


class ConstrainedSearch:
    """Searches within constraints that share their tables: all partitions of few items, or starts.

    A start is a partition found without the constraints, a cut of average linkage or a draw,
    repaired; what follows is the search of :class:`Multistart`.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        by_evaluation = task.loss.form(1) is None
        most = settings.EVALUATED_ITEMS if by_evaluation else settings.EXACT_ITEMS
        self.enumerates = task.n_items <= most
        if by_evaluation and not self.enumerates:
            raise NotSupportedError(
                f"{task.loss!r} is measured by evaluation, and is searched within n_clusters and "
                f"min_size for at most {settings.EVALUATED_ITEMS} items; there are "
                f"{task.n_items:,}.",
                argument="loss",
            )

    @cached_property
    def explored(self) -> Multistart:
        """The draws that are explored, and their tables, whatever is searched for first."""
        return Multistart(self.task, *exploration_problem(self.task))

    @cached_property
    def _tree(self) -> Tree | None:
        """Average linkage on the draws that are explored; None where items are too many."""
        sample, task = self.explored.sample, self.task
        many = task.n_items > settings.MATRIX_ITEMS
        return None if many else link(task if sample is None else task.on(sample))

    def search(
        self, rules: Constraints, starts: Sequence[Candidate], effort: Effort = WITHIN
    ) -> list[Candidate]:
        """Partitions that keep the rules, the best found first."""
        task = self.task
        exact = search_few(task, within=rules) if self.enumerates else None
        if exact is not None:
            return exact
        search = self.explored
        search.constraints = rules
        begun = run_interruptible(
            task, lambda: self._starts(rules, starts, effort), "partitions to begin with"
        )
        ends = search.explore(begun, effort=effort)
        if search.is_on_sample and not task.clock.is_up():
            ends = [*search.refine(ends, effort), *ends]
        return as_candidates(distinct(ends))

    def _starts(
        self, rules: Constraints, starts: Sequence[Candidate], effort: Effort
    ) -> list[StartPoint]:
        """Where descents begin: partitions that keep the rules, each once."""
        task, places = self.task, distinct_candidates(starts)[: 2 * settings.ALTERNATIVES]
        if effort.restarts:
            if self._tree is not None:
                wanted = rules.n_clusters or int(starts[0].labels.max()) + 1
                places.append(Candidate(cut_into(self._tree, wanted), "average linkage"))
            if task.draws is not None:
                size = min(settings.LEADING_WITHIN, task.draws.n_draws)
                some = task.rng.choice(task.draws.n_draws, size, replace=False)
                places += [Candidate(row, DRAW) for row in task.draws.labels_at(some)]
        found: dict[bytes, StartPoint] = {}
        for place, rng in zip(places, task.rng.spawn(len(places)), strict=True):
            if found and task.clock.is_up():
                break
            near = repair(self.explored.problem, place.labels, rules, rng, task.clock.is_up)
            found.setdefault(near.tobytes(), StartPoint(near, place.origin, rng))
        return list(found.values())


# ------------------------------------------------------------------ completing a partial partition


_STARTS = 8
"""Draws that agree with the partial partition from which the search begins."""

_JUDGED_DRAWS = 64
"""Such draws among which the best are chosen, the likeliest."""

_PATIENCE = Patience(restarts=24, work=2e8, total_work=2e8)
"""Restarts from the best with some items placed anew, and their work."""

_EXACT, _EXACT_WORK = 20_000, 2e8
"""Completions that are all evaluated, and labels that may be read for that."""


def complete(draws: Draws, partial: PartialPartition, *, loss: str | Loss = "vi") -> Labels:
    """The best full partition found among those that group the stated items as ``partial`` does.

    Few other items are placed in all ways there are. More are moved one at a time, to wherever
    the expected loss falls most, beginning at the best draws that agree, then by iterated local
    search from the best.

    Parameters
    ----------
    draws : Draws
    partial : PartialPartition
        At least one draw must agree with it.
    loss : str or Loss, default "vi"

    Returns
    -------
    ndarray of int32, shape (n_items,)
        Labels by size.

    Notes
    -----
    A sweep is O(U·M·K) for U items not stated, M draws and K clusters. Up to 20,000
    completions are enumerated.
    """
    measure = as_loss(loss)
    free = np.flatnonzero(partial.labels < 0)
    if not free.size:
        return by_size(partial.labels)
    merged = draws.unique()
    cells = merged.n_draws * merged.n_items
    ways = _completions(partial, free, min(_EXACT, int(_EXACT_WORK / cells)))
    if ways is not None:
        # Ties within rounding: the first, so that the order of the draws does not matter.
        values = np.array([measure.expected(row, draws) for row in ways])
        best = int(np.flatnonzero(values <= values.min() + SUM)[0])
        return by_size(ways[best])
    if measure.uses_similarity:
        problem: Problem = problem_from_similarity(similarity(draws), measure)
    else:
        problem = problem_from_draws(merged, measure)
    rng = np.random.default_rng(0)

    starts = _agreeing_draws(draws, partial, measure)
    searches = [LocalSearch(problem, start, rng, items=free) for start in starts]
    for search in searches:
        search.sweep()
    lowest = min(searches, key=lambda search: search.loss)
    lowest.iterate(_PATIENCE)
    return by_size(lowest.labels)


def _completions(
    partial: PartialPartition, free: NDArray[np.int64], most: int
) -> list[Labels] | None:
    """Every full partition that agrees, canonical; None where there are more than ``most``."""
    rows = [partial.labels]
    for item in free.tolist():
        grown = []
        for row in rows:
            for place in range(int(row.max()) + 2):
                longer = row.copy()
                longer[item] = place
                grown.append(longer)
        if len(grown) > most:
            return None
        rows = grown
    return [relabel(row) for row in rows]


def _agreeing_draws(draws: Draws, partial: PartialPartition, loss: Loss) -> list[Labels]:
    """The draws that agree and have the smallest expected loss, of the likeliest that agree."""
    from partita.kernels.credible_core import agreeing

    merged, stated = draws.unique(), partial.labels
    holds = np.concatenate(list(map_blocks(lambda block: agreeing(block.rows, stated), merged)))
    mine = np.flatnonzero(holds)
    likely = mine[np.argsort(-merged.probabilities[mine], kind="stable")[:_JUDGED_DRAWS]]
    rows = [merged.rows(int(m), int(m) + 1)[0] for m in likely]
    values = [loss.expected(row, draws) for row in rows]
    return [rows[j] for j in np.argsort(values, kind="stable")[:_STARTS]]
