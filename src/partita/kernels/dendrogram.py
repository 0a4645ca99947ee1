"""Agglomerative clustering, and the expected loss of every cut of a dendrogram.

A merge adds to the joint sum Σ f(n_te) what it alone decides, so gains of
merges can be found in any order and summed up in the order of the cuts.
"Heavy paths" make that cheap: along a path from a leaf upwards the counts of
the larger side stay in place, and only the smaller side is counted anew. Each
item is then counted O(log N) times per draw, however long the chains are.

Leaves are numbered so that every cluster is a range of positions, the larger
side first. Step s of the walk joins positions first[s] … middle[s] − 1 and
middle[s] … last[s] − 1; ``merge[s]`` is its place in the order of the cuts.
A step with middle = first + 1 is the foot of a path.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partita.kernels._jit import array_kernel, fast_kernel, kernel, part_of_kernel
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.contingency import Form, combine
from partita.kernels.problem import Problem, inner


def link(apart: Floats, *, complete: bool) -> Ints:
    """The two nodes joined by each merge, lowest first; node N + t is merge t, shape (N − 1, 2).

    Average linkage, or complete linkage, of a symmetric matrix.
    """
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    tree = linkage(squareform(apart, checks=False), "complete" if complete else "average")
    return np.asarray(tree[:, :2].astype(np.int64))


class Walk(NamedTuple):
    """A dendrogram as steps along its heavy paths."""

    order: Ints  # (n_items,): item at each position
    first: Ints  # (n_items − 1,)
    middle: Ints  # (n_items − 1,)
    last: Ints  # (n_items − 1,)
    merge: Ints  # (n_items − 1,)


def walk_tree(left: Ints, right: Ints, size: Ints) -> Walk:
    """Steps of the tree whose merge t joins nodes left[t] and right[t].

    Nodes 0 … n − 1 are items, node n + t is merge t; ``size`` counts the items of each. O(n), in
    Python: compiling it would take longer than a hundred thousand items do.
    """
    n = left.size + 1
    lefts, rights, sizes = left.tolist(), right.tolist(), size.tolist()
    order = [0] * n
    steps: list[tuple[int, int, int, int]] = []
    waiting = [(2 * n - 2, 0)]  # tops of heavy paths to be walked, and where their items begin
    while waiting:
        node, begin = waiting.pop()
        path = []
        while node >= n:
            heavy, light = lefts[node - n], rights[node - n]
            if sizes[light] > sizes[heavy]:
                heavy, light = light, heavy
            middle = begin + sizes[heavy]
            path.append((begin, middle, begin + sizes[node], node - n))
            waiting.append((light, middle))
            node = heavy
        order[begin] = node
        steps.extend(reversed(path))  # written from the top, walked from the foot
    columns = np.array(steps, np.int64).reshape(-1, 4).T
    return Walk(np.array(order, np.int64), *np.ascontiguousarray(columns))


@part_of_kernel
def merge_gains(
    walk: Walk, labels: Int32s, terms: Floats, heavy: Int32s, light: Int32s, gains: Floats
) -> None:
    """Compute the gain of each merge in one draw's joint sum.

    ``labels`` are the draw's, by position; ``heavy`` and ``light`` are
    counters, zero before and after.
    """
    begin, end = 0, 0
    for s in range(walk.first.size):
        first, middle, last = walk.first[s], walk.middle[s], walk.last[s]
        if middle == first + 1:
            for p in range(begin, end):
                heavy[labels[p]] = 0
            begin = first
            heavy[labels[first]] = 1
        end = last
        for p in range(middle, last):
            light[labels[p]] += 1
        gain = 0.0
        for p in range(middle, last):
            t = labels[p]
            y = light[t]
            if y > 0:
                x = heavy[t]
                gain += terms[x + y] - terms[x] - terms[y]
                heavy[t] = x + y
                light[t] = 0
        gains[walk.merge[s]] = gain
    for p in range(begin, end):
        heavy[labels[p]] = 0


@kernel
def _add_gains(
    walk: Walk,
    rows: Int32s,
    weights: Floats,
    terms: Floats,
    counters: Int32s,
    gains: Floats,
    out: Floats,
) -> None:
    n = rows.shape[1]
    heavy, light, labels = counters[0], counters[1], counters[2]
    for m in range(rows.shape[0]):
        for p in range(n):
            labels[p] = rows[m, walk.order[p]]
        merge_gains(walk, labels, terms, heavy, light, gains)
        for t in range(n - 1):
            out[t] += weights[m] * gains[t]


def mean_gains(walk: Walk, rows: Int32s, weights: Floats, terms: Floats, out: Floats) -> None:
    """Add the weighted gains of every merge over a block of draws."""
    n = rows.shape[1]
    _add_gains(walk, rows, weights, terms, np.zeros((3, n), np.int32), np.empty(n - 1), out)


@array_kernel
def mean_cut_losses(
    walk: Walk, rows: Int32s, weights: Floats, terms: Floats, form: Form, own: Floats, out: Floats
) -> None:
    """Add the weighted loss of every cut over a block of draws, combined draw by draw.

    ``own[t]`` is Σ f(n_e) after t merges, from singletons (0) to one cluster (n − 1).
    """
    n = rows.shape[1]
    heavy, light = np.zeros(n, np.int32), np.zeros(n, np.int32)
    labels = np.empty(n, np.int32)
    gains = np.empty(n - 1)
    for m in range(rows.shape[0]):
        for p in range(n):
            labels[p] = rows[m, walk.order[p]]
        truth = 0.0
        for p in range(n):
            heavy[labels[p]] += 1
        for t in range(n):
            truth += terms[heavy[t]]
            heavy[t] = 0
        merge_gains(walk, labels, terms, heavy, light, gains)
        joint = n * terms[1]
        for t in range(n - 1):
            out[t] += weights[m] * combine(form, joint, own[t], truth)
            joint += gains[t]
        # One cluster shares all of the draw's sum. The running sum carries rounding, which the
        # losses that divide by an entropy would blow up where that entropy is 0.
        out[n - 1] += weights[m] * combine(form, truth, own[n - 1], truth)


@fast_kernel
def _cross_sum(row: Floats, order: Ints, start: int, stop: int, within: Floats) -> float:
    """Add p_ij to within[j] of every j at positions start … stop − 1; return their sum."""
    total = 0.0
    for q in range(start, stop):
        value = row[order[q]]
        total += value
        within[q] += value
    return total


@array_kernel
def similarity_gains(problem: Problem, walk: Walk) -> Floats:
    """What each merge adds to Σ_i Σ_{j ∈ C_i} p_ij, or to the sum of the inner sums' log2.

    Every pair of items is met once, in the merge that joins it.
    """
    n = walk.order.size
    gains = np.zeros(n - 1)
    within = np.ones(n)
    step = np.empty(n - 1, np.int64)
    for s in range(n - 1):
        step[walk.merge[s]] = s
    # In the order of the cuts: inner sums of both sides must be complete when they are joined.
    for t in range(n - 1):
        s = step[t]
        first, middle, last = walk.first[s], walk.middle[s], walk.last[s]
        gain = 0.0
        for p in range(first, last):
            gain -= inner(problem, within[p])
        for p in range(middle, last):
            within[p] += _cross_sum(
                problem.similarity[walk.order[p]], walk.order, first, middle, within
            )
        for p in range(first, last):
            gain += inner(problem, within[p])
        gains[t] = gain
    return gains
