"""Split–merge moves with sequential allocation (Dahl 2005), for all kernels.

Two items are drawn. Sharing a cluster, they seed its two halves and the other
members join one half after the other, each by the predictive density; apart,
their clusters are merged and the probability of the reverse split is worked out
along the same path. A Metropolis–Hastings step decides. Its random number is
drawn first: most merges are then refused before the reverse split is needed,
because that probability can only lower the acceptance ratio.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from partita.kernels.gibbs.family import (
    add,
    clear,
    copy_cluster,
    log_marginal,
    log_weights,
    refresh,
)
from partita.kernels.gibbs.jit import Index, step
from partita.kernels.gibbs.math import exp, log
from partita.kernels.gibbs.prior import log_open
from partita.kernels.gibbs.random import below, shuffle, uniform
from partita.kernels.gibbs.sweep import close_cluster

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LARGEST_ODDS = 600.0
"""Log odds beyond this are taken for it, in proposals and in their probabilities alike."""


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
    lowest: float,
    halves: Floats,
    work: Floats,
    weights: Floats,
    side: Ints,
    state: NDArray[np.uint64],
) -> float:
    """Grow the halves around i and j; returns the log probability of the allocation.

    Where i and j are in two clusters, the allocation follows these instead of drawing. One whose
    log probability falls below the lowest that matters is left unfinished.
    """
    forced = names[i] != names[j]
    both = np.int64(2)
    for half in range(2):
        clear(halves, half)
        add(data, i if half == 0 else j, blocks, hyper, tables, halves, half)
        refresh(blocks, hyper, tables, log_size, halves, half)
    log_probability = 0.0
    for m in range(size):
        item = members[m]
        log_weights(data, item, blocks, hyper, halves, both, work, weights)
        odds = max(min(weights[1] - weights[0], _LARGEST_ODDS), -_LARGEST_ODDS)
        chance = 1.0 / (1.0 + exp(-odds))
        if forced:
            half = 0 if names[item] == names[i] else 1
        else:
            half = 1 if uniform(state) < chance else 0
        log_probability += log(chance) if half == 1 else log(chance) - odds
        if log_probability < lowest:
            return log_probability
        add(data, item, blocks, hyper, tables, halves, half)
        refresh(blocks, hyper, tables, log_size, halves, half)
        side[m] = half
    return log_probability


@step
def _log_share(
    blocks: Ints, hyper: Floats, tables: Floats, log_block: Floats, store: Floats, j: Index
) -> float:
    """What cluster j contributes to the log posterior."""
    return float(log_block[int(store[0, j])]) + log_marginal(blocks, hyper, tables, store, j)


@step
def _split(
    data: Floats,
    blocks: Ints,
    hyper: Floats,
    tables: Floats,
    log_size: Floats,
    log_block: Floats,
    opening: float,
    log_accept: float,
    i: Index,
    j: Index,
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
    """Propose to split the cluster of i and j; returns the number of clusters."""
    at = position_of[names[i]]
    size = _collect(names, names[i], names[j], i, j, members)
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
        -np.inf,
        halves,
        work,
        weights,
        side,
        state,
    )
    gain = opening - _log_share(blocks, hyper, tables, log_block, store, at)
    for half in range(2):
        gain += _log_share(blocks, hyper, tables, log_block, halves, half)
    if log_accept >= gain - log_q:
        return k
    first, second = np.int64(0), np.int64(1)
    copy_cluster(halves, first, store, at)
    copy_cluster(halves, second, store, k)
    names[j] = name_at[k]
    for m in range(size):
        if side[m] == 1:
            names[members[m]] = name_at[k]
    return k + 1


@step
def _merge(
    data: Floats,
    blocks: Ints,
    hyper: Floats,
    tables: Floats,
    log_size: Floats,
    log_block: Floats,
    opening: float,
    log_accept: float,
    i: Index,
    j: Index,
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
    """Propose to merge the clusters of i and j; returns the number of clusters."""
    at_i, at_j = position_of[names[i]], position_of[names[j]]
    larger, smaller = at_i, at_j
    if store[0, at_j] > store[0, at_i]:
        larger, smaller = at_j, at_i
    merged = np.int64(2)
    copy_cluster(store, larger, halves, merged)
    for item in range(names.size):
        if names[item] == name_at[smaller]:
            add(data, item, blocks, hyper, tables, halves, merged)
    refresh(blocks, hyper, tables, log_size, halves, merged)
    gain = _log_share(blocks, hyper, tables, log_block, halves, merged) - opening
    gain -= _log_share(blocks, hyper, tables, log_block, store, at_i)
    gain -= _log_share(blocks, hyper, tables, log_block, store, at_j)
    if log_accept >= gain:
        return k
    size = _collect(names, names[i], names[j], i, j, members)
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
        log_accept - gain,
        halves,
        work,
        weights,
        side,
        state,
    )
    if log_accept >= gain + log_q:
        return k
    copy_cluster(halves, merged, store, at_i)
    names[j] = names[i]
    for m in range(size):
        names[members[m]] = names[i]
    close_cluster(store, name_at, position_of, at_j, k)
    return k - 1


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
    log_accept = math.log(1.0 - uniform(state))
    if names[i] == names[j]:
        return _split(
            data,
            blocks,
            hyper,
            tables,
            log_size,
            log_block,
            log_open(sigma, open_table, alpha, k),
            log_accept,
            i,
            j,
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
    return _merge(
        data,
        blocks,
        hyper,
        tables,
        log_size,
        log_block,
        log_open(sigma, open_table, alpha, k - 1),
        log_accept,
        i,
        j,
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
