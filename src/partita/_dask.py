"""Work on a Dask cluster: tasks whose results come back in order, and errors that say what to do.

The one module that imports Dask's distributed scheduler.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice, takewhile
from pkgutil import resolve_name
from typing import Any, TypeVar
from weakref import WeakSet

from partita._optional import require
from partita._validate import unexpected
from partita._version import __version__
from partita.errors import ClusterError, InvalidInputError, PartitaError

T = TypeVar("T")

_log = logging.getLogger("partita")

_WAITING = 8
"""Small results fetched at a time, and tasks beyond two for each thread that wait to be run."""

_BYTES = 1 << 26
"""Results that are fetched together, unless one alone is larger."""

_PATIENCE = 300.0
"""Seconds that work waits for a worker where none is left: a queue may start new ones."""

_LOOK = 2.0
"""Seconds between two looks whether workers are left."""

_met: WeakSet[Any] = WeakSet()
"""Clients whose workers are known to have this partita."""


def current_client() -> Any | None:
    """The client that is in force, or None where there is none or no Dask."""
    import sys

    distributed = sys.modules.get("distributed")
    if distributed is None:  # nobody can have made a client
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


def as_client(engine: Any) -> Any:
    """The client named by ``engine``: one itself, or "dask" for the one in force."""
    distributed = require("distributed", extra="dask", purpose="running on a Dask cluster")
    if isinstance(engine, distributed.Client):
        client = engine
    elif isinstance(engine, str) and engine == "dask":
        client = current_client()
    else:
        raise unexpected(
            engine, "engine", "a dask.distributed.Client, or 'dask' for the one in force"
        )
    if client is None:
        raise InvalidInputError(
            "engine='dask' was given, but there is no Dask client. Make one first: "
            "from dask.distributed import Client; client = Client()",
            argument="engine",
        )
    if client.asynchronous:
        raise InvalidInputError(
            "the Dask client is asynchronous; make one with Client(..., asynchronous=False).",
            argument="engine",
        )
    return met(client)


def met(client: Any) -> Any:
    """The client, where its workers have this partita.

    Asked first, because a worker that cannot unpickle a task leaves its cluster for good, and
    with the last of them the work would wait.
    """
    if client in _met:
        return client
    with explained(client):
        found = client.run(resolve_name, "partita._version:__version__", on_error="return")
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
    _spare_from_ctrl_c(client)
    _met.add(client)
    return client


def _spare_from_ctrl_c(client: Any) -> None:
    """Let the workers of a local cluster pass over Ctrl-C, which is meant for this process.

    Terminals and notebooks send it to all processes that were started from them. These workers
    would leave for good, and the best result so far could not be measured on draws they held.
    """
    from distributed import LocalCluster

    if isinstance(client.cluster, LocalCluster):
        # Workers that are threads of this process refuse, and need it not.
        deaf = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
        client.run(exec, deaf, on_error="return")


@contextmanager
def explained(client: Any) -> Iterator[None]:
    """Errors of the cluster as one of ours; those of a task itself pass through."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise ClusterError(
            f"the workers that ran a piece of the work died again and again ({error}). They may "
            "have too little memory: give them more, or start fewer threads in each."
        ) from error
    except Exception as error:
        # A client that has just lost its scheduler may still think that it runs.
        lost = client.status != "running" or isinstance(error, (CancelledError, CommClosedError))
        if not lost or isinstance(error, PartitaError):
            raise
        raise ClusterError(
            f"the Dask scheduler at {client_address(client)} went away, dropped the work or was "
            f"left ({type(error).__name__}). Draws that lived on its workers are lost; connect "
            "again and read them anew."
        ) from error


def client_address(client: Any) -> str:
    """Where the scheduler of a client is, or was."""
    scheduler = getattr(client, "scheduler", None)
    return str(getattr(scheduler, "address", None) or getattr(client, "_start_arg", "unknown"))


