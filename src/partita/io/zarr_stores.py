"""What a zarr store says of itself, looked at before any library opens it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from partita._optional import require
from partita.errors import FileFormatError

_CODECS = frozenset(
    {
        *("blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd"),
        *("adler32", "crc32", "crc32c", "fletcher32", "jenkins_lookup3"),
        *("astype", "bitround", "delta", "fixedscaleoffset", "packbits", "quantize", "shuffle"),
        *("bytes", "endian", "sharding_indexed", "transpose", "vlen-bytes", "vlen-utf8"),
    }
)
"""Codecs that only move bytes. Others can run code when a store is read: ``pickle`` does."""

_METADATA = frozenset({".zarray", ".zgroup", ".zmetadata", "zarr.json"})
_OUR_ENTRIES = frozenset({".zattrs", ".zgroup", "posterior", "sample_stats"})
_MOST_BYTES = 1 << 24
_BLOSC_HEAD = 16
"""Bytes before the content of a chunk; the last four are its length, these included."""


def check_codecs(path: Path) -> None:
    """Refuse a store that names a codec which is not known to be harmless."""
    if not path.is_dir():
        raise FileFormatError(f"{path} is a file; expected a zarr store, which is a directory.")
    for place in _metadata_files(path):
        document = _document(place)
        for name in _codec_names(document):
            if name.lower().removeprefix("numcodecs.") not in _CODECS:
                raise FileFormatError(
                    f"{place} names the codec {name!r}, which partita does not allow: codecs such "
                    "as pickle run code when a store is read. If you trust the store, open it "
                    "with xarray and pass the labels to as_draws."
                )


def check_chunks(path: Path, name: str) -> None:
    """Refuse an array of a store with chunks missing or cut: zarr reads zeros or stray memory.

    Not so the missing ones of a count along ``chain``: a store leaves out chunks that are zero.
    """
    zarr = require("zarr", extra="arviz", purpose="reading .zarr stores")
    array = zarr.open_array(path, path=name, mode="r")
    missing = array.nchunks - array.nchunks_initialized
    if missing and Path(name).name != "chain":
        raise FileFormatError(
            f"{path} lacks {missing} of the {array.nchunks} chunks of {name}, which would read as "
            "zeros. Copy the store again; if it was written without its empty chunks, write it "
            "with write_empty_chunks=True."
        )
    for place in sorted((path / name).rglob("*")):
        if place.is_file() and place.suffix != ".json" and not place.name.startswith("."):
            _check_blosc(place, _outer_codec(path / name))


def _outer_codec(folder: Path) -> str:
    """The codec that made the bytes of the chunk files of an array."""
    if (folder / ".zarray").exists():
        return _name(_document(folder / ".zarray").get("compressor"))
    codecs = _document(folder / "zarr.json").get("codecs") or [None]
    return _name(codecs[-1])


def _check_blosc(place: Path, codec: str) -> None:
    """Blosc believes the length that a chunk declares and reads beyond a shorter one's end."""
    if codec.lower().removeprefix("numcodecs.") != "blosc":
        return
    with place.open("rb") as stream:
        head = stream.read(_BLOSC_HEAD)
    declared = int.from_bytes(head[-4:], "little")
    if len(head) < _BLOSC_HEAD or declared != place.stat().st_size:
        raise FileFormatError(
            f"{place} is damaged or cut short: it does not have the length it declares. Copy or "
            "write the store again."
        )


def is_ours(path: Path) -> bool:
    """Whether ``write_draws`` made this store and nothing was added at its top."""
    from partita.io.named import CHAIN_FROM

    try:
        attributes = _document(path / "posterior" / "labels" / ".zattrs")
        return {entry.name for entry in path.iterdir()} <= _OUR_ENTRIES and CHAIN_FROM in attributes
    except (FileFormatError, OSError, TypeError):
        return False


def _metadata_files(path: Path) -> Iterator[Path]:
    for folder, _, files in os.walk(path, followlinks=True):
        for name in files:
            if name in _METADATA:
                yield Path(folder) / name


def _document(place: Path) -> Any:
    try:
        if place.stat().st_size > _MOST_BYTES:
            raise FileFormatError(f"{place} is too large for the metadata of a store.")
        return json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FileFormatError(
            f"{place} is damaged or cut short ({error}). Copy or write the store again."
        ) from error


def _codec_names(node: Any) -> Iterator[str]:
    """Every codec named anywhere in the metadata of one or, consolidated, of many arrays."""
    if isinstance(node, list):
        for part in node:
            yield from _codec_names(part)
    if not isinstance(node, dict):
        return
    for key, value in node.items():
        if key == "attributes":
            continue
        if key in ("compressor", "filters", "codecs", "index_codecs", "storage_transformers"):
            for codec in value if isinstance(value, list) else [value]:
                if codec is not None:
                    yield _name(codec)
        yield from _codec_names(value)


def _name(codec: Any) -> str:
    if isinstance(codec, dict):
        codec = codec.get("id", codec.get("name"))
    return codec if isinstance(codec, str) else repr(codec)
