"""Collapsed Gibbs sweep (Neal 2000, algorithm 3): the loop, written once for all kernels."""

from __future__ import annotations

import numpy as np

from partita.kernels.arrays import Floats
from partita.kernels.gibbs.family import add, clear, copy_cluster, log_weights, refresh, remove
from partita.kernels.gibbs.jit import Index, inlined, step
from partita.kernels.gibbs.math import exp, full_lanes
from partita.kernels.gibbs.prior import log_open
from partita.kernels.gibbs.random import uniform
from partita.kernels.gibbs.types import Clusters, Likelihood, Prior, Random

_LOWEST = -700.0
"""Log weights further below the largest count as this: e⁻⁷⁰⁰ changes no sum, and keeps exp in
its range. A cluster that the prior forbids has weight e⁻⁷⁰⁰ too, which no draw can reach."""


@inlined
def choose(weights: Floats, n: Index, state: Random) -> Index:
    """Draw 0 … n − 1 with probabilities proportional to exp(weights); overwrites them.

    Four running maxima and four running sums, so that no step waits for the one before.
    """
    room = full_lanes(n)
    for j in range(n, room):
        weights[j] = -np.inf
    a, b, c, d = weights[0], weights[1], weights[2], weights[3]
    for j in range(4, room, 4):
        a = max(a, weights[j])
        b = max(b, weights[j + 1])
        c = max(c, weights[j + 2])
        d = max(d, weights[j + 3])
    highest = max(max(a, b), max(c, d))
    for j in range(room):
        weights[j] = exp(max(weights[j] - highest, _LOWEST))
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for j in range(0, room, 4):
        a += weights[j]
        b += weights[j + 1]
        c += weights[j + 2]
        d += weights[j + 3]
    target = uniform(state) * ((a + b) + (c + d))
    # Counting instead of stopping: the processor cannot guess where a draw falls, but whether an
    # item stays at home, and so may begin with the next item before this one is decided.
    chosen = np.int64(0)
    reached = 0.0
    for j in range(n):
        reached += weights[j]
        chosen += np.int64(reached <= target)
    if chosen < n:
        return chosen
    # Rounding left a trifle: as good as the likeliest.
    best: Index = np.int64(0)
    for j in range(1, n):
        if weights[j] > weights[best]:
            best = j
    return best


@step
def close_cluster(clusters: Clusters, j: Index, k: Index) -> None:
    """Remove position j of k by moving the last cluster there; its name becomes free."""
    name_at, position_of = clusters.name_at, clusters.position_of
    last = k - 1
    if j != last:
        copy_cluster(clusters.store, last, clusters.store, j)
        gone, moved = name_at[j], name_at[last]
        name_at[j], name_at[last] = moved, gone
        position_of[moved], position_of[gone] = j, last


@step
def sweep(
    model: Likelihood,
    prior: Prior,
    alpha: float,
    singleton: Floats,
    clusters: Clusters,
    saved: Floats,
    k: Index,
    first: Index,
    state: Random,
) -> tuple[Index, Index]:
    """Reassign each item from the first on, given all others.

    Returns the item it stopped before, for want of room in the store or because all are done,
    and the number of clusters.
    """
    store, work, weights, names = clusters.store, clusters.work, clusters.weights, clusters.names
    front = np.int64(0)
    opening = 0.0
    opening_for: Index = -1
    for i in range(first, names.size):
        if k == store.shape[1]:
            return i, k
        home = clusters.position_of[names[i]]
        alone = store[0, home] == 1.0
        if alone:
            close_cluster(clusters, home, k)
            k -= 1
        else:
            copy_cluster(store, home, saved, front)
            remove(model, i, store, work, home)
            refresh(model, prior, store, work, home)
        if k != opening_for:
            opening = log_open(prior, alpha, k)
            opening_for = k
        log_weights(model, i, store, work, k, weights)
        weights[k] = opening + singleton[i]
        chosen = choose(weights, k + 1, state)
        if chosen == home and not alone:
            # The saved statistics are exact; taking the item out and in would add rounding.
            copy_cluster(saved, front, store, home)
            continue
        if chosen == k:
            clear(store, k)
            k += 1
        add(model, i, store, work, chosen)
        refresh(model, prior, store, work, chosen)
        names[i] = clusters.name_at[chosen]
    return names.size, k
