"""Expected losses of whole partitions from the similarity matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import fast_kernel, kernel
from partita.kernels.losses.distances import sizes_and_order
from partita.kernels.losses.forms import combine
from partita.kernels.search.pairs import inner
from partita.kernels.search.types import Problem


@fast_kernel
def _sum_over(row: NDArray[np.float64], members: NDArray[np.int32]) -> float:
    total = 0.0
    for q in range(members.size):
        total += row[members[q]]
    return total


@kernel
def losses_of(problem: Problem, rows: NDArray[np.int32], out: NDArray[np.float64]) -> None:
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
