"""Values that users give, as clean values: scalars, choices, paths and arrays.

Each function returns the cleaned value or raises an error that says what was expected.
"""

from __future__ import annotations

import errno
import math
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from numbers import Number, Real
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from partita.errors import (
    FractionalLabelsError,
    InvalidDataError,
    InvalidInputError,
    InvalidLabelsError,
    PartitaError,
    UnknownNameError,
)
from partita.kernels.arrays import Array, Bools, Ints

Rng: TypeAlias = int | np.random.SeedSequence | np.random.Generator
"""What says which random numbers come: a seed, a SeedSequence or a Generator."""

Name = TypeVar("Name", bound=str)


def integer(value: object, name: str, *, least: int = 0, most: int | None = None) -> int:
    """A whole number between ``least`` and ``most``.

    Examples
    --------
    >>> from partita._validate import integer
    >>> integer(3, "n")
    3
    >>> integer(2.5, "thin", least=1)
    Traceback (most recent call last):
    ...
    partita.errors.InvalidInputError: thin=2.5; expected a whole number of at least 1.
    """
    bounds = f"of at least {least}" if most is None else f"from {least} to {most:,}"
    cleaned = _integer(value)
    if cleaned is None or cleaned < least or (most is not None and cleaned > most):
        raise unexpected(value, name, f"a whole number {bounds}")
    return cleaned


def jobs(value: object) -> int | None:
    """A number of threads; negative numbers count from the last core, None says nothing."""
    cleaned = _integer(value)
    if value is not None and not cleaned:
        expected = "a positive number of threads, -1 for every core, or None for the default"
        raise unexpected(value, "n_jobs", expected)
    return cleaned


def _integer(value: object) -> int | None:
    """A whole number of Python or NumPy; None for anything else, True and False included."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    return None


def number(value: object, name: str, expected: str = "a finite number") -> float:
    """A finite number."""
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        with suppress(OverflowError):  # a whole number of hundreds of digits
            if math.isfinite(cleaned := float(value)):
                return cleaned
    raise unexpected(value, name, expected)


def positive(value: object, name: str, expected: str = "a positive number") -> float:
    """A finite number above 0."""
    cleaned = number(value, name, expected)
    if cleaned <= 0.0:
        raise unexpected(value, name, expected)
    return cleaned


def probability(
    value: object,
    name: str = "prob",
    expected: str = "a probability above 0 and at most 1, such as 0.95",
) -> float:
    """A number above 0 and at most 1."""
    cleaned = positive(value, name, expected)
    if cleaned > 1.0:
        hint = f" Give {cleaned / 100:g}, not {cleaned:g}." if cleaned <= 100.0 else ""
        said = f"{name}={shown(value)}; expected {expected}.{hint}"
        raise InvalidInputError(said, argument=name)
    return cleaned


def between(value: object, name: str, low: float, high: float) -> float:
    """A number strictly between two others."""
    expected = f"a number between {low:g} and {high:g}"
    cleaned = number(value, name, expected)
    if not low < cleaned < high:
        raise unexpected(value, name, expected)
    return cleaned


_LONGEST = 1e9
"""Seconds, some thirty years: timers of the operating system overflow beyond."""


def seconds(value: object) -> float | None:
    """A limit of time; None where there is none, as where it is longer than timers count."""
    if value is None or (isinstance(value, (float, np.floating)) and value == math.inf):
        return None
    limit = positive(value, "time_limit", "a positive number of seconds")
    return limit if limit < _LONGEST else None


def strings(value: object, name: str) -> tuple[str, ...]:
    """Several names, each as text."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        if isinstance(value, str) and value:  # the letters of a word are names too
            return tuple(value)
        raise unexpected(value, name, "a sequence of names")
    try:
        return tuple(str(each) for each in value)
    except Exception:  # whatever an object of a user raises
        raise unexpected(value, name, "a sequence of names") from None


