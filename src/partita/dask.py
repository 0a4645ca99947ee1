"""Draws on a Dask cluster: labels in chunks on the workers, and functions of blocks run there."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import contextmanager
from functools import partial
from itertools import islice
from operator import getitem, itemgetter
from pkgutil import resolve_name
from typing import Any, TypeVar
from weakref import WeakSet

import numpy as np

from partita._imports import __version__, require
from partita._resources import require_memory
from partita._storage import canonicalise, chunk_slices, smallest_unsigned
from partita._validate import unexpected
from partita.errors import ClusterError, InvalidInputError, PartitaError, about
from partita.kernels.arrays import Array, Ints, Unsigned

T = TypeVar("T")
R = TypeVar("R")
Sums = tuple[Array, ...]
Where = slice | Ints

_log = logging.getLogger("partita")

_WORKER_TIMEOUT = 300.0
"""Seconds that work waits for a worker where none is left: a queue may start new ones."""

_POLL_SECONDS = 2.0
"""Seconds between checks that a worker is left."""

_verified_clients: WeakSet[Any] = WeakSet()
"""Clients whose workers are known to have this partita."""


def current_client() -> Any | None:
    """The current client, or None where there is none or no Dask."""
    distributed = sys.modules.get("distributed")
    if distributed is None:  # nobody can have made a client
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


@about("engine")
def as_client(engine: Any) -> Any:
    """The client named by ``engine``: one itself, or "dask" for the current one."""
    distributed = require("distributed", extra="dask", purpose="running on a Dask cluster")
    named = isinstance(engine, str) and engine == "dask"
    if not (named or isinstance(engine, distributed.Client)):
        raise unexpected(
            engine, "engine", "a dask.distributed.Client, or 'dask' for the current one"
        )
    client = current_client() if named else engine
    if client is None:
        raise InvalidInputError(
            "engine='dask' was given, but there is no Dask client. Make one first: "
            "from dask.distributed import Client; client = Client()"
        )
    if client.asynchronous:
        raise InvalidInputError(
            "the Dask client is asynchronous; make one with Client(..., asynchronous=False)."
        )
    return require_same_version(client)


def require_same_version(client: Any) -> Any:
    """The client, where its workers have this partita.

    Asked first, because a worker that cannot unpickle a task leaves its cluster for good, and
    with the last of them the work would wait.
    """
    if client in _verified_clients:
        return client
    with translate_cluster_errors(client):
        found = client.run(resolve_name, "partita._imports:__version__", on_error="return")
    missing = [error for error in found.values() if isinstance(error, ImportError)]
    if missing:
        raise ClusterError(
            f"{len(missing)} of {len(found)} Dask workers cannot import partita ({missing[0]}). "
            f"Install partita {__version__} where they run."
        )
    others = sorted({one for one in found.values() if isinstance(one, str)} - {__version__})
    if others:
        raise ClusterError(
            f"Dask workers have partita {', '.join(others)}, and here it is {__version__}. Install "
            "the same version where they run."
        )
    if isinstance(client.cluster, require("distributed", extra="dask").LocalCluster):
        # Terminals and notebooks send Ctrl-C to all processes that were started from them. These
        # workers would leave for good, with draws on which the best so far is to be measured.
        # Workers that are threads of this process refuse, and do not need it.
        ignore_sigint = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
        client.run(exec, ignore_sigint, on_error="return")
    _verified_clients.add(client)
    return client


@contextmanager
def translate_cluster_errors(client: Any) -> Iterator[None]:
    """Errors of the cluster as one of ours; those of a task itself pass through."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise ClusterError(
            f"the workers that ran a piece of the work died repeatedly ({error}). They may "
            "have too little memory: give them more, or start fewer threads in each."
        ) from error
    except Exception as error:
        # A client that has just lost its scheduler may still think that it runs.
        lost = client.status != "running" or isinstance(error, (CancelledError, CommClosedError))
        if not lost or isinstance(error, PartitaError):
            raise
        raise ClusterError(
            f"{_scheduler(client)} was lost or closed, or dropped the work "
            f"({type(error).__name__}). Draws that lived on its workers are lost; connect again "
            "and read them once more."
        ) from error


def submit_value(client: Any, value: object) -> Any:
    """A future of a value that several tasks take.

    It is a task that holds the value, not scattered data: the scheduler keeps what it is made
    from, so that a worker that dies takes nothing with it, and each worker fetches it once.
    """
    import dask

    # The scheduler warns of tasks beyond 10 MB; that of a million items' labels is such a one.
    quiet = dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"})
    with translate_cluster_errors(client), quiet:
        if not client.nthreads():
            raise ClusterError(_no_workers(client))
        # Inside a partial function Dask does not look for tasks.
        return client.submit(partial(_same, value), pure=False)


