"""The lower bound that is reported: the better of two."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.draws import Draws
from partita.losses.base import Loss
from partita.rivals.group_bound import Grouping, group_bound
from partita.rivals.spectral_bound import spectral_bound


@dataclass(frozen=True)
class Effort:
    """How hard the two bounds try."""

    grouping: Grouping
    grouped: int
    """Draws up to which groups are divided. With more the eigenvalues prove about as much."""
    stratum: int
    """Draws whose eigenvalues are taken together."""


EFFORTS = {
    "fast": Effort(
        Grouping(operations=4e5, largest=12, groups=8, passes=2), grouped=1_000, stratum=96
    ),
    "tight": Effort(
        Grouping(operations=1e7, largest=14, groups=24, passes=8), grouped=20_000, stratum=384
    ),
}


def lower_bound(
    draws: Draws,
    n: int,
    loss: Loss,
    nearest: tuple[NDArray[np.int64], NDArray[np.float64]],
    effort: Effort,
    n_jobs: int | None,
) -> float:
    """No n partitions have a lower mean distance to the distinct draws, for a metric loss.

    ``nearest`` is the region of each draw and its distance to that partition.
    """
    region, to_nearest = nearest
    proven = spectral_bound(draws, n, loss, region, to_nearest, effort.stratum, n_jobs)
    if draws.n_draws <= effort.grouped:
        groups = group_bound(draws, n, loss, to_nearest, effort.grouping, n_jobs)
        proven = max(proven, groups)
    return proven
