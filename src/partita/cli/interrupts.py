"""Ctrl-C: remembered, so that a run that was cut short but has results ends with its own code."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType


@dataclass
class Interrupts:
    """Whether Ctrl-C was pressed; searches and samplers return what they have after it."""

    came: bool = False


@contextmanager
def watch_interrupts() -> Iterator[Interrupts]:
    """Note every Ctrl-C in the block, which still raises KeyboardInterrupt."""
    seen = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield seen  # handlers can be set in the main thread only
        return

    def note(number: int, frame: FrameType | None) -> None:
        seen.came = True
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)
