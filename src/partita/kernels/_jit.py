"""The two decorators that compile a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numba
from numba.core import event

from partita.kernels.compiling import listeners

P = ParamSpec("P")
R = TypeVar("R")


class _Announcer(event.Listener):  # type: ignore[misc]
    """Tells the listeners when Numba begins to compile what no cache has."""

    def on_start(self, event: Any) -> None:
        """Tell everyone; whoever leaves meanwhile is not missed."""
        del event
        for listener in tuple(listeners):
            listener()

    def on_end(self, event: Any) -> None:
        """Nothing to tell."""


event.register("numba:compile", _Announcer())


def _compile(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    """Compile without the GIL, cached on disk where a cache directory can be written.

    Numba refuses ``cache=True`` at decoration time when neither the package
    directory nor the user's cache directory is writable; such an install must
    still import, so it compiles anew in each process.
    """
    options |= {"nogil": True, "error_model": "numpy"}
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:
        compiled = numba.njit(**options)(function)
    return compiled  # type: ignore[no-any-return]


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile with IEEE arithmetic: sums run in the order written, on every machine."""
    return _compile(function)


def fast_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile with reordered sums, which lets them vectorise.

    For searches whose result is evaluated again by a strict kernel; never for
    a number that is reported.
    """
    return _compile(function, fastmath={"reassoc", "contract", "nsz"})


def part_of_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile only as a part of the kernels that call it, by their rules of arithmetic.

    Each kernel is optimised together with everything it calls; a chain of
    compiled functions would be optimised once per link.
    """
    return _compile(function, inline="always")
