"""Progress of a run on a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

import numpy as np

from partita._wording import counted
from partita.samplers.chains import Progress, Settings

_FEW = 20
"""Draws of each chain from which on R-hat says something."""

_PAUSE = 2.0
"""Seconds between two computations of R-hat, which look at all draws."""


def rhat_so_far(reached: Progress) -> float | None:
    """The larger R-hat of number of clusters and log posterior; None while there are few draws."""
    if len(reached.states) < 2 or reached.n_draws < _FEW:
        return None
    from arviz_stats.base import array_stats

    scalars = np.stack([record.scalars for record in reached.joined()])
    traces = (scalars[:, :, 1], scalars[:, :, 2] + scalars[:, :, 3])
    moving = [float(array_stats.rhat(trace)) for trace in traces if np.ptp(trace) > 0]
    return max(moving, default=None)


class Display:
    """A bar with iterations, rate, time left, clusters and R-hat so far, on standard error."""

    def __init__(
        self, settings: Settings, done: int, wanted: bool | None, notes: tuple[str, ...]
    ) -> None:
        self._settings = settings
        self._done = done
        self._notes = notes
        self._bar: Any = None
        self._task: Any = None
        self._rhat = ""
        self._looked = -_PAUSE
        self._wanted = wanted is not False and sys.stderr.isatty()

    def __enter__(self) -> Display:
        if self._wanted:
            self._open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        for note in self._notes:
            console.print(note, highlight=False)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f} iterations"),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=console,
        )
        self._bar.start()
        chains = self._settings.chains
        self._task = self._bar.add_task(
            counted(chains, "chain"),
            total=self._settings.iterations,
            completed=self._done,
            rate="compiling",
        )

    def update(self, reached: Progress) -> None:
        """Show how far all chains are."""
        if self._bar is None:
            return
        clusters = [int(state.labels.max()) + 1 for state in reached.states]
        speed = self._bar.tasks[0].speed
        rate = f"{speed:,.0f}/s, " if speed else ""
        self._bar.update(
            self._task,
            completed=reached.done,
            rate=f"{rate}{min(clusters)}–{max(clusters)} clusters{self._agreement(reached)}",
        )

    def _agreement(self, reached: Progress) -> str:
        """R-hat so far, looked at now and then."""
        if time.monotonic() - self._looked >= _PAUSE:
            found = rhat_so_far(reached)
            self._rhat = "" if found is None else f", R-hat {found:.3f}"
            self._looked = time.monotonic()
        return self._rhat
