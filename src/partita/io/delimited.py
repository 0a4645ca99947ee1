"""Draws in text files: separated values, CmdStan's tables, and the chains of CODA."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain as chained
from itertools import islice
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from partita._files import FileMissingError
from partita._progress import Status
from partita._validate import unexpected
from partita._wording import Kind
from partita.draws import Draws
from partita.errors import (
    FileFormatError,
    FractionalLabelsError,
    InvalidInputError,
    InvalidLabelsError,
    InvalidWeightsError,
)
from partita.io.draws_table import (
    CHAIN,
    DRAW,
    WEIGHT,
    Builder,
    Columns,
    LabelTable,
    Long,
    chains_of,
    choose_columns,
    clean_ids,
    draws_from_long,
    draws_from_table,
    is_long,
    long_columns,
    warn_of_items_in_rows,
)
from partita.io.table import (
    MISSING,
    Cell,
    Lines,
    ReadOptions,
    Source,
    cells_of,
    decode_utf8,
    is_header,
    name_of,
    open_bytes,
    refuse_endless,
    refuse_transpose,
    split_line,
)
from partita.kernels.arrays import Floats, Ints

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_STAN = re.compile(
    rb"^#\s*(save_warmup|num_warmup|warmup|num_samples|iter|thin)\s*=\s*(\d+|true|false)\b", re.M
)
"""What Stan's programs say about warm-up in their comments."""
_CONTENT = re.compile(rb"^[ \t]*+[^\s#][^\n]*\n", re.MULTILINE)
"""A line that is neither blank nor a comment."""
_ROW = re.compile(rb"^[ \t]*+[^\s][^\n]*\n", re.MULTILINE)
"""A line that is not blank."""
ROW_NAMES, ITEM = "row names", "item"
"""What a first column without a heading holds; the item of a row in the long format."""


@dataclass(frozen=True)
class Layout:
    """The roles of the columns of a text file.

    ``target`` gives each column the number of its item, -1 for a column passed
    over, or -2, -3, … for one kept as text (``kept`` says what those are). The draws start at byte
    ``body`` of the first block; a row takes about ``row_bytes``. Of a table that may be ``long``
    all columns are read as numbers, but for the item where it is text. Stan's tables (``stan``)
    have comments between their rows.
    """

    target: NDArray[np.int64]
    n_items: int
    names: tuple[str, ...] | None
    kept: tuple[str, ...]
    body: int
    row_bytes: int
    kind: Kind = "posterior"
    stan: bool = False
    headings: tuple[str, ...] = ()
    long: Long | None = None


Rows = Iterator[tuple[NDArray[Any], list[list[Cell]]]]
"""Blocks of labels, and for each column kept as text its cells."""


def read(source: Source, options: ReadOptions, *, sep: str, one_variable: bool = False) -> Draws:
    """Draws separated by a character, or by runs of blanks for ""; CmdStan's of one variable."""
    name = name_of(source)
    sep = _check_sep(sep if options.sep is None else options.sep)
    if options.strings and options.header is None:
        raise InvalidInputError(
            "strings=True was given without header=…: where labels are text, a "
            "header cannot be recognised. Pass header=True or header=False.",
            argument="strings",
        )
    with open_bytes(source) as stream:
        lines = Lines(stream, name)
        blocks = iter(lines)
        head = _read_head(blocks, name, one_variable=one_variable)
        layout = _find_layout(head, sep, options, name, one_variable=one_variable)
        parse = _string_rows if options.strings else _number_rows
        rows = parse(chained([head], blocks), layout, sep, name)
        if options.transpose:
            return _transposed_draws(rows, layout)
        if layout.long is not None:
            draws = _of_few_columns(rows, layout, layout.long)
        else:
            draws = _draws(rows, layout, _expected_rows(stream, layout), sep)
    if layout.stan and lines.cut:
        raise FileFormatError(
            f"{name} ends in the middle of a line, so that its last number may be cut short. Let "
            "the run finish, or copy the file again."
        )
    return _drop_warmup(draws, head[: layout.body], name)


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


# ------------------------------------------------------------------ layout


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
        refuse_endless(passed_over, name)
    if not rows:
        raise FileFormatError(f"{name} is empty; expected draws, one row each.")
    return b"".join(pieces)


