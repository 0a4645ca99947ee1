"""What a file of draws says, read in the plainest way by other means than partita's.

For a damaged file that partita reads, this is the other opinion. Each gives labels,
weights, chain ids and item names as the file spells them.
"""

import bz2
import csv
import gzip
import lzma
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Content(NamedTuple):
    """What draws are made of."""

    labels: Any
    weights: Any = None
    chain: Any = None
    names: list[str] | None = None


def read_plainly(path: Path) -> Content:
    """The content of a file, by its suffix."""
    name = path.name
    for packed, opened in ((".gz", gzip.open), (".xz", lzma.open), (".bz2", bz2.open)):
        if name.endswith(packed):
            return _text(opened(path).read(), name.removesuffix(packed))
    if name.endswith((".csv", ".tsv")):
        return _text(path.read_bytes(), name)
    readers = {".npy": _npy, ".npz": _npz, ".parquet": _parquet, ".nc": _netcdf, ".zarr": _zarr}
    readers |= {".rds": _r, ".RData": _r}
    return readers[path.suffix](path)


def _text(content: bytes, name: str) -> Content:
    lines = content.decode("utf-8-sig").splitlines()
    lines = [line for line in lines if line.strip()]
    while lines[0].lstrip().startswith("#"):  # comments stand before the table
        del lines[0]
    rows = list(csv.reader(lines, delimiter="\t" if name.endswith("tsv") else ",", strict=True))
    if '"' not in lines[0]:
        rows[0] = [cell.strip() for cell in rows[0]]
    if any(is_number(cell) for cell in rows[0]):
        return Content([[_whole(cell) for cell in row] for row in rows])
    return _table(dict(zip(rows[0], zip(*rows[1:], strict=True), strict=True)), len(rows[0]))


def _table(columns: dict[str, Any], width: int) -> Content:
    if len(columns) < width:
        raise ValueError("repeated headings")
    chain, weights = columns.pop(".chain", None), columns.pop(".weight", None)
    names: list[str] | None = list(columns)
    if names == [f".item{i + 1}" for i in range(len(columns))]:
        names = None
    labels = np.array([[_whole(cell) for cell in column] for column in columns.values()]).T
    if chain is not None and all(is_number(cell) for cell in chain):
        chain = [_whole(cell) for cell in chain]
    return Content(labels, weights and [float(cell) for cell in weights], chain, names)


def is_number(cell: Any) -> bool:
    try:
        return float(cell) == float(cell)
    except ValueError:
        return False


def _whole(cell: Any) -> int:
    value = float(cell)
    if value != int(value):
        raise ValueError(f"{cell} is not whole")
    return int(cell) if isinstance(cell, str) and cell.strip("+-").isdigit() else int(value)


def _npy(path: Path) -> Content:
    return Content(np.load(path, allow_pickle=False))


def _npz(path: Path) -> Content:
    with np.load(path, allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    names = arrays["item_names"].tolist() if "item_names" in arrays else None
    return Content(arrays["labels"], arrays.get("weights"), arrays.get("chain"), names)


def _parquet(path: Path) -> Content:
    import pandas

    frame = pandas.read_parquet(path)
    return _table({name: frame[name].tolist() for name in frame}, frame.shape[1])


def _netcdf(path: Path) -> Content:
    import h5py

    with h5py.File(path) as file:
        return _layout(file, lambda array: array.asstr() if array.dtype.kind == "O" else array)


def _zarr(path: Path) -> Content:
    import zarr

    return _layout(zarr.open_group(path, mode="r"), lambda array: array)


def _layout(file: Any, values: Any) -> Content:
    posterior = file["posterior"]
    labels = posterior["labels"][:]
    n_chains, n_draws, n_items = labels.shape
    weights = file["sample_stats"]["weight"][:].ravel() if "sample_stats" in file else None
    chain = np.repeat(np.array(values(posterior["chain"])[:].tolist()), n_draws)
    names = None
    if "item" in posterior and not _is_bare(posterior["item"]):
        names = values(posterior["item"])[:].tolist()
    return Content(labels.reshape(n_chains * n_draws, n_items), weights, chain, names)


def _is_bare(array: Any) -> bool:
    """Whether netCDF marks a dimension as one that has no coordinates."""
    name = array.attrs.get("NAME", b"")
    text = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
    return text.startswith("This is a netCDF dimension but not")


def _r(path: Path) -> Content:
    import rdata

    node = rdata.parser.parse_file(path).object
    if node.info.type.name == "LIST":  # the first object of an .RData file
        node = node.value[0]
    found = _pairs(node.attributes)
    n_draws, n_items = (int(n) for n in found["dim"].value)
    labels = np.asarray(node.value).reshape(n_items, n_draws).T
    names = None
    if "dimnames" in found:
        names = _texts(found["dimnames"].value[1])
    chain = found.get("chain")
    if chain is not None:
        chain = _texts(chain) if chain.info.type.name == "STR" else np.asarray(chain.value)
    weights = found.get("weights")
    return Content(labels, None if weights is None else np.asarray(weights.value), chain, names)


def _pairs(node: Any) -> dict[str, Any]:
    found = {}
    while node is not None and node.info.type.name == "LIST":
        tag = node.tag.referenced_object or node.tag
        found[tag.value.value.decode()] = node.value[0]
        node = node.value[1]
    return found


def _texts(node: Any) -> list[str]:
    return [char.value.decode() for char in node.value]
