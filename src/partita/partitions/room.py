"""Room for canonical labels while they are read: in memory, or in a file that is then mapped.

Where labels go is set for the time of one reading, and every place where labels
become canonical asks for it: readers of files need not know about it.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from partita._memory import readable_size
from partita.errors import MemoryLimitError
from partita.partitions.pieces import stores

_log = logging.getLogger("partita")

Small = NDArray[np.unsignedinteger[Any]]

_IN_FILE: ContextVar[bool] = ContextVar("in_file", default=False)


@contextmanager
def labels_in_file(wanted: bool = True) -> Iterator[None]:
    """Labels read in this block go to a temporary file."""
    token = _IN_FILE.set(wanted)
    try:
        yield
    finally:
        _IN_FILE.reset(token)


def are_in_file() -> bool:
    """Whether labels go to a file."""
    return _IN_FILE.get()


class MemoryRoom:
    """Labels growing in memory, in the smallest dtype that has sufficed so far."""

    def __init__(self, n_items: int, expected: int) -> None:
        self._labels: Small = np.empty((max(1, expected), n_items), np.uint8)
        self._n_rows = 0

    def add(self, rows: NDArray[np.int32], dtype: np.dtype[Any]) -> None:
        """Append canonical rows that need this dtype."""
        if dtype.itemsize > self._labels.dtype.itemsize:
            self._labels = self._labels.astype(dtype)
        needed = self._n_rows + len(rows)
        if needed > self._labels.shape[0]:
            self._resize(max(needed, self._labels.shape[0] * 3 // 2))
        self._labels[self._n_rows : needed] = rows
        self._n_rows = needed

    def finish(self) -> Small:
        """The labels; the room must not be used afterwards."""
        self._resize(self._n_rows)
        return self._labels

    def _resize(self, rows: int) -> None:
        # In place: a second array of the new size would double the memory for a moment.
        if rows != self._labels.shape[0]:
            self._labels.resize((rows, self._labels.shape[1]), refcheck=False)


class FileRoom:
    """Labels growing in a file without a name, which is gone when nobody maps it any more."""

    def __init__(self, n_items: int) -> None:
        self._n_items = n_items
        self._file = _new_file()
        self._dtype: np.dtype[Any] = np.dtype(np.uint8)
        self._n_rows = 0

    def add(self, rows: NDArray[np.int32], dtype: np.dtype[Any]) -> None:
        """Append canonical rows that need this dtype."""
        if dtype.itemsize > self._dtype.itemsize:
            self._widen(dtype)
        self._write(rows)
        self._n_rows += len(rows)

    def finish(self) -> Small:
        """The labels, mapped; the room must not be used afterwards."""
        self._file.flush()
        found = self._mapped()
        self._file.close()  # the map keeps it
        _log.warning(
            "the labels are kept in a temporary file of %s in %s, for as long as the draws are "
            "used; TMPDIR chooses another directory.",
            readable_size(found.nbytes),
            tempfile.gettempdir(),
        )
        return found

    def __del__(self) -> None:
        self._file.close()  # reading failed

    def _mapped(self) -> Small:
        shape = (self._n_rows, self._n_items)
        return np.memmap(self._file, self._dtype, "r", 0, shape).view(np.ndarray)

    def _widen(self, dtype: np.dtype[Any]) -> None:
        if self._n_rows == 0:
            self._dtype = dtype
            return
        self._file.flush()
        narrow, old = self._mapped(), self._file
        self._file, self._dtype = _new_file(), dtype
        for where in stores(self._n_rows, self._n_items):
            self._write(narrow[where])
        old.close()

    def _write(self, rows: NDArray[Any]) -> None:
        try:
            self._file.write(np.ascontiguousarray(rows, self._dtype).data)
        except OSError as error:
            raise MemoryLimitError(
                f"the labels do not fit into {tempfile.gettempdir()} ({error}). Set TMPDIR to a "
                "directory with more room."
            ) from error


def _new_file() -> IO[bytes]:
    return tempfile.TemporaryFile(prefix="partita-")


def room_for(n_items: int, expected: int) -> MemoryRoom | FileRoom:
    """Room where labels go; in memory for as many draws as are expected."""
    return FileRoom(n_items) if are_in_file() else MemoryRoom(n_items, expected)
