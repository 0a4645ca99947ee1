"""Which losses count as equal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TIE = 1e-10
"""Losses this close are one: relative above 1, absolute below."""


def window(best: float) -> float:
    """The highest loss that ties with the best."""
    return best + TIE * max(1.0, abs(best))


def lowest(losses: NDArray[np.float64]) -> NDArray[np.int64]:
    """Positions of the smallest loss and of all that tie with it, in order."""
    return np.flatnonzero(losses <= window(float(losses.min())))
