"""Velocities of galaxies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_VELOCITIES = """
    9172 9350 9483 9558 9775 10227 10406 16084 16170 18419 18552 18600 18927 19052 19070 19330
    19343 19349 19440 19473 19529 19541 19547 19663 19846 19856 19863 19914 19918 19973 19989 20166
    20175 20179 20196 20215 20221 20415 20629 20795 20821 20846 20875 20986 21137 21492 21701 21814
    21921 21960 22185 22209 22242 22249 22314 22374 22495 22746 22747 22888 22914 23206 23241 23263
    23484 23538 23542 23666 23706 23711 24129 24285 24289 24366 24717 24990 25633 26690 26995 32065
    32789 34279
"""


def galaxies() -> NDArray[np.float64]:
    """Velocities of 82 galaxies of the Corona Borealis region, in 1,000 km/s, ascending.

    The values are those of the data set ``galaxies`` of R's MASS, which the
    paper used, its known misprint included: the 78th value is 26.69 there,
    where the catalogue of Postman, Huchra and Geller has 26.96. Set
    ``galaxies()[77] = 26.96`` on a copy for the corrected data.

    Returns
    -------
    ndarray of float, shape (82,)

    References
    ----------
    Roeder (1990), Journal of the American Statistical Association 85; Postman, Huchra and
    Geller (1986), Astronomical Journal 92.

    Examples
    --------
    >>> import partita as pt
    >>> velocities = pt.datasets.galaxies()
    >>> velocities.shape, float(velocities[77])
    ((82,), 26.69)
    """
    return np.array(_VELOCITIES.split(), np.float64) / 1000
