"""The file formats by name and by suffix, and what a reader can be told."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from partita._files import PathLike
from partita._validate import path as clean_path
from partita._validate import unexpected
from partita.errors import UnknownNameError, about


@dataclass(frozen=True)
class ReadOptions:
    """Options of ``read_draws``, as each format's ``read`` receives them."""

    transpose: bool = False
    var_name: str | None = None
    header: bool | None = None
    sep: str | None = None
    strings: bool = False
    on_workers: bool = False

    def text_only(self) -> list[str]:
        """Names of the options in use that have a meaning for text formats alone."""
        used = {"header": self.header is not None, "sep": self.sep is not None}
        return [name for name, given in {**used, "strings": self.strings}.items() if given]


@dataclass(frozen=True)
class Format:
    """One way to keep draws in a file.

    ``read`` and ``write`` name functions as ``"module:function"`` below
    ``partita.io``; they are imported when a file of this format is met.
    A format that is a ``directory`` names in ``ours`` a function that tells the
    stores it wrote from other directories. ``holds`` says which parts of Draws
    besides the labels survive; in a ``table`` items are columns with headings.
    A ``one_based`` format counts labels from 1.
    """

    name: str
    suffixes: tuple[str, ...]
    read: str
    write: str | None
    text: bool = False
    table: bool = False
    directory: bool = False
    ours: str | None = None
    one_based: bool = False
    holds: frozenset[str] = frozenset({"weights", "chain", "item_names", "kind"})

    def reader(self) -> Callable[..., Any]:
        """The function that reads this format."""
        return _load(self.read)

    def replaceable(self) -> Callable[[Path], bool] | None:
        """Of a directory: whether it is a store that ``write`` made, and nothing else."""
        return _load(self.ours) if self.ours else None

    @about("format")
    def writer(self) -> Callable[..., Any]:
        """The function that writes this format."""
        if self.write is None:
            raise UnknownNameError(
                f"format {self.name!r} can be read, not written. "
                f"Formats that can be written: {_listed(f.name for f in _FORMATS if f.write)}."
            )
        return _load(self.write)


_PACKED = ("", ".gz", ".xz", ".bz2")


def _packable(*suffixes: str) -> tuple[str, ...]:
    return tuple(f"{suffix}{packed}" for suffix in suffixes for packed in _PACKED)


_FORMATS = (
    Format(
        "csv", _packable(".csv"), "text:read_csv", "text_write:write_csv", text=True, table=True
    ),
    Format(
        "tsv", _packable(".tsv"), "text:read_tsv", "text_write:write_tsv", text=True, table=True
    ),
    Format("txt", _packable(".txt", ".dat"), "text:read_txt", None, text=True),
    Format("coda", (), "coda:read", None),
    Format("cmdstan", (), "text:read_cmdstan", None, text=True),
    Format("npy", (".npy",), "numpy_files:read_npy", "numpy_files:write_npy", holds=frozenset()),
    Format("npz", (".npz",), "numpy_files:read_npz", "numpy_files:write_npz"),
    Format("parquet", (".parquet", ".pq"), "parquet:read", "parquet:write", table=True),
    Format("feather", (".feather", ".arrow", ".ipc"), "parquet:read_feather", None),
    Format("netcdf", (".nc", ".nc4"), "arviz_files:read_netcdf", "arviz_files:write_netcdf"),
    Format(
        "zarr",
        (".zarr",),
        "arviz_files:read_zarr",
        "arviz_files:write_zarr",
        directory=True,
        ours="zarr_stores:is_ours",
    ),
    Format("rds", (".rds",), "r_files:read", "r_files:write_rds", table=True, one_based=True),
    Format(
        "rdata",
        (".rdata", ".rda"),
        "r_files:read",
        "r_files:write_rdata",
        table=True,
        one_based=True,
    ),
)


def format_names() -> tuple[str, ...]:
    """The names of all formats."""
    return tuple(each.name for each in _FORMATS)


@about("format")
def find_format(name: str | None, path: PathLike | None) -> Format:
    """The format of that name, or of the path's suffix; csv when there is neither."""
    if name is not None:
        if not isinstance(name, str):
            raise unexpected(name, "format", f"one of {_listed(format_names())}", UnknownNameError)
        for each in _FORMATS:
            if each.name == name.lower():
                return each
        raise UnknownNameError(
            f"format {name!r} is unknown. Known formats: {_listed(format_names())}."
        )
    if path is None:
        return _FORMATS[0]
    file_name = clean_path(path, "path").name.lower()
    if file_name.startswith("coda") and "chain" in file_name:
        return next(each for each in _FORMATS if each.name == "coda")
    for each in _FORMATS:
        if file_name.endswith(each.suffixes):
            return each
    suffix = Path(path).suffix
    came = f"its suffix {suffix!r} is unknown" if suffix else "it has no suffix"
    known = _listed(suffix for each in _FORMATS for suffix in each.suffixes)
    raise UnknownNameError(
        f"the format of {path} cannot be told: {came}. Known suffixes: {known}. "
        f"Name the format with format=..., one of {_listed(format_names())}."
    )


def _load(place: str) -> Callable[..., Any]:
    module, _, function = place.partition(":")
    loaded: Callable[..., Any] = getattr(importlib.import_module(f"partita.io.{module}"), function)
    return loaded


def _listed(names: Any) -> str:
    return ", ".join(names)
