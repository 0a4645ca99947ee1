"""Predictive densities of new points, given partitions of the data."""

from __future__ import annotations

import math

import numpy as np

from partita.kernels._jit import array_kernel
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.gibbs.family import fill_alone, fill_store, log_weights
from partita.kernels.gibbs.primitives import LANES, Index, Likelihood, Prior, Rates, full_lanes
from partita.kernels.gibbs.prior import fill_tables, log_open, set_rates, telescopes


@array_kernel
def join_weights(
    points: Likelihood,
    model: Likelihood,
    prior: Prior,
    n_rows: Index,
    n_work: Index,
    labels: Int32s,
    k: Index,
) -> tuple[Floats, Floats]:
    """Log weights of joining each of k clusters: prior alone (k,), and with each point's density.

    The second, shape (n_points, k), is the log prior weight plus the log predictive density.
    ``points`` is the model with the points as its data.
    """
    room = full_lanes(k)
    store = np.zeros((n_rows, room))
    work = np.empty((n_work, room))
    weights = np.empty(room)
    out = np.empty((points.data.shape[0], k))
    fill_store(model, prior, labels, k, store, work)
    for p in range(points.data.shape[0]):
        log_weights(points, p, store, work, k, weights)
        for j in range(k):
            out[p, j] = weights[j]
    return store[1, :k].copy(), out


@array_kernel
def predictive_densities(
    points: Likelihood,
    log_base: Floats,
    log_alone: Floats,
    model: Likelihood,
    prior: Prior,
    n_rows: Index,
    n_work: Index,
    labels: Int32s,
    alphas: Floats,
    components: Ints,
    rates: Rates,
    values: Floats,
) -> Floats:
    """Density of each point under each draw, shape (n_draws, n_points).

    ``log_base`` is the factor of each point that no partition changes, ``log_alone`` the log
    density of a point in a new cluster without it: they are joined before the exponential is
    taken, for either alone may be far out of range (x! from 171 on). The prior is made for one
    item more than the data have; its weights are divided by their sum. ``alphas``, numbers of
    ``components`` and ``values`` of learned rates are those of the draws; where there are any,
    the prior's tables, the hyperparameters (one array of points and model) and ``log_alone`` are
    written.
    """
    n_draws, n_items = labels.shape
    out = np.empty((n_draws, points.data.shape[0]))
    empty, work = np.zeros((n_rows, LANES)), np.empty((n_work, LANES))
    weights = np.empty(LANES)
    for m in range(n_draws):
        k = np.int64(0)
        for i in range(n_items):
            k = max(k, np.int64(labels[m, i]) + 1)
        if telescopes(prior):
            fill_tables(prior, alphas[m], components[m])
        if values.shape[1] > 0:
            set_rates(model, rates, values[m])
            fill_alone(points, prior, empty, work, weights, log_alone)
        log_opening = log_open(prior, alphas[m], k)
        sizes, joining = join_weights(points, model, prior, n_rows, n_work, labels[m], k)
        highest = max(log_opening, sizes.max())
        opening = math.exp(log_opening - highest)
        total = opening
        for j in range(k):
            total += math.exp(sizes[j] - highest)
        for p in range(points.data.shape[0]):
            density = opening * math.exp(log_alone[p] + log_base[p])
            for j in range(k):
                density += math.exp(joining[p, j] - highest + log_base[p])
            out[m, p] = density / total
    return out
