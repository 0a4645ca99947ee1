"""Tables with named columns as draws: one row per draw, or per draw and item (long format)."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from partita._imports import require
from partita._progress import Status
from partita._storage import (
    clean_chain,
    label_buffer,
    refuse_empty,
    rows_per_block,
    smallest_unsigned,
)
from partita._validate import refuse_var_name, repeated, stacked
from partita._wording import Kind
from partita.draws import Draws, draws_from_array, with_fields
from partita.errors import (
    InvalidInputError,
    InvalidLabelsError,
    InvalidWeightsError,
    PartitaWarning,
)
from partita.io import table as tables
from partita.io.table import NUMBER, ReadOptions, choose_variable
from partita.kernels.arrays import Array, Bools, Floats, Ints
from partita.labels import first_appearance, whole_labels

# ------------------------------------------------------------------ roles of columns

CHAIN, WEIGHT, RUN, DRAW, TILTED = ".chain", ".weight", ".run", ".draw", ".tilted"
_CHAINS = frozenset({CHAIN, "chain", "chain__", "chain_id"})
_DRAWS = frozenset(
    {".iteration", DRAW, "iter", "iteration", "iterations", "draw", "iter__", "draw__", RUN}
)
_QUANTITIES = frozenset(
    {
        *("lp__", "lp", "k", "n_clusters", "nclusters", "num_clusters"),
        *("loglik", "log_lik", "logpost", "log_posterior", "deviance"),
    }
)
"""Names, in small letters, of what samplers write beside labels: never the name of an item."""
_ITEM_IDS = frozenset(
    {"item", "items", "i", "index", "id", "obs", "observation", "unit", "subject", "cell"}
)
_LABEL_NAMES = frozenset(
    {"label", "labels", "cluster", "z", "value", "class", "allocation", "component", "group"}
)
_BRACKET = re.compile(r"(.+)\[(\d+)\]")
_MANGLED = re.compile(r"(.+?)\.(\d+)\.")  # what R's data frames make of z[1]
_DOT = re.compile(r"(.+)\.(\d+)")
_NO_VARIABLE = (
    "no variable of this table has one index and whole numbers in its first draw; expected "
    "columns such as z.1, z.2, … or z[1], z[2], …"
)
_PLACEHOLDER = re.compile(r"\.item\d+")


@dataclass(frozen=True)
class Columns:
    """Positions of the columns that matter, and the items' names if they have any."""

    items: list[int]
    names: tuple[str, ...] | None
    chain: int | None
    weight: int | None
    draw: int | None = None
    kind: Kind = "posterior"


def placeholder_names(n_items: int) -> list[str]:
    """The column names that stand for items without names."""
    return [f".item{i}" for i in range(1, n_items + 1)]


def metadata_columns(draws: Draws) -> dict[str, Array]:
    """Columns beside the labels, by heading: chain, number of the run and weight."""
    runs = np.arange(1, draws.n_draws + 1) if draws.kind == "ensemble" else None
    tilted = np.ones(draws.n_draws, np.int64) if draws.kind == "tilted" else None
    columns = {CHAIN: draws.chain, RUN: runs, TILTED: tilted, WEIGHT: draws.weights}
    return {name: values for name, values in columns.items() if values is not None}


