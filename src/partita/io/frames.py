"""Tables with named columns in memory: pandas, polars and Arrow; and tidybayes' long format."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.errors import (
    InvalidInputError,
    InvalidLabelsError,
    InvalidWeightsError,
    PartitaWarning,
)
from partita.io.collect import collect, rows_per_block
from partita.io.columns import (
    choose_columns,
    draw_number,
    long_columns,
    placeholder_names,
    refuse_long,
)
from partita.io.ids import clean_ids
from partita.kernels.arrays import Floats
from partita.partitions.convert import draws_from_array
from partita.partitions.draws import Draws

_FEW_ROWS = 4
"""So few draws are an example, and their names no reason to doubt."""


class ForeignTable:
    """What a library's table must tell to become draws; most keep no index beside their columns."""

    names: list[str]
    n_rows: int

    def blocks(self, columns: list[int], step: int) -> Iterator[NDArray[Any]]:
        """Some columns in blocks of ``step`` rows."""
        for start in range(0, self.n_rows, step):
            yield self.rows(columns, start, start + step)

    def rows(self, columns: list[int], start: int, stop: int) -> NDArray[Any]:
        """Some columns of some rows."""
        return np.column_stack([self.column(i)[start:stop] for i in columns])

    def column(self, position: int) -> NDArray[Any]:
        """One whole column."""
        raise NotImplementedError

    def chain(self) -> NDArray[Any] | None:
        """Chain ids that the table keeps outside its columns."""
        return None

    def row_names(self) -> list[str] | None:
        """Names that the table gives its rows, if they are text."""
        return None


def draws_from_table(table: ForeignTable, *, var_name: str | None = None) -> Draws:
    """Draws from a table with one row per draw; ``choose_columns`` tells which are items."""
    if not table.n_rows:
        raise InvalidLabelsError("there are no draws; at least one row is needed.")
    if (place := long_columns(table.names)) and _same(table, ".draw"):
        ids = (table.column(table.names.index(name)) for name in (".chain", ".draw"))
        return draws_from_long(*ids, *(_values(table, position) for position in place))
    number = draw_number(table.names)
    if number is not None and _same(table, table.names[number]):
        refuse_long(table.names[number])
    items, fields = items_and_fields(table, var_name)
    blocks = table.blocks(items, rows_per_block(len(items)))
    return collect(blocks, len(items), expected=table.n_rows, **fields)


def items_and_fields(table: ForeignTable, var_name: str | None) -> tuple[list[int], dict[str, Any]]:
    """The columns that are items, and weights, chain, item_names and kind of the draws."""
    columns = choose_columns(
        table.names,
        var_name=var_name,
        is_whole=lambda i: _is_whole(next(table.blocks([i], 1))[0, 0]),
    )
    warn_of_items_in_rows(table.row_names(), table.n_rows, len(columns.items))
    chain = table.chain() if columns.chain is None else table.column(columns.chain)
    return columns.items, {
        "weights": None if columns.weight is None else _weights(table.column(columns.weight)),
        "chain": None if chain is None else clean_ids(chain),
        "item_names": columns.names,
        "kind": columns.kind,
    }


def _weights(values: NDArray[Any]) -> Floats:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidWeightsError(
            "a weight is missing or text; expected one number per draw in the column .weight."
        ) from None


def _same(table: ForeignTable, name: str) -> bool:
    """Whether the first two rows agree in a column, which then does not number the rows."""
    values = table.column(table.names.index(name))
    return len(values) > 1 and bool(values[0] == values[1])


def _values(table: ForeignTable, position: int) -> NDArray[Any]:
    return np.concatenate([block[:, 0] for block in table.blocks([position], table.n_rows)])


def warn_of_items_in_rows(names: list[str] | None, n_rows: int, n_items: int) -> None:
    """Warn where rows have names of their own, as items have, and are fewer than columns."""
    if names is None or not _FEW_ROWS < n_rows < n_items or len(set(names)) < n_rows:
        return
    if any(name.strip().lstrip("-").isdigit() for name in names):
        return
    said = (
        f"{n_rows:,} rows, named {names[0]!r}, {names[1]!r}, …, and {n_items:,} columns: are the "
        f"rows items? They were read as draws; if they are items, pass transpose=True."
    )
    warnings.warn(PartitaWarning(said), stacklevel=2)


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
    if library == "pandas":
        return draws_from_table(PandasTable(obj.T if transpose else obj), var_name=var_name)
    table = PolarsTable(obj) if library == "polars" else ArrowTable(obj)
    read = draws_from_items if transpose else draws_from_table
    return read(table, var_name=var_name)


