"""NumPy's npy and npz files. Pickled objects inside are refused, never loaded."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from partita._memory import require_memory
from partita.errors import FileFormatError, InvalidInputError
from partita.io.collect import collect, rows_per_block
from partita.io.registry import ReadOptions
from partita.io.source import damage
from partita.partitions.cleaning import canonical_counts
from partita.partitions.convert import draws_from_array
from partita.partitions.draws import Draws
from partita.partitions.room import are_in_file

_FIELDS = ("weights", "chain", "item_names")
_ERRORS = (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error, KeyError)
"""What NumPy and zipfile raise for a damaged file."""
_KIND = "kind"
"""Entry that says what the draws are, where they are not of a posterior."""


def read_npy(path: Path, options: ReadOptions) -> Draws:
    """Draws from a memory-mapped npy file."""
    refuse_var_name(options)
    values = opened(path, whole=not are_in_file())
    if are_in_file() and not options.transpose:
        counts = canonical_counts(values)
        if counts is not None:
            return Draws._from_canonical(values.view(np.ndarray), counts)
    return draws_from_array(values, transpose=options.transpose)


def refuse_var_name(options: ReadOptions) -> None:
    """There is one variable in an npy file, and it has no name."""
    if options.var_name is not None:
        raise InvalidInputError(
            "var_name=... was given, but an npy file holds a single array.",
            argument="var_name",
        )


def opened(path: Path, *, whole: bool, mapped: bool = True) -> NDArray[Any]:
    """The array of an npy file; memory must hold its labels if the ``whole`` is kept."""
    with damage(path, "no npy file", *_ERRORS), path.open("rb") as stream:
        shape, _, dtype = _read_header(stream, path.name)
        content = path.stat().st_size - stream.tell()
        _check_size(path.name, shape, dtype, content, whole=whole)
        found: NDArray[Any] = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
        return found


read_array = partial(opened, whole=True, mapped=False)


def write_npy(draws: Draws, path: Path) -> None:
    """Write the labels alone."""
    np.save(path, draws.labels, allow_pickle=False)


def read_npz(path: Path, options: ReadOptions) -> Draws:
    """Draws from the array ``labels`` of an npz file, or from its only matrix."""
    with damage(path, "no npz file", *_ERRORS), zipfile.ZipFile(path) as archive:
        shapes: dict[str, tuple[int, ...]] = {}
        for member in archive.infolist():
            if member.filename.removesuffix(".npy") in shapes:
                raise FileFormatError(
                    f"{path} holds two arrays named {member.filename!r}; write it again."
                )
            if member.flag_bits & 1:
                raise FileFormatError(f"{path} is encrypted; write it without a password.")
            with archive.open(member) as stream:
                shape, _, dtype = _read_header(stream, member.filename)
                _check_size(member.filename, shape, dtype, member.file_size - stream.tell())
                shapes[member.filename.removesuffix(".npy")] = shape
        key = _choose_key(shapes, options.var_name, path)
        fields: dict[str, Any] = {
            name: _read_member(archive, name)
            for name in _FIELDS
            if name in shapes and key == "labels"
        }
        if "item_names" in fields:
            fields["item_names"] = fields["item_names"].tolist()
        if _KIND in shapes and key == "labels":
            fields[_KIND] = str(_read_member(archive, _KIND))
        return _read_labels(archive, key, options.transpose, fields)


def write_npz(draws: Draws, path: Path) -> None:
    """Write labels, weights, chain, item_names and kind, those that are there, compressed."""
    arrays: dict[str, Any] = {"labels": draws.labels}
    for name in _FIELDS:
        value = getattr(draws, name)
        if value is not None:
            arrays[name] = np.array(value)
    if draws.kind != "posterior":
        arrays[_KIND] = np.array(draws.kind)
    np.savez_compressed(path, **arrays)


def _read_header(stream: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    if dtype.hasobject:
        raise FileFormatError(
            f"{name} holds pickled Python objects, which can run code when loaded and are never "
            "read. Save the labels as integers: numpy.save(file, labels.astype(int))."
        )
    return shape, fortran, dtype


def _check_size(
    name: str, shape: tuple[int, ...], dtype: np.dtype[Any], content: int, *, whole: bool = True
) -> None:
    """Refuse a header that declares more than the file holds, or than memory does."""
    size = math.prod(shape) * dtype.itemsize
    if size > content or any(n < 0 for n in shape):
        raise FileFormatError(
            f"{name} is damaged or cut short: it declares an array of {size:,} bytes and holds "
            f"{content:,}. Copy or write it again."
        )
    if whole:
        instead = "Leave them on disk with memory_map=True, or thin the draws before writing them."
        require_memory(size // 8, f"reading {name}", instead)


def _choose_key(shapes: dict[str, tuple[int, ...]], var_name: str | None, path: Path) -> str:
    listed = ", ".join(f"{key} {shape}" for key, shape in shapes.items()) or "none"
    if var_name is not None:
        if var_name not in shapes:
            raise InvalidInputError(f"{path} has no array {var_name!r}; its arrays are: {listed}.")
        return var_name
    if "labels" in shapes:
        return "labels"
    matrices = [key for key, shape in shapes.items() if len(shape) in (2, 3)]
    if len(matrices) != 1:
        raise InvalidInputError(
            f"{path} has no array 'labels' and {len(matrices)} matrices, so the draws must be "
            f"named with var_name=.... Its arrays are: {listed}."
        )
    return matrices[0]


def _read_member(archive: zipfile.ZipFile, key: str) -> NDArray[Any]:
    with archive.open(f"{key}.npy") as stream:
        return np.asarray(npy.read_array(stream, allow_pickle=False))


def _read_labels(
    archive: zipfile.ZipFile, key: str, transpose: bool, fields: dict[str, Any]
) -> Draws:
    """The labels in blocks of rows where their order in the file allows it, else at once."""
    with archive.open(f"{key}.npy") as stream:
        shape, fortran, dtype = _read_header(stream, key)
        if len(shape) == 2 and not fortran and not transpose:
            blocks = _row_blocks(stream, shape, dtype)
            return collect(blocks, shape[1], expected=shape[0], **fields)
    return draws_from_array(_read_member(archive, key), transpose=transpose, **fields)


def _row_blocks(
    stream: IO[bytes], shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Iterator[NDArray[Any]]:
    n_rows, n_items = shape
    step = rows_per_block(n_items)
    for start in range(0, n_rows, step):
        rows = min(step, n_rows - start)
        size = rows * n_items * dtype.itemsize
        content = stream.read(size)
        if len(content) < size:
            raise FileFormatError("the array 'labels' is cut short. Copy or write the file again.")
        yield np.frombuffer(content, dtype).reshape(rows, n_items)