def choose_columns(
    names: Sequence[str],
    *,
    var_name: str | None,
    is_whole: Callable[[int], bool],
    one_variable: bool = False,
) -> Columns:
    """Sort the columns of a table into items, chain and weight.

    ``.weight`` is what it says, ``.chain`` or ``chain`` the chain; ``.draw``,
    ``.iteration``, ``iter`` and the like number the draws, and
    ``.run`` numbers the runs of an ensemble, which it says these are; ``.tilted``
    says that the weights are not those of the posterior. A
    table of variables (``var_name`` or ``one_variable`` given, a column
    ``lp__``, or a column named like ``z[1]``) gives the columns of one indexed
    variable in the order of its index: ``var_name``, or the only one that is
    whole in the first draw, as ``is_whole(position)`` tells. In any other table
    every remaining column is an item of that name, except that ``.item1,
    .item2, …`` stand for items without names; quantities that samplers write
    beside labels (``K``, ``lp``) are refused there.
    """
    names = [str(name) for name in names]
    chain = _single(names, [i for i, name in enumerate(names) if name.lower() in _CHAINS])
    weight = _single(names, [i for i, name in enumerate(names) if name == WEIGHT])
    numbers = [i for i, name in enumerate(names) if name.lower() in _DRAWS]
    draw = next((i for i in numbers if names[i].lower() in (DRAW, "draw")), None)
    draw = numbers[-1] if draw is None and numbers else draw
    kind: Kind = "ensemble" if RUN in names else "tilted" if TILTED in names else "posterior"
    beside = {chain, weight, *numbers}
    rest = [i for i, name in enumerate(names) if i not in beside and name != TILTED]
    if (
        var_name is not None
        or one_variable
        or "lp__" in names
        or any(_BRACKET.fullmatch(names[i]) for i in rest)
        or (rest and all(_MANGLED.fullmatch(names[i]) for i in rest))
    ):
        variables = _indexed(names, rest)
        fitting = [] if var_name else [v for v, i in variables.items() if all(map(is_whole, i))]
        chosen = choose_variable({v: repr(v) for v in variables}, fitting, var_name, _NO_VARIABLE)
        return Columns(variables[chosen], None, chain, weight, draw, kind)
    if not rest:
        raise InvalidLabelsError(
            f"there are no items: the table has only the columns {names}. "
            "Expected one column of labels per item."
        )
    item_names = tuple(names[i] for i in rest)
    if "" in item_names:
        raise InvalidInputError(
            f"column {rest[item_names.index('')] + 1} of the table has no name; name every item, "
            "or read the table without a header."
        )
    _refuse_one_clustering(item_names)
    _refuse_quantities(item_names)
    _refuse_repeated(item_names)
    unnamed = list(item_names) == placeholder_names(len(rest))
    if not unnamed and (odd := next(filter(_PLACEHOLDER.fullmatch, item_names), None)):
        raise InvalidInputError(
            f"the column {odd!r} is named as an item without a name is, but the columns are not "
            f".item1, .item2, … in order: {', '.join(map(repr, item_names[:4]))}, …. A column was "
            "lost, moved or renamed; name all items or none."
        )
    return Columns(rest, None if unnamed else item_names, chain, weight, draw, kind)


def _single(names: Sequence[str], positions: list[int]) -> int | None:
    if len(positions) > 1:
        raise InvalidInputError(
            f"the columns {', '.join(repr(names[i]) for i in positions)} would all be the same; "
            "a table has one column of chains and one of weights. Drop or rename the others."
        )
    return positions[0] if positions else None


def _refuse_one_clustering(names: tuple[str, ...]) -> None:
    lower = [name.lower() for name in names]
    if len(names) == 2 and lower[0] in _ITEM_IDS and lower[1] in _LABEL_NAMES:
        raise InvalidInputError(
            f"the columns {names[0]!r} and {names[1]!r} are one clustering, with one row per item; "
            "expected draws, one row each. Rename the columns if they are items."
        )


def _refuse_quantities(names: tuple[str, ...]) -> None:
    for name in names:
        # Items named …, j, k, l, … by the alphabet are items.
        beside = len(name) == 1 and {chr(ord(name) - 1), chr(ord(name) + 1)} & set(names)
        if name.lower() in _QUANTITIES and not beside:
            raise InvalidInputError(
                f"the column {name!r} has the name of a quantity that samplers write beside the "
                "labels. Drop it, or rename it if it is an item."
            )


def _refuse_repeated(names: Sequence[str]) -> None:
    if twice := repeated(names):
        raise InvalidInputError(
            f"the name {twice[0]!r} is the heading of several columns; every item needs its own."
        )


def _indexed(names: Sequence[str], positions: Sequence[int]) -> dict[str, list[int]]:
    """Variables with one index that runs from 0 or 1 without gaps, columns in index order."""
    _refuse_repeated([names[i] for i in positions])
    found: dict[str, dict[int, int]] = {}
    for position in positions:
        name = names[position]
        match = _BRACKET.fullmatch(name) or _MANGLED.fullmatch(name) or _DOT.fullmatch(name)
        if match and not _DOT.fullmatch(match[1]):  # mu.1.1 has two indices
            found.setdefault(match[1], {})[int(match[2])] = position
    return {
        name: [by_index[i] for i in sorted(by_index)]
        for name, by_index in found.items()
        if sorted(by_index) in (list(range(len(by_index))), list(range(1, len(by_index) + 1)))
    }


