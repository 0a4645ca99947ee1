"""The version of partita, and of the libraries it computes with."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

__version__ = "0.2.0"


def version_of(library: str) -> str:
    """The version of a library, installed or found on a path of sources; "unknown" otherwise."""
    if library == "partita":
        return __version__
    try:
        return version(library)
    except PackageNotFoundError:
        try:
            return str(import_module(library.replace("-", "_")).__version__)
        except (ImportError, AttributeError):
            return "unknown"