def repeated(names: Iterable[Name]) -> list[Name]:
    """Names that occur more than once."""
    return [name for name, times in Counter(names).items() if times > 1]


def indexer(value: object, name: str) -> Array:
    """A flat array of whatever picks: numbers, a mask or names."""
    try:
        refuse_views(value, name, InvalidInputError, 3)
        found = np.atleast_1d(np.asarray(value))
    except Exception:  # whatever an object of a user raises
        found = np.empty((0, 0))
    if found.ndim != 1:
        raise unexpected(value, name, "positions, a mask or names in one row")
    return found


def choice(value: object, name: str, known: Collection[Name], expected: str = "one of {}") -> Name:
    """One of the known names, which stand in the message where the braces are."""
    if not isinstance(value, str) or value not in known:
        listed = ", ".join(repr(entry) for entry in known)
        raise unexpected(value, name, expected.format(listed), UnknownNameError)
    return value  # type: ignore[return-value]


def choice_or_none(value: object, name: str, known: Collection[Name]) -> Name | None:
    """One of the known names, or None."""
    return None if value is None else choice(value, name, known, "{} or None")


def text(value: object, name: str, expected: str = "text") -> str:
    """Text."""
    if not isinstance(value, str):
        raise unexpected(value, name, expected)
    return value


def text_or_none(value: object, name: str) -> str | None:
    """Text, or None."""
    return None if value is None else text(value, name, "text or None")


def refuse_var_name(var_name: str | None, what: str) -> None:
    """Refuse the name of a variable for what has no variables."""
    if var_name is not None:
        raise InvalidInputError(
            f"var_name={var_name!r} was given for {what}, which has no variables.",
            argument="var_name",
        )


def boolean(value: object, name: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise unexpected(value, name, "True or False")
    return bool(value)


def generator(value: Rng | None, *, default: int | None = 0) -> np.random.Generator:
    """A generator of random numbers; ``None`` means the seed ``default``."""
    chosen = default if value is None else value
    if isinstance(chosen, np.random.Generator):
        return chosen
    if chosen is None or isinstance(chosen, np.random.SeedSequence):
        return np.random.default_rng(chosen)
    seed = _integer(chosen)
    if seed is not None and seed >= 0:
        return np.random.default_rng(seed)
    expected = (
        "a whole number of at least 0, a numpy.random.SeedSequence or a numpy.random.Generator"
    )
    raise unexpected(value, "rng", expected)


def path(value: object, name: str = "path") -> Path:
    """A path of the file system."""
    if not isinstance(value, (str, os.PathLike)) or isinstance(value, bytes):
        raise InvalidInputError(
            f"{name} is a {type(value).__name__}; expected a path: text or a pathlib.Path.",
            argument=name,
        )
    if "\0" in os.fspath(value):
        raise unexpected(value, name, "a path without NUL characters")
    try:
        os.lstat(value)
    except (OSError, ValueError) as error:
        if not isinstance(error, OSError) or error.errno == errno.ENAMETOOLONG:
            raise unexpected(value, name, "a path that a file system can have") from None
    return Path(value)


@contextmanager
def translate_call_errors(function: object, argument: str, expected: str) -> Iterator[None]:
    """Turn what a user's function raises when it is tried into an error about that argument."""
    try:
        yield
    except PartitaError:
        raise
    except Exception as error:
        raise InvalidInputError(
            f"{argument}={shown(function)} failed when it was tried ({type(error).__name__}: "
            f"{error}); expected {expected}.",
            argument=argument,
        ) from error


def unexpected(
    value: object, name: str, expected: str, kind: type[InvalidInputError] = InvalidInputError
) -> InvalidInputError:
    """The error about an argument: what came, and what was expected."""
    return kind(f"{name}={shown(value)}; expected {expected}.", argument=name)


def shown(value: object) -> str:
    """A value as it stands in a message: its repr, cut where it is long."""
    try:
        text = repr(value)
    except Exception:  # of a user's class
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}…"


