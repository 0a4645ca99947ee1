"""Greedy search over the Hasse diagram of partitions.

The search is that of Wade and Ghahramani (2018), Section 4. From a partition, the l closest
partitions that cover it (two clusters merged) and the l closest that it covers (one cluster split)
are evaluated exactly, and the search moves to the one with the smallest expected loss, until none
is lower. Both kinds lie at f(x + y) − f(x) − f(y), with x ≤ y the sizes of the two parts and f the
loss's term: entropic losses measure x·log2(x), losses that count pairs x². Neighbours as close as
the l-th are drawn at random, so that the order of the items never decides which are seen.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.kernels.arrays import Floats, Ints
from partita.kernels.local_search import (
    assign,
    assign_and_close,
    merge_scores,
    move_losses,
    objective,
    slack,
)
from partita.labels import canonical
from partita.search.problem import (
    Problem,
    State,
    grown,
    has_counts,
    new_scratch,
    new_state,
    problem_of,
)
from partita.search.task import Candidate, Task, distinct_candidates, run_interruptible_parallel

TABLE_CELLS = 1 << 22
"""Most cells of a count table for which the search also starts from singletons."""

EQUAL = 1e-9
"""Distances this close (relative above 1) are equal; rounding of x·log2(x) is far below."""

Rng = np.random.Generator


class Move(NamedTuple):
    """Items that leave their cluster for another one, or for a new one."""

    items: Ints
    target: int


def search(task: Task) -> list[Candidate]:
    """Greedy descents from the user's starts, both ends of the lattice and draws."""
    problem = problem_of(task)
    starts = _starts(task, problem)
    task.log.found.extend(starts)
    rngs = task.rng.spawn(len(starts))
    work = list(zip(starts, rngs, strict=True))
    return run_interruptible_parallel(
        task, lambda w: _descend(task, problem, *w), work, "descending"
    )


def _starts(task: Task, problem: Problem) -> list[Candidate]:
    n, cap, draws = task.n_items, task.max_clusters, task.draws
    starts = [Candidate(row, "user") for row in task.options.starts]
    starts.append(Candidate(np.zeros(n, np.int32), "one cluster"))
    rows = max(int(problem.row_draw.size), n) if has_counts(problem) else n
    if cap == n and rows * n <= TABLE_CELLS:
        starts.append(Candidate(np.arange(n, dtype=np.int32), "singletons"))
    if draws is not None:
        allowed = np.flatnonzero((draws.n_clusters <= cap) & (draws.probabilities > 0))
        mass = draws.probabilities[allowed]
        count = min(task.options.n_starts, allowed.size)
        if count:
            chosen = task.rng.choice(allowed, count, replace=False, p=mass / mass.sum())
            starts += [Candidate(draws.rows(int(m), int(m) + 1)[0], "draw") for m in chosen]
    return distinct_candidates(starts)


def _descend(task: Task, problem: Problem, start: Candidate, rng: Rng) -> Candidate:
    """Move to the best neighbour until none is lower."""
    most = task.options.neighbours or 2 * task.n_items
    state = new_state(problem, start.labels)
    while not task.clock.is_up():
        while state.k[0] + 2 > state.sizes.size - 1:
            state = grown(problem, state)
        moves, scores = _merges(problem, state, most, rng)
        if state.k[0] < task.max_clusters:
            splits = closest_splits(state.slot_of, problem.terms, most, rng)
            moves, scores = moves + splits, [*scores, *_scored(task, problem, state, splits)]
        task.log.n_evaluated += sum(move.items.size for move in moves)
        best = int(np.argmin(scores)) if scores else -1
        if best < 0 or scores[best] >= objective(problem, state) - slack(problem, state):
            break
        items, target = moves[best]
        assign_and_close(problem, state, items, np.full(items.size, target, np.int32))
    return Candidate(canonical(state.slot_of), start.origin)


def _merges(problem: Problem, state: State, most: int, rng: Rng) -> tuple[list[Move], list[float]]:
    """The closest merges and the expected losses after them."""
    pairs = closest_merges(state.sizes[: int(state.k[0])], problem.terms, most, rng)
    if not len(pairs):
        return [], []
    losses = merge_scores(problem, state)
    members = [np.flatnonzero(state.slot_of == j) for _, j in pairs.tolist()]
    moves = [Move(items, int(i)) for items, (i, _) in zip(members, pairs, strict=True)]
    return moves, [float(losses[i, j]) for i, j in pairs]


