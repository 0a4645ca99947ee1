"""What a pass over draws sees at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.partitions.arrays import Labels


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive draws, as small as they are stored.

    Attributes
    ----------
    labels : ndarray of unsigned int, shape (n, n_items)
    start : int
        Number of the first draw.
    n_clusters : ndarray of int64, shape (n,)
    probabilities : ndarray of float, shape (n,)
        Their share of the whole mass.
    is_weighted : bool
        Whether draws differ in weight; where not, counts are exact and shares come last.
    """

    labels: NDArray[np.unsignedinteger[Any]]
    start: int
    n_clusters: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    is_weighted: bool

    @property
    def rows(self) -> Labels:
        """The labels in the dtype of the kernels, a copy."""
        return self.labels.astype(np.int32)

    @property
    def counts(self) -> NDArray[np.float64]:
        """The weights, or 1 for each draw where they do not differ, so that sums are whole."""
        return self.probabilities if self.is_weighted else np.ones(self.n_clusters.size)
