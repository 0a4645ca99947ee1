"""One chain: sweeps, split–merge moves and updates of what is learned, for all kernels.

The sweep is Neal's (2000) algorithm 3.

Split–merge moves use sequential allocation (Dahl 2005). Two items are drawn. Sharing a cluster,
they seed its two halves and the other members join one half after the other, each by the
predictive density; apart, their clusters are merged and the probability of the reverse split is
worked out along the same path. A Metropolis–Hastings step decides. Its random number is drawn
first: most merges are then refused before the reverse split is needed, because that probability
can only lower the acceptance ratio.
"""

from __future__ import annotations

import math

import numpy as np

from partita.kernels._jit import array_kernel, part_of_kernel
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.gibbs import family
from partita.kernels.gibbs import prior as priors
from partita.kernels.gibbs.primitives import (
    LANES,
    Clusters,
    Index,
    Likelihood,
    Plan,
    Prior,
    Proposal,
    Random,
    below,
    exp,
    full_lanes,
    inlined,
    log,
    shuffle,
    uniform,
)

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
    # Rounding: fall back to the most probable one.
    best: Index = np.int64(0)
    for j in range(1, n):
        if weights[j] > weights[best]:
            best = j
    return best


@part_of_kernel
def close_cluster(clusters: Clusters, j: Index, k: Index) -> None:
    """Remove position j of k by moving the last cluster there; its name becomes free."""
    name_at, position_of = clusters.name_at, clusters.position_of
    last = k - 1
    if j != last:
        family.copy_cluster(clusters.store, last, clusters.store, j)
        gone, moved = name_at[j], name_at[last]
        name_at[j], name_at[last] = moved, gone
        position_of[moved], position_of[gone] = j, last


@part_of_kernel
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

    Returns the item it stopped before, because the store is full or because all are done,
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
            family.copy_cluster(store, home, saved, front)
            family.remove(model, i, store, work, home)
            family.refresh(model, prior, store, work, home)
        if k != opening_for:
            opening = priors.log_open(prior, alpha, k)
            opening_for = k
        family.log_weights(model, i, store, work, k, weights)
        weights[k] = opening + singleton[i]
        chosen = choose(weights, k + 1, state)
        if chosen == home and not alone:
            # The saved statistics are exact; taking the item out and in would add rounding.
            family.copy_cluster(saved, front, store, home)
            continue
        if chosen == k:
            family.clear(store, k)
            k += 1
        family.add(model, i, store, work, chosen)
        family.refresh(model, prior, store, work, chosen)
        names[i] = clusters.name_at[chosen]
    return names.size, k


_LARGEST_ODDS = 600.0
"""Log odds beyond this are taken for it, in proposals and in their probabilities alike."""


@part_of_kernel
def _collect(names: Ints, a: Index, b: Index, i: Index, j: Index, members: Ints) -> Index:
    """Items of the clusters named a or b other than i and j; returns how many."""
    size = 0
    for item in range(names.size):
        if (names[item] == a or names[item] == b) and item != i and item != j:
            members[size] = item
            size += 1
    return size


@part_of_kernel
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
        family.clear(halves, half)
        family.add_item(model, i if half == 0 else j, halves, work, half)
        family.refresh_cluster(model, prior, halves, work, half)
    log_probability = 0.0
    for m in range(size):
        item = members[m]
        family.log_weights(model, item, halves, work, both, weights)
        odds = max(min(weights[1] - weights[0], _LARGEST_ODDS), -_LARGEST_ODDS)
        chance = 1.0 / (1.0 + exp(-odds))
        if forced:
            half = 0 if names[item] == names[i] else 1
        else:
            half = 1 if uniform(state) < chance else 0
        log_probability += log(chance) if half == 1 else log(chance) - odds
        if log_probability < lowest:
            return size, log_probability
        family.add_item(model, item, halves, work, half)
        family.refresh_cluster(model, prior, halves, work, half)
        proposal.side[m] = half
    return size, log_probability


@part_of_kernel
def _log_share(model: Likelihood, prior: Prior, store: Floats, work: Floats, j: Index) -> float:
    """Return the contribution of cluster j to the log posterior."""
    return float(prior.log_block[int(store[0, j])]) + family.log_marginal(model, store, work, j)


