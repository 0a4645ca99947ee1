"""The parallel sampler: uncollapsed Gibbs sweeps, whose rows are independent given parameters.

**The sweep.** Let c be a partition with prior p(c) = V(N, k) Π W(n_j) and density Π m(x_j) of the
data, and let s be a number drawn before c is looked at. B are the clusters of at least s items, R
the items in them. Given R, the other clusters, and that R has |B| clusters of at least s items
each, N and k are fixed, and the posterior of their allocation z is

    π(z) ∝ Π_{j∈B} W(n_j) m(x_j) 1(n_j ≥ s).

Where W(n + 1)/W(n) ∝ n − σ (every prior of Gibbs type: Dirichlet and Pitman–Yor processes, finite
mixtures with σ = −γ), W(n_j) ∝ r^{n_j} Γ(n_j − σ), and Σ n_j is fixed. So π is the margin of

    π(z, w, θ) ∝ Π_j w_j^{n_j − σ − 1} p(θ_j) Π_{i∈j} f(x_i | θ_j) · 1(n_j ≥ s)

with w on the simplex; σ < 1 ≤ n_j makes it proper. Given z, w ~ Dirichlet(n_j − σ) and θ_j has its
conjugate posterior. Given w and θ, the density of z is proportional to Π_i w_{z_i} f(x_i | θ_{z_i})
on the allocations with n_j ≥ s. Draw z' from that product, rows independently and without the
constraint, as a Metropolis–Hastings proposal: the ratio of target to proposal is constant where the
constraint holds and 0 elsewhere, so z' is accepted if every cluster of B still has s items, and
otherwise *the old allocation is kept*. Afterwards the clusters of at least s items are those of B,
so the same s and R would have been conditioned on: the step leaves the posterior invariant. (To
delete a cluster that was emptied would be wrong: no step of this kind could fill it again.)
Where W(n + 1)/W(n) is constant the weights are equal instead of drawn. s is log-uniform on 1 … 40:
a large s keeps small clusters, which would often refuse the step, out of it.

**Births and deaths** are left to a collapsed sweep over a random window of rows.

**Split–merge** is that of Jain and Neal (2004) with parameters. Two items i and j are drawn; S are
the items of their clusters. A launch allocation of S into two halves around i and j is made from S,
i, j and random numbers alone: by likelihood under each, then sweeps as above. Weights and
parameters φ given it are auxiliary variables, drawn in the same way whether i and j share a cluster
or not, so they cancel in the ratio. A split allocates all other items independently with
probabilities q(z | φ); a merge has the q of the allocation at hand. The acceptance ratio is
π(split)/π(merged)/q, or its inverse.

All of it is done where rows are: in a pass each chunk of rows gets weights and parameters and
returns statistics. Chunks are the rows of a machine in equal parts, or those of a Dask collection.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from partita._resources import run
from partita._storage import smallest_unsigned
from partita.kernels.arrays import Array, Floats, Int32s, Ints
from partita.kernels.gibbs import parallel as kernels
from partita.kernels.gibbs.primitives import (
    LANES,
    Index,
    Likelihood,
    Prior,
    Random,
    below,
    next_bits,
    uniform,
)
from partita.kernels.gibbs.prior import log_open, update_concentration
from partita.samplers.chains import Arrays, ChainState, Model, Record, Step
from partita.samplers.priors import PriorTables

T = TypeVar("T")

_CHUNK = 32_768
"""Most rows in a chunk; the draws depend on it in their last bits."""

_LARGEST_THRESHOLD = 40

_LEAST_WINDOW, _WINDOW_SHARE = 1_000, 100
"""A collapsed sweep takes a hundredth of the rows, and at least this many."""

_SCANS = 3
"""Sweeps of a launch allocation."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows of the data, and the number of the first."""

    likelihood: Likelihood
    first: int


