"""Monte Carlo errors of a radius and of a probability."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from partita.kernels.arrays import Floats
from partita.partitions.draws import Draws
from partita.partitions.functionals import FEW_DRAWS, error_of
from partita.partitions.mcmc import mcse_quantile
from partita.partitions.quantiles import beta_quantile

_ONE_SIGMA = (0.15865525393145707, 0.8413447460685429)
"""Normal probabilities at −1 and 1: half the interval between them is a standard error."""


def radius_mcse(distances: NDArray[np.float64], draws: Draws, prob: float) -> float:
    """Standard error of the ``prob`` quantile of the distances; see ``CredibleBall``."""
    if prob >= 1.0 or draws.kind == "ensemble":
        return float("nan")
    if draws.weights is not None:
        return _weighted(distances, draws, prob)
    return error_of(draws, distances, partial(mcse_quantile, prob=prob))


def _weighted(distances: Floats, draws: Draws, prob: float) -> float:
    """The quantile's error for independent weighted draws, by the beta law of its mass."""
    effective, weights = draws.n_effective, draws.probabilities
    if effective < FEW_DRAWS:
        return float("nan")
    shape = (effective * prob + 1.0, effective * (1.0 - prob) + 1.0)
    masses = [beta_quantile(*shape, p) for p in _ONE_SIGMA]
    order = np.argsort(distances)
    mass = np.cumsum(weights[order])
    ends = np.searchsorted(mass, masses).clip(0, distances.size - 1)
    return float(np.diff(distances[order][ends])[0] / 2.0)


def probability_mcse(holds: NDArray[np.bool_], draws: Draws) -> float:
    """Standard error of the weight of the draws that hold; see ``CredibleCore``."""
    if draws.kind == "ensemble":
        return float("nan")
    if draws.weights is not None:
        share = float(draws.weights[holds].sum())
        if draws.n_effective < FEW_DRAWS:
            return float("nan")
        return float(np.sqrt(max(share * (1.0 - share), 0.0) / draws.n_effective))
    return error_of(draws, holds.astype(np.float64))
