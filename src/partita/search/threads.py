"""Threads that leave their best behind when the user or the clock interrupts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

from partita.search.task import Task

T = TypeVar("T")
R = TypeVar("R")


def run_until(task: Task, function: Callable[[T], R], work: Sequence[T], say: str) -> list[R]:
    """Results in the order of the work, whatever the number of threads.

    The work runs in worker threads even when there is one: Ctrl-C reaches the
    main thread, which tells the clock; every piece of work watches the clock
    and returns what it has.
    """
    with ThreadPoolExecutor(max(1, min(task.threads, len(work)))) as pool:
        futures = [pool.submit(function, piece) for piece in work]
        waiting = set(futures)
        while waiting:
            try:
                waiting = wait(waiting, timeout=0.2).not_done
                task.report(f"{say}, {len(futures) - len(waiting)} of {len(futures)}")
            except KeyboardInterrupt:
                task.clock.interrupted = True
        return [future.result() for future in futures]
