"""Interface between the sampler's loops and a kernel family, and densities of points under it.

A kernel is five functions, and all families share their signatures:

- ``add(x, n, block, j)``: take the cells x into the statistics of cluster j, which has n items
  with them; ``remove(x, n, block, j)``: take them out again, leaving n.
- ``refresh(n, block, j)``: fill cluster j's cache from its statistics.
- ``log_predictive(x, k, block, out)``: add the log predictive density of x under each of the
  clusters 0 … k − 1 to ``out``; caches are fresh.
- ``log_marginal(n, block, j)``: the log density of all items of cluster j together.

They are called by address: the loops compile without them, once for all kernels, and of the
families those alone that are in use. The first ``sample`` takes 15 s of processor time so, and 21 s
with the families compiled into the loops. A call costs some 17 ns: 3 to 12% of a sweep.
A missing cell is integrated out by leaving its block aside, which then counts its own items; normal
columns with missing cells share a block of ``normal_incomplete``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from partita.kernels._jit import array_kernel, inner_kernel
from partita.kernels.arrays import Floats, Int32s, Ints
from partita.kernels.gibbs import categorical, normal, normal_incomplete, poisson, wishart
from partita.kernels.gibbs.primitives import (
    AT,
    LANES,
    Block,
    Index,
    Likelihood,
    Parameters,
    Prior,
    block_of,
    cells,
    full_lanes,
    inlined,
    step,
)
from partita.kernels.gibbs.prior import fill_tables, log_open, set_rates, telescopes

_ROW = types.Array(types.float64, 1, "C")
_TABLE = types.Array(types.float64, 2, "C")
_BLOCK = types.NamedTuple([_ROW, _TABLE, _TABLE, _TABLE, _TABLE], Block)
_N, _J, _NOTHING = types.float64, types.int64, types.none

_ARGUMENTS = {
    "add": (_ROW, _N, _BLOCK, _J),
    "remove": (_ROW, _N, _BLOCK, _J),
    "refresh": (_N, _BLOCK, _J),
    "log_predictive": (_ROW, _J, _BLOCK, _ROW),
    "log_marginal": (_N, _BLOCK, _J),
}
_RESULT = dict.fromkeys(_ARGUMENTS, _NOTHING) | {"log_marginal": types.float64}


def _caller(name: str) -> Any:
    """A compiled function that calls the one at an address; its errors are passed on."""
    arguments, result = _ARGUMENTS[name], _RESULT[name]

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        kind = context.call_conv.get_function_type(result, arguments)
        function = builder.inttoptr(args[0], kind.as_pointer())
        status, found = context.call_conv.call_function(
            builder, function, result, arguments, args[1:]
        )
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return found

    signature = result(types.int64, *arguments)
    if len(arguments) == 4:

        def typed(typing: Any, address: Any, a: Any, b: Any, c: Any, d: Any) -> Any:  # noqa: ARG001
            return signature, build

        return intrinsic(typed)

    def typed_short(typing: Any, address: Any, a: Any, b: Any, c: Any) -> Any:  # noqa: ARG001
        return signature, build

    return intrinsic(typed_short)


call_add = _caller("add")
call_remove = _caller("remove")
call_refresh = _caller("refresh")
call_log_predictive = _caller("log_predictive")
call_log_marginal = _caller("log_marginal")


class CompilationError(TypeError):
    """A function does not compile for its place in a kernel, or returns something else."""


FAMILIES = (normal, wishart, categorical, poisson, normal_incomplete)
"""Modules with the functions of the built-in families, in the order of their codes."""

_alive: dict[tuple[str, Callable[..., Any]], tuple[int, Any]] = {}
"""Addresses with the compiled functions, which must not be freed while they may be called."""


def address(name: str, function: Callable[..., Any]) -> int:
    """Return the address of the compiled function in this process; compile it if needed."""
    if (name, function) in _alive:
        return _alive[name, function][0]
    arguments = _ARGUMENTS[name]
    try:
        dispatcher: Any = function if hasattr(function, "py_func") else numba.njit(function)
        dispatcher.compile(arguments)
    except Exception as error:  # a wrong number of arguments is none of Numba's own
        raise CompilationError(f"{name}: {error}") from error
    compiled = dispatcher.overloads[arguments]
    returned = compiled.signature.return_type
    if returned != _RESULT[name]:
        raise CompilationError(f"{name} returns {returned}; expected {_RESULT[name]}")
    found = int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))
    _alive[name, function] = found, dispatcher
    return found


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
def _is_missing(model: Likelihood, i: Index, b: Index) -> bool:
    """Whether item i has no cell in block b; blocks of several columns have all."""
    return bool(model.blocks[b, AT.counter] > 0) and math.isnan(
        model.data[i, model.blocks[b, AT.first]]
    )


@inlined
def add(model: Likelihood, i: Index, store: Floats, work: Floats, j: Index) -> None:
    """Take item i into cluster j; the cache is stale until refreshed."""
    store[0, j] += 1.0
    for b in range(model.blocks.shape[0]):
        count = model.blocks[b, AT.counter]
        if count > 0:
            if _is_missing(model, i, b):
                continue
            store[count, j] += 1.0
        n = store[count, j]
        block = block_of(model, b, store, work)
        x = cells(model.data, i, model.blocks[b, AT.first], model.blocks[b, AT.n_columns])
        call_add(model.blocks[b, AT.address], x, n, block, j)


@inlined
def remove(model: Likelihood, i: Index, store: Floats, work: Floats, j: Index) -> None:
    """Take item i out of cluster j, which keeps at least one; the cache is then stale."""
    store[0, j] -= 1.0
    for b in range(model.blocks.shape[0]):
        count = model.blocks[b, AT.counter]
        if count > 0:
            if _is_missing(model, i, b):
                continue
            store[count, j] -= 1.0
            if store[count, j] == 0.0:
                first = model.blocks[b, AT.stats]
                for r in range(first, first + model.blocks[b, AT.n_stats]):
                    store[r, j] = 0.0
                continue
        n = store[count, j]
        block = block_of(model, b, store, work)
        x = cells(model.data, i, model.blocks[b, AT.first], model.blocks[b, AT.n_columns])
        call_remove(model.blocks[b, AT.address + 1], x, n, block, j)


@inlined
def refresh(model: Likelihood, prior: Prior, store: Floats, work: Floats, j: Index) -> None:
    """Bring the cache of cluster j up to date with its statistics."""
    store[1, j] = prior.log_size[int(store[0, j])]
    for b in range(model.blocks.shape[0]):
        n = store[model.blocks[b, AT.counter], j]
        block = block_of(model, b, store, work)
        call_refresh(model.blocks[b, AT.address + 2], n, block, j)


@inner_kernel
def add_item(model: Likelihood, i: Index, store: Floats, work: Floats, j: Index) -> None:
    """:func:`add` by a call: every copy of the families in a kernel takes long to compile."""
    add(model, i, store, work, j)


@inner_kernel
def refresh_cluster(model: Likelihood, prior: Prior, store: Floats, work: Floats, j: Index) -> None:
    """:func:`refresh` by a call."""
    refresh(model, prior, store, work, j)


@inlined
def log_weights(
    model: Likelihood, i: Index, store: Floats, work: Floats, k: Index, out: Floats
) -> None:
    """Log prior weight plus log predictive density of item i for each of k clusters."""
    for j in range(k):
        out[j] = store[1, j]
    for b in range(model.blocks.shape[0]):
        if _is_missing(model, i, b):
            continue
        block = block_of(model, b, store, work)
        x = cells(model.data, i, model.blocks[b, AT.first], model.blocks[b, AT.n_columns])
        call_log_predictive(model.blocks[b, AT.address + 3], x, k, block, out)


@step
def log_marginal(model: Likelihood, store: Floats, work: Floats, j: Index) -> float:
    """Log density of all items of cluster j together; needs a refreshed cache."""
    total = 0.0
    for b in range(model.blocks.shape[0]):
        n = store[model.blocks[b, AT.counter], j]
        block = block_of(model, b, store, work)
        total += call_log_marginal(model.blocks[b, AT.address + 4], n, block, j)
    return total


@step
def refresh_store(model: Likelihood, prior: Prior, k: Index, store: Floats, work: Floats) -> None:
    """Bring the caches of the clusters at positions 0 … k − 1 up to date."""
    for j in range(k):
        refresh_cluster(model, prior, store, work, j)


@step
def fill_store(
    model: Likelihood, prior: Prior, labels: Int32s, k: Index, store: Floats, work: Floats
) -> None:
    """Statistics and caches of the k clusters of canonical labels, at positions 0 … k − 1."""
    for j in range(k):
        clear(store, j)
    for i in range(labels.size):
        add_item(model, i, store, work, np.int64(labels[i]))
    refresh_store(model, prior, k, store, work)


@step
def fill_prior_predictive(
    model: Likelihood, prior: Prior, empty: Floats, work: Floats, weights: Floats, out: Floats
) -> None:
    """Log density of each row of the data under the kernel's prior; ``empty`` is scratch."""
    one, at = np.int64(1), np.int64(0)
    clear(empty, at)
    refresh_store(model, prior, one, empty, work)
    for i in range(model.data.shape[0]):
        log_weights(model, i, empty, work, one, weights)
        out[i] = weights[0]


