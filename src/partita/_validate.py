"""Scalars that users give: each function returns the cleaned value or says what was expected.

Every error names the argument it is about, so that a command line or another
front can speak of its own option instead.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from partita.errors import InvalidInputError, PartitaError, UnknownNameError

Rng: TypeAlias = int | np.random.SeedSequence | np.random.Generator
"""What says which random numbers come: a seed, a SeedSequence or a Generator."""

Name = TypeVar("Name", bound=str)


def whole(value: object, name: str, *, least: int = 0, most: int | None = None) -> int:
    """A whole number between ``least`` and ``most``.

    Examples
    --------
    >>> from partita._validate import whole
    >>> whole(3, "n")
    3
    >>> whole(2.5, "thin", least=1)
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
    value: object, name: str, expected: str = "a probability above 0 and at most 1, such as 0.95"
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


def seconds(value: object) -> float | None:
    """A limit of time; None where there is none, which infinity says too."""
    if value is None or (isinstance(value, (float, np.floating)) and value == math.inf):
        return None
    return positive(value, "time_limit", "a positive number of seconds")


def texts(value: object, name: str) -> tuple[str, ...]:
    """Several names, each as text."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        if isinstance(value, str) and value:  # the letters of a word are names too
            return tuple(value)
        raise unexpected(value, name, "a sequence of names")
    return tuple(str(each) for each in value)


def positions(value: object, name: str) -> NDArray[Any]:
    """A flat array of whatever picks: numbers, a mask or names."""
    try:
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


def flag(value: object, name: str) -> bool:
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
    return Path(value)


@contextmanager
def called_rightly(function: object, argument: str, expected: str) -> Iterator[None]:
    """What a user's function raises when it is tried, as an error about that argument."""
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
