"""Split–merge moves with sequential allocation (Dahl 2005), for all kernels.

Two items are drawn. Sharing a cluster, they seed its two halves and the other
members join one half after the other, each by the predictive density; apart,
their clusters are merged and the probability of the reverse split is worked out
along the same path. A Metropolis–Hastings step decides.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from partita.kernels.gibbs_family import (
    add,
    clear,
    copy_cluster,
    log_marginal,
    log_weights,
    refresh,
)
from partita.kernels.gibbs_jit import Index, step
from partita.kernels.gibbs_prior import log_open
from partita.kernels.gibbs_random import below, shuffle, uniform
from partita.kernels.gibbs_sweep import close_cluster

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@step
def _collect(names: Ints, a: Index, b: Index, i: Index, j: Index, members: Ints) -> Index:
    """Items of the clusters named a or b other than i and j; returns how many."""
    size = 0
    for item in range(names.size):
        if (names[item] == a or names[item] == b) and item != i and item != j:
            members[size] = item
            size += 1
    return size


@step
def _allocate(
    data: Floats,
    blocks: Ints,
    hyper: Floats,
    tables: Floats,
    log_size: Floats,
    names: Ints,
    i: Index,
    j: Index,
    members: Ints,
    size: Index,
    forced: bool,
    halves: Floats,
    work: Floats,
    weights: Floats,
    side: Ints,
    state: NDArray[np.uint64],
) -> float:
    """Grow the halves around i and j; returns the log probability of the allocation.

    A forced allocation follows the present clusters of i and j instead of drawing.
    """
    for half in range(2):
        clear(halves, half)
        add(data, i if half == 0 else j, blocks, hyper, tables, halves, half)
        refresh(blocks, hyper, tables, log_size, halves, half)
    both = np.int64(2)
    log_probability = 0.0
    for m in range(size):
        item = members[m]
        log_weights(data, item, blocks, hyper, halves, both, work, weights)
        odds = weights[1] - weights[0]
        if forced:
            half = 0 if names[item] == names[i] else 1
        else:
            half = 1 if uniform(state) * (1.0 + math.exp(-odds)) < 1.0 else 0
        away = odds if half == 0 else -odds
        log_probability -= max(away, 0.0) + math.log1p(math.exp(-abs(away)))
        add(data, item, blocks, hyper, tables, halves, half)
        refresh(blocks, hyper, tables, log_size, halves, half)
        side[m] = half
    return log_probability


@step
def split_merge(
    data: Floats,
    blocks: Ints,
    hyper: Floats,
    tables: Floats,
    log_size: Floats,
    log_block: Floats,
    sigma: float,
    open_table: Floats,
    alpha: float,
    names: Ints,
    store: Floats,
    work: Floats,
    weights: Floats,
    name_at: Ints,
    position_of: Ints,
    k: Index,
    halves: Floats,
    members: Ints,
    side: Ints,
    state: NDArray[np.uint64],
) -> Index:
    """Propose one split or merge; returns the number of clusters. The store has room for one."""
    i = below(state, names.size)
    j = below(state, names.size - 1)
    if j >= i:
        j += 1
    kept, other = names[i], names[j]
    together = kept == other
    size = _collect(names, kept, other, i, j, members)
    shuffle(state, members, size)
    log_q = _allocate(
        data,
        blocks,
        hyper,
        tables,
        log_size,
        names,
        i,
        j,
        members,
        size,
        not together,
        halves,
        work,
        weights,
        side,
        state,
    )
    apart = log_block[int(halves[0, 0])] + log_block[int(halves[0, 1])]
    for half in range(2):
        apart += log_marginal(blocks, hyper, tables, halves, half)
    at_i = position_of[kept]
    one_half, other_half, merged = np.int64(0), np.int64(1), np.int64(2)
    copy_cluster(store, at_i, halves, merged)
    if not together:
        add(data, j, blocks, hyper, tables, halves, merged)
        for m in range(size):
            if side[m] == 1:
                add(data, members[m], blocks, hyper, tables, halves, merged)
        refresh(blocks, hyper, tables, log_size, halves, merged)
    one = log_block[size + 2] + log_marginal(blocks, hyper, tables, halves, merged)
    log_accept = math.log(1.0 - uniform(state))
    if together:
        if log_accept < apart + log_open(sigma, open_table, alpha, k) - one - log_q:
            copy_cluster(halves, one_half, store, at_i)
            copy_cluster(halves, other_half, store, k)
            names[j] = name_at[k]
            for m in range(size):
                if side[m] == 1:
                    names[members[m]] = name_at[k]
            return k + 1
    elif log_accept < one + log_q - apart - log_open(sigma, open_table, alpha, k - 1):
        copy_cluster(halves, merged, store, at_i)
        names[j] = kept
        for m in range(size):
            names[members[m]] = kept
        close_cluster(store, name_at, position_of, position_of[other], k)
        return k - 1
    return k
