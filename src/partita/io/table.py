"""Tables of cells from text files and data frames; draws_table and data_table interpret them.

Every number of a text file is read by one rule: ASCII digits with an optional sign, decimal point
and exponent. Whatever only looks like a number in another language (``0x1f``, ``1_000``) is text.
"""

from __future__ import annotations

import bz2
import codecs
import errno
import glob
import gzip
import lzma
import math
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from partita._files import FileAccessError, FileMissingError, PathLike, require_path
from partita._imports import require
from partita._resources import require_memory
from partita._validate import has
from partita._wording import listed
from partita.errors import (
    FileFormatError,
    InvalidInputError,
    MemoryLimitError,
    PartitaError,
    PartitaWarning,
    about,
)
from partita.kernels.arrays import Array

Source = PathLike | IO[Any]
"""A path, ``"-"`` for standard input, or an open file."""

MISSING = frozenset(
    {"", "NA", "NaN", "nan", "NAN", "n/a", "N/A", "None", "null", "NULL", "<NA>", "?", "."}
)
"""How programs spell a missing value, in labels and in data."""

NUMBER = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|infinity)",
    re.IGNORECASE | re.ASCII,
)

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "", ".dat": ""}
_LONGEST_LINE = 1 << 28
_LONGEST_CELL = 1 << 16
"""Characters of a quoted cell with line ends in it; beyond them its quote is not closed."""
_MAX_PREAMBLE = 1 << 26
_BLOCK_BYTES = 1 << 19  # a block and its labels stay in the processor's cache
_CELL_OVERHEAD = 100
"""Bytes of memory for each byte of short cells."""


@dataclass(frozen=True)
class ReadOptions:
    """Options of ``read_draws``, as the reader of each format receives them."""

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


BY_NAME = "arrays with named dimensions: chain, draw and item are found by name"


def refuse_transpose(transpose: bool, what: str) -> None:
    """Refuse transpose=True for objects without rows and columns."""
    if transpose:
        raise InvalidInputError(f"transpose=True has no meaning for {what}.", argument="transpose")


# ------------------------------------------------------------------ opening


def expand_sources(source: Source | Sequence[Source]) -> list[Source]:
    """The files that are meant: those of a list, those that fit a pattern, or the one given."""
    if isinstance(source, (list, tuple)):
        if not source:
            raise InvalidInputError("an empty list of files was given; expected at least one.")
        return list(source)
    one: Source = source  # type: ignore[assignment]
    if not isinstance(one, (str, os.PathLike)) or not glob.has_magic(str(one)) or _exists(one):
        return [one]
    found = sorted(glob.glob(str(one)), key=_by_number)
    if not found:
        raise FileMissingError(f"no file matches {one}. Check the pattern and the directory.")
    return list(found)


def _exists(path: PathLike) -> bool:
    with suppress(OSError, ValueError):  # a name that no file can have
        return Path(str(path)).exists()
    return False


def _by_number(name: str) -> list[tuple[int, str]]:
    """Orders part-2 before part-10."""
    pieces = re.split(r"(\d+)", name)
    return [(int(piece), "") if piece.isdigit() else (-1, piece) for piece in pieces]


def is_stream(source: object) -> bool:
    """Whether this is standard input or an open file, which only text formats can read."""
    return has(source, "read") or is_standard(source)


def is_standard(source: object) -> bool:
    """Whether this is the name of standard input or output."""
    return isinstance(source, str) and source == "-"


def name_of(source: Source) -> str:
    """The name of the source in messages."""
    if is_standard(source):
        return "standard input"
    if has(source, "read"):
        return str(getattr(source, "name", "the file"))
    return str(source)


def check_file(path: PathLike, *, directory: bool = False) -> Path:
    """The path, when it leads to something that can be read."""
    place = require_path(path, directory=directory)
    if not os.access(place, os.R_OK):
        raise FileAccessError(f"{path} cannot be read: permission denied.")
    if place.is_file() and place.stat().st_size == 0:
        raise FileFormatError(f"{path} is empty; expected a table of at least one row.")
    return place


@contextmanager
def translate_errors(path: Source, format: str) -> Iterator[None]:
    """Any failure of a reading library as an error of ours that names the file."""
    try:
        yield
    except (PartitaError, PartitaWarning, BrokenPipeError):
        raise
    except MemoryError as error:
        raise MemoryLimitError(
            f"{name_of(path)} does not fit into memory, or declares sizes that do not fit its "
            "content. Write fewer rows, or write it again."
        ) from error
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _NO_ACCESS:
            raise FileAccessError(f"{name_of(path)} cannot be read: {error}") from error
        raise FileFormatError(
            f"{name_of(path)} is damaged, cut short or not {format} ({type(error).__name__}: "
            f"{str(error)[:200]}). Copy or write it again, or name its true format with format=…."
        ) from error


