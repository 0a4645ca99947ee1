"""Labels of any kind as plain arrays of whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from numbers import Number, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.errors import (
    FractionalLabelsError,
    InvalidDataError,
    InvalidInputError,
    InvalidLabelsError,
)
from partita.kernels.arrays import Bools, Ints

_WIDEST = 1 << 22
"""Labels that spread over a wider range are numbered first, to be looked up in a table."""

Labels = NDArray[np.int32]
"""One partition: canonical labels, 0-based in order of first appearance."""


_TILE = 512
"""Draws that are turned together: their rows stay in cache."""


def by_item(labels: NDArray[Any], dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """A copy with one row for each item."""
    turned = np.empty(labels.shape[::-1], dtype)
    for start in range(0, len(labels), _TILE):
        turned[:, start : start + _TILE] = labels[start : start + _TILE].T
    return turned


def plain_array(
    obj: Any, what: str, error: type[InvalidInputError] = InvalidLabelsError, *, axes: int = 3
) -> NDArray[Any]:
    """An array in memory from nested sequences of at most ``axes`` levels, or any array type.

    Masked values and objects that only pretend to be sequences are refused: NumPy would bring
    back the values beneath a mask, and walk through views of an AnnData without end.
    """
    refuse_masked(obj, what, error)
    if not _is_array(obj) and not isinstance(obj, (list, tuple, str, bytes, Number, Sequence)):
        raise _unreadable(obj, what, error)
    _refuse_inside(obj, what, error, axes)
    try:
        values = np.asarray(obj)
    except ValueError as failure:
        if isinstance(obj, (list, tuple)):
            raise _ragged(obj, what, error) from None
        raise _unreadable(obj, what, error, failure) from failure
    except Exception as failure:
        raise _unreadable(obj, what, error, failure) from failure
    if values.dtype.kind == "U" and isinstance(obj, (list, tuple)):
        # NumPy turns numbers and NaN between strings into strings; keep them apart.
        return np.asarray(obj, dtype=object)
    return values


def _is_array(obj: Any) -> bool:
    if any(hasattr(type(obj), name) for name in ("__array__", "__array_interface__")):
        return True
    try:
        memoryview(obj)
    except TypeError:
        return hasattr(obj, "__array_struct__")
    return True


_CELLS = frozenset({int, float, bool, str, bytes, type(None)})


def _refuse_inside(obj: Any, what: str, error: type[InvalidInputError], axes: int) -> None:
    """Refuse lists nested too deep, and elements that NumPy would take for sequences."""
    if isinstance(obj, (list, tuple)):
        if axes == 0:
            raise error(
                f"{what} came as lists nested too deep; expected an array or lists of lists, "
                "shape (draw, item) or (chain, draw, item)."
            )
        if not set(map(type, obj)) <= _CELLS:
            for part in obj:
                _refuse_inside(part, what, error, axes - 1)
    elif (
        hasattr(type(obj), "__getitem__")
        and hasattr(type(obj), "__len__")
        and not isinstance(obj, (str, Sequence))
        and not _is_array(obj)
    ):
        raise _unreadable(obj, what, error)


def _unreadable(
    obj: Any, what: str, error: type[InvalidInputError], failure: Exception | None = None
) -> InvalidInputError:
    refuse_annotated(obj, what, error)
    why = f" ({type(failure).__name__}: {str(failure)[:200]})" if failure is not None else ""
    return error(
        f"{what} came as {type(obj).__name__}, which cannot be read as an array{why}; expected an "
        "array or a table. Convert it first, with numpy.asarray, .toarray() or .detach() say."
    )


def refuse_annotated(
    obj: Any, what: str, error: type[InvalidInputError] = InvalidDataError
) -> None:
    """Refuse AnnData and MuData, which NumPy would walk through view by view without end."""
    if {"anndata", "mudata"} & {cls.__module__.partition(".")[0] for cls in type(obj).__mro__}:
        raise error(
            f"{what} came as {type(obj).__name__}: clusterings in its obs or obsm are summarised "
            "by pt.anndata.summarize(adata, draws=...); to cluster its values, pass an array of "
            "them, such as adata.obsm['X_pca']."
        )


def refuse_masked(obj: Any, what: str, error: type[InvalidInputError] = InvalidLabelsError) -> None:
    """Raise where entries are masked: NumPy would bring back the values beneath."""
    parts = obj if isinstance(obj, (list, tuple)) else [obj]
    for part in parts:
        if isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part):
            place = [int(i[0]) for i in np.nonzero(np.atleast_1d(np.ma.getmaskarray(part)))]
            where = f" at [{', '.join(map(str, place))}]" if np.ndim(part) else ""
            raise error(
                f"{what}: the value{where} is masked (missing); every "
                "one is needed. Drop the item or the draw before partita sees it."
            )


def _ragged(obj: Any, what: str, error: type[InvalidInputError]) -> InvalidInputError:
    lengths = sorted({len(row) if hasattr(type(row), "__len__") else 1 for row in obj})
    return error(
        f"{what} have rows of different lengths ({', '.join(map(str, lengths[:4]))}); each "
        "partition must label every item."
    )


def stacked(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Columns side by side with no label changed: NumPy would round whole numbers to floats."""
    dtypes = {column.dtype for column in columns}
    kinds = {dtype.kind for dtype in dtypes}
    if odd := kinds - set("iubfUSTO"):
        came = next(str(dtype) for dtype in dtypes if dtype.kind in odd)
        raise InvalidLabelsError(
            f"a column has dtype {came}; expected integers, whole-valued floats, booleans or "
            "strings."
        )
    if len(dtypes) == 1 or kinds == {"U"}:
        return np.column_stack(columns)
    if kinds <= set("iubf") and "f" in kinds:
        floats = [column for column in columns if column.dtype.kind == "f"]
        if len(floats) == len(columns) or not all(_is_exact(column).all() for column in floats):
            return np.column_stack(columns)  # what is not whole is refused where labels are checked
        return stacked([c.astype(np.int64) if c.dtype.kind == "f" else c for c in columns])
    if kinds <= set("iub") and np.result_type(*dtypes).kind != "f":
        return np.column_stack(columns)
    return np.column_stack([column.astype(object) for column in columns])


