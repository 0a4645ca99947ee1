"""Run independent pieces of work in threads."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from typing import TypeVar

from partita._validate import jobs

T = TypeVar("T")
R = TypeVar("R")

_AT_ONCE = 8
"""Results of another backend that come together; each may be as large as the answer."""


def count_jobs(n_jobs: int | None) -> int:
    """Threads to use: ``None`` means every available core, negative counts from the end."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = cores or 1
    asked = jobs(n_jobs)
    if asked is None:
        return cores
    return asked if asked > 0 else max(1, cores + 1 + asked)


def run(function: Callable[[T], R], tasks: Iterable[T], n_jobs: int | None = None) -> list[R]:
    """Results of ``function`` over ``tasks``, in order, whatever the number of threads.

    Work runs in plain threads, because kernels release the GIL and joblib's
    start costs more than a small kernel. A backend chosen by the user through
    ``joblib.parallel_config`` is honoured: threads, processes or a cluster.
    """
    work = list(tasks)
    if n_jobs is None and _joblib_is_configured():
        import joblib

        # Closures travel to processes as code; plain pickling would refuse them.
        portable = joblib.wrap_non_picklable_objects(function)
        return list(joblib.Parallel()(joblib.delayed(portable)(task) for task in work))
    threads = min(count_jobs(n_jobs), len(work))
    if threads <= 1:
        return [function(task) for task in work]
    with pool_of(threads, "blocks") as pool:
        return list(pool.map(function, work))


def run_interruptible(function: Callable[[], R], interrupt: Callable[[], None]) -> R:
    """The function's result, from a worker thread; Ctrl-C calls ``interrupt`` instead of raising.

    The function must then return what it has. A second Ctrl-C is raised as usual.
    """
    if threading.current_thread() is not threading.main_thread():
        return function()  # where Ctrl-C does not arrive
    asked = False
    future: Future[R] = Future()

    def work() -> None:
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    while True:
        try:
            if wait([future], timeout=0.2).done:
                return future.result()
        except KeyboardInterrupt:
            if asked or future.done():
                raise
            asked = True
            interrupt()


def stream(
    function: Callable[[T], R], tasks: Iterable[T], n_jobs: int | None = None
) -> Iterator[R]:
    """As :func:`run`, one result after the other; few wait, since each may be large."""
    left = iter(tasks)
    if n_jobs is None and _joblib_is_configured():
        while batch := list(islice(left, _AT_ONCE)):
            yield from run(function, batch, n_jobs)
        return
    threads = count_jobs(n_jobs)
    first = list(islice(left, 2))
    if threads <= 1 or len(first) < 2:
        yield from map(function, chain(first, left))
        return
    with pool_of(threads, "blocks") as pool:
        tasks = chain(first, left)
        waiting = deque(pool.submit(function, task) for task in islice(tasks, threads + 1))
        try:
            while waiting:
                yield waiting.popleft().result()
                waiting.extend(pool.submit(function, task) for task in islice(tasks, 1))
        finally:  # the caller stopped early, or something failed
            for future in waiting:
                future.cancel()


_kept: dict[tuple[int, tuple[str, ...]], ThreadPoolExecutor] = {}
_lock = threading.Lock()
_current = threading.local()


@contextmanager
def pool_of(threads: int, purpose: str) -> Iterator[ThreadPoolExecutor]:
    """A pool of that many threads, kept for the next time: to start one takes milliseconds.

    Work that itself needs a pool for the same purpose gets one of its own: it
    would wait for threads that wait for it.
    """
    outside: tuple[str, ...] = getattr(_current, "purposes", ())
    if purpose in outside:
        with ThreadPoolExecutor(threads, initializer=partial(_begin, outside)) as pool:
            yield pool
        return
    inside = (*outside, purpose)
    key = (threads, inside)
    with _lock:
        if key not in _kept:
            _kept[key] = ThreadPoolExecutor(threads, initializer=partial(_begin, inside))
    yield _kept[key]


def _begin(purposes: tuple[str, ...]) -> None:
    _current.purposes = purposes


def _forget() -> None:
    """In a process that was forked: its pools have no threads."""
    global _lock
    _lock = threading.Lock()
    _kept.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _joblib_is_configured() -> bool:
    if "joblib" not in sys.modules:
        return False
    from joblib.parallel import BACKENDS, DEFAULT_BACKEND, get_active_backend

    # A cluster is chosen without a number of jobs; the default backend counts with one only.
    backend, n_jobs = get_active_backend()
    return n_jobs is not None or type(backend) is not BACKENDS[DEFAULT_BACKEND]
