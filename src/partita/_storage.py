"""Canonical labels in as few bytes as they need: cleaning, chunks, buffers in memory or a file."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from numbers import Real
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike

from partita._resources import readable_size
from partita._tolerance import SUM
from partita._validate import choice, plain_array, repeated, strings
from partita._wording import KINDS, Kind
from partita.errors import (
    InvalidInputError,
    InvalidLabelsError,
    InvalidWeightsError,
    MemoryLimitError,
    about,
)
from partita.kernels.arrays import Array, Floats, Int32s, Ints, Unsigned
from partita.labels import current_noise_rule, first_appearance, whole_labels

_MOST_DRAWS, _MOST_LABELS = 2_048, 1 << 22
"""Draws and labels of a block: enough to be worth a task, small enough to convert."""

_CHUNK_BLOCKS = 4
"""Blocks of one chunk."""

_GROUPS = 32
"""Groups at the most: each sum that travels may be as large as the answer."""


def block_rows(n_items: int) -> int:
    """Draws of a block."""
    return max(1, min(_MOST_DRAWS, _MOST_LABELS // n_items))


def chunk_rows(n_items: int) -> int:
    """Draws of a chunk: those that lie together, in one buffer or on one worker."""
    return _CHUNK_BLOCKS * block_rows(n_items)


def chunk_slices(n_draws: int, n_items: int) -> list[slice]:
    """The chunks of all draws."""
    return cut(0, n_draws, chunk_rows(n_items))


def block_slices(n_draws: int, n_items: int, rows: int | None = None) -> list[slice]:
    """Blocks of a pass: of ``rows`` draws, or of the usual number, within chunks."""
    step = block_rows(n_items) if rows is None else rows
    return [
        block
        for chunk in chunk_slices(n_draws, n_items)
        for block in cut(chunk.start, chunk.stop, step)
    ]


def block_groups(n_draws: int, n_items: int, rows: int | None = None) -> list[list[slice]]:
    """Blocks in the groups whose sums are made first; every group is one block where few are."""
    work = block_slices(n_draws, n_items, rows)
    if len(work) <= _GROUPS:
        return [[piece] for piece in work]
    where = chunk_slices(n_draws, n_items)
    if len(where) >= _GROUPS:
        together = -(-len(where) // _GROUPS)
        ends = [s.stop for s in where[together - 1 : -1 : together]]
    else:
        ends = []
        for store in where:
            mine = [p.stop for p in work if store.start < p.stop <= store.stop]
            step = -(-len(mine) // (_GROUPS // len(where)))
            ends += [*mine[step - 1 : -1 : step], store.stop]
        ends = ends[:-1]
    found: list[list[slice]] = [[]]
    for piece in work:
        found[-1].append(piece)
        if len(found) <= len(ends) and piece.stop == ends[len(found) - 1]:
            found.append([])
    return found


def cut(start: int, stop: int, step: int) -> list[slice]:
    """Slices of ``step`` draws; the last may be shorter."""
    return [slice(at, min(at + step, stop)) for at in range(start, stop, step)]


_log = logging.getLogger("partita")

_IN_FILE: ContextVar[bool] = ContextVar("in_file", default=False)


@contextmanager
def use_memmap_buffer(wanted: bool = True) -> Iterator[None]:
    """Labels read in this block go to a temporary file."""
    token = _IN_FILE.set(wanted)
    try:
        yield
    finally:
        _IN_FILE.reset(token)


def uses_memmap_buffer() -> bool:
    """Whether labels go to a file."""
    return _IN_FILE.get()


class LabelBuffer:
    """Labels growing in memory, in the smallest dtype that has sufficed so far."""

    def __init__(self, n_items: int, expected: int) -> None:
        self._labels: Unsigned = np.empty((max(1, expected), n_items), np.uint8)
        self._n_rows = 0

    def add(self, rows: Int32s, dtype: np.dtype[Any]) -> None:
        """Append canonical rows that need this dtype."""
        if dtype.itemsize > self._labels.dtype.itemsize:
            self._labels = self._labels.astype(dtype)
        needed = self._n_rows + len(rows)
        if needed > self._labels.shape[0]:
            self._resize(max(needed, self._labels.shape[0] * 3 // 2))
        self._labels[self._n_rows : needed] = rows
        self._n_rows = needed

    def finish(self) -> Unsigned:
        """The labels; the buffer must not be used afterwards."""
        self._resize(self._n_rows)
        return self._labels

    def _resize(self, rows: int) -> None:
        # In place: a second array of the new size would double the memory for a moment.
        if rows != self._labels.shape[0]:
            self._labels.resize((rows, self._labels.shape[1]), refcheck=False)


class MemmapBuffer:
    """Labels growing in a file without a name, which is gone when nobody maps it any more."""

    def __init__(self, n_items: int) -> None:
        self._n_items = n_items
        self._file = _new_file()
        self._dtype: np.dtype[Any] = np.dtype(np.uint8)
        self._n_rows = 0

    def add(self, rows: Int32s, dtype: np.dtype[Any]) -> None:
        """Append canonical rows that need this dtype."""
        if dtype.itemsize > self._dtype.itemsize:
            self._widen(dtype)
        self._write(rows)
        self._n_rows += len(rows)

    def finish(self) -> Unsigned:
        """The labels, mapped; the buffer must not be used afterwards."""
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

    def _mapped(self) -> Unsigned:
        shape = (self._n_rows, self._n_items)
        return np.memmap(self._file, self._dtype, "r", 0, shape).view(np.ndarray)

    def _widen(self, dtype: np.dtype[Any]) -> None:
        if self._n_rows == 0:
            self._dtype = dtype
            return
        self._file.flush()
        narrow, old = self._mapped(), self._file
        self._file, self._dtype = _new_file(), dtype
        for where in chunk_slices(self._n_rows, self._n_items):
            self._write(narrow[where])
        old.close()

    def _write(self, rows: Array) -> None:
        try:
            self._file.write(np.ascontiguousarray(rows, self._dtype).data)
        except OSError as error:
            raise MemoryLimitError(
                f"the labels do not fit into {tempfile.gettempdir()} ({error}). Set TMPDIR to a "
                "directory with more room."
            ) from error


def _new_file() -> IO[bytes]:
    return tempfile.TemporaryFile(prefix="partita-")


def label_buffer(n_items: int, expected: int) -> LabelBuffer | MemmapBuffer:
    """Return a buffer for labels, in memory or in a file."""
    return MemmapBuffer(n_items) if uses_memmap_buffer() else LabelBuffer(n_items, expected)


BLOCK_LABELS = 1 << 22
"""Labels converted at a time, so that no temporary grows with the number of draws."""


def rows_per_block(n_items: int) -> int:
    """Draws converted at a time."""
    return max(1, BLOCK_LABELS // max(1, n_items))


def smallest_unsigned(highest: int) -> np.dtype[np.unsignedinteger[Any]]:
    """The smallest unsigned dtype that holds labels 0 … highest."""
    return np.min_scalar_type(highest)


def refuse_draws_holder(obj: object) -> None:
    """An array has no weights, chains or names to lose; what may have some goes by as_draws."""
    kind = type(obj)
    if hasattr(kind, "__draws__") or isinstance(obj, (str, os.PathLike)):
        raise InvalidLabelsError(
            f"a {kind.__name__} was given; Draws are made of an array of labels, shape (n_draws, "
            "n_items). as_draws takes files and whatever holds draws."
        )
    if hasattr(kind, "__labels__"):
        raise InvalidLabelsError(
            f"a {kind.__name__} was given, which is one partition; expected an array of labels, "
            "shape (n_draws, n_items)."
        )


def refuse_empty(n_draws: int, n_items: int) -> None:
    """Refuse draws without a draw or without an item."""
    for size, what, part in ((n_draws, "draws", "row"), (n_items, "items", "column")):
        if size == 0:
            raise InvalidLabelsError(f"there are no {what}; at least one {part} is needed.")


def refuse_axes(shape: tuple[int, ...], what: str = "draws have shape") -> None:
    """Refuse an array that is not (draw, item) or (chain, draw, item)."""
    if len(shape) not in (2, 3):
        single = " For a single draw, pass labels[None, :]." if len(shape) == 1 else ""
        raise InvalidLabelsError(
            f"{what} {shape}; expected (draw, item) or (chain, draw, item).{single}"
        )


def table_of_draws(values: Array) -> Array:
    """Labels of at least one draw and one item."""
    if values.ndim == 1 and values.size:
        raise InvalidLabelsError(
            f"draws have shape {values.shape}; expected (n_draws, n_items). "
            "For a single draw, pass labels[None, :]."
        )
    if values.ndim != 2:
        raise InvalidLabelsError(
            f"draws have shape {values.shape}; expected (n_draws, n_items). "
            "Use as_draws for (chain, draw, item) arrays."
        )
    refuse_empty(*values.shape)
    return values


def canonicalise(values: Array, columns: Ints | None = None) -> tuple[Unsigned, Ints]:
    """Canonical labels in the smallest dtype, and each draw's number of clusters.

    Of all items, or of some ``columns``, which are picked block by block.
    """
    n_draws, n_items = values.shape[0], values.shape[1] if columns is None else columns.size
    buffer = label_buffer(n_items, n_draws)
    counts = np.empty(n_draws, np.int64)
    for part in cut(0, n_draws, rows_per_block(n_items)):
        rows = values[part] if columns is None else values[part, columns]
        # No name for the whole labels, nor for a block when the next is made: one at a time.
        block, counts[part] = first_appearance(whole_labels(rows, "draws", first_draw=part.start))
        buffer.add(block, smallest_unsigned(int(counts[part].max()) - 1))
        del block
    return buffer.finish(), counts


def canonical_counts(values: Array) -> Ints | None:
    """Each draw's number of clusters, if the labels are those that ``canonicalise`` would make.

    None where they are not, or would be read by a rule for noise.
    """
    plain = values.ndim == 2 and values.dtype.kind == "u" and values.flags.c_contiguous
    if not plain or not values.size or current_noise_rule() is not None:
        return None
    n_draws, n_items = values.shape
    counts = np.empty(n_draws, np.int64)
    for part in cut(0, n_draws, rows_per_block(n_items)):
        block, counts[part] = first_appearance(values[part].astype(np.int64))
        if not np.array_equal(values[part], block):
            return None
    return counts if smallest_unsigned(int(counts.max()) - 1) == values.dtype else None


def clean_weights(weights: ArrayLike, n_draws: int) -> Floats:
    """Positive weights that sum to 1."""
    given = plain_array(weights, "weights", InvalidWeightsError)
    try:
        if given.dtype.kind == "c":  # which NumPy would cut to its real part
            raise TypeError
        values = np.array(given, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidWeightsError("weights must be numbers, one per draw.") from None
    if values.shape != (n_draws,):
        raise InvalidWeightsError(
            f"weights have shape {values.shape}; expected one per draw, shape ({n_draws},)."
        )
    if not values.any():
        raise InvalidWeightsError("all weights are zero; at least one draw must count.")
    if (odd := np.flatnonzero(~(np.isfinite(values) & (values > 0.0)))).size:
        raise InvalidWeightsError(
            f"weights[{odd[0]}] is {values[odd[0]]}; weights must be finite, neither zero nor "
            "negative. Remove draws that should not count."
        )
    # Weights that sum to 1 already are kept bit by bit, so that stored draws come back equal.
    if values.max() <= 1.0 and abs(values.sum() - 1.0) < SUM:
        return values
    with np.errstate(over="ignore"):
        total = values.sum()
    if not np.isfinite(total):  # the sum of large weights is beyond the largest float
        values = values / values.max()
        total = values.sum()
    shares = np.asarray(values / total)
    if not shares.all():
        where = int(np.flatnonzero(shares == 0)[0])
        raise InvalidWeightsError(
            f"weights[{where}] is {values[where]}, too small beside the largest "
            f"({values.max()}) to count at all. Remove draws that should not count."
        )
    return shares


def clean_chain(chain: ArrayLike, n_draws: int) -> Array:
    """One chain id per draw: integers where all are whole numbers, else text; none is missing."""
    given = chain.tolist() if isinstance(chain, np.ma.MaskedArray) else chain
    ids = np.array(plain_array(given, "chain", InvalidInputError))
    if ids.shape != (n_draws,):
        raise InvalidInputError(
            f"chain has shape {ids.shape}; expected one id per draw, shape ({n_draws},)."
        )
    kind, expected = ids.dtype.kind, "expected whole numbers or text, one per draw."
    if kind in "iu" or (kind == "U" and not (ids == "").any()):
        return ids
    if kind not in "UTOfb":
        raise InvalidInputError(f"chain ids have dtype {ids.dtype}; {expected}")
    found: list[Any] = ids.tolist()
    for draw, value in enumerate(found):
        if value is None or type(value).__name__ == "NAType" or value == "" or value != value:
            raise InvalidInputError(f"the chain id of draw {draw} is missing; {expected}")
    if any(isinstance(value, str) for value in found):
        return np.array([str(value) for value in found])
    for draw, value in enumerate(found):
        limit = 2**53 if isinstance(value, float) else 2**63  # floats skip whole numbers beyond
        whole = isinstance(value, (Real, Decimal)) and float(value).is_integer()
        if not whole or not -limit < value < limit:
            raise InvalidInputError(f"the chain id of draw {draw} is {value!r}; {expected}")
    return np.array([int(value) for value in found], np.int64)


def clean_kind(kind: Kind, chain: object) -> Kind:
    """Draws of a posterior, or runs of an ensemble, which are in no chain."""
    cleaned = choice(kind, "kind", KINDS)
    if cleaned == "ensemble" and chain is not None:
        raise InvalidInputError(
            "chain=... was given with kind='ensemble': runs of an ensemble are in no chains. Leave "
            "chain out, or declare draws of a posterior with kind='posterior'.",
            argument="chain",
        )
    return cleaned


@about("item_names")
def clean_names(names: Sequence[str], n_items: int) -> tuple[str, ...]:
    """One unique name per item."""
    cleaned = strings(names, "item_names")
    if len(cleaned) != n_items:
        raise InvalidInputError(
            f"{len(cleaned)} item names were given for {n_items} items; expected one per item."
        )
    if twice := repeated(cleaned):
        raise InvalidInputError(f"item name {twice[0]!r} appears twice; names must be unique.")
    return cleaned
