"""Writing draws: every format, and what each of them cannot hold."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from partita import _archive
from partita._files import PathLike, atomic_path
from partita._imports import require
from partita._progress import Status
from partita._storage import rows_per_block, smallest_unsigned
from partita._validate import boolean, has
from partita.draws import Draws, as_draws
from partita.errors import InvalidInputError, InvalidLabelsError, NotSupportedError, about
from partita.io import draws_table
from partita.io.arrays import CHAIN_FROM, FIELDS, KIND, SEAL, WEIGHTED, checksums, is_ours
from partita.io.draws_table import CHAIN, WEIGHT
from partita.io.read import Format, find_format
from partita.io.table import is_standard
from partita.kernels.arrays import Array, Int32s
from partita.labels import DrawsLike


def write_draws(
    draws: DrawsLike,
    path: PathLike | IO[Any],
    *,
    format: str | None = None,
    overwrite: bool = False,
    one_based: bool = False,
) -> None:
    """Write draws to a file that :func:`read_draws` reads back as equal draws.

    Parameters
    ----------
    draws : Draws, or anything as_draws accepts
    path : path, "-" or a file opened for bytes
        ``"-"`` is standard output. The file appears only when it is complete.
    format : str, optional
        As for :func:`read_draws`; ``txt`` and ``cmdstan`` cannot be written.
    overwrite : bool
        Replace a file that exists; without it that is an error. Of directories only a zarr store
        that partita wrote is replaced.
    one_based : bool
        Count labels from 1, as R's programs expect, in every format. R's own formats always do.

    Notes
    -----
    Labels are written in canonical form (0-based in order of first appearance; 1-based in R's
    formats). Weights, chain ids and item names are kept: as columns ``.chain`` and ``.weight``
    and headings in tables (``.item1, .item2, …`` stand for items without names), as arrays in
    npz, as dimensions and ``sample_stats`` in the ArviZ layout of netCDF and zarr, as attributes
    ``chain`` and ``weights`` of the matrix in R's formats. An ensemble says so: by a column
    ``.run`` that numbers the runs in tables, by ``kind`` elsewhere. npy holds
    labels alone, and draws that have more are refused. Cost O(n_draws · n_items).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import partita as pt
    >>> draws = pt.Draws([[0, 0, 1], [0, 1, 1]], item_names=["a", "b", "c"])
    >>> file = Path(tempfile.mkdtemp()) / "draws.csv"
    >>> pt.write_draws(draws, file)
    >>> pt.read_draws(file) == draws
    True
    """
    value = as_draws(draws)
    boolean(overwrite, "overwrite")
    stream = is_standard(path) or has(path, "write")
    chosen = find_format(format, None if stream else path)  # type: ignore[arg-type]
    writer = chosen.writer()
    check_representable(value, chosen)
    if boolean(one_based, "one_based") and not chosen.one_based:
        value = OneBased(value)  # type: ignore[assignment]
    if stream:
        if not chosen.text:
            raise NotSupportedError(
                f"format {chosen.name!r} cannot be written to a stream; give a path.",
                argument="format",
            )
        writer(value, sys.stdout.buffer if is_standard(path) else path)
        return
    with atomic_path(
        path,  # type: ignore[arg-type]
        overwrite=overwrite,
        replaceable=is_ours if chosen.directory else None,
    ) as temporary:
        writer(value, temporary)


@about("format")
def check_representable(draws: Draws, chosen: Format) -> None:
    """Refuse what the file could not give back."""
    parts: dict[str, Any] = {
        **{name: getattr(draws, name) for name in ("weights", "chain", "item_names")},
        "kind": None if draws.kind == "posterior" else draws.kind,
    }
    lost = [name for name, part in parts.items() if part is not None and name not in chosen.holds]
    if lost:
        raise NotSupportedError(
            f"format {chosen.name!r} cannot hold {' and '.join(lost)}; choose another, "
            "such as npz, or write the labels alone."
        )
    names = draws.item_names or ()
    chains = (
        draws.chain.tolist() if draws.chain is not None and draws.chain.dtype.kind == "U" else []
    )
    check_names({*names, *chains})
    if names and chosen.table and not _survive_as_columns(names):
        raise InvalidInputError(
            f"items named {', '.join(map(repr, names[:3]))}, … would be read back as something "
            f"else: {CHAIN}, {WEIGHT}, lp__, z[1], an empty name and .item1, .item2, … have a "
            "meaning of their own as headings. Rename the items, or write npz, netCDF or zarr."
        )


def check_names(names: Iterable[str]) -> None:
    """Refuse names of items and chains that no file would give back."""
    for name in names:
        # Half a pair of surrogates has no code in UTF-8.
        if any(ord(c) < 32 or ord(c) == 127 or "\ud800" <= c <= "\udfff" for c in name):
            raise InvalidInputError(
                f"the name {name!r} has control characters or cannot be written as UTF-8; "
                "rename the item or chain."
            )


def _survive_as_columns(names: tuple[str, ...]) -> bool:
    try:
        columns = draws_table.choose_columns(names, var_name=None, is_whole=lambda _: True)
    except (InvalidInputError, InvalidLabelsError):
        return False
    # An empty first heading marks a column of row names.
    return columns.names == names and "" not in names


class OneBased:
    """The draws as they are, except that labels are one larger."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def __getattr__(self, name: str) -> Any:
        return getattr(self._draws, name)

    @property
    def labels(self) -> Array:
        """All labels, from 1."""
        dtype = smallest_unsigned(int(self._draws.n_clusters.max()))
        labels: Array = self._draws.labels.astype(dtype)
        labels += dtype.type(1)
        return labels

    def rows(self, start: int, stop: int) -> Int32s:
        """Some draws, from 1."""
        return self._draws.rows(start, stop) + np.int32(1)


