"""Sample a table whose rows live on the workers of a Dask cluster.

Rows are encoded where they are and stay there, with their labels: what travels is, per chunk and
pass, the weights and parameters of the clusters, and their statistics. To the driver come only the
rows of the starts, some thousand for each chain.

Everything on a worker is the result of a task, so that Dask makes it again where a worker dies. At
a checkpoint the labels and draws so far are written to files by the workers, and from then on are
the results of reading these: a worker that dies costs the iterations since.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from partita._files import PathLike
from partita._imports import require
from partita._resources import run
from partita._storage import chunk_slices, smallest_unsigned
from partita.dask import RemoteLabels, results_in_order, submit_value, translate_cluster_errors
from partita.draws import Draws
from partita.errors import InvalidDataError, InvalidInputError, NotSupportedError
from partita.io.data_table import Table, as_table
from partita.kernels.arrays import Floats, Int32s
from partita.kernels.gibbs.primitives import Likelihood, Prior, Rates, next_bits
from partita.labels import canonical
from partita.samplers.base import Kernel
from partita.samplers.chains import (
    Arrays,
    ChainState,
    Display,
    Model,
    Progress,
    Record,
    Settings,
    Step,
    _advance,
    advance_all,
    build_model,
    flatten,
)
from partita.samplers.fit import Fit, traces
from partita.samplers.parallel import (
    Chain,
    DrawnParameters,
    FixedState,
    _canonical,
    reason_not_parallel,
)
from partita.samplers.priors import PartitionPrior, PriorTables

T = TypeVar("T")

_NO_RATES = Rates(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))

START_ROWS = 5_000
"""Rows of a start; see ``initial="sample"``."""

_START_ITERATIONS, _START_CLUSTERS = 300, 60


# ------------------------------------------------------------------ what a worker has


@lru_cache(maxsize=4)
def _constants(model: bytes) -> tuple[Arrays, PriorTables]:
    """Blocks and tables, which depend on N and need not travel; made once in each process."""
    kernel, prior, n_items, has_missing = pickle.loads(model)
    return flatten(kernel, n_items, np.array(has_missing)), prior.tables(n_items)


@dataclass(frozen=True)
class RemoteChunk:
    """Consecutive rows of the data, and the number of the first; see :class:`parallel.Chunk`."""

    data: Floats
    first: int
    model: bytes

    @property
    def likelihood(self) -> Likelihood:
        """The rows with the model's constants."""
        arrays = _constants(self.model)[0]
        return arrays.likelihood(self.data[:0])._replace(data=self.data)


def _writable(value: Any) -> Any:
    """The value with arrays that kernels take: those that came over the wire are read-only."""
    if isinstance(value, np.ndarray):
        return np.require(value, None, "W")
    if isinstance(value, tuple):
        return tuple(_writable(one) for one in value)
    if isinstance(value, RemoteChunk):
        return replace(value, data=_writable(value.data))
    return replace(value, hyper=_writable(value.hyper)) if isinstance(value, FixedState) else value


def _run(function: Callable[..., T], *arguments: Any) -> T:
    """A function of a chunk, where it is."""
    return function(*map(_writable, arguments))


def _encode(raw: Any, kernel: Kernel) -> Floats:
    """Rows as numbers, as the kernel sees them."""
    return kernel.encode(as_table(raw))


def _facts(values: Floats, kernel: Kernel) -> tuple[int, NDArray[np.bool_], float]:
    """Number of rows, columns with missing cells, and the part of the density left out."""
    base = float(kernel.log_base(values).sum())
    return len(values), np.asarray(np.isnan(values).any(axis=0)), base


def _chunk(values: Floats, first: int, model: bytes) -> RemoteChunk:
    order = _constants(model)[0].order
    return RemoteChunk(np.ascontiguousarray(values[:, order]), first, model)


