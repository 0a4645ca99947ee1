"""Short names of the types of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]
Bools = NDArray[np.bool_]
UInt64s = NDArray[np.uint64]
Integers = NDArray[np.integer[Any]]
Unsigned = NDArray[np.unsignedinteger[Any]]
"""Stored labels, in the smallest dtype."""
Array = NDArray[Any]
