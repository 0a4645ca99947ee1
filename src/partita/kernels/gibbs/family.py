"""One door to the kernel families: a model is a list of column blocks, each of one family.

This is all that the sampler's loops know about a kernel. A row of ``blocks``
holds: 0 family, 1 first column of the data, 2 number of columns, 3 first row of
its statistics and 4 of its cache in the store, 5 first entry of its
hyperparameters, 6 first row of its tables.

Clusters live in a store, side by side: column j belongs to the cluster at
position j, so that a loop over clusters runs over neighbours in memory. Row 0
is the number of items, row 1 the log prior weight of joining. Arguments are
plain arrays and offsets, because tuples and slices cost reference counting
in the innermost loop.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.kernels._jit import kernel
from partita.kernels.gibbs import categorical, normal, poisson, wishart
from partita.kernels.gibbs.jit import Index, inlined, step
from partita.kernels.gibbs.math import LANES

Floats = NDArray[np.float64]
Blocks = NDArray[np.int64]

NORMAL, WISHART, CATEGORICAL, POISSON = 0, 1, 2, 3
"""Family codes."""


@inlined
def copy_cluster(source: Floats, a: Index, target: Floats, b: Index) -> None:
    """Copy the cluster at position a of one store to position b of another."""
    for r in range(source.shape[0]):
        target[r, b] = source[r, a]


@inlined
def clear(store: Floats, j: Index) -> None:
    """Make the cluster at position j empty."""
    for r in range(store.shape[0]):
        store[r, j] = 0.0


@inlined
def add(
    data: Floats,
    i: Index,
    blocks: Blocks,
    hyper: Floats,
    tables: Floats,
    store: Floats,
    j: Index,
) -> None:
    """Take item i into cluster j; the cache is stale until refreshed."""
    store[0, j] += 1.0
    for b in range(blocks.shape[0]):
        family = blocks[b, 0]
        if family == NORMAL:
            normal.add(data, i, blocks, b, tables, store, j)
        elif family == WISHART:
            wishart.add(data, i, blocks, b, store, j)
        elif family == CATEGORICAL:
            categorical.add(data, i, blocks, b, hyper, store, j)
        else:
            poisson.add(data, i, blocks, b, store, j)


@inlined
def remove(
    data: Floats,
    i: Index,
    blocks: Blocks,
    hyper: Floats,
    tables: Floats,
    store: Floats,
    j: Index,
) -> None:
    """Take item i out of cluster j, which keeps at least one; the cache is then stale."""
    store[0, j] -= 1.0
    for b in range(blocks.shape[0]):
        family = blocks[b, 0]
        if family == NORMAL:
            normal.remove(data, i, blocks, b, tables, store, j)
        elif family == WISHART:
            wishart.remove(data, i, blocks, b, store, j)
        elif family == CATEGORICAL:
            categorical.remove(data, i, blocks, b, hyper, store, j)
        else:
            poisson.remove(data, i, blocks, b, store, j)


@inlined
def refresh(
    blocks: Blocks, hyper: Floats, tables: Floats, log_size: Floats, store: Floats, j: Index
) -> None:
    """Bring the cache of cluster j up to date with its statistics."""
    store[1, j] = log_size[int(store[0, j])]
    for b in range(blocks.shape[0]):
        family = blocks[b, 0]
        if family == NORMAL:
            normal.refresh(blocks, b, hyper, tables, store, j)
        elif family == WISHART:
            wishart.refresh(blocks, b, hyper, tables, store, j)
        elif family == CATEGORICAL:
            categorical.refresh(blocks, b, tables, store, j)
        else:
            poisson.refresh(blocks, b, hyper, store, j)


@inlined
def log_weights(
    data: Floats,
    i: Index,
    blocks: Blocks,
    hyper: Floats,
    store: Floats,
    k: Index,
    work: Floats,
    out: Floats,
) -> None:
    """Log prior weight plus log predictive density of item i for each of k clusters."""
    for j in range(k):
        out[j] = store[1, j]
    for b in range(blocks.shape[0]):
        family = blocks[b, 0]
        if family == NORMAL:
            normal.add_log_predictive(data, i, blocks, b, store, k, work, out)
        elif family == WISHART:
            wishart.add_log_predictive(data, i, blocks, b, store, k, work, out)
        elif family == CATEGORICAL:
            categorical.add_log_predictive(data, i, blocks, b, hyper, store, k, work, out)
        else:
            poisson.add_log_predictive(data, i, blocks, b, store, k, out)


@step
def log_marginal(blocks: Blocks, hyper: Floats, tables: Floats, store: Floats, j: Index) -> float:
    """Log density of all items of cluster j together; needs a refreshed cache."""
    total = 0.0
    for b in range(blocks.shape[0]):
        family = blocks[b, 0]
        if family == NORMAL:
            total += normal.log_marginal(blocks, b, hyper, tables, store, j)
        elif family == WISHART:
            total += wishart.log_marginal(blocks, b, hyper, tables, store, j)
        elif family == CATEGORICAL:
            total += categorical.log_marginal(blocks, b, hyper, tables, store, j)
        else:
            total += poisson.log_marginal(blocks, b, hyper, store, j)
    return total


@step
def fill_store(
    data: Floats,
    blocks: Blocks,
    hyper: Floats,
    tables: Floats,
    log_size: Floats,
    labels: NDArray[np.int32],
    k: Index,
    store: Floats,
) -> None:
    """Statistics and caches of the k clusters of canonical labels, at positions 0 … k − 1."""
    for j in range(k):
        clear(store, j)
    for i in range(labels.size):
        add(data, i, blocks, hyper, tables, store, np.int64(labels[i]))
    for j in range(k):
        refresh(blocks, hyper, tables, log_size, store, j)


@kernel
def prior_predictive(
    points: Floats, blocks: Blocks, hyper: Floats, tables: Floats, n_rows: Index, n_work: Index
) -> Floats:
    """Log density of each point under the kernel's prior: as a cluster of its own."""
    store = np.zeros((n_rows, LANES))
    work = np.empty((n_work, LANES))
    weights = np.empty(LANES)
    one, at = np.int64(1), np.int64(0)
    refresh(blocks, hyper, tables, np.zeros(1), store, at)
    densities = np.empty(points.shape[0])
    for i in range(points.shape[0]):
        log_weights(points, i, blocks, hyper, store, one, work, weights)
        densities[i] = weights[0]
    return densities