def _same(value: T) -> T:
    return value


def _no_workers(client: Any) -> str:
    return f"{_scheduler(client)} has no workers. Start some with: dask worker ADDRESS."


def _scheduler(client: Any) -> str:
    return f"the Dask scheduler at {getattr(client.scheduler, 'address', 'unknown')}"


def results_in_order(client: Any, futures: Iterable[Any]) -> Iterator[Any]:
    """Results of futures that are submitted as they are asked for, in their order.

    Enough tasks wait to keep all threads busy. What is not done is cancelled when the caller
    stops early, on Ctrl-C as on an error.
    """
    waiting: deque[Any] = deque()
    left = iter(futures)
    try:
        with translate_cluster_errors(client):
            busy = max(1, 2 * sum(client.nthreads().values()))
            waiting.extend(islice(left, busy))
        while waiting:
            with translate_cluster_errors(client):
                result = wait_for(client, waiting[0])
                waiting.popleft()
                waiting.extend(islice(left, 1))
            yield result
    finally:
        cancel(client, waiting)


def wait_for(client: Any, future: Any) -> Any:
    """The result of a future, made again where it is lost with its worker.

    An error where no worker is left for long. Dask itself waits forever: for workers that died
    and were not started again, that left because of a task they could not unpickle, or whose
    time on their machine was over.
    """
    gathering = client.gather(future, asynchronous=True)
    running = asyncio.run_coroutine_threadsafe(gathering, client.loop.asyncio_loop)
    without_workers = 0.0
    try:
        while not wait([running], _POLL_SECONDS).done:
            if client.status != "running" or client.nthreads():
                without_workers = 0.0
                continue
            if without_workers == 0.0:
                _log.warning("%s Waiting %g s for one.", _no_workers(client), _WORKER_TIMEOUT)
            without_workers += _POLL_SECONDS
            if without_workers >= _WORKER_TIMEOUT:
                raise ClusterError(
                    f"{_no_workers(client)} There were some, but none was left for "
                    f"{_WORKER_TIMEOUT:g} s; their logs may say why."
                )
        return running.result()
    finally:
        running.cancel()


def cancel(client: Any, futures: Iterable[Any]) -> None:
    """Tell the scheduler to forget tasks, where there still is one."""
    if (left := list(futures)) and client.status == "running":
        client.cancel(left)


# ------------------------------------------------------------------ what runs on workers


def _rows(parts: Sequence[Unsigned], order: Where, dtype: Any) -> Unsigned:
    """Rows that came in parts: these of the only one, or all of several in this order."""
    if len(parts) == 1:
        return parts[0][order].astype(dtype, copy=False)
    rows = np.empty((sum(map(len, parts)), parts[0].shape[1]), dtype)
    rows[order] = np.concatenate(parts)
    return rows


def _apply(
    function: Callable[..., R], place: tuple[Sequence[Unsigned], Where], dtype: Any, *more: Any
) -> R:
    return function(_rows(*place, dtype), *more)


def _sum_group(function: Callable[..., Sums], work: Sequence[Any], dtype: Any) -> Sums:
    """Sums of a function over blocks."""
    from partita.scan import sum_arrays

    return sum_arrays(_apply(function, place, dtype, *more) for place, more in work)


def _add_sums(sums: Sums, more: Sums) -> Sums:
    """Two sets of sums as one; neither is written to, for it may be asked for again."""
    return tuple(a + b for a, b in zip(sums, more, strict=True))