def plain_array(
    obj: Any, what: str, error: type[InvalidInputError] = InvalidLabelsError, *, axes: int = 3
) -> Array:
    """An array in memory from nested sequences of at most ``axes`` levels, or any array type.

    Masked values and objects that only pretend to be sequences are refused: NumPy would bring
    back the values beneath a mask, and read the views of an AnnData without end.
    """
    refuse_masked(obj, what, error)
    if not _is_array(obj) and not isinstance(obj, (list, tuple, str, bytes, Number, Sequence)):
        raise _unreadable(obj, what, error)
    refuse_views(obj, what, error, axes)
    if isinstance(obj, (list, tuple)):
        _refuse_misaligned(obj, what, error)
    try:
        values = np.asarray(obj)
    except ValueError as failure:
        if isinstance(obj, (list, tuple)):
            raise _ragged(obj, what, error) from None
        raise _unreadable(obj, what, error, failure) from failure
    except Exception as failure:
        raise _unreadable(obj, what, error, failure) from failure
    if values.dtype.kind in "US" and isinstance(obj, (list, tuple)):
        # NumPy turns numbers and NaN between strings into strings, and drops NULs behind bytes.
        return np.asarray(obj, dtype=object)
    return values


def _is_array(obj: Any) -> bool:
    if any(hasattr(type(obj), name) for name in ("__array__", "__array_interface__")):
        return True
    try:
        memoryview(obj)
    except TypeError:
        return hasattr(type(obj), "__array_struct__")
    return True


def has(obj: Any, name: str) -> bool:
    """Whether an object of a user has an attribute; not where it raises when asked."""
    try:
        return hasattr(obj, name)
    except Exception:  # whatever an object of a user raises
        return False


def is_vector(obj: Any) -> bool:
    """Whether this has one axis: a vector, a Series, a column of Arrow."""
    try:
        return len(obj.shape) == 1
    except Exception:  # whatever an object of a user raises
        kind = type(obj)
        return hasattr(kind, "combine_chunks") and not hasattr(kind, "column_names")


_CELLS = frozenset({int, float, bool, str, bytes, type(None)})


def refuse_views(
    obj: Any, what: str, error: type[InvalidInputError] = InvalidDataError, axes: int = 3
) -> None:
    """Refuse lists nested too deep, and what NumPy would read as sequences of views, for hours."""
    if isinstance(obj, (list, tuple)):
        if axes == 0:
            raise error(
                f"{what} came as lists nested too deeply; expected an array, or lists of lists."
            )
        if not set(map(type, obj)) <= _CELLS:
            for part in obj:
                refuse_views(part, what, error, axes - 1)
    elif (
        hasattr(type(obj), "__getitem__")
        and hasattr(type(obj), "__len__")
        and not isinstance(obj, (str, Sequence))
        and not _is_array(obj)
    ):
        raise _unreadable(obj, what, error)


def _refuse_misaligned(rows: Sequence[Any], what: str, error: type[InvalidInputError]) -> None:
    """Refuse Series of items in different orders: NumPy would read them by position."""
    indexes = [row.index for row in rows if hasattr(type(row), "iloc") and is_vector(row)]
    if any(not index.equals(indexes[0]) for index in indexes[1:]):
        raise error(
            f"{what} came as Series whose indexes differ; each item must stand at one place. "
            "Align them, as pandas.DataFrame(rows) does, or pass their .to_numpy()."
        )


def _unreadable(
    obj: Any, what: str, error: type[InvalidInputError], failure: Exception | None = None
) -> InvalidInputError:
    _refuse_annotated(obj, what, error)
    why = f" ({type(failure).__name__}: {str(failure)[:200]})" if failure is not None else ""
    return error(
        f"{what} came as {type(obj).__name__}, which cannot be read as an array{why}; expected an "
        "array or a table. Convert it first, for example by numpy.asarray, .toarray() or .detach()."
    )


