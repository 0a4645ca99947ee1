"""Predictive densities of new points, given partitions of the data."""

from __future__ import annotations

import math

import numpy as np

from partita.kernels._jit import array_kernel, inner_kernel
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.gibbs.family import (
    copy_cluster,
    fill_prior_predictive,
    fill_store,
    log_weights,
    refresh,
    remove,
)
from partita.kernels.gibbs.primitives import (
    LANES,
    Index,
    Likelihood,
    Prior,
    Rates,
    full_lanes,
)
from partita.kernels.gibbs.prior import fill_tables, log_open, set_rates, telescopes


@inner_kernel
def log_sum(terms: Floats, k: Index, last: float) -> float:
    """log of exp(last) + Σ exp(terms[j]) over the first k."""
    highest = last
    for j in range(k):
        highest = max(highest, terms[j])
    if highest == -np.inf:
        return highest
    total = math.exp(last - highest)
    for j in range(k):
        total += math.exp(terms[j] - highest)
    return highest + math.log(total)


@array_kernel
def join_weights(
    points: Likelihood,
    model: Likelihood,
    prior: Prior,
    labels: Int32s,
    k: Index,
) -> tuple[Floats, Floats]:
    """Log weights of joining each of k clusters: prior alone (k,), and with each point's density.

    The second, shape (n_points, k), is the log prior weight plus the log predictive density.
    ``points`` is the model with the points as its data.
    """
    room = full_lanes(k)
    store = np.zeros((model.n_rows, room))
    work = np.empty((model.n_work, room))
    weights = np.empty(room)
    out = np.empty((points.data.shape[0], k))
    fill_store(model, prior, labels, k, store, work)
    for p in range(points.data.shape[0]):
        log_weights(points, p, store, work, k, weights)
        for j in range(k):
            out[p, j] = weights[j]
    return store[1, :k].copy(), out


@array_kernel
def predictive_log_densities(
    points: Likelihood,
    log_base: Floats,
    log_alone: Floats,
    model: Likelihood,
    prior: Prior,
    labels: Int32s,
    alphas: Floats,
    components: Ints,
    rates: Rates,
    values: Floats,
) -> Floats:
    """Log density of each point under each draw, shape (n_draws, n_points).

    ``log_base`` is the factor of each point that no partition changes, ``log_alone`` the log
    density of a point in a new cluster without it: either alone may be far out of range (x! from
    171 on). The prior is made for one item more than the data have; its weights are divided by
    their sum. ``alphas``, numbers of ``components`` and ``values`` of learned rates are those of
    the draws; where there are any, the prior's tables, the hyperparameters (one array of points
    and model) and ``log_alone`` are written.
    """
    n_draws, n_items = labels.shape
    out = np.empty((n_draws, points.data.shape[0]))
    empty, work = np.zeros((model.n_rows, LANES)), np.empty((model.n_work, LANES))
    weights = np.empty(LANES)
    for m in range(n_draws):
        k = np.int64(0)
        for i in range(n_items):
            k = max(k, np.int64(labels[m, i]) + 1)
        if telescopes(prior):
            fill_tables(prior, alphas[m], components[m])
        if values.shape[1] > 0:
            set_rates(model, rates, values[m])
            fill_prior_predictive(points, prior, empty, work, weights, log_alone)
        opening = log_open(prior, alphas[m], k)
        sizes, joining = join_weights(points, model, prior, labels[m], k)
        log_total = log_sum(sizes, k, opening)
        for p in range(points.data.shape[0]):
            mixed = log_sum(joining[p], k, opening + log_alone[p])
            out[m, p] = mixed - log_total + log_base[p]
    return out


@array_kernel
def leave_one_out_log_densities(
    model: Likelihood,
    log_base: Floats,
    log_alone: Floats,
    prior: Prior,
    labels: Int32s,
    alphas: Floats,
    components: Ints,
    rates: Rates,
    values: Floats,
    items: Ints,
) -> Floats:
    """Log density of items given all others and their partition, shape (n_draws, n_chosen).

    log p(x_i | x_−i, c_−i) with the item's own cluster summed out: the normaliser of its step in
    a Gibbs sweep. Arguments as of ``predictive_log_densities``; the prior is that of the data.
    """
    n_draws, n_items = labels.shape
    out = np.empty((n_draws, items.size))
    empty, little = np.zeros((model.n_rows, LANES)), np.empty((model.n_work, LANES))
    weights = np.empty(LANES)
    for m in range(n_draws):
        k = np.int64(0)
        for i in range(n_items):
            k = max(k, np.int64(labels[m, i]) + 1)
        if telescopes(prior):
            fill_tables(prior, alphas[m], components[m])
        if values.shape[1] > 0:
            set_rates(model, rates, values[m])
            fill_prior_predictive(model, prior, empty, little, weights, log_alone)
        room = full_lanes(k)
        store, work = np.zeros((model.n_rows, room)), np.empty((model.n_work, room))
        saved, joining = np.zeros((model.n_rows, LANES)), np.empty(room)
        fill_store(model, prior, labels[m], k, store, work)
        sizes = np.empty(k)
        front = np.int64(0)
        for p in range(items.size):
            i = items[p]
            home = np.int64(labels[m, i])
            alone = store[0, home] == 1.0
            if not alone:
                copy_cluster(store, home, saved, front)
                remove(model, i, store, work, home)
                refresh(model, prior, store, work, home)
            log_weights(model, i, store, work, k, joining)
            for j in range(k):
                sizes[j] = store[1, j]
            if alone:
                joining[home] = sizes[home] = -np.inf
            else:
                copy_cluster(saved, front, store, home)
            opening = log_open(prior, alphas[m], k - 1 if alone else k)
            mixed = log_sum(joining, k, opening + log_alone[i])
            out[m, p] = mixed - log_sum(sizes, k, opening) + log_base[i]
    return out
