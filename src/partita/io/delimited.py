"""Draws in text files: separated values, CmdStan's tables, and the chains of CODA."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np

from partita._files import FileMissingError
from partita._validate import unexpected
from partita.draws import Draws
from partita.errors import (
    FileFormatError,
    FractionalLabelsError,
    InvalidInputError,
    InvalidLabelsError,
    PartitaWarning,
)
from partita.io import draws_table, table
from partita.io.table import MISSING, Cell, Lines, ReadOptions, Source
from partita.kernels.arrays import Array, Floats, Ints

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_STAN = re.compile(
    rb"^#\s*(save_warmup|num_warmup|warmup|num_samples|iter|thin)\s*=\s*(\d+|true|false)\b", re.M
)
"""What Stan's programs say about warm-up in their comments."""
_CONTENT = re.compile(rb"^[ \t]*+[^\s#][^\n]*\n", re.MULTILINE)
"""A line that is neither blank nor a comment."""
_ROW = re.compile(rb"^[ \t]*+[^\s][^\n]*\n", re.MULTILINE)
"""A line that is not blank."""


def read(source: Source, options: ReadOptions, *, sep: str, one_variable: bool = False) -> Draws:
    """Draws separated by a character, or by runs of blanks for ""; CmdStan's of one variable."""
    name = table.name_of(source)
    sep = _check_sep(sep if options.sep is None else options.sep)
    if options.strings and options.header is None:
        raise InvalidInputError(
            "strings=True was given without header=…: where labels are text, a "
            "header cannot be recognised. Pass header=True or header=False.",
            argument="strings",
        )
    with table.open_bytes(source) as stream:
        rows = TextTable(stream, name, sep, options, one_variable)
        if options.transpose:
            return draws_table.draws_from_items(rows)
        draws = draws_table.draws_from_table(
            rows,
            var_name=options.var_name,
            one_variable=one_variable,
            may_be_long=not options.strings,
        )
    if rows.is_stan and rows.lines.cut:
        raise FileFormatError(
            f"{name} ends in the middle of a line, so that its last number may be cut short. Let "
            "the run finish, or copy the file again."
        )
    return _drop_warmup(draws, rows.preface, name)


read_csv = partial(read, sep=",")
read_tsv = partial(read, sep="\t")
read_txt = partial(read, sep="")
read_cmdstan = partial(read, sep=",", one_variable=True)


def _check_sep(sep: str) -> str:
    if len(sep.encode()) > 1 or sep in ('"', "\n", "\r", "#", ".", "-", "+") or sep.isalnum():
        expected = (
            "one ASCII character that is not part of a number, such as ';', or '' for runs of"
        )
        raise unexpected(sep, "sep", f"{expected} blanks")
    return sep


