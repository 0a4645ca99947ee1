"""The one file format of results: named arrays and a JSON document, without pickle.

A NumPy archive with an entry ``document`` beside the arrays: ``format`` names the kind of result,
``version`` the version of that kind, the rest is the result's own. A name in a file never
changes; where the code behind it lives may. Equal results give equal files.
"""

from __future__ import annotations

import json
import zipfile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita._files import PathLike, atomic_path, existing
from partita._memory import require_memory
from partita.errors import FileFormatError, MemoryLimitError

_DOCUMENT = "document"
_EARLIER = "header"
"""The document of fits and checkpoints of version 0.1, as text; its format ends in the version."""


class Form(NamedTuple):
    """What a file holds: its name in files and the newest version of it."""

    format: str
    version: int


def write_archive(
    path: PathLike,
    form: Form,
    document: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    *,
    overwrite: bool,
) -> None:
    """Write the document and the arrays; whoever reads sees the old file or all of the new one."""
    text = json.dumps({"format": form.format, "version": form.version, **document})
    entries = {_DOCUMENT: np.frombuffer(text.encode(), np.uint8), **arrays}
    with (
        atomic_path(path, overwrite=overwrite) as temporary,
        zipfile.ZipFile(temporary, "w") as archive,
    ):
        for name, array in entries.items():
            # An entry made from its name alone carries no time of day.
            entry = zipfile.ZipInfo(f"{name}.npy")
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=True) as out:
                np.lib.format.write_array(out, array, allow_pickle=False)


def read_archive(path: PathLike, form: Form) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The document and the arrays of a file of that kind, of any version up to the newest."""
    place = existing(path)
    try:
        # Opened here: NumPy leaves the file open when the archive in it is cut short.
        with place.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            size = sum(member.file_size for member in stored.zip.infolist())
            require_memory(size, f"reading {path}", "Give a file that partita wrote.")
            arrays = {name: stored[name] for name in stored.files}
        document = _document(arrays)
    except MemoryLimitError:
        raise
    except Exception as error:  # zipfile, zlib and NumPy have many for a damaged file
        raise FileFormatError(
            f"{path} is not a {form.format} file, or is damaged. Give a file that partita wrote."
        ) from error
    if document["format"] != form.format:
        raise FileFormatError(f"{path} holds a {document['format']}; expected a {form.format}.")
    if document["version"] not in range(1, form.version + 1):
        raise FileFormatError(
            f"{path} has version {document['version']!r} of the format; this partita reads "
            f"versions up to {form.version}. Use the partita that wrote it, or a newer one."
        )
    return document, arrays


def _document(arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Take the document out of the arrays."""
    if _DOCUMENT in arrays:
        document = json.loads(arrays.pop(_DOCUMENT).tobytes())
    else:
        document = json.loads(str(arrays.pop(_EARLIER)))
        name, _, version = document["format"].rpartition(" ")
        document |= {"format": name, "version": int(version)}
    if not isinstance(document["format"], str):
        raise TypeError("format")
    return {"version": None, **document}