@part_of_kernel
def split_merge(
    model: Likelihood,
    prior: Prior,
    alpha: float,
    clusters: Clusters,
    proposal: Proposal,
    k: Index,
    state: Random,
) -> Index:
    """Propose one split or merge; returns the number of clusters. The store has room for one.

    Items i and j that share a cluster seed its halves; the clusters of others are merged.
    """
    names, store, work, halves = clusters.names, clusters.store, clusters.work, proposal.halves
    i = below(state, names.size)
    j = below(state, names.size - 1)
    if j >= i:
        j += 1
    log_accept = math.log(1.0 - uniform(state))
    splits = names[i] == names[j]
    opening = priors.log_open(prior, alpha, k if splits else k - 1)
    at_i, at_j = clusters.position_of[names[i]], clusters.position_of[names[j]]
    merged, lowest, gain = np.int64(2), -np.inf, opening
    if splits:
        gain -= _log_share(model, prior, store, work, at_i)
    else:
        larger, smaller = at_i, at_j
        if store[0, at_j] > store[0, at_i]:
            larger, smaller = at_j, at_i
        family.copy_cluster(store, larger, halves, merged)
        for item in range(names.size):
            if names[item] == clusters.name_at[smaller]:
                family.add_item(model, item, halves, work, merged)
        family.refresh_cluster(model, prior, halves, work, merged)
        gain = _log_share(model, prior, halves, work, merged) - opening
        gain -= _log_share(model, prior, store, work, at_i)
        gain -= _log_share(model, prior, store, work, at_j)
        if log_accept >= gain:
            return k
        lowest = log_accept - gain
    size, log_q = _allocate(model, prior, clusters, proposal, i, j, lowest, state)
    if splits:
        for half in range(2):
            gain += _log_share(model, prior, halves, work, half)
        if log_accept >= gain - log_q:
            return k
        first, second = np.int64(0), np.int64(1)
        family.copy_cluster(halves, first, store, at_i)
        family.copy_cluster(halves, second, store, k)
        names[j] = clusters.name_at[k]
        for m in range(size):
            if proposal.side[m] == 1:
                names[proposal.members[m]] = clusters.name_at[k]
        return k + 1
    if log_accept >= gain + log_q:
        return k
    family.copy_cluster(halves, merged, store, at_i)
    names[j] = names[i]
    for m in range(size):
        names[proposal.members[m]] = names[i]
    close_cluster(clusters, at_j, k)
    return k - 1


