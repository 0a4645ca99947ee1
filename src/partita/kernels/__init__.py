"""Compiled loops: arrays and scalars in, arrays and scalars out; they import NumPy and Numba only.

Labels are canonical int32 unless a kernel says otherwise, so that each kernel compiles once.
Validation, dtypes and messages belong to the callers. Each kernel has a reference implementation
in ``tests/reference``.
"""

from __future__ import annotations

from collections.abc import Callable

listeners: list[Callable[[], None]] = []
"""Called when the compilation of a function begins, in the thread that compiles it."""
