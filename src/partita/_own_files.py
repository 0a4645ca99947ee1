"""Which files are partita's own: what says so is written into them.

The rule for everything that writes: a file of partita is replaced by a file of
the same kind without asking, so that a cell or a command may be run twice; so
is a file that already holds exactly what would be written. Any other file is
replaced only with ``overwrite=True`` (``--force`` on the command line).
"""

from __future__ import annotations

import filecmp
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Literal

Kind = Literal["draws", "summary", "fit", "report", "numbers"]

PAGE_MARK = '<meta name="generator" content="partita">'
"""In the head of every report."""
JSON_KEY = "partita"
"""First key of every JSON document; its value is the kind."""
_HEAD = 2_048


def mark(path: Path, kind: Kind) -> None:
    """Write the kind into a NumPy archive, as the comment that a zip file may carry."""
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = _comment(kind)


def is_own(path: Path, kind: Kind | None) -> bool:
    """Whether a file says that partita wrote it, and that it is of this kind."""
    if kind is None or not path.is_file():
        return False
    with suppress(OSError, ValueError, zipfile.BadZipFile):
        with path.open("rb") as file:
            head = file.read(_HEAD)
        if kind == "report":
            return PAGE_MARK.encode() in head
        if kind == "numbers":
            return f'"{JSON_KEY}": "{kind}"'.encode() in head
        with zipfile.ZipFile(path) as archive:
            return archive.comment == _comment(kind)
    return False


def is_same(path: Path, other: Path) -> bool:
    """Whether two files hold the same bytes."""
    return path.is_file() and other.is_file() and filecmp.cmp(path, other, shallow=False)


def _comment(kind: Kind) -> bytes:
    return f"partita {kind}".encode()
