"""What a zarr store says of itself, looked at before any library opens it."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def check_codecs(path: Path) -> None:
    """Refuse a store that names a codec which is not known to be harmless."""
    if not path.is_dir():
        raise FileFormatError(f"{path} is a file; expected a zarr store, which is a directory.")
    for place in _metadata_files(path):
        for name in _codec_names(document(place)):
            if plain(name) not in _CODECS:
                raise FileFormatError(
                    f"{place} names the codec {name!r}, which partita does not allow: codecs such "
                    "as pickle run code when a store is read. If you trust the store, open it "
                    "with xarray and pass the labels to as_draws."
                )


_SEAL = "partita_metadata"
"""Attribute of a store that partita wrote: a checksum of each file of its metadata."""


def seal_metadata(path: Path) -> None:
    """Note checksums of the metadata, in which damage can change what is read unnoticed."""
    note = path / ".zattrs"
    note.write_text(json.dumps({_SEAL: _checksums(path)}), encoding="utf-8")


def check_metadata(path: Path) -> None:
    """Refuse a store of partita's whose metadata were changed; others have no checksums."""
    note = path / ".zattrs"
    sealed = document(note).get(_SEAL) if note.exists() else None
    if sealed is None:
        return
    found = _checksums(path)
    for place, checksum in sealed.items():
        if found.get(place) != checksum:
            raise FileFormatError(
                f"{path / place} is damaged, missing or was changed after partita wrote it. Copy "
                "or write the store again."
            )


def _checksums(path: Path) -> dict[str, int]:
    places = [p for p in path.rglob(".z*") if p.is_file() and p != path / ".zattrs"]
    return {p.relative_to(path).as_posix(): zlib.crc32(p.read_bytes()) for p in sorted(places)}


def is_array(path: Path) -> bool:
    """Whether a store is one array and no group of arrays."""
    settings = path / "zarr.json"
    if settings.exists():
        return bool(document(settings).get("node_type") == "array")
    return (path / ".zarray").exists()


def is_ours(path: Path) -> bool:
    """Whether ``write_draws`` made this store and nothing was added at its top."""
    from partita.io.named import CHAIN_FROM

    try:
        attributes = document(path / "posterior" / "labels" / ".zattrs")
        return {entry.name for entry in path.iterdir()} <= _OUR_ENTRIES and CHAIN_FROM in attributes
    except (FileFormatError, OSError, TypeError):
        return False


def _metadata_files(path: Path) -> Iterator[Path]:
    for folder, _, files in os.walk(path, followlinks=True):
        for name in files:
            if name in _METADATA:
                yield Path(folder) / name


def document(place: Path) -> Any:
    """A file of metadata."""
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
                    yield codec_name(codec)
        yield from _codec_names(value)


def codec_name(codec: Any) -> str:
    """What the metadata of either format call a codec."""
    if isinstance(codec, dict):
        codec = codec.get("id", codec.get("name"))
    return codec if isinstance(codec, str) else repr(codec)


def plain(name: str) -> str:
    """The name of a codec, in whichever library's spelling."""
    return name.lower().removeprefix("numcodecs.")
