"""``python -m benchmarks.first_calls [names …]``: first calls in an empty kernel cache.

Each call runs in a process of its own, on one thread; printed is its processor time with all
imports, beside the goal. ``--kernels`` lists what each kernel took to compile, without the
kernels that it calls.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

GOALS = {
    "estimate": 6.0,
    "summarize": 10.0,
    "sample": 12.0,
    "price_path": 8.0,
    "credible_core": 6.0,
    "representatives": 6.0,
}
"""Seconds of processor time."""


def _labels() -> np.ndarray:
    """400 draws of 40 items in four clusters, a third of the labels drawn anew."""
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 6, (400, 40))
    return np.where(rng.random(noise.shape) < 0.3, noise, np.repeat(np.arange(4), 10))


def _data() -> np.ndarray:
    """60 points of the plane in three groups."""
    return np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([0, 4, 8], 20)[:, None]


def call(name: str) -> None:
    """Make one of the calls."""
    import partita as pt

    if name == "sample":
        pt.sample(_data(), draws=100, burn_in=100, chains=2, rng=0, n_jobs=1, progress=False)
    elif name == "summarize":
        pt.summarize(pt.Draws(_labels(), chain=np.repeat(np.arange(4), 100)), n_jobs=1)
    else:
        getattr(pt, name)(_labels(), n_jobs=1)


def measure(name: str, *options: str) -> float:
    """Processor seconds of a new process that makes the call."""
    with tempfile.TemporaryDirectory() as cache:
        # A directory is used in place of those beside the package, which may hold kernels.
        environment = os.environ | {"NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"}
        before = os.times()
        command = [sys.executable, "-m", "benchmarks.first_calls", "--make", name, *options]
        subprocess.run(command, env=environment, check=True)
        after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def listening(make: Callable[[], None]) -> list[tuple[float, str, str]]:
    """Seconds that each compilation took, without those inside it, its kernel and its types."""
    from numba.core import event

    class Timer(event.Listener):  # type: ignore[misc]
        def __init__(self) -> None:
            self.open: list[list[float]] = []
            self.rows: list[tuple[float, str, str]] = []

        def on_start(self, event: Any) -> None:
            del event
            self.open.append([time.process_time(), 0.0])

        def on_end(self, event: Any) -> None:
            start, inside = self.open.pop()
            took = time.process_time() - start
            if self.open:
                self.open[-1][1] += took
            function = event.data["dispatcher"].py_func
            name = f"{function.__module__}.{function.__qualname__}"
            self.rows.append((took - inside, name, str(event.data["args"])))

    timer = Timer()
    with event.install_listener("numba:compile", timer):
        make()
    return sorted(timer.rows, reverse=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_calls", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(GOALS)}")
    parser.add_argument("--kernels", action="store_true", help="list what kernels took to compile")
    parser.add_argument("--make", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make and options.kernels:
        for seconds, name, types in listening(lambda: call(options.make)):
            print(f"  {seconds:6.2f}  {name}  {types[:100]}")
        return
    if options.make:
        call(options.make)
        return
    for name in options.names or GOALS:
        seconds = measure(name, *(["--kernels"] if options.kernels else []))
        met = "met" if seconds <= GOALS[name] else "not met"
        print(f"{name:16} {seconds:6.1f} s   goal {GOALS[name]:.0f} s, {met}", flush=True)


if __name__ == "__main__":
    main()
