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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from partita._files import PathLike
from partita._imports import require
from partita._resources import run
from partita._storage import chunk_slices, smallest_unsigned
from partita.dask import RemoteLabels, results_in_order, submit_value, translate_cluster_errors
from partita.draws import Draws
from partita.errors import InvalidDataError, InvalidInputError, NotSupportedError
from partita.io.data_table import Table, as_table
from partita.kernels.arrays import Array, Bools, Floats, Int32s, Ints
from partita.kernels.gibbs.primitives import Likelihood, Prior
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
    advance_all,
    flatten,
)
from partita.samplers.fit import Fit, traces
from partita.samplers.parallel import Chain, FixedState, LocalRows, reason_not_parallel, reassign
from partita.samplers.priors import PartitionPrior, PriorTables
from partita.samplers.sample import (
    CENTRES,
    ROWS,
    prepare,
    prior_for_sample,
    say_interrupted,
    start_on_rows,
)

T = TypeVar("T")

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


def _facts(values: Floats, kernel: Kernel) -> tuple[Bools, float]:
    """Columns with missing cells, and the part of the density left out."""
    return np.asarray(np.isnan(values).any(axis=0)), float(kernel.log_base(values).sum())


def _chunk(values: Floats, first: int, model: bytes) -> RemoteChunk:
    order = _constants(model)[0].order
    return RemoteChunk(np.ascontiguousarray(values[:, order]), first, model)


def _some(raw: Any, rows: Ints) -> Any:
    """Some rows of a piece of a collection."""
    return raw.iloc[rows] if hasattr(raw, "iloc") else raw[rows]


def _prior_on_worker(model: bytes, weight: float, components: int) -> Prior:
    """The prior's tables, those of a learned weight filled anew."""
    from partita.kernels.gibbs.parallel import set_weight

    tables = _constants(model)[1]
    prior = tables.own()
    if tables.is_learned:
        set_weight(prior, weight, np.int64(components))
    return prior


def _save(place: Path | None, labels: Int32s, kept: list[Array]) -> Any:
    """What a chunk has of a chain, in a file, whole or not at all; or, without one, itself."""
    arrays = [labels.astype(smallest_unsigned(int(labels.max(initial=0)))), *kept]
    if place is None:
        return arrays
    partial_file = place.with_suffix(".part")
    with partial_file.open("wb") as file:
        np.savez(file, *arrays)
    return partial_file.replace(place)


def _saved(place: Any, number: int) -> Array:
    """One of the arrays that were saved."""
    if isinstance(place, list):
        return np.asarray(place[number])
    with np.load(place) as stored:
        return np.asarray(stored[f"arr_{number}"])


def _saved_labels(place: Any) -> Int32s:
    return _saved(place, 0).astype(np.int32)


# ------------------------------------------------------------------ the driver


