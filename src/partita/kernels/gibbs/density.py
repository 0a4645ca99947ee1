"""Predictive densities of new points, given partitions of the data."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import kernel
from partita.kernels.gibbs.family import fill_store, log_weights
from partita.kernels.gibbs.jit import Index
from partita.kernels.gibbs.math import full_lanes
from partita.kernels.gibbs.prior import log_open

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def join_weights(
    points: Floats,
    data: Floats,
    blocks: Ints,
    hyper: Floats,
    tables: Floats,
    n_rows: Index,
    n_work: Index,
    log_size: Floats,
    labels: NDArray[np.int32],
    k: Index,
) -> Floats:
    """Log prior weight plus log predictive density of each point in each of k clusters."""
    room = full_lanes(k)
    store = np.zeros((n_rows, room))
    work = np.empty((n_work, room))
    weights = np.empty(room)
    out = np.empty((points.shape[0], k))
    fill_store(data, blocks, hyper, tables, log_size, labels, k, store)
    for p in range(points.shape[0]):
        log_weights(points, p, blocks, hyper, store, k, work, weights)
        for j in range(k):
            out[p, j] = weights[j]
    return out


@kernel
def predictive_densities(
    points: Floats,
    log_base: Floats,
    log_alone: Floats,
    data: Floats,
    blocks: Ints,
    hyper: Floats,
    tables: Floats,
    n_rows: Index,
    n_work: Index,
    log_size: Floats,
    sigma: float,
    open_table: Floats,
    labels: NDArray[np.int32],
    alphas: Floats,
) -> Floats:
    """Density of each point under each draw, shape (n_draws, n_points).

    ``log_base`` is the factor of each point that no partition changes, ``log_alone`` the log
    density of a point in a new cluster without it: they are joined before the exponential is
    taken, for either alone may be far out of range (x! from 171 on). ``open_table`` is made for
    one item more than the data have.
    """
    n_draws, n_items = labels.shape
    out = np.empty((n_draws, points.shape[0]))
    for m in range(n_draws):
        k = np.int64(0)
        for i in range(n_items):
            k = max(k, np.int64(labels[m, i]) + 1)
        opening = math.exp(log_open(sigma, open_table, alphas[m], k))
        total = n_items - sigma * k + opening
        joining = join_weights(
            points, data, blocks, hyper, tables, n_rows, n_work, log_size, labels[m], k
        )
        for p in range(points.shape[0]):
            density = opening * math.exp(log_alone[p] + log_base[p])
            for j in range(k):
                density += math.exp(joining[p, j] + log_base[p])
            out[m, p] = density / total
    return out
