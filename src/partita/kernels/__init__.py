"""Compiled loops: arrays and scalars in, arrays and scalars out; they import NumPy and Numba only.

Labels are canonical int32 unless a kernel says otherwise, so that each kernel compiles once.
Validation, dtypes and messages belong to the callers. Each kernel has a reference implementation
in ``tests/reference``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

listeners: list[Callable[[], None]] = []
"""Called when the compilation of a function begins, in the thread that compiles it."""

# -------------------- short names of the arrays that kernels read and write


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]
Bools = NDArray[np.bool_]
UInt64s = NDArray[np.uint64]

_A = TypeVar("_A", bound=NDArray[Any])


def writable(array: _A) -> _A:
    """The array itself, or a copy of a read-only one: kernels compile a second time for those."""
    return array if array.flags.writeable else array.copy()
