"""The best of very many draws, without measuring all pairs of them.

Draws are ranked on a sample, and the most promising evaluated on all draws, one
pass each. For a metric an evaluated draw i rules out others: by the triangle
inequality no draw c has an expected loss below

.. math:: \\sum_m w_m\\, |d(c_i, c) - d(c_i, c_m)|,

of which everything is known once i has been evaluated. Where every other draw is
ruled out, the best one is that of all pairs; where they are too many to be
evaluated, the search says how many were not.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from partita._text import words
from partita._tolerance import SUM
from partita.draws import Draws
from partita.kernels.arrays import Floats
from partita.losses.base import Loss
from partita.scan import Block, concatenated, map_blocks
from partita.search.methods.walks import sample_draws
from partita.search.task import Task, window

JUDGES = 200
"""Draws of the sample on which all are ranked."""

EVALUATED, EVALUATED_LABELS = 64, 2e10
"""Draws that are evaluated on all draws: at least so many, and as long as fewer labels are read."""


def losses_of_best(task: Task, draws: Draws, n_candidates: int) -> Floats:
    """Expected losses of the first draws, the candidates; infinite where one is not evaluated."""
    losses = np.full(n_candidates, np.inf)
    bounds = np.zeros(n_candidates)
    ranked = np.argsort(_ranking(task, draws)[:n_candidates], kind="stable")
    most = max(EVALUATED, int(EVALUATED_LABELS / (draws.n_items * draws.n_draws)))
    evaluated, left = 0, 0
    said = words(draws.kind).draws
    for m in ranked.tolist():
        if bounds[m] > window(float(losses.min())):
            continue
        if evaluated == most or (evaluated and task.clock.is_up()):
            left += 1
            continue
        task.report(f"{evaluated:,} of {n_candidates:,} {said} evaluated on all")
        losses[m] = _evaluate(task, draws, m, bounds)
        evaluated += 1
    if left:
        task.limits.append(
            f"{said}: ranked on {min(JUDGES, draws.n_draws):,} of them, the best {evaluated:,} of "
            f"{n_candidates:,} were evaluated on all, {n_candidates - evaluated - left:,} ruled "
            f"out by distances, and {left:,} left"
        )
    return losses


def _evaluate(task: Task, draws: Draws, m: int, bounds: Floats) -> float:
    """The expected loss of one draw; raises the bounds of the others where distances tell."""
    loss, mass = task.loss, draws.probabilities
    row = draws.rows(m, m + 1)[0]
    if not loss.averages_distances:
        return loss.expected(row, draws, task.options.n_jobs)
    away = loss.distances(row, draws, task.options.n_jobs)
    if loss.is_metric:
        np.maximum(bounds, _at_least(away, mass)[: bounds.size], out=bounds)
    return float((away * mass).sum())


def _at_least(away: Floats, mass: Floats) -> Floats:
    """Σ_m w_m |x − away_m| at x = away, for every draw, less what rounding may add."""
    order = np.argsort(away, kind="stable")
    x, w = away[order], mass[order]
    below, sum_below = np.cumsum(w), np.cumsum(w * x)
    total, sum_total = below[-1], sum_below[-1]
    values = np.empty_like(away)
    values[order] = x * (2.0 * below - total) + sum_total - 2.0 * sum_below
    return values - SUM * (1.0 + away)


def _ranking(task: Task, draws: Draws) -> Floats:
    """About the expected loss of every draw."""
    judges = sample_draws(draws, JUDGES, task.rng)
    judged = partial(_judged, loss=task.loss, judges=judges)
    task.report(
        f"ranking {draws.n_draws:,} {words(draws.kind).draws} on {judges.n_draws:,} of them"
    )
    (found,) = concatenated(map_blocks(judged, draws, n_jobs=task.options.n_jobs))
    return found


def _judged(block: Block, *, loss: Loss, judges: Draws) -> tuple[Floats]:
    """The pass: expected losses of the draws of a block on the sample."""
    return (np.array([loss.expected(row, judges, n_jobs=1) for row in block.rows]),)
