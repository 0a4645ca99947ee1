"""Safe writing of results, and file errors that say what to do."""

from __future__ import annotations

import errno
import os
import platform
import re
import secrets
import shutil
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from partita._validate import path as clean_path
from partita.errors import PartitaError

PathLike = str | os.PathLike[str]

_HOST = f"{zlib.crc32(platform.node().encode()):08x}"
"""Tells machines that share a disk apart: only here can we see whether a process still runs."""
_ASIDE = ".old"
_DAY = 86_400


class FileMissingError(PartitaError, FileNotFoundError):
    """A file to read, or the directory to write into, does not exist."""

    argument = "path"


class FileOverwriteError(PartitaError, FileExistsError):
    """A file to write exists and overwriting was not asked for."""

    argument = "path"


class FileAccessError(PartitaError, OSError):
    """A file cannot be read or written: a directory, no permission, no space."""

    argument = "path"


@contextmanager
def atomic_path(
    path: PathLike, *, overwrite: bool = False, replaceable: Callable[[Path], bool] | None = None
) -> Iterator[Path]:
    """A path to write to; becomes ``path`` only when the block ends without an error.

    Whoever looks at ``path`` sees the old content or all of the new one, never
    a part: the block writes a file or directory beside it, which is then
    renamed. After an error or Ctrl-C the partial output is removed; what a
    killed run left is removed when ``path`` is written next. Devices and
    pipes cannot be replaced and are written to directly.

    Parameters
    ----------
    path : path
        Where the result shall be. Its directory must exist.
    overwrite : bool
        Replace what is there; otherwise it is refused before the block runs.
    replaceable : callable, optional
        Of a directory: whether partita wrote it. Without it none is replaced.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from partita._files import atomic_path
    >>> target = Path(tempfile.mkdtemp()) / "result.txt"
    >>> with atomic_path(target) as temporary:
    ...     _ = temporary.write_text("done")
    >>> target.read_text()
    'done'
    """
    # Through a symbolic link, as open() would.
    with translate_os_errors(path):  # a name longer than the file system allows
        target = Path(os.path.realpath(clean_path(path, "path")))
        target.exists()
    if target.exists() and not target.is_file() and not target.is_dir():
        with translate_os_errors(path):
            yield target
        return
    _remove_leftovers(target)
    check_directory(target.parent, path)
    check_target(target, path, overwrite, replaceable)
    with scratch_path(target) as temporary:
        with translate_os_errors(path):
            yield temporary
        check_target(target, path, overwrite, replaceable)  # another process may have written
        with translate_os_errors(path):
            _move(temporary, target)


@contextmanager
def scratch_path(target: Path) -> Iterator[Path]:
    """A free path beside ``target``, on the same disk; what is there at the end is removed."""
    _remove_leftovers(target)
    # The suffix stays last: several libraries choose a format by it or append their own.
    token = f"{_HOST}-{os.getpid()}-{secrets.token_hex(4)}"
    temporary = target.with_name(f".{target.stem[:100]}-{token}.tmp{target.suffix}")
    try:
        yield temporary
    finally:
        _remove(temporary)


@contextmanager
def translate_os_errors(path: PathLike) -> Iterator[None]:
    """A full disk, a missing right and the like as an error that names the result's path."""
    try:
        yield
    except (PartitaError, BrokenPipeError):
        raise
    except OSError as error:
        reason = (error.strerror or str(error)).rstrip(".")
        advice = (
            "Free some space or choose another disk."
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            else "Choose another directory."
        )
        raise FileAccessError(f"{path} cannot be written: {reason}. {advice}") from error


def write_text(path: PathLike, text: str, *, overwrite: bool = False) -> None:
    """Write text as UTF-8 with the same line ends on every system; see :func:`atomic_path`."""
    with atomic_path(path, overwrite=overwrite) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def require_path(path: PathLike, *, directory: bool = False) -> Path:
    """The path, when it leads to a file, or to what may be a directory."""
    place = clean_path(path, "path")
    try:
        there = place.exists()
    except OSError as error:  # a name longer than the file system allows, a loop of links
        raise FileAccessError(f"{path} cannot be read: {error.strerror}.") from error
    if not there:
        raise FileMissingError(f"{path} does not exist. Check the name and the directory.")
    if place.is_dir() and not directory:
        raise FileAccessError(f"{path} is a directory; expected a file.")
    return place


def check_directory(directory: Path, path: PathLike) -> None:
    """Refuse a path whose directory is missing or cannot be written to."""
    if not directory.is_dir():
        raise FileMissingError(
            f"{path} cannot be written: the directory {directory} does not exist. Make it first."
        )
    if not os.access(directory, os.W_OK):
        raise FileAccessError(
            f"{path} cannot be written: permission denied in the directory {directory}. Choose "
            "another directory."
        )


def check_target(
    target: Path, path: PathLike, overwrite: bool, replaceable: Callable[[Path], bool] | None = None
) -> None:
    """Refuse a path where there is something that must not be replaced."""
    if not target.exists():
        return
    if target.is_dir() and (replaceable is None or not replaceable(target)):
        raise FileOverwriteError(
            f"{path} is a directory that partita did not write, or that holds more than it wrote; "
            "it is not replaced. Choose another name."
        )
    if not overwrite:
        raise FileOverwriteError(
            f"{path} exists already. Pass overwrite=True to replace it, or choose another name."
        )


def _move(temporary: Path, target: Path) -> None:
    if temporary.is_dir() != target.is_dir() and target.exists():
        kind = "directory" if target.is_dir() else "file"
        raise FileAccessError(f"{target} is a {kind} and would be replaced by another kind.")
    if not target.is_dir():
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
        return
    # A directory cannot be renamed over a full one: step it aside, and back if that fails.
    aside = temporary.with_name(f"{temporary.name}{_ASIDE}")
    os.rename(target, aside)
    try:
        os.rename(temporary, target)
    except BaseException:
        os.rename(aside, target)
        raise
    shutil.rmtree(aside)


def _remove(temporary: Path) -> None:
    with suppress(OSError):
        if temporary.is_dir():
            shutil.rmtree(temporary)
        else:
            temporary.unlink(missing_ok=True)


def _remove_leftovers(target: Path) -> None:
    """Remove what runs on this machine that were killed left beside ``target``."""
    stem, suffix = re.escape(target.stem[:100]), re.escape(target.suffix)
    ours = re.compile(rf"\.{stem}-{_HOST}-(\d+)-[0-9a-f]{{8}}\.tmp{suffix}({_ASIDE})?")
    with suppress(OSError):
        for entry in list(target.parent.iterdir()):
            found = ours.fullmatch(entry.name)
            if not found or _is_running(int(found[1]), entry):
                continue
            if found[2] and not target.exists():  # killed between the two renames
                os.rename(entry, target)
            else:
                _remove(entry)


def _is_running(process: int, entry: Path) -> bool:
    if os.name == "nt":  # signal 0 would be Ctrl-C there
        return time.time() - entry.stat().st_mtime < _DAY
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OverflowError, PermissionError):
        return True
    return True
