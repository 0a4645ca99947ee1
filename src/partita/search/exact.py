"""The exact minimum: by enumeration of few items, by integer programming for Binder's loss.

Enumeration: the joint sum Σ f(n_te) adds up over the clusters of the estimate, so its mean
over draws is a table with one number for each set of items. Losses that are
linear in the sums follow from one such table. For the others the draws of
equal cluster sizes share a table: given the sizes of both, a loss is a
function of the joint sum alone, and a straight line below that function gives
a lower bound of every partition's expected loss. Partitions are evaluated on
all draws in the order of their bounds, until no bound is below the best loss.
For 1 − ARI, ID and NID the line is the function, and the first one is best.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita._tolerance import SUM
from partita.draws import Draws
from partita.errors import NotSupportedError
from partita.kernels.arrays import Bools, Floats, Ints
from partita.labels import Labels, canonical
from partita.lattice import MAX_ENUMERATED, bell_number, partition_blocks
from partita.losses.base import Loss
from partita.search import multistart
from partita.search.bounds.pairs import Relaxation, pair_programme, reaches, touched_pairs
from partita.search.local_search import Constraints
from partita.search.problem import problem_from_similarity
from partita.search.task import (
    Candidate,
    Task,
    distinct_candidates,
    run_interruptible,
    tie_threshold,
)

Sizes = tuple[int, ...]
Sets = NDArray[np.int64]

PAIRS = 20_000_000
"""Most pairs of a partition and a draw that the default method compares: about two seconds."""

MAX_TIES = 10_000
"""Most minimisers that are listed; more are counted in the limits."""

BLOCK = 1 << 14
"""Partitions compared before the clock is asked again."""

ORIGIN = "enumeration"

ROUNDING = SUM
"""Of a loss, relative: what sums of a few thousand terms may be off by."""


class PartitionList(NamedTuple):
    """All partitions of a number of items, and the clusters of each as sets of items."""

    labels: Labels  # (n, n_items)
    sets: Sets  # (n, n_items): bit i stands for item i, 0 for no cluster

    def only(self, chosen: NDArray[np.bool_]) -> PartitionList:
        """Some of them."""
        return PartitionList(self.labels[chosen], self.sets[chosen])


def search(task: Task) -> list[Candidate]:
    """All minimisers within the tie tolerance, for any loss of the sums; at most 12 items.

    O(M N + 4^N + B(N) N), with B the Bell numbers (B(12) = 4,213,597), and O(M N) for each
    partition whose bound is below the minimum.
    """
    n = task.n_items
    if n > MAX_ENUMERATED:
        raise NotSupportedError(
            f"method 'enumerate' tries every partition of at most {MAX_ENUMERATED} items; "
            f"{n} items have {_in_words(bell_number(n))} of them. Use 'auto' or 'sweep', whose "
            "result comes with a proven bound for VI, NVI, ID, NID and Binder, or 'ilp' for "
            "Binder's exact minimum.",
            argument="method",
        )
    found = search_few(task, np.inf)
    return found or [Candidate(np.zeros(n, np.int32), ORIGIN)]  # time was up before the first


def search_few(
    task: Task, most: float = PAIRS, within: Constraints | None = None
) -> list[Candidate] | None:
    """As ``search``; None if time is up or ``most`` comparisons do not decide."""
    within = within or Constraints(max_clusters=task.options.max_clusters)
    parts = (part.only(_allowed(part.labels, within)) for part in _parts(task.n_items))
    best = run_interruptible(task, lambda: minimisers(task, parts, most), "all partitions")
    if best is None:
        return None
    if len(best) > MAX_TIES:
        task.log.limit(f"{len(best):,} partitions tie at the minimum; {MAX_TIES:,} are listed")
    if within.max_clusters in (None, task.n_items) and not within.fix_clusters:
        task.log.prove(task.evaluate(best[0]))
    return [Candidate(np.ascontiguousarray(row), ORIGIN) for row in best[:MAX_TIES]]


def _allowed(rows: Labels, within: Constraints) -> Bools:
    """Which rows satisfy constraints."""
    k = rows.max(axis=1) + 1
    allowed = k <= (within.max_clusters or rows.shape[1])
    if within.n_clusters is not None:
        allowed &= k == within.n_clusters
    if within.min_size > 1:
        sizes = np.stack([(rows == label).sum(axis=1) for label in range(rows.shape[1])])
        allowed &= ((sizes == 0) | (sizes >= within.min_size)).all(axis=0)
    return np.asarray(allowed)


def _in_words(count: int) -> str:
    digits = len(str(count)) - 1
    return f"{count:,}" if digits < 12 else f"more than 10^{digits}"


def _parts(n_items: int) -> Iterator[PartitionList]:
    for labels in partition_blocks(n_items, BLOCK):
        yield PartitionList(labels, _sets_of(labels))


def every_partition(n_items: int) -> PartitionList:
    """All partitions of a number of items at once."""
    labels = np.concatenate(list(partition_blocks(n_items, BLOCK)))
    return PartitionList(labels, _sets_of(labels))


def minimisers(task: Task, parts: Iterable[PartitionList], most: float = PAIRS) -> Labels | None:
    """The listed partitions that tie at the lowest loss.

    None where time is up, or where more than ``most`` pairs of a partition and a draw would have
    to be compared, which the limits say.
    """
    draws, loss = task.draws, task.loss
    if loss.form(1) is None:
        return _lowest(task, parts, partial(_evaluated_one_by_one, task))
    if draws is None or loss.needs_similarity:
        return _lowest(task, parts, _SimilarityTable(task))
    if loss.averages_sums:
        return _lowest(task, parts, _MeanTable(draws, loss))
    table, rows, bounds = _BoundTable(draws, loss), [], []
    for part in parts:
        if task.clock.is_up():
            return None
        task.log.n_evaluated += len(part.labels)
        rows.append(part.labels.astype(np.uint8))
        bounds.append(table(part))
    labels = np.concatenate(rows)
    return _evaluated(task, labels, np.concatenate(bounds), most)


def _evaluated_one_by_one(task: Task, part: PartitionList) -> Floats:
    return np.array([task.evaluate(row) for row in part.labels])


def _lowest(
    task: Task, parts: Iterable[PartitionList], table: Callable[[PartitionList], Floats]
) -> Labels | None:
    """The partitions of lowest loss, part by part."""
    best, rows, values = np.inf, [], []
    for part in parts:
        if task.clock.is_up():
            return None
        task.log.n_evaluated += len(part.labels)
        if len(part.labels) == 0:
            continue
        losses = table(part)
        best = min(best, float(losses.min()))
        near = losses <= tie_threshold(best)
        rows.append(part.labels[near])
        values.append(losses[near])
    return np.concatenate(rows)[np.concatenate(values) <= tie_threshold(best)]


def _sets_of(rows: Labels) -> Sets:
    """The clusters of each row as sets of items, 0 where a row has fewer than ``n_items``."""
    n_rows, n_items = rows.shape
    place = rows + np.arange(n_rows)[:, None] * n_items
    bits = np.broadcast_to(1 << np.arange(n_items), rows.shape)
    sets = np.bincount(place.ravel(), bits.ravel(), minlength=n_rows * n_items)
    return sets.astype(np.int64).reshape(rows.shape)


def _terms_of_meets(n_items: int, terms: Floats) -> Floats:
    """f of the number of items in both of two sets, for all pairs of sets."""
    every = np.arange(1 << n_items)
    count = np.zeros(every.size, np.int64)
    for item in range(n_items):
        count += every >> item & 1
    meets: Floats = terms[count[every[:, None] & every]]
    return meets


class _Table:
    """Expected losses from what each set of items adds to the joint and to the own sum."""

    joint: Floats
    own: Floats
    truth: float
    form: Any

    def __call__(self, listed: PartitionList) -> Floats:
        sums = (table[listed.sets].sum(axis=1).tolist() for table in (self.joint, self.own))
        combine, truth = self.form.combine, self.truth
        return np.array([combine(j, e, truth) for j, e in zip(*sums, strict=True)])


class _MeanTable(_Table):
    """For losses that are the form at the means of the sums."""

    def __init__(self, draws: Draws, loss: Loss) -> None:
        n = draws.n_items
        sets = _sets_of(draws.rows(0, draws.n_draws))
        meets = _terms_of_meets(n, np.array(loss.terms(n)))
        mass = np.bincount(sets.ravel(), np.repeat(draws.probabilities, n), minlength=1 << n)
        self.form, self.own, self.joint = loss.form(n), meets.diagonal(), meets @ mass
        self.truth = float(self.own @ mass)


class _SimilarityTable(_Table):
    """For losses that the similarity matrix tells."""

    def __init__(self, task: Task) -> None:
        n = task.n_items
        problem = problem_from_similarity(task.similarity, task.loss)
        members = np.arange(1 << n)[:, None] >> np.arange(n) & 1
        within = members @ task.similarity
        self.joint = np.array(
            [
                sum(problem.inner(float(row[i])) for i in np.flatnonzero(mine))
                for row, mine in zip(within, members, strict=True)
            ]
        )
        self.own = np.array(task.loss.terms(n))[members.sum(axis=1)]
        self.form, self.truth = task.loss.form(n), problem.mean_truth


def mean_sum_losses(draws: Draws, loss: Loss, listed: PartitionList) -> Floats:
    """Expected losses that are the form at the means of the sums."""
    return _MeanTable(draws, loss)(listed)


class _BoundTable:
    """Lower bounds of the expected losses of partitions, for losses that are not linear."""

    def __init__(self, draws: Draws, loss: Loss) -> None:
        n = draws.n_items
        self._terms, self._form = np.array(loss.terms(n)), loss.form(n)
        rows = draws.rows(0, draws.n_draws)
        self._truths, of_draw = _by_sizes(rows)
        self._weights = np.bincount(of_draw, draws.probabilities)
        place = _sets_of(rows) + of_draw[:, None] * (1 << n)
        shape = (len(self._truths), 1 << n)
        mass = np.bincount(
            place.ravel(), np.repeat(draws.probabilities, n), minlength=shape[0] * shape[1]
        ).reshape(shape)
        self._joint = mass @ _terms_of_meets(n, self._terms)
        self._finer: dict[Sizes, set[Sizes]] = {t: _refinements(t) for t in self._truths}
        self._lines: dict[Sizes, tuple[float, Floats]] = {}

    def __call__(self, listed: PartitionList) -> Floats:
        estimates, of_partition = _by_sizes(listed.labels)
        bounds = np.empty(len(listed.labels))
        for which, sizes in enumerate(estimates):
            height, slopes = self._line(sizes)
            mine = np.flatnonzero(of_partition == which)
            bounds[mine] = height + slopes[listed.sets[mine]].sum(axis=1)
        return bounds

    def _line(self, sizes: Sizes) -> tuple[float, Floats]:
        """Height, and what each set of items adds, for estimates of these cluster sizes."""
        if sizes not in self._lines:
            self._finer.setdefault(sizes, _refinements(sizes))
            every = [
                _line_below(self._form, self._terms, sizes, truth, self._finer)
                for truth in self._truths
            ]
            lines = np.array(every)
            self._lines[sizes] = float(lines[:, 0] @ self._weights), lines[:, 1] @ self._joint
        return self._lines[sizes]


def _by_sizes(rows: Labels) -> tuple[list[Sizes], Ints]:
    """The sizes of clusters that occur, largest first, and which of them each row has."""
    n_rows, n_items = rows.shape
    place = rows + np.arange(n_rows)[:, None] * n_items
    counts = np.bincount(place.ravel(), minlength=n_rows * n_items).reshape(rows.shape)
    key = -np.sort(-counts, axis=1) @ (n_items + 1) ** np.arange(n_items)
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    shapes = [tuple(sorted((int(c) for c in counts[i] if c), reverse=True)) for i in first]
    return shapes, which


def _refinements(sizes: Sizes) -> set[Sizes]:
    """Sizes of the partitions that split clusters of these sizes further, or not."""
    split = [list(_sums_to(size, size)) for size in sizes]
    return {tuple(sorted(sum(parts, ()), reverse=True)) for parts in product(*split)}


def _sums_to(total: int, largest: int) -> list[Sizes]:
    """All sizes, largest first, that add up to the total."""
    if total == 0:
        return [()]
    return [
        (first, *rest)
        for first in range(min(total, largest), 0, -1)
        for rest in _sums_to(total - first, first)
    ]


def _line_below(
    form: Any, terms: Floats, estimate: Sizes, truth: Sizes, finer: dict[Sizes, set[Sizes]]
) -> tuple[float, float]:
    """Height at 0 and slope of a line that is nowhere above the loss as a function of the joint
    sum, for an estimate and a truth of given sizes of clusters."""
    cells = len(estimate) * len(truth)
    meets = [m for m in finer[estimate] & finer[truth] if len(m) <= cells]
    joint = np.array(sorted({float(terms[list(m)].sum()) for m in meets}))
    own, true = float(terms[list(estimate)].sum()), float(terms[list(truth)].sum())
    loss = np.array([form.combine(j, own, true) for j in joint.tolist()])
    run = joint[-1] - joint[0]
    slope = float((loss[-1] - loss[0]) / run) if run > 0.0 else 0.0
    return float((loss - slope * joint).min()), slope


def _evaluated(task: Task, labels: NDArray[np.uint8], bounds: Floats, most: float) -> Labels | None:
    """The partitions of lowest loss: evaluated in the order of their bounds, until these pass it.

    None where that takes more than ``most`` comparisons, or time is up.
    """
    draws = task.draws
    assert draws is not None
    measure, mass = task.loss.against(task.n_items), draws.probabilities
    rows = draws.rows(0, draws.n_draws)
    order = np.argsort(bounds, kind="stable")
    losses = np.full(len(labels), np.inf)
    best = np.inf
    for done, row in enumerate(order.tolist()):
        if bounds[row] > tie_threshold(best) + ROUNDING:
            break
        if done * draws.n_draws > most:
            task.log.limit("too many partitions are in doubt: not all were compared")
            return None
        if task.clock.is_up():
            return None
        distances = measure(labels[row].astype(np.int32), rows, draws.n_clusters)
        losses[row] = float((distances * mass).sum())
        best = min(best, losses[row])
    return labels[losses <= tie_threshold(best)].astype(np.int32)


# ------------------------------------------------------------------ integer programme


_INTEGRAL = 1e-6


def search_ilp(task: Task) -> list[Candidate]:
    """Binder's loss as an integer programme, after Lau and Green (2007).

    Close the relaxation; if it is not integral, branch; the local search's best is the incumbent.
    """
    _refuse(task)
    candidates = multistart.search(task)
    incumbent = min(task.evaluate(c.labels) for c in distinct_candidates(candidates))
    relaxation = Relaxation(pair_programme(task.similarity, task.loss))
    open_gap = True
    while open_gap and not task.clock.is_up():
        task.report(f"linear programme, {len(relaxation.triangles):,} triangles")
        open_gap = not reaches(incumbent, relaxation.bound) and relaxation.tighten()
    task.log.prove(relaxation.bound)
    joined: Floats | None = None
    if relaxation.is_closed and _is_integral(relaxation.joined):
        # Also where the incumbent is as good: a small loss may hide in the bound's rounding.
        joined = relaxation.joined
    elif not reaches(incumbent, relaxation.bound) and not task.clock.is_up():
        joined = _branch(task, relaxation)
    if joined is not None:
        candidates.append(Candidate(_clusters(joined), "integer programme"))
    return candidates


def _refuse(task: Task) -> None:
    if task.loss.pair_scale(task.n_items) is None:
        raise NotSupportedError(
            f"method='ilp' solves Binder's loss only, not {task.loss!r}: the "
            f"{task.loss.title} is not linear in the pairs. Use method='auto'.",
            argument="method",
        )
    if task.options.max_clusters is not None:
        raise NotSupportedError(
            "method='ilp' cannot limit the number of clusters; use 'auto' with max_clusters.",
            argument="method",
        )


def _branch(task: Task, relaxation: Relaxation) -> Floats | None:
    """Integer solutions with ever more triangles, until one violates none."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    while not task.clock.is_up():
        task.report(f"integer programme, {len(relaxation.triangles):,} triangles")
        columns = touched_pairs(relaxation.programme, relaxation.triangles)
        left = 1e9 if task.clock.deadline is None else task.clock.deadline - time.monotonic()
        result = milp(
            columns.cost,
            integrality=np.ones(columns.cost.size, np.int64),
            bounds=Bounds(0.0, 1.0),
            constraints=LinearConstraint(columns.matrix, ub=1.0),
            options={"mip_rel_gap": 0.0, "time_limit": max(0.1, left)},
        )
        if result.mip_dual_bound is not None:
            untouched = np.triu(np.minimum(relaxation.programme.cost, 0.0), 1)
            untouched[columns.first, columns.second] = 0.0
            rest = relaxation.programme.base + float(untouched.sum())
            task.log.prove(rest + result.mip_dual_bound / columns.scale - _INTEGRAL / columns.scale)
        if result.x is None:
            task.log.limit("time_limit: the integer programme did not finish")
            return None
        joined = columns.solution(np.round(result.x))
        if not relaxation.add_violated(joined):
            return joined
    return None


def _is_integral(joined: Floats) -> bool:
    return bool((np.abs(joined - np.round(joined)) <= _INTEGRAL).all())


def _clusters(joined: Floats) -> Labels:
    """The partition of an integral solution that violates no triangle."""
    return canonical(np.argmax(joined + np.eye(len(joined)) > 0.5, axis=1))