# ------------------------------------------------------------------ text


def write(draws: Draws, target: Path | IO[Any], *, sep: str) -> None:
    """Write draws separated by a character, under a header."""
    with Status("writing draws") as status:
        lines = _lines(draws, sep, status)
        if not isinstance(target, Path):
            target.writelines(lines)
        else:
            with (
                target.open("wb") as raw,
                _compressing_stream(raw, target.suffix.lower()) as stream,
            ):
                stream.writelines(lines)


write_csv = partial(write, sep=",")
write_tsv = partial(write, sep="\t")


def _compressing_stream(raw: IO[bytes], suffix: str) -> Any:
    if suffix == ".gz":  # no time stamp and no name inside: equal draws give equal files
        return gzip.GzipFile("", "wb", fileobj=raw, mtime=0)
    if suffix == ".xz":
        return lzma.LZMAFile(raw, "wb")
    return bz2.BZ2File(raw, "wb") if suffix == ".bz2" else nullcontext(raw)


def _lines(draws: Draws, sep: str, status: Status) -> Iterator[bytes]:
    from partita.kernels.delimited import format_rows

    beside = draws_table.metadata_columns(draws)
    names = draws_table.placeholder_names(draws.n_items)
    if draws.item_names is not None:  # in quotes, so that 1, 2, 3 are not taken for labels
        names = [_cell(name) for name in draws.item_names]
    yield (sep.join([*beside, *names]) + "\n").encode()
    rows = min(rows_per_block(draws.n_items), draws.n_draws)
    buffer = np.empty(11 * rows * draws.n_items, np.uint8)
    for block in draws.blocks():
        status.say(f"{block.start:,} of {draws.n_draws:,}")
        ends = np.empty(block.stop - block.start, np.int64)
        used = format_rows(draws.rows(block.start, block.stop), ord(sep), buffer, ends)
        text = buffer[:used].tobytes()
        if not beside:
            yield text
            continue
        cells = [map(_cell, values[block].tolist()) for values in beside.values()]
        starts = [0, *ends[:-1].tolist()]
        for *before, start, end in zip(*cells, starts, ends.tolist(), strict=True):
            yield (sep.join(before) + sep).encode() + text[start:end]


def _cell(value: str | float) -> str:
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else repr(value)


# ------------------------------------------------------------------ NumPy


