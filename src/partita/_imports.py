"""Names that load on first use, optional libraries, and versions."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from partita.errors import MissingDependencyError

__version__ = "0.2.0"


def version_of(library: str) -> str:
    """The version of a library, installed or found on a path of sources; "unknown" otherwise."""
    if library == "partita":
        return __version__
    # What is loaded knows its version; asking for the metadata reads a file of many lines.
    loaded = getattr(sys.modules.get(library.replace("-", "_")), "__version__", None)
    if loaded is not None:
        return str(loaded)
    # A tenth of the time that importing partita takes, and needed by few.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(library)
    except PackageNotFoundError:
        return "unknown"


def lazy_names(
    package: str, file: str
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package, by the stub beside its file."""
    with open(file.removesuffix("c") + "i", encoding="utf-8") as stub:
        text = stub.read().replace("(\n", "")
    imports = [line.split() for line in text.splitlines() if line.startswith("from ")]
    modules = {words[3]: words[1] for words in imports}  # from MODULE import NAME as NAME

    def load(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if modules[name] == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(modules[name]), name)
        setattr(import_module(package), name, value)
        return value

    return load, lambda: sorted(modules), list(modules)


def moved_name(name: str) -> object:
    """A name of the package that stood at its front until version 0.3."""
    if not name.startswith("_"):
        for module in ("partita.results", "partita.lattice"):
            found = import_module(module)
            if name in found.__all__:
                warnings.warn(
                    f"partita.{name} is now {module}.{name}; the short name goes in version 0.4",
                    DeprecationWarning,
                    stacklevel=3,
                )
                return getattr(found, name)
    raise AttributeError(f"module 'partita' has no attribute {name!r}")


def require(module: str, *, extra: str, purpose: str = "this") -> Any:
    """The imported module, or :class:`MissingDependencyError` naming the extra that installs it.

    ``purpose`` starts the message, as in "reading .parquet files".

    Examples
    --------
    >>> from partita._imports import require
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
