"""Progress of work that lasts, on standard error."""

from __future__ import annotations

import sys
import time
from typing import Any, ClassVar

from partita._validate import boolean
from partita.kernels import listeners

_DELAY = 2.0
"""Seconds of work before anything is shown, and between two lines where none can be replaced."""


def is_shown(progress: bool | None) -> bool:
    """Whether progress is shown: as asked; by default on a terminal and in a notebook."""
    if progress is None:
        return sys.stderr.isatty() or in_notebook()
    return boolean(progress, "progress")


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook, which shows what can be replaced."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


class NotebookLine:
    """One line of a notebook's output, replaced in place and empty at the end."""

    def __init__(self, text: str) -> None:
        from IPython.display import display

        self._handle: Any = display({"text/plain": text}, raw=True, display_id=True)

    def update(self, text: str) -> None:
        """Show this text instead."""
        self._handle.update({"text/plain": text}, raw=True)

    def stop(self) -> None:
        """Leave the line empty."""
        self.update("")


def _terminal_line(text: str) -> Any:
    from rich.console import Console
    from rich.status import Status as RichStatus

    line = RichStatus(text, console=Console(stderr=True))
    line.start()
    return line


class Status:
    """One line that says what is being done, once it has lasted two seconds.

    ``progress`` is True (show it; in a file or a pipe as lines of their own),
    False (never) or None (on a terminal and in a notebook). A first run on a
    machine compiles kernels; the line says so while it does. Work within work
    speaks through the same line.
    """

    _line: ClassVar[Any] = None
    """Of a terminal or a notebook: it can be replaced and stopped."""

    def __init__(self, title: str, progress: bool | None = None) -> None:
        self._title = title
        self._wanted = is_shown(progress)
        self._start = time.monotonic()
        self._last = self._start
        self._owns_line = False
        self._compiled = 0

    def __enter__(self) -> Status:
        if self._wanted:
            listeners.append(self._say_compiling)
        return self

    def __exit__(self, *error: object) -> None:
        if self._wanted:
            listeners.remove(self._say_compiling)
        if self._owns_line and Status._line is not None:
            Status._line.stop()
            Status._line = None

    def _say_compiling(self) -> None:
        self._compiled += 1
        self.say(f"compiling for this machine (first run only), function {self._compiled}")

    def say(self, message: str) -> None:
        """Replace the line; cheap to call often."""
        now = time.monotonic()
        if not self._wanted or now - self._start < _DELAY:
            return
        text = f"{self._title}: {message} ({now - self._start:.0f} s)"
        if Status._line is not None:
            Status._line.update(text)
        elif in_notebook() or sys.stderr.isatty():
            Status._line = NotebookLine(text) if in_notebook() else _terminal_line(text)
            self._owns_line = True
        elif now - self._last >= _DELAY:
            self._last = now
            print(text, file=sys.stderr)