def held(client: Any, value: object) -> Any:
    """A future of a value that several tasks take.

    It is a task that holds the value, not scattered data: the scheduler keeps what it is made
    from, so that a worker that dies takes nothing with it, and each worker fetches it once.
    """
    import dask

    # The scheduler warns of tasks beyond 10 MB; that of a million items' labels is such a one.
    quiet = dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"})
    with explained(client), quiet:
        if not client.nthreads():
            raise ClusterError(_no_workers(client))
        return client.submit(_same, _Opaque(value), pure=False)


def _no_workers(client: Any) -> str:
    return (
        f"the Dask scheduler at {client_address(client)} has no workers. Start some with: "
        "dask worker ADDRESS."
    )


class _Opaque:
    """Keeps Dask from looking for tasks inside a value."""

    def __init__(self, value: object) -> None:
        self.value = value


def _same(opaque: _Opaque) -> object:
    return opaque.value


def in_order(client: Any, submit: Callable[[T], Any], work: Iterable[T]) -> Iterator[Any]:
    """Results of ``submit(task)``, each a future, in the order of the work.

    Only so many wait as keep all threads busy, and only so many come at a time as are small.
    What is not done is cancelled when the caller stops early, on Ctrl-C as on an error.
    """
    from dask.sizeof import sizeof

    waiting: deque[Any] = deque()
    left = iter(work)
    try:
        with explained(client):
            busy = 2 * sum(client.nthreads().values())
            waiting.extend(submit(task) for task in islice(left, busy))
        at_once = 1
        while waiting:
            with explained(client):
                settle(client, waiting[0])  # and fetch no result yet
                done = takewhile(lambda future: future.done(), islice(waiting, at_once))
                results = _gathered(client, list(done))
            at_once = min(_WAITING, _BYTES // max(1, sizeof(results[0])) or 1)
            while results:
                waiting.popleft()
                yield results.pop(0)
            with explained(client):
                more = busy + at_once - 1 - len(waiting)
                waiting.extend(submit(task) for task in islice(left, more))
    finally:
        cancel(client, list(waiting))


def settle(client: Any, future: Any) -> None:
    """Wait until a future is done or failed."""

    def is_over(seconds: float) -> bool:
        try:
            future.exception(timeout=seconds)
        except TimeoutError:
            return False
        return True

    _wait_until(is_over, client)


def _gathered(client: Any, futures: list[Any]) -> list[Any]:
    """The results of futures; one that was lost with its worker is waited for again."""
    running = asyncio.run_coroutine_threadsafe(
        client.gather(futures, asynchronous=True), client.loop.asyncio_loop
    )
    try:
        _wait_until(lambda seconds: bool(concurrent.futures.wait([running], seconds).done), client)
        results: list[Any] = running.result()
        return results
    finally:
        running.cancel()


def _wait_until(is_over: Callable[[float], bool], client: Any) -> None:
    """Wait until ``is_over(seconds)``; an error where no worker is left for long.

    Dask itself waits forever: for workers that died and were not started again, that left
    because of a task they could not unpickle, or whose time on their machine was over.
    """
    alone_since = None
    while not is_over(_LOOK):
        if client.status != "running" or client.nthreads():
            alone_since = None
            continue
        if alone_since is None:
            alone_since = time.monotonic()
            _log.warning("%s Waiting %g s for one.", _no_workers(client), _PATIENCE)
        if time.monotonic() - alone_since >= _PATIENCE:
            raise ClusterError(
                f"{_no_workers(client)} There were some, but none was left for {_PATIENCE:g} s; "
                "their logs may say why."
            )


def cancel(client: Any, futures: Sequence[Any]) -> None:
    """Tell the scheduler to forget tasks, where there still is one."""
    if futures and client.status == "running":
        client.cancel(list(futures))


def only_result(client: Any, future: Any) -> Any:
    """The result of one future; cancelled when the caller is interrupted."""
    (result,) = in_order(client, lambda one: one, [future])
    return result
