"""Summaries in files (``_archive.py``).

The document is the tree of the summary's parts. An array is named by its
entry in the archive, a part that occurs twice by its number, so that what was
one object is one object again. Nothing is pickled, and on reading only frozen
dataclasses of partita itself are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._archive import Form, read_archive, write_archive
from partita._files import PathLike
from partita.draws import Draws
from partita.errors import FileFormatError
from partita.summary.check import check_parts, check_use
from partita.summary.parts import completed, draws_from_parts, name_of, part_from
from partita.summary.result import Summary

_SUMMARY = Form("partita summary", 2)
_LEFT_OUT = {("PricePath", "_draws")}
"""Fields that follow from the others."""
_DRAWS = {
    "_labels": "labels",  # fetched, where they live on a cluster
    "_n_clusters": "n_clusters",
    "_weights": "weights",
    "_chain": "chain",
    "_item_names": "item_names",
    "_kind": "kind",
}
"""Entries of a file, and the attributes they hold."""


def save_summary(summary: Summary, path: PathLike, *, overwrite: bool = False) -> None:
    """Write a summary to one file, atomically."""
    writer = _Writer()
    document = {"summary": writer.encode(summary)}
    write_archive(path, _SUMMARY, document, writer.arrays, overwrite=overwrite)


def load_summary(path: PathLike) -> Summary:
    """Read a summary written by :func:`save_summary`."""
    document, arrays = read_archive(path, _SUMMARY)
    try:
        summary = _Reader(arrays).decode(document["summary"])
    except Exception as error:
        raise FileFormatError(f"{path} is damaged: {error}.") from error
    if not isinstance(summary, Summary):
        raise FileFormatError(f"{path} holds a {type(summary).__name__}, not a summary.")
    try:
        check_parts(summary)
        whole = completed(summary)
        check_use(whole)
    except Exception as error:
        raise FileFormatError(f"{path} is damaged: {error}.") from error
    return whole


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
            entries = {entry: getattr(value, name) for entry, name in _DRAWS.items()}
        else:
            kind = name_of(value)
            names = [field.name for field in fields(value) if (kind, field.name) not in _LEFT_OUT]
            entries = {name: getattr(value, name) for name in names}
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
