"""The losses from their definitions, one item and one pair at a time.

Estimate first, truth second. Counts stay exact as fractions; only logarithms are floats.
"""

from fractions import Fraction
from math import fsum, log2

import numpy as np
from scipy.optimize import linear_sum_assignment

from outside_losses import jaccard


def cluster(labels, i: int) -> set[int]:
    """The items that share a cluster with item i, itself included."""
    return {j for j, label in enumerate(labels) if label == labels[i]}


def _sizes(*partitions) -> list[int]:
    """Sizes of the clusters of one partition, or of the intersections of several."""
    keys = list(zip(*partitions, strict=True))
    return [keys.count(key) for key in dict.fromkeys(keys)]


def entropy(*partitions) -> float:
    """Entropy, in bits, of one partition or joint entropy of several."""
    n = len(partitions[0])
    return fsum(-size / n * log2(size / n) for size in _sizes(*partitions))


def conditional_entropy(a, given) -> float:
    """H(a given b): the uncertainty about an item's cluster in a, once that in b is known."""
    n = len(a)
    total = 0.0
    for name in set(given):
        members = [x for x, y in zip(a, given, strict=True) if y == name]
        total += len(members) / n * entropy(members)
    return total


def vi(estimate, truth, a: float = 1.0) -> float:
    """a·H(e given t) + (2 − a)·H(t given e)."""
    return a * conditional_entropy(estimate, truth) + (2 - a) * conditional_entropy(truth, estimate)


def binder(estimate, truth, a: float = 1.0) -> float:
    """Price of every ordered pair on which the two disagree, over N²."""
    n = len(truth)
    price = Fraction(0)
    for i in range(n):
        for j in range(n):
            together_e, together_t = estimate[i] == estimate[j], truth[i] == truth[j]
            if together_t and not together_e:
                price += Fraction(a)
            elif together_e and not together_t:
                price += 2 - Fraction(a)
    return float(price / n**2)


def nvi(estimate, truth) -> float:
    """VI over the joint entropy; 0 when both are one cluster."""
    joint = entropy(estimate, truth)
    return vi(estimate, truth) / joint if len(_sizes(estimate, truth)) > 1 else 0.0


def mutual_information(a, b) -> float:
    """H(a) + H(b) − H(a, b)."""
    return entropy(a) + entropy(b) - entropy(a, b)


def information_distance(estimate, truth) -> float:
    """max(H_t, H_e) − I."""
    return max(entropy(estimate), entropy(truth)) - mutual_information(estimate, truth)


def nid(estimate, truth) -> float:
    """1 − I / max(H_t, H_e); 0 when both are one cluster."""
    if len(set(estimate)) == 1 == len(set(truth)):
        return 0.0
    return 1 - mutual_information(estimate, truth) / max(entropy(estimate), entropy(truth))


def omari(estimate, truth) -> float:
    """1 − ARI; 0 where the index is 0/0."""
    return ompear(estimate, similarity([truth], [Fraction(1)]))


def similarity(draws, weights=None) -> list[list[Fraction]]:
    """Weighted share of the draws that put i and j together."""
    n = len(draws[0])
    given = [Fraction(w) for w in (weights if weights is not None else [1] * len(draws))]
    total = sum(given)
    matrix = [[Fraction(0)] * n for _ in range(n)]
    for row, weight in zip(draws, given, strict=True):
        for i in range(n):
            for j in range(n):
                if row[i] == row[j]:
                    matrix[i][j] += weight / total
    return matrix


def vi_lower_bound(estimate, p) -> float:
    """(1/N) Σ_i [log n_i + log Σ_j p_ij − 2 log Σ_{j ∈ C_i} p_ij]."""
    n = len(estimate)
    terms = []
    for i in range(n):
        mine = cluster(estimate, i)
        terms += [log2(len(mine)), log2(sum(p[i])), -2 * log2(sum(p[i][j] for j in mine))]
    return fsum(terms) / n


def ompear(estimate, p) -> float:
    """1 − first-order posterior expected adjusted Rand index; 0 where it is 0/0."""
    n = len(estimate)
    pairs = [(i, j) for j in range(n) for i in range(j)]
    own = sum(estimate[i] == estimate[j] for i, j in pairs)
    expected = sum((p[i][j] for i, j in pairs), Fraction(0))
    both = sum((p[i][j] for i, j in pairs if estimate[i] == estimate[j]), Fraction(0))
    chance = own * expected / len(pairs) if pairs else Fraction(0)
    below = (own + expected) / 2 - chance
    return float(1 - (both - chance) / below) if below else 0.0


def best_matching(left, right) -> int:
    """The largest total overlap of two families of sets matched one to one."""
    table = np.array([[len(x & y) for y in right] for x in left]).reshape(len(left), len(right))
    return int(table[linear_sum_assignment(table, maximize=True)].sum())


def faro(estimate, truth, a: float = 1.0) -> float:
    """a·|Z| + (2 − a)·|T| − 2·M(Z, T), of families of sets or of labels."""
    z, t = (_families(x) for x in (estimate, truth))
    own, other = sum(map(len, z)), sum(map(len, t))
    return a * own + (2 - a) * other - 2 * best_matching(z, t)


def _families(x) -> list[set[int]]:
    """The clusters of labels; sets as they are."""
    x = list(x)
    if x and isinstance(x[0], (set, frozenset, tuple)):
        return [set(feature) for feature in x]
    return [{i for i, label in enumerate(x) if label == name} for name in dict.fromkeys(x)]


DISTANCES = {"vi": vi, "binder": binder, "nvi": nvi, "id": information_distance, "nid": nid}
DISTANCES |= {
    "one_minus_ari": omari,
    "vi_lb": vi,
    "one_minus_pear": omari,
    "jaccard": jaccard,
    "faro": faro,
}
"""Loss of an estimate against one truth, by the name of the loss."""


def expected(name: str, estimate, draws, weights=None) -> float:
    """Posterior expected loss by its name."""
    if name in ("vi_lb", "one_minus_pear"):
        surrogate = {"vi_lb": vi_lower_bound, "one_minus_pear": ompear}[name]
        return surrogate(estimate, similarity(draws, weights))
    given = weights if weights is not None else [1] * len(draws)
    losses = [DISTANCES[name](estimate, row) for row in draws]
    return fsum(w * x for w, x in zip(given, losses, strict=True)) / fsum(given)
