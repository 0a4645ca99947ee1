"""The best of the draws, exactly, or by distances that rule others out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from partita._tolerance import SUM
from partita._wording import words
from partita.draws import Draws
from partita.errors import InvalidInputError, NotSupportedError
from partita.kernels.arrays import Floats
from partita.losses.base import Loss
from partita.scan import Block, concatenate_arrays, map_blocks
from partita.search import problem as problems
from partita.search import settings
from partita.search.multistart import sample_draws
from partita.search.task import (
    Candidate,
    Task,
    argmin_with_ties,
    run_interruptible_parallel,
    tie_threshold,
)

EVALUATED, EVALUATED_LABELS = 64, 2e10
"""Fewest candidates evaluated on all draws, and labels read after which no more are."""


def losses_of_best(task: Task, draws: Draws, n_candidates: int) -> Floats:
    """Expected losses of the first draws, the candidates; infinite where one is not evaluated."""
    losses = np.full(n_candidates, np.inf)
    bounds = np.zeros(n_candidates)
    ranked = np.argsort(_ranking(task, draws)[:n_candidates], kind="stable")
    most = max(EVALUATED, int(EVALUATED_LABELS / (draws.n_items * draws.n_draws)))
    evaluated, left = 0, 0
    said = words(draws.kind).draws
    for m in ranked.tolist():
        if bounds[m] > tie_threshold(float(losses.min())):
            continue
        if evaluated == most or (evaluated and task.clock.is_up()):
            left += 1
            continue
        task.report(f"{evaluated:,} of {n_candidates:,} {said} evaluated on all")
        losses[m] = _evaluate(task, draws, m, bounds)
        evaluated += 1
    if left:
        task.log.limit(
            f"{said}: ranked on {min(settings.JUDGES, draws.n_draws):,} of them, the best "
            f"{evaluated:,} of {n_candidates:,} were evaluated on all, "
            f"{n_candidates - evaluated - left:,} ruled "
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
        np.maximum(bounds, _triangle_bounds(away, mass)[: bounds.size], out=bounds)
    return float((away * mass).sum())


def _triangle_bounds(away: Floats, mass: Floats) -> Floats:
    """Σ_m w_m |x − away_m| at x = away, for every draw, less what rounding may add."""
    order = np.argsort(away, kind="stable")
    x, w = away[order], mass[order]
    below, sum_below = np.cumsum(w), np.cumsum(w * x)
    total, sum_total = below[-1], sum_below[-1]
    values = np.empty_like(away)
    values[order] = x * (2.0 * below - total) + sum_total - 2.0 * sum_below
    return values - SUM * (1.0 + away)


def _ranking(task: Task, draws: Draws) -> Floats:
    """Approximate the expected loss of every draw."""
    judges = sample_draws(draws, settings.JUDGES, task.rng)
    judged = partial(_judged, loss=task.loss, judges=judges)
    task.report(
        f"ranking {draws.n_draws:,} {words(draws.kind).draws} on {judges.n_draws:,} of them"
    )
    (found,) = concatenate_arrays(map_blocks(judged, draws, n_jobs=task.options.n_jobs))
    return found


def _judged(block: Block, *, loss: Loss, judges: Draws) -> tuple[Floats]:
    """The pass: expected losses of the draws of a block on the sample."""
    return (np.array([loss.expected(row, judges, n_jobs=1) for row in block.rows]),)


PIECE_LABELS = 1e8
"""Labels compared in one piece of work, about a tenth of a second: pieces watch the clock."""

BATCH = 64
"""Pieces whose sums are held before they are added up, which bounds memory."""

ALL_PAIRS = 2e11
"""Labels compared, some minutes, above which not all pairs of draws are measured."""

ORIGIN = "draw"

Evaluate = Callable[[slice], NDArray[np.float64]]
"""What a piece of candidates adds to the losses of the candidates from its first on."""


def search(task: Task) -> list[Candidate]:
    """The draw with the smallest expected loss, and those that tie with it.

    O(M² (N + K²) / 2) for symmetric losses, twice that for the others, and
    O(M N²/K) with the similarity matrix. Where all pairs of draws would be too
    many, those that can be are ruled out (``ruled_out``).
    """
    draws, n_candidates = _candidates_first(task)
    by_matrix = task.loss.uses_similarity and draws.n_items <= settings.MATRIX_ITEMS
    compared = float(n_candidates) * draws.n_draws * draws.n_items
    if compared > ALL_PAIRS and not by_matrix:
        losses = losses_of_best(task, draws, n_candidates)
    else:
        losses = _losses(task, draws, n_candidates)
    best = argmin_with_ties(losses) if losses.size else np.zeros(1, np.int64)
    task.log.n_evaluated += int(np.isfinite(losses).sum()) * draws.n_items
    return [Candidate(draws.rows(int(m), int(m) + 1)[0], ORIGIN) for m in best]


def _candidates_first(task: Task) -> tuple[Draws, int]:
    """The draws with those that may be chosen in front, and how many these are.

    Heavy draws come first: if time runs out, the likeliest have been evaluated.
    """
    draws = task.draws
    if draws is None:
        raise NotSupportedError(
            "method 'draws' picks one of the draws, but a similarity matrix was given instead; "
            "pass the draws, or use 'average', 'complete', 'hasse' or 'sweep'.",
            argument="method",
        )
    cap = task.options.max_clusters
    excluded = np.zeros(draws.n_draws, bool) if cap is None else draws.n_clusters > cap
    if excluded.all():
        raise InvalidInputError(
            f"max_clusters={cap!r}, but every draw has at least {draws.n_clusters.min()} "
            "clusters, so method 'draws' has nothing to choose from; raise max_clusters or use "
            "another method, such as 'sweep'.",
            argument="max_clusters",
        )
    if excluded.any():
        task.log.limit(
            f"max_clusters={cap} excluded {excluded.sum():,} of {draws.n_draws:,} distinct "
            f"{words(draws.kind).draws}"
        )
    order = np.lexsort((-draws.probabilities, excluded))
    return draws._take(order), int((~excluded).sum())


def _losses(task: Task, draws: Draws, n_candidates: int) -> Floats:
    """Expected losses of the first candidates: of all of them unless time ran out."""
    evaluate, cost = _evaluator(task, draws, n_candidates)
    step = int(max(1, min(n_candidates, PIECE_LABELS // cost)))
    pieces = [slice(i, min(i + step, n_candidates)) for i in range(0, n_candidates, step)]
    total = np.zeros(n_candidates)
    done = 0
    for first in range(0, len(pieces), BATCH):
        batch = pieces[first : first + BATCH]
        say = f"draws {batch[0].start:,} to {batch[-1].stop:,} of {n_candidates:,}"
        added = run_interruptible_parallel(
            task, lambda piece: None if task.clock.is_up() else evaluate(piece), batch, say
        )
        for piece, values in zip(batch, added, strict=True):
            if values is None:
                return total[:done]
            total[piece.start : piece.start + values.size] += values
            done = piece.stop
    return total


def _evaluator(task: Task, draws: Draws, n_candidates: int) -> tuple[Evaluate, float]:
    """Return a function that evaluates candidates, and the labels compared per candidate."""
    loss = task.loss
    every_draw = float(draws.n_draws) * draws.n_items
    if loss.uses_similarity and draws.n_items <= settings.MATRIX_ITEMS:
        return _by_similarity(task, draws), float(draws.n_items) ** 2
    if loss.is_symmetric and loss.averages_distances:
        return _by_pairs(task, draws, n_candidates), every_draw

    def one_by_one(piece: slice) -> Floats:
        rows = draws.rows(piece.start, piece.stop)
        return np.array([loss.expected(row, draws, n_jobs=1) for row in rows])

    return one_by_one, every_draw


def _by_similarity(task: Task, draws: Draws) -> Evaluate:
    from partita.kernels.problem import losses_of

    problem = problems.problem_from_similarity(task.similarity, task.loss)

    def evaluate(piece: slice) -> Floats:
        losses = np.empty(piece.stop - piece.start)
        losses_of(problem, draws.rows(piece.start, piece.stop), losses)
        return losses

    return evaluate


def _by_pairs(task: Task, draws: Draws, n_candidates: int) -> Evaluate:
    """Evaluate each pair of draws once, for a symmetric loss."""
    measure = task.loss.against(draws.n_items)
    mass = draws.probabilities

    def evaluate(piece: slice) -> Floats:
        totals = np.zeros(n_candidates)
        candidates = draws.rows(piece.start, piece.stop)
        for tile in draws.blocks(max(1, (1 << 20) // draws.n_items)):
            if tile.stop <= piece.start:
                continue
            rows, counts = draws.rows(tile.start, tile.stop), draws.n_clusters[tile]
            for i, candidate in enumerate(candidates, piece.start):
                skip = max(0, i + 1 - tile.start)
                if skip >= len(rows):
                    continue
                away = measure(candidate, rows[skip:], counts[skip:])
                start = tile.start + skip
                totals[i] += away @ mass[start : tile.stop]
                # Draws that may not be chosen stand last and need no total.
                later = totals[start : tile.stop]
                later += mass[i] * away[: later.size]
        return totals[piece.start :]

    return evaluate
