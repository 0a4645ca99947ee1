"""The decorator of the small functions inside the samplers' loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np

from partita.kernels._jit import _compile

P = ParamSpec("P")
R = TypeVar("R")

Index = int | np.int64
"""Positions and counts. A constant is written ``np.int64(0)``, because Numba compiles a function
anew for a literal argument."""


def step(function: Callable[P, R]) -> Callable[P, R]:
    """Compile without reference counting, which would cost more than the arithmetic.

    For functions that neither make nor return arrays.
    """
    return _compile(function, _nrt=False)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like a step, into its caller: for what runs once per item or more often."""
    return _compile(function, _nrt=False, forceinline=True)
