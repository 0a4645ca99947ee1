"""Work on a Dask cluster: tasks whose results come back in order, and errors that say what to do.

The one module that imports Dask's distributed scheduler.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice, takewhile
from typing import Any, TypeVar

from partita._optional import require
from partita._validate import shown
from partita.errors import ClusterError, InvalidInputError, PartitaError

T = TypeVar("T")

_WAITING = 8
"""Small results fetched at a time, and tasks beyond two for each thread that wait to be run."""

_BYTES = 1 << 26
"""Results that are fetched together, unless one alone is larger."""


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
        raise InvalidInputError(
            f"engine={shown(engine)}; expected a dask.distributed.Client, or 'dask' for the one "
            "in force.",
            argument="engine",
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
    return client


@contextmanager
def explained(client: Any) -> Iterator[None]:
    """Errors of the cluster as one of ours; those of a task itself pass through."""
    from distributed import CancelledError, KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise ClusterError(
            f"the workers that ran a piece of the work died again and again ({error}). They may "
            "have too little memory: give them more, or start fewer threads in each."
        ) from error
    except Exception as error:
        ours = isinstance(error, PartitaError)
        if ours or (client.status == "running" and not isinstance(error, CancelledError)):
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
            raise ClusterError(
                f"the Dask scheduler at {client_address(client)} has no workers. Start some: "
                "dask worker ADDRESS"
            )
        return client.submit(_same, _Opaque(value), pure=False)


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
                waiting[0].exception()  # waits, and fetches no result yet
                done = takewhile(lambda future: future.done(), islice(waiting, at_once))
                results = client.gather(list(done))
            at_once = min(_WAITING, _BYTES // max(1, sizeof(results[0])) or 1)
            while results:
                waiting.popleft()
                yield results.pop(0)
            with explained(client):
                more = busy + at_once - 1 - len(waiting)
                waiting.extend(submit(task) for task in islice(left, more))
    finally:
        cancel(client, list(waiting))


def cancel(client: Any, futures: Sequence[Any]) -> None:
    """Tell the scheduler to forget tasks, where there still is one."""
    if futures and client.status == "running":
        client.cancel(list(futures))


def only_result(client: Any, future: Any) -> Any:
    """The result of one future; cancelled when the caller is interrupted."""
    (result,) = in_order(client, lambda one: one, [future])
    return result