@part_of_kernel
def _capacity(k: Index) -> Index:
    """Capacity for more than k clusters; an odd multiple of 8 avoids cache conflicts."""
    return 8 * (2 * (k // 8) + 3)


@array_kernel
def empty_clusters(names: Ints, n_rows: Index, n_work: Index, k: Index) -> Clusters:
    """Empty clusters, with room for more than k."""
    capacity = _capacity(k)
    return Clusters(
        names,
        np.zeros((n_rows, capacity)),
        np.empty((n_work, capacity)),
        np.zeros(capacity + LANES),
        np.arange(capacity),
        np.arange(capacity),
    )


@array_kernel
def enlarge_clusters(old: Clusters) -> Clusters:
    """The same clusters at the same positions, and room for more after them."""
    wider = empty_clusters(old.names, old.store.shape[0], old.work.shape[0], old.store.shape[1])
    for j in range(old.store.shape[1]):
        for r in range(old.store.shape[0]):
            wider.store[r, j] = old.store[r, j]
        wider.name_at[j] = old.name_at[j]
        wider.position_of[j] = old.position_of[j]
    return wider


@part_of_kernel
def _rename(names: Ints, number: Ints, labels: Int32s) -> None:
    """Write the names as canonical labels; ``number`` is scratch."""
    for name in range(number.size):
        number[name] = -1
    k = 0
    for i in range(names.size):
        name = names[i]
        if number[name] < 0:
            number[name] = k
            k += 1
        labels[i] = number[name]


@part_of_kernel
def _learn_rates(
    model: Likelihood,
    prior: Prior,
    values: Floats,
    clusters: Clusters,
    k: Index,
    empty: Floats,
    singleton: Floats,
    state: Random,
) -> None:
    """Draw the learned rates; caches and the densities of items alone follow them."""
    priors.update_rates(model, clusters.store, clusters.work, k, values, state)
    family.refresh_store(model, prior, k, clusters.store, clusters.work)
    family.fill_prior_predictive(model, prior, empty, clusters.work, clusters.weights, singleton)


@part_of_kernel
def telescope(
    prior: Prior,
    weight: float,
    store: Floats,
    k: Index,
    n_items: Index,
    terms: Floats,
    state: Random,
) -> tuple[Index, float]:
    """Draw the number of components, then the weight; the tables follow them."""
    counts = store[0]
    components = priors.draw_components(prior, weight, counts, k, n_items, terms, state)
    weight = priors.update_weight(prior, weight, components, counts, k, n_items, state)
    priors.fill_tables(prior, weight, components)
    for j in range(k):
        store[1, j] = prior.log_size[int(store[0, j])]
    return components, weight


@part_of_kernel
def record_draw(
    model: Likelihood,
    prior: Prior,
    alpha: float,
    values: Floats,
    components: Index,
    store: Floats,
    work: Floats,
    k: Index,
    n_items: Index,
    out: Floats,
) -> None:
    """Numbers of a kept draw, in the order documented in ``run_chain``."""
    out[0] = alpha
    out[1] = k
    out[2] = 0.0
    for j in range(k):
        out[2] += family.log_marginal(model, store, work, j)
    out[3] = priors.log_prior(prior, alpha, store[0], k, n_items)
    out[3] += priors.log_hyperprior(prior, alpha)
    first = 4
    if prior.components.size > 0:
        out[4] = components
        first = 5
    for r in range(values.size):
        out[first + r] = values[r]
        out[3] += priors.log_gamma(values[r], model.rates.shape[r], model.rates.rate[r])


@array_kernel
def run_chain(
    model: Likelihood,
    prior: Prior,
    singleton: Floats,
    alpha: float,
    values: Floats,
    labels: Int32s,
    state: Random,
    plan: Plan,
    kept_labels: Int32s,
    kept: Floats,
) -> float:
    """Iterations of a plan, in place; returns the concentration.

    Between two iterations a chain is its canonical labels, its concentration, the ``values`` of
    its learned rates and its random state, and nothing else: statistics are built anew, so that
    rounding never accumulates and cutting a run into pieces cannot change it. Kept draws go to
    the rows of ``kept_labels`` and, as concentration, number of clusters, log likelihood and log
    prior, number of components of a finite mixture and learned rates, of ``kept``. With learned
    rates or a weight, model, prior and ``singleton`` belong to the chain and are written.
    """
    n_items, n_rows, n_work = labels.size, model.n_rows, model.n_work
    proposal = Proposal(
        np.zeros((n_rows, LANES)), np.empty(n_items, np.int64), np.empty(n_items, np.int64)
    )
    saved = np.empty((n_rows, 1))
    clusters = empty_clusters(np.empty(n_items, np.int64), n_rows, n_work, np.int64(0))
    empty, terms = np.zeros((n_rows, LANES)), np.empty(max(prior.n_terms, 1))
    telescoping, learning = priors.telescopes(prior), model.rates.block.size > 0
    components: Index = np.int64(0)
    if learning:
        priors.set_rates(model, values)
    row = 0
    for iteration in range(plan.first + 1, plan.last + 1):
        k: Index = np.int64(0)
        for i in range(n_items):
            clusters.names[i] = labels[i]
            k = max(k, clusters.names[i] + 1)
        if k >= clusters.store.shape[1]:
            clusters = empty_clusters(clusters.names, n_rows, n_work, k)
        for j in range(clusters.store.shape[1]):
            clusters.name_at[j] = j
            clusters.position_of[j] = j
        family.fill_store(model, prior, labels, k, clusters.store, clusters.work)
        if learning:
            _learn_rates(model, prior, values, clusters, k, empty, singleton, state)
        if telescoping:
            components, alpha = telescope(prior, alpha, clusters.store, k, n_items, terms, state)
        done: Index = np.int64(0)
        moves = 0
        sweeps = 0
        while moves < plan.n_split_merge or sweeps < plan.n_sweeps:
            if k == clusters.store.shape[1]:
                # The same clusters at the same positions: a chain must not depend on how much
                # room earlier iterations happened to need.
                clusters = enlarge_clusters(clusters)
            if moves < plan.n_split_merge:
                k = split_merge(model, prior, alpha, clusters, proposal, k, state)
                moves += 1
            else:
                done, k = sweep(model, prior, alpha, singleton, clusters, saved, k, done, state)
                if done == n_items:
                    sweeps += 1
                    done = np.int64(0)
        _rename(clusters.names, clusters.position_of, labels)
        alpha = priors.update_concentration(prior, alpha, k, n_items, state)
        if iteration > plan.burn_in and (iteration - plan.burn_in) % plan.thin == 0:
            for i in range(n_items):
                kept_labels[row, i] = labels[i]
            if prior.components.size > 0 and not telescoping:
                counts = clusters.store[0]
                components = priors.draw_components(prior, alpha, counts, k, n_items, terms, state)
            store, work = clusters.store, clusters.work
            record_draw(model, prior, alpha, values, components, store, work, k, n_items, kept[row])
            if telescoping:
                kept[row, 3] += priors.log_constant(prior, alpha, components, n_items)
            row += 1
    return alpha
