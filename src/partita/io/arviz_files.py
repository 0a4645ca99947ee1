"""NetCDF files and zarr stores in the layout of ArviZ."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any

import numpy as np

from partita._optional import require
from partita.errors import InvalidInputError, InvalidLabelsError
from partita.io.named import CHAIN_FROM, KIND, WEIGHTED, draws_from_named
from partita.io.registry import ReadOptions
from partita.io.source import damage
from partita.io.zarr_chunks import check_chunks
from partita.io.zarr_stores import check_codecs, check_metadata, is_array, seal_metadata
from partita.partitions.convert import draws_from_array
from partita.partitions.draws import Draws

_OVERHEAD = 1 << 18
"""Bytes that a netCDF file takes besides its arrays, with room to spare."""


def read_netcdf(path: Path, options: ReadOptions) -> Draws:
    """Draws from a netCDF-4 file."""
    h5py = require("h5py", extra="arviz", purpose=f"reading {path.suffix} files")
    # Looked at first: h5netcdf prints a traceback of its own when it cannot open a file or read
    # this attribute.
    with _damage(path), h5py.File(path, "r") as file:
        file.attrs.get("_nc3_strict")
    return _read(path, options, engine="h5netcdf")


def read_zarr(path: Path, options: ReadOptions) -> Draws:
    """Draws from a zarr store, a directory."""
    check_codecs(path)
    check_metadata(path)
    if is_array(path):
        return _read_array(path, options)

    def is_whole(group: str, name: str) -> None:
        check_chunks(path, f"{group}/{name}".strip("/"))

    return _read(path, options, engine="zarr", check=is_whole)


def _read_array(path: Path, options: ReadOptions) -> Draws:
    """Draws from a store that is one array without names, as ``dask.array.to_zarr`` writes it."""
    from partita.io.foreign import draws_from_dask, draws_in_blocks

    if options.var_name is not None:
        raise InvalidInputError(
            f"var_name={options.var_name!r} was given, but {path} is a single array.",
            argument="var_name",
        )
    check_chunks(path, "")
    zarr = require("zarr", extra="arviz", purpose="reading .zarr stores")
    with _damage(path):
        array = zarr.open_array(path, mode="r")
        if array.ndim not in (2, 3):
            raise InvalidLabelsError(
                f"{path} is an array of shape {array.shape}; expected (draw, item) or "
                "(chain, draw, item)."
            )
        if options.transpose:
            return draws_from_array(np.asarray(array[...]), transpose=True)
        if options.on_workers:
            dask_array = require("dask.array", extra="dask", purpose="reading on a cluster")
            return draws_from_dask(dask_array.from_zarr(str(path)))
        return draws_in_blocks(array, np.asarray)


def write_netcdf(draws: Draws, path: Path) -> None:
    """Write a netCDF-4 file that ArviZ opens, labels in ``posterior``."""
    require("h5netcdf", extra="arviz", purpose="writing .nc files")
    # Room first: on a full disk the library below does not raise, it crashes.
    with path.open("wb") as stream:
        _reserve(stream, draws.labels.nbytes + 16 * draws.n_draws + _OVERHEAD)
    tree = _tree(draws)
    tree.to_netcdf(path, engine="h5netcdf", encoding=_checked(tree, {"fletcher32": True}))


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
    encoding = _checked(tree, {"filters": [numcodecs.CRC32()]})
    # Format 2: the versions of zarr that ArviZ 0.x accepts read no other.
    # Chunks of zeros too: for the reader a chunk that is not there is missing.
    with zarr.config.set({"array.write_empty_chunks": True}):
        tree.to_zarr(path, zarr_format=2, consolidated=False, encoding=encoding)
    seal_metadata(path)


def _checked(tree: Any, checksum: dict[str, Any]) -> dict[str, Any]:
    """An encoding with a checksum for every array of numbers, so that damage is found."""
    return {
        f"/{group}": {
            name: checksum for name, array in node.variables.items() if array.dtype.kind != "O"
        }
        for group, node in tree.children.items()
    }


def _read(path: Path, options: ReadOptions, *, engine: str, check: Any = None) -> Draws:
    if options.transpose:
        raise InvalidInputError(
            "transpose=True has no meaning for files with named dimensions: chain, draw "
            "and item are found by name.",
            argument="transpose",
        )
    purpose = f"reading {path.suffix or path.name} files"
    xarray = require("xarray", extra="arviz", purpose=purpose)
    require(engine, extra="arviz", purpose=purpose)
    # As a dask array the workers of a cluster read it by themselves.
    chunks: Any = {} if options.on_workers else None
    with (
        _damage(path),
        # The backends' remarks on how a file was written are not about the reader's doing.
        warnings.catch_warnings(action="ignore"),
        xarray.open_datatree(path, engine=engine, chunks=chunks) as tree,
    ):
        return draws_from_named(tree, var_name=options.var_name, check=check)


def _damage(path: Path) -> AbstractContextManager[None]:
    # Each backend has errors of its own for a damaged file.
    return damage(path, "not what its name says", Exception)


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