# ------------------------------------------------------------------ ids of chains and draws


def chains_of(numbers: Array, chain: Array | None, name: str) -> Array | None:
    """The chains of draws with these numbers; refuses numbers that repeat within a chain.

    Without chains, numbers that start again where the first began start a new chain.
    """
    keys = [numbers] if chain is None else [chain, numbers]
    _, row = _number_keys(keys)
    if int(row.max(initial=-1)) + 1 == len(row):
        return chain
    if chain is None and numbers.dtype.kind in "iuf":
        falls = np.diff(numbers) < 0
        starts = np.flatnonzero(np.concatenate([[True], falls]))
        rising = (np.diff(numbers)[~falls] > 0).all()
        if rising and (numbers[starts] == numbers[0]).all():
            return np.cumsum(np.concatenate([[False], falls])) + 1
    return refuse_long(name)


def _number_keys(keys: list[Array]) -> tuple[Ints, Ints]:
    """First row and number of each distinct combination of keys, in their order."""
    codes = np.stack([np.unique(key, return_inverse=True)[1].reshape(-1) for key in keys])
    _, first, row = np.unique(codes, axis=1, return_index=True, return_inverse=True)
    return first, row.reshape(-1)


def refuse_long(name: str) -> NoReturn:
    """Refuse a table whose numbers of draws repeat."""
    raise InvalidInputError(
        f"the column {name!r} repeats its numbers, so this may be a long table, with one row per "
        "draw and item, and it is not complete. Name its columns .chain, .iteration, .draw, item "
        "and label as tidybayes does, with each item once in each draw, or pivot it to one row per "
        "draw and one column per item."
    )


# ------------------------------------------------------------------ long format


@dataclass(frozen=True)
class Long:
    """Columns of what may be a long table: ids of chains and draws, and two others.

    ``certain`` if the other two are named as items and labels are; otherwise they may be two
    items, and the numbers of the draws tell.
    """

    chain: int | None
    draws: tuple[int, ...]
    item: int
    label: int
    certain: bool


def long_columns(names: Sequence[str]) -> Long | None:
    """The columns of what may be a long table; None where numbers of draws or others lack.

    Beside an ``item`` and its ``label`` a single column of any name numbers the draws.
    """
    lower = [str(name).lower() for name in names]
    chain = [i for i, name in enumerate(lower) if name in _CHAINS]
    draws = tuple(i for i, name in enumerate(lower) if name in _DRAWS)
    if not draws:
        said = [{lower[i].lstrip(".")} & (_ITEM_IDS | _LABEL_NAMES) for i in range(len(names))]
        other = [i for i in range(len(names)) if i not in chain and not said[i]]
        long_names = all(len(name) > 1 for found in said for name in found)
        draws = tuple(other) if len(other) == 1 and long_names else ()
        if draws and len(names) - len(chain) != 3:
            draws = ()
    rest = [i for i in range(len(names)) if i not in (*chain, *draws)]
    if not draws or len(chain) > 1 or len(rest) != 2 or RUN in names:
        return None
    item, label = rest
    plain = [lower[i].lstrip(".") for i in rest]
    if plain[1] in _ITEM_IDS or (plain[0] in _LABEL_NAMES and plain[1] not in _LABEL_NAMES):
        item, label = label, item
    tidybayes = {CHAIN, ".iteration", DRAW} <= set(names)
    certain = {lower[item].lstrip(".")} <= _ITEM_IDS and lower[label].lstrip(".") in _LABEL_NAMES
    return Long(chain[0] if chain else None, draws, item, label, tidybayes or certain)