class TextTable(draws_table.LabelTable):
    """A text file as a table: its first rows say what the columns are, and it is read once.

    Stan's tables have comments between their rows. A first column without a heading holds names
    of the rows.
    """

    read_once = True

    def __init__(
        self, stream: IO[Any], name: str, sep: str, options: ReadOptions, one_variable: bool
    ) -> None:
        self.lines = Lines(stream, name)
        self._blocks, self._name, self._sep = iter(self.lines), name, sep
        self._strings = options.strings
        self._head = head = _read_head(self._blocks, name, one_variable=one_variable)
        found = _CONTENT.search(head)
        assert found is not None  # _read_head saw a row
        start, self._body = found.span()
        self.preface = head[:start]
        self.is_stan = one_variable or b"lp__" in found[0]
        pattern = _CONTENT if self.is_stan else _ROW
        others = [match[0] for match in islice(pattern.finditer(head, self._body), 2)]
        if options.sep is None:
            _refuse_other_separator([found[0], *others][-1], sep, name)
        first = table.cells_of(found[0], sep, name)
        following = [table.cells_of(row, sep, name) for row in others]
        header = options.header
        if header is None:
            header = table.is_header(first, name, following)
        if options.strings or not header:
            _refuse_hidden_row(self.preface, sep, len(first), name, strings=options.strings)
        self._offset = 0
        if not header:
            if one_variable or options.var_name is not None:
                raise FileFormatError(
                    f"{name} has no header, so no variable can be found by name; "
                    "expected columns such as z.1, z.2, …."
                )
            self._body, self._second = start, first
            names = draws_table.placeholder_names(len(first))
        else:
            if not others:
                raise FileFormatError(
                    f"{name} has a header and no draws; expected at least one row."
                )
            self._second = following[0]
            self._offset = int(first[0].text == "" or len(first) == len(self._second) - 1)
            if self._offset and len(first) == len(self._second):
                first = first[1:]
            names = [cell.text for cell in first]
            _refuse_transposed(names, options)
        super().__init__((), names)
        self._kept: dict[int, list[Cell]] = {}
        self.n_rows = _expected_rows(stream, len(others[0] if others else found[0]), len(names))

    def is_whole(self, position: int) -> bool:
        """Whether the first label of a column is a whole number."""
        at = position + self._offset
        number = self._second[at].number if at < len(self._second) else None
        return number is not None and number.is_integer()

    def blocks(self, columns: list[int], _: int) -> Iterator[Array]:
        """Some columns in the blocks of the file; those ``beside`` can be had afterwards."""
        from partita.kernels.delimited import SKIP

        n_columns, n_items = len(self.names) + self._offset, len(columns)
        kept = [*self.beside, *([-1] if self._offset else [])]
        self._kept = {position: [] for position in kept}
        target = np.full(n_columns, SKIP)
        kept = [*columns, *kept] if self._strings else kept
        target[np.array(columns, np.int64) + self._offset] = np.arange(n_items)
        target[np.array(kept, np.int64) + self._offset] = SKIP - 1 - np.arange(len(kept))
        self.n_rows = 0
        for labels, cells in self._parsed(target, 0 if self._strings else n_items, len(kept)):
            if self._strings:
                labels = np.array([[cell.text for cell in column] for column in cells[:n_items]]).T
                cells = cells[n_items:]
            for column, more in zip(self._kept.values(), cells, strict=True):
                column.extend(more)
            self.n_rows += len(labels)
            yield labels
        if -1 in self._kept:
            self.row_names = [cell.text for cell in self._kept[-1]]

    def column(self, position: int) -> Array:
        """A column beside the labels: numbers, or text and None where it is missing."""
        cells = self._kept[position]
        if all(not cell.quoted and _INTEGER.fullmatch(cell.text) for cell in cells):
            return np.array([int(cell.text) for cell in cells])
        numbers = [cell.number for cell in cells]
        if self._sep == ";":  # where cells end with ; numbers may have a decimal comma
            numbers = [Cell(cell.text.replace(",", "."), cell.quoted).number for cell in cells]
        if None not in numbers:
            return np.array(numbers)
        return table.objects(
            [cell.text if cell.quoted or cell.text not in MISSING else None for cell in cells]
        )

    def in_memory(self) -> draws_table.LabelTable:
        """All columns of a long table, of numbers but for that of an item's name."""
        long = draws_table.long_columns(self.names)
        assert long is not None
        item, every = long.item, list(range(len(self.names)))
        at = item + self._offset
        is_text = at < len(self._second) and self._second[at].number is None
        numbers = [position for position in every if not is_text or position != item]
        empty = np.empty((0, len(numbers)), np.int64)
        self.beside = [item] if is_text else []
        columns: list[Array] = list(np.concatenate([empty, *self.blocks(numbers, 0)]).T)
        if is_text:
            columns.insert(item, np.array([cell.text for cell in self._kept[item]]))
        return draws_table.LabelTable(columns, self.names, self.row_names)

    def _parsed(
        self, target: Ints, n_items: int, n_kept: int
    ) -> Iterator[tuple[Array, list[list[Cell]]]]:
        """Blocks of numbers, and for each column that is kept its cells."""
        from partita.kernels.delimited import NOT_WHOLE, SKIP, WHOLE, parse_rows

        lines, start = 0, self._body
        for block in chain([self._head], self._blocks):
            text = np.frombuffer(block, np.uint8)
            # A cell takes at least one byte, its separator.
            most = (text.size - start) // target.size + 1
            out = np.empty((most, n_items), np.int64)
            spans = np.empty((most, n_kept, 2), np.int64)
            rows, position, status, column = parse_rows(
                text, start, ord(self._sep or "\0"), target, out, spans, self.is_stan
            )
            if status != WHOLE:
                self._refuse(block, position, status, lines, column)
            cells = [self._cells(block, spans[:rows, kept]) for kept in range(n_kept)]
            for number, labels in enumerate(cells[: n_kept - len(self._kept)]):
                for row, cell in enumerate(labels):
                    if cell.text in MISSING and not cell.quoted:
                        at = int(np.flatnonzero(target == SKIP - 1 - number)[0])
                        self._refuse(block, int(spans[row, number, 0]), NOT_WHOLE, lines, at)
            yield out[:rows], cells
            lines += block.count(b"\n")
            start = 0

    def _cells(self, block: bytes, spans: Ints) -> list[Cell]:
        texts = [block[a:b] for a, b in spans.tolist()]
        return [
            table.cells_of(text, "\0", self._name)[0]
            if b'"' in text
            else Cell(table.decode_utf8(text, self._name).strip(" \t"), False)
            for text in texts
        ]

    def _refuse(
        self, block: bytes, position: int, status: int, lines: int, column: int
    ) -> NoReturn:
        """Raise the error for the cell at a position; ``lines`` lines precede the block."""
        from partita.kernels.delimited import TOO_FEW, TOO_MANY, UNCLOSED

        line = lines + block.count(b"\n", 0, position) + 1
        where = f"{self._name}, line {line}"
        if status in (TOO_FEW, TOO_MANY):
            n_columns = len(self.names) + self._offset
            count = f"only {column}" if status == TOO_FEW else f"more than {n_columns}"
            raise FileFormatError(
                f"{where}: {count} cells, where earlier rows have {n_columns}. "
                "Every draw must label every item."
            )
        where += f", column {column + 1}"
        if status == UNCLOSED:
            raise FileFormatError(f"{where}: a quoted cell is not closed on its line.")
        text = block[position:].partition(b"\n")[0].decode(errors="replace").strip()
        if self._strings and text.startswith('"'):
            raise FileFormatError(f"{where}: text follows a quoted cell.")
        numbers = [Cell(cell.strip(), False).number for cell in text.split(self._sep or None)]
        if not text.startswith('"'):
            text = text.split(self._sep or None, 1)[0].strip() if text else ""
        fractional = any(number is not None and number % 1 > 0 for number in numbers)
        error = FractionalLabelsError if fractional and text not in MISSING else InvalidLabelsError
        raise error(f"{where}: {_bad_label_message(text)}{_hint(numbers)}")


