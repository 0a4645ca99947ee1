"""Chunks of a zarr array, looked at before any library believes what they declare."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from partita._optional import require
from partita.errors import FileFormatError
from partita.io.zarr_stores import codec_name, document, plain

_BLOSC_HEAD = 16
"""Bytes before the content of a chunk; the last four are its length, these included."""
_ENTRY = np.dtype([("start", "<u8"), ("size", "<u8")])
"""Where a chunk stands in its shard."""
_ABSENT = 2**64 - 1
_CHECKSUM = 4


def check_chunks(path: Path, name: str) -> None:
    """Refuse an array of a store with chunks missing or cut: zarr reads zeros or stray memory.

    Not so the missing ones of a count along ``chain``: a store leaves out chunks that are zero.
    """
    zarr = require("zarr", extra="arviz", purpose="reading .zarr stores")
    array = zarr.open_array(path, path=name, mode="r")
    folder = path / name
    codecs = _codecs(folder)
    total, found = array.nchunks, array.nchunks_initialized
    if "sharding_indexed" in codecs:
        shards = _shards(folder, array.shape)
        total = math.prod(-(-n // k) for n, k in zip(array.shape, shards.chunk, strict=True))
        found = sum(_check_shard(place, shards) for place in _chunk_files(folder))
    elif codecs[-1:] == ["blosc"]:
        for place in _chunk_files(folder):
            with place.open("rb") as stream:
                _check_blosc(stream.read(_BLOSC_HEAD), place.stat().st_size, place)
    if found < total and Path(name).name != "chain":
        raise FileFormatError(
            f"{path} lacks {total - found} of the {total} chunks of {name or 'its array'}, which "
            "would read as zeros. Copy the store again; if it was written without its empty "
            "chunks, write it with write_empty_chunks=True."
        )


def _chunk_files(folder: Path) -> Iterator[Path]:
    for place in sorted(folder.rglob("*")):
        if place.is_file() and place.suffix != ".json" and not place.name.startswith("."):
            yield place


def _codecs(folder: Path) -> list[str]:
    """Names of the codecs of an array, in the order of writing."""
    if (folder / ".zarray").exists():
        settings = document(folder / ".zarray")
        found = [*(settings.get("filters") or []), settings.get("compressor")]
    else:
        found = document(folder / "zarr.json").get("codecs") or []
    names = [plain(codec_name(codec)) for codec in found if codec is not None]
    _refuse_hidden_blosc(names, folder)
    return names


def _refuse_hidden_blosc(names: list[str], folder: Path) -> None:
    if "blosc" in names[:-1]:
        raise FileFormatError(
            f"{folder} has Blosc inside another codec, where its lengths cannot be looked at. "
            "Write the store with Blosc alone, or with another codec."
        )


def _check_blosc(head: bytes, size: int, place: Path) -> None:
    """Blosc believes the length that a chunk declares and reads beyond a shorter one's end."""
    declared = int.from_bytes(head[-4:], "little")
    if len(head) < _BLOSC_HEAD or declared != size:
        raise _damaged(place)


def _damaged(place: Path) -> FileFormatError:
    return FileFormatError(
        f"{place} is damaged or cut short: it does not have the length it declares. Copy or "
        "write the store again."
    )


@dataclass(frozen=True)
class _Shards:
    """Files that hold several chunks each, and where in a file its index stands."""

    array: tuple[int, ...]
    shard: tuple[int, ...]
    chunk: tuple[int, ...]
    index_bytes: int
    index_first: bool
    blosc: bool


def _shards(folder: Path, shape: tuple[int, ...]) -> _Shards:
    found = document(folder / "zarr.json")
    codecs = found["codecs"]
    shard = tuple(found["chunk_grid"]["configuration"]["chunk_shape"])
    settings = codecs[0].get("configuration", {})
    inner = [plain(codec_name(codec)) for codec in settings.get("codecs", [])]
    index = [plain(codec_name(codec)) for codec in settings.get("index_codecs", [])]
    _refuse_hidden_blosc(inner, folder)
    usual = index in (["bytes"], ["bytes", "crc32c"]) and "sharding_indexed" not in inner
    if len(codecs) > 1 or not usual:
        raise FileFormatError(
            f"{folder} has shards inside other codecs, or indices written in an unusual way, "
            "which partita does not look into. Write the store without shards."
        )
    chunk = tuple(settings["chunk_shape"])
    size = _ENTRY.itemsize * math.prod(n // k for n, k in zip(shard, chunk, strict=True))
    size += _CHECKSUM * (len(index) - 1)
    first = settings.get("index_location", "end") == "start"
    return _Shards(shape, shard, chunk, size, first, inner[-1:] == ["blosc"])


def _check_shard(place: Path, shards: _Shards) -> int:
    """How many of the array's chunks are in this file; refuses one that does not fit it."""
    size = place.stat().st_size
    with place.open("rb") as stream:
        stream.seek(0 if shards.index_first else max(0, size - shards.index_bytes))
        grid = [n // k for n, k in zip(shards.shard, shards.chunk, strict=True)]
        raw = stream.read(shards.index_bytes)
        if len(raw) < shards.index_bytes:
            raise _damaged(place)
        entries = np.frombuffer(raw, _ENTRY, math.prod(grid)).reshape(grid)
        present = 0
        for position in np.ndindex(*_inside(place, shards)):
            start, length = (int(entries[position][field]) for field in ("start", "size"))
            if start == length == _ABSENT:
                continue
            if start + length > size:
                raise _damaged(place)
            if shards.blosc:
                stream.seek(start)
                _check_blosc(stream.read(min(length, _BLOSC_HEAD)), length, place)
            present += 1
    return present


def _inside(place: Path, shards: _Shards) -> list[int]:
    """How many chunks of a shard lie inside the array, by dimension; its path tells where it is."""
    parts: Sequence[str] = place.parts[-len(shards.array) :]
    if "." in place.name:
        parts = place.name.removeprefix("c.").split(".")
    try:
        corner = [int(part) * n for part, n in zip(parts, shards.shard, strict=True)]
    except ValueError:
        raise FileFormatError(f"{place} is no part of the array it stands in.") from None
    return [
        max(0, -(-min(n, length - at) // k))
        for at, n, k, length in zip(corner, shards.shard, shards.chunk, shards.array, strict=True)
    ]
