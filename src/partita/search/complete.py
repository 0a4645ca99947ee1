"""The best full partition that agrees with a partial one."""

from __future__ import annotations

import numpy as np

from partita.losses.base import Loss
from partita.losses.registry import as_loss
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels, by_size
from partita.partitions.partial import PartialPartition
from partita.partitions.passes import map_blocks
from partita.partitions.similarity import similarity
from partita.search.descent import Walker
from partita.search.problem import Problem, problem_from_draws, problem_from_similarity

_STARTS = 8
"""Draws that agree with the partial partition from which the search begins."""

_COMPARED = 64
"""Such draws among which the best are chosen, the likeliest."""


def complete(draws: Draws, partial: PartialPartition, *, loss: str | Loss = "vi") -> Labels:
    """The best full partition found among those that group the stated items as ``partial`` does.

    The stated items keep their places; the others move, one at a time, to
    wherever the expected loss falls most, beginning at the best draws that agree.

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
    A sweep is O(U·M·K) for U items not stated, M draws and K clusters.
    """
    measure = as_loss(loss)
    outside = np.flatnonzero(partial.labels < 0)
    found: tuple[float, Labels] | None = None
    starts = _agreeing_draws(draws, partial, measure)
    if outside.size:
        if measure.uses_similarity:
            problem: Problem = problem_from_similarity(similarity(draws), measure)
        else:
            problem = problem_from_draws(draws.unique(), measure)
    for start in starts:
        labels = start
        if outside.size:
            walker = Walker(problem, start, np.random.default_rng(0))
            walker.sweep_only(outside)
            labels = walker.labels
        value = measure.expected(labels, draws)
        if found is None or value < found[0]:
            found = (value, labels)
    assert found is not None, "a core holds in at least one draw"
    return by_size(found[1])


def _agreeing_draws(draws: Draws, partial: PartialPartition, loss: Loss) -> list[Labels]:
    """The draws that agree and have the smallest expected loss, of the likeliest that agree."""
    from partita.kernels.core import agreeing

    merged, stated = draws.unique(), partial.labels
    holds = np.concatenate(list(map_blocks(lambda block: agreeing(block.rows, stated), merged)))
    mine = np.flatnonzero(holds)
    likely = mine[np.argsort(-merged.probabilities[mine], kind="stable")[:_COMPARED]]
    rows = [merged.rows(int(m), int(m) + 1)[0] for m in likely]
    values = [loss.expected(row, draws) for row in rows]
    return [rows[j] for j in np.argsort(values, kind="stable")[:_STARTS]]
