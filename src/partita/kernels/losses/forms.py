"""Arithmetic shared by all losses of two partitions.

With f the loss's term, every such loss is a function of three sums:
joint = Σ f(n_te), estimate = Σ f(n_e), truth = Σ f(n_t), where n_e, n_t are
cluster sizes and n_te the sizes of their intersections. The function is the
method ``combine`` of the loss's form, a NamedTuple of its constants: kernels
take the form as an argument, and its type says which arithmetic to compile.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba.core.registry import CPUDispatcher

from partita.kernels._jit import supplied_by_type
from partita.kernels.arrays import Floats

Form = Any
"""A NamedTuple of constants with a method ``combine(self, joint, estimate, truth)``."""


@supplied_by_type
def combine(form: Form, joint: float, estimate: float, truth: float) -> float:
    """Loss from its three sums."""
    return form.combine(joint, estimate, truth)  # type: ignore[no-any-return]


def entropy_terms(n_items: int) -> Floats:
    """x·log2(x) for x = 0, …, n_items: the term of the entropic losses.

    By the C library's logarithm, as kernels have it: NumPy's may differ in the last bit.
    """
    return _entropy_terms(n_items).copy()


@lru_cache(maxsize=4)
def _entropy_terms(n_items: int) -> Floats:
    return np.array([0.0, *(x * math.log2(x) for x in range(1, n_items + 1))])


def pair_terms(n_items: int) -> Floats:
    """x² for x = 0, …, n_items: the term of the losses that count pairs."""
    return np.arange(n_items + 1, dtype=np.float64) ** 2


def compiled(function: Callable[..., float]) -> Any:
    """A user's function as kernels can call it."""
    if isinstance(function, CPUDispatcher):
        return function
    return numba.njit(error_model="numpy")(function)
