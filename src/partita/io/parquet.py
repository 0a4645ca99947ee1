"""Parquet files: one column per item, ``.chain`` and ``.weight`` beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._optional import require
from partita.io.collect import rows_per_block
from partita.io.columns import columns_beside, placeholder_names
from partita.io.frames import (
    ForeignTable,
    arrow_values,
    draws_from_frame,
    draws_from_items,
    draws_from_table,
)
from partita.io.registry import ReadOptions
from partita.io.source import damage
from partita.partitions.draws import Draws


def read_parquet(path: Path, options: ReadOptions) -> Draws:
    """Draws from a parquet file, in blocks of rows."""
    parquet = require("pyarrow.parquet", extra="parquet", purpose="reading .parquet files")
    arrow = require("pyarrow", extra="parquet")
    table_of = draws_from_items if options.transpose else draws_from_table
    with (
        damage(path, "no parquet file", arrow.ArrowException, OSError),
        parquet.ParquetFile(path, page_checksum_verification=True) as file,
    ):
        return table_of(ParquetTable(file), var_name=options.var_name)


def read_feather(path: Path, options: ReadOptions) -> Draws:
    """Draws from a feather file or an Arrow stream."""
    arrow = require("pyarrow", extra="parquet", purpose="reading .feather and .arrow files")
    ipc = require("pyarrow.ipc", extra="parquet")
    with (
        damage(path, "no feather or Arrow file", arrow.ArrowException, OSError),
        arrow.memory_map(str(path)) as mapped,
    ):
        opened = ipc.open_file if mapped.read(6) == b"ARROW1" else ipc.open_stream
        mapped.seek(0)
        return draws_from_frame(
            opened(mapped).read_all(), transpose=options.transpose, var_name=options.var_name
        )


def read_columns(path: Path) -> tuple[list[str], list[list[Any]]]:
    """Headings and columns of a parquet file, no digit of a whole number lost.

    Pandas' index, where it is text, comes first under an empty heading.
    """
    parquet = require("pyarrow.parquet", extra="parquet", purpose="reading .parquet files")
    with parquet.ParquetFile(path, page_checksum_verification=True) as file:
        table = ParquetTable(file)
        columns = [file.read(columns=[name]).column(name).to_pylist() for name in table.names]
        rows = table.row_names()
        return (["", *table.names], [rows, *columns]) if rows else (table.names, columns)


def write_parquet(draws: Draws, path: Path) -> None:
    """Write one column per item, in row groups."""
    parquet = require("pyarrow.parquet", extra="parquet", purpose="writing .parquet files")
    arrow = require("pyarrow", extra="parquet")
    names = draws.item_names or placeholder_names(draws.n_items)
    extra = columns_beside(draws)

    def table(rows: slice) -> Any:
        columns = [values[rows] for values in extra.values()]
        # Columns of the transposed copy are contiguous, as Arrow wants them.
        columns += list(np.ascontiguousarray(draws.labels[rows].T))
        arrays = [
            arrow.array(column.tolist() if column.dtype.kind == "U" else column)
            for column in columns
        ]
        return arrow.Table.from_arrays(arrays, names=[*extra, *names])

    schema = table(slice(0, 1)).schema
    with parquet.ParquetWriter(path, schema, write_page_checksum=True) as writer:
        for rows in draws.blocks(rows_per_block(draws.n_items)):
            writer.write_table(table(rows))


class ParquetTable(ForeignTable):
    """A parquet file as a table; the index that pandas stores among the columns is left out."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.n_rows = file.metadata.num_rows
        metadata = file.schema_arrow.pandas_metadata or {}
        self._index = [name for name in metadata.get("index_columns", []) if isinstance(name, str)]
        self.names = [name for name in file.schema_arrow.names if name not in self._index]

    def blocks(self, columns: list[int], step: int) -> Iterator[NDArray[Any]]:
        """Some columns in blocks of rows."""
        wanted = [self.names[i] for i in columns]
        for batch in self._file.iter_batches(batch_size=step, columns=wanted):
            yield np.column_stack([arrow_values(batch.column(name)) for name in wanted])

    def column(self, position: int) -> NDArray[Any]:
        """One whole column."""
        return self._whole(self.names[position])

    def chain(self) -> NDArray[Any] | None:
        """The level of pandas' index named chain."""
        return self._whole("chain") if "chain" in self._index else None

    def row_names(self) -> list[str] | None:
        """Pandas' index, where it is one column of text."""
        if len(self._index) != 1:
            return None
        names = self._whole(self._index[0]).tolist()
        return names if all(isinstance(name, str) for name in names) else None

    def _whole(self, name: str) -> NDArray[Any]:
        return arrow_values(self._file.read(columns=[name]).column(name))
