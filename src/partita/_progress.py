"""Progress on a terminal: shown on standard error, and only for work that lasts."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

_DELAY = 2.0
"""Seconds of work before anything is shown."""


class Status:
    """One line that says what is being done, after two seconds, on a terminal.

    ``progress`` is True (always show), False (never) or None (on a terminal).
    """

    def __init__(self, title: str, progress: bool | None = None) -> None:
        self._title = title
        self._wanted = sys.stderr.isatty() if progress is None else progress
        self._start = time.monotonic()
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
        if not self._wanted or time.monotonic() - self._start < _DELAY:
            return
        seconds = time.monotonic() - self._start
        text = f"{self._title}: {message} ({seconds:.0f} s)"
        if self._live is None:
            from rich.console import Console
            from rich.status import Status as RichStatus

            self._live = RichStatus(text, console=Console(stderr=True))
            self._live.start()
        else:
            self._live.update(text)
