"""Run independent pieces of work in threads."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from partita._validate import shown
from partita.errors import InvalidInputError

T = TypeVar("T")
R = TypeVar("R")


def count_jobs(n_jobs: int | None) -> int:
    """Threads to use: ``None`` means every available core, negative counts from the end."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = cores or 1
    if n_jobs is None:
        return cores
    if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise InvalidInputError(
            f"n_jobs={shown(n_jobs)} was given; expected a positive number of threads, "
            "-1 for every core, or None for the default.",
            argument="n_jobs",
        )
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


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
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, work))


def _joblib_is_configured() -> bool:
    if "joblib" not in sys.modules:
        return False
    from joblib.parallel import BACKENDS, DEFAULT_BACKEND, get_active_backend

    # A cluster is chosen without a number of jobs; the default backend counts with one only.
    backend, n_jobs = get_active_backend()
    return n_jobs is not None or type(backend) is not BACKENDS[DEFAULT_BACKEND]
