"""From the partitions of a search to the result: regions, masses, radii, chains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.credible.ball import distance_levels, tie_tolerance
from partita.draws import Draws
from partita.kernels.arrays import Bools, Floats
from partita.labels import by_size
from partita.losses.base import Loss
from partita.rivals.curve import HeldOutCurve
from partita.rivals.parts import chain_shares, part_of
from partita.rivals.quantise import Found
from partita.rivals.result import Representatives
from partita.search.task import Clock


def nearest_regions(
    draws: Draws, rows: NDArray[np.int32], loss: Loss, n_jobs: int | None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Region of each distinct draw, and its distance; ties by the rule of ``Representatives``."""
    distances = np.array([loss.distances(row, draws, n_jobs) for row in rows])
    expected = (distances * draws.probabilities).sum(axis=1)
    names = [row.tobytes() for row in rows.astype(">i4")]
    order = np.array(sorted(range(len(rows)), key=lambda r: (expected[r], names[r])))
    # The first, in this order, of those within rounding of the nearest.
    close = distances[order] <= distances.min(axis=0) + tie_tolerance(loss)
    region = order[close.argmax(axis=0)]
    return region, distances[region, np.arange(draws.n_draws)]


def assembled(
    posterior: Draws,
    index: NDArray[np.int64],
    found: Found,
    nearest: tuple[NDArray[np.int64], NDArray[np.float64]],
    lower: float | None,
    prob: float,
    curve: HeldOutCurve | None,
    loss: Loss,
    clock: Clock,
) -> Representatives:
    """The result, heaviest region first, equal ones by their canonical labels."""
    weights = posterior.probabilities
    n = len(found.rows)
    region, distances = nearest[0][index], nearest[1][index]
    mass = np.bincount(region, weights=weights, minlength=n).astype(np.float64)
    order = np.lexsort(([row.tobytes() for row in found.rows.astype(">i4")], -mass))
    region, mass = np.argsort(order)[region], mass[order]
    names, shares = chain_shares(posterior, region, n, weights)
    within = np.bincount(region, weights=weights * distances, minlength=n)
    return Representatives(
        labels=by_size(found.rows[order]),
        weights=mass,
        distance=float((weights * distances).sum()),
        lower_bound=lower,
        assignment=region,
        distances=distances,
        expected_loss=np.divide(within, mass, out=np.zeros(n), where=mass > 0),
        radius=np.array([_radius(posterior, region == r, distances, prob, loss) for r in range(n)]),
        prob=prob,
        chains=shares,
        chain_names=names,
        curve=curve,
        limits=found.limits,
        interrupted=clock.interrupted,
        loss=loss,
        draws=posterior,
    )


def _radius(draws: Draws, mine: Bools, distances: Floats, prob: float, loss: Loss) -> float:
    rows = np.flatnonzero(mine)
    if rows.size == 0:
        return 0.0
    levels = distance_levels(distances[rows], part_of(draws, rows), tie_tolerance(loss))
    return float(levels.value[levels.at(prob)])
