"""Credible cores from their definition: every set of items, every grouping of it."""

from fractions import Fraction
from itertools import combinations

from reference.partitions import first_appearance
from reference.uncertainty import masses_of


def groupings(draws, items, weights=None) -> dict[tuple, Fraction]:
    """Weight of each grouping of the items that occurs."""
    found: dict[tuple, Fraction] = {}
    for draw, mass in zip(draws, masses_of(draws, weights), strict=True):
        key = tuple(first_appearance([draw[i] for i in items]))
        found[key] = found.get(key, Fraction(0)) + mass
    return found


def best_by_size(draws, weights=None) -> list[Fraction]:
    """Largest probability of a grouping of 1, 2, … items."""
    n = len(draws[0])
    return [
        max(
            max(groupings(draws, items, weights).values()) for items in combinations(range(n), size)
        )
        for size in range(1, n + 1)
    ]


def holds(draw, partial) -> bool:
    """Whether a draw groups the stated items (labels ≥ 0) as the partial labels do."""
    items = [i for i in range(len(partial)) if partial[i] >= 0]
    return all((draw[i] == draw[j]) == (partial[i] == partial[j]) for i in items for j in items)


def probability(draws, partial, weights=None) -> Fraction:
    """Weight of the draws that hold."""
    masses = masses_of(draws, weights)
    return sum(
        (m for draw, m in zip(draws, masses, strict=True) if holds(draw, partial)), Fraction(0)
    )


def if_added(draws, partial, item, weights=None) -> Fraction:
    """Largest probability once one more item is stated, wherever it goes."""
    places = range(max(partial) + 2)
    trials = [[*partial[:item], place, *partial[item + 1 :]] for place in places]
    return max(probability(draws, trial, weights) for trial in trials)
