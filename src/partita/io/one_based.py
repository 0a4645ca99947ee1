"""Draws whose labels count from 1, for writers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.partitions.cleaning import smallest_unsigned
from partita.partitions.draws import Draws


class OneBased:
    """The draws as they are, except that labels are one larger."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def __getattr__(self, name: str) -> Any:
        return getattr(self._draws, name)

    @property
    def labels(self) -> NDArray[Any]:
        """All labels, from 1."""
        dtype = smallest_unsigned(int(self._draws.n_clusters.max()))
        labels: NDArray[Any] = self._draws.labels.astype(dtype)
        labels += dtype.type(1)
        return labels

    def rows(self, start: int, stop: int) -> NDArray[np.int32]:
        """Some draws, from 1."""
        return self._draws.rows(start, stop) + np.int32(1)
