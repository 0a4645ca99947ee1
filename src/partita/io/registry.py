"""The file formats by name and by suffix, and what a reader can be told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from partita._files import PathLike
from partita._validate import path as clean_path
from partita._validate import unexpected
from partita.errors import UnknownNameError, about
from partita.io.zarr_stores import is_ours


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

    ``module`` below ``partita.io`` has the functions ``read_NAME`` and, where the format is
    ``writable``, ``write_NAME``; it is imported when a file of this format is met. A format that
    is a ``directory`` is a zarr store. ``holds`` says which parts of Draws
    besides the labels survive; in a ``table`` items are columns with headings.
    A ``one_based`` format counts labels from 1.
    """

    name: str
    suffixes: tuple[str, ...]
    module: str
    writable: bool = True
    text: bool = False
    table: bool = False
    directory: bool = False
    one_based: bool = False
    holds: frozenset[str] = frozenset({"weights", "chain", "item_names", "kind"})

    def reader(self) -> Callable[..., Any]:
        """The function that reads this format."""
        return self._function(f"read_{self.name}")

    def replaceable(self) -> Callable[[Path], bool] | None:
        """Of a directory: whether it is a store that partita wrote, and nothing else."""
        return is_ours if self.directory else None

    @about("format")
    def writer(self) -> Callable[..., Any]:
        """The function that writes this format."""
        if not self.writable:
            raise UnknownNameError(
                f"format {self.name!r} can be read, not written. "
                f"Formats that can be written: {_listed(f.name for f in _FORMATS if f.writable)}."
            )
        return self._function(f"write_{self.name}")

    def _function(self, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(import_module(f"partita.io.{self.module}"), name)
        return found


_PACKED = ("", ".gz", ".xz", ".bz2")


def _packable(*suffixes: str) -> tuple[str, ...]:
    return tuple(f"{suffix}{packed}" for suffix in suffixes for packed in _PACKED)


_FORMATS = (
    Format("csv", _packable(".csv"), "text", text=True, table=True),
    Format("tsv", _packable(".tsv"), "text", text=True, table=True),
    Format("txt", _packable(".txt", ".dat"), "text", writable=False, text=True),
    Format("coda", (), "coda", writable=False),
    Format("cmdstan", (), "text", writable=False, text=True),
    Format("npy", (".npy",), "numpy_files", holds=frozenset()),
    Format("npz", (".npz",), "numpy_files"),
    Format("parquet", (".parquet", ".pq"), "parquet", table=True),
    Format("feather", (".feather", ".arrow", ".ipc"), "parquet", writable=False),
    Format("netcdf", (".nc", ".nc4"), "arviz_files"),
    Format("zarr", (".zarr",), "arviz_files", directory=True),
    Format("rds", (".rds",), "r_files", table=True, one_based=True),
    Format("rdata", (".rdata", ".rda"), "r_files", table=True, one_based=True),
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


def _listed(names: Any) -> str:
    return ", ".join(names)
