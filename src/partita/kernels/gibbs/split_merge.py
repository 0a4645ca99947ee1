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

from partita.kernels.arrays import Floats, Ints
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
from partita.kernels.gibbs.types import Clusters, Likelihood, Prior, Proposal, Random

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
    model: Likelihood,
    prior: Prior,
    clusters: Clusters,
    proposal: Proposal,
    i: Index,
    j: Index,
    lowest: float,
    state: Random,
) -> tuple[Index, float]:
    """Grow the halves around i and j; returns the members besides them and the log probability.

    Where i and j are in two clusters, the allocation follows these instead of drawing. One whose
    log probability falls below the lowest that matters is left unfinished.
    """
    names, work, weights = clusters.names, clusters.work, clusters.weights
    halves, members = proposal.halves, proposal.members
    size = _collect(names, names[i], names[j], i, j, members)
    shuffle(state, members, size)
    forced = names[i] != names[j]
    both = np.int64(2)
    for half in range(2):
        clear(halves, half)
        add(model, i if half == 0 else j, halves, work, half)
        refresh(model, prior, halves, work, half)
    log_probability = 0.0
    for m in range(size):
        item = members[m]
        log_weights(model, item, halves, work, both, weights)
        odds = max(min(weights[1] - weights[0], _LARGEST_ODDS), -_LARGEST_ODDS)
        chance = 1.0 / (1.0 + exp(-odds))
        if forced:
            half = 0 if names[item] == names[i] else 1
        else:
            half = 1 if uniform(state) < chance else 0
        log_probability += log(chance) if half == 1 else log(chance) - odds
        if log_probability < lowest:
            return size, log_probability
        add(model, item, halves, work, half)
        refresh(model, prior, halves, work, half)
        proposal.side[m] = half
    return size, log_probability


@step
def _log_share(model: Likelihood, prior: Prior, store: Floats, work: Floats, j: Index) -> float:
    """What cluster j contributes to the log posterior."""
    return float(prior.log_block[int(store[0, j])]) + log_marginal(model, store, work, j)


@step
def _split(
    model: Likelihood,
    prior: Prior,
    clusters: Clusters,
    proposal: Proposal,
    i: Index,
    j: Index,
    k: Index,
    opening: float,
    log_accept: float,
    state: Random,
) -> Index:
    """Propose to split the cluster of i and j; returns the number of clusters."""
    names, store, work, halves = clusters.names, clusters.store, clusters.work, proposal.halves
    at = clusters.position_of[names[i]]
    size, log_q = _allocate(model, prior, clusters, proposal, i, j, -np.inf, state)
    gain = opening - _log_share(model, prior, store, work, at)
    for half in range(2):
        gain += _log_share(model, prior, halves, work, half)
    if log_accept >= gain - log_q:
        return k
    first, second = np.int64(0), np.int64(1)
    copy_cluster(halves, first, store, at)
    copy_cluster(halves, second, store, k)
    names[j] = clusters.name_at[k]
    for m in range(size):
        if proposal.side[m] == 1:
            names[proposal.members[m]] = clusters.name_at[k]
    return k + 1


@step
def _merge(
    model: Likelihood,
    prior: Prior,
    clusters: Clusters,
    proposal: Proposal,
    i: Index,
    j: Index,
    k: Index,
    opening: float,
    log_accept: float,
    state: Random,
) -> Index:
    """Propose to merge the clusters of i and j; returns the number of clusters."""
    names, store, work, halves = clusters.names, clusters.store, clusters.work, proposal.halves
    at_i, at_j = clusters.position_of[names[i]], clusters.position_of[names[j]]
    larger, smaller = at_i, at_j
    if store[0, at_j] > store[0, at_i]:
        larger, smaller = at_j, at_i
    merged = np.int64(2)
    copy_cluster(store, larger, halves, merged)
    for item in range(names.size):
        if names[item] == clusters.name_at[smaller]:
            add(model, item, halves, work, merged)
    refresh(model, prior, halves, work, merged)
    gain = _log_share(model, prior, halves, work, merged) - opening
    gain -= _log_share(model, prior, store, work, at_i)
    gain -= _log_share(model, prior, store, work, at_j)
    if log_accept >= gain:
        return k
    size, log_q = _allocate(model, prior, clusters, proposal, i, j, log_accept - gain, state)
    if log_accept >= gain + log_q:
        return k
    copy_cluster(halves, merged, store, at_i)
    names[j] = names[i]
    for m in range(size):
        names[proposal.members[m]] = names[i]
    close_cluster(clusters, at_j, k)
    return k - 1


@step
def split_merge(
    model: Likelihood,
    prior: Prior,
    alpha: float,
    clusters: Clusters,
    proposal: Proposal,
    k: Index,
    state: Random,
) -> Index:
    """Propose one split or merge; returns the number of clusters. The store has room for one."""
    names = clusters.names
    i = below(state, names.size)
    j = below(state, names.size - 1)
    if j >= i:
        j += 1
    log_accept = math.log(1.0 - uniform(state))
    if names[i] == names[j]:
        opening = log_open(prior, alpha, k)
        return _split(model, prior, clusters, proposal, i, j, k, opening, log_accept, state)
    opening = log_open(prior, alpha, k - 1)
    return _merge(model, prior, clusters, proposal, i, j, k, opening, log_accept, state)
