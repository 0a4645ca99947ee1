"""One chain: iterations of sweeps, split–merge moves and concentration updates."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import kernel
from partita.kernels.gibbs.family import fill_store, log_marginal
from partita.kernels.gibbs.jit import Index
from partita.kernels.gibbs.math import LANES
from partita.kernels.gibbs.prior import log_prior, update_concentration
from partita.kernels.gibbs.split_merge import split_merge
from partita.kernels.gibbs.sweep import sweep

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def _capacity(k: Index) -> Index:
    """Room for k clusters and more; an odd multiple of 8 spreads the rows over the CPU's cache."""
    return 8 * (2 * (k // 8) + 3)


@kernel
def _widen(store: Floats, capacity: Index) -> Floats:
    """The same columns, and empty ones after them."""
    wider = np.zeros((store.shape[0], capacity))
    for r in range(store.shape[0]):
        for j in range(store.shape[1]):
            wider[r, j] = store[r, j]
    return wider


@kernel
def _lengthen(order: Ints, capacity: Index) -> Ints:
    """The same permutation, continued by the numbers after it."""
    longer = np.arange(capacity)
    for j in range(order.size):
        longer[j] = order[j]
    return longer


@kernel
def _rename(names: Ints, number: Ints, labels: NDArray[np.int32]) -> Index:
    """Write the names as canonical labels; returns the number of clusters."""
    for name in range(number.size):
        number[name] = -1
    k = 0
    for i in range(names.size):
        name = names[i]
        if number[name] < 0:
            number[name] = k
            k += 1
        labels[i] = number[name]
    return k


@kernel
def run_chain(
    data: Floats,
    blocks: Ints,
    hyper: Floats,
    tables: Floats,
    n_rows: Index,
    n_work: Index,
    log_size: Floats,
    log_block: Floats,
    sigma: float,
    open_table: Floats,
    shape: float,
    rate: float,
    singleton: Floats,
    alpha: float,
    labels: NDArray[np.int32],
    state: NDArray[np.uint64],
    first: Index,
    last: Index,
    burn_in: Index,
    thin: Index,
    n_sweeps: Index,
    n_split_merge: Index,
    kept_labels: NDArray[np.int32],
    kept: Floats,
) -> float:
    """Iterations first + 1 … last, in place; returns the concentration.

    Between two iterations a chain is its canonical labels, its concentration and its random
    state, and nothing else: statistics are built anew, so that rounding never accumulates and
    cutting a run into pieces cannot change it. Kept draws go to the rows of ``kept_labels``
    and, as concentration, number of clusters, log likelihood and log prior, of ``kept``.
    A gamma prior of shape 0 means a fixed concentration.
    """
    n_items = labels.size
    names = np.empty(n_items, np.int64)
    members = np.empty(n_items, np.int64)
    side = np.empty(n_items, np.int64)
    halves = np.zeros((n_rows, LANES))
    saved = np.empty((n_rows, 1))
    store = np.empty((n_rows, 0))
    row = 0
    for iteration in range(first + 1, last + 1):
        k: Index = np.int64(0)
        for i in range(n_items):
            names[i] = labels[i]
            k = max(k, names[i] + 1)
        if k >= store.shape[1]:
            capacity = _capacity(k)
            store = np.zeros((n_rows, capacity))
            work = np.empty((n_work, capacity))
            weights = np.zeros(capacity + LANES)
            number = np.empty(capacity, np.int64)
            name_at = np.empty(capacity, np.int64)
            position_of = np.empty(capacity, np.int64)
        for j in range(store.shape[1]):
            name_at[j] = j
            position_of[j] = j
        fill_store(data, blocks, hyper, tables, log_size, labels, k, store)
        done: Index = np.int64(0)
        moves = 0
        sweeps = 0
        while moves < n_split_merge or sweeps < n_sweeps:
            if k == store.shape[1]:
                # More room for the same clusters at the same positions: a chain must not depend
                # on how much room earlier iterations happened to need.
                capacity = _capacity(k)
                store = _widen(store, capacity)
                work = np.empty((n_work, capacity))
                weights = np.zeros(capacity + LANES)
                number = np.empty(capacity, np.int64)
                name_at = _lengthen(name_at, capacity)
                position_of = _lengthen(position_of, capacity)
            if moves < n_split_merge:
                k = split_merge(
                    data,
                    blocks,
                    hyper,
                    tables,
                    log_size,
                    log_block,
                    sigma,
                    open_table,
                    alpha,
                    names,
                    store,
                    work,
                    weights,
                    name_at,
                    position_of,
                    k,
                    halves,
                    members,
                    side,
                    state,
                )
                moves += 1
            else:
                done, k = sweep(
                    data,
                    blocks,
                    hyper,
                    tables,
                    log_size,
                    sigma,
                    open_table,
                    alpha,
                    singleton,
                    names,
                    store,
                    work,
                    weights,
                    saved,
                    name_at,
                    position_of,
                    k,
                    done,
                    state,
                )
                if done == n_items:
                    sweeps += 1
                    done = np.int64(0)
        _rename(names, number, labels)
        if shape > 0.0:
            alpha = update_concentration(sigma, shape, rate, alpha, k, n_items, state)
        if iteration > burn_in and (iteration - burn_in) % thin == 0:
            for i in range(n_items):
                kept_labels[row, i] = labels[i]
            kept[row, 0] = alpha
            kept[row, 1] = k
            kept[row, 2] = 0.0
            for j in range(k):
                kept[row, 2] += log_marginal(blocks, hyper, tables, store, j)
            kept[row, 3] = log_prior(sigma, open_table, log_block, alpha, store[0], k, n_items)
            if shape > 0.0:
                kept[row, 3] += shape * math.log(rate) - math.lgamma(shape)
                kept[row, 3] += (shape - 1.0) * math.log(alpha) - rate * alpha
            row += 1
    return alpha