def open_parquet(path: PathLike) -> Any:
    """A parquet file whose pages are compared with their checksums, where it has some."""
    parquet = require("pyarrow.parquet", extra="parquet", purpose="reading .parquet files")
    return parquet.ParquetFile(path, page_checksum_verification=True)


def parquet_batches(file: Any, **options: Any) -> Iterator[Any]:
    """Batches of its rows, with an iterator for each row group: Arrow keeps what an iterator read.

    ``options`` are those of ``ParquetFile.iter_batches``.
    """
    for group in range(file.metadata.num_row_groups):
        yield from file.iter_batches(row_groups=[group], **options)


_NO_ACCESS = (errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE, errno.EISDIR)


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
            packed = {".gz": "gzip", ".xz": "xz", ".bz2": "bz2"}.get(path.suffix.lower())
            stream: Any = raw if packed is None else decompressed_stream(raw, packed)
            yield stream


def decompressed_stream(raw: IO[bytes], packing: str) -> Any:
    """A stream of the unpacked content; bytes behind the last whole stream are refused."""
    if packing == "gzip":
        return gzip.GzipFile(fileobj=raw)
    return _Decompressor(raw, lzma.LZMADecompressor if packing == "xz" else bz2.BZ2Decompressor)


class _Decompressor:
    """The streams of an xz or bz2 file; Python's own readers stop in silence at a damaged one."""

    def __init__(self, raw: IO[bytes], make: Callable[[], Any]) -> None:
        self._raw, self._make, self._current = raw, make, make()

    def read(self, size: int) -> bytes:
        """At most ``size`` bytes; none at the end."""
        while True:
            if self._current.eof:
                rest = self._current.unused_data or self._raw.read(size)
                while rest and not rest.strip(b"\0"):  # padding between streams
                    rest = self._raw.read(size)
                if not rest:
                    return b""
                self._current = self._make()
            elif self._current.needs_input:
                rest = self._raw.read(size)
                if not rest:
                    raise EOFError("the compressed data end before their end-of-stream marker")
            else:
                rest = b""
            found: bytes = self._current.decompress(rest, size)
            if found:
                return found


# ------------------------------------------------------------------ lines

_ODD_BREAKS = (b"\x0b", b"\x0c", b"\x1c", b"\x1d", b"\x1e")
"""Characters that some programs take for line ends: VT, FF, FS, GS, RS."""


class Lines:
    """The bytes of a text stream in blocks that end with a line.

    A byte-order mark is dropped and CR is a line end; binary content is refused. ``cut`` says
    afterwards whether the last line had no end.
    """

    def __init__(self, stream: IO[Any], name: str, encoding: str | None = None) -> None:
        self._stream, self._name = stream, name
        self._decoder = None if encoding is None else _decoder(encoding)
        self.cut = False

    def __iter__(self) -> Iterator[bytes]:
        pieces: list[bytes] = []
        length, held, first = 0, b"", True
        while piece := self._read():
            if first:
                while len(piece) < 3 and (more := self._read()):  # a mark may come in two reads
                    piece += more
                piece = _strip_bom(piece, self._name)
                first = False
            piece = held + piece
            held = b"\r" if piece.endswith(b"\r") else b""  # whether LF follows is not known yet
            piece = piece.removesuffix(b"\r")
            if b"\r" in piece:
                piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            _refuse_odd(piece, self._name)
            end = piece.rfind(b"\n") + 1
            if end:
                yield b"".join([*pieces, piece[:end]])
                pieces.clear()
                length = 0
            pieces.append(piece[end:])
            length += len(piece) - end
            if length > _LONGEST_LINE:
                raise FileFormatError(
                    f"{self._name} has a line of more than {_LONGEST_LINE >> 20} MiB; expected "
                    "short lines. Name its true format with format=…."
                )
        self.cut = any(pieces) and not held
        if any(pieces) or held:
            yield b"".join([*pieces, b"\n"])

    def _read(self) -> bytes:
        try:
            piece: str | bytes = self._stream.read(_BLOCK_BYTES)
            if self._decoder is not None and isinstance(piece, bytes):
                while piece and not (text := self._decoder.decode(piece)):
                    piece = self._stream.read(_BLOCK_BYTES)
                piece = text if piece else self._decoder.decode(b"", True)
        except UnicodeDecodeError as error:
            raise FileFormatError(
                f"{self._name} cannot be decoded ({error}).", argument="encoding"
            ) from None
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            raise FileFormatError(
                f"{self._name} is damaged or cut short ({error}). Copy or write it again."
            ) from error
        return piece.encode() if isinstance(piece, str) else piece


