"""The unit of time: one fixed NumPy job, so that figures from two machines compare.

Contingency tables of 2,000 random pairs of partitions of 200 items, on one
thread. The peers' figures in ``peers.toml`` are multiples of the same job.
"""

from __future__ import annotations

import statistics
import time

import numpy as np


class Yardstick:
    """Measures the unit, again and again: on a shared machine it changes while jobs run."""

    def __init__(self) -> None:
        rng = np.random.default_rng(1)
        self._a = rng.integers(0, 16, size=(2_000, 200))
        self._b = rng.integers(0, 16, size=(2_000, 200))
        self._run()

    def seconds(self, repeats: int = 7) -> float:
        """Median seconds of one unit."""
        return statistics.median(self._run() for _ in range(repeats))

    def _run(self) -> float:
        start = time.perf_counter()
        total = 0.0
        for a, b in zip(self._a, self._b, strict=True):
            table = np.bincount(a * 16 + b, minlength=256).reshape(16, 16)
            total += float((table * table).sum())
        if total <= 0:
            raise RuntimeError("the yardstick job went wrong")
        return time.perf_counter() - start
