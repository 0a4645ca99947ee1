"""Draws that the workers of a cluster make canonical and keep: from dask arrays, and from files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._imports import require
from partita._storage import stores
from partita._validate import plain_array, stacked
from partita.dask import as_client, canonical_store, explained, finish, in_order, met, sent
from partita.draws import Draws
from partita.errors import InvalidLabelsError, NotSupportedError
from partita.io.draws_table import (
    ParquetTable,
    arrow_values,
    items_and_fields,
    refuse_counting,
)
from partita.io.read import find_format, read_here
from partita.io.table import ReadOptions, Source, check_file, is_stream, translate_errors
from partita.kernels.arrays import Ints
from partita.labels import NoiseRule, reading_noise, rule_in_force, whole_labels

Counting = NDArray[np.int64]
"""Columns that rise by a step from draw to draw: number, value in the first of all draws, step."""

_Part = tuple[Any, dict[str, Any]]
"""Of one file: a dask array of its labels, and the fields of the draws that it has."""


def draws_on_workers(
    array: Any, client: Any, *, item_names: Sequence[str] | None = None, **fields: Any
) -> Draws:
    """Draws from a dask array of shape (draw, item) whose chunks are of known size.

    Each store of draws is one task that depends on the array's own, so that Dask makes it again
    from the source where a worker dies. The driver sees the numbers of clusters and no label.
    """
    dask = require("dask", extra="dask", purpose="reading a dask array")
    met(client)
    shape = (int(array.shape[0]), int(array.shape[1]))
    if 0 in shape:
        raise InvalidLabelsError(
            f"the dask array has shape {shape}; at least one draw and one item are needed."
        )
    rule = rule_in_force()
    made = []
    for store in stores(*shape):
        rows = array[store].rechunk((store.stop - store.start, shape[1]))
        (values,) = rows.to_delayed().ravel()
        made.append(dask.delayed(_canonical)(values, store.start, rule))
    with explained(client):
        found = client.compute(made)
        counted = list(
            in_order(client, lambda one: client.submit(_counting, one, pure=False), found)
        )
        columns, start, step = _common(counted)
        refuse_counting(shape, columns, start, step, item_names)
        labels, n_clusters = finish(client, found, shape)
    return Draws._from_canonical(labels, n_clusters, item_names=item_names, **fields)


def read_on_workers(
    paths: Sequence[Source], format: str | None, options: ReadOptions, engine: Any
) -> Draws:
    """Draws on the workers of a cluster, from files that these see under the same paths."""
    client = as_client(engine)
    require("dask.array", extra="dask", purpose="reading on a cluster")
    if options.transpose:
        raise NotSupportedError(
            "transpose=True cannot be read on workers: each of them would need the whole "
            "file. Write the file with one row per draw.",
            argument="transpose",
        )
    with client.as_current():
        found = [_read_one(path, format, options, client) for path in paths]
    return found[0] if len(found) == 1 else Draws.concat(found)


def _read_one(path: Source, format: str | None, options: ReadOptions, client: Any) -> Draws:
    readers = {"npy": _npy, "parquet": _parquet}
    named = ("netcdf", "zarr")
    chosen = None if is_stream(path) else find_format(format, path)  # type: ignore[arg-type]
    if chosen is None or chosen.name not in (*readers, *named):
        here = read_here(path, format, options)
        return here._with(labels=sent(client, here.labels))
    place = check_file(path, directory=chosen.directory).resolve()  # type: ignore[arg-type]
    with translate_errors(path, chosen.name):
        if chosen.name in named:
            found: Draws = chosen.reader()(place, replace(options, on_workers=True))
            return found
        array, fields = readers[chosen.name](place, options)
        return draws_on_workers(array, client, **fields)


def _npy(path: Path, options: ReadOptions) -> _Part:
    from partita.io.arrays import opened, refuse_var_name

    refuse_var_name(options)
    values = opened(path, whole=False)
    if values.ndim not in (2, 3):
        raise InvalidLabelsError(
            f"draws have shape {values.shape}; expected (draw, item) or (chain, draw, item)."
        )
    shape = (int(np.prod(values.shape[:-1])), values.shape[-1])
    chain = None if values.ndim == 2 else np.repeat(np.arange(values.shape[0]), values.shape[1])
    return _array(_npy_rows, str(path), shape, values.dtype), {"chain": chain}


def _parquet(path: Path, options: ReadOptions) -> _Part:
    parquet = require("pyarrow.parquet", extra="parquet", purpose="reading .parquet files")
    with parquet.ParquetFile(path) as file:
        table = ParquetTable(file)
        items, fields = items_and_fields(table, options.var_name)
        names = [table.names[i] for i in items]
        shape = (table.n_rows, len(items))
    return _array(_parquet_rows, (str(path), names), shape, np.dtype(np.int64)), fields


def _array(function: Any, source: Any, shape: tuple[int, int], dtype: np.dtype[Any]) -> Any:
    """A dask array whose chunks are the stores, each read by one task."""
    import dask
    from dask import array

    where = stores(*shape)
    if not where or not shape[1]:
        raise InvalidLabelsError(f"the draws have shape {shape}; at least one of each is needed.")
    read = dask.delayed(function)
    return array.concatenate(
        [
            array.from_delayed(read(source, s.start, s.stop), (s.stop - s.start, shape[1]), dtype)
            for s in where
        ]
    )


# ------------------------------------------------------------------ what runs on workers


def _canonical(values: Any, first: int, rule: NoiseRule | None) -> tuple[Any, ...]:
    with reading_noise(rule):
        whole = whole_labels(plain_array(values, "draws"), "draws", first_draw=first)
    return (*canonical_store(whole), _rising(whole, first))


def _rising(whole: Ints, first: int) -> Counting | None:
    """What counts within one store; None where it has too few draws to tell."""
    if len(whole) < 3:
        return None
    step = whole[1] - whole[0]
    columns = np.flatnonzero((step != 0) & (whole[2] - whole[1] == step))
    rows = np.arange(len(whole))[:, None]
    still = (whole[:, columns] == whole[0, columns] + step[columns] * rows).all(axis=0)
    columns = columns[still]
    return np.stack([columns, whole[0, columns] - first * step[columns], step[columns]], axis=1)


def _counting(made: tuple[Any, ...]) -> Counting | None:
    found: Counting | None = made[2]
    return found


def _common(counted: Sequence[Counting | None]) -> tuple[Ints, ...]:
    """The columns that count from the first store to the last, their first values and steps."""
    kinds = [set(map(tuple, one.tolist())) for one in counted if one is not None]
    common = np.array(sorted(set.intersection(*kinds)) if kinds else [], np.int64).reshape(-1, 3)
    return common[:, 0], common[:, 1], common[:, 2]


def _npy_rows(path: str, start: int, stop: int) -> NDArray[Any]:
    values = np.load(path, mmap_mode="r", allow_pickle=False)
    return np.array(values.reshape(-1, values.shape[-1])[start:stop])


def _parquet_rows(source: tuple[str, list[str]], start: int, stop: int) -> NDArray[Any]:
    from pyarrow import parquet

    path, names = source
    with parquet.ParquetFile(path, page_checksum_verification=True) as file:
        groups = [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
        ends = np.cumsum(groups)
        wanted = np.flatnonzero((ends > start) & (ends - groups < stop))
        first = int(ends[wanted[0]]) - groups[wanted[0]]
        table = file.read_row_groups(wanted.tolist(), columns=names)
    part = table.slice(start - first, stop - start)
    return stacked([arrow_values(part.column(name)) for name in names])
