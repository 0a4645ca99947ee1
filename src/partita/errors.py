"""Every error partita raises on purpose.

Each says what came, what was expected and what to do. All derive from
:class:`PartitaError`, and from the built-in a caller would look for.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
"""Around an argument in a message: Unicode keeps these out of all text that is exchanged."""


def arg(**arguments: object) -> str:
    """Arguments as a message names them, ``prob=2``, and ``prob=...`` for an Ellipsis.

    They are marked, so that a command line can say ``--prob 2`` there and nowhere else. To be
    used in the message of a :class:`Worded` only, which takes the marks out.
    """
    said = ((name, "..." if value is ... else repr(value)) for name, value in arguments.items())
    return ", ".join(mark(name, value) for name, value in said)


def mark(name: str, value: str) -> str:
    """One argument, whose value is in words already."""
    return f"{_OPEN}{name}={value}{_CLOSE}"


class Worded(BaseException):
    """An error or a warning that knows where its message speaks of arguments.

    Attributes
    ----------
    marked : str
        The message with its marks, for a message that is made from it.
    """

    marked: str = ""

    def __init__(self, *args: object, **options: Any) -> None:
        self.marked = str(args[0]) if args else ""
        plain = (self.worded("{}={}".format), *args[1:]) if args else ()
        super().__init__(*plain, **options)  # some built-ins, such as ImportError, take options

    def worded(self, say: Callable[[str, str], str]) -> str:
        """The message, where ``say`` words each argument from its name and its value."""
        text, *rest = self.marked.split(_OPEN)
        for piece in rest:
            argument, _, after = piece.partition(_CLOSE)
            name, _, value = argument.partition("=")
            text += say(name, value) + after
        return text


class PartitaError(Worded, Exception):
    """Base class of all errors raised on purpose.

    Attributes
    ----------
    argument : str or None
        The argument that the error is about, where it is about one.
    """

    argument: str | None = None

    def __init__(self, *args: object, argument: str | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        if argument is not None:
            self.argument = argument


class PartitaWarning(Worded, UserWarning):
    """Something was understood in one of several ways; the message says in which."""


class Interrupted(Worded, KeyboardInterrupt):
    """Ctrl-C, with what is left of the work."""


@contextmanager
def about(argument: str, *over: str) -> Iterator[None]:
    """Errors raised inside are about this argument, unless they name another one.

    ``over`` are the names that whoever is called inside has for it. Around a function it is a
    decorator.
    """
    try:
        yield
    except PartitaError as error:
        if error.argument is None or error.argument in over:
            error.argument = argument
        raise


class InvalidInputError(PartitaError, ValueError):
    """An argument has a value that cannot be used."""


class InvalidLabelsError(InvalidInputError):
    """Cluster labels or draws are missing, ragged, not whole, or of the wrong shape."""


class FractionalLabelsError(InvalidLabelsError):
    """Labels have fractional parts, as measurements have: what came may be data and no draws."""


class InvalidWeightsError(InvalidInputError):
    """Weights of draws are negative, zero, missing, or of the wrong length."""

    argument = "weights"


class InvalidDataError(InvalidInputError):
    """Observations given to a sampler cannot be used by the chosen kernel."""

    argument = "data"


class UnknownNameError(InvalidInputError):
    """A loss, method, kernel or file suffix of that name does not exist."""


class NotSupportedError(PartitaError, TypeError):
    """The combination asked for has no meaning, such as a ball under a loss that is no metric."""


class FileFormatError(PartitaError, ValueError):
    """A file is empty, truncated, unsafe or not in the format its name promises."""

    argument = "path"


class MissingDependencyError(PartitaError, ImportError):
    """An optional library is needed; the message names the extra that installs it."""


class MemoryLimitError(PartitaError, MemoryError):
    """The result would not fit into memory; the message names the alternative."""


class ClusterError(PartitaError, ConnectionError):
    """A cluster that work was sent to went away, or its workers die of the work."""
