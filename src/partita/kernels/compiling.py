"""Who wants to know that a kernel is being compiled. Loads nothing."""

from __future__ import annotations

from collections.abc import Callable

listeners: list[Callable[[], None]] = []
"""Called when the compilation of a function begins, in the thread that compiles it."""
