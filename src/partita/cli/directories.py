"""Directories of results: what a command may put there, and what it may take away.

Each directory keeps a list of the files that commands wrote into it. A command
replaces what it wrote itself, and removes of that what it does not write again;
with ``--force`` it replaces what other commands wrote too. Every other file
stays as it is. Single files follow the rule of ``partita._own_files``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import click

from partita._files import (
    FileAccessError,
    FileMissingError,
    FileOverwriteError,
    atomic_path,
    scratch_path,
    write_text,
)
from partita._own_files import Kind, is_own
from partita.io.zarr_stores import is_ours as is_store

LIST = ".partita-written.json"
"""Which command wrote which file; only these are ever replaced."""

_OUTPUTS = frozenset({"out", "report", "target", "checkpoint"})
"""Parameters of commands that name what is written; all others name what is read."""


def check_file(
    path: str | None, *, force: bool, directory: bool = False, kind: Kind | None = None
) -> None:
    """Refuse early what could not be written at the end, and whatever the command reads.

    With ``directory`` the format is one; the writer tells its stores from others.
    """
    if path is None or path == "-":
        return
    target = Path(path)
    _check_parent(target)
    if target.is_dir() and not directory:
        raise FileAccessError(f"{path} is a directory; expected the name of a file.")
    for source in _inputs():
        if target.exists() and target.samefile(source):
            raise FileOverwriteError(
                f"{path} is read by this command, so it cannot be written. Choose another name."
            )
    own = is_store(target) if target.is_dir() else is_own(target, kind)
    if (target.is_file() or target.is_dir()) and not (force or own):
        raise FileOverwriteError(
            f"{path} exists already. Add --force to replace it, or choose another name."
        )


def check_directory(path: str | None, *, force: bool) -> None:
    """Refuse a directory of results that holds an input, or files that partita did not write."""
    if path is None:
        return
    target = Path(os.path.realpath(path))
    _check_parent(target)
    if not target.exists():
        return
    if not target.is_dir():
        raise FileAccessError(f"{path} is a file; expected a directory to write results into.")
    for source in _inputs():
        if source.is_relative_to(target):
            raise FileOverwriteError(
                f"{path} holds {source.relative_to(target)}, which this command reads; results "
                "would stand beside what they came from, or replace it. Choose another directory."
            )
    entries = sorted(entry.name for entry in target.iterdir())
    if not entries:
        return
    if LIST not in entries:
        raise FileOverwriteError(
            f"{path} holds files that partita did not write, such as {entries[0]}. "
            "Choose another directory."
        )
    others = sorted(_read_list(target).keys() - {_command()})
    if others and not force:
        raise FileOverwriteError(
            f"{path} holds results of `partita {others[0]}`. Add --force to write into it "
            "nevertheless, or choose another directory."
        )


def _check_parent(target: Path) -> None:
    parent = target.absolute().parent
    if not parent.is_dir():
        raise FileMissingError(f"the directory {parent} does not exist. Make it first.")
    if not os.access(parent, os.W_OK):
        raise FileAccessError(f"the directory {parent} cannot be written to: permission denied.")


def _inputs() -> list[Path]:
    """Every existing path among the arguments of the running command that is not an output."""
    context = click.get_current_context(silent=True)
    given: list[object] = []
    for name, value in ({} if context is None else context.params).items():
        if name not in _OUTPUTS:
            given.extend(value if isinstance(value, tuple) else [value])
    texts = [value for value in given if isinstance(value, str) and value not in ("", "-")]
    # A column may follow the name of a file, as in labels.csv:cluster.
    places = [Path(part) for text in texts for part in (text, text.rpartition(":")[0]) if part]
    return [Path(os.path.realpath(place)) for place in places if _exists(place)]


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except (OSError, ValueError):  # too long or not a name: an option's value, no path
        return False


@contextmanager
def new_directory(path: str, *, adds: bool = False) -> Iterator[Path]:
    """A directory to fill, whose files become those of ``path`` when the block ends.

    A new ``path`` appears whole. In one that exists the files of the list are
    replaced one by one, each whole; files of this command that were not written
    again are removed, unless it ``adds`` to what it wrote before.
    """
    target = Path(os.path.realpath(path))
    if not target.exists():
        with atomic_path(target) as temporary:
            temporary.mkdir()
            yield temporary
            _write_list(temporary, {_command(): _files(temporary)})
        return
    with scratch_path(target / LIST) as temporary:
        temporary.mkdir()
        yield temporary
        _settle(temporary, target, adds=adds)


def _settle(temporary: Path, target: Path, *, adds: bool) -> None:
    command, known, written = _command(), _read_list(target), _files(temporary)
    owned = {name for names in known.values() for name in names}
    for name in written:
        if (target / name).exists() and name not in owned:
            raise FileOverwriteError(
                f"{target / name} was not written by partita and would be replaced. Move it, or "
                "choose another directory."
            )
    for name in written:
        (target / name).parent.mkdir(exist_ok=True)
        os.replace(temporary / name, target / name)
    before = known.pop(command, [])
    for name in [] if adds else set(before) - set(written):
        (target / name).unlink(missing_ok=True)
    known = {other: sorted(set(names) - set(written)) for other, names in known.items()}
    _write_list(target, known | {command: sorted({*written, *(before if adds else ())})})


def _command() -> str:
    context = click.get_current_context(silent=True)
    return "partita" if context is None else str(context.info_name)


def _files(directory: Path) -> list[str]:
    found = (entry for entry in directory.rglob("*") if entry.is_file())
    return sorted(entry.relative_to(directory).as_posix() for entry in found)


def _write_list(directory: Path, known: dict[str, list[str]]) -> None:
    text = json.dumps({name: files for name, files in known.items() if files}, indent=1)
    write_text(directory / LIST, text + "\n", overwrite=True)


def _read_list(directory: Path) -> dict[str, list[str]]:
    """The list, less whatever does not lead to a plain file inside the directory."""
    try:
        found = json.loads((directory / LIST).read_text(encoding="utf-8"))
        return {str(k): [n for n in names if _inside(directory, n)] for k, names in found.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def _inside(directory: Path, name: str) -> bool:
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or PurePosixPath(name).is_absolute():
        return False
    place = directory.joinpath(*parts)
    return not place.is_symlink() and place.parent.resolve().is_relative_to(directory.resolve())
