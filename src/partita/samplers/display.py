"""Progress of a run, on a terminal, in a notebook or as lines."""

from __future__ import annotations

import sys
import time

import numpy as np

from partita._progress import NotebookLine, in_notebook, is_shown
from partita._wording import counted
from partita.partitions.mcmc import rhat
from partita.samplers.chains import Progress, Settings

_FEW = 20
"""Draws of each chain from which on R-hat says something."""

_PAUSE = 2.0
"""Seconds between two computations of R-hat, which look at all draws."""


def rhat_so_far(reached: Progress) -> float | None:
    """The larger R-hat of number of clusters and log posterior; None while there are few draws."""
    if len(reached.states) < 2 or reached.n_draws < _FEW:
        return None
    scalars = np.stack([record.scalars for record in reached.joined()])
    traces = (scalars[:, :, 1], scalars[:, :, 2] + scalars[:, :, 3])
    with np.errstate(invalid="ignore", divide="ignore"):  # chains that stand still, each elsewhere
        moving = [rhat(trace) for trace in traces if np.ptp(trace) > 0]
    return max(moving, default=None)


class _Bar:
    """A bar on a terminal."""

    def __init__(self, chains: str, total: int, done: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f} {task.fields[text]}"),
            console=Console(stderr=True),
            expand=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(chains, total=total, completed=done, text="compiling")

    def update(self, done: int, text: str) -> None:
        self._bar.update(self._task, completed=done, text=text)

    def stop(self) -> None:
        self._bar.stop()


class _Lines:
    """A line of a notebook that is replaced; elsewhere lines that follow one another."""

    def __init__(self, chains: str, total: int, done: int) -> None:
        self._before, self._total = f"{chains}: ", total
        self._last = time.monotonic()
        self._line = NotebookLine(f"{self._before}compiling") if in_notebook() else None
        self.update(done, "")

    def update(self, done: int, text: str) -> None:
        shown = f"{self._before}{done:,}/{self._total:,} iterations {text}"
        if self._line is not None:
            self._line.update(shown)
        elif text and time.monotonic() - self._last >= _PAUSE:
            self._last = time.monotonic()
            print(shown, file=sys.stderr)

    def stop(self) -> None:
        """What was last shown stays."""


class Display:
    """Iterations, rate, time left, clusters and R-hat so far, on standard error.

    A bar on a terminal, one line in a notebook, and where neither is but progress was asked for,
    lines.
    """

    def __init__(
        self, settings: Settings, done: int, wanted: bool | None, notes: tuple[str, ...]
    ) -> None:
        self._settings = settings
        self._done = done
        self._notes = notes
        self._shown: _Bar | _Lines | None = None
        self._rhat = ""
        self._looked = -_PAUSE
        self._wanted = is_shown(wanted)
        self._first: tuple[int, float] | None = None

    def __enter__(self) -> Display:
        if self._wanted:
            for note in self._notes:
                print(note, file=sys.stderr)
            kind = _Bar if sys.stderr.isatty() and not in_notebook() else _Lines
            chains = counted(self._settings.chains, "chain")
            self._shown = kind(chains, self._settings.iterations, self._done)
        return self

    def __exit__(self, *error: object) -> None:
        if self._shown is not None:
            self._shown.stop()

    def update(self, reached: Progress) -> None:
        """Show how far all chains are."""
        if self._shown is None:
            return
        clusters = [int(state.labels.max()) + 1 for state in reached.states]
        pace = self._pace(reached.done)
        text = f"{pace}{min(clusters)}–{max(clusters)} clusters{self._agreement(reached)}"
        self._shown.update(reached.done, text)

    def _pace(self, done: int) -> str:
        """Rate and time left, from the second round on: the first one compiles."""
        now = time.monotonic()
        if self._first is None:
            self._first = (done, now)
        begun, since = self._first
        if done == begun:
            return ""
        rate = (done - begun) / (now - since)
        minutes, seconds = divmod(round((self._settings.iterations - done) / rate), 60)
        return f"{rate:,.0f}/s, {minutes // 60}:{minutes % 60:02}:{seconds:02} left, "

    def _agreement(self, reached: Progress) -> str:
        """R-hat so far, looked at now and then."""
        if time.monotonic() - self._looked >= _PAUSE:
            found = rhat_so_far(reached)
            self._rhat = "" if found is None else f", R-hat {found:.3f}"
            self._looked = time.monotonic()
        return self._rhat
