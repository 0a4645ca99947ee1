"""Safe writing of results, and file errors that say what to do."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from partita.errors import PartitaError

PathLike = str | os.PathLike[str]


class FileMissingError(PartitaError, FileNotFoundError):
    """A file to read, or the directory to write into, does not exist."""


class FileOverwriteError(PartitaError, FileExistsError):
    """A file to write exists and overwriting was not asked for."""


class FileAccessError(PartitaError, OSError):
    """A file cannot be read or written: a directory, no permission, no space."""


@contextmanager
def atomic_path(path: PathLike, *, overwrite: bool = False) -> Iterator[Path]:
    """A path to write to; becomes ``path`` only when the block ends without an error.

    Whoever looks at ``path`` sees the old content or all of the new one, never
    a part: the block writes a file or directory beside it, which is then
    renamed. After an error or Ctrl-C the partial output is removed. Devices and
    pipes cannot be replaced and are written to directly.

    Parameters
    ----------
    path : path
        Where the result shall be. Its directory must exist.
    overwrite : bool
        Replace what is there; otherwise an existing ``path`` is refused.

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
    target = Path(os.path.realpath(path))  # through a symbolic link, as open() would
    if _is_special(target):
        yield target
        return
    _check_target(target, path, overwrite=overwrite)
    # The suffix stays last: several libraries choose a format by it or append their own.
    token = secrets.token_hex(4)
    temporary = target.with_name(f".{target.stem[:100]}-{token}.tmp{target.suffix}")
    try:
        try:
            yield temporary
        except PermissionError as error:
            raise FileAccessError(
                f"{path} cannot be written: {error.strerror}. Choose another directory."
            ) from error
        _check_target(target, path, overwrite=overwrite)
        _move(temporary, target)
    except BaseException:
        _remove(temporary)
        raise


def write_text(path: PathLike, text: str, *, overwrite: bool = False) -> None:
    """Write text as UTF-8, atomically; see :func:`atomic_path`."""
    with atomic_path(path, overwrite=overwrite) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_bytes(path: PathLike, content: bytes, *, overwrite: bool = False) -> None:
    """Write bytes, atomically; see :func:`atomic_path`."""
    with atomic_path(path, overwrite=overwrite) as temporary:
        temporary.write_bytes(content)


def _is_special(target: Path) -> bool:
    return target.exists() and not target.is_file() and not target.is_dir()


def _check_target(target: Path, path: PathLike, *, overwrite: bool) -> None:
    if not target.parent.is_dir():
        raise FileMissingError(
            f"{path} cannot be written: the directory {target.parent} does not exist. "
            "Make it first."
        )
    if target.exists() and not overwrite:
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
    aside = temporary.with_name(f"{temporary.name}.old")
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
