"""Binder's loss as an integer programme, after Lau and Green (2007)."""

from __future__ import annotations

import time

import numpy as np

from partita.errors import NotSupportedError
from partita.kernels.arrays import Floats
from partita.labels import Labels, canonical
from partita.search import multistart
from partita.search.bounds.pairs import Relaxation, pair_programme, reaches, touched_pairs
from partita.search.task import Candidate, Task, distinct_candidates

_INTEGRAL = 1e-6


def search(task: Task) -> list[Candidate]:
    """Close the relaxation; if it is not integral, branch; the sweep's best is the incumbent."""
    _refuse(task)
    candidates = multistart.search(task)
    incumbent = min(task.evaluate(c.labels) for c in distinct_candidates(candidates))
    relaxation = Relaxation(pair_programme(task.similarity, task.loss))
    open_gap = True
    while open_gap and not task.clock.is_up():
        task.report(f"linear programme, {len(relaxation.triangles):,} triangles")
        open_gap = not reaches(incumbent, relaxation.bound) and relaxation.tighten()
    task.prove(relaxation.bound)
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
            task.prove(rest + result.mip_dual_bound / columns.scale - _INTEGRAL / columns.scale)
        if result.x is None:
            task.limits.append("time_limit: the integer programme did not finish")
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
