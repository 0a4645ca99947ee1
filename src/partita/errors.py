"""Every error partita raises on purpose.

Each says what came, what was expected and what to do. All derive from
:class:`PartitaError`, and from the built-in a caller would look for.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class PartitaError(Exception):
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


class PartitaWarning(UserWarning):
    """The input can be read in more than one way; the message says how it was read."""


class Interrupted(KeyboardInterrupt):
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
    """Labels have fractional parts, as measurements have: they may be data rather than draws."""


class InvalidWeightsError(InvalidInputError):
    """Weights of draws are negative, zero, missing, or of the wrong length."""

    argument = "weights"


class InvalidDataError(InvalidInputError):
    """Observations given to a sampler cannot be used by the chosen kernel."""

    argument = "data"


class UnknownNameError(InvalidInputError):
    """A loss, method, kernel or file suffix of that name does not exist."""


class ReweightingError(PartitaError, ValueError):
    """Draws under one prior say too little about another: too few of them count.

    Attributes
    ----------
    n_effective : float
        Kish's effective number of draws under the weights.
    ess : float
        The effective number with the correlation within chains.
    k_hat : float
        Shape of the weights' Pareto tail; NaN where it was not fitted.
    """

    argument = "prior"

    def __init__(
        self, *args: object, n_effective: float, ess: float, k_hat: float, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self.n_effective, self.ess, self.k_hat = n_effective, ess, k_hat


class NotSupportedError(PartitaError, TypeError):
    """The request has no meaning, such as a ball under a loss that is not a metric."""


class FileFormatError(PartitaError, ValueError):
    """A file is empty, truncated, unsafe or not in the format its name promises."""

    argument = "path"


class MissingDependencyError(PartitaError, ImportError):
    """An optional library is needed; the message names the extra that installs it."""


class MemoryLimitError(PartitaError, MemoryError):
    """The result would not fit into memory; the message names the alternative."""


class ClusterError(PartitaError, ConnectionError):
    """The Dask cluster was lost, or its workers died of the work that was sent to them."""