def _is_exact(values: NDArray[Any]) -> Bools:
    """Whether floats are whole numbers of a size at which every whole number is a float."""
    largest = 2.0 ** (np.finfo(values.dtype).nmant + 1)
    with np.errstate(invalid="ignore"):
        found: Bools = (values == np.floor(values)) & (np.abs(values) < largest)
    return found


def integers(
    values: NDArray[Any], what: str = "labels", *, first_draw: int = 0
) -> NDArray[np.int64]:
    """Labels of any accepted kind as int64, with equal labels exactly where they were equal.

    Integers, booleans, whole-valued floats (CmdStan writes 1-based floats) and
    strings are accepted; missing, fractional or infinite labels are refused, and floats so large
    that different whole numbers are one float.
    ``first_draw`` is the number of the first row, for messages about a block.
    """
    kind = values.dtype.kind
    if kind in "iub":
        return values.astype(np.int64, order="C")  # one memory order, one compiled kernel
    if kind == "f":
        return _whole_floats(values, what, first_draw)
    if kind in "UST":
        if values.size and np.any(values == ""):
            raise InvalidLabelsError(
                f"{what} contain an empty string at {_first(values == '', first_draw)}; every "
                "item needs a label in every draw. Drop the item or the draw, or give it a label "
                "of its own."
            )
        return _codes(values)
    if kind == "O":
        return _objects(values, what, first_draw)
    raise InvalidLabelsError(
        f"{what} have dtype {values.dtype}; expected integers, whole-valued floats, "
        "booleans or strings."
    )


def _codes(values: NDArray[Any]) -> Ints:
    return np.unique(values, return_inverse=True)[1].reshape(values.shape).astype(np.int64)