def _some(raw: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of a piece of a collection."""
    return raw.iloc[rows] if hasattr(raw, "iloc") else raw[rows]


def _prior_on_worker(model: bytes, weight: float, components: int) -> Prior:
    """The prior's tables, those of a learned weight filled anew."""
    from partita.kernels.gibbs.parallel import set_parameters

    arrays, tables = _constants(model)
    if not tables.is_learned:
        return tables.arrays
    prior, nothing = tables.own(), np.empty((0, arrays.order.size))
    number = np.int64(components)
    set_parameters(arrays.likelihood(nothing), prior, _NO_RATES, np.empty(0), weight, number)
    return prior


def _place(chunk: RemoteChunk, state: None, drawn: DrawnParameters, key: np.uint64) -> Int32s:
    """The labels of all rows, given clusters of a start."""
    from partita.kernels.gibbs.parallel import allocate

    del state
    rows = np.arange(len(chunk.data))
    slots = np.empty(rows.size, np.int32)
    allocate(chunk.likelihood, rows, chunk.first, *drawn, key, slots, False, False)
    return slots


def _write(place: Path, labels: Int32s, kept: list[NDArray[Any]]) -> Path:
    """Write what a chunk has of a chain; whole or not at all."""
    partial_file = place.with_suffix(".part")
    with partial_file.open("wb") as file:
        np.savez(file, labels, *kept)
    return partial_file.replace(place)


def _read(place: Path, number: int) -> NDArray[Any]:
    with np.load(place) as stored:
        return np.asarray(stored[f"arr_{number}"])


# ------------------------------------------------------------------ the driver


class RemoteValues:
    """Stands for the values of a fit whose rows are on workers; to ask for them is an error."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _remote_values_error()

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise _remote_values_error()

    def __len__(self) -> int:
        raise _remote_values_error()

    def __getitem__(self, _: Any) -> Any:
        raise _remote_values_error()

    def __repr__(self) -> str:
        return "<rows on workers>"


def _remote_values_error() -> NotSupportedError:
    return NotSupportedError(
        "this needs the rows of the data, which stayed on the workers. Questions about the draws "
        "alone (pt.estimate, pt.summarize, … of fit.draws) can be answered; for the rest sample "
        "data in memory."
    )


class RemoteRows:
    """Chunks of rows on workers; see :class:`parallel.Rows`."""

    def __init__(self, client: Any, chunks: Sequence[Any], bounds: Sequence[int]) -> None:
        self.client, self.chunks, self.bounds = client, list(chunks), list(bounds)

    def part(self, number: int) -> RemoteRows:
        """See :class:`parallel.Rows`."""
        return RemoteRows(self.client, [self.chunks[number]], self.bounds)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """A task; Dask runs it where the largest of its arguments is, which are the rows."""
        return self.client.submit(function, *arguments, pure=False)

    def futures(self, function: Callable[..., Any], states: Sequence[Any], *common: Any) -> Any:
        """Futures of ``function(chunk, state, *common)``."""
        with translate_cluster_errors(self.client):
            return [
                self.submit(_run, function, chunk, state, *common)
                for chunk, state in zip(self.chunks, states, strict=True)
            ]

    def ask(self, function: Callable[..., T], states: Sequence[Any], *common: Any) -> list[T]:
        """See :class:`parallel.Rows`."""
        return list(self._results(self.futures(function, states, *common)))

    def _results(self, futures: Sequence[Any]) -> list[Any]:
        return [_writable(one) for one in results_in_order(self.client, futures)]

    def each(
        self, function: Callable[..., tuple[Any, T]], states: Sequence[Any], *common: Any
    ) -> tuple[list[Any], list[T]]:
        """See :class:`parallel.Rows`."""
        both = self.futures(function, states, *common)
        with translate_cluster_errors(self.client):
            new = [self.submit(itemgetter(0), pair) for pair in both]
            results = [self.submit(itemgetter(1), pair) for pair in both]
        return new, self._results(results)


class RemoteChain(Chain):
    """A chain whose labels and draws stay on workers."""

    def __init__(self, *arguments: Any, model: bytes) -> None:
        self._model = model
        self.kept: list[list[Any]] = []
        super().__init__(*arguments)

    def _prior_on_chunk(self) -> Callable[[], Prior]:
        return partial(_prior_on_worker, self._model, self.alpha, int(self._components))

    def keep(self) -> None:
        """Keep the labels at this iteration, chunk by chunk."""
        rows: Any = self.rows
        number = self.numbers().astype(smallest_unsigned(self.n_clusters - 1))
        self.kept.append(rows.futures(_canonical, self.labels, number))

    def cut(self, directory: Path | None, name: str, written: int) -> None:
        """Make labels, and draws since ``written``, depend on nothing that happened before.

        Written to files by the workers, or, without a directory, the labels fetched and sent.
        """
        rows: Any = self.rows
        if directory is None:
            numbers = np.arange(int(self.names.max()) + 1).astype(
                smallest_unsigned(int(self.names.max()))
            )
            fetched = rows.ask(_canonical, self.labels, numbers)
            with translate_cluster_errors(rows.client):
                self.labels = [
                    rows.submit(np.ndarray.astype, submit_value(rows.client, one), np.int32)
                    for one in fetched
                ]
            return
        since = self.kept[written:]
        with translate_cluster_errors(rows.client):
            places = [
                rows.submit(
                    _write,
                    directory / f"{name}-{c}-{written}.npz",
                    self.labels[c],
                    [draw[c] for draw in since],
                )
                for c in range(len(rows.chunks))
            ]
        paths = rows._results(places)
        with translate_cluster_errors(rows.client):
            self.labels = [rows.submit(_read, path, 0) for path in paths]
            for m, draw in enumerate(since):
                draw[:] = [rows.submit(_read, path, 1 + m) for path in paths]


def sample_on_workers(
    data: Any,
    kernel: Kernel | str | None,
    prior: PartitionPrior,
    settings: Settings,
    client: Any,
    *,
    initial: Any,
    rng: np.random.Generator,
    progress: bool | None,
    checkpoint: PathLike | None,
    checkpoint_every: float,
) -> Fit:
    """See :func:`partita.sample`, of a dask collection."""
    start = time.perf_counter()
    seeds = np.random.SeedSequence(rng.integers(0, 2**63, size=4).tolist())
    children = seeds.spawn(settings.chains)  # as chain_states has them
    (first_rows,) = seeds.spawn(1)
    raw, sizes = _pieces(data, client)
    n_items = int(sum(sizes))
    if n_items < 2:
        raise InvalidDataError("the data have one row; clustering needs at least two.")
    table = _sample_rows(raw, sizes, np.random.default_rng(first_rows), client)
    kernel, notes = _bind_kernel(kernel, table, prior)
    unbound, prior = prior, prior.bind(n_items)
    with translate_cluster_errors(client):
        values = [client.submit(_encode, piece, kernel, pure=False) for piece in raw]
    facts = list(
        results_in_order(client, (client.submit(_facts, one, kernel, pure=False) for one in values))
    )
    has_missing = np.logical_or.reduce([missing for _, missing, _ in facts])
    constants = pickle.dumps((kernel, prior, n_items, tuple(has_missing.tolist())))
    arrays, tables = _constants(constants)
    reason = reason_not_parallel(arrays, tables)
    if reason is not None:
        raise NotSupportedError(
            f"rows on workers can be sampled in parallel only, which is not possible: {reason}. "
            "Bring the data to memory with .compute()."
        )
    base = sum(each for _, _, each in facts)
    empty = np.empty((0, table.n_columns))
    model = Model(empty, arrays, tables, np.empty(0), base)
    bounds = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    with translate_cluster_errors(client):
        chunks = [
            client.submit(_chunk, rows, first, constants, pure=False)
            for rows, first in zip(values, bounds, strict=False)
        ]
    del values
    rows = RemoteRows(client, chunks, bounds)

    def begin(child: np.random.SeedSequence) -> RemoteChain:
        return _start_chain(rows, model, constants, kernel, unbound, raw, initial, child)

    chains = run(begin, children, settings.chains)
    place = None if checkpoint is None else Path(str(checkpoint)).resolve()
    directory = None if place is None else place.with_name(f"{place.name}.chunks")
    keeper = _Keeper(chains, directory, checkpoint_every)
    notes = (*notes, f"rows stayed on {len(client.nthreads())} workers, in {len(raw)} chunks.")
    states = tuple(_shadow(chain) for chain in chains)
    with Display(settings, 0, progress, notes) as display:
        advance = partial(_advance_remote, chains=chains, model=model, keeper=keeper)
        begun = Progress(0, states, ((),) * len(chains))
        reached, interrupted = advance_all(settings, begun, advance, display.update)
    if not reached.n_draws:
        from partita.errors import Interrupted

        raise Interrupted(
            f"interrupted after {reached.done} of {settings.iterations} iterations, within "
            "burn-in: there are no draws to return."
        )
    trace = traces(reached, model, kernel, table.names)
    draws = _collect_draws(rows, chains, reached.n_draws, trace["n_clusters"])
    seconds = time.perf_counter() - start
    how = (settings, notes, seconds, interrupted, None)
    rows_there: Any = RemoteValues()
    return Fit(draws, trace, kernel, prior, rows_there, table.names, *how)


def _pieces(data: Any, client: Any) -> tuple[list[Any], list[int]]:
    """Futures of the collection's rows, piece by piece, and their numbers of rows."""
    require("dask", extra="dask", purpose="sampling a dask collection")
    if hasattr(data, "chunks"):
        if data.ndim == 1:
            data = data[:, None]
        if data.ndim != 2:
            raise InvalidDataError(
                f"the data have shape {data.shape}; expected (n_items, n_columns)."
            )
        delayed = data.rechunk({1: -1}).to_delayed()[:, 0].tolist()
    else:
        delayed = list(data.to_delayed())
    with translate_cluster_errors(client):
        raw = client.compute(delayed)
    sizes = list(results_in_order(client, (client.submit(len, one, pure=False) for one in raw)))
    filled = [(piece, size) for piece, size in zip(raw, sizes, strict=True) if size]
    return [piece for piece, _ in filled], [size for _, size in filled]


def _concat_parts(parts: Sequence[Any]) -> Any:
    if hasattr(parts[0], "iloc"):
        return require("pandas", extra="dask", purpose="a dask data frame").concat(parts)
    return np.concatenate(parts)


def _sample_rows(
    raw: Sequence[Any], sizes: Sequence[int], rng: np.random.Generator, client: Any
) -> Table:
    """Random rows as a table, for a start or to choose a kernel by."""
    n_items = int(sum(sizes))
    chosen = np.sort(rng.choice(n_items, min(n_items, START_ROWS), replace=False, shuffle=False))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    cuts = np.searchsorted(chosen, starts)
    wanted = [
        (piece, chosen[low:high] - first)
        for piece, first, (low, high) in zip(raw, starts[:-1], pairwise(cuts), strict=True)
        if high > low
    ]
    found = results_in_order(client, (client.submit(_some, *one, pure=False) for one in wanted))
    return as_table(_concat_parts(list(found)))


def _bind_kernel(
    kernel: Kernel | str | None, table: Table, prior: PartitionPrior
) -> tuple[Kernel, tuple[str, ...]]:
    """The kernel, chosen from random rows where none was given."""
    from partita.samplers.sample import _prepare

    bound, _, notes = _prepare(table, kernel, prior, None)
    said = f"the kernel was chosen from {table.n_rows:,} random rows."
    return bound, notes if isinstance(kernel, Kernel) else (*notes, said)


def _start_chain(
    rows: RemoteRows,
    model: Model,
    constants: bytes,
    kernel: Kernel,
    prior: PartitionPrior,
    raw: Sequence[Any],
    initial: Any,
    child: np.random.SeedSequence,
) -> RemoteChain:
    """A chain at its start."""
    from partita.samplers.sample import _kmeans, _prior_for_sample, split_merges

    start, stream = child.spawn(2)
    rng = np.random.default_rng(start)
    random = stream.generate_state(4, np.uint64).astype(np.uint64)
    rates, alpha = model.arrays.starting_rates(), model.prior.concentration
    sizes = np.diff(rows.bounds)
    if isinstance(initial, str) and initial == "one":
        with translate_cluster_errors(rows.client):
            labels = [rows.submit(np.zeros, int(size), np.int32) for size in sizes]
        k, state = 1, ChainState(np.zeros(1, np.int32), alpha, random, rates)
    elif initial is not None and not (isinstance(initial, str) and initial == "sample"):
        given = np.asarray(initial)
        if given.shape != (rows.bounds[-1],):
            raise InvalidInputError(
                "initial must be 'sample', 'one' or a label for each row where rows live on "
                "workers.",
                argument="initial",
            )
        whole = canonical(given).astype(np.int32)
        labels = [submit_value(rows.client, whole[a:b]) for a, b in pairwise(rows.bounds)]
        k, state = int(whole.max()) + 1, ChainState(np.zeros(1, np.int32), alpha, random, rates)
    else:
        table = _sample_rows(raw, sizes.tolist(), rng, rows.client)
        values = kernel.encode(table)
        small = build_model(kernel, _prior_for_sample(prior, len(values)), values)
        most = prior.most_clusters() or len(values)
        grouped = _kmeans(kernel.features(values), min(_START_CLUSTERS, most, len(values)), rng)
        state = ChainState(canonical(grouped).astype(np.int32), alpha, random, rates)
        moves = Settings(1, _START_ITERATIONS, 1, 1, 1, split_merges(len(values)))
        state, _ = _advance(small, Step(moves, state, 0, _START_ITERATIONS))
        k = int(state.labels.max()) + 1
        drawn, key = _draw_parameters(model, values, state, k)
        labels = rows.futures(_place, [None] * len(rows.chunks), drawn, key)
    return RemoteChain(rows, model, state, labels, k, model=constants)


def _draw_parameters(
    model: Model, values: Floats, state: ChainState, k: int
) -> tuple[DrawnParameters, np.uint64]:
    """Weights and parameters given the rows of a start, which then stand for all rows."""
    from partita.kernels.gibbs import parallel

    arrays, prior = model.arrays, model.prior.own()
    likelihood = arrays.likelihood(values)
    weight, components = state.concentration, np.int64(k + 1)
    parallel.set_parameters(likelihood, prior, arrays.rates, state.rates, weight, components)
    store = parallel.statistics(likelihood, np.arange(len(values)), state.labels, np.int64(k))
    parallel.refresh_caches(likelihood, prior, store, np.int64(k))
    drawn = parallel.draw_parameters(likelihood, prior, store, np.arange(k), state.random)
    return drawn, np.uint64(next_bits(state.random))


class _Keeper:
    """Cuts what labels depend on, at intervals."""

    def __init__(self, chains: list[RemoteChain], directory: Path | None, every: float) -> None:
        self._chains, self._directory, self._every = chains, directory, every
        self._written = 0
        self._last = time.monotonic()
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)

    def after_round(self) -> None:
        """Write when the last writing is long enough ago."""
        if time.monotonic() - self._last < self._every:
            return
        for number, chain in enumerate(self._chains):
            chain.cut(self._directory, str(number), self._written)
        self._written = len(self._chains[0].kept)
        self._last = time.monotonic()