def _refuse_annotated(obj: Any, what: str, error: type[InvalidInputError]) -> None:
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
    if all(np.ndim(row) == 2 for row in obj if isinstance(row, np.ndarray)) and any(
        isinstance(row, np.ndarray) for row in obj
    ):
        return error(
            f"{what} came as matrices of different shapes; expected one array of labels. A matrix "
            "of zeros and ones per draw is a feature allocation: pt.FeatureDraws(matrices)."
        )
    lengths = sorted({len(row) if hasattr(type(row), "__len__") else 1 for row in obj})
    return error(
        f"{what} have rows of different lengths ({', '.join(map(str, lengths[:4]))}); each "
        "partition must label every item."
    )


def stacked(columns: Sequence[Array]) -> Array:
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


def _is_exact(values: Array) -> Bools:
    """Whether floats are whole numbers of a size at which every whole number is a float."""
    largest = 2.0 ** min(np.finfo(values.dtype).nmant + 1, 63)
    with np.errstate(invalid="ignore"):
        found: Bools = (values == np.floor(values)) & (np.abs(values) < largest)
    return found


def integers(values: Array, what: str = "labels", *, first_draw: int = 0) -> Ints:
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
        return _integers_from_floats(values, what, first_draw)
    if kind == "T":  # whose missing values are an object that the dtype names
        return _integers_from_objects(values.astype(object), what, first_draw)
    if kind in "US":
        _refuse_missing(np.asarray(values == ""), f"{what} contain an empty string", first_draw)
        return _codes(values)
    if kind == "O":
        try:
            return _integers_from_objects(values, what, first_draw)
        except PartitaError:
            raise
        except Exception as error:  # whatever objects of a user raise when they are compared
            raise InvalidLabelsError(
                f"{what} hold objects that cannot be compared ({type(error).__name__}: "
                f"{str(error)[:100]}); expected integers, whole-valued floats, booleans or strings."
            ) from error
    raise InvalidLabelsError(
        f"{what} have dtype {values.dtype}; expected integers, whole-valued floats, "
        "booleans or strings."
    )


def _codes(values: Array) -> Ints:
    return np.unique(values, return_inverse=True)[1].reshape(values.shape).astype(np.int64)


def _integers_from_floats(values: Array, what: str, first_draw: int) -> Ints:
    _refuse_missing(np.isnan(values), f"{what} contain NaN", first_draw)
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
    elif what == "draws" and values.ndim == 2:
        hint = (
            " If these are data, one row per item, sample their clusterings first: pt.sample(data)."
        )
    raise FractionalLabelsError(
        f"{what} must be whole numbers, but {what}[{where}] is {value!r}.{hint}"
    )


def _integers_from_objects(values: Array, what: str, first_draw: int) -> Ints:
    flat = values.ravel()
    missing = np.array(
        [v is None or str(v) in ("<NA>", "NaT") or v != v for v in flat], dtype=bool
    ).reshape(values.shape)
    _refuse_missing(missing, f"{what} contain a missing value", first_draw)
    kinds = {str if isinstance(v, str) else type(v) for v in flat}
    if kinds == {bytes} and all(flat):
        return _codes(values)
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
        return _integers_from_floats(floats, what, first_draw)
    return _codes(np.array([int(v) for v in flat] + [None], object)[:-1].reshape(values.shape))


def place_of(mask: Bools, first_draw: int) -> str:
    """Where a mask of labels holds first; ``first_draw`` is the number of its first row."""
    at = [int(i[0]) for i in np.nonzero(mask)]
    return f"item {at[-1]}" if len(at) == 1 else f"draw {at[0] + first_draw}, item {at[-1]}"


def _refuse_missing(mask: Bools, what: str, first_draw: int) -> None:
    if not mask.any():
        return
    raise InvalidLabelsError(
        f"{what} at {place_of(mask, first_draw)}; every item needs a label in every draw. Drop "
        "the item or the draw before partita sees it."
    )