def _find_layout(
    head: bytes, sep: str, options: ReadOptions, name: str, *, one_variable: bool
) -> Layout:
    """Find the roles of the columns from the first rows and the user's options."""
    found = _CONTENT.search(head)
    assert found is not None  # _read_head saw a row
    start, stop = found.span()
    stan = one_variable or b"lp__" in found[0]
    others = [m.span() for m in islice((_CONTENT if stan else _ROW).finditer(head, stop), 2)]
    if options.sep is None:
        last = others[-1] if others else (start, stop)
        _refuse_other_separator(head[slice(*last)], sep, name)
    first = cells_of(head[start:stop], sep, name)
    following = [cells_of(head[slice(*span)], sep, name) for span in others]
    header = is_header(first, name, following) if options.header is None else options.header
    if options.strings or not header:
        _refuse_hidden_row(head[:start], sep, len(first), name, strings=options.strings)
    if not header:
        if one_variable or options.var_name is not None:
            raise FileFormatError(
                f"{name} has no header, so no variable can be found by name; "
                "expected columns such as z.1, z.2, …."
            )
        return Layout(np.arange(len(first)), len(first), None, (), start, stop - start)
    if not others:
        raise FileFormatError(f"{name} has a header and no draws; expected at least one row.")
    second = following[0]
    row_names = first[0].text == "" or len(first) == len(second) - 1
    if row_names and len(first) == len(second):
        first = first[1:]
    names = [cell.text for cell in first]
    offset = int(row_names)
    row_bytes = others[0][1] - others[0][0]
    long = None if options.transpose or options.var_name else long_columns(names)
    if long is not None and not options.strings:
        return _long_layout(names, long, second, stop, row_bytes, offset)
    columns = (
        Columns(list(range(len(names))), None, None, None)
        if options.transpose
        else choose_columns(
            names,
            var_name=options.var_name,
            is_whole=lambda i: _is_whole(second, i + offset),
            one_variable=one_variable,
        )
    )
    _refuse_transposed(names, options)
    target, kept = _targets(len(names) + offset, columns, offset)
    return Layout(
        target,
        len(columns.items),
        columns.names,
        kept,
        stop,
        row_bytes,
        columns.kind,
        stan,
        tuple(names),
    )


def _targets(n_columns: int, columns: Columns, offset: int) -> tuple[Ints, tuple[str, ...]]:
    """Return the output position of each column, and the columns kept as text."""
    target = np.full(n_columns, -1, np.int64)
    target[np.array(columns.items, np.int64) + offset] = np.arange(len(columns.items))
    special = [(columns.chain, CHAIN), (columns.weight, WEIGHT), (columns.draw, DRAW)]
    kept = [(position + offset, what) for position, what in special if position is not None]
    if offset:
        kept.append((0, ROW_NAMES))
    for slot, (position, _) in enumerate(kept):
        target[position] = -2 - slot
    return target, tuple(what for _, what in kept)


def _long_layout(
    names: list[str], long: Long, second: list[Cell], body: int, row_bytes: int, offset: int
) -> Layout:
    target = np.arange(-offset, len(names))  # a column of row names is passed over
    kept: tuple[str, ...] = ()
    item = long.item + offset
    if item < len(second) and second[item].number is None:
        target[item], kept = -2, (ITEM,)
    return Layout(target, len(names), None, kept, body, row_bytes, headings=tuple(names), long=long)


def _is_whole(row: list[Cell], position: int) -> bool:
    number = row[position].number if position < len(row) else None
    return number is not None and number.is_integer()


def _refuse_transposed(names: list[str], options: ReadOptions) -> None:
    special = sorted({CHAIN, WEIGHT} & set(names))
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
        cells = split_line(line.decode(errors="replace").replace("#", "", 1), sep)
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


# ------------------------------------------------------------------ rows


def _number_rows(blocks: Iterable[bytes], layout: Layout, sep: str, name: str) -> Rows:
    """Labels that are whole numbers, through the compiled parser."""
    from partita.kernels.delimited import WHOLE, parse_rows

    lines, start = 0, layout.body
    separator = ord(sep) if sep else 0
    for block in blocks:
        text = np.frombuffer(block, np.uint8)
        # A cell takes at least one byte, its separator.
        most = (text.size - start) // layout.target.size + 1
        out = np.empty((most, layout.n_items), np.int64)
        spans = np.empty((most, len(layout.kept), 2), np.int64)
        rows, position, status, column = parse_rows(
            text, start, separator, layout.target, out, spans, layout.stan
        )
        if status != WHOLE:
            line = lines + block.count(b"\n", 0, position) + 1
            _refuse(block[position:], status, line, column, layout.target.size, sep, name)
        yield out[:rows], _kept_cells(block, spans[:rows], name)
        lines += block.count(b"\n")
        start = 0


def _kept_cells(block: bytes, spans: Ints, name: str) -> list[list[Cell]]:
    return [
        [
            cells_of(block[a:b], "\0", name)[0]
            if b'"' in block[a:b]
            else Cell(decode_utf8(block[a:b], name).strip(" \t"), False)
            for a, b in spans[:, column].tolist()
        ]
        for column in range(spans.shape[1])
    ]


