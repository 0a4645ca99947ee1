"""The decorators that compile a kernel.

Three things go beyond Numba's public API, each measured (Numba 0.68, processor time):

- ``DiskCache``: a kernel compiled with a user's arithmetic must not be found again after its
  author has changed it, and a cache that is full, cut short, damaged or names a class that has
  moved must not stop anyone. Numba's own cache does neither.
  Its checksums take 4 ms for all 217 kernels (16 MB); Numba's locators choose a directory only.
- ``_without_compiler``: a warm ``partita summarize`` takes 1.02 s with it and 1.29 s without,
  a new process that calls ``estimate`` 0.86 and 1.02 s.
- ``_nrt=False``: the first ``estimate`` takes 9.9 s with it and 10.4 s without; inside the loops
  of the samplers, counting references costs more than the arithmetic.

The canary job of the workflow runs the tests with the next Numba, which may change these.
"""

from __future__ import annotations

import gc
import pickle
import threading
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, ParamSpec, TypeVar

import numba
from numba.core import event, serialize
from numba.core.caching import FunctionCache
from numba.core.runtime import rtsys
from numba.extending import overload

from partita.kernels import listeners
from partita.kernels.arrays import Array

P = ParamSpec("P")
R = TypeVar("R")
A = TypeVar("A", bound=Array)

_OWN = "partita."


class _Announcer(event.Listener):  # type: ignore[misc]
    """Tells the listeners when Numba begins to compile what no cache has.

    Meanwhile Python looks for no garbage: the first ``estimate`` takes 8.9 s instead of 10.1 s.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = 0
        self._collects = False

    def on_start(self, event: Any) -> None:
        """Notify all listeners; listeners that leave meanwhile are skipped."""
        del event
        with self._lock:
            if self._open == 0:
                self._collects = gc.isenabled()
                gc.disable()
            self._open += 1
        for listener in tuple(listeners):
            listener()

    def on_end(self, event: Any) -> None:
        """Let Python look for garbage again, if it did before."""
        del event
        with self._lock:
            self._open -= 1
            if self._open == 0 and self._collects:
                gc.enable()


event.register("numba:compile", _Announcer())


class _ChecksummedCode(FunctionCache._impl_class):  # type: ignore[misc]
    """Cached machine code with a checksum: LLVM ends the process on damaged code."""

    def reduce(self, data: Any) -> tuple[int, bytes]:
        """Return the checksum and the serialised code."""
        content = serialize.dumps(super().reduce(data))
        return zlib.crc32(content), content

    def rebuild(self, target_context: Any, data: tuple[int, bytes]) -> Any:
        """Return the code; raise if its checksum differs."""
        checksum, content = data
        if zlib.crc32(content) != checksum:
            raise ValueError("the file is damaged")
        return super().rebuild(target_context, pickle.loads(content))


class DiskCache(FunctionCache):  # type: ignore[misc] # Numba ships no types
    """Numba's cache on disk, of the package's own arithmetic only.

    A kernel that was compiled with a user's arithmetic would be found again
    after its author has changed it: the cache looks at the kernel's file.
    """

    _impl_class = _ChecksummedCode

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return code from an earlier process; None if there is none or the file is truncated."""
        if not _is_own(sig):
            return None
        try:
            with _without_compiler(target_context):
                return super().load_overload(sig, target_context)
        except Exception:  # whatever unpickling a part of a file raises
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for the next process."""
        if not _is_own(sig):
            return
        try:
            try:
                super().save_overload(sig, data)
            except OSError:
                raise
            except Exception:  # an index that is cut short, or names what has moved since
                self.flush()
                super().save_overload(sig, data)
        except OSError as error:  # a full disk or home must not stop what was compiled
            _warn_once(str(error))


@contextmanager
def _without_compiler(context: Any) -> Iterator[None]:
    """Load what is compiled already without loading all that could compile it.

    The latter takes a third of a second in a new process, and Numba does it again before it
    compiles. What is compiled needs the allocator alone. Numba holds its lock meanwhile.
    """
    context.refresh = partial(rtsys.initialize, context)
    try:
        yield
    finally:
        context.__dict__.pop("refresh", None)


_told: set[str] = set()


def _warn_once(reason: str) -> None:
    """Say, one time in a process, that the next one will have to compile again."""
    if not _told:
        _told.add(reason)
        warnings.warn(
            f"compiled kernels cannot be kept ({reason}); every process compiles them anew. "
            "Set NUMBA_CACHE_DIR to a directory that can be written.",
            stacklevel=2,
        )


def _is_own(sig: Any) -> bool:
    """Whether all arithmetic that the types of arguments name is the package's."""
    waiting = list(getattr(sig, "args", sig))
    while waiting:
        part = waiting.pop()
        if isinstance(part, numba.types.Dispatcher):
            return False
        if isinstance(part, numba.types.BaseNamedTuple):
            if not part.instance_class.__module__.startswith(_OWN):
                return False
            waiting.extend(part)
    return True


def _compile(function: Callable[P, R], *, kept: bool = True, **options: Any) -> Callable[P, R]:
    """Compile without the GIL, cached on disk where a cache directory can be written.

    Numba refuses a cache at decoration time when neither the package directory
    nor the user's cache directory is writable; such an install must still
    import, so it compiles anew in each process.
    """
    options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    compiled = numba.njit(**options)(function)
    try:
        if kept:
            compiled._cache = DiskCache(function)
    except RuntimeError:
        _warn_once("no directory can be written")
    return compiled  # type: ignore[no-any-return]


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile with IEEE arithmetic: sums run in the order written, on every machine.

    Arrays are written to, never made: without counts of who uses them a kernel compiles a tenth
    faster.
    """
    return _compile(function, _nrt=False)


def inner_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile as a kernel that other kernels call; calling it from Python ends the process.

    For what is large or called from several places, with strict arithmetic. Without the part that
    Python would call, and without being copied into its callers, it compiles fastest: the kernels
    of the bounds in 2.5 s where ``part_of_kernel`` takes 3.0 s.
    """
    return _compile(function, _nrt=False, no_cpython_wrapper=True)


def array_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile as a kernel that makes, copies or returns arrays."""
    return _compile(function)


def fast_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile with reordered sums, which lets them vectorise.

    For searches whose result is evaluated again by a strict kernel; never for
    a number that is reported. Makes no arrays.
    """
    return _compile(function, _nrt=False, fastmath={"reassoc", "contract", "nsz"})


def part_of_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile only as a part of the kernels that call it, by their rules of arithmetic.

    Each kernel is optimised together with everything it calls; a chain of
    compiled functions would be optimised once per link.
    """
    return _compile(function, kept=False, inline="always")


def dispatch_on_type(function: Callable[P, R]) -> Callable[P, R]:
    """Let the type of the first argument supply the body: its method of the same name.

    The type is a NamedTuple class whose method is plain Python. A kernel then
    compiles for the arithmetic of the values it is given, and for no other, by
    its own rules of arithmetic.
    """
    name = function.__name__

    def body(first: Any, *others: Any) -> Callable[..., Any]:
        del others
        return getattr(first.instance_class, name)  # type: ignore[no-any-return]

    overload(
        function,
        jit_options={"error_model": "numpy", "no_cfunc_wrapper": True, "no_cpython_wrapper": True},
        strict=False,
    )(body)
    return function


def writable(array: A) -> A:
    """The array itself, or a copy of a read-only one: kernels compile a second time for those."""
    return array if array.flags.writeable else array.copy()
