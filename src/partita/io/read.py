"""Reading draws: files of every format, and objects of every library."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from partita import _validate as check
from partita._files import PathLike
from partita._imports import require
from partita._storage import chunk_slices, refuse_axes, refuse_empty, use_memmap_buffer
from partita._wording import KINDS, Kind
from partita.draws import Draws, draws_from_array, with_fields
from partita.errors import (
    InvalidInputError,
    InvalidLabelsError,
    NotSupportedError,
    UnknownNameError,
    about,
)
from partita.io import draws_table
from partita.io import table as tables
from partita.io.table import ReadOptions, Source
from partita.kernels.arrays import Array
from partita.labels import Engine, NoiseRule, current_noise_rule, reading_noise


def read_draws(
    path: Source | Sequence[Source],
    *,
    format: str | None = None,
    transpose: bool = False,
    var_name: str | None = None,
    header: bool | None = None,
    sep: str | None = None,
    strings: bool = False,
    noise: NoiseRule | None = None,
    memory_map: bool = False,
    engine: Engine | None = None,
    kind: Kind | None = None,
) -> Draws:
    """Read draws of a partition from a file: one row per draw, one column per item.

    Parameters
    ----------
    path : path, "-", open file, or a sequence of these
        ``"-"`` is standard input. Several files are several chains of the same items; so are
        those of a pattern such as ``"part-*.npy"``, in the order of the numbers in their names.
    format : str, optional
        ``csv``, ``tsv``, ``txt`` (runs of blanks), ``cmdstan``, ``coda`` (a chain beside its
        index), ``npy``, ``npz``, ``parquet``, ``feather``, ``netcdf``, ``zarr``, ``rds`` or
        ``rdata``. Inferred from the suffix when omitted (.csv .tsv .txt .dat, each also packed as
        .gz .xz .bz2; .npy .npz .parquet .pq .feather .arrow .nc .nc4 .zarr .rds .RData .rda;
        CODAchain1.txt); csv for open files and standard input.
    transpose : bool
        The file has one row per item and one column per draw.
    var_name : str, optional
        The variable that holds the labels, in files that hold several: ``z`` for the columns
        ``z.1, z.2, …`` or ``z[1], z[2], …``, for an array of an ArviZ or npz file, or the path
        to an object of R, ``fit$clust``. When omitted there must be exactly one that fits.
    header : bool, optional
        Whether the first row of a text file is a header. When omitted it is one if no cell of
        it is a number, and a draw if all are; where it mixes both, counts 0, 1, 2, … or
        1, 2, 3, … as column numbers do, or could be a row of ids, an error asks. Quoted cells
        are not numbers.
    sep : str, optional
        The character between cells of a text file, if not the format's own.
    strings : bool
        Labels of a text file are text, not numbers; ``header`` must then be given.
    noise : (label, "singletons") or (label, "cluster"), optional
        A label that marks noise, and what it means; see :func:`as_draws`.
    kind : "posterior" or "ensemble", optional
        What the rows are; see :func:`as_draws`. When omitted what the file says, and draws of a
        posterior where it says nothing.
    memory_map : bool
        Leave the labels on disk and map them into memory, for draws that do not fit. An npy file
        of canonical labels in the smallest dtype, as :func:`write_draws` makes it, is mapped
        itself; the labels of any other file are written once to a temporary file, which is gone
        when the draws are, and a message says so.
    engine : "dask" or distributed.Client, optional
        Keep the labels on the workers of a Dask cluster, which read npy, parquet, netCDF and zarr
        by themselves, block by block: the path must be one that they see too. Other formats are
        read here and sent. "dask" is the current client. Every function of partita takes such
        draws as it takes others.

    Returns
    -------
    Draws

    Notes
    -----
    Text is UTF-8 with line ends of any system. Blank lines are passed over, and lines that start
    with ``#`` before the table and in Stan's tables. A number is written in digits, with a sign,
    a decimal point or an exponent as programs write them (``3``, ``3.0``, ``3e+00``); codes such as
    ``01``, ``1e5``, ``0x1f`` are refused unless ``strings=True``, where labels are compared as
    text. Under a header,
    the columns ``.chain`` (or ``chain``) and ``.weight`` are the chain and weight of each draw;
    columns such as ``.draw``, ``iter`` and ``Iteration`` number the draws, and numbers that start
    again without a column of chains start a new chain; other columns that count are
    refused; ``.run`` numbers the runs of an ensemble; a first column
    with an empty heading, or one without any heading, holds row names (as R and pandas write them).
    A long table has one row per draw and item: tidybayes' ``.chain``, ``.iteration``, ``.draw``,
    index and label, or ``draw``, ``item``, ``label`` in any order and sorting; each item must be
    there once in each draw. Warm-up that Stan's comments announce (``save_warmup``) is left out,
    with a warning. A table with a column ``lp__`` or columns named like ``z[1]`` holds variables:
    one of them is read, chosen by ``var_name`` or as the only indexed one that is whole in its
    first draw. In npz files the array ``labels`` is read, or else the only matrix. In R's files the
    only object that can hold draws is read: a matrix, a data frame, an array of chains, a list of
    label vectors or of chains, the labels inside a fit of BNPmix, dirichletprocess or AntMAN.
    Pickled objects are never loaded.

    Text, npy, npz, parquet, netCDF and zarr are read in blocks: memory stays at about one byte
    per label while no draw has more than 256 clusters. Text takes about 10 ns per label.

    Examples
    --------
    >>> import io
    >>> import partita as pt
    >>> pt.read_draws(io.StringIO("a,b,c\\n1,1,2\\n5,5,5\\n"))
    <Draws: 2 draws of 3 items, 1 to 2 clusters, named items>

    See Also
    --------
    as_draws : the same for objects in memory.
    write_draws : the way back.
    """
    options = ReadOptions(
        check.boolean(transpose, "transpose"),
        check.text_or_none(var_name, "var_name"),
        None if header is None else check.boolean(header, "header"),
        check.text_or_none(sep, "sep"),
        check.boolean(strings, "strings"),
    )
    check.choice_or_none(kind, "kind", KINDS)
    mapped = check.boolean(memory_map, "memory_map")
    if mapped and engine is not None:
        raise InvalidInputError("give memory_map=True or engine=..., not both.", argument="engine")
    places = tables.expand_sources(path)
    with reading_noise(noise), use_memmap_buffer(mapped):
        if engine is not None:
            found = read_on_workers(places, format, options, engine)
            return with_fields(found, kind=kind)
        parts = [with_fields(read_here(each, format, options), kind=kind) for each in places]
        return parts[0] if len(parts) == 1 else Draws.concat(parts)


def read_here(path: Source, format: str | None, options: ReadOptions) -> Draws:
    """Draws from one file, read in this process."""
    stream = tables.is_stream(path)
    chosen = find_format(format, None if stream else path)  # type: ignore[arg-type]
    if not chosen.text:
        if stream:
            raise NotSupportedError(
                f"format {chosen.name!r} cannot be read from a stream; give the path of a file.",
                argument="format",
            )
        if extra := options.text_only():
            raise InvalidInputError(
                f"{', '.join(extra)} has a meaning for text formats only, not for {chosen.name!r}."
            )
        path = tables.check_file(path, directory=chosen.directory)  # type: ignore[arg-type]
    with tables.translate_errors(path, chosen.name):
        draws: Draws = chosen.reader()(path, options)
    return draws


# ------------------------------------------------------------------ formats


@dataclass(frozen=True)
class Format:
    """One way to keep draws in a file.

    ``module`` below ``partita.io`` has the function ``read_NAME`` and, where the format is
    ``writable``, the module ``write`` has ``write_NAME``; they are imported when needed. A format
    that is a ``directory`` is a zarr store. ``holds`` says which parts of Draws
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
        return self._function(self.module, f"read_{self.name}")

    @about("format")
    def writer(self) -> Callable[..., Any]:
        """The function that writes this format."""
        if not self.writable:
            known = ", ".join(each.name for each in _FORMATS if each.writable)
            raise UnknownNameError(
                f"format {self.name!r} can be read, not written. Formats that can be written: "
                f"{known}."
            )
        return self._function("write", f"write_{self.name}")

    @staticmethod
    def _function(module: str, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(import_module(f"partita.io.{module}"), name)
        return found


_PACKED = ("", ".gz", ".xz", ".bz2")


def _packable(*suffixes: str) -> tuple[str, ...]:
    return tuple(f"{suffix}{packed}" for suffix in suffixes for packed in _PACKED)


_FORMATS = (
    Format("csv", _packable(".csv"), "delimited", text=True, table=True),
    Format("tsv", _packable(".tsv"), "delimited", text=True, table=True),
    Format("txt", _packable(".txt", ".dat"), "delimited", writable=False, text=True),
    Format("coda", (), "delimited", writable=False),
    Format("cmdstan", (), "delimited", writable=False, text=True),
    Format("npy", (".npy",), "arrays", holds=frozenset()),
    Format("npz", (".npz",), "arrays"),
    Format("parquet", (".parquet", ".pq"), "draws_table", table=True),
    Format("feather", (".feather", ".arrow", ".ipc"), "draws_table", writable=False),
    Format("netcdf", (".nc", ".nc4"), "arrays"),
    Format("zarr", (".zarr",), "arrays", directory=True),
    Format("rds", (".rds",), "r", table=True, one_based=True),
    Format("rdata", (".rdata", ".rda"), "r", table=True, one_based=True),
)


FORMATS = {each.name: each for each in _FORMATS}
"""All formats by name."""


@about("format")
def find_format(name: str | None, path: PathLike | None) -> Format:
    """The format of that name, or of the path's suffix; csv when there is neither."""
    known = ", ".join(FORMATS)
    if name is not None:
        found = FORMATS.get(name.lower()) if isinstance(name, str) else None
        if found is None:
            raise UnknownNameError(
                f"format {check.shown(name)} is unknown; expected one of {known}."
            )
        return found
    if path is None:
        return FORMATS["csv"]
    file_name = check.path(path, "path").name.lower()
    if file_name.startswith("coda") and "chain" in file_name:
        return FORMATS["coda"]
    for each in _FORMATS:
        if file_name.endswith(each.suffixes):
            return each
    suffix = Path(path).suffix
    came = f"its suffix {suffix!r} is unknown" if suffix else "it has no suffix"
    suffixes = ", ".join(suffix for each in _FORMATS for suffix in each.suffixes)
    raise UnknownNameError(
        f"the format of {path} is unknown: {came}. Known suffixes: {suffixes}. "
        f"Name the format with format=..., one of {known}."
    )


# ------------------------------------------------------------------ objects in memory

_FRAMES = frozenset({"pandas", "polars", "pyarrow"})
_NAMED = frozenset({"xarray", "arviz", "arviz_base"})


def draws_from(obj: Any, *, var_name: str | None = None, transpose: bool = False) -> Draws:
    """Draws from paths, tables and containers: anything but plain arrays and ``__draws__``."""
    if isinstance(obj, (str, os.PathLike)):
        with about("draws", "path", "header", "format"):
            return read_draws(obj, transpose=transpose, var_name=var_name)
    libraries = _libraries(obj)
    if libraries & _FRAMES:
        return draws_table.draws_from_frame(obj, transpose=transpose, var_name=var_name)
    if libraries & _NAMED:
        from partita.io.arrays import draws_from_named

        tables.refuse_transpose(transpose, tables.BY_NAME)
        return draws_from_named(obj, var_name=var_name)
    if isinstance(obj, dict):
        raise InvalidLabelsError(
            f"a dict with keys {list(obj)[:5]} was given; expected draws. Pass one of its values."
        )
    check.refuse_var_name(var_name, f"a {type(obj).__name__}")
    if libraries & {"dask", "dask_expr"} and not transpose:
        found: Draws = import_module("partita.io.arrays").draws_from_dask(obj)
        return found
    return draws_from_array(obj, transpose=transpose)


def label_array(obj: Any, what: str, *, single: bool) -> Array:
    """Labels as one array: a vector, or one partition per row.

    Where a ``single`` partition is expected, a table or file of one column
    holds one label per row, and draws must be one.
    """
    libraries = _libraries(obj)
    if isinstance(obj, (str, os.PathLike)):
        return _from_draws(obj, what, single=single)
    if libraries & (_FRAMES | _NAMED) and not check.is_vector(obj):
        if single and libraries & _FRAMES and getattr(obj, "shape", ())[1:] == (1,):
            return check.plain_array(obj, what)[:, 0]
        return _from_draws(obj, what, single=single)
    return check.plain_array(obj, what)


def _from_draws(obj: Any, what: str, *, single: bool) -> Array:
    draws = draws_from(obj)
    if not single:
        return np.asarray(draws.labels)
    if draws.n_draws > 1 and draws.n_items == 1:
        draws = draws_from(obj, transpose=True)
    if draws.n_draws > 1:
        raise InvalidLabelsError(
            f"{what} are {draws.n_draws:,} draws of {draws.n_items:,} items; expected one "
            "partition: one row, or one column of labels."
        )
    return np.asarray(draws[0])


def _libraries(obj: Any) -> set[str]:
    return {cls.__module__.partition(".")[0] for cls in type(obj).__mro__}


_Part = tuple[Any, dict[str, Any]]
"""A file as a dask array of its labels, and the fields of its draws."""


def draws_on_workers(
    array: Any, client: Any, *, item_names: Sequence[str] | None = None, **fields: Any
) -> Draws:
    """Draws from a dask array of shape (draw, item) whose chunks are of known size.

    Each store of draws is one task that depends on the array's own, so that Dask makes it again
    from the source where a worker dies. The driver sees the numbers of clusters and no label.
    """
    from partita.dask import finish, require_same_version, translate_cluster_errors

    dask = require("dask", extra="dask", purpose="reading a dask array")
    require_same_version(client)
    shape = (int(array.shape[0]), int(array.shape[1]))
    refuse_empty(*shape)
    rule = current_noise_rule()
    made = []
    for store in chunk_slices(*shape):
        rows = array[store].rechunk((store.stop - store.start, shape[1]))
        (values,) = rows.to_delayed().ravel()
        made.append(dask.delayed(_canonical)(values, store, shape[1], rule))
    with translate_cluster_errors(client):
        labels, n_clusters = finish(client, client.compute(made), shape)
    return Draws._from_canonical(labels, n_clusters, item_names=item_names, **fields)


def read_on_workers(
    paths: Sequence[Source], format: str | None, options: ReadOptions, engine: Any
) -> Draws:
    """Draws on the workers of a cluster, from files that these see under the same paths."""
    from partita.dask import as_client

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
    chosen = None if tables.is_stream(path) else find_format(format, path)  # type: ignore[arg-type]
    if chosen is None or chosen.name not in (*readers, *named):
        from partita.dask import send_labels

        here = read_here(path, format, options)
        return here._with(labels=send_labels(client, here.labels))
    place = tables.check_file(path, directory=chosen.directory).resolve()  # type: ignore[arg-type]
    with tables.translate_errors(path, chosen.name):
        if chosen.name in named:
            found: Draws = chosen.reader()(place, replace(options, on_workers=True))
            return found
        array, fields = readers[chosen.name](place, options)
        return draws_on_workers(array, client, **fields)


def _npy(path: Path, options: ReadOptions) -> _Part:
    from partita.io.arrays import open_npy

    check.refuse_var_name(options.var_name, "an npy file")
    values = open_npy(path, whole=False)
    refuse_axes(values.shape)
    shape = (int(np.prod(values.shape[:-1])), values.shape[-1])
    chain = None if values.ndim == 2 else np.repeat(np.arange(values.shape[0]), values.shape[1])
    return _array(_npy_rows, str(path), shape, values.dtype), {"chain": chain}


def _parquet(path: Path, options: ReadOptions) -> _Part:
    with tables.open_parquet(path) as file:
        table = draws_table.ParquetTable(file)
        columns = draws_table.choose_columns(
            table.names, var_name=options.var_name, is_whole=table.is_whole
        )
        fields = draws_table.fields_beside(table, columns)
        names = [table.names[i] for i in columns.items]
        shape = (table.n_rows, len(names))
    array = _array(_parquet_rows, (str(path), names), shape, np.dtype(np.int64))
    return array, {**fields, "item_names": columns.names}


def _array(function: Any, source: Any, shape: tuple[int, int], dtype: np.dtype[Any]) -> Any:
    """A dask array whose chunks are the stores, each read by one task."""
    import dask
    from dask import array

    refuse_empty(*shape)
    read = dask.delayed(function)
    return array.concatenate(
        [
            array.from_delayed(read(source, s.start, s.stop), (s.stop - s.start, shape[1]), dtype)
            for s in chunk_slices(*shape)
        ]
    )


# ------------------------------------------------------------------ what runs on workers


def _canonical(values: Any, store: slice, n_items: int, rule: NoiseRule | None) -> tuple[Any, Any]:
    found = check.plain_array(values, "draws")
    if found.shape != (store.stop - store.start, n_items):
        raise InvalidLabelsError(
            f"rows {store.start} and on have the shape {found.shape}: the chunks of the array are "
            "not what they say."
        )
    builder = draws_table.Builder(n_items, len(found), store.start)
    with reading_noise(rule):
        builder.add(found)
    draws = builder.finish()
    return draws.stored, draws.n_clusters


def _npy_rows(path: str, start: int, stop: int) -> Array:
    values = np.load(path, mmap_mode="r", allow_pickle=False)
    return np.array(values.reshape(-1, values.shape[-1])[start:stop])


def _parquet_rows(source: tuple[str, list[str]], start: int, stop: int) -> Array:
    path, names = source
    with tables.open_parquet(path) as file:
        groups = [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
        ends = np.cumsum(groups)
        wanted = np.flatnonzero((ends > start) & (ends - groups < stop))
        first = int(ends[wanted[0]]) - groups[wanted[0]]
        table = file.read_row_groups(wanted.tolist(), columns=names)
    part = table.slice(start - first, stop - start)
    return draws_table.side_by_side(
        [tables.arrow_values(part.column(name)) for name in names], names, start
    )
