"""The sweep given parameters: rows are independent, so that any number of threads may share them.

What a sweep and a split–merge move do to rows: add up their statistics, and allocate them to
clusters whose parameters were drawn. Statistics of chunks of rows are merged in the order of the
chunks, and the random number of a row depends on its number alone: threads change no bit.
"""

from __future__ import annotations

import math

import numpy as np

from partita.kernels._jit import array_kernel
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.gibbs import (
    categorical,
    chain,
    family,
    normal,
    normal_incomplete,
    poisson,
    wishart,
)
from partita.kernels.gibbs import prior as priors
from partita.kernels.gibbs.primitives import (
    AT,
    CODE,
    LANES,
    TILE,
    Index,
    Likelihood,
    Prior,
    Random,
    block_of,
    cells,
    exp,
    full_lanes,
    gamma,
    inlined,
    log,
    row_part,
    step,
    table_rows,
)

_LOWEST = -700.0
_UNIT = 1.0 / 9007199254740992.0
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@inlined
def _uniform_of(key: np.uint64, item: Index) -> float:
    """The number on [0, 1) of an item: place ``item`` in the stream of SplitMix64 at the key."""
    z = key + (np.uint64(item) + np.uint64(1)) * _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * _UNIT


# ------------------------------------------------------------------ statistics


@step
def _tally(
    model: Likelihood,
    b: Index,
    rows: Ints,
    slots: Int32s,
    store: Floats,
    seen: Floats,
    sums: Floats,
    squares: Floats,
    waiting: Floats,
) -> None:
    """Statistics of the rows in block b; all that follows the store is zero."""
    kind, count = model.blocks[b, AT.family], model.blocks[b, AT.counter]
    first, d = model.blocks[b, AT.first], model.blocks[b, AT.n_columns]
    block = block_of(model, b, store, store)
    if kind == CODE.wishart:
        wishart.tally(model.data, first, rows, slots, sums, squares, waiting)
        for j in range(seen.size):
            wishart.settle(sums, squares, block, j)
        return
    for m in range(rows.size):
        i, slot = rows[m], np.int64(slots[m])
        if count > 0 and math.isnan(model.data[i, first]):
            continue
        seen[slot] += 1.0
        x = cells(model.data, i, first, d)
        family.call_add(model.blocks[b, AT.address], x, seen[slot], block, slot)
    if count > 0:
        for j in range(seen.size):
            store[count, j] = seen[j]


