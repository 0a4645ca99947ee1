"""Threads for independent pieces of work, the clock they watch, and how much memory is left."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait  # noqa: TID251
from contextlib import contextmanager
from contextvars import ContextVar, Token
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from partita._validate import jobs
from partita.errors import MemoryLimitError
from partita.kernels.arrays import Bools

_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)
"""Limit and use of a container, second and first generation."""

LITTLE = 1 << 20
"""Bytes that are there without asking: to ask takes longer than to fill them."""


def available_memory() -> int | None:
    """Bytes that can still be allocated without swapping, or None where that is unknown."""
    bounds = [_system_memory(), _shell_limit(), *(_container_memory(*pair) for pair in _CGROUPS)]
    known = [bound for bound in bounds if bound is not None]
    return min(known) if known else None


def require_memory(size: int, what: str, instead: str) -> None:
    """Raise before an allocation of ``size`` bytes that cannot succeed; say what to do instead."""
    if size <= LITTLE:
        return
    free = available_memory()
    if free is not None and size > free:
        raise MemoryLimitError(
            f"{what} needs {readable_size(size)}, but {readable_size(free)} of memory is "
            f"available. {instead}"
        )


def readable_size(size: int) -> str:
    """Bytes as text: ``readable_size(3 << 30)`` is ``'3.0 GiB'``."""
    value = float(size)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:,.1f} TiB"


def _system_memory() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return _physical_memory()
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return _physical_memory()


def _physical_memory() -> int | None:
    """All memory of the machine: a weaker bound, for systems without /proc."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _shell_limit() -> int | None:
    """Return the room left in the address space where the shell limits it (``ulimit -v``)."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return max(0, limit - pages * os.sysconf("SC_PAGE_SIZE"))
    except (ImportError, OSError, ValueError):  # no such limits, or no /proc
        return None


def _container_memory(limit_file: str, usage_file: str) -> int | None:
    try:
        limit, usage = int(Path(limit_file).read_text()), int(Path(usage_file).read_text())
        statistics = Path(limit_file).with_name("memory.stat").read_text().splitlines()
    except (OSError, ValueError):  # no container, or "max"
        return None
    # Cached file pages count as used but are given back on demand.
    cached = sum(int(s.split()[1]) for s in statistics if s.startswith("inactive_file "))
    return max(0, limit - usage + cached)


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
    with shared_pool(threads, "blocks") as pool:
        return list(pool.map(function, work))


_outer: ContextVar[Clock | None] = ContextVar("clock", default=None)


class Clock:
    """Time spent, and whether it is up: after the time limit, or after Ctrl-C.

    ``with clock:`` the clocks of searches within tell it of Ctrl-C, so that the rest ends, too.
    """

    def __init__(self, time_limit: float | None) -> None:
        self.start = time.monotonic()
        self.deadline = None if time_limit is None else self.start + time_limit
        self.interrupted = False
        self._flags: list[Bools] = []
        self._outside = _outer.get()
        self._tokens: list[Token[Clock | None]] = []

    def __enter__(self) -> Clock:
        self._tokens.append(_outer.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        _outer.reset(self._tokens.pop())

    def is_up(self) -> bool:
        """Whether a search should stop and return the best it has."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            self.interrupted = True
        return self.interrupted

    def interrupt(self) -> None:
        """End the work, as Ctrl-C asks; kernels that read a flag, too."""
        self.interrupted = True
        for flag in self._flags:
            flag[0] = True
        if self._outside is not None:
            self._outside.interrupt()

    @contextmanager
    def until(self, share: float = 1.0) -> Iterator[Bools]:
        """A flag for kernels, which cannot ask: set when that share of the time is over."""
        left = math.inf if self.deadline is None else self.deadline - time.monotonic()
        if self.deadline is not None:
            left -= (1.0 - share) * (self.deadline - self.start)
        flag = np.array([self.interrupted or left <= 0.0])
        timer = None
        if not flag[0] and math.isfinite(left):
            timer = threading.Timer(min(left, threading.TIMEOUT_MAX), flag.__setitem__, (0, True))
            timer.daemon = True
            timer.start()
        self._flags.append(flag)
        try:
            yield flag
        finally:
            self._flags = [other for other in self._flags if other is not flag]
            if timer is not None:
                timer.cancel()

    @property
    def left(self) -> float:
        """Seconds until the time limit, 0 after Ctrl-C; infinite without a limit."""
        if self.interrupted:
            return 0.0
        return math.inf if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    @property
    def seconds(self) -> float:
        """Seconds since the work began."""
        return time.monotonic() - self.start


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
    """Like :func:`run`, but yields results in order; few wait, since each may be large."""
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
    with shared_pool(threads, "blocks") as pool:
        tasks = chain(first, left)
        waiting = deque(pool.submit(function, task) for task in islice(tasks, threads + 1))
        try:
            while waiting:
                yield waiting.popleft().result()
                waiting.extend(pool.submit(function, task) for task in islice(tasks, 1))
        finally:  # the caller stopped early, or something failed
            for future in waiting:
                future.cancel()


_pools: dict[tuple[int, tuple[str, ...]], ThreadPoolExecutor] = {}
_lock = threading.Lock()
_current = threading.local()


@contextmanager
def shared_pool(threads: int, purpose: str) -> Iterator[ThreadPoolExecutor]:
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
        if key not in _pools:
            _pools[key] = ThreadPoolExecutor(threads, initializer=partial(_begin, inside))
    yield _pools[key]


def _begin(purposes: tuple[str, ...]) -> None:
    _current.purposes = purposes


def _forget() -> None:
    """In a process that was forked: its pools have no threads."""
    global _lock
    _lock = threading.Lock()
    _pools.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _joblib_is_configured() -> bool:
    if "joblib" not in sys.modules:
        return False
    from joblib.parallel import BACKENDS, DEFAULT_BACKEND, get_active_backend

    # A cluster is chosen without a number of jobs; the default backend counts with one only.
    backend, n_jobs = get_active_backend()
    return n_jobs is not None or type(backend) is not BACKENDS[DEFAULT_BACKEND]