def _shadow(chain: RemoteChain) -> ChainState:
    """The part of a chain that the progress display shows: its number of clusters."""
    return ChainState(np.array([chain.n_clusters - 1], np.int32), chain.alpha, chain.random)


def _advance_remote(
    steps: list[Step], *, chains: list[RemoteChain], model: Model, keeper: _Keeper
) -> list[tuple[ChainState, Record]]:
    """A round of all chains, whose passes wait for each other's workers and not for each other."""

    def one(number: int) -> tuple[ChainState, Record]:
        chain, step = chains[number], steps[number]
        settings, scalars = step.settings, []
        for iteration in range(step.first + 1, step.last + 1):
            chain.iterate(settings.sweeps, settings.split_merge)
            if settings.kept(iteration) > settings.kept(iteration - 1):
                chain.measure()
                out = np.empty(4 + model.n_extras)
                chain.record(out)
                chain.keep()
                scalars.append(out)
        kept = np.array(scalars).reshape(-1, 4 + model.n_extras)
        return _shadow(chain), Record(np.zeros((len(scalars), 1), np.uint8), kept)

    found = run(one, range(len(chains)), len(chains))
    keeper.after_round()
    return found


def _stacked(pieces: list[list[NDArray[Any]]]) -> NDArray[Any]:
    """Draws of all items from the chunks of each."""
    return np.stack([np.concatenate(draw) for draw in pieces])


def _collect_draws(
    rows: RemoteRows, chains: list[RemoteChain], n_draws: int, n_clusters: NDArray[np.int64]
) -> Draws:
    """The draws of all chains, on workers."""
    kept = [draw for chain in chains for draw in chain.kept[:n_draws]]
    shape = (len(kept), int(rows.bounds[-1]))
    dtype = smallest_unsigned(int(n_clusters.max()) - 1)
    with translate_cluster_errors(rows.client):
        futures = [rows.submit(_stacked, kept[store]) for store in chunk_slices(*shape)]
    labels = RemoteLabels(rows.client, futures, shape, dtype)
    ids = np.repeat(np.arange(len(chains)), n_draws)
    return Draws._from_canonical(labels, n_clusters.reshape(-1), chain=ids)