def draws_from_items(table: ForeignTable, *, var_name: str | None = None) -> Draws:
    """Draws from a table with one row per item, named where rows are, and one column per draw."""
    if var_name is not None:
        raise InvalidInputError(
            "var_name=... names columns; it has no meaning transposed.", argument="var_name"
        )
    everything = next(table.blocks(list(range(len(table.names))), max(1, table.n_rows)))
    return draws_from_array(everything, transpose=True, item_names=table.row_names())


class PandasTable(ForeignTable):
    """A pandas DataFrame; a default range of columns means items without names."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.n_rows = len(frame)
        heads = frame.columns.tolist()
        default = heads == list(range(len(heads)))
        self.names = placeholder_names(len(heads)) if default else [str(h) for h in heads]

    def rows(self, columns: list[int], start: int, stop: int) -> NDArray[Any]:
        """Some columns of some rows, none of them missing."""
        block = self._frame.iloc[start:stop, columns]
        missing = block.isna().to_numpy()
        if missing.any():
            draw, item = (int(i[0]) for i in np.nonzero(missing))
            raise InvalidLabelsError(
                f"the label in row {start + draw}, column {self.names[columns[item]]!r} is "
                "missing; every item needs a label in every draw. Drop the item or the draw."
            )
        kinds = {getattr(dtype, "kind", "O") for dtype in block.dtypes}
        # Nullable integers would otherwise come out as Python objects.
        if kinds <= set("iub"):
            return np.asarray(block.to_numpy(dtype=np.int64))
        return np.asarray(block.to_numpy(dtype=np.float64 if kinds <= set("iubf") else object))

    def column(self, position: int) -> NDArray[Any]:
        """One whole column."""
        return np.asarray(self._frame.iloc[:, position].to_numpy())

    def chain(self) -> NDArray[Any] | None:
        """The index level named chain."""
        if "chain" not in self._frame.index.names:
            return None
        return np.asarray(self._frame.index.get_level_values("chain"))

    def row_names(self) -> list[str] | None:
        """The index, where it is text."""
        names = self._frame.index.tolist()
        return names if all(isinstance(name, str) for name in names) else None


class PolarsTable(ForeignTable):
    """A polars DataFrame."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.n_rows, self.names = frame.height, list(frame.columns)

    def rows(self, columns: list[int], start: int, stop: int) -> NDArray[Any]:
        """Some columns of some rows."""
        part = self._frame.slice(start, stop - start)
        return np.column_stack([part.to_series(i).to_numpy() for i in columns])

    def column(self, position: int) -> NDArray[Any]:
        """One whole column."""
        return np.asarray(self._frame.to_series(position).to_numpy())


class ArrowTable(ForeignTable):
    """A pyarrow Table or RecordBatch."""

    def __init__(self, table: Any) -> None:
        self._table = table
        self.n_rows, self.names = table.num_rows, list(table.column_names)

    def rows(self, columns: list[int], start: int, stop: int) -> NDArray[Any]:
        """Some columns of some rows."""
        part = self._table.slice(start, stop - start)
        return np.column_stack([arrow_values(part.column(i)) for i in columns])

    def column(self, position: int) -> NDArray[Any]:
        """One whole column."""
        return arrow_values(self._table.column(position))


def arrow_values(column: Any) -> NDArray[Any]:
    """An Arrow column as NumPy; integers with nulls become floats with NaN."""
    if hasattr(column, "chunks"):
        return np.asarray(column.to_numpy())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _is_whole(value: Any) -> bool:
    try:
        return float(value).is_integer()
    except (TypeError, ValueError):
        return False


def draws_from_long(
    chain: NDArray[Any], draw: NDArray[Any], index: NDArray[Any], value: NDArray[Any]
) -> Draws:
    """Draws from the columns ``.chain``, ``.draw``, the item and its label, equally long.

    Draws come in the order of ``.draw``, items in that of their index where it
    is a number, else of first appearance; an index that only counts gives no
    names.
    """
    _, first_of_draw, row = np.unique(draw, return_index=True, return_inverse=True)
    found, first, column = np.unique(index, return_index=True, return_inverse=True)
    if index.dtype.kind not in "iuf":
        order = np.argsort(np.argsort(first))
        found, column = index[np.sort(first)], order[column]
    n_draws, n_items = first_of_draw.size, found.size
    if index.size != n_draws * n_items or np.unique(row * n_items + column).size != index.size:
        raise InvalidLabelsError(
            f"the long table has {index.size:,} rows for {n_draws:,} draws of {n_items:,} items; "
            "expected one row for each item in each draw."
        )
    labels = np.empty((n_draws, n_items), value.dtype)
    labels[row, column] = value
    counts = found.dtype.kind in "iuf" and np.array_equal(found, np.arange(n_items) + found[0])
    names = None if counts and found[0] in (0, 1) else [_name(each) for each in found.tolist()]
    return Draws(labels, chain=clean_ids(chain)[first_of_draw], item_names=names)


def _name(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
