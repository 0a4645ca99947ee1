"""The best full partition that agrees with a partial one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita._tolerance import SUM
from partita.draws import Draws
from partita.labels import Labels, as_labels, by_size
from partita.lattice import PartialPartition
from partita.losses.base import Loss
from partita.losses.evaluate import as_loss
from partita.scan import map_blocks
from partita.search.local_search import LocalSearch
from partita.search.problem import Problem, problem_from_draws, problem_from_similarity
from partita.similarity_matrix import similarity

_STARTS = 8
"""Draws that agree with the partial partition from which the search begins."""

_COMPARED = 64
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
    n_ways = _count_completions(free.size, partial.n_clusters)
    if n_ways <= _EXACT and n_ways * cells <= _EXACT_WORK:
        ways = _completions(partial, free)
        # Ties within rounding: the first, so that the order of the draws does not matter.
        values = np.array([measure.expected(row, draws) for row in ways])
        best = int(np.flatnonzero(values <= values.min() + SUM)[0])
        return by_size(ways[best])
    if measure.uses_similarity:
        problem: Problem = problem_from_similarity(similarity(draws), measure)
    else:
        problem = problem_from_draws(merged, measure)
    rng = np.random.default_rng(0)

    def settled(start: Labels) -> tuple[float, Labels]:
        search = LocalSearch(problem, start, rng)
        search.sweep_only(free)
        labels = search.labels
        return measure.expected(labels, draws), labels

    starts = _agreeing_draws(draws, partial, measure)
    best_value, best_labels = min(map(settled, starts), key=lambda pair: pair[0])
    for _ in range(min(_PERTURBED, int(_PERTURBED_WORK / cells))):
        start = best_labels.copy()
        some = free[rng.random(free.size) < rng.uniform(0.1, 0.6)]
        start[some] = rng.integers(0, int(start.max()) + 2, some.size)
        value, labels = settled(as_labels(start))
        if value < best_value:
            best_value, best_labels = value, labels
    return by_size(best_labels)


def _count_completions(n_free: int, n_clusters: int) -> int:
    """Ways to place items one by one into the clusters there are or a new one; capped."""
    ways = {n_clusters: 1}
    for _ in range(n_free):
        grown: dict[int, int] = {}
        for k, count in ways.items():
            grown[k] = grown.get(k, 0) + k * count
            grown[k + 1] = grown.get(k + 1, 0) + count
        ways = grown
        if sum(ways.values()) > _EXACT:
            break
    return sum(ways.values())


def _completions(partial: PartialPartition, free: NDArray[np.int64]) -> list[Labels]:
    """Every full partition that agrees, canonical."""
    rows = [partial.labels.copy()]
    for item in free.tolist():
        grown = []
        for row in rows:
            for place in range(int(row.max()) + 2):
                longer = row.copy()
                longer[item] = place
                grown.append(longer)
        rows = grown
    return [as_labels(row) for row in rows]


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
