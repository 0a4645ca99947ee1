"""Short names of the arrays that kernels read and write."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]
Bools = NDArray[np.bool_]
UInt64s = NDArray[np.uint64]

_A = TypeVar("_A", bound=NDArray[Any])


def writable(array: _A) -> _A:
    """The array itself, or a copy of a read-only one: kernels compile a second time for those."""
    return array if array.flags.writeable else array.copy()
