"""What a search found, evaluated by the strict kernels, with its proof and its report."""

from __future__ import annotations

import numpy as np

from partita.labels import Labels, by_size
from partita.posterior import Posterior
from partita.search.bounds import lower_bound
from partita.search.result import PointEstimate, SearchReport, Start, is_proven
from partita.search.task import Candidate, Task, distinct_candidates, shielded, tied


def outcome(
    task: Task,
    candidates: list[Candidate],
    posterior: Posterior | None,
    method: str,
    bound: str | None,
) -> PointEstimate:
    """The best of the candidates, as it is reported."""
    cut_short = task.clock.interrupted
    unique = distinct_candidates(candidates)
    # In threads, as everything from here on: Ctrl-C then ends the proof, and loses no result.
    losses = shielded(task, lambda: [task.evaluate(c.labels) for c in unique], "evaluating")
    value_of = {c.labels.tobytes(): loss for c, loss in zip(unique, losses, strict=True)}
    ranked = sorted(unique, key=lambda c: value_of[c.labels.tobytes()])
    best = ranked[0].labels
    lowest = value_of[best.tobytes()]
    near = tied(lowest, task.loss)
    ties = [c.labels for c in ranked[1:] if value_of[c.labels.tobytes()] <= near]
    value = lowest
    if posterior is not None:
        value = shielded(task, lambda: posterior.expected(task.loss, best), "evaluating")
    searched = task.clock.seconds
    lower = _proof(task, best, value, bound)
    if task.options.max_clusters == int(best.max()) + 1:
        cap = f"max_clusters={task.options.max_clusters}"
        task.limits.append(f"{cap} was reached; without it the minimum may be lower")
    agreed = [c for c in candidates if value_of[c.labels.tobytes()] <= near]
    report = SearchReport(
        starts=tuple(_start(c, value_of[c.labels.tobytes()]) for c in candidates),
        agreed=len(agreed),
        agreed_kinds=tuple(dict.fromkeys(c.origin for c in agreed)),
        sweeps=task.looks / task.n_items,
        seconds=searched,
        bound_seconds=task.clock.seconds - searched,
        limits=tuple(task.limits),
        interrupted=cut_short,
        settled=task.settled,
        restarts=task.restarts,
    )
    reported = by_size(best)
    reported.flags.writeable = False
    return PointEstimate(
        labels=reported,
        expected_loss=value,
        lower_bound=lower,
        loss=task.loss,
        method=method,
        ties=by_size(np.array(ties, np.int32)) if ties else np.empty((0, task.n_items), np.int32),
        search=report,
        item_names=None if posterior is None else posterior.draws.item_names,
        kind="posterior" if posterior is None else posterior.draws.kind,
    )


def _proof(task: Task, labels: Labels, value: float, bound: str | None) -> float | None:
    """The best bound known; never below 0 or above the loss, where rounding might put it."""
    known = [task.proven] if np.isfinite(task.proven) else []
    already = known and is_proven(value, known[0], task.loss)
    if bound is not None and not already:
        if task.clock.is_up():
            task.limits.append("time: nothing was proven beyond what the search knew")
        else:
            known.extend(_computed_bound(task, labels, value, bound))
    return min(max(0.0, *known), value) if known else None


def _computed_bound(task: Task, labels: Labels, value: float, bound: str) -> list[float]:
    computed = shielded(
        task, lambda: lower_bound(task, labels, value, bound), "proving a lower bound"
    )
    if task.clock.is_up():
        task.limits.append("time: the proof was cut short; its bound is the best it had")
    return [] if computed is None else [computed]


def _start(candidate: Candidate, value: float) -> Start:
    return Start(candidate.origin, value, int(candidate.labels.max()) + 1)