def write_npy(draws: Draws, path: Path) -> None:
    """Write the labels alone."""
    np.save(path, draws.labels, allow_pickle=False)


def write_npz(draws: Draws, path: Path) -> None:
    """Write labels, weights, chain, item_names and kind, those that are there, compressed."""
    arrays: dict[str, Any] = {"labels": draws.labels}
    for name in FIELDS:
        value = getattr(draws, name)
        if value is not None:
            arrays[name] = np.array(value)
    if draws.kind != "posterior":
        arrays["kind"] = np.array(draws.kind)
    _archive.write_npz(path, arrays)


# ------------------------------------------------------------------ parquet


def write_parquet(draws: Draws, path: Path) -> None:
    """Write one column per item, in row groups."""
    parquet = require("pyarrow.parquet", extra="parquet", purpose="writing .parquet files")
    arrow = require("pyarrow", extra="parquet")
    names = draws.item_names or draws_table.placeholder_names(draws.n_items)
    extra = draws_table.metadata_columns(draws)

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
        for rows in draws.blocks():
            writer.write_table(table(rows))


# ------------------------------------------------------------------ netCDF, zarr

_OVERHEAD = 1 << 18
"""Bytes that a netCDF file takes besides its arrays, with some to spare."""


def write_netcdf(draws: Draws, path: Path) -> None:
    """Write a netCDF-4 file that ArviZ opens, labels in ``posterior``."""
    require("h5netcdf", extra="arviz", purpose="writing .nc files")
    # Room first: on a full disk the library below does not raise, it crashes.
    with path.open("wb") as stream:
        _reserve(stream, draws.labels.nbytes + 16 * draws.n_draws + _OVERHEAD)
    tree = _tree(draws)
    tree.to_netcdf(path, engine="h5netcdf", encoding=_checksum_encoding(tree, {"fletcher32": True}))


def _reserve(stream: IO[bytes], size: int) -> None:
    """Fill a file, which raises OSError where the disk is too small for it."""
    block = bytes(1 << 20)
    for start in range(0, size, len(block)):
        stream.write(block[: size - start])
    stream.flush()


def write_zarr(draws: Draws, path: Path) -> None:
    """Write a zarr store, labels in ``posterior``."""
    zarr = require("zarr", extra="arviz", purpose="writing .zarr stores")
    numcodecs = require("numcodecs", extra="arviz")
    tree = _tree(draws)
    encoding = _checksum_encoding(tree, {"filters": [numcodecs.CRC32()]})
    # Format 2: the versions of zarr that ArviZ 0.x accepts read no other.
    # Chunks of zeros too: for the reader a chunk that is not there is missing.
    with zarr.config.set({"array.write_empty_chunks": True}):
        tree.to_zarr(path, zarr_format=2, consolidated=False, encoding=encoding)
    # Checksums of the metadata, in which damage can change what is read unnoticed.
    (path / ".zattrs").write_text(json.dumps({SEAL: checksums(path)}), encoding="utf-8")


def _checksum_encoding(tree: Any, checksum: dict[str, Any]) -> dict[str, Any]:
    """An encoding with a checksum for every array of numbers, so that damage is found."""
    return {
        f"/{group}": {
            name: checksum for name, array in node.variables.items() if array.dtype.kind != "O"
        }
        for group, node in tree.children.items()
    }


