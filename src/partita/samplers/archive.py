"""One file of named arrays and a JSON header, without pickle, written atomically."""

from __future__ import annotations

import json
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._files import FileAccessError, FileMissingError, PathLike, atomic_path
from partita._own_files import Kind, mark
from partita._validate import path as clean_path
from partita.errors import FileFormatError


def write_archive(
    path: PathLike,
    form: str,
    meta: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    *,
    overwrite: bool,
    kind: Kind | None = None,
) -> None:
    """Write the header and the arrays; whoever reads sees the old file or all of the new one."""
    header = json.dumps({"format": form, **meta})
    with atomic_path(path, overwrite=overwrite, kind=kind) as temporary:
        try:
            with temporary.open("wb") as stream:
                np.savez_compressed(stream, header=np.array(header), **arrays)  # type: ignore[arg-type]
            if kind is not None:
                mark(temporary, kind)
        except OSError as error:
            raise FileAccessError(
                f"{path} cannot be written: {error.strerror or error}. Choose another place."
            ) from error


def read_archive(path: PathLike, form: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of a file of that form."""
    place = clean_path(path, "path")
    if not place.exists():
        raise FileMissingError(f"{path} does not exist. Check the name and the directory.")
    if place.is_dir():
        raise FileAccessError(f"{path} is a directory; expected a file.")
    kind = form.rsplit(" ", 1)[0]
    try:
        with place.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        meta = json.loads(str(arrays.pop("header")))
    except (ValueError, KeyError, EOFError, OSError, zipfile.BadZipFile, AttributeError):
        raise FileFormatError(
            f"{path} is not a {kind} file, or is damaged. Give a file that partita wrote."
        ) from None
    if not isinstance(meta, dict) or meta.get("format") != form:
        found = meta.get("format") if isinstance(meta, dict) else None
        raise FileFormatError(f"{path} holds {found!r}; expected {form!r}.")
    return meta, arrays
