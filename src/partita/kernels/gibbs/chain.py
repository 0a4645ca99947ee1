"""One chain: iterations of sweeps, split–merge moves and updates of what is learned."""

from __future__ import annotations

import numpy as np

from partita.kernels._jit import array_kernel, kernel
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.gibbs.family import fill_alone, fill_store, log_marginal, refresh_store
from partita.kernels.gibbs.moves import split_merge, sweep
from partita.kernels.gibbs.primitives import LANES, Index, step
from partita.kernels.gibbs.prior import (
    draw_components,
    fill_tables,
    log_constant,
    log_gamma,
    log_hyperprior,
    log_prior,
    set_rates,
    telescopes,
    update_concentration,
    update_rates,
    update_weight,
)
from partita.kernels.gibbs.types import Clusters, Likelihood, Plan, Prior, Proposal, Random, Rates


@kernel
def _capacity(k: Index) -> Index:
    """Room for k clusters and more; an odd multiple of 8 spreads the rows over the CPU's cache."""
    return 8 * (2 * (k // 8) + 3)


@array_kernel
def _with_room(names: Ints, n_rows: Index, n_work: Index, k: Index) -> Clusters:
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
def _widened(old: Clusters) -> Clusters:
    """The same clusters at the same positions, and room for more after them."""
    wider = _with_room(old.names, old.store.shape[0], old.work.shape[0], old.store.shape[1])
    for j in range(old.store.shape[1]):
        for r in range(old.store.shape[0]):
            wider.store[r, j] = old.store[r, j]
        wider.name_at[j] = old.name_at[j]
        wider.position_of[j] = old.position_of[j]
    return wider


@kernel
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


@step
def _learn_rates(
    model: Likelihood,
    prior: Prior,
    rates: Rates,
    values: Floats,
    clusters: Clusters,
    k: Index,
    empty: Floats,
    singleton: Floats,
    state: Random,
) -> None:
    """Draw the learned rates; caches and the densities of items alone follow them."""
    update_rates(model, rates, clusters.store, k, values, state)
    refresh_store(model, prior, k, clusters.store, clusters.work)
    fill_alone(model, prior, empty, clusters.work, clusters.weights, singleton)


@kernel
def _telescope(
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
    components = draw_components(prior, weight, counts, k, n_items, terms, state)
    weight = update_weight(prior, weight, components, counts, k, n_items, state)
    fill_tables(prior, weight, components)
    for j in range(k):
        store[1, j] = prior.log_size[int(store[0, j])]
    return components, weight


@kernel
def _record(
    model: Likelihood,
    prior: Prior,
    rates: Rates,
    alpha: float,
    values: Floats,
    components: Index,
    clusters: Clusters,
    k: Index,
    out: Floats,
) -> None:
    """Numbers of a kept draw, in the order that ``run_chain`` tells."""
    store = clusters.store
    out[0] = alpha
    out[1] = k
    out[2] = 0.0
    for j in range(k):
        out[2] += log_marginal(model, store, clusters.work, j)
    out[3] = log_prior(prior, alpha, store[0], k, clusters.names.size)
    out[3] += log_hyperprior(prior, alpha)
    first = 4
    if prior.components.size > 0:
        out[4] = components
        first = 5
    for r in range(values.size):
        out[first + r] = values[r]
        out[3] += log_gamma(values[r], rates.shape[r], rates.rate[r])


@array_kernel
def run_chain(
    model: Likelihood,
    prior: Prior,
    rates: Rates,
    singleton: Floats,
    n_rows: Index,
    n_work: Index,
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
    n_items = labels.size
    proposal = Proposal(
        np.zeros((n_rows, LANES)), np.empty(n_items, np.int64), np.empty(n_items, np.int64)
    )
    saved = np.empty((n_rows, 1))
    clusters = _with_room(np.empty(n_items, np.int64), n_rows, n_work, np.int64(0))
    empty, terms = np.zeros((n_rows, LANES)), np.empty(max(prior.n_terms, 1))
    telescoping, learning = telescopes(prior), rates.block.size > 0
    components: Index = np.int64(0)
    if learning:
        set_rates(model, rates, values)
    row = 0
    for iteration in range(plan.first + 1, plan.last + 1):
        k: Index = np.int64(0)
        for i in range(n_items):
            clusters.names[i] = labels[i]
            k = max(k, clusters.names[i] + 1)
        if k >= clusters.store.shape[1]:
            clusters = _with_room(clusters.names, n_rows, n_work, k)
        for j in range(clusters.store.shape[1]):
            clusters.name_at[j] = j
            clusters.position_of[j] = j
        fill_store(model, prior, labels, k, clusters.store, clusters.work)
        if learning:
            _learn_rates(model, prior, rates, values, clusters, k, empty, singleton, state)
        if telescoping:
            components, alpha = _telescope(prior, alpha, clusters.store, k, n_items, terms, state)
        done: Index = np.int64(0)
        moves = 0
        sweeps = 0
        while moves < plan.n_split_merge or sweeps < plan.n_sweeps:
            if k == clusters.store.shape[1]:
                # The same clusters at the same positions: a chain must not depend on how much
                # room earlier iterations happened to need.
                clusters = _widened(clusters)
            if moves < plan.n_split_merge:
                k = split_merge(model, prior, alpha, clusters, proposal, k, state)
                moves += 1
            else:
                done, k = sweep(model, prior, alpha, singleton, clusters, saved, k, done, state)
                if done == n_items:
                    sweeps += 1
                    done = np.int64(0)
        _rename(clusters.names, clusters.position_of, labels)
        alpha = update_concentration(prior, alpha, k, n_items, state)
        if iteration > plan.burn_in and (iteration - plan.burn_in) % plan.thin == 0:
            for i in range(n_items):
                kept_labels[row, i] = labels[i]
            if prior.components.size > 0 and not telescoping:
                counts = clusters.store[0]
                components = draw_components(prior, alpha, counts, k, n_items, terms, state)
            _record(model, prior, rates, alpha, values, components, clusters, k, kept[row])
            if telescoping:
                kept[row, 3] += log_constant(prior, alpha, components, n_items)
            row += 1
    return alpha