def _refuse(
    rest: bytes, status: int, line: int, column: int, n_columns: int, sep: str, name: str
) -> NoReturn:
    from partita.kernels.delimited import TOO_FEW, TOO_MANY, UNCLOSED

    if status in (TOO_FEW, TOO_MANY):
        count = f"only {column}" if status == TOO_FEW else f"more than {n_columns}"
        raise FileFormatError(
            f"{name}, line {line}: {count} cells, where earlier rows have {n_columns}. "
            "Every draw must label every item."
        )
    where = f"{name}, line {line}, column {column + 1}"
    if status == UNCLOSED:
        raise FileFormatError(f"{where}: a quoted cell is not closed on its line.")
    text = rest.partition(b"\n")[0].decode(errors="replace").strip()
    numbers = [Cell(cell.strip(), False).number for cell in text.split(sep or None)]
    if not text.startswith('"'):
        text = text.split(sep or None, 1)[0].strip() if text else ""
    fractional = any(number is not None and number % 1 > 0 for number in numbers)
    error = FractionalLabelsError if fractional and text not in MISSING else InvalidLabelsError
    raise error(f"{where}: {_complaint(text)}{_hint(numbers)}")


def _hint(numbers: list[float | None]) -> str:
    """Shares up to one of items with themselves are what similarity matrices hold."""
    shares = all(number is not None and 0 <= number <= 1 for number in numbers)
    if not shares or not any(number is not None and 0 < number < 1 for number in numbers):
        return ""
    return " If this is a posterior similarity matrix, pass it as similarity=…, not as draws."


def _complaint(text: str) -> str:
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


def _string_rows(blocks: Iterable[bytes], layout: Layout, sep: str, name: str) -> Rows:
    """Labels that are text, cell by cell."""
    lines, start = 0, layout.body
    columns = np.argsort(layout.target, kind="stable")
    items = columns[layout.target[columns] >= 0].tolist()
    kept = [int(np.flatnonzero(layout.target == -2 - slot)[0]) for slot in range(len(layout.kept))]
    for block in blocks:
        text = decode_utf8(block[start:], name)
        lines += block.count(b"\n", 0, start)
        start = 0
        labels, others = [], []
        for line in text.split("\n")[:-1]:
            lines += 1
            if not line.strip(" \t") or (layout.stan and line.lstrip().startswith("#")):
                continue
            cells = split_line(line, sep)
            if len(cells) != layout.target.size:
                raise FileFormatError(
                    f"{name}, line {lines}: {len(cells)} cells, where the first row has "
                    f"{layout.target.size}. Every draw must label every item."
                )
            for item in items:
                if cells[item].text in MISSING:
                    raise InvalidLabelsError(
                        f"{name}, line {lines}, column {item + 1}: {_complaint(cells[item].text)}"
                    )
            labels.append([cells[item].text for item in items])
            others.append([cells[column] for column in kept])
        if labels:
            yield np.array(labels), [list(column) for column in zip(*others, strict=True)]


# ------------------------------------------------------------------ draws


def _expected_rows(stream: IO[Any], layout: Layout) -> int:
    """Estimate the number of remaining rows; 0 when the file's size is unknown."""
    try:
        size = os.fstat(stream.fileno()).st_size
    except (OSError, AttributeError, ValueError):
        return 0
    # A cell takes at least its digit and its separator, however short the first row was.
    return int(1.1 * size / max(layout.row_bytes, 2 * layout.target.size)) + 16


def _draws(rows: Rows, layout: Layout, expected: int, sep: str) -> Draws:
    builder = Builder(layout.n_items, expected)
    kept: list[list[Cell]] = [[] for _ in layout.kept]
    with Status("reading draws") as status:
        for block, cells in rows:
            builder.add(block)
            for column, more in zip(kept, cells, strict=True):
                column.extend(more)
            status.say(f"{builder.n_rows:,} so far")
    found = dict(zip(layout.kept, kept, strict=True))
    if ROW_NAMES in found:
        row_names = [cell.text for cell in found[ROW_NAMES]]
        warn_of_items_in_rows(row_names, builder.n_rows, layout.n_items)
    chain = _chain(found[CHAIN]) if CHAIN in found else None
    if DRAW in found and builder.n_rows:
        place = int(np.flatnonzero(layout.target == -2 - layout.kept.index(DRAW))[0])
        heading = layout.headings[place - (len(layout.target) - len(layout.headings))]
        chain = chains_of(_numbers(found[DRAW]), chain, heading)
    return builder.finish(
        weights=_weights(found[WEIGHT], sep) if WEIGHT in found else None,
        chain=None if layout.kind == "ensemble" else chain,
        item_names=layout.names,
        kind=layout.kind,
    )