def draws_from_long(long: Long, columns: Sequence[Array], names: Sequence[str]) -> Draws:
    """Draws from a long table with each item once in each draw.

    Draws come in the order of their chains and numbers, items in that of their index where it
    is a number, else of first appearance; an index that only counts gives no names.
    """
    index, value = columns[long.item], columns[long.label]
    ids = [columns[i] for i in (long.chain, *long.draws) if i is not None]
    first_of_draw, row = _number_keys(ids)
    found, first, column = np.unique(index, return_index=True, return_inverse=True)
    if index.dtype.kind not in "iuf":
        order = np.argsort(np.argsort(first))
        found, column = index[np.sort(first)], order[column]
    n_draws, n_items = first_of_draw.size, found.size
    if index.size != n_draws * n_items or np.unique(row * n_items + column).size != index.size:
        raise InvalidLabelsError(
            f"the long table has {index.size:,} rows for {n_draws:,} draws of {n_items:,} items "
            f"(columns {', '.join(repr(str(name)) for name in names)}); expected one row for each "
            "item in each draw."
        )
    labels = np.empty((n_draws, n_items), value.dtype)
    labels[row, column] = value
    counts = found.dtype.kind in "iuf" and np.array_equal(found, np.arange(n_items) + found[0])
    item_names = None if counts and found[0] in (0, 1) else [_name(each) for each in found.tolist()]
    chain = None if long.chain is None else columns[long.chain][first_of_draw]
    return Draws(labels, chain=chain, item_names=item_names)


