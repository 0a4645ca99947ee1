"""Reference implementations of the search methods: every candidate is evaluated."""

from itertools import combinations
from math import fsum, log2

from reference import losses as reference
from reference.partitions import first_appearance

TIE = 1e-10


def expected(loss, estimate, draws, weights) -> float:
    """Expected loss of an estimate from the definition of the loss."""
    price = getattr(loss, "a", None)
    if price is None:
        return reference.expected(loss.name, estimate, draws, weights)
    values = [reference.DISTANCES[loss.name](estimate, row, price) for row in draws]
    return fsum(w * x for w, x in zip(weights, values, strict=True)) / fsum(weights)


def minimisers(loss, candidates, draws, weights) -> list[list[int]]:
    """Every candidate whose expected loss ties with the lowest, sorted."""
    values = [expected(loss, c, draws, weights) for c in candidates]
    lowest = min(values)
    near = lowest + TIE * max(1.0, lowest)
    return sorted(list(c) for c, v in zip(candidates, values, strict=True) if v <= near)


def linkage_cuts(p, method: str) -> list[list[int]]:
    """Cuts of average or complete linkage on 1 − p, from singletons to one cluster.

    The mean or largest dissimilarity of two clusters is taken from the matrix
    itself at every merge.
    """
    n = len(p)
    clusters = [[i] for i in range(n)]
    cuts = [list(range(n))]
    reduce_ = {"average": lambda x: sum(x) / len(x), "complete": max}[method]
    while len(clusters) > 1:
        _, a, b = min(
            (reduce_([1 - p[i][j] for i in clusters[a] for j in clusters[b]]), a, b)
            for a, b in combinations(range(len(clusters)), 2)
        )
        clusters[a] = clusters[a] + clusters[b]
        del clusters[b]
        labels = [next(k for k, c in enumerate(clusters) if i in c) for i in range(n)]
        cuts.append(first_appearance(labels))
    return cuts


def term(pairs: bool, x: int) -> float:
    """x² for losses that count pairs, x·log2 x for the entropic ones."""
    if pairs:
        return float(x * x)
    return x * log2(x) if x > 0 else 0.0


def covers(labels) -> list[tuple[float, float, list[int]]]:
    """Partitions that merge two clusters: their entropic and pair distance, and their labels."""
    out = []
    for a, b in combinations(sorted(set(labels)), 2):
        x, y = labels.count(a), labels.count(b)
        merged = first_appearance([a if label == b else label for label in labels])
        out.append((*_distances(x, y), merged))
    return out


def covered(labels) -> list[tuple[float, float, list[int]]]:
    """Partitions that split one cluster in two, each once."""
    out = []
    for a in sorted(set(labels)):
        members = [i for i, label in enumerate(labels) if label == a]
        for size in range(1, len(members)):
            for part in combinations(members[1:], size):  # the first member stays
                split = first_appearance([-1 if i in part else x for i, x in enumerate(labels)])
                out.append((*_distances(size, len(members) - size), split))
    return out


def _distances(x: int, y: int) -> tuple[float, float]:
    both = [term(pairs, x + y) - term(pairs, x) - term(pairs, y) for pairs in (False, True)]
    return both[0], both[1]


def steepest_descent(loss, start, draws, weights) -> list[int]:
    """Greedy search over all covers and all covered partitions until none is lower."""
    here, present = list(start), expected(loss, start, draws, weights)
    while True:
        around = [labels for *_, labels in covers(here) + covered(here)]
        values = [expected(loss, labels, draws, weights) for labels in around]
        if not values or min(values) >= present - 1e-12:
            return here
        present = min(values)
        here = around[values.index(present)]
