"""The version of partita, and of the libraries it computes with."""

from __future__ import annotations

import sys

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
