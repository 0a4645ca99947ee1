"""Credible balls, item and cluster tables, and cores from their definitions, draw by draw."""

from fractions import Fraction
from itertools import combinations
from math import log2

import numpy as np

from reference import losses
from reference.partitions import blocks, first_appearance


def masses_of(draws, weights=None) -> list[Fraction]:
    """Exact weights that sum to 1."""
    values = [Fraction(1)] * len(draws) if weights is None else [Fraction(w) for w in weights]
    return [value / sum(values) for value in values]


def distance(name, a, b):
    """Exact for Binder's loss; entropies rounded to where float sums still agree."""
    if name == "binder":
        n = len(a)
        apart = sum((a[i] == a[j]) != (b[i] == b[j]) for i in range(n) for j in range(n))
        return Fraction(apart, n * n)
    return round({"vi": losses.vi, "id": losses.information_distance}[name](a, b), 9)


def ball(draws, center, prob: Fraction, name, weights=None) -> dict:
    """Section 5 of the paper, word by word, over the distinct partitions."""
    mass: dict = {}
    for draw, m in zip(draws, masses_of(draws, weights), strict=True):
        key = tuple(first_appearance(draw))
        mass[key] = mass.get(key, 0) + m
    far = {key: distance(name, center, key) for key in mass}
    radius = min(e for e in far.values() if sum(mass[key] for key in mass if far[key] <= e) >= prob)
    inside = [key for key in mass if far[key] <= radius]
    k = {key: len(set(key)) for key in inside}

    def most_distant(keys):
        top = max(far[key] for key in keys)
        return {key: mass[key] for key in keys if far[key] == top}

    return {
        "radius": radius,
        "coverage": sum(mass[key] for key in inside),
        "inside": set(inside),
        "upper": most_distant([key for key in inside if k[key] == min(k.values())]),
        "lower": most_distant([key for key in inside if k[key] == max(k.values())]),
        "horizontal": most_distant(inside),
        "distances": far,
    }


def comparison(draws, estimate, jaccard, weights) -> dict:
    """What ``compare_with_estimate`` adds up, set by set; one entry of weights per draw."""
    n = len(estimate)
    clusters = [{i for i in range(n) if estimate[i] == k} for k in range(len(set(estimate)))]
    out = {
        "companions": np.zeros((n, len(clusters))),
        "information": np.zeros(n),
        "unchanged": np.zeros(len(clusters)),
        "similar": np.zeros(len(clusters)),
    }
    for draw, w in zip(draws, weights, strict=True):
        found = blocks(draw)
        for i in range(n):
            mine = losses.cluster(draw, i)
            own = clusters[estimate[i]]
            for k, members in enumerate(clusters):
                out["companions"][i, k] += w * len(mine & members)
            out["information"][i] += w * (
                log2(len(mine)) + log2(len(own)) - 2 * log2(len(mine & own))
            )
        for k, members in enumerate(clusters):
            overlap = max(Fraction(len(members & b), len(members | b)) for b in found)
            out["unchanged"][k] += w * (overlap == 1)
            # In floats: 4/5 is not below the float 0.8, which is a little more than four fifths.
            out["similar"][k] += w * (float(overlap) >= jaccard)
    return out


def matching(draw, estimate) -> dict[int, int]:
    """The cluster of the estimate each cluster of a draw stands for, over all assignments.

    The largest total overlap; then the estimate's clusters in turn the largest
    overlap, then the draw's first cluster. Pairs without common items do not count.
    """
    n, k_estimate = len(estimate), len(set(estimate))
    members = [{i for i in range(n) if draw[i] == t} for t in range(len(set(draw)))]
    own = [{i for i in range(n) if estimate[i] == k} for k in range(k_estimate)]

    def assignments(k: int, taken: frozenset):
        if k == k_estimate:
            yield []
            return
        for t in [None, *(t for t in range(len(members)) if t not in taken)]:
            if t is None or members[t] & own[k]:
                for rest in assignments(k + 1, taken | {t} if t is not None else taken):
                    yield [t, *rest]

    def rank(chosen):
        overlap = [0 if t is None else len(members[t] & own[k]) for k, t in enumerate(chosen)]
        turns = [(size, 0 if t is None else -t) for size, t in zip(overlap, chosen, strict=True)]
        return sum(overlap), turns

    best = max(assignments(0, frozenset()), key=rank)
    return {t: k for k, t in enumerate(best) if t is not None}


def placement(draws, estimate, weights) -> np.ndarray:
    """Weight with which each item's cluster stands for each cluster of the estimate, or none."""
    out = np.zeros((len(estimate), len(set(estimate)) + 1))
    for draw, w in zip(draws, weights, strict=True):
        canonical = first_appearance(draw)
        stands_for = matching(canonical, estimate)
        for i, t in enumerate(canonical):
            out[i, stands_for.get(t, -1)] += w
    return out


def shape(draw) -> tuple[float, list[int]]:
    """Entropy, and cluster sizes from the largest on."""
    return losses.entropy(draw), sorted((len(block) for block in blocks(draw)), reverse=True)


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