class RemoteValues:
    """Stands for the values of a fit whose rows are on workers; to ask for them is an error."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise NotSupportedError(
            "this needs the rows of the data, which stayed on the workers. Questions about the "
            "draws alone (pt.estimate, pt.summarize, … of fit.draws) can be answered; for the "
            "rest sample data in memory."
        )

    __array__ = __len__ = __getitem__ = _refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    def __repr__(self) -> str:
        return "<rows on workers>"


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

    def zeros(self) -> list[Any]:
        """A single cluster, as labels of each chunk."""
        with translate_cluster_errors(self.client):
            return [self.submit(np.zeros, b - a, np.int32) for a, b in pairwise(self.bounds)]

    def results(self, futures: Iterable[Any]) -> list[Any]:
        """Their results, in order."""
        return [_writable(one) for one in results_in_order(self.client, futures)]

    def _futures(
        self, function: Callable[..., Any], states: Sequence[Any], common: Sequence[Any]
    ) -> Iterator[Any]:
        for chunk, state in zip(self.chunks, states, strict=True):
            yield self.submit(_run, function, chunk, state, *common)

    def ask(self, function: Callable[..., T], states: Sequence[Any], *common: Any) -> list[T]:
        """See :class:`parallel.Rows`."""
        return self.results(self._futures(function, states, common))

    def each(
        self, function: Callable[..., tuple[Any, T]], states: Sequence[Any], *common: Any
    ) -> tuple[list[Any], list[T]]:
        """See :class:`parallel.Rows`."""
        with translate_cluster_errors(self.client):
            both = list(self._futures(function, states, common))
            new = [self.submit(itemgetter(0), pair) for pair in both]
        return new, self.results(self.submit(itemgetter(1), pair) for pair in both)


class RemoteChain(Chain):
    """A chain whose labels and draws stay on workers."""

    def __init__(self, *arguments: Any, model: bytes) -> None:
        self._model = model
        self.kept: list[list[Any]] = []
        self._n_saved = 0
        super().__init__(*arguments)

    def _prior_on_chunk(self) -> Callable[[], Prior]:
        return partial(_prior_on_worker, self._model, self.alpha, int(self._components))

    def save(self, directory: Path | None, name: str) -> None:
        """Make labels, and draws since the last time, depend on nothing that happened before.

        They become the results of reading files, which the workers write, or, without a directory,
        the labels those of tasks that hold them.
        """
        rows: Any = self.rows
        since = [] if directory is None else self.kept[self._n_saved :]
        place = None if directory is None else directory / f"{name}-{self._n_saved}"
        saved = rows.results(
            rows.submit(
                _save,
                None if place is None else place.with_name(f"{place.name}-{c}.npz"),
                labels,
                [draw[c] for draw in since],
            )
            for c, labels in enumerate(self.labels)
        )
        with translate_cluster_errors(rows.client):
            if directory is None:
                saved = [submit_value(rows.client, arrays) for arrays in saved]
            self.labels = [rows.submit(_saved_labels, one) for one in saved]
            for m, draw in enumerate(since, 1):
                draw[:] = [rows.submit(_saved, one, m) for one in saved]
        self._n_saved = len(self.kept)


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
    has_missing = np.logical_or.reduce([missing for missing, _ in facts])
    constants = pickle.dumps((kernel, prior, n_items, tuple(has_missing.tolist())))
    arrays, tables = _constants(constants)
    reason = reason_not_parallel(arrays, tables)
    if reason is not None:
        raise NotSupportedError(
            f"rows on workers can be sampled in parallel only, which is not possible: {reason}. "
            "Bring the data to memory with .compute()."
        )
    base = sum(each for _, each in facts)
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
    directory = None
    if checkpoint is not None:
        place = Path(str(checkpoint)).resolve()
        directory = place.with_name(f"{place.name}.chunks")
        directory.mkdir(parents=True, exist_ok=True)
    notes = (*notes, f"rows stayed on {len(client.nthreads())} workers, in {len(raw)} chunks.")
    last = time.monotonic()
    with Display(settings, 0, progress, notes) as display:

        def after_round(reached: Progress) -> None:
            nonlocal last
            display.update(reached)
            if time.monotonic() - last >= checkpoint_every:
                for number, chain in enumerate(chains):
                    chain.save(directory, str(number))
                last = time.monotonic()

        begun = Progress(0, tuple(map(_shadow, chains)), ((),) * len(chains))
        advance = partial(_advance_remote, chains, 4 + model.n_extras)
        reached, interrupted = advance_all(settings, begun, advance, after_round)
    if interrupted:
        notes = (*notes, say_interrupted(reached, settings, None))
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
    chosen = np.sort(rng.choice(n_items, min(n_items, ROWS), replace=False, shuffle=False))
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
    bound, _, notes = prepare(table, kernel, prior, None)
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
    """A chain at its start: one cluster, given labels, or all rows by the densities of some."""
    start, stream = child.spawn(2)
    rng = np.random.default_rng(start)
    random = stream.generate_state(4, np.uint64).astype(np.uint64)
    n_items, zeros = rows.bounds[-1], np.zeros(1, np.int32)
    state = ChainState(zeros, model.prior.concentration, random, model.arrays.starting_rates())
    if isinstance(initial, str) and initial == "one":
        return RemoteChain(rows, model, state, rows.zeros(), 1, model=constants)
    if initial is not None and not (isinstance(initial, str) and initial == "sample"):
        given = np.asarray(initial)
        if given.shape != (n_items,):
            raise InvalidInputError(
                "initial must be 'sample', 'one' or a label for each row where rows live on "
                "workers.",
                argument="initial",
            )
        whole = canonical(given).astype(np.int32)
        labels = [submit_value(rows.client, whole[a:b]) for a, b in pairwise(rows.bounds)]
        return RemoteChain(rows, model, state, labels, int(whole.max()) + 1, model=constants)
    values = kernel.encode(_sample_rows(raw, np.diff(rows.bounds).tolist(), rng, rows.client))
    centres = min(CENTRES, prior.bind(n_items).most_clusters() or len(values), len(values))
    own = prior_for_sample(prior, len(values))
    found, _ = start_on_rows(kernel, own, values, None, centres, rng)
    k = int(found.labels.max()) + 1
    state = replace(state, rates=found.rates)
    small = Chain(LocalRows(model.arrays.likelihood(values), 1), model, state, [found.labels], k)
    drawn, key = small.draw()
    slots, names = np.zeros(1, np.int32), np.arange(k, dtype=np.int32)
    labels, _ = rows.each(reassign, rows.zeros(), slots, names, drawn, key)
    state = ChainState(zeros, small.alpha, small.random, small.rates)
    return RemoteChain(rows, model, state, labels, k, model=constants)


def _shadow(chain: RemoteChain) -> ChainState:
    """The part of a chain that the progress display shows: its number of clusters."""
    return ChainState(np.array([chain.n_clusters - 1], np.int32), chain.alpha, chain.random)


def _advance_remote(
    chains: list[RemoteChain], n_scalars: int, steps: list[Step]
) -> list[tuple[ChainState, Record]]:
    """A round of all chains, whose passes wait for each other's workers and not for each other."""

    def one(task: tuple[RemoteChain, Step]) -> tuple[ChainState, Record]:
        chain, step = task
        labels, scalars = chain.advance(step, n_scalars)
        chain.kept += labels
        return _shadow(chain), Record(np.zeros((len(labels), 1), np.uint8), scalars)

    return run(one, list(zip(chains, steps, strict=True)), len(chains))


def _stacked(pieces: list[list[Array]]) -> Array:
    """Draws of all items from the chunks of each."""
    return np.stack([np.concatenate(draw) for draw in pieces])


def _collect_draws(
    rows: RemoteRows, chains: list[RemoteChain], n_draws: int, n_clusters: Ints
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
