"""The exact minimum on few items, whatever the number of draws.

The joint sum Σ f(n_te) adds up over the clusters of the estimate, so its mean
over draws is a table with one number for each set of items. Losses that are
linear in the sums follow from one such table. For the others the draws of
equal cluster sizes share a table: given the sizes of both, a loss is a
function of the joint sum alone, and a straight line below that function gives
a lower bound of every partition's expected loss. Partitions are evaluated on
all draws in the order of their bounds, until no bound is below the best loss.
For 1 − ARI, ID and NID the line is the function, and the first one is best.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita._tolerance import SUM
from partita.draws import Draws
from partita.kernels.arrays import Floats, Ints
from partita.labels import Labels
from partita.lattice import partition_blocks
from partita.losses.base import Loss
from partita.search.methods.enumerate_all import MAX_TIES, ORIGIN
from partita.search.problem import problem_from_similarity
from partita.search.task import Candidate, Task, window

Sizes = tuple[int, ...]
Sets = NDArray[np.int64]

PAIRS = 20_000_000
"""Most pairs of a partition and a draw that are compared: about two seconds."""

ROUNDING = SUM
"""Of a loss, relative: what sums of a few thousand terms may be off by."""


class Listed(NamedTuple):
    """All partitions of so many items, and the clusters of each as sets of items."""

    labels: Labels  # (n, n_items)
    sets: Sets  # (n, n_items): bit i stands for item i, 0 for no cluster

    def only(self, chosen: NDArray[np.bool_]) -> Listed:
        """Some of them."""
        return Listed(self.labels[chosen], self.sets[chosen])


def search(task: Task) -> list[Candidate] | None:
    """All minimisers within the tie tolerance; None where too many partitions are in doubt.

    O(M N + 4^N + B(N) N), with B the Bell numbers, and O(M N) for each
    partition whose bound is below the minimum.
    """
    listed = every_partition(task.n_items)
    cap = task.options.max_clusters
    if cap is not None:
        listed = listed.only(listed.labels.max(axis=1) < cap)
    best = minimisers(task, listed)
    if best is None:
        return None
    if len(best) > MAX_TIES:
        task.limits.append(f"{len(best):,} partitions tie at the minimum; {MAX_TIES:,} are listed")
    if cap is None or cap >= task.n_items:
        task.prove(task.evaluate(best[0]))
    return [Candidate(np.ascontiguousarray(row), ORIGIN) for row in best[:MAX_TIES]]


def every_partition(n_items: int) -> Listed:
    """All partitions of so many items."""
    labels = np.concatenate(list(partition_blocks(n_items, 1 << 14)))
    return Listed(labels, _sets_of(labels))


def minimisers(task: Task, listed: Listed) -> Labels | None:
    """Those of the listed partitions that tie at the lowest loss.

    None, which is said in the limits, where too many of them would have to be
    compared with all draws.
    """
    task.looks += len(listed.labels)
    if task.draws is None or task.loss.needs_similarity:
        losses = _of_similarity(task, listed)
    elif task.loss.averages_sums:
        losses = mean_sum_losses(task.draws, task.loss, listed)
    else:
        found = _evaluated(task, listed.labels, _bounds(task.draws, task.loss, listed))
        if found is None:
            task.limits.append("too many partitions are in doubt: not all were compared")
        return found
    return listed.labels[losses <= window(float(losses.min()))]


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


def mean_sum_losses(draws: Draws, loss: Loss, listed: Listed) -> Floats:
    """Expected losses that are the form at the means of the sums."""
    n = draws.n_items
    terms, form = np.array(loss.terms(n)), loss.form(n)
    sets = _sets_of(draws.rows(0, draws.n_draws))
    meets = _terms_of_meets(n, terms)
    own = meets.diagonal()
    mass = np.bincount(sets.ravel(), np.repeat(draws.probabilities, n), minlength=1 << n)
    return _combined(form, listed, meets @ mass, own, float(own @ mass))


def _of_similarity(task: Task, listed: Listed) -> Floats:
    """Expected losses that the similarity matrix tells."""
    n = task.n_items
    problem = problem_from_similarity(task.similarity, task.loss)
    members = np.arange(1 << n)[:, None] >> np.arange(n) & 1
    within = members @ task.similarity
    joint = np.array(
        [
            sum(problem.inner(float(row[i])) for i in np.flatnonzero(mine))
            for row, mine in zip(within, members, strict=True)
        ]
    )
    own = np.array(task.loss.terms(n))[members.sum(axis=1)]
    return _combined(task.loss.form(n), listed, joint, own, problem.mean_truth)


def _combined(form: Any, listed: Listed, joint: Floats, own: Floats, truth: float) -> Floats:
    """Losses from what each set of items adds to the joint and to the estimate's own sum."""
    sums = (table[listed.sets].sum(axis=1).tolist() for table in (joint, own))
    return np.array([form.combine(j, e, truth) for j, e in zip(*sums, strict=True)])


def _bounds(draws: Draws, loss: Loss, listed: Listed) -> Floats:
    """A lower bound of the expected loss of every partition."""
    n = draws.n_items
    terms, form = np.array(loss.terms(n)), loss.form(n)
    meets = _terms_of_meets(n, terms)
    rows = draws.rows(0, draws.n_draws)
    sets = _sets_of(rows)
    truths, of_draw = _by_sizes(rows)
    weights = np.bincount(of_draw, draws.probabilities)
    place = sets + of_draw[:, None] * (1 << n)
    shape = (len(truths), 1 << n)
    mass = np.bincount(
        place.ravel(), np.repeat(draws.probabilities, n), minlength=shape[0] * shape[1]
    ).reshape(shape)
    joint = mass @ meets
    estimates, of_partition = _by_sizes(listed.labels)
    finer = {sizes: _refinements(sizes) for sizes in {*truths, *estimates}}
    bounds = np.empty(len(listed.labels))
    for which, sizes in enumerate(estimates):
        lines = np.array([_line_below(form, terms, sizes, t, finer) for t in truths])
        mine = np.flatnonzero(of_partition == which)
        bounds[mine] = lines[:, 0] @ weights + (lines[:, 1] @ joint)[listed.sets[mine]].sum(axis=1)
    return bounds


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


def _evaluated(task: Task, labels: Labels, bounds: Floats) -> Labels | None:
    """The partitions of lowest loss: evaluated in the order of their bounds, until these pass it.

    None where that takes more than ``PAIRS`` comparisons.
    """
    draws = task.draws
    assert draws is not None
    measure, mass = task.loss.against(task.n_items), draws.probabilities
    rows = draws.rows(0, draws.n_draws)
    order = np.argsort(bounds, kind="stable")
    losses = np.full(len(labels), np.inf)
    best = np.inf
    for done, row in enumerate(order.tolist()):
        if bounds[row] > window(best) + ROUNDING:
            break
        if done * draws.n_draws > PAIRS or task.clock.is_up():
            return None
        distances = measure(np.ascontiguousarray(labels[row]), rows, draws.n_clusters)
        losses[row] = float((distances * mass).sum())
        best = min(best, losses[row])
    return labels[losses <= window(best)]
