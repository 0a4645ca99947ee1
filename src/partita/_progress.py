"""Progress of work that lasts, on standard error."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

_DELAY = 2.0
"""Seconds of work before anything is shown, and between two lines where none can be replaced."""


class Status:
    """One line that says what is being done, once it has lasted two seconds.

    ``progress`` is True (show it; in a file or a pipe as lines of their own),
    False (never) or None (on a terminal).
    """

    def __init__(self, title: str, progress: bool | None = None) -> None:
        self._title = title
        self._wanted = sys.stderr.isatty() if progress is None else progress
        self._start = time.monotonic()
        self._last = self._start
        self._live: Any = None

    def __enter__(self) -> Status:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def say(self, message: str) -> None:
        """Replace the line; cheap to call often."""
        now = time.monotonic()
        if not self._wanted or now - self._start < _DELAY:
            return
        text = f"{self._title}: {message} ({now - self._start:.0f} s)"
        if self._live is not None:
            self._live.update(text)
        elif sys.stderr.isatty():
            from rich.console import Console
            from rich.status import Status as RichStatus

            self._live = RichStatus(text, console=Console(stderr=True))
            self._live.start()
        elif now - self._last >= _DELAY:
            self._last = now
            print(text, file=sys.stderr)