# ------------------------------------------------------------------ first rows


def _read_head(blocks: Iterable[bytes], name: str, *, one_variable: bool) -> bytes:
    """The beginning of the file, far enough to hold its first three rows if it has them."""
    pieces: list[bytes] = []
    rows = passed_over = 0
    pattern = _CONTENT  # lines that start with # are comments before the table
    for block in blocks:
        pieces.append(block)
        before, at = rows, 0
        if not rows and (found := pattern.search(block)):
            rows, at = 1, found.end()
            pattern = _CONTENT if one_variable or b"lp__" in found[0] else _ROW
        if rows:
            rows += sum(1 for _ in islice(pattern.finditer(block, at), 3 - rows))
        if rows >= 3:
            break
        passed_over += len(block) if rows == before else 0
        table.refuse_long_preamble(passed_over, name)
    if not rows:
        raise FileFormatError(f"{name} is empty; expected draws, one row each.")
    return b"".join(pieces)


def _expected_rows(stream: IO[Any], row_bytes: int, n_columns: int) -> int:
    """Estimate the number of remaining rows; 1 when the file's size is unknown."""
    try:
        size = os.fstat(stream.fileno()).st_size
    except (OSError, AttributeError, ValueError):
        return 1
    # A cell takes at least its digit and its separator, however short the first row was.
    return int(1.1 * size / max(row_bytes, 2 * n_columns)) + 16


def _refuse_transposed(names: list[str], options: ReadOptions) -> None:
    special = sorted({draws_table.CHAIN, draws_table.WEIGHT} & set(names))
    if options.transpose and (special or options.var_name):
        raise InvalidInputError(
            f"transpose=True was given for a table with {special or 'var_name=…'}; a table of "
            "named variables has one row per draw.",
            argument="transpose",
        )


