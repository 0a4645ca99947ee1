"""Searches for the curve over numbers of clusters, each beginning where its neighbour ended."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from partita.draws import Draws
from partita.kernels.arrays import Floats
from partita.labels import Labels, by_size
from partita.losses.base import Loss
from partita.posterior import Posterior
from partita.scan import FEW_DRAWS, error_of
from partita.search.constraints import BRIEF, FULL, ConstrainedSearch, Effort
from partita.search.curve_result import NEAR, STANDARD_ERRORS, ClustersCurve
from partita.search.local_search import Constraints
from partita.search.task import Candidate, Task

ABOVE, STRIDE = 4, 8
"""Numbers of clusters above that of the estimate, at most, that are looked at briefly; below the
plateau every step is by this part of the number."""

Rows = dict[int, Labels]


def best_for_each(
    task: Task, numbers: Sequence[int], best: Labels, free: Sequence[Candidate]
) -> Rows:
    """The best partition found for each number of clusters, ascending."""
    search = ConstrainedSearch(task)
    own = int(best.max()) + 1
    rows: Rows = {own: best}
    below = sorted((k for k in numbers if k < own), reverse=True)
    above = sorted(k for k in numbers if k > own)
    for side in (below, above):
        last = own
        for k in side:
            starts = [Candidate(rows[last], "neighbour"), *free]
            rows[k] = _lowest(search, k, starts, FULL)
            last = k
    if not search.enumerates:
        _from_neighbours(search, rows, own, sorted(rows))
        _from_neighbours(search, rows, own, sorted(rows, reverse=True))
    return {k: rows[k] for k in sorted(numbers)}


def _from_neighbours(search: ConstrainedSearch, rows: Rows, own: int, order: list[int]) -> None:
    """Once along the numbers: a better partition of one may lead to one of the next."""
    for last, k in pairwise(order):
        if k != own and not search.task.clock.is_up():
            found = _lowest(search, k, [Candidate(rows[last], "neighbour")], BRIEF)
            evaluate = search.task.evaluate
            rows[k] = min(rows[k], found, key=evaluate)


def _lowest(
    search: ConstrainedSearch, k: int, starts: Sequence[Candidate], effort: Effort
) -> Labels:
    constraints = Constraints(k)
    found = search.search(constraints, starts, effort)
    found += [c for c in starts if constraints.allow(c.labels)]
    return min(found, key=lambda c: search.task.evaluate(c.labels)).labels


def plateau_around(task: Task, posterior: Posterior, best: Labels) -> ClustersCurve:
    """A short curve around the estimate, which tells the plateau.

    Downwards while a number costs no more than two Monte Carlo standard errors
    or a percent, upwards while it costs no more than those errors, and one
    number further on both sides; below the plateau in strides. Each walk
    begins where the last one ended.
    """
    own, given = int(best.max()) + 1, posterior.draws
    rows: Rows = {own: best}
    search = ConstrainedSearch(task)
    lowest = posterior.distances(task.loss, best)
    allowed = NEAR / 100.0 * float(lowest @ given.probabilities)
    for step, share in ((-1, allowed), (1, 0.0)):
        last, k = own, own + step
        while 1 <= k <= min(task.n_items, own + ABOVE):
            rows[k] = _lowest(search, k, [Candidate(rows[last], "neighbour")], BRIEF)
            difference = posterior.distances(task.loss, rows[k]) - lowest
            excess = float(difference @ given.probabilities)
            error = STANDARD_ERRORS * np.nan_to_num(_error(difference, given))
            if task.clock.is_up() or excess > max(share, error):
                break
            last = k
            k += step if excess <= error else -max(1, k // STRIDE)
    ordered = dict(sorted(rows.items()))
    return measured(posterior, task.loss, ordered, best, None, task.clock.seconds)


def measured(
    posterior: Posterior,
    loss: Loss,
    rows: Rows,
    best: Labels,
    tolerance: float | None,
    seconds: float,
) -> ClustersCurve:
    """The curve of given partitions."""
    draws = posterior.draws
    weights = draws.probabilities
    lowest = posterior.distances(loss, best)
    losses = np.array([posterior.distances(loss, row) for row in rows.values()])
    return ClustersCurve(
        k=np.array(list(rows), np.int64),
        labels=by_size(np.stack(list(rows.values()))),
        expected_loss=losses @ weights,
        excess=np.maximum((losses - lowest) @ weights, 0.0),
        standard_error=np.array([_error(row - lowest, draws) for row in losses]),
        distance=np.array([loss.distances(row, Draws(best[None, :]))[0] for row in rows.values()]),
        estimate=by_size(best),
        tolerance=tolerance,
        loss=loss,
        seconds=seconds,
        kind=draws.kind,
    )


def _error(difference: Floats, draws: Draws) -> float:
    """Standard error of a mean over the draws; weighted draws and runs have no order."""
    if np.ptp(difference) == 0.0:
        return 0.0
    if draws.weights is not None or draws.kind == "ensemble":
        weights = draws.probabilities
        effective = 1.0 / float(np.square(weights).sum())
        mean = float(difference @ weights)
        variance = float(np.square(difference - mean) @ weights)
        return float(np.sqrt(variance / effective)) if effective >= FEW_DRAWS else float("nan")
    return error_of(draws, difference)