def _tree(draws: Draws) -> Any:
    """Labels as ``posterior/labels`` (chain, draw, item); the rest in ``sample_stats``.

    Chains of equal length, one after another, are the chain dimension. Others
    are kept as ids of the draws of a single chain, since the layout has no
    ragged chains.
    """
    xarray = require("xarray", extra="arviz", purpose="writing this file")
    ids, source = _chain_ids(draws)
    n_chains = len(ids)
    per_draw = (n_chains, draws.n_draws // n_chains)
    labels = draws.labels.reshape(*per_draw, draws.n_items)
    coords: dict[str, Any] = {"chain": ids, "draw": np.arange(per_draw[1])}
    if draws.item_names is not None:
        coords["item"] = np.array(draws.item_names, dtype=object)
    stats: dict[str, Any] = {}
    if draws.weights is not None:
        stats["weight"] = (("chain", "draw"), draws.weights.reshape(per_draw))
    if source == "variable" and draws.chain is not None:
        chain = draws.chain.astype(object) if draws.chain.dtype.kind == "U" else draws.chain
        stats["chain_id"] = (("chain", "draw"), chain.reshape(per_draw))
    noted = {CHAIN_FROM: source, WEIGHTED: int(draws.weights is not None)}
    if draws.kind != "posterior":
        noted[KIND] = draws.kind
    variable = (("chain", "draw", "item"), labels, noted)
    groups = {"/posterior": xarray.Dataset({"labels": variable}, coords)}
    if stats:
        own = {name: coords[name] for name in ("chain", "draw")}
        groups["/sample_stats"] = xarray.Dataset(stats, own)
    return xarray.DataTree.from_dict(groups)


def _chain_ids(draws: Draws) -> tuple[Any, str]:
    """Ids along the chain dimension, and where the chain of each draw is found."""
    if draws.chain is None:
        return np.arange(1), "none"
    _, first = np.unique(draws.chain, return_index=True)
    ids = draws.chain[np.sort(first)]
    even = draws.n_draws % len(ids) == 0
    if not even or not np.array_equal(np.repeat(ids, draws.n_draws // len(ids)), draws.chain):
        return np.arange(1), "variable"
    return (ids.astype(object) if ids.dtype.kind == "U" else ids), "dimension"


# ------------------------------------------------------------------ R

_OBJECT = "draws"
"""Name of the object in the .RData files written."""


def write_rds(draws: Draws, path: Path) -> None:
    """Write an integer matrix; chains and weights are its attributes, so that it stays one."""
    rdata = require("rdata", extra="r", purpose="writing .rds files")
    rdata.write_rds(path, _to_r_matrix(draws), constructor_dict=_constructors())


def write_rdata(draws: Draws, path: Path) -> None:
    """The same as the object ``draws`` of an .RData file."""
    rdata = require("rdata", extra="r", purpose="writing .RData files")
    rdata.write_rda(path, {_OBJECT: _to_r_matrix(draws)}, constructor_dict=_constructors())


@dataclass(frozen=True)
class _Matrix:
    """An integer matrix with attributes, which rdata has no Python type for."""

    values: Int32s
    attributes: dict[str, Any]


def _to_r_matrix(draws: Draws) -> _Matrix:
    """Labels from 1, as R counts; attributes chain, weights and kind beside them."""
    labels = draws.labels.astype(np.int32) + np.int32(1)
    attributes: dict[str, Any] = {"dim": np.array(labels.shape, np.int32)}
    if draws.item_names is not None:
        attributes["dimnames"] = [None, np.array(draws.item_names)]
    if draws.chain is not None:
        attributes["chain"] = _r_ids(draws.chain)
        if draws.chain.dtype.kind in "iu" and draws.chain.min() == 0:
            attributes["chain"] = attributes["chain"] + np.int32(1)
            attributes["chain_from"] = np.array([0], np.int32)
    if draws.weights is not None:
        attributes["weights"] = np.array(draws.weights)
    if draws.kind != "posterior":
        attributes["kind"] = np.array([draws.kind])
    return _Matrix(labels, attributes)


def _r_ids(chain: Array) -> Array:
    if chain.dtype.kind == "U":
        return chain
    if np.abs(chain.astype(np.float64)).max() >= 2**31 - 1:
        raise InvalidInputError("chain ids beyond R's integers (2^31) cannot be written for R.")
    return chain.astype(np.int32)


def _constructors() -> dict[type, Any]:
    to_r = require("rdata.conversion.to_r", extra="r")
    parser = require("rdata.parser", extra="r")

    def matrix(data: _Matrix, converter: Any) -> Any:
        return to_r.build_r_object(
            parser.RObjectType.INT,
            value=data.values.ravel(order="F"),
            attributes=converter.convert_to_r_attributes(data.attributes),
        )

    return {**to_r.DEFAULT_CLASS_MAP, _Matrix: matrix}
