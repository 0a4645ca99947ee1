"""Expected losses of whole partitions from the similarity matrix."""

from __future__ import annotations

import numpy as np

from partita.kernels._jit import array_kernel, fast_kernel, part_of_kernel
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.contingency import combine
from partita.kernels.search.pairs import inner
from partita.kernels.search.types import Problem


@part_of_kernel
def sizes_and_order(labels: Int32s) -> tuple[Ints, Int32s]:
    """Cluster sizes, and the items sorted by cluster."""
    n = labels.size
    highest = 0
    for i in range(n):
        highest = max(highest, labels[i])
    sizes = np.zeros(highest + 1, np.int64)
    for i in range(n):
        sizes[labels[i]] += 1
    position = np.zeros(highest + 1, np.int64)
    for k in range(1, highest + 1):
        position[k] = position[k - 1] + sizes[k - 1]
    order = np.empty(n, np.int32)
    for i in range(n):
        order[position[labels[i]]] = i
        position[labels[i]] += 1
    return sizes, order


@fast_kernel
def _sum_over(row: Floats, members: Int32s) -> float:
    total = 0.0
    for q in range(members.size):
        total += row[members[q]]
    return total


@array_kernel
def losses_of(problem: Problem, rows: Int32s, out: Floats) -> None:
    """Expected loss of each row of labels; O(N + Σ n_k²) per row."""
    for r in range(rows.shape[0]):
        sizes, order = sizes_and_order(rows[r])
        own = 0.0
        joint = 0.0
        start = 0
        for k in range(sizes.size):
            members = order[start : start + sizes[k]]
            start += sizes[k]
            own += problem.terms[sizes[k]]
            for p in range(members.size):
                within = _sum_over(problem.similarity[members[p]], members)
                joint += inner(problem, within)
        out[r] = combine(problem.form, joint, own, problem.mean_truth)