def _decoder(encoding: str) -> Any:
    try:
        return codecs.getincrementaldecoder(encoding)()
    except LookupError:
        raise InvalidInputError(
            f"encoding={encoding!r} is unknown; expected a name such as 'cp1252' or 'utf-16'.",
            argument="encoding",
        ) from None


def _strip_bom(piece: bytes, name: str) -> bytes:
    if piece.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileFormatError(f"{name} is UTF-16 text; save it as UTF-8.")
    return piece.removeprefix(b"\xef\xbb\xbf")


def _refuse_odd(piece: bytes, name: str) -> None:
    if b"\0" in piece:
        raise FileFormatError(
            f"{name} contains NUL bytes; it is not text. Name its true format with format=…."
        )
    if b"\xef\xbb\xbf" in piece:
        raise FileFormatError(
            f"{name} has a byte-order mark inside its text, as files put one behind the other "
            "have. Remove it, and a header that may follow it."
        )
    for odd in _ODD_BREAKS:
        if odd in piece:
            raise FileFormatError(
                f"{name} contains the character {odd.decode()!r}, which some programs take for the "
                "end of a line. Remove it."
            )


def refuse_long_preamble(passed_over: int, name: str) -> None:
    """Refuse a file that begins with too many bytes of blank lines and comments."""
    if passed_over > _MAX_PREAMBLE:
        raise FileFormatError(
            f"{name} has more than {_MAX_PREAMBLE >> 20} MiB of blank lines and comments "
            "among its first rows; expected one row after the other."
        )


# ------------------------------------------------------------------ cells


class Cell(NamedTuple):
    """One cell of a line, without the quotes it may have had."""

    text: str
    quoted: bool

    @property
    def number(self) -> float | None:
        """Its value, or None; quoted cells and missing values are not numbers."""
        if self.quoted or self.text in MISSING or not NUMBER.fullmatch(self.text):
            return None
        value = float(self.text)
        return None if math.isnan(value) else value


class NotUtf8Error(FileFormatError):
    """A text file has another encoding."""


