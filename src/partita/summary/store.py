"""Summaries as one file: a NumPy archive of plain arrays and one JSON document.

The document is the tree of the summary's parts. An array is named by its
entry in the archive, a part that occurs twice by its number, so that what was
one object is one object again. Nothing is pickled, and on reading only frozen
dataclasses of partita itself are made.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from partita._files import FileMissingError, PathLike, atomic_path
from partita._own_files import mark
from partita._validate import path as clean_path
from partita.errors import FileFormatError
from partita.partitions.draws import Draws
from partita.summary.check import check_parts
from partita.summary.parts import completed, draws_from_parts, name_of, part_from
from partita.summary.result import Summary

_FORMAT = "partita summary"
_VERSION = 2
_DOCUMENT = "document"
_DRAWS = ("_labels", "_n_clusters", "_weights", "_chain", "_item_names")


def save_summary(summary: Summary, path: PathLike, *, overwrite: bool = False) -> None:
    """Write a summary to one file, atomically."""
    writer = _Writer()
    tree = {"format": _FORMAT, "version": _VERSION, "summary": writer.encode(summary)}
    document = np.frombuffer(json.dumps(tree).encode(), np.uint8)
    with atomic_path(path, overwrite=overwrite, kind="summary") as temporary:
        with open(temporary, "wb") as file:
            _write_archive(file, {_DOCUMENT: document, **writer.arrays})
        mark(temporary, "summary")


def _write_archive(file: BinaryIO, arrays: dict[str, NDArray[Any]]) -> None:
    """What np.savez_compressed writes, but never a pickle and no time of day."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=True) as out:
                np.lib.format.write_array(out, array, allow_pickle=False)


def load_summary(path: PathLike) -> Summary:
    """Read a summary written by :func:`save_summary`."""
    if not clean_path(path, "path").exists():
        raise FileMissingError(f"{path} does not exist; expected a file written by Summary.save.")
    try:
        # Opened here: NumPy leaves the file open when the archive in it is cut short.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        tree = json.loads(arrays.pop(_DOCUMENT).tobytes())
        if tree["format"] != _FORMAT:
            raise KeyError("format")
    except (
        AttributeError,
        EOFError,
        KeyError,
        OSError,
        TypeError,
        ValueError,
        zipfile.BadZipFile,
    ) as error:
        raise FileFormatError(
            f"{path} is not a summary written by Summary.save, or it is damaged."
        ) from error
    if tree.get("version") not in range(1, _VERSION + 1):
        raise FileFormatError(
            f"{path} has version {tree.get('version')} of the format; this partita reads versions "
            f"up to {_VERSION}. Use the partita that wrote it, or a newer one."
        )
    try:
        summary = _Reader(arrays).decode(tree["summary"])
    except (AttributeError, ImportError, KeyError, TypeError, ValueError, IndexError) as error:
        raise FileFormatError(f"{path} is damaged: {error}.") from error
    if not isinstance(summary, Summary):
        raise FileFormatError(f"{path} holds a {type(summary).__name__}, not a summary.")
    try:
        check_parts(summary)
        return completed(summary)
    except (AttributeError, TypeError, ValueError) as error:
        raise FileFormatError(f"{path} is damaged: {error}.") from error


class _Writer:
    """Turns objects into a tree that JSON can hold, and collects the arrays."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self._number: dict[int, int] = {}

    def encode(self, value: Any) -> Any:
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, np.ndarray):
            name = f"array{len(self.arrays)}"
            self.arrays[name] = value
            return {"array": name}
        if isinstance(value, (tuple, list)):
            return {"tuple": [self.encode(entry) for entry in value]}
        if isinstance(value, Mapping):
            return {"map": {str(key): self.encode(entry) for key, entry in value.items()}}
        if id(value) in self._number:
            return {"again": self._number[id(value)]}
        return self._part(value)

    def _part(self, value: Any) -> dict[str, Any]:
        if isinstance(value, Draws):
            kind = "Draws"
            entries = {name: getattr(value, name) for name in _DRAWS}
        else:
            kind = name_of(value)
            entries = {field.name: getattr(value, field.name) for field in fields(value)}
        encoded = {name: self.encode(entry) for name, entry in entries.items()}
        # Numbered when complete, as the reader does: parts inside come first.
        self._number[id(value)] = len(self._number)
        return {"part": kind, "fields": encoded}


class _Reader:
    """The inverse of :class:`_Writer`."""

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self._arrays = arrays
        self._parts: list[Any] = []

    def decode(self, tree: Any) -> Any:
        if not isinstance(tree, dict):
            return tree
        if "array" in tree:
            array = self._arrays[tree["array"]]
            array.flags.writeable = False
            return array
        if "tuple" in tree:
            return tuple(self.decode(entry) for entry in tree["tuple"])
        if "map" in tree:
            return {key: self.decode(entry) for key, entry in tree["map"].items()}
        if "again" in tree:
            return self._parts[tree["again"]]
        entries = {name: self.decode(entry) for name, entry in tree["fields"].items()}
        kind = tree["part"]
        drawn = kind in ("Draws", "draws")
        part = draws_from_parts(entries) if drawn else part_from(kind, entries)
        self._parts.append(part)
        return part
