"""All distances among a few partitions, in one call."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import kernel
from partita.kernels.losses.distances import distances, is_dense, joint_of_rows
from partita.kernels.losses.forms import Form, combine


@kernel
def _fill_among(
    rows: NDArray[np.int32],
    clusters: NDArray[np.int64],
    terms: NDArray[np.float64],
    form: Form,
    table: NDArray[np.int32],
    sums: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Through tables of all cells; ``out`` is zero."""
    n_rows, n = rows.shape
    for r in range(n_rows):
        for t in range(clusters[r]):
            table[t] = 0
        for i in range(n):
            table[rows[r, i]] += 1
        sums[r] = 0.0
        for t in range(clusters[r]):
            sums[r] += terms[table[t]]
    for r in range(n_rows):
        for s in range(r + 1, n_rows):
            joint = joint_of_rows(rows, r, s, clusters[r], clusters[s], terms, table)
            out[r, s] = out[s, r] = combine(form, joint, sums[r], sums[s])


def distances_among(
    rows: NDArray[np.int32],
    clusters: NDArray[np.int64],
    terms: NDArray[np.float64],
    form: Form,
) -> NDArray[np.float64]:
    """Distances among rows of canonical labels, for a symmetric loss, shape (n, n)."""
    n_rows, n = rows.shape
    out = np.zeros((n_rows, n_rows))
    most = int(clusters.max(initial=1))
    if is_dense(most, most, 4 * n):
        table = np.empty(2 * most * most, np.int32)
        _fill_among(rows, clusters, terms, form, table, np.empty(n_rows), out)
        return out
    for r in range(n_rows - 1):
        far = distances(rows[r], rows[r + 1 :], clusters[r + 1 :], terms, form)
        out[r, r + 1 :] = out[r + 1 :, r] = far
    return out
