"""Reference implementations for ``representative``: every set, split and pair is listed."""

from itertools import combinations
from math import exp

import numpy as np


def best_sets(distances, weights, n, tie=1e-10):
    """Lowest mean distance to the nearest of n rows, and every set that reaches it."""
    values = {
        chosen: float(np.dot(weights, np.min([distances[c] for c in chosen], axis=0)))
        for chosen in combinations(range(len(distances)), n)
    }
    lowest = min(values.values())
    return lowest, [chosen for chosen, value in values.items() if value <= lowest + tie]


def splits(items, n):
    """Every way to divide items among at most n blocks."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for blocks in splits(rest, n):
        for k in range(len(blocks)):
            yield [*blocks[:k], (first, *blocks[k]), *blocks[k + 1 :]]
        if len(blocks) < n:
            yield [(first,), *blocks]


def shared_cost(d, mass, n):
    """Least cost over all splits into at most n blocks in which everyone shares with everyone.

    A draw shares nothing with itself: all shares are raised by the smallest of these.
    """
    total = sum(mass)

    def cost(block):
        weight = sum(mass[i] for i in block)
        return sum(mass[i] * mass[j] * d[i][j] for i, j in combinations(block, 2)) / weight

    everyone = tuple(range(len(mass)))
    least = min(sum(map(cost, blocks)) for blocks in splits(everyone, n))
    return least / (1.0 - min(mass) / total)


def eigenvalue_cost(d, mass, n):
    """The same with at most n − 1 free directions in place of blocks, and a projection matrix."""
    root = np.sqrt(mass)
    total = root @ root
    matrix = np.diag(root) @ d @ np.diag(root)
    across = np.eye(len(root)) - np.outer(root, root) / total
    lowest = np.minimum(np.linalg.eigvalsh(across @ matrix @ across)[: n - 1], 0.0).sum()
    return 0.5 * (root @ matrix @ root / total + lowest) / (1.0 - min(mass) / total)


def conformal_p(distances, to_draws, rate, tie=1e-9):
    """Full conformal p-value of a partition from its definition: everyone is scored anew."""
    m = len(to_draws)
    own = sum(exp(-rate * t) for t in to_draws)
    at_most = 0
    for i in range(m):
        score = sum(exp(-rate * distances[i][j]) for j in range(m) if j != i)
        score += exp(-rate * to_draws[i])
        at_most += score <= own + tie * max(1.0, abs(own))
    return (1 + at_most) / (m + 1)


def components(level, score, graph):
    """Number of connected pieces of the nodes that score at least ``level``."""
    left = {i for i, s in enumerate(score) if s >= level}
    pieces = 0
    while left:
        pieces += 1
        waiting = [left.pop()]
        while waiting:
            found = left & set(graph[waiting.pop()])
            left -= found
            waiting.extend(found)
    return pieces
