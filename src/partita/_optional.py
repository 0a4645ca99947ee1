"""Import an optional library, or say which extra installs it."""

from __future__ import annotations

import importlib
from typing import Any

from partita.errors import MissingDependencyError


def require(module: str, *, extra: str, purpose: str = "this") -> Any:
    """The imported module, or :class:`MissingDependencyError` naming the extra that installs it.

    ``purpose`` starts the message, as in "reading .parquet files".

    Examples
    --------
    >>> from partita._optional import require
    >>> require("a_library_nobody_has", extra="plot", purpose="drawing")
    Traceback (most recent call last):
    ...
    partita.errors.MissingDependencyError: drawing needs a_library_nobody_has, which is not \
installed. Run: pip install "partita[plot]"
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        # Installed but failing (a broken wheel, say): the cause must not hide behind the advice.
        missing = isinstance(error, ModuleNotFoundError) and error.name in (None, library, module)
        state = "is not installed" if missing else f"fails to import ({error})"
        raise MissingDependencyError(
            f'{purpose} needs {library}, which {state}. Run: pip install "partita[{extra}]"',
            name=module,
        ) from error