def closest_merges(sizes: Ints, terms: Floats, most: int, rng: Rng) -> Ints:
    """Pairs i < j of the clusters whose merging is closest, shape (at most ``most``, 2)."""
    lower, upper = np.triu_indices(sizes.size, 1)
    x, y = sizes[lower], sizes[upper]
    away = terms[x + y] - terms[x] - terms[y]
    order = np.lexsort((rng.random(away.size), _levels(away)))[:most]
    return np.column_stack((lower, upper))[order]


def _levels(away: Floats) -> Ints:
    """Ranks of distances, equal within rounding."""
    order = np.argsort(away, kind="stable")
    steps = np.diff(away[order]) > EQUAL * np.maximum(1.0, away[order][1:])
    levels = np.empty(away.size, np.int64)
    levels[order] = np.concatenate(([0], np.cumsum(steps))) if away.size else 0
    return levels


def closest_splits(slot_of: NDArray[np.int32], terms: Floats, most: int, rng: Rng) -> list[Move]:
    """Splits of one cluster that are closest: the smaller part moves to a new cluster."""
    sizes = np.bincount(slot_of)
    members = [np.flatnonzero(slot_of == k) for k in range(sizes.size)]
    parts = [(x, int(s)) for s in np.unique(sizes) for x in range(1, int(s) // 2 + 1)]
    if not parts:
        return []
    x, s = np.array(parts).T
    levels = _levels(terms[s] - terms[x] - terms[s - x])
    found: list[Ints] = []
    for level in range(int(levels.max()) + 1):
        kinds = [parts[p] for p in np.flatnonzero(levels == level)]
        found += _some_subsets(kinds, members, sizes, most - len(found), rng)
        if len(found) == most:
            break
    return [Move(items, sizes.size) for items in found]


def _some_subsets(
    kinds: list[tuple[int, int]], members: list[Ints], sizes: Ints, most: int, rng: Rng
) -> list[Ints]:
    """Subsets of x items of clusters of s items, for some (x, s): all, or as many at random."""
    places = [(k, x) for x, s in kinds for k in np.flatnonzero(sizes == s).tolist()]
    counts = [comb(int(sizes[k]), x) // (2 if 2 * x == sizes[k] else 1) for k, x in places]
    total = sum(counts)
    if total <= 2 * most:
        every = [
            members[k][list(chosen)]
            for (k, x), count in zip(places, counts, strict=True)
            for chosen, _ in zip(combinations(range(int(sizes[k])), x), range(count), strict=False)
        ]
        chosen = rng.choice(total, most, replace=False) if total > most else range(total)
        return [every[c] for c in chosen]
    share = np.array([count / total for count in counts])
    found: dict[bytes, Ints] = {}
    while len(found) < most:  # at least half of the subsets are new
        k, x = places[int(rng.choice(len(places), p=share))]
        items = np.sort(rng.choice(members[k], x, replace=False))
        if 2 * x == sizes[k] and items[0] != members[k][0]:
            items = np.setdiff1d(members[k], items)  # both halves are one split
        found[items.tobytes()] = items
    return list(found.values())


def _scored(task: Task, problem: Problem, state: State, moves: list[Move]) -> list[float]:
    """Expected loss after each split; infinite where time ran out."""
    scores, k = np.full(len(moves), np.inf), int(state.k[0])
    single = np.array([m for m, move in enumerate(moves) if move.items.size == 1], np.int64)
    if single.size:
        items = np.concatenate([moves[m].items for m in single])
        scores[single] = move_losses(problem, state, items, new_scratch(problem, state))[:, k]
    for m, (items, target) in enumerate(moves):
        if items.size > 1 and not task.clock.is_up():
            home = np.full(items.size, state.slot_of[items[0]], np.int32)
            assign(problem, state, items, np.full(items.size, target, np.int32))
            scores[m] = objective(problem, state)
            assign(problem, state, items, home)
            state.k[0] = k
    return scores.tolist()
