"""Partitions as sets of sets: the definitions, without cleverness."""

from functools import cache
from itertools import product


def blocks(labels) -> frozenset[frozenset[int]]:
    """The clusters of a partition as a set of sets of items."""
    return frozenset(
        frozenset(i for i, label in enumerate(labels) if label == name) for name in set(labels)
    )


def first_appearance(labels) -> list[int]:
    """Labels renamed 0, 1, … in order of first appearance."""
    names: list = []
    for label in labels:
        if label not in names:
            names.append(label)
    return [names.index(label) for label in labels]


def below(a, b) -> bool:
    """a ≤ b by set containment."""
    return all(any(small <= big for big in blocks(b)) for small in blocks(a))


@cache
def every_partition(n: int) -> list[list[int]]:
    """Every partition of n items, by filtering every label vector."""
    return sorted(
        list(labels)
        for labels in product(range(n), repeat=n)
        if first_appearance(labels) == list(labels)
    )


def greatest_lower_bound(a, b, everything) -> list[int]:
    """The lower bound that lies above every other lower bound."""
    lower = [c for c in everything if below(c, a) and below(c, b)]
    return next(c for c in lower if all(below(other, c) for other in lower))


def least_upper_bound(a, b, everything) -> list[int]:
    """The upper bound that lies below every other upper bound."""
    upper = [c for c in everything if below(a, c) and below(b, c)]
    return next(c for c in upper if all(below(c, other) for other in upper))


def is_cover(below_, above, everything) -> bool:
    """Whether ``above`` covers ``below_``: greater, with nothing strictly between."""

    def strictly(x, y) -> bool:
        return x != y and below(x, y)

    return strictly(below_, above) and not any(
        strictly(below_, c) and strictly(c, above) for c in everything
    )