def _of_few_columns(rows: Rows, layout: Layout, long: Long) -> Draws:
    """Draws from numbers of draws and two columns more: two items, or item and label."""
    blocks: list[NDArray[Any]] = []
    texts: list[str] = []
    for block, cells in rows:
        blocks.append(block)
        texts.extend(cell.text for column in cells for cell in column)
    table = np.concatenate(blocks) if blocks else np.empty((0, layout.n_items), np.int64)
    columns = [table[:, j] for j in range(layout.n_items)]
    if texts:
        columns[long.item] = np.array(texts)
    if is_long(long, columns):
        return draws_from_long(long, columns, layout.headings)
    return draws_from_table(LabelTable(columns, layout.headings))


def _transposed_draws(rows: Rows, layout: Layout) -> Draws:
    """Draws from a file with one row per item."""
    parts: list[NDArray[Any]] = []
    names: list[str] = []
    for block, cells in rows:
        parts.append(_compact(block))
        names.extend(cell.text for column in cells for cell in column)
    table = np.concatenate(parts) if parts else np.empty((0, layout.n_items))
    return Draws(table.T, item_names=names or None)


def _compact(block: NDArray[Any]) -> NDArray[Any]:
    """The same labels in the smallest dtype, since a whole file of them must be held."""
    if block.dtype != np.int64 or not block.size:
        return block
    most = max(int(block.max()), -int(block.min()) - 1)
    signed = (np.int8, np.int16, np.int32, np.int64)
    return block.astype(next(dtype for dtype in signed if most <= np.iinfo(dtype).max))


def _weights(cells: list[Cell], sep: str) -> list[float]:
    if sep == ";":  # where cells end with ; numbers may have a decimal comma
        cells = [Cell(cell.text.replace(",", "."), cell.quoted) for cell in cells]
    values = [cell.number for cell in cells]
    if None in values:
        row = values.index(None)
        raise InvalidWeightsError(
            f"the weight of draw {row} reads {cells[row].text!r}; expected a number."
        )
    return [value for value in values if value is not None]


def _chain(cells: list[Cell]) -> NDArray[Any]:
    plain = not any(cell.quoted for cell in cells)
    if plain and all(_INTEGER.fullmatch(cell.text) for cell in cells):
        return np.array([int(cell.text) for cell in cells])
    if plain and all(cell.number is not None for cell in cells):
        return clean_ids(np.array([cell.number for cell in cells], np.float64))
    for draw, cell in enumerate(cells):
        if not cell.quoted and cell.text in MISSING:
            raise InvalidInputError(
                f"the chain id of draw {draw} reads {cell.text!r}; expected whole numbers or text, "
                "one per draw."
            )
    return np.array([cell.text for cell in cells])


def _numbers(cells: list[Cell]) -> NDArray[Any]:
    """Cells as numbers if all are, else as text."""
    numbers = [cell.number for cell in cells]
    return np.array([cell.text for cell in cells] if None in numbers else numbers)


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
    warnings.warn(
        f"{name} was written with save_warmup: its first {n_warmup} draws are warm-up and were "
        "left out.",
        stacklevel=2,
    )
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
    refuse_transpose(options.transpose, "CODA's files")
    index = _index_of(path)
    if index is None:
        raise FileMissingError(
            f"{path} has no index beside it; expected CODAindex.txt, or the same name with .ind. "
            "Copy it there."
        )
    table = _variables(_two_columns(path), _read_index(index), path)
    return draws_from_table(table, var_name=options.var_name)


def _two_columns(path: Path) -> Floats:
    """The iterations and values of a chain."""
    found: list[list[float]] = []
    with path.open("rb") as stream:
        lines = Lines(stream, str(path))
        for block in lines:
            for line in decode_utf8(block, str(path)).split("\n")[:-1]:
                cells = split_line(line, "")
                numbers = [cell.number for cell in cells]
                if len(cells) == 1 and not cells[0].text:
                    continue
                if len(numbers) != 2 or None in numbers:
                    raise FileFormatError(
                        f"{path}, line {len(found) + 1}: {line[:60]!r}; expected an iteration and "
                        "a value, as in a chain of CODA."
                    )
                found.append(numbers)  # type: ignore[arg-type]
    if lines.cut:
        raise FileFormatError(f"{path} ends in the middle of a line. Copy the file again.")
    return np.array(found, np.float64).reshape(-1, 2)


def _read_index(path: Path) -> list[tuple[str, int, int]]:
    found = []
    with path.open("rb") as stream:
        text = decode_utf8(b"".join(Lines(stream, str(path))), str(path))
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


def _variables(values: Floats, index: list[tuple[str, int, int]], path: Path) -> LabelTable:
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
    return LabelTable([values[slice(*span), 1] for span in spans], names)