def _name(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


# ------------------------------------------------------------------ building draws by blocks

_ENOUGH_TO_COUNT = 10
"""Rows from which on a column that counts them cannot be chance."""


class Builder:
    """Canonical labels growing by blocks of rows, about one byte per label.

    Parameters
    ----------
    n_items : int
        Columns of every block.
    expected : int
        Rows to allocate at first; a good guess saves growing.
    first_draw : int
        Number of the first row in messages.
    """

    def __init__(self, n_items: int, expected: int = 0, first_draw: int = 0) -> None:
        self._first_draw = first_draw
        self._buffer = label_buffer(n_items, expected)
        self._n_items = n_items
        self._counts: list[Ints] = []
        self._seen: list[Ints] = []
        self.n_rows = 0

    def add(self, block: Array) -> None:
        """Append rows of labels of any accepted kind."""
        if not block.shape[0]:
            return
        block = whole_labels(block, "draws", first_draw=self._first_draw + self.n_rows)
        self._watch(block)
        canonical, counts = first_appearance(block)
        self._counts.append(counts)
        self._buffer.add(canonical, smallest_unsigned(int(counts.max()) - 1))
        self.n_rows += block.shape[0]

    def finish(self, *, item_names: Sequence[str] | None = None, **fields: Any) -> Draws:
        """The draws collected; the builder must not be used afterwards."""
        refuse_empty(self.n_rows, self._n_items)
        counting = [i for i, column in self._columns() if _counts(column)]
        if self.n_rows >= _ENOUGH_TO_COUNT and 0 < len(counting) < self._n_items:
            at = counting[0]
            start, step = int(self._first[at]), int(self._step[at])
            name = f" {item_names[at]!r}" if item_names is not None else ""
            raise InvalidLabelsError(
                f"the column of item {at}{name} counts {start}, {start + step}, … along the "
                f"{self.n_rows:,} rows: it numbers draws or items and labels none. Drop it, or "
                "head it with .iteration."
            )
        if self._n_items in (3, 4):
            _refuse_grid(np.concatenate(self._seen), item_names)
        counts = np.concatenate(self._counts)
        return Draws._from_canonical(self._buffer.finish(), counts, item_names=item_names, **fields)

    def _watch(self, block: Ints) -> None:
        """Keep the columns that have counted by one step so far, up or down, with restarts."""
        if not self.n_rows:
            self._first, self._last = block[0].copy(), block[:0]
            self._counting = np.arange(block.shape[1])
        if self.n_rows <= 1 < self.n_rows + block.shape[0]:
            self._step = block[1 - self.n_rows] - self._first
            self._keep(self._step[self._counting] != 0)
        mine = self._counting
        self._seen.append(block.copy() if self._n_items in (3, 4) else block[:, mine])
        if mine.size and self.n_rows + block.shape[0] > 1:
            rows = np.concatenate([self._last, block])[:, mine]
            again = rows[1:] == self._first[mine]
            self._keep((again | (rows[1:] - rows[:-1] == self._step[mine])).all(axis=0))
        self._last = block[-1:].copy()

    def _keep(self, still: Bools) -> None:
        self._counting = self._counting[still]
        if self._n_items not in (3, 4):
            self._seen = [part[:, still] for part in self._seen]

    def _columns(self) -> Iterator[tuple[int, Ints]]:
        """The columns that still count, whole."""
        for place, item in enumerate(self._counting.tolist()):
            at = item if self._n_items in (3, 4) else place
            yield item, np.concatenate([part[:, at] for part in self._seen])


def _counts(column: Ints) -> bool:
    """Whether restarts are so few, or so regular, that labels would not do it."""
    starts = np.flatnonzero(column == column[0])
    lengths = np.diff(starts)
    regular = starts.size > 2 and lengths[0] > 2 and (lengths == lengths[0]).all()
    return bool(column.size >= _ENOUGH_TO_COUNT * starts.size or regular)


def _refuse_grid(rows: Ints, names: Sequence[str] | None) -> None:
    """Refuse a table in which all columns but one have almost every combination once."""
    n = len(rows)
    if n < _ENOUGH_TO_COUNT:
        return
    values = [np.unique(column).size for column in rows.T]
    for label in range(rows.shape[1]):
        others = [i for i in range(rows.shape[1]) if i != label and values[i] > 1]
        cells = math.prod(values[i] for i in others)
        if len(others) < 2 or not 0.9 * cells <= n <= cells / 0.9:
            continue
        distinct = np.unique(rows[:, others], axis=0).shape[0]
        if distinct == n == cells or (distinct >= 0.9 * n and n >= 2 * _ENOUGH_TO_COUNT):
            said = [repr(names[i]) if names else str(i) for i in others]
            raise InvalidLabelsError(
                f"the columns {', '.join(said)} have almost every combination of their values "
                "once, so this may be a long table, with one row per draw and item. Name its "
                "columns draw, item and label, or pivot it to one column per item."
            )


def build(blocks: Iterable[Array], n_items: int, expected: int = 0, **fields: Any) -> Draws:
    """Draws from an iterable of blocks; ``fields`` are weights, chain, item_names, kind."""
    refuse_empty(1, n_items)
    builder = Builder(n_items, expected)
    with Status("reading draws") as status:
        for block in blocks:
            builder.add(block)
            status.say(f"{builder.n_rows:,} so far")
    return builder.finish(**fields)


# ------------------------------------------------------------------ tables of other libraries

_FEW_ROWS = 4
"""At most this many draws are an example, and their names no reason to doubt."""


class LabelTable:
    """Columns of equal length under names, and what some tables keep beside: chains, row names.

    Values may be masked, or None, where they are missing.
    """

    read_once: bool = False
    """Whether columns ``beside`` the labels can be had after the blocks of labels only."""
    beside: Sequence[int] = ()

    def __init__(
        self,
        columns: Sequence[Array],
        names: Sequence[str],
        row_names: Sequence[str] | None = None,
        chain: Array | None = None,
    ) -> None:
        self._columns, self.names = list(columns), list(names)
        self.row_names, self.chain = row_names, chain
        self.n_rows = len(columns[0]) if columns else 0

    def is_whole(self, position: int) -> bool:
        """Whether the first label of a column is a whole number."""
        try:
            return float(next(self.blocks([position], 1))[0, 0]).is_integer()
        except (TypeError, ValueError):
            return False

    def in_memory(self) -> LabelTable:
        """All columns, none of their cells missing."""
        columns = [
            np.concatenate([block[:, 0] for block in self.blocks([i], self.n_rows)])
            for i in range(len(self.names))
        ]
        return LabelTable(columns, self.names, self.row_names, self.chain)

    def blocks(self, columns: list[int], step: int) -> Iterator[Array]:
        """Some columns in blocks of ``step`` rows."""
        names = [self.names[i] for i in columns]
        for start in range(0, self.n_rows, step):
            parts = [self._columns[i][start : start + step] for i in columns]
            yield side_by_side(parts, names, start)

    def column(self, position: int) -> Array:
        """One whole column."""
        return self._columns[position]


def side_by_side(parts: Sequence[Array], names: Sequence[str], start: int) -> Array:
    """Columns of labels as one block, none of them missing; its first row is row ``start``."""
    for part, name in zip(parts, names, strict=True):
        missing = np.ma.getmaskarray(part)
        if part.dtype.kind == "O":
            missing = np.array([value is None for value in part])
        if missing.any():
            row = start + int(np.flatnonzero(missing)[0])
            raise InvalidLabelsError(
                f"the label in row {row}, column {name!r} is missing; every item needs a label "
                "in every draw. Drop the item or the draw."
            )
    return stacked([np.ma.getdata(part) for part in parts])


def draws_from_table(
    table: LabelTable,
    *,
    var_name: str | None = None,
    one_variable: bool = False,
    may_be_long: bool = True,
) -> Draws:
    """Draws from a table with one row per draw, or one per draw and item."""
    refuse_empty(table.n_rows, 1)
    long = long_columns(table.names) if may_be_long and var_name is None else None
    if long is not None:
        table = table.in_memory()
        every = [table.column(i) for i in range(len(table.names))]
        _, row = _number_keys([every[i] for i in (long.chain, *long.draws) if i is not None])
        if long.certain or int(row.max(initial=-1)) + 1 < len(row):
            return draws_from_long(long, every, table.names)
    columns = choose_columns(
        table.names, var_name=var_name, is_whole=table.is_whole, one_variable=one_variable
    )
    table.beside = [i for i in (columns.chain, columns.weight, columns.draw) if i is not None]
    # Numbers of draws that repeat say more about a table than the text that stands in it.
    fields = {} if table.read_once else fields_beside(table, columns)
    blocks = table.blocks(columns.items, rows_per_block(len(columns.items)))
    draws = build(blocks, len(columns.items), table.n_rows, item_names=columns.names)
    return with_fields(draws, **(fields or fields_beside(table, columns)))


def fields_beside(table: LabelTable, columns: Columns) -> dict[str, Any]:
    """Weights, chain and kind of the draws."""
    warn_of_items_in_rows(table.row_names, table.n_rows, len(columns.items))
    chain = table.chain if columns.chain is None else table.column(columns.chain)
    chain = None if chain is None else clean_chain(chain, table.n_rows)
    if columns.draw is not None:
        numbers = table.column(columns.draw)
        if numbers.dtype.kind == "O":  # where one is missing they cannot be sorted
            numbers = numbers.astype(str)
        chain = chains_of(numbers, chain, table.names[columns.draw])
    return {
        "weights": None if columns.weight is None else _weights(table.column(columns.weight)),
        "chain": None if columns.kind == "ensemble" else chain,
        "kind": columns.kind,
    }


def _weights(values: Array) -> Floats:
    found = values.tolist()
    odd = [draw for draw, value in enumerate(found) if not isinstance(value, (Real, Decimal))]
    if odd:  # in a text file all of them are text where one is
        draw = min(odd, key=lambda draw: bool(NUMBER.fullmatch(str(found[draw]))))
        raise InvalidWeightsError(
            f"the weight of draw {draw} reads {found[draw]!r}; expected a number."
        )
    return np.array(found, np.float64)


def warn_of_items_in_rows(
    names: Sequence[str] | None, n_rows: int, n_items: int, *, named_columns: bool = True
) -> None:
    """Warn where rows have names of their own, as items have.

    Where columns have names too and are not more than the rows, names that only count the rows
    (draw1, draw2, …) say nothing.
    """
    if names is None or len(set(names)) < n_rows or n_rows <= _FEW_ROWS:
        return
    if any(_is_number(name) for name in names):
        return
    if named_columns and n_rows >= n_items:
        stems = {name.rstrip("0123456789.") for name in names}
        if 2 * len(stems) <= n_rows:
            return
    said = (
        f"{n_rows:,} rows, named {names[0]!r}, {names[1]!r}, …, and {n_items:,} columns: are the "
        "rows items? They were read as draws; if they are items, pass transpose=True."
    )
    warnings.warn(PartitaWarning(said), stacklevel=2)


def _is_number(name: str) -> bool:
    return name.strip().lstrip("-").isdigit()


def draws_from_frame(obj: Any, *, transpose: bool = False, var_name: str | None = None) -> Draws:
    """Draws from a pandas or polars DataFrame or an Arrow table."""
    library = type(obj).__module__.partition(".")[0]
    kind = f"{library} {type(obj).__name__}"
    if len(getattr(obj, "shape", ())) != 2:
        hint = " Call .collect() first." if type(obj).__name__ == "LazyFrame" else ""
        raise InvalidLabelsError(
            f"a {kind} was given; expected a table with one row per draw and one column per "
            f"item.{hint}"
        )
    if library == "pandas" and transpose:
        obj, transpose = obj.T, False
    read = draws_from_items if transpose else draws_from_table
    return read(_table_of(obj), var_name=var_name)


def _table_of(obj: Any) -> LabelTable:
    """A data frame; pandas' default range of columns means items without names."""
    frame = tables.read_frame(obj)
    assert frame is not None  # a table of one of the three libraries
    names, index, chain = frame.names, frame.index, None
    if index is None:
        return LabelTable(frame.columns, names)
    _refuse_index(index.names)
    if "chain" in index.names:
        chain = np.asarray(index.get_level_values("chain"))
    default = names == list(range(len(names)))
    names = placeholder_names(len(names)) if default else [str(name) for name in names]
    return LabelTable(frame.columns, names, _if_text(index.tolist()), chain)


def _refuse_index(levels: Sequence[Any]) -> None:
    """Refuse an index of several levels that names more than chains and draws: a long table."""
    named = [name for name in levels if isinstance(name, str) and not name.startswith("__index_")]
    if len(levels) > 1 and {name.lower() for name in named} - _CHAINS - _DRAWS:
        raise InvalidLabelsError(
            f"the index has the levels {', '.join(named)}, so this is a long table, with one row "
            "per draw and item. Call .reset_index() first, and name its columns draw, item and "
            "label."
        )


def _if_text(names: list[Any]) -> list[str] | None:
    return names if all(isinstance(name, str) for name in names) else None


def draws_from_items(table: LabelTable, *, var_name: str | None = None) -> Draws:
    """Draws from a table with one row per item, named where rows are, and one column per draw."""
    refuse_var_name(var_name, "a table with one row per item")
    blocks = table.blocks(list(range(len(table.names))), rows_per_block(1))
    parts = [_compact(block) for block in blocks if len(block)]
    refuse_empty(1, len(parts))
    return draws_from_array(np.concatenate(parts), transpose=True, item_names=table.row_names)


def _compact(block: Array) -> Array:
    """The same labels in the smallest dtype, since a whole table of them must be held."""
    if block.dtype != np.int64:
        return block
    return block.astype(np.min_scalar_type(-1 - max(int(block.max()), -1 - int(block.min()))))


# ------------------------------------------------------------------ parquet, feather


def read_parquet(path: Path, options: ReadOptions) -> Draws:
    """Draws from a parquet file, in blocks of rows."""
    table_of = draws_from_items if options.transpose else draws_from_table
    with tables.open_parquet(path) as file:
        return table_of(ParquetTable(file), var_name=options.var_name)


def read_feather(path: Path, options: ReadOptions) -> Draws:
    """Draws from a feather file or an Arrow stream."""
    arrow = require("pyarrow", extra="parquet", purpose="reading .feather and .arrow files")
    ipc = require("pyarrow.ipc", extra="parquet")
    with arrow.memory_map(str(path)) as mapped:
        opened = ipc.open_file if mapped.read(6) == b"ARROW1" else ipc.open_stream
        mapped.seek(0)
        return draws_from_frame(
            opened(mapped).read_all(), transpose=options.transpose, var_name=options.var_name
        )


class ParquetTable(LabelTable):
    """A parquet file as a table; the index that pandas stores among the columns is left out."""

    def __init__(self, file: Any) -> None:
        metadata = file.schema_arrow.pandas_metadata or {}
        index = [name for name in metadata.get("index_columns", []) if isinstance(name, str)]
        _refuse_index(index)
        names = [name for name in file.schema_arrow.names if name not in index]
        self._file = file
        rows = _if_text(self._whole(index[0]).tolist()) if len(index) == 1 else None
        super().__init__((), names, rows, self._whole("chain") if "chain" in index else None)
        self.n_rows = file.metadata.num_rows

    def blocks(self, columns: list[int], step: int) -> Iterator[Array]:
        """Some columns in blocks of rows."""
        names, start = [self.names[i] for i in columns], 0
        for batch in tables.parquet_batches(self._file, batch_size=step, columns=names):
            parts = [tables.arrow_values(batch.column(name)) for name in names]
            yield side_by_side(parts, names, start)
            start += len(batch)

    def column(self, position: int) -> Array:
        """One whole column."""
        return self._whole(self.names[position])

    def _whole(self, name: str) -> Array:
        return tables.arrow_values(self._file.read(columns=[name]).column(name))
