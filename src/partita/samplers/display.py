"""Progress of a run on a terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from partita.samplers.chains import Progress, Settings


class Display:
    """A bar with iterations, rate, time left and clusters, on standard error."""

    def __init__(
        self, settings: Settings, done: int, wanted: bool | None, notes: tuple[str, ...]
    ) -> None:
        self._settings = settings
        self._done = done
        self._notes = notes
        self._bar: Any = None
        self._task: Any = None
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
            f"{chains} chain{'s' if chains > 1 else ''}",
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
            rate=f"{rate}{min(clusters)}–{max(clusters)} clusters",
        )
