"""Sets of items or draws as bits, 64 to a word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

WORD = 64
"""Bits of a word."""


def count_bits(word: np.uint64) -> np.uint64:
    """How many bits of a word are set; in kernels by the processor's own instruction."""
    return np.uint64(int(word).bit_count())


@intrinsic
def _processors_count(typing: Any, word: Any) -> Any:
    del typing, word

    def count(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), count


@overload(
    count_bits, strict=False, jit_options={"no_cfunc_wrapper": True, "no_cpython_wrapper": True}
)
def _count_bits(word: Any) -> Callable[[Any], Any]:
    del word
    return lambda word: _processors_count(word)
