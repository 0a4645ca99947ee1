"""A kernel that is not part of the package, with nothing but its five functions."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numba
import numpy as np

import partita as pt

WAITING = np.array([[0.3, 4.0], [0.2, 5.5], [0.6, 3.1], [7.0, 0.4], [5.5, 0.2], [9.1, 0.9]])


@numba.njit
def add(x, n, block, j):
    block.stats[0, j] += x[0]


@numba.njit
def remove(x, n, block, j):
    block.stats[0, j] -= x[0]


@numba.njit
def refresh(n, block, j):
    block.cache[0, j] = block.hyper[0] + n
    block.cache[1, j] = block.hyper[1] + block.stats[0, j]


@numba.njit
def log_predictive(x, k, block, out):
    for j in range(k):
        shape, rate = block.cache[0, j], block.cache[1, j]
        out[j] += math.log(shape) + shape * math.log(rate) - (shape + 1) * math.log(rate + x[0])


@numba.njit
def log_marginal(n, block, j):
    a, b = block.hyper[0], block.hyper[1]
    total = math.lgamma(a + n) - math.lgamma(a) + a * math.log(b)
    return total - (a + n) * math.log(b + block.stats[0, j])


@dataclass(frozen=True)
class ExponentialGamma(pt.Kernel):
    """x ~ Exponential(λ), λ ~ Gamma(shape, rate), independent columns."""

    shape: float = 1.0
    rate: float = 1.0

    n_cache: ClassVar[int] = 2
    add, remove, refresh = add, remove, refresh
    log_predictive, log_marginal = log_predictive, log_marginal
