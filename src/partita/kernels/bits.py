"""Sets of items or draws as bits, 64 to a word."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

WORD = 64
"""Bits of a word."""


@intrinsic
def count_bits(typing: Any, word: Any) -> Any:
    """How many bits of a word are set, by the processor's own instruction."""
    del typing, word

    def count(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), count
