"""The data of the paper's examples, and simulated draws of overlapping clusters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from partita._validate import Rng, integer, unexpected
from partita._validate import generator as generator_from
from partita.kernels.arrays import Bools, Floats, Int32s

if TYPE_CHECKING:
    from partita.features.draws import FeatureDraws

__all__ = ["FourNormals", "OverlappingFeatures", "four_normals", "galaxies", "overlapping_features"]


def __dir__() -> list[str]:
    return sorted(__all__)


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

    data: Floats
    labels: Int32s


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
    n, generator = integer(n, "n", least=1), generator_from(rng, default=None)
    labels = generator.integers(0, 4, size=n).astype(np.int32)
    deviation = np.array(_DEVIATIONS[example])[labels, None]
    data = 2.0 * _SIGNS[labels] + deviation * generator.standard_normal((n, 2))
    return FourNormals(data, labels)


_VELOCITIES = """
    9172 9350 9483 9558 9775 10227 10406 16084 16170 18419 18552 18600 18927 19052 19070 19330
    19343 19349 19440 19473 19529 19541 19547 19663 19846 19856 19863 19914 19918 19973 19989 20166
    20175 20179 20196 20215 20221 20415 20629 20795 20821 20846 20875 20986 21137 21492 21701 21814
    21921 21960 22185 22209 22242 22249 22314 22374 22495 22746 22747 22888 22914 23206 23241 23263
    23484 23538 23542 23666 23706 23711 24129 24285 24289 24366 24717 24990 25633 26690 26995 32065
    32789 34279
"""


def galaxies() -> Floats:
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


@dataclass(frozen=True)
class OverlappingFeatures:
    """Simulated draws of a feature allocation, and what was planted.

    Attributes
    ----------
    draws : FeatureDraws
        1,000 draws of 24 items in four chains.
    truth : ndarray of bool, shape (24, 3)
        The planted features: items 0 to 7, 4 to 13 and 16 to 19. Items 4 to 7 are in two of them.
    """

    draws: FeatureDraws
    truth: Bools


def overlapping_features() -> OverlappingFeatures:
    """1,000 draws of 24 items around three planted features that overlap, from a stored file.

    A draw is the planted allocation with each membership flipped with probability 0.04. The third
    feature is missing in a quarter of the draws. As under an Indian buffet process, Poisson(1.5)
    features of a single item are added to each.

    Returns
    -------
    OverlappingFeatures
        With ``draws`` and ``truth``.

    Examples
    --------
    >>> import partita as pt
    >>> simulated = pt.datasets.overlapping_features()
    >>> simulated.draws
    <FeatureDraws: 1,000 draws of 24 items, 2 to 9 features, 4 chains>
    >>> simulated.truth.sum(axis=0)
    array([ 8, 10,  4])
    """
    from partita.features.draws import read_features

    truth = np.zeros((24, 3), np.bool_)
    truth[:8, 0] = truth[4:14, 1] = truth[16:20, 2] = True
    stored = Path(__file__).with_name("overlapping_features.npz")
    return OverlappingFeatures(read_features(stored), truth)