def _whole_floats(values: NDArray[Any], what: str, first_draw: int) -> Ints:
    missing = np.isnan(values)
    if missing.any():
        raise InvalidLabelsError(
            f"{what} contain NaN at {_first(missing, first_draw)}; every item needs a label in "
            "every draw. Drop the item or the draw before partita sees it."
        )
    exact = _is_exact(values)
    if exact.all():
        return values.astype(np.int64, order="C")
    first = tuple(int(i[0]) for i in np.nonzero(~exact))
    where = ", ".join(map(str, (first[0] + first_draw, *first[1:])))
    value = float(values[first])
    if value.is_integer():
        raise InvalidLabelsError(
            f"{what}[{where}] is {value:.17g}, a float of {values.dtype.itemsize * 8} bits beyond "
            "which whole numbers can no longer be told apart; labels may have been merged. Pass "
            "integers or text."
        )
    hint = ""
    square = values.ndim == 2 and values.shape[0] == values.shape[1]
    if square and values.min() >= 0 and values.max() <= 1 and np.allclose(values, values.T):
        hint = (
            " The array is square, symmetric and within [0, 1]: if it is a posterior "
            "similarity matrix, pass it as similarity=…, not as draws."
        )
    raise FractionalLabelsError(
        f"{what} must be whole numbers, but {what}[{where}] is {value!r}.{hint}"
    )


def _objects(values: NDArray[Any], what: str, first_draw: int) -> Ints:
    flat = values.ravel()
    missing = np.array(
        [v is None or str(v) in ("<NA>", "NaT") or v != v for v in flat], dtype=bool
    ).reshape(values.shape)
    if missing.any():
        raise InvalidLabelsError(
            f"{what} contain a missing value at {_first(missing, first_draw)}; every item needs a "
            "label in every draw. Drop the item or the draw before partita sees it."
        )
    kinds = {str if isinstance(v, str) else type(v) for v in flat}
    if kinds == {str}:
        if any(v.endswith("\0") for v in flat):  # which NumPy's own strings would lose
            return _codes(values)
        return integers(flat.astype(str).reshape(values.shape), what, first_draw=first_draw)
    # Not through floats, which would merge different labels above 2^53.
    if all(issubclass(kind, (int, np.integer)) for kind in kinds):
        return _codes(values)
    if not all(issubclass(kind, (Real, Decimal, np.bool_)) for kind in kinds):
        names = ", ".join(sorted(k.__name__ for k in kinds))
        raise InvalidLabelsError(
            f"{what} mix or hold objects of type {names}; expected integers, whole-valued floats, "
            "booleans or strings of one kind."
        )
    floats = np.array([float(v) for v in flat]).reshape(values.shape)
    doubtful = np.array([isinstance(v, (float, np.floating)) for v in flat])
    if doubtful.any() or not np.isfinite(floats).all() or any(v != int(v) for v in flat):
        return _whole_floats(floats, what, first_draw)
    return _codes(np.array([int(v) for v in flat] + [None], object)[:-1].reshape(values.shape))


def _first(mask: Bools, first_draw: int) -> str:
    position = tuple(int(i[0]) for i in np.nonzero(mask))
    if len(position) == 1:
        return f"item {position[0]}"
    return f"draw {position[0] + first_draw}, item {position[1]}"


def first_appearance(rows: NDArray[np.int64], out: Labels) -> NDArray[np.int64]:
    """Write rows of integers as canonical labels; return each row's number of clusters."""
    from partita.kernels.partitions.labels import canonicalise_rows

    lowest, highest = int(rows.min()), int(rows.max())
    if highest - lowest >= _WIDEST:
        rows = np.unique(rows, return_inverse=True)[1].reshape(rows.shape).astype(np.int64)
        lowest, highest = 0, int(rows.max())
    width = highest - lowest + 1
    counts = np.empty(len(rows), np.int64)
    canonicalise_rows(
        rows, lowest, np.zeros(width, np.int64), np.empty(width, np.int32), out, counts
    )
    return counts
