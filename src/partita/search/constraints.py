"""The best partition within constraints: k clusters, a smallest size, or a partial partition."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import NamedTuple

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
from partita.losses.evaluate import as_loss, expected_loss
from partita.scan import map_blocks
from partita.search import settings
from partita.search.exact import MAX_TIES, ORIGIN, PartitionList, every_partition, minimisers
from partita.search.linkage import Tree, cut_into, link
from partita.search.local_search import Constraints, LocalSearch, Patience, repair
from partita.search.multistart import (
    LocalMinimum,
    StartPoint,
    distinct,
    exploration_problem,
    from_minima,
    iterated_search_from,
    local_search_from,
    make_search,
    reached,
)
from partita.search.problem import (
    Problem,
    by_similarity,
    problem_from_draws,
    problem_from_similarity,
)
from partita.search.task import (
    Candidate,
    Task,
    distinct_candidates,
    run_interruptible,
    run_interruptible_parallel,
    tie_threshold,
)
from partita.similarity_matrix import similarity


class Effort(NamedTuple):
    """Effort of a constrained search."""

    descents: int
    """Different partitions that go on with moves of clusters."""
    patience: int
    """Restarts in a row from the perturbed best without a gain, after which the search ends."""
    draws: int
    """Draws to start from."""
    rounds: int
    """Most alternations of moves of clusters and sweeps in one descent."""
    links: bool
    """Whether a cut of average linkage is a start."""


FULL = Effort(descents=3, patience=24, draws=3, rounds=8, links=True)
BRIEF = Effort(descents=1, patience=0, draws=0, rounds=1, links=False)


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
        found = ConstrainedSearch(task).search(rules, free, FULL)
    sizes = np.bincount(best.labels)
    lowest = min(task.evaluate(c.labels) for c in found)
    cost = max(0.0, lowest - task.evaluate(best.labels))
    asked = [] if rules.n_clusters is None else [f"n_clusters={rules.n_clusters}"]
    asked += [f"min_size={rules.min_size}"] if rules.min_size > 1 else []
    small = int((sizes < rules.min_size).sum())
    dust = f", {small} of them smaller than {rules.min_size}" if small else ""
    share = f" ({roughly(cost / (lowest - cost))})" if lowest > cost else ""
    unit = f" {task.loss.unit}" if task.loss.unit else ""
    task.limits.append(
        f"{' and '.join(asked)}: without it {counted(sizes.size, 'cluster')}{dust}; it costs "
        f"{cost:.4g}{unit}{share}"
    )
    return found


class ConstrainedSearch:
    """Constrained searches that share their tables."""

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

    def prepare(self) -> None:
        """Choose the draws that are explored now, whatever is searched for first."""
        _ = self._exploration

    @cached_property
    def _all_partitions(self) -> PartitionList:
        """Every partition of few items."""
        return every_partition(self.task.n_items)

    @cached_property
    def _exploration(self) -> tuple[Problem, Draws | None]:
        return exploration_problem(self.task)

    @property
    def _problem(self) -> Problem:
        return self._exploration[0]

    @property
    def _sample(self) -> Draws | None:
        return self._exploration[1]

    @cached_property
    def _tree(self) -> Tree | None:
        """Average linkage on the draws that are explored; None where items are too many."""
        task = self.task if self._sample is None else self.task.on(self._sample)
        return link(task) if task.n_items <= settings.MATRIX_ITEMS else None

    @cached_property
    def _full_problem(self) -> Problem | None:
        """All draws, where a sample of them is explored."""
        task = self.task
        if by_similarity(task) or self._sample is task.draws:
            return None
        assert task.draws is not None
        return problem_from_draws(task.draws, task.loss)

    def search(
        self, rules: Constraints, starts: Sequence[Candidate], effort: Effort
    ) -> list[Candidate]:
        """Partitions that keep the rules, the best found first."""
        exact = self._enumerate(rules) if self.enumerates else None
        if exact is not None:
            return exact
        begun = run_interruptible(
            self.task, lambda: self._make_starts(rules, starts, effort), "partitions to begin with"
        )
        reached = self._descend(rules, begun, effort)
        if effort.patience and not self.task.clock.is_up():
            reached = distinct([*reached, self._iterate(rules, reached[0], effort)])
        if self._full_problem is not None and not self.task.clock.is_up():
            reached = [*self._refine(rules, reached, effort), *reached]
        return [Candidate(r.labels, r.origin) for r in reached]

    def _enumerate(self, rules: Constraints) -> list[Candidate] | None:
        """The best of all partitions that keep the rules; None where too many are in doubt."""
        task, every = self.task, self._all_partitions.labels
        sizes = np.stack([(every == k).sum(axis=1) for k in range(task.n_items)])
        allowed = ((sizes == 0) | (sizes >= rules.min_size)).all(axis=0)
        if rules.n_clusters is not None:
            allowed &= every.max(axis=1) + 1 == rules.n_clusters
        listed = self._all_partitions.only(allowed)
        best: Labels | None
        if task.loss.form(1) is not None:
            best = minimisers(task, [listed])
        else:
            assert task.draws is not None
            losses = expected_loss(listed.labels, task.draws, loss=task.loss)
            best = listed.labels[losses <= tie_threshold(float(losses.min()))]
        if best is None:
            return None
        return [Candidate(np.ascontiguousarray(row), ORIGIN) for row in best[:MAX_TIES]]

    def _refine(
        self, rules: Constraints, reached: list[LocalMinimum], effort: Effort
    ) -> list[LocalMinimum]:
        """Ends of descents on all draws, from what is lowest on the sample and on all draws."""
        assert self._full_problem is not None
        on_all = min(reached[: 4 * effort.descents], key=lambda r: self.task.evaluate(r.labels))
        chosen = [on_all] if effort.descents == 1 else distinct([reached[0], on_all])
        ends = run_interruptible_parallel(
            self.task,
            partial(self._polish, rules, effort),
            from_minima(self.task, chosen),
            "polishing",
        )
        self.task.n_evaluated += sum(r.n_evaluated for r in ends)
        return ends

    def _make_starts(
        self, rules: Constraints, starts: Sequence[Candidate], effort: Effort
    ) -> list[StartPoint]:
        """Where descents begin: partitions that keep the rules, each once."""
        task = self.task
        places = [
            (c.labels, c.origin) for c in distinct_candidates(starts)[: 2 * settings.ALTERNATIVES]
        ]
        wanted = rules.n_clusters or int(starts[0].labels.max()) + 1
        if effort.links and self._tree is not None:
            places.append((cut_into(self._tree, wanted), "average linkage"))
        if task.draws is not None and effort.draws:
            size = min(effort.draws, task.draws.n_draws)
            some = task.rng.choice(task.draws.n_draws, size, replace=False).tolist()
            places += [(task.draws.rows(m, m + 1)[0], "draw") for m in some]
        generators = task.rng.spawn(len(places))
        found: dict[bytes, StartPoint] = {}
        for (labels, origin), rng in zip(places, generators, strict=True):
            if found and task.clock.is_up():
                break
            near = repair(self._problem, labels, rules, rng, task.clock.is_up)
            found.setdefault(near.tobytes(), StartPoint(near, origin, rng))
        return list(found.values())

    def _descend(
        self, rules: Constraints, begun: list[StartPoint], effort: Effort
    ) -> list[LocalMinimum]:
        """Sweeps from everywhere, moves of clusters from where they ended lowest."""
        swept = self._run(rules, 0, begun, "searching within constraints")
        lowest = from_minima(self.task, distinct(swept)[: effort.descents])
        moved = self._run(rules, effort.rounds, lowest, "moving clusters")
        self.task.n_evaluated += sum(r.n_evaluated for r in (*swept, *moved))
        return distinct([*moved, *swept])

    def _run(
        self, rules: Constraints, rounds: int, begun: list[StartPoint], say: str
    ) -> list[LocalMinimum]:
        descend = partial(
            local_search_from,
            *(self.task, self._problem, rounds),
            brief=rounds == 1,
            constraints=rules,
        )
        return run_interruptible_parallel(self.task, descend, begun, say)

    def _iterate(self, rules: Constraints, best: LocalMinimum, effort: Effort) -> LocalMinimum:
        """Iterated local search from the best partition."""
        task = self.task
        share = task.options.n_starts / settings.DEFAULT_STARTS
        patience = Patience(max(1, round(share * effort.patience)), share * settings.MUCH_WORK)
        (begin,) = from_minima(task, [best])
        found = run_interruptible(
            task,
            lambda: iterated_search_from(task, self._problem, patience, begin, constraints=rules),
            "iterated local search",
        )
        task.restarts += found.restarts
        (ended,) = self._run(rules, 1, from_minima(task, [found]), "moving clusters")
        task.n_evaluated += found.n_evaluated + ended.n_evaluated
        return ended

    def _polish(self, rules: Constraints, effort: Effort, start: StartPoint) -> LocalMinimum:
        assert self._full_problem is not None
        search = make_search(self.task, self._full_problem, start, rules)
        search.refine(settings.ALTERNATIVES * effort.descents)
        return reached(search, start.origin)


# ------------------------------------------------------------------ completing a partial partition


_STARTS = 8
"""Draws that agree with the partial partition from which the search begins."""

_JUDGED_DRAWS = 64
"""Such draws among which the best are chosen, the likeliest."""

_PERTURBED, _PERTURBED_WORK = 24, 2e8
"""Restarts from the best with some items placed anew at random, and labels they may read."""

_EXACT, _EXACT_WORK = 20_000, 2e8
"""Completions that are all evaluated, and labels that may be read for that."""


def complete(draws: Draws, partial: PartialPartition, *, loss: str | Loss = "vi") -> Labels:
    """The best full partition found among those that group the stated items as ``partial`` does.

    Few other items are placed in all ways there are. More are moved one at a time, to wherever
    the expected loss falls most, beginning at the best draws that agree, then at the best
    partition so far with some of its items placed anew.

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

    def descend_on_free_items(start: Labels) -> tuple[float, Labels]:
        search = LocalSearch(problem, start, rng)
        search.sweep_only(free)
        labels = search.labels
        return measure.expected(labels, draws), labels

    starts = _agreeing_draws(draws, partial, measure)
    best_value, best_labels = min(map(descend_on_free_items, starts), key=lambda pair: pair[0])
    for _ in range(min(_PERTURBED, int(_PERTURBED_WORK / cells))):
        start = best_labels.copy()
        some = free[rng.random(free.size) < rng.uniform(0.1, 0.6)]
        start[some] = rng.integers(0, int(start.max()) + 2, some.size)
        value, labels = descend_on_free_items(relabel(start))
        if value < best_value:
            best_value, best_labels = value, labels
    return by_size(best_labels)


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