@array_kernel
def prior_predictive(model: Likelihood, prior: Prior) -> Floats:
    """Log density of each row of the data as a cluster of its own: under the kernel's prior."""
    densities = np.empty(model.data.shape[0])
    fill_prior_predictive(
        model,
        prior,
        np.zeros((model.n_rows, LANES)),
        np.empty((model.n_work, LANES)),
        np.empty(LANES),
        densities,
    )
    return densities


# ------------------------------------------------------------------ densities of points


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
    points: Likelihood, model: Likelihood, prior: Prior, labels: Int32s, k: Index
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
def log_densities(
    points: Likelihood,
    items: Ints,
    log_base: Floats,
    log_alone: Floats,
    model: Likelihood,
    prior: Prior,
    labels: Int32s,
    learned: Parameters,
) -> Floats:
    """Log density of each point under each draw, shape (n_draws, n_points).

    Of new points where ``items`` is empty; else of the items of these numbers given all others and
    their partition, p(x_i | x_−i, c_−i) with the item's own cluster summed out: the normaliser of
    its step in a Gibbs sweep. ``log_base`` is the factor of each point that no partition changes,
    ``log_alone`` the log density of a point in a new cluster without it: either alone may be far
    out of range (x! from 171 on). The prior is made for all items and a new point; its weights are
    divided by their sum. Where draws have learned parameters, the prior's tables, the
    hyperparameters (one array of points and model) and ``log_alone`` are written.
    """
    n_draws, n_items = labels.shape
    out = np.empty((n_draws, points.data.shape[0]))
    empty, little = np.zeros((model.n_rows, LANES)), np.empty((model.n_work, LANES))
    saved, weights = np.zeros((model.n_rows, LANES)), np.empty(LANES)
    front = np.int64(0)
    for m in range(n_draws):
        k = np.int64(0)
        for i in range(n_items):
            k = max(k, np.int64(labels[m, i]) + 1)
        alpha = learned.prior[m]
        if telescopes(prior):
            fill_tables(prior, alpha, learned.components[m])
        if learned.rates.shape[1] > 0:
            set_rates(model, learned.rates[m])
            fill_prior_predictive(points, prior, empty, little, weights, log_alone)
        room = full_lanes(k)
        store, work = np.zeros((model.n_rows, room)), np.empty((model.n_work, room))
        joining, sizes = np.empty(room), np.empty(k)
        fill_store(model, prior, labels[m], k, store, work)
        opening, log_total = log_open(prior, alpha, k), 0.0
        for p in range(points.data.shape[0]):
            leaves = items.size > 0
            home = np.int64(labels[m, items[p]]) if leaves else front
            alone = leaves and store[0, home] == 1.0
            if leaves and not alone:
                copy_cluster(store, home, saved, front)
                remove(model, items[p], store, work, home)
                refresh(model, prior, store, work, home)
            log_weights(points, p, store, work, k, joining)
            if leaves or p == 0:
                for j in range(k):
                    sizes[j] = store[1, j]
                if alone:
                    sizes[home] = -np.inf
                opening = log_open(prior, alpha, k - 1 if alone else k)
                log_total = log_sum(sizes, k, opening)
            if alone:
                joining[home] = -np.inf
            elif leaves:
                copy_cluster(saved, front, store, home)
            out[m, p] = log_sum(joining, k, opening + log_alone[p]) - log_total + log_base[p]
    return out
