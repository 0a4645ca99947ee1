"""What is asked of a fit reads: its draws, its model and its data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.kernels.arrays import Floats
from partita.partitions.draws import Draws
from partita.partitions.labels import Labels, as_labels, by_size
from partita.partitions.types import LabelsLike
from partita.samplers.kernel import Kernel
from partita.samplers.learned_rates import names_of
from partita.samplers.partition_prior import PartitionPrior


class Fitted:
    """The fields of a fit that its methods share; see ``Fit``."""

    draws: Draws
    trace: Mapping[str, NDArray[Any]]
    kernel: Kernel
    prior: PartitionPrior
    values: Floats
    columns: tuple[str, ...]

    def _rates(self) -> Floats:
        """Learned rates of all draws, shape (n_draws, n_learned)."""
        names = names_of(self.columns, self.kernel.learned(len(self.columns)))
        found = [np.asarray(self.trace[name]).reshape(-1) for name in names]
        return np.stack(found, axis=1) if found else np.empty((self.draws.n_draws, 0))

    def _by_size(self, labels: LabelsLike) -> Labels:
        """A partition of the fitted items, its clusters numbered by size."""
        return by_size(as_labels(labels, n_items=self.draws.n_items))
