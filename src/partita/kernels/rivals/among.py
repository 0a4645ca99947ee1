"""All distances among a few partitions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels.losses.distances import distances
from partita.kernels.losses.forms import Form


def distances_among(
    rows: NDArray[np.int32],
    clusters: NDArray[np.int64],
    terms: NDArray[np.float64],
    form: Form,
) -> NDArray[np.float64]:
    """Distances among rows of canonical labels, for a symmetric loss, shape (n, n)."""
    n = rows.shape[0]
    out = np.zeros((n, n))
    for r in range(n - 1):
        far = distances(rows[r], rows[r + 1 :], clusters[r + 1 :], terms, form)
        out[r, r + 1 :] = far
        out[r + 1 :, r] = far
    return out
