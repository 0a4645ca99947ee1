"""Opening what is to be read, with an error for each way in which that fails."""

from __future__ import annotations

import bz2
import glob
import gzip
import lzma
import os
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from partita._files import FileAccessError, FileMissingError, PathLike, existing
from partita.errors import FileFormatError, InvalidInputError, PartitaError

Source = PathLike | IO[Any]
"""A path, ``"-"`` for standard input, or an open file."""

_PACKED: dict[str, Any] = {
    ".gz": lambda raw: gzip.GzipFile(fileobj=raw),
    ".xz": lzma.LZMAFile,
    ".bz2": bz2.BZ2File,
}
_LONGEST_LINE = 1 << 28
_MOST_PASSED_OVER = 1 << 26
_BLOCK_BYTES = 1 << 19  # a block and its labels stay in the processor's cache


def several(source: Source | Sequence[Source]) -> list[Source]:
    """The files that are meant: those of a list, those that fit a pattern, or the one given."""
    if isinstance(source, (list, tuple)):
        if not source:
            raise InvalidInputError("an empty list of files was given; expected at least one.")
        return list(source)
    one: Source = source  # type: ignore[assignment]
    if not isinstance(one, (str, os.PathLike)) or not glob.has_magic(str(one)) or exists(one):
        return [one]
    found = sorted(glob.glob(str(one)), key=_by_number)
    if not found:
        raise FileMissingError(f"no file fits {one}. Check the pattern and the directory.")
    return list(found)


def exists(path: PathLike) -> bool:
    """Whether there is a file of that name."""
    with suppress(OSError, ValueError):  # a name that no file can have
        return Path(str(path)).exists()
    return False


def _by_number(name: str) -> list[tuple[int, str]]:
    """Orders part-2 before part-10."""
    pieces = re.split(r"(\d+)", name)
    return [(int(piece), "") if piece.isdigit() else (-1, piece) for piece in pieces]


def is_stream(source: object) -> bool:
    """Whether this is standard input or an open file, which only text formats can read."""
    return hasattr(source, "read") or is_standard(source)


def is_standard(source: object) -> bool:
    """Whether this is the name of standard input or output."""
    return isinstance(source, str) and source == "-"


def check_file(path: PathLike, *, directory: bool = False) -> Path:
    """The path, when it leads to something that can be read."""
    place = existing(path, directory=directory)
    if not os.access(place, os.R_OK):
        raise FileAccessError(f"{path} cannot be read: permission denied.")
    if place.is_file() and place.stat().st_size == 0:
        raise FileFormatError(f"{path} is empty; expected a table of at least one row.")
    return place


@contextmanager
def open_bytes(source: Source) -> Iterator[IO[Any]]:
    """The source opened for reading; a path is closed afterwards, packed text unpacked."""
    if not isinstance(source, (str, os.PathLike)):
        yield source
    elif source == "-":
        yield sys.stdin.buffer
    else:
        path = check_file(source)
        with path.open("rb") as raw:
            opened = _PACKED.get(path.suffix.lower())
            stream: Any = raw if opened is None else opened(raw)
            yield stream


@contextmanager
def damage(path: Path, instead: str, *errors: type[Exception]) -> Iterator[None]:
    """Errors of a reading library as one that says what to do; ``instead`` is what else it is."""
    try:
        yield
    except PartitaError:
        raise
    except errors as error:
        raise FileFormatError(
            f"{path} is damaged, cut short or {instead} ({error}). Copy or write it again, or name "
            f"its true format with format=...."
        ) from error


def name_of(source: Source) -> str:
    """What to call the source in a message."""
    if is_standard(source):
        return "standard input"
    if hasattr(source, "read"):
        return str(getattr(source, "name", "the file"))
    return str(source)


def line_blocks(stream: IO[Any], name: str) -> Iterator[bytes]:
    """The bytes of a text stream in blocks that end with a line.

    A byte-order mark is dropped; UTF-16 and binary content are refused.
    """
    pieces: list[bytes] = []
    first = True
    while piece := _read_block(stream, name):
        if first:
            piece = _check_start(piece, name)
            first = False
        if b"\0" in piece:
            raise FileFormatError(
                f"{name} contains NUL bytes; it is not text. Name its true format with format=...."
            )
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield b"".join([*pieces, piece[:cut]])
            pieces.clear()
        pieces.append(piece[cut:])
        if sum(map(len, pieces)) > _LONGEST_LINE:
            raise FileFormatError(
                f"{name} has a line of more than {_LONGEST_LINE >> 20} MiB; expected one draw in "
                f"each line. Name its true format with format=...."
            )
    if any(pieces):
        yield b"".join([*pieces, b"\n"])


def refuse_endless(passed_over: int, name: str) -> None:
    """Refuse a file whose blank lines and comments, that many bytes, are no preface of a table."""
    if passed_over > _MOST_PASSED_OVER:
        raise FileFormatError(
            f"{name} has more than {_MOST_PASSED_OVER >> 20} MiB of blank lines and comments "
            "among its first rows; expected one row after the other."
        )


def _read_block(stream: IO[Any], name: str) -> bytes:
    try:
        piece: str | bytes = stream.read(_BLOCK_BYTES)
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise FileFormatError(
            f"{name} is damaged or cut short ({error}). Copy or write it again."
        ) from error
    return piece.encode() if isinstance(piece, str) else piece


def _check_start(piece: bytes, name: str) -> bytes:
    if piece.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileFormatError(f"{name} is UTF-16 text; save it as UTF-8.")
    return piece.removeprefix(b"\xef\xbb\xbf")