class RemoteLabels:
    """Canonical labels on workers: a future for each chunk of consecutive draws.

    ``dtype`` is the smallest for all draws; a chunk's own may be smaller. ``ends`` are the numbers
    of the draws after each chunk, by default those of :func:`chunk_slices`.
    """

    def __init__(
        self,
        client: Any,
        futures: Sequence[Any],
        shape: tuple[int, int],
        dtype: np.dtype[Any],
        ends: Sequence[int] | None = None,
    ) -> None:
        self.client, self.futures, self.shape, self.dtype = client, tuple(futures), shape, dtype
        self.ends = [s.stop for s in chunk_slices(*shape)] if ends is None else list(ends)

    @property
    def nbytes(self) -> int:
        """Bytes that the labels would take together."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def map(
        self, function: Callable[..., R], work: Iterable[tuple[Where, tuple[Any, ...]]]
    ) -> Iterator[R]:
        """``function(labels of some draws, *more)`` for each part of the work, in order."""
        shipped = submit_value(self.client, function)
        futures = (
            self._submit(_apply, shipped, self._parts(where), self.dtype, *more)
            for where, more in work
        )
        yield from results_in_order(self.client, futures)

    def total(
        self,
        function: Callable[..., Sums],
        work: Sequence[Sequence[tuple[slice, tuple[Any, ...]]]],
        say: Callable[[int], None],
    ) -> Sums:
        """Sums over groups of blocks, added up in order on the workers; one set of them comes."""
        shipped = submit_value(self.client, function)
        sums: Any = None

        def added() -> Iterator[Any]:
            # Tasks are not pinned to workers: one pinned to a worker that dies may wait forever.
            nonlocal sums
            for group in work:
                places = [(self._parts(where), more) for where, more in group]
                found = self._submit(_sum_group, shipped, places, self.dtype)
                sums = found if sums is None else self._submit(_add_sums, sums, found)
                yield self._submit(len, sums)  # done when the sums are, and little to send

        try:
            for number, _ in enumerate(results_in_order(self.client, added())):
                say(number)
            (found,) = results_in_order(self.client, [sums])
            # What came over the wire may be read-only.
            return tuple(np.require(part, None, "W") for part in found)
        finally:
            cancel(self.client, filter(None, [sums]))

    # ------------------------------------------------------------------ some of the labels

    def rows(self, draws: Ints, say: Callable[[int], None] | None = None) -> Unsigned:
        """The labels of some draws, in the order given; ``say`` is told how many are here."""
        require_memory(
            draws.size * self.shape[1] * self.dtype.itemsize,
            f"fetching {draws.size:,} draws of {self.shape[1]:,} items from the cluster",
            "They can stay there: partita's functions take the draws themselves. For some of the "
            "labels take draws[0] or draws[::10].",
        )
        out = np.empty((draws.size, self.shape[1]), self.dtype)
        done = 0
        for rows in results_in_order(self.client, self._picked(draws)):
            out[done : done + len(rows)] = rows
            done += len(rows)
            if say is not None:
                say(done)
        return out

    def select(self, draws: Ints) -> RemoteLabels:
        """Some draws, in the order given, where the workers are."""
        shape = (draws.size, self.shape[1])
        return RemoteLabels(self.client, list(self._picked(draws)), shape, self.dtype)

    def _picked(self, draws: Ints) -> Iterator[Any]:
        """Futures of some draws, in the order given, chunk by chunk."""
        for chunk in chunk_slices(draws.size, self.shape[1]):
            yield self._submit(_rows, *self._parts(draws[chunk]), self.dtype)

    def followed_by(self, others: Sequence[RemoteLabels]) -> RemoteLabels:
        """These draws and those of others of the same items, one after the other."""
        every = (self, *others)
        lengths = np.concatenate([np.diff(one.ends, prepend=0) for one in every])
        futures = [future for one in every for future in one.futures]
        dtype = np.result_type(*[one.dtype for one in every])
        shape = (int(lengths.sum()), self.shape[1])
        return RemoteLabels(self.client, futures, shape, dtype, np.cumsum(lengths).tolist())

    def columns(self, items: Ints) -> tuple[RemoteLabels, Ints]:
        """Some items, canonical again, and the numbers of clusters."""
        wanted = submit_value(self.client, items)
        made = [self._submit(canonicalise, future, wanted) for future in self.futures]
        return finish(self.client, made, (self.shape[0], items.size), self.ends)

    def _parts(self, where: Where) -> tuple[list[Any], Where]:
        """Futures that hold some draws, and their places: in the one future, or in the result."""
        draws = np.arange(where.start, where.stop) if isinstance(where, slice) else where
        chunk_of = np.searchsorted(self.ends, draws, "right")
        within = draws - np.array([0, *self.ends])[chunk_of]
        chunks = np.unique(chunk_of).tolist()
        if len(chunks) == 1:
            return [self.futures[chunks[0]]], within
        places = [np.flatnonzero(chunk_of == chunk) for chunk in chunks]
        parts = [
            self._submit(getitem, self.futures[chunk], within[to])
            for chunk, to in zip(chunks, places, strict=True)
        ]
        return parts, np.concatenate(places)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self.client.submit(function, *arguments, pure=False)


def finish(
    client: Any, made: Sequence[Any], shape: tuple[int, int], ends: Sequence[int] | None = None
) -> tuple[RemoteLabels, Ints]:
    """Remote labels from futures of (labels, numbers of clusters), one for each chunk."""
    labels, parts = (
        [client.submit(itemgetter(place), one, pure=False) for one in made] for place in (0, 1)
    )
    counts = np.concatenate(list(results_in_order(client, parts)))
    dtype = smallest_unsigned(int(counts.max()) - 1)
    return RemoteLabels(client, labels, shape, dtype, ends), counts


def send_labels(client: Any, labels: Unsigned) -> RemoteLabels:
    """Labels from here, on workers; the scheduler keeps what they are made from."""
    chunks = chunk_slices(*labels.shape)
    futures = [submit_value(client, np.ascontiguousarray(labels[chunk])) for chunk in chunks]
    return RemoteLabels(client, futures, labels.shape, labels.dtype)
