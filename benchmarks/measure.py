"""Timing of jobs in yardstick units."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.job import Job
from benchmarks.yardstick import Yardstick

_BUDGET_SECONDS = 1.5
"""Repeats of one job stop after about this long; at least three are made below 10 s each."""


@dataclass(frozen=True)
class Measurement:
    """Median seconds of a job, the unit measured around it, and what the job returned."""

    job: Job
    seconds: float
    unit: float
    baseline_seconds: float | None
    result: Any

    @property
    def units(self) -> float:
        return self.seconds / self.unit

    @property
    def target_units(self) -> float | None:
        if self.baseline_seconds is not None:
            return self.baseline_seconds / self.unit
        return self.job.target_u


def measure(job: Job, yardstick: Yardstick) -> Measurement:
    """Time one job warm, with the unit taken before and after it."""
    call = job.setup()
    result = call()
    before = yardstick.seconds()
    seconds = _median(call)
    baseline = None if job.baseline is None else _median(job.baseline())
    unit = statistics.mean([before, yardstick.seconds()])
    return Measurement(job, seconds, unit, baseline, result)


def _median(call: Callable[[], Any]) -> float:
    times: list[float] = []
    while not times or (sum(times) < _BUDGET_SECONDS and len(times) < 25) or _too_few(times):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _too_few(times: list[float]) -> bool:
    return len(times) < 3 and times[0] < 10