def _refuse_hidden_row(preface: bytes, sep: str, width: int, name: str, *, strings: bool) -> None:
    """A line that starts with # before the table may be its first row, if its cells are labels."""
    for line in preface.split(b"\n"):
        if not line.lstrip().startswith(b"#") or width == 1:
            continue
        cells = table.split_line(line.decode(errors="replace").replace("#", "", 1), sep)
        if len(cells) == width and (strings or all(cell.number is not None for cell in cells)):
            raise FileFormatError(
                f"{name}: the line {line.decode()[:40]!r} before the table may be a comment or a "
                "row. Put its first cell in quotes, or remove the line."
            )


def _refuse_other_separator(row: bytes, sep: str, name: str) -> None:
    """A row that is one cell with another separator inside: say which option reads it."""
    bare = re.sub(rb'"[^"]*"', b'""', row).strip().decode(errors="replace")
    if sep in bare if sep else len(bare.split()) > 1:
        return
    formats = {"\t": "tsv", ",": "csv", " ": "txt"}
    choices = {";": "sep=';'", **{each: f"format={f!r}" for each, f in formats.items()}}
    for other, option in choices.items():
        if other in bare:
            came = "blanks" if other == " " else repr(other)
            raise FileFormatError(
                f"{name}: cells seem to be separated by {came}, not by "
                f"{repr(sep) if sep else 'blanks'}. Pass {option}.",
                argument=option.partition("=")[0],
            )


# ------------------------------------------------------------------ messages


def _hint(numbers: list[float | None]) -> str:
    """A hint if the numbers look like a similarity matrix."""
    shares = all(number is not None and 0 <= number <= 1 for number in numbers)
    if not shares or not any(number is not None and 0 < number < 1 for number in numbers):
        return ""
    return " If this is a posterior similarity matrix, pass it as similarity=…, not as draws."


def _bad_label_message(text: str) -> str:
    """The error for a cell that is not a whole number."""
    as_text = "pass strings=True and header=True or header=False"
    if text in MISSING:
        shown = f"{text!r} stands for a missing label" if text else "the label is missing"
        return (
            f"{shown}; every item needs a label in every draw. Drop the item or the draw before "
            "partita sees it."
        )
    if text.startswith("#"):
        return (
            f"{text[:40]!r} is not a whole number. Lines that start with # are comments before "
            f"the table only; if labels are text, {as_text}."
        )
    number = Cell(text, False).number
    if number is None:
        return (
            f"{text[:40]!r} is not a whole number. If labels are text, {as_text}; if another "
            "character separates cells, pass sep=…."
        )
    if number != number // 1:
        return f"{text!r} is not a whole number; labels must be whole."
    if re.fullmatch(r"[+-]?0[0-9]+.*|[+-]?[0-9]+[eE][0-9]+", text):
        return (
            f"{text!r} looks like a code rather than a number: 01 may differ from 1, and 1e5 may "
            f"be hexadecimal. If labels are text, {as_text}; else write plain numbers."
        )
    if re.fullmatch(r"[+-]?\.0*", text):
        return f"{text!r} has no digit before its point; write plain numbers."
    return f"{text!r} is too large for a label; at most 18 digits are read. Relabel the clusters."