@array_kernel
def statistics(model: Likelihood, rows: Ints, slots: Int32s, k: Index) -> Floats:
    """The store of k clusters: of the rows of the data, each in the cluster of its slot."""
    store = np.zeros((model.n_rows, full_lanes(k)))
    for m in range(rows.size):
        store[0, slots[m]] += 1.0
    for b in range(model.blocks.shape[0]):
        d = model.blocks[b, AT.n_columns] if model.blocks[b, AT.family] == CODE.wishart else 0
        sums, squares = np.zeros((k, 1 + 2 * d)), np.zeros((k, d * (d + 1) // 2))
        waiting = np.zeros((wishart.FOUR * k, d))
        _tally(model, b, rows, slots, store, np.zeros(k), sums, squares, waiting)
    return store


@array_kernel
def first_seen(labels: Int32s, n_names: Index) -> Ints:
    """The names among the labels, in order of first appearance."""
    seen, found, k = np.zeros(n_names, np.int64), np.empty(n_names, np.int64), 0
    for i in range(labels.size):
        name = labels[i]
        if seen[name] == 0:
            seen[name] = 1
            found[k] = name
            k += 1
    return found[:k]


@step
def merge_clusters(
    model: Likelihood, source: Floats, a: Index, target: Floats, j: Index, pair: Floats
) -> None:
    """Take the items of the cluster at position a of one store into position j of another.

    ``pair`` is scratch: one column per cluster, as wide as the target.
    """
    family.copy_cluster(source, a, pair, j)
    for b in range(model.blocks.shape[0]):
        kind, count = model.blocks[b, AT.family], model.blocks[b, AT.counter]
        more, n = pair[count, j], target[count, j]
        if more == 0.0:
            continue
        block = block_of(model, b, target, target)
        other = table_rows(pair, model.blocks[b, AT.stats], model.blocks[b, AT.n_stats])
        if kind == CODE.normal:
            normal.merge(n, more, other, block, j)
        elif kind == CODE.wishart:
            wishart.merge(n, more, other, block, j)
        elif kind == CODE.categorical:
            categorical.merge(n, more, other, block, j)
        elif kind == CODE.poisson:
            poisson.merge(n, more, other, block, j)
        elif kind == CODE.incomplete:
            normal_incomplete.merge(n, more, other, block, j)
        if count > 0:
            target[count, j] = n + more
    target[0, j] += pair[0, j]


@array_kernel
def merge_stores(model: Likelihood, source: Floats, target: Floats, k: Index) -> None:
    """Merge the first k clusters of two stores, into the second."""
    pair = np.empty(target.shape)
    for j in range(k):
        merge_clusters(model, source, j, target, j, pair)


@array_kernel
def refresh_caches(model: Likelihood, prior: Prior, store: Floats, k: Index) -> None:
    """Bring the caches of k clusters up to date with their statistics."""
    family.refresh_store(model, prior, k, store, np.empty((model.n_work, store.shape[1])))


# ------------------------------------------------------------------ parameters


@step
def _draw_cluster(
    model: Likelihood, store: Floats, j: Index, theta: Floats, at: Index, state: Random
) -> None:
    """Draw the parameters of cluster j given its items, into column ``at`` of theta."""
    for b in range(model.blocks.shape[0]):
        kind = model.blocks[b, AT.family]
        n = store[model.blocks[b, AT.counter], j]
        block = block_of(model, b, store, store)
        mine = table_rows(
            theta,
            model.blocks[b, AT.stats],
            model.blocks[b, AT.n_stats] + model.blocks[b, AT.n_cache],
        )
        if kind == CODE.normal:
            normal.draw(n, block, j, mine, at, state)
        elif kind == CODE.wishart:
            wishart.draw(n, block, j, mine, at, state)
        elif kind == CODE.categorical:
            categorical.draw(n, block, j, mine, at, state)
        elif kind == CODE.poisson:
            poisson.draw(n, block, j, mine, at, state)
        elif kind == CODE.incomplete:
            normal_incomplete.draw(n, block, j, mine, at, state)


@array_kernel
def draw_parameters(
    model: Likelihood, prior: Prior, store: Floats, chosen: Ints, state: Random
) -> tuple[Floats, Floats]:
    """Log weights and parameters of the chosen clusters given the items that they have.

    The weights are Dirichlet(n_j − σ) where an item joins a cluster of n with weight ∝ n − σ, and
    equal where that weight does not depend on n. A column of the second array has the parameters
    of a cluster, each block's in the rows that its statistics have in the store.
    """
    theta = np.empty((store.shape[0], chosen.size))
    weights = np.zeros(chosen.size)
    first, slope = joining(prior)
    for at in range(chosen.size):
        j = chosen[at]
        if slope > 0.0:
            weights[at] = math.log(gamma(state, (first + (store[0, j] - 1.0) * slope) / slope))
        _draw_cluster(model, store, j, theta, at, state)
    return weights, theta


@step
def joining(prior: Prior) -> tuple[float, float]:
    """Prior weight of joining a cluster of one item, and by how much each further item adds."""
    first = math.exp(prior.log_size[1])
    if prior.log_size.size < 4:  # two items: nobody joins a cluster of two
        return first, first
    slope = math.exp(prior.log_size[2]) - first
    return first, slope if slope > 1e-9 * first else 0.0


# ------------------------------------------------------------------ allocation


@inlined
def _load(
    model: Likelihood, rows: Ints, start: Index, size: Index, tile: Floats, present: Floats
) -> None:
    """Rows of the data as columns of a tile; missing cells become 0 and are noted."""
    for m in range(TILE):
        i = rows[start + min(m, size - 1)]
        for c in range(tile.shape[0]):
            x = model.data[i, c]
            there = not math.isnan(x)
            tile[c, m] = x if there else 0.0
            present[c, m] = 1.0 if there else 0.0


@inlined
def _densities(
    model: Likelihood,
    theta: Floats,
    k: Index,
    tile: Floats,
    present: Floats,
    work: Floats,
    alone: Floats,
    logs: Floats,
) -> None:
    """Add the log density of each item of a tile under each of k clusters to ``logs``."""
    for b in range(model.blocks.shape[0]):
        kind, count = model.blocks[b, AT.family], model.blocks[b, AT.counter]
        first, d = model.blocks[b, AT.first], model.blocks[b, AT.n_columns]
        x = table_rows(tile, first, d)
        mine = table_rows(
            theta,
            model.blocks[b, AT.stats],
            model.blocks[b, AT.n_stats] + model.blocks[b, AT.n_cache],
        )
        for at in range(k):
            out = cells(logs, at, np.int64(0), np.int64(TILE))
            if count > 0:
                for m in range(TILE):
                    alone[m] = 0.0
                out = alone
            if kind == CODE.normal:
                normal.log_density(x, mine, at, out)
            elif kind == CODE.wishart:
                wishart.log_density(x, mine, at, work, out)
            elif kind == CODE.categorical:
                hyper = row_part(model.hyper, model.blocks[b, AT.hyper], d)
                categorical.log_density(x, hyper, mine, at, out)
            elif kind == CODE.poisson:
                poisson.log_density(x, mine, at, out)
            elif kind == CODE.incomplete:
                there = table_rows(present, first, d)
                normal_incomplete.log_density(x, there, mine, at, out)
            if count > 0:
                for m in range(TILE):
                    logs[at, m] += present[first, m] * alone[m]


@array_kernel
def allocate(
    model: Likelihood,
    rows: Ints,
    offset: Index,
    weights: Floats,
    theta: Floats,
    key: np.uint64,
    slots: Int32s,
    forced: bool,
    wanted: bool,
) -> float:
    """Draw the cluster of each row given weights and parameters, independently, into its slot.

    Returns the log probability of the slots where it is ``wanted``; ``forced`` slots are kept, and
    only that is computed. ``offset`` is the number of the chunk's first row among all.
    """
    k = weights.size
    n_columns = model.data.shape[1]
    tile, present = np.empty((n_columns, TILE)), np.empty((n_columns, TILE))
    work, logs = np.empty((n_columns + 1, TILE)), np.empty((k, TILE))
    alone, highest, total = np.empty(TILE), np.empty(TILE), np.empty(TILE)
    reached, target = np.empty(TILE), np.empty(TILE)
    chosen = np.empty(TILE, np.int64)
    log_probability = 0.0
    for start in range(0, rows.size, TILE):
        size = min(TILE, rows.size - start)
        _load(model, rows, start, size, tile, present)
        for at in range(k):
            for m in range(TILE):
                logs[at, m] = weights[at]
        _densities(model, theta, k, tile, present, work, alone, logs)
        for m in range(TILE):
            highest[m] = logs[0, m]
        for at in range(1, k):
            for m in range(TILE):
                highest[m] = max(highest[m], logs[at, m])
        for m in range(TILE):
            total[m] = 0.0
            reached[m] = 0.0
            chosen[m] = 0
        for at in range(k):
            for m in range(TILE):
                weight = exp(max(logs[at, m] - highest[m], _LOWEST))
                logs[at, m] = weight
                total[m] += weight
        if not forced:
            for m in range(size):
                target[m] = _uniform_of(key, offset + rows[start + m]) * total[m]
            for m in range(size, TILE):
                target[m] = 0.0
            for at in range(k):
                for m in range(TILE):
                    reached[m] += logs[at, m]
                    chosen[m] += np.int64(reached[m] <= target[m])
            for m in range(size):
                if chosen[m] >= k:  # rounding left a trifle: as good as the likeliest
                    chosen[m] = 0
                    for at in range(1, k):
                        if logs[at, m] > logs[chosen[m], m]:
                            chosen[m] = at
                slots[start + m] = chosen[m]
        if wanted:
            for m in range(size):
                log_probability += log(logs[slots[start + m], m] / total[m])
    return log_probability


# ------------------------------------------------------------------ moves


@array_kernel
def learn(
    model: Likelihood,
    prior: Prior,
    values: Floats,
    weight: float,
    store: Floats,
    k: Index,
    n_items: Index,
    state: Random,
) -> tuple[Index, float]:
    """Draw learned rates, the number of components and a learned weight; caches follow.

    Returns the number of components, 0 where it is not drawn here, and the weight.
    """
    components: Index = np.int64(0)
    work = np.empty((model.n_work, store.shape[1]))
    if model.rates.block.size > 0:
        priors.set_rates(model, values)
        family.refresh_store(model, prior, k, store, work)
        priors.update_rates(model, store, work, k, values, state)
    if priors.telescopes(prior):
        terms = np.empty(max(prior.n_terms, 1))
        components, weight = chain.telescope(prior, weight, store, k, n_items, terms, state)
    family.refresh_store(model, prior, k, store, work)
    return components, weight


@array_kernel
def set_weight(prior: Prior, weight: float, components: Index) -> None:
    """Write the tables of a learned weight, in place."""
    priors.fill_tables(prior, weight, components)


@array_kernel
def collapsed_sweep(
    window: Likelihood,
    prior: Prior,
    alpha: float,
    names: Ints,
    store: Floats,
    k: Index,
    state: Random,
) -> tuple[Floats, Ints]:
    """A collapsed sweep over the rows of a window, given the statistics of all rows.

    ``names`` are the positions of their clusters in the store, and afterwards names: those below
    k are the clusters that were there, others are new. Returns the store and the names of the
    clusters at its positions.
    """
    n_rows = store.shape[0]
    clusters = chain.empty_clusters(names, n_rows, window.n_work, k)
    for j in range(k):
        family.copy_cluster(store, j, clusters.store, j)
    singleton = np.empty(names.size)
    empty, saved = np.zeros((n_rows, LANES)), np.empty((n_rows, 1))
    family.fill_prior_predictive(window, prior, empty, clusters.work, clusters.weights, singleton)
    done: Index = np.int64(0)
    while done < names.size:
        if k == clusters.store.shape[1]:
            clusters = chain.enlarge_clusters(clusters)
        done, k = chain.sweep(window, prior, alpha, singleton, clusters, saved, k, done, state)
    room = full_lanes(k)
    found = np.zeros((n_rows, room))
    for j in range(k):
        family.copy_cluster(clusters.store, j, found, j)
    return found, clusters.name_at[:k].copy()


@array_kernel
def launch(model: Likelihood, rows: Ints, seeds: Floats, slots: Int32s) -> None:
    """Put each row to the one of two items, whose store is ``seeds``, where it is likelier."""
    work, weights = np.empty((model.n_work, seeds.shape[1])), np.empty(seeds.shape[1])
    two = np.int64(2)
    for m in range(rows.size):
        family.log_weights(model, rows[m], seeds, work, two, weights)
        slots[m] = 1 if weights[1] > weights[0] else 0


@array_kernel
def log_shares(model: Likelihood, prior: Prior, store: Floats, k: Index) -> Floats:
    """Return the log posterior contribution of each of k clusters; refresh their caches."""
    work = np.empty((model.n_work, store.shape[1]))
    found = np.empty(k)
    for j in range(k):
        family.refresh(model, prior, store, work, j)
        found[j] = prior.log_block[int(store[0, j])] + family.log_marginal(model, store, work, j)
    return found


@array_kernel
def record(
    model: Likelihood,
    prior: Prior,
    alpha: float,
    values: Floats,
    components: Index,
    store: Floats,
    k: Index,
    n_items: Index,
    state: Random,
    out: Floats,
) -> None:
    """Numbers of a kept draw, as ``run_chain`` has them."""
    work = np.empty((model.n_work, store.shape[1]))
    family.refresh_store(model, prior, k, store, work)
    if prior.components.size > 0 and not priors.telescopes(prior):
        terms = np.empty(max(prior.n_terms, 1))
        components = priors.draw_components(prior, alpha, store[0], k, n_items, terms, state)
    chain.record_draw(model, prior, alpha, values, components, store, work, k, n_items, out)
    if priors.telescopes(prior):
        out[3] += priors.log_constant(prior, alpha, components, n_items)