class Rows(Protocol):
    """Chunks of rows wherever they are; a state per chunk stays there, too."""

    bounds: Sequence[int]

    def part(self, number: int) -> Rows:
        """One of the chunks."""

    def ask(self, function: Callable[..., T], states: Sequence[Any], *common: Any) -> list[T]:
        """``function(chunk, state, *common)`` of every chunk, in order."""

    def each(
        self, function: Callable[..., tuple[Any, T]], states: Sequence[Any], *common: Any
    ) -> tuple[list[Any], list[T]]:
        """The same of a function that returns a new state, which stays there, and a result."""


class LocalRows:
    """Rows of this process, shared among threads."""

    def __init__(self, likelihood: Likelihood, threads: int) -> None:
        n_items = likelihood.data.shape[0]
        parts = -(-n_items // _CHUNK)
        self.bounds = np.linspace(0, n_items, parts + 1).astype(np.int64).tolist()
        self.chunks = [
            Chunk(likelihood._replace(data=likelihood.data[first:last]), first)
            for first, last in zip(self.bounds, self.bounds[1:], strict=False)
        ]
        self._threads = threads

    def part(self, number: int) -> LocalRows:
        """See :class:`Rows`."""
        found = copy(self)
        found.chunks = [self.chunks[number]]
        return found

    def ask(self, function: Callable[..., T], states: Sequence[Any], *common: Any) -> list[T]:
        """See :class:`Rows`."""
        work = list(zip(self.chunks, states, strict=True))
        if len(work) == 1 or self._threads == 1:
            return [function(*task, *common) for task in work]
        return run(lambda task: function(*task, *common), work, self._threads)

    def each(
        self, function: Callable[..., tuple[Any, T]], states: Sequence[Any], *common: Any
    ) -> tuple[list[Any], list[T]]:
        """See :class:`Rows`."""
        found = self.ask(function, states, *common)
        return [state for state, _ in found], [result for _, result in found]


# ------------------------------------------------------------------ what a chunk does


def _measure(chunk: Chunk, labels: Int32s, n_names: int) -> tuple[Floats, Ints]:
    """Statistics of the clusters by name, and the names in order of first appearance."""
    rows = np.arange(labels.size)
    store = kernels.statistics(chunk.likelihood, rows, labels, np.int64(n_names))
    return store, kernels.first_seen(labels, np.int64(n_names))


def _canonical(chunk: Chunk, labels: Int32s, number: Array) -> tuple[Array, None]:
    """The labels as canonical numbers."""
    del chunk
    return number[labels], None


def reassign(
    chunk: Chunk,
    labels: Int32s,
    slot_of: Int32s,
    names: Int32s,
    drawn: DrawnParameters,
    key: np.uint64,
) -> tuple[Int32s, Ints]:
    """Rows of chosen clusters reallocated among these, and the sizes that they then have."""
    rows = np.flatnonzero(slot_of[labels] >= 0)
    slots = np.empty(rows.size, np.int32)
    kernels.allocate(chunk.likelihood, rows, chunk.first, *drawn, key, slots, False, False)
    moved = labels.copy()
    moved[rows] = names[slots]
    return moved, np.bincount(slots, minlength=names.size)


def _sweep_window(
    chunk: Chunk,
    labels: Int32s,
    window: slice,
    position_of: Ints,
    store: Floats,
    k: int,
    names: tuple[Ints, Ints],
    given: FixedState,
    random: Random,
) -> tuple[Int32s, tuple[Floats, Ints, Random]]:
    """A collapsed sweep of some rows, given the statistics of all; see ``collapsed_sweep``."""
    random = random.copy()
    model = chunk.likelihood._replace(data=chunk.likelihood.data[window], hyper=given.hyper)
    there = position_of[labels[window]]
    known, free = names
    store, living = kernels.collapsed_sweep(
        model, given.prior(), given.alpha, there, store, np.int64(k), random
    )
    there_were = known.size + free.size
    new = np.arange(there_were, max(there_were, int(there.max(initial=0)) + 1))
    every = np.concatenate([known, free, new])
    moved = labels.copy()
    moved[window] = every[there]
    return moved, (store, every[living], random)


def _seed(chunk: Chunk, labels: Int32s, row: int) -> tuple[int, Floats]:
    """The name of an item's cluster, and the item's statistics."""
    alone = kernels.statistics(
        chunk.likelihood, np.array([row]), np.zeros(1, np.int32), np.int64(1)
    )
    return int(labels[row]), alone


Halves = tuple[Ints, Int32s, Int32s]
"""Rows of two clusters, the halves that they are in, and those of an allocation under way."""


def _launch(
    chunk: Chunk,
    labels: Int32s,
    names: tuple[int, int],
    items: tuple[int, int],
    seeds: Floats,
    hyper: Floats,
) -> tuple[Halves, Floats]:
    """Rows of two clusters other than two items, put to the item under which each is likelier."""
    member = (labels == names[0]) | (labels == names[1])
    for item in items:
        if 0 <= item - chunk.first < labels.size:
            member[item - chunk.first] = False
    rows = np.flatnonzero(member)
    there = (labels[rows] == names[1]).astype(np.int32)
    slots = np.empty(rows.size, np.int32)
    model = chunk.likelihood._replace(hyper=hyper)
    kernels.launch(model, rows, seeds, slots)
    found = kernels.statistics(chunk.likelihood, rows, slots, np.int64(2))
    return (rows, there, slots), found


def _scan(
    chunk: Chunk, halves: Halves, drawn: DrawnParameters, key: np.uint64, last: bool, forced: bool
) -> tuple[Halves, tuple[Floats, float]]:
    """Rows reallocated between two halves; of the last allocation its log probability, too."""
    rows, there, slots = halves
    slots = there if forced else slots.copy()
    log_q = kernels.allocate(chunk.likelihood, rows, chunk.first, *drawn, key, slots, forced, last)
    found = kernels.statistics(chunk.likelihood, rows, slots, np.int64(2))
    return (rows, there, slots), (found, log_q)


def _rename(
    chunk: Chunk, state: tuple[Int32s, Halves | None], old: int, new: int, item: int
) -> tuple[Int32s, None]:
    """The rows of the second half, and its item, renamed; all rows of a name without halves."""
    labels, halves = state[0].copy(), state[1]
    if halves is None:
        labels[labels == old] = new
        return labels, None
    rows, _, slots = halves
    labels[rows[slots == 1]] = new
    if 0 <= item - chunk.first < labels.size:
        labels[item - chunk.first] = new
    return labels, None


# ------------------------------------------------------------------ the chain


DrawnParameters = tuple[Floats, Floats]
"""Log weights and parameters of clusters."""


@dataclass(frozen=True)
class FixedState:
    """Parameters of densities and prior weights."""

    hyper: Floats
    prior: Callable[[], Prior]
    alpha: float


class Chain:
    """One chain: labels in chunks, and all that is small here.

    ``store`` has the statistics of the k clusters at positions 0 … k − 1, ``names`` what the
    labels call them; names change in no other way than a cluster's birth and death.
    """

    def __init__(
        self, rows: Rows, model: Model, state: ChainState, labels: list[Any], n_names: int
    ) -> None:
        self.rows, self.labels = rows, labels
        self._arrays = model.arrays
        empty = np.empty((0, model.values.shape[1]))
        self._likelihood = model.arrays.likelihood(empty)
        self._prior = model.prior.own()
        self._n_items = int(rows.bounds[-1])
        self.alpha, self.rates = state.concentration, state.rates.copy()
        self.random = state.random.copy()
        self._n_names = 0
        self._components: Index = 0
        self.names: Ints = np.empty(0, np.int64)
        self._store: Floats = np.empty((0, 0))
        self._is_measured = False
        self.measure(n_names)

    # -------------------------------------------------------------- statistics

    def measure(self, n_names: int | None = None) -> None:
        """Statistics anew from the labels, so that rounding never accumulates."""
        n_names = int(self.names.max()) + 1 if n_names is None else n_names
        found = self.rows.ask(_measure, self.labels, n_names)
        total = found[0][0]
        for store, _ in found[1:]:
            kernels.merge_stores(self._likelihood, store, total, np.int64(n_names))
        order = dict.fromkeys(name for _, names in found for name in names.tolist())
        self.names = np.array(list(order), np.int64)
        self._store = _padded(total[:, self.names])
        self._is_measured = True

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.names.size

    def _refresh(self, store: Floats, k: int) -> None:
        kernels.refresh_caches(self._likelihood, self._prior, store, np.int64(k))

    def _prior_on_chunk(self) -> Callable[[], Prior]:
        """Return a function that gives a chunk the prior's tables."""
        return lambda: self._prior

    def _below(self, n: int) -> int:
        return int(below(self.random, np.int64(n)))

    def _draw(self, store: Floats, chosen: Ints) -> DrawnParameters:
        drawn: DrawnParameters = kernels.draw_parameters(
            self._likelihood, self._prior, store, chosen, self.random
        )
        return drawn

    def draw(self) -> tuple[DrawnParameters, np.uint64]:
        """Weights and parameters of all clusters, and a key to allocate rows by."""
        self._learn()
        drawn = self._draw(self._store, np.arange(self.n_clusters))
        return drawn, np.uint64(next_bits(self.random))

    # -------------------------------------------------------------- an iteration

    def iterate(self, sweeps: int, split_merge: int) -> None:
        """Draw what is learned, move clusters, then rows."""
        if not self._is_measured:
            self.measure()
        self._learn()
        for _ in range(split_merge):
            self._split_merge()
        for number in range(sweeps):
            if number > 0:
                self.measure()
                self._refresh(self._store, self.n_clusters)
            self._collapsed()
            self.sweep()
        n = np.int64(self._n_items)
        k = np.int64(self.n_clusters)
        self.alpha = float(update_concentration(self._prior, self.alpha, k, n, self.random))
        self._is_measured = False

    def _learn(self) -> None:
        self._components, self.alpha = kernels.learn(
            self._likelihood,
            self._prior,
            self.rates,
            self.alpha,
            self._store,
            np.int64(self.n_clusters),
            np.int64(self._n_items),
            self.random,
        )

    def sweep(self) -> bool:
        """Reassign the rows of all clusters of some size; whether this was not refused."""
        store = self._store
        least = int(math.exp(uniform(self.random) * math.log(_LARGEST_THRESHOLD + 1)))
        chosen = np.flatnonzero(store[0, : self.n_clusters] >= least)
        if chosen.size < 2:
            return True
        drawn = self._draw(store, chosen)
        names = self.names[chosen].astype(np.int32)
        slot_of = np.full(int(self.names.max()) + 1, -1, np.int32)
        slot_of[names] = np.arange(names.size, dtype=np.int32)
        labels, sizes = self.rows.each(
            reassign, self.labels, slot_of, names, drawn, np.uint64(next_bits(self.random))
        )
        if not _same_clusters(np.sum(sizes, axis=0), least):
            return False
        self.labels = labels
        return True

    def _collapsed(self) -> None:
        """A collapsed sweep over a random window of one chunk: births and deaths."""
        bounds = self.rows.bounds
        number = int(np.searchsorted(bounds, self._below(self._n_items), side="right")) - 1
        size = bounds[number + 1] - bounds[number]
        width = min(size, max(_LEAST_WINDOW, self._n_items // _WINDOW_SHARE))
        start = self._below(size + width - 1) - (width - 1)  # every row is as likely to be in it
        window = slice(max(start, 0), min(start + width, size))
        position_of = np.zeros(int(self.names.max()) + 1, np.int64)
        position_of[self.names] = np.arange(self.n_clusters)
        is_free = np.ones(position_of.size, bool)
        is_free[self.names] = False
        free = np.flatnonzero(is_free)
        given = FixedState(self._likelihood.hyper, self._prior_on_chunk(), self.alpha)
        (moved,), (found,) = self.rows.part(number).each(
            _sweep_window,
            [self.labels[number]],
            window,
            position_of,
            self._store,
            self.n_clusters,
            (self.names, free),
            given,
            self.random,
        )
        self.labels[number], (self._store, self.names, self.random) = moved, found

    # -------------------------------------------------------------- split and merge

    def _split_merge(self) -> None:
        """Propose one split or merge."""
        i, j = self._below(self._n_items), self._below(self._n_items - 1)
        items = (i, j + (j >= i))
        log_accept = math.log(1.0 - uniform(self.random))
        (a, first), (b, second) = (self._seed(item) for item in items)
        seeds = _padded(np.concatenate([first[:, :1], second[:, :1]], axis=1))
        self._refresh(seeds, 2)
        k = self.n_clusters
        at_a, at_b = (int(np.flatnonzero(self.names == name)[0]) for name in (a, b))
        if a == b:
            opening = log_open(self._prior, self.alpha, np.int64(k))
            if opening == -np.inf:
                return
            gain = opening - self._shares(self._store[:, [at_a]])[0]
            halves, log_q, states = self._halves((a, b), items, seeds, split=True)
            if log_accept >= gain + self._shares(halves[:, :2]).sum() - log_q:
                return
            used = set(self.names.tolist())
            new = next(name for name in range(k + 1) if name not in used)
            both = list(zip(self.labels, states, strict=True))
            self.labels, _ = self.rows.each(_rename, both, a, new, items[1])
            store = np.concatenate([self._store[:, :k], halves[:, [1]]], axis=1)
            store[:, at_a] = halves[:, 0]
            self._store, self.names = _padded(store), np.append(self.names, new)
            self._refresh(self._store, self.n_clusters)
            return
        opening = log_open(self._prior, self.alpha, np.int64(k - 1))
        merged = self._merge_stores(self._store[:, [at_a]], self._store[:, [at_b]])
        gain = self._shares(merged)[0] - opening - self._shares(self._store[:, [at_a, at_b]]).sum()
        if log_accept >= gain:  # log q can only lower it
            return
        _, log_q, _ = self._halves((a, b), items, seeds, split=False)
        if log_accept >= gain + log_q:
            return
        self.labels, _ = self.rows.each(
            _rename, [(labels, None) for labels in self.labels], b, a, -1
        )
        self._store[:, at_a] = merged[:, 0]
        kept = np.delete(np.arange(k), at_b)
        self._store, self.names = _padded(self._store[:, kept]), self.names[kept]
        self._refresh(self._store, self.n_clusters)

    def _seed(self, item: int) -> tuple[int, Floats]:
        number = int(np.searchsorted(self.rows.bounds, item, side="right")) - 1
        row = item - self.rows.bounds[number]
        return self.rows.part(number).ask(_seed, [self.labels[number]], row)[0]

    def _halves(
        self, names: tuple[int, int], items: tuple[int, int], seeds: Floats, *, split: bool
    ) -> tuple[Floats, float, list[Any]]:
        """Two halves around two items: their store, the log probability, and the allocation."""
        hyper = self._likelihood.hyper
        states, found = self.rows.each(_launch, self.labels, names, items, seeds, hyper)
        both = np.arange(2)
        for scan in range(_SCANS + 1):
            halves = seeds
            for store in found:
                halves = self._merge_stores(halves, store)
            self._refresh(halves, 2)
            last = scan == _SCANS
            key = np.uint64(next_bits(self.random))
            forced = last and not split
            drawn = self._draw(halves, both)
            states, results = self.rows.each(_scan, states, drawn, key, last, forced)
            found = [store for store, _ in results]
        halves = seeds
        for store in found:
            halves = self._merge_stores(halves, store)
        return halves, math.fsum(log_q for _, log_q in results), states

    def _merge_stores(self, store: Floats, more: Floats) -> Floats:
        """Two stores as one, cluster by cluster."""
        total = _padded(store)
        kernels.merge_stores(self._likelihood, _padded(more), total, np.int64(store.shape[1]))
        return total

    def _shares(self, store: Floats) -> Floats:
        """Return the contributions of clusters to the log posterior."""
        found: Floats = kernels.log_shares(
            self._likelihood, self._prior, _padded(store), np.int64(store.shape[1])
        )
        return found

    # -------------------------------------------------------------- what is kept

    def advance(self, task: Step, n_scalars: int) -> tuple[list[list[Any]], Floats]:
        """The iterations of a task; labels by chunk, where they are, and scalars that are kept."""
        settings = task.settings
        labels: list[list[Any]] = []
        scalars = np.empty((settings.kept(task.last) - settings.kept(task.first), n_scalars))
        for iteration in range(task.first + 1, task.last + 1):
            self.iterate(settings.sweeps, settings.split_merge)
            if settings.kept(iteration) > settings.kept(iteration - 1):
                self.measure()
                self._record(scalars[len(labels)])
                labels.append(self.canonical(smallest_unsigned(self.n_clusters - 1)))
        return labels, scalars

    def canonical(self, dtype: Any) -> list[Any]:
        """The chunks' labels by order of first appearance; measures the chain."""
        if not self._is_measured:
            self.measure()
        number = np.zeros(int(self.names.max()) + 1, dtype)
        number[self.names] = np.arange(self.n_clusters)
        return self.rows.each(_canonical, self.labels, number)[0]

    def _record(self, out: Floats) -> None:
        """Write the numbers of a kept draw, which was measured."""
        kernels.record(
            self._likelihood,
            self._prior,
            self.alpha,
            self.rates,
            self._components,
            self._store,
            np.int64(self.n_clusters),
            np.int64(self._n_items),
            self.random,
            out,
        )


def _same_clusters(sizes: Ints, least: int) -> bool:
    """Whether the clusters that a sweep chose would be chosen again."""
    return bool(sizes.min() >= least)


def _padded(store: Floats) -> Floats:
    """Its columns, and empty ones up to what loops over clusters need."""
    k = store.shape[1]
    wide = np.zeros((store.shape[0], -(-k // LANES) * LANES))
    wide[:, :k] = store
    return wide


def advance(model: Model, task: Step) -> tuple[ChainState, Record]:
    """One step of one chain on rows of this process; the state given is left as it is."""
    likelihood = model.arrays.likelihood(model.values)
    rows = LocalRows(likelihood, task.threads)
    labels = [
        task.state.labels[first:last]
        for first, last in zip(rows.bounds, rows.bounds[1:], strict=False)
    ]
    chain = Chain(rows, model, task.state, labels, int(task.state.labels.max()) + 1)
    kept, scalars = chain.advance(task, 4 + model.n_extras)
    final = np.concatenate(chain.canonical(np.int32))
    state = ChainState(final, chain.alpha, chain.random, chain.rates)
    matrix = np.empty((0, final.size), np.uint8)
    if kept:
        matrix = np.stack([np.concatenate(draw) for draw in kept])
    return state, Record(matrix, scalars)


def reason_not_parallel(arrays: Arrays, prior: PriorTables) -> str | None:
    """Why rows cannot be swept given parameters, or None where they can."""
    if any(arrays.functions):
        return "its kernel has no parameters to draw"
    log_size = prior.arrays.log_size[1:-1]
    if prior.is_learned or log_size.size < 2:
        return None
    weights = np.exp(log_size - log_size.max())
    n = np.arange(log_size.size)
    slope = weights[1] - weights[0]
    straight = weights[0] + slope * n
    if slope < -1e-9 * weights[0] or not np.allclose(weights, straight, rtol=1e-6, atol=0):
        return "under its prior the weight of joining a cluster is not linear in its size"
    return None