def _drop_warmup(draws: Draws, comments: bytes, name: str) -> Draws:
    """The draws less those that the file's comments call warm-up, with a warning.

    CmdStan writes ``num_warmup = 1000`` and ``num_samples = 1000``, rstan
    ``warmup=1000`` and ``iter=2000``; both note ``save_warmup`` and ``thin``.
    A file with exactly as many rows as there are samples has lost its warm-up
    already.
    """
    said = {b"true": b"1", b"false": b"0"}
    found = {key: int(said.get(value, value)) for key, value in _STAN.findall(comments)}
    warmup = found.get(b"num_warmup", found.get(b"warmup", 0))
    if not found.get(b"save_warmup") or not warmup:
        return draws
    thin = max(1, found.get(b"thin", 1))
    samples = found.get(b"num_samples", found.get(b"iter", warmup) - warmup)
    n_warmup = -(-warmup // thin)
    if draws.n_draws == -(-samples // thin):
        return draws
    if draws.n_draws <= n_warmup:
        raise FileFormatError(
            f"{name} has {draws.n_draws} draws, all of them warm-up by its comments "
            f"(save_warmup, {n_warmup} draws of warm-up). There is no posterior draw in it."
        )
    message = f"{name} was written with save_warmup: its first {n_warmup} draws are warm-up"
    warnings.warn(PartitaWarning(f"{message} and were left out."), stacklevel=2)
    return draws[n_warmup:]


# ------------------------------------------------------------------ CODA

_CHAIN_FILE = re.compile(r"chain\d*(?=\.[^.]+$)", re.IGNORECASE)


def _index_of(path: Path) -> Path | None:
    """The index that belongs to a chain: CODAindex.txt to CODAchain1.txt, or the same with .ind."""
    candidates = [path.with_suffix(".ind")]
    if found := _CHAIN_FILE.search(path.name):
        word = "Index" if found[0][0] == "C" else "index"
        names = (_CHAIN_FILE.sub(each, path.name) for each in (word, "index", "Index"))
        candidates += [path.with_name(name) for name in names]
    return next((each for each in candidates if each.is_file() and each != path), None)


def read_coda(path: Path, options: ReadOptions) -> Draws:
    """Draws of one variable of a chain, as JAGS, OpenBUGS and coda's ``write.coda`` keep them."""
    table.refuse_transpose(options.transpose, "CODA's files")
    index = _index_of(path)
    if index is None:
        raise FileMissingError(
            f"{path} has no index beside it; expected CODAindex.txt, or the same name with .ind. "
            "Copy it there."
        )
    variables = _variables(_two_columns(path), _read_index(index), path)
    return draws_table.draws_from_table(variables, var_name=options.var_name)


def _two_columns(path: Path) -> Floats:
    """The iterations and values of a chain."""
    found: list[list[float | None]] = []
    with path.open("rb") as stream:
        lines = Lines(stream, str(path))
        rows = (row for block in lines for row in table.decode_utf8(block, str(path)).splitlines())
        for number, row in enumerate(rows, start=1):
            values = [Cell(text, False).number for text in row.split()]
            if values and (len(values) != 2 or None in values):
                raise FileFormatError(
                    f"{path}, line {number}: {row[:60]!r}; expected an iteration and a value, as "
                    "in a chain of CODA."
                )
            found += [values] if values else []
    if lines.cut:
        raise FileFormatError(f"{path} ends in the middle of a line. Copy the file again.")
    return np.array(found, np.float64).reshape(-1, 2)


def _read_index(path: Path) -> list[tuple[str, int, int]]:
    found = []
    with path.open("rb") as stream:
        text = table.decode_utf8(b"".join(Lines(stream, str(path))), str(path))
    for number, line in enumerate(text.split("\n"), start=1):
        parts = line.rsplit(None, 2)
        if not parts:
            continue
        if len(parts) != 3 or not (parts[1].isdigit() and parts[2].isdigit()):
            raise FileFormatError(
                f"{path}, line {number}: expected a name, its first and its last row; "
                f"found {line[:60]!r}."
            )
        found.append((parts[0].strip('"'), int(parts[1]) - 1, int(parts[2])))
    return found


def _variables(
    values: Floats, index: list[tuple[str, int, int]], path: Path
) -> draws_table.LabelTable:
    """The variables of a chain as columns; its rows must be those of the index, each once."""
    names = [name for name, _, _ in index]
    spans = [(start, stop) for _, start, stop in index]
    lengths = {stop - start for start, stop in spans}
    ends = [0, *(stop for _, stop in sorted(spans))]
    tiled = ends == [*(start for start, _ in sorted(spans)), len(values)]
    if len(lengths) != 1 or not tiled or len(set(names)) < len(names):
        raise FileFormatError(
            f"{path} and its index do not fit: {len(values):,} rows, and variables of "
            f"{', '.join(map(str, sorted(lengths)[:4])) or 'no'} rows up to {ends[-1]:,}; each "
            "row must belong to one variable, and each variable have a name of its own. Copy "
            "both again."
        )
    first = values[slice(*spans[0]), 0]
    if any(not np.array_equal(values[slice(*span), 0], first) for span in spans):
        raise FileFormatError(f"{path}: its variables were monitored at different iterations.")
    return draws_table.LabelTable([values[slice(*span), 1] for span in spans], names)
