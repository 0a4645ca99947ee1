"""Four normal clusters in the plane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita._validate import Rng, unexpected, whole
from partita._validate import generator as generator_from

_SIGNS = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
_DEVIATIONS = {1: (1.0, 1.0, 1.0, 1.0), 2: (1.0, 1.5, 0.5, 1.0)}
"""By example; components in the first, fourth, second and third quadrant, as in the paper's sum."""


@dataclass(frozen=True)
class FourNormals:
    """Simulated observations and the components they came from.

    Attributes
    ----------
    data : ndarray of float, shape (n, 2)
    labels : ndarray of int32, shape (n,)
        Component of each observation, 0 to 3.
    """

    data: NDArray[np.float64]
    labels: NDArray[np.int32]


def four_normals(*, example: int = 1, n: int = 200, rng: Rng | None = None) -> FourNormals:
    """Simulate the paper's Example 1 or 2: four normals around (±2, ±2), equally likely.

    All standard deviations are 1 in Example 1. In Example 2 they are 1 in the
    first and third quadrants, 0.5 in the second and 1.5 in the fourth.

    Parameters
    ----------
    example : {1, 2}
    n : int
        Number of observations.
    rng : int, SeedSequence or Generator, optional

    Returns
    -------
    FourNormals
        With ``data`` and the true ``labels``.

    References
    ----------
    Wade and Ghahramani (2018), section 5.1.

    Examples
    --------
    >>> import partita as pt
    >>> simulated = pt.datasets.four_normals(example=2, n=100, rng=0)
    >>> simulated.data.shape, simulated.labels.shape
    ((100, 2), (100,))
    """
    if example not in _DEVIATIONS:
        raise unexpected(example, "example", "1 or 2")
    n, generator = whole(n, "n", least=1), generator_from(rng, default=None)
    labels = generator.integers(0, 4, size=n).astype(np.int32)
    deviation = np.array(_DEVIATIONS[example])[labels, None]
    data = 2.0 * _SIGNS[labels] + deviation * generator.standard_normal((n, 2))
    return FourNormals(data, labels)