def decode_utf8(text: bytes, name: str) -> str:
    """UTF-8, which every text file must be."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise NotUtf8Error(f"{name} is not UTF-8 text; save it as UTF-8.") from None


class _UnclosedQuote(FileFormatError):
    """A quoted cell does not end on its line."""


def cells_of(line: bytes, sep: str, name: str) -> list[Cell]:
    """The cells of one line of a file; see :func:`split_line`."""
    text = decode_utf8(line, name)
    try:
        return split_line(text, sep)
    except FileFormatError as error:
        raise FileFormatError(f"{name}: {error}") from None


def split_line(line: str, sep: str) -> list[Cell]:
    """The cells of one line; an empty ``sep`` means runs of blanks and tabs."""
    line = line.strip("\n")
    if '"' not in line:
        parts = line.split(sep) if sep else re.split("[ \t]+", line.strip(" \t"))
        # A row may have a million cells: made in one go, they take a third of the time.
        return list(map(Cell._make, zip(map(_stripped, parts), repeat(False), strict=False)))
    cells: list[Cell] = []
    i = 0
    while True:
        while i < len(line) and line[i] in " \t" and line[i] != sep:
            i += 1
        if not sep and i == len(line):
            return cells
        if line[i : i + 1] == '"':
            end = i + 1
            while True:
                end = line.find('"', end)
                if end < 0:
                    raise _UnclosedQuote("a quoted cell is not closed on its line.")
                if line[end + 1 : end + 2] != '"':
                    break
                end += 2
            cells.append(Cell(line[i + 1 : end].replace('""', '"'), True))
            i = end + 1
            while i < len(line) and line[i] in " \t" and line[i] != sep:
                i += 1
        else:
            stops = [p for p in map(line.find, sep or " \t", (i, i)) if p >= 0]
            end = min(stops, default=len(line))
            if '"' in line[i:end]:
                raise FileFormatError(f"there is a quote inside a cell ({line[i:end].strip()!r}).")
            cells.append(Cell(_stripped(line[i:end]), False))
            i = end
        if sep:
            if i >= len(line):
                return cells
            if line[i] != sep:
                raise FileFormatError(f"text follows a quoted cell ({line[i : i + 10]!r}).")
            i += 1


def _stripped(cell: str) -> str:
    return cell.strip(" \t")


def separator_of(name: str) -> str | None:
    """The separator of a text file by its name; None for other files."""
    lower = name.lower()
    for packed in (".gz", ".xz", ".bz2"):
        lower = lower.removesuffix(packed)
    return next((sep for suffix, sep in _SEPARATORS.items() if lower.endswith(suffix)), None)


@dataclass(frozen=True)
class Cells:
    """Every row of a small text table, and the line of the file on which it ends."""

    rows: list[list[Cell]]
    lines: list[int]
    name: str


def read_cells(
    source: Source,
    sep: str,
    *,
    comments: bool = True,
    blank_rows: bool = False,
    rectangular: bool = False,
    encoding: str | None = None,
) -> Cells:
    """Every cell of a text table as it stands: nothing is rounded, renamed or left out.

    Lines that start with # before the first row are ``comments``. A blank line between rows is
    refused, since it may be a missing value, or kept as an empty row if ``blank_rows`` are
    expected; those at the end are skipped. A quoted cell may hold line ends. If
    ``rectangular``, rows have one length, but for the first, which may be one shorter, as R heads
    row names.
    """
    name = name_of(source)
    rows: list[list[Cell]] = []
    lines: list[int] = []
    number = blank = size = 0
    open_quote = ""
    with open_bytes(source) as stream:
        for block in Lines(stream, name, encoding):
            size += len(block)
            require_memory(_CELL_OVERHEAD * size, f"reading {name}", "Write fewer rows.")
            before = len(rows)
            for line in decode_utf8(block, name).split("\n")[:-1]:
                number += 1
                text = f"{open_quote}\n{line}" if open_quote else line
                if not open_quote and not line.strip(" \t"):
                    blank += bool(rows)
                    continue
                if comments and not rows and line.lstrip(" \t").startswith("#"):
                    continue
                try:
                    cells = split_line(text, sep)
                except _UnclosedQuote:
                    open_quote = text
                    if len(open_quote) > _LONGEST_CELL:
                        break
                    continue
                except FileFormatError as error:
                    raise FileFormatError(f"{name}, line {number}: {error}") from None
                open_quote = ""
                if blank and not blank_rows:
                    raise FileFormatError(
                        f"{name}: there is a blank line before line {number}; it may be a missing "
                        "value. Remove it, or write the value."
                    )
                rows += [[] for _ in range(blank)]
                lines += range(number - blank, number)
                blank = 0
                rows.append(cells)
                lines.append(number)
            if len(rows) == before:
                refuse_long_preamble(size, name)
            if len(open_quote) > _LONGEST_CELL:
                break
    if open_quote:
        raise FileFormatError(f"{name}, line {number}: a quoted cell is not closed.")
    if not rows:
        raise FileFormatError(f"{name} is empty; expected at least one row.")
    width = len(rows[-1])
    for at, row in zip(lines, rows, strict=True) if rectangular else ():
        if len(row) != width and not (row is rows[0] and len(row) == width - 1):
            raise FileFormatError(
                f"{name}, line {at} has {len(row)} cells, where the last has {width}."
            )
    return Cells(rows, lines, name)


@about("header", "path")
def is_header(first: list[Cell], name: str, following: list[list[Cell]]) -> bool:
    """Whether the first row of a table of labels is a header.

    It is one when no cell of it is a number, and a draw when all are. Where
    both readings are possible the user must say: numbers and text mixed,
    numbers that count 0, 1, 2, … or 1, 2, 3, … as column numbers do, or
    numbers that are all different, as ids of items are, and appear in none of
    the rows that follow. Fractions are neither, and are refused as labels.
    """
    numbers = [cell.number for cell in first]
    known = [number for number in numbers if number is not None]
    say = "Pass header=True if it is a header, header=False if it is a draw."
    if not known:
        return True
    if len(known) < len(numbers):
        odd = next(cell for cell, number in zip(first, numbers, strict=True) if number is None)
        raise FileFormatError(
            f"{name}: the first row mixes numbers with {odd.text!r}, so it may be a header or "
            f"a draw with a bad label. {say}"
        )
    if any(number % 1 > 0 for number in known):  # neither ids of items nor labels
        return False
    different = len(known) > 1 and len(set(known)) == len(known) and max(known) > len(known)
    if different and not any(cell.number in known for row in following for cell in row):
        raise FileFormatError(
            f"{name}: the numbers of the first row are all different ({known[0]:g}, {known[1]:g}, "
            f"…), so it may be a header of item ids or a draw with every item alone. {say}"
        )
    if len(known) > 1 and known[0] in (0, 1):
        counting = all(number == known[0] + i for i, number in enumerate(known))
        if counting:
            raise FileFormatError(
                f"{name}: the first row counts {known[0]:.0f}, {known[1]:.0f}, …, so it may be a "
                f"header of column numbers or a draw with every item alone. {say}"
            )
    return False


# ------------------------------------------------------------------ variables


def choose_variable(
    names: Mapping[str, str], fitting: Sequence[str], var_name: str | None, none: str
) -> str:
    """The variable with the labels: the one that is named, or the only one that fits.

    ``names`` says how a message shows each of them, ``none`` that none fits.
    """
    if var_name is not None and var_name in names:
        return var_name
    if var_name is None and len(fitting) == 1:
        return fitting[0]
    known = listed([names[each] for each in fitting or names], 20) or "none"
    said = f"{none}. The variables are: {known}."
    if var_name is not None:
        said = f"var_name={var_name!r} is not among the variables: {known}."
    elif fitting:
        said = f"several variables fit; choose one by var_name=…: {known}."
    raise InvalidInputError(said, argument=None if var_name is None else "var_name")


# ------------------------------------------------------------------ tables of other libraries


class Frame(NamedTuple):
    """Columns of a table in memory: numbers, masked where they are missing, or objects and None."""

    names: list[Any]
    columns: list[Array]
    categories: list[bool]
    """Whether a column is of a type for categories."""
    index: Any = None
    """Of a pandas DataFrame."""


def read_frame(obj: Any) -> Frame | None:
    """The columns of a pandas or polars DataFrame or an Arrow table; None for anything else."""
    if hasattr(obj, "iloc"):
        types = set(obj.dtypes)
        if len(types) == 1 and isinstance(kind := types.pop(), np.dtype) and kind.kind in "iub":
            # One by one 50,000 columns take twenty times as long.
            return Frame(
                obj.columns.tolist(), list(obj.to_numpy().T), [False] * obj.shape[1], obj.index
            )
        found = [obj.iloc[:, j] for j in range(obj.shape[1])]
        values = [_pandas_values(series) for series in found]
        categories = [hasattr(series.dtype, "categories") for series in found]
        return Frame(obj.columns.tolist(), values, categories, obj.index)
    if hasattr(obj, "to_series"):
        found = [obj.to_series(j) for j in range(obj.width)]
        return Frame(obj.columns, list(map(_polars_values, found)), [False] * obj.width)
    if hasattr(obj, "column_names"):
        found = [obj.column(j) for j in range(obj.num_columns)]
        categories = [hasattr(column.type, "value_type") for column in found]
        return Frame(obj.column_names, list(map(arrow_values, found)), categories)
    return None


def _pandas_values(series: Any) -> Array:
    """Nullable and Arrow types by their own kind."""
    dtype, missing = series.dtype, np.asarray(series.isna())
    if getattr(dtype, "kind", "O") not in "iufb":
        return np.asarray(series.astype(object).where(~missing, None).to_numpy(), object)
    plain = getattr(dtype, "numpy_dtype", None)
    if not missing.any():
        return np.asarray(series.to_numpy() if plain is None else series.to_numpy(dtype=plain))
    return np.ma.masked_array(series.fillna(0).to_numpy(dtype=plain), missing)


def _polars_values(series: Any) -> Array:
    plain = series.dtype.is_numeric() and str(series.dtype) not in ("Int128", "UInt128", "Decimal")
    if not plain and (str(series.dtype) != "Boolean" or series.null_count()):
        return objects(series.to_list())
    if not series.null_count():
        return np.asarray(series.to_numpy())
    return np.ma.masked_array(series.fill_null(0).to_numpy(), series.is_null().to_numpy())


_ARROW_NUMBERS = frozenset(
    ("double", "float", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
)


def is_arrow_number(column: Any) -> bool:
    """Whether a column or field of Arrow has a type of numbers that NumPy has too."""
    return str(column.type) in _ARROW_NUMBERS


def arrow_values(column: Any) -> Array:
    """A column of an Arrow table, or of a batch."""
    options = {} if hasattr(column, "chunks") else {"zero_copy_only": False}
    if not is_arrow_number(column) and (str(column.type) != "bool" or column.null_count):
        return objects(column.to_pylist())
    if not column.null_count:
        return np.asarray(column.to_numpy(**options))
    values = column.fill_null(0).to_numpy(**options)
    return np.ma.masked_array(values, column.is_null().to_numpy(**options))


def objects(values: list[Any]) -> Array:
    """One column of objects, lists in cells included."""
    found = np.empty(len(values), object)
    found[:] = values
    return found
