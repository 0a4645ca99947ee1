"""A partition near another one that has exactly k clusters, or none smaller than a given size."""

from __future__ import annotations

import numpy as np

from partita.kernels.arrays import Bools, Ints
from partita.kernels.search.moves import merge_scores, move_losses, objective, together
from partita.labels import Labels, canonical
from partita.search.descent import Walker
from partita.search.problem import Problem, new_scratch, new_state
from partita.search.ruled_walk import Rules

_DUST = 0.25
"""Share of the items, at most, in clusters that are too small, to be put elsewhere one by one."""

_SPLITS = 4
"""Clusters, at most, whose halves are evaluated when one must be split."""


def kept(problem: Problem, labels: Labels, rules: Rules, rng: np.random.Generator) -> Labels:
    """A partition near this one that keeps the rules."""
    labels = canonical(labels)
    for _ in range(2 * labels.size):
        sizes = np.bincount(labels)
        k = rules.n_clusters
        small = sizes < rules.min_size
        if small.sum() > 1 and sizes[small].sum() <= _DUST * labels.size:
            labels = _dissolved(problem, labels, small, rng)
        elif small.any() and sizes.size > 1:
            labels = _merged(problem, labels, int(small.sum()), small)
        elif k is not None and sizes.size > k:
            labels = _merged(problem, labels, sizes.size - k, np.ones(sizes.size, bool))
        elif k is not None and sizes.size < k:
            halved = _split(problem, labels, rules.min_size, rng)
            if halved is None:
                break
            labels = halved
        else:
            return labels
    return _dealt(labels, rules)


def _dissolved(problem: Problem, labels: Labels, small: Bools, rng: np.random.Generator) -> Labels:
    """Put the items of small clusters, one by one, where they fit best among the others."""
    number = np.cumsum(~small) - 1
    placed = np.where(small[labels], -1, number[labels]).astype(np.int32)
    cap = int(number[-1]) + 1
    return Walker(problem, placed, rng, max_clusters=cap).labels


def _merged(problem: Problem, labels: Labels, excess: int, small: Bools) -> Labels:
    """Merge the cheapest pairs with a small cluster, for half of the excess, each cluster once."""
    scores = merge_scores(problem, new_state(problem, labels))
    scores[~(small[:, None] | small)] = np.inf
    target = np.arange(len(scores))
    free = np.ones(len(scores), bool)
    left = (excess + 1) // 2
    for pair in np.argsort(scores, axis=None).tolist():
        a, b = divmod(pair, len(scores))
        if free[a] and free[b] and np.isfinite(scores[a, b]):
            free[[a, b]] = False
            target[b] = a
            left -= 1
            if left == 0:
                break
    return canonical(target[labels])


def _split(problem: Problem, labels: Labels, least: int, rng: np.random.Generator) -> Labels | None:
    """Divide the cluster whose halves leave the lowest loss; None where none is large enough."""
    sizes = np.bincount(labels)
    best = _alone(problem, labels, sizes) if least == 1 else None
    ways = []
    for slot in np.flatnonzero(sizes >= max(2, 2 * least)).tolist():
        members = rng.permutation(np.flatnonzero(labels == slot))
        apart = 1.0 - together(problem, int(members[0]), members)
        ways.append((float(apart.sum()), slot, members, apart))
    for _, _, members, apart in sorted(ways, key=lambda way: -way[0])[:_SPLITS]:
        one = members[int(apart.argmax())]
        other = members[int(together(problem, int(one), members).argmin())]
        if one == other:
            one, other = members[0], members[1]
        lean = together(problem, int(one), members) - together(problem, int(other), members)
        lean[members == one], lean[members == other] = np.inf, -np.inf
        order = members[np.argsort(lean, kind="stable")]
        count = int(np.clip((lean < 0).sum(), max(1, least), members.size - max(1, least)))
        halved = labels.copy()
        halved[order[:count]] = sizes.size
        halved = canonical(halved)
        loss = float(objective(problem, new_state(problem, halved)))
        if best is None or loss < best[0]:
            best = (loss, halved)
    return None if best is None else best[1]


def _alone(problem: Problem, labels: Labels, sizes: Ints) -> tuple[float, Labels] | None:
    """Put the item that costs least into a cluster of its own."""
    items = np.flatnonzero(sizes[labels] > 1)
    if not items.size:
        return None
    state = new_state(problem, labels)
    losses = move_losses(problem, state, items, new_scratch(problem, state))[:, sizes.size]
    alone = labels.copy()
    alone[items[losses.argmin()]] = sizes.size
    return float(losses.min()), canonical(alone)


def _dealt(labels: Labels, rules: Rules) -> Labels:
    """Items in the order of their clusters, dealt into clusters of nearly equal size."""
    n = labels.size
    k = rules.n_clusters or max(1, min(int(labels.max()) + 1, n // rules.min_size))
    out = np.empty(n, np.int32)
    for place, items in enumerate(np.array_split(np.argsort(labels, kind="stable"), k)):
        out[items] = place
    return canonical(out)


def disturbed(labels: Labels, rng: np.random.Generator) -> Labels:
    """Some items, or the halves of a cluster, moved at random."""
    n, k = labels.size, int(labels.max()) + 1
    out = labels.copy()
    if rng.random() < 0.5:
        some = rng.random(n) < rng.uniform(0.05, 0.3)
        out[some] = rng.integers(0, k, int(some.sum()))
    else:
        a, b, c = rng.integers(0, k, 3)
        out[out == b] = a
        out[(out == c) & (rng.random(n) < 0.5)] = k
    return canonical(out)
