"""Arrays as draws: npy and npz files, arrays with named dimensions, netCDF files, zarr stores."""

from __future__ import annotations

import json
import math
import os
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from partita._imports import require
from partita._resources import require_memory
from partita._storage import canonical_counts, refuse_axes, rows_per_block, uses_memmap_buffer
from partita._validate import plain_array, refuse_var_name
from partita.draws import Draws, draws_from_array
from partita.errors import FileFormatError, InvalidInputError, InvalidLabelsError
from partita.io.draws_table import build
from partita.io.table import BY_NAME, ReadOptions, choose_variable, refuse_transpose
from partita.kernels.arrays import Array

# ------------------------------------------------------------------ npy, npz

FIELDS = ("weights", "chain", "item_names")
_KIND = "kind"
"""Entry that says what the draws are, where they are not of a posterior."""


def read_npy(path: Path, options: ReadOptions) -> Draws:
    """Draws from a memory-mapped npy file."""
    refuse_var_name(options.var_name, "an npy file")
    values = open_npy(path, whole=not uses_memmap_buffer())
    if uses_memmap_buffer() and not options.transpose:
        counts = canonical_counts(values)
        if counts is not None:
            return Draws._from_canonical(values.view(np.ndarray), counts)
    if options.transpose or values.ndim not in (2, 3) or not values.size:
        return draws_from_array(values, transpose=options.transpose)
    return draws_in_blocks(values, np.asarray)


def open_npy(path: Path, *, whole: bool, mapped: bool = True) -> Array:
    """The array of an npy file; memory must hold its labels if the ``whole`` is kept."""
    with path.open("rb") as stream:
        shape, _, dtype = _read_header(stream, path.name)
        content = path.stat().st_size - stream.tell()
        _check_size(path.name, shape, dtype, content, whole=whole)
        found: Array = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
        return found


read_array = partial(open_npy, whole=True, mapped=False)


def read_npz(path: Path, options: ReadOptions) -> Draws:
    """Draws from the array ``labels`` of an npz file, or from its only matrix."""
    with zipfile.ZipFile(path) as archive:
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
        if {"columns", "offsets", "n_items"} <= shapes.keys() and options.var_name is None:
            raise InvalidInputError(
                f"{path} holds draws of feature allocations; pt.read_features reads them."
            )
        fitting = [key for key, shape in shapes.items() if len(shape) in (2, 3)]
        shown = {key: f"{key} {shape}" for key, shape in shapes.items()}
        fitting = ["labels"] if "labels" in shapes else fitting
        key = choose_variable(shown, fitting, options.var_name, f"{path} has no matrix")
        fields: dict[str, Any] = {
            name: _read_member(archive, name)
            for name in FIELDS
            if name in shapes and key == "labels"
        }
        if "item_names" in fields:
            fields["item_names"] = fields["item_names"].tolist()
        if _KIND in shapes and key == "labels":
            fields[_KIND] = str(_read_member(archive, _KIND))
        return _read_labels(archive, key, options.transpose, fields)


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
    """Refuse a header that declares another size than the file has, or than memory holds."""
    size = math.prod(shape) * dtype.itemsize
    if size != content or any(n < 0 for n in shape):
        raise FileFormatError(
            f"{name} is damaged or cut short: it declares an array of {size:,} bytes and holds "
            f"{content:,}. Copy or write it again."
        )
    if whole:
        instead = "Leave them on disk with memory_map=True, or thin the draws before writing them."
        require_memory(size // 8, f"reading {name}", instead)


def _read_member(archive: zipfile.ZipFile, key: str) -> Array:
    with archive.open(f"{key}.npy") as stream:
        found = np.asarray(npy.read_array(stream, allow_pickle=False))
        _check_end(stream)
        return found


def _check_end(stream: IO[bytes]) -> None:
    """Read to the end of a member of an archive, where zipfile compares its checksum."""
    if stream.read(1):
        raise FileFormatError("an array of the archive is longer than it declares. Write it again.")


def _read_labels(
    archive: zipfile.ZipFile, key: str, transpose: bool, fields: dict[str, Any]
) -> Draws:
    """The labels in blocks of rows where their order in the file allows it, else at once."""
    with archive.open(f"{key}.npy") as stream:
        shape, fortran, dtype = _read_header(stream, key)
        if len(shape) == 2 and not fortran and not transpose:
            blocks = _row_blocks(stream, shape, dtype)
            return build(blocks, shape[1], expected=shape[0], **fields)
    return draws_from_array(_read_member(archive, key), transpose=transpose, **fields)


def _row_blocks(stream: IO[bytes], shape: tuple[int, ...], dtype: np.dtype[Any]) -> Iterator[Array]:
    n_rows, n_items = shape
    step = rows_per_block(n_items)
    for start in range(0, n_rows, step):
        rows = min(step, n_rows - start)
        size = rows * n_items * dtype.itemsize
        content = stream.read(size)
        if len(content) < size:
            raise FileFormatError("the array 'labels' is cut short. Copy or write the file again.")
        if start + rows == n_rows:
            _check_end(stream)
        yield np.frombuffer(content, dtype).reshape(rows, n_items)


# ------------------------------------------------------------------ named dimensions

_DRAW_NAMES = ("draw", "sample", "iteration")
_FEATURE_NAMES = frozenset({"feature", "features"})
_NO_VARIABLE = (
    "no variable has the dimensions (chain, draw, item) and whole numbers. A mixture with its "
    "labels summed out (NormalMixture, Stan, NumPyro) holds no clusterings: "
    "pt.draws_from_memberships draws them from its log weights (page 'Summarise a PyMC mixture')"
)
CHAIN_FROM, WEIGHTED, KIND = "partita_chain", "partita_weighted", "partita_kind"
"""Attributes of arrays that partita wrote: where chain ids are, whether draws weigh, their kind."""


def draws_from_named(
    obj: Any, *, var_name: str | None = None, check: Callable[[str, str], None] | None = None
) -> Draws:
    """Draws from a DataArray, Dataset, DataTree or InferenceData, by dimension name.

    ``check`` is called with the group and the name of each stored array before it is read.
    """
    kinds = {cls.__name__ for cls in type(obj).__mro__}
    if "DataArray" in kinds:
        if var_name is not None and var_name != obj.name:
            raise InvalidInputError(
                f"var_name={var_name!r} was given for a DataArray named {obj.name!r}; a "
                "DataArray is a single variable.",
                argument="var_name",
            )
        return _draws_from_array(obj)
    if "Dataset" in kinds:
        return _draws_from_array(_choose(obj, var_name))
    group, posterior, stats = posterior_of(obj)
    array = _choose(posterior, var_name)
    if array.encoding.get("scale_factor", 1) == 0:
        raise FileFormatError(f"{array.name} has the scale factor 0, by which all labels are one.")
    if check is not None:
        chain, _, items = named_dims(array, "item")
        for name in (array.name, *({chain, *items} & set(array.coords))):
            check(group, str(name))
    if CHAIN_FROM in array.attrs:
        return _draws_of_partita(array, stats, check)
    return _draws_from_array(array)


def posterior_of(tree: Any) -> tuple[str, Any, Any]:
    """The group of the posterior, its Dataset, and that of the sample statistics."""
    names = list(tree.children) if hasattr(tree, "children") else list(tree.groups())
    posterior, stats = (
        getattr(tree[name], "dataset", tree[name]) if name in names else None
        for name in ("posterior", "sample_stats")
    )
    if posterior is None:
        root = getattr(tree, "dataset", None)
        if root is None or not len(root.data_vars):
            raise InvalidInputError(
                f"there is no group 'posterior'; the groups are {', '.join(names) or 'none'}. "
                "Pass the Dataset that holds the labels."
            )
        return "", root, stats
    return "posterior", posterior, stats


def named_dims(array: Any, *expected: str) -> tuple[str | None, str, list[str]]:
    """The chain dimension if there is one, that of the draws, and others, as many as expected.

    Of these that of features comes last.
    """
    dims = [str(dim) for dim in array.dims]
    draw = [dim for dim in dims if dim in _DRAW_NAMES]
    rest = [dim for dim in dims if dim != "chain" and dim not in draw]
    rest.sort(key=lambda dim: dim in _FEATURE_NAMES)
    lacking = "feature" in expected and _FEATURE_NAMES.isdisjoint(rest)
    if len(draw) != 1 or len(rest) != len(expected) or lacking:
        wanted = ", ".join(("draw", *expected))
        named = "'chain' and 'draw' or 'sample'"
        named += " and 'feature'" if "feature" in expected else ""
        order = "" if len(expected) > 1 and "feature" not in expected else " in any order"
        found = set(rest) & _FEATURE_NAMES and expected == ("item",)
        features = " Matrices of zeros and ones are feature allocations: pt.FeatureDraws(array)."
        raise InvalidInputError(
            f"the dimensions are ({', '.join(dims)}); expected (chain, {wanted}) or ({wanted})"
            f"{order}, with {named} so named and any name for the item. Rename them with "
            f".rename(...).{features if found else ''}"
        )
    return ("chain" if "chain" in dims else None), draw[0], rest


def draws_first(array: Any, *expected: str) -> tuple[Array, Array | None, list[str] | None]:
    """Values with the draws of all chains along the first axis, chain of each, names of items."""
    chain, draw, rest = named_dims(array, *expected)
    names = item_names(array, rest[0])
    values = array.transpose(*filter(None, (chain, draw)), *rest).values
    if chain is None:
        return values, None, names
    ids = np.repeat(array[chain].values, values.shape[1])
    return values.reshape(-1, *values.shape[2:]), ids, names


def _fits(array: Any) -> bool:
    """Whether labels could be in this variable: the right dimensions, whole in the first draw."""
    try:
        chain, draw, _ = named_dims(array, "item")
    except InvalidInputError:
        return False
    if array.dtype.kind in "iub":
        return True
    if array.dtype.kind != "f" or 0 in array.shape:
        return False
    first = array.isel({dim: 0 for dim in (chain, draw) if dim}).values
    return bool((first == np.floor(first)).all())


def _choose(dataset: Any, var_name: str | None) -> Any:
    names = [str(name) for name in dataset.data_vars]
    fitting = [name for name in names if _fits(dataset[name])] if var_name is None else []
    return dataset[choose_variable({name: name for name in names}, fitting, var_name, _NO_VARIABLE)]


def _draws_from_array(array: Any) -> Draws:
    chain, draw, (item,) = named_dims(array, "item")
    ids = None
    if chain is not None:
        ids = array["chain"].values
    elif "chain" in array.coords and array.coords["chain"].dims == (draw,):
        ids = array.coords["chain"].values
    # File-backed and dask arrays are never loaded whole.
    array = array.transpose(*[dim for dim in (chain, draw, item) if dim])
    fields: dict[str, Any] = {"ids": ids, "item_names": item_names(array, item)}
    if array.chunks is None:
        return draws_in_blocks(array, attrgetter("values"), **fields)
    from partita.dask import current_client

    return draws_in_blocks(array.data, _computed, client=current_client(), **fields)


def item_names(array: Any, item: str) -> list[str] | None:
    """The coordinate of the items, unless it only counts them."""
    if item not in array.coords:
        return None
    values = array.coords[item].values
    if values.dtype.kind in "iu" and np.array_equal(values, np.arange(values.size)):
        return None
    return [str(value) for value in values.tolist()]


def _draws_of_partita(array: Any, stats: Any, check: Any) -> Draws:
    """Draws that ``write_draws`` wrote: with weights, and with chains of any shape or none."""
    draws = _draws_from_array(array)
    source = array.attrs[CHAIN_FROM]
    # Files written before the attribute was have weights where there are any.
    weighted = array.attrs.get(WEIGHTED, int(stats is not None and "weight" in stats))
    if not weighted and stats is not None and "weight" in stats:
        raise FileFormatError(
            "the labels say that draws have no weights, and the group sample_stats has some. Copy "
            "or write the file again."
        )
    fields: dict[str, Any] = {
        "weights": _statistic(stats, "weight", check) if weighted else None,
        "kind": array.attrs.get(KIND, "posterior"),
    }
    if source != "dimension":
        fields["chain"] = None if source == "none" else _statistic(stats, "chain_id", check)
    return draws._with(**fields)


def _statistic(stats: Any, name: str, check: Any) -> Array:
    if stats is None or name not in stats:
        raise FileFormatError(
            f"the labels were written with {name!r} in the group sample_stats, which is not there. "
            "Copy or write the file again."
        )
    if check is not None:
        check("sample_stats", name)
    return np.asarray(stats[name].values.ravel())


def draws_from_dask(array: Any) -> Draws:
    """Draws from a dask array of known shape: on the workers, where there is a client.

    Without one they come to memory, computed block by block of rows.
    """
    if type(array).__name__ != "Array" or array.ndim not in (2, 3):
        raise InvalidLabelsError(
            f"a dask {type(array).__name__} was given; expected a dask array of shape (draw, item) "
            "or (chain, draw, item). A frame becomes one by .to_dask_array(lengths=True)."
        )
    if any(size != size for size in array.shape):
        raise InvalidLabelsError(
            f"the dask array has shape {array.shape}; its chunks must be of known size. Call "
            ".compute_chunk_sizes() first."
        )
    from partita.dask import current_client

    return draws_in_blocks(array, _computed, client=current_client())


def _computed(part: Any) -> Any:
    try:
        return part.compute()
    except Exception as error:  # whatever the functions of its graph raise
        raise InvalidLabelsError(
            f"the dask array cannot be computed ({type(error).__name__}: {str(error)[:200]})."
        ) from error


def draws_in_blocks(
    array: Any,
    load: Callable[[Any], Any],
    *,
    ids: Array | None = None,
    item_names: Sequence[str] | None = None,
    client: Any = None,
) -> Draws:
    """Draws from an array (draw, item) or (chain, draw, item) that loads a few rows at a time.

    ``ids`` are those of the draws, or of the chains; with a ``client`` its workers load the rows.
    """
    n_draws, n_items = map(int, array.shape[-2:])
    n_chains = 1 if array.ndim == 2 else int(array.shape[0])
    if array.ndim == 3:
        ids = np.repeat(np.arange(n_chains) if ids is None else ids, n_draws)
    fields: dict[str, Any] = {"chain": ids, "item_names": item_names}
    if client is not None:
        from partita.io.read import draws_on_workers

        return draws_on_workers(array.reshape(-1, n_items), client, **fields)
    step = rows_per_block(n_items)

    def blocks() -> Iterator[Array]:
        for c in range(n_chains):
            for start in range(0, n_draws, step):
                rows = slice(start, start + step)
                part = array[rows] if array.ndim == 2 else array[c, rows]
                found = plain_array(load(part), "draws")
                if found.shape != part.shape:
                    raise InvalidLabelsError(
                        f"rows {start} and on declare the shape {part.shape} and have "
                        f"{found.shape}: the chunks of the array are not what they say."
                    )
                yield found

    return build(blocks(), n_items, expected=n_draws * n_chains, **fields)


# ------------------------------------------------------------------ netCDF


def read_netcdf(path: Path, options: ReadOptions) -> Draws:
    """Draws from a netCDF-4 file."""
    h5py = require("h5py", extra="arviz", purpose=f"reading {path.suffix} files")
    # Opened first: h5netcdf prints a traceback of its own when it cannot open a file or read
    # this attribute.
    with h5py.File(path, "r") as file:
        file.attrs.get("_nc3_strict")
        check = partial(_check_written, path, file)
        return _read(path, options, engine="h5netcdf", check=check)


def _check_written(path: Path, file: Any, group: str, name: str) -> None:
    """Refuse an array with parts that were never written, or that stand in another file."""
    name = f"{group}/{name}"
    if name not in file:
        return  # a dimension without values
    array = file[name]
    if not array.size:
        return
    if array.is_virtual or array.external:
        raise FileFormatError(
            f"{path}: {name} is stored in other files, and reads as zeros where these are gone. "
            "Copy it into one file, for example with xarray or h5repack."
        )
    if array.chunks is None:
        total, found = 1, int(array.id.get_storage_size() > 0)
    else:
        total = math.prod(-(-n // k) for n, k in zip(array.shape, array.chunks, strict=True))
        found = array.id.get_num_chunks()
    if found < total:
        raise FileFormatError(
            f"{path} lacks {total - found} of the {total} chunks of {name}, which would read as "
            "zeros: the run that wrote it was not finished. Write the file again."
        )


def read_zarr(path: Path, options: ReadOptions) -> Draws:
    """Draws from a zarr store, a directory."""
    check_codecs(path)
    check_metadata(path)
    if is_array(path):
        return _read_array(path, options)
    return _read(path, options, engine="zarr", check=partial(check_chunks, path))


def _read_array(path: Path, options: ReadOptions) -> Draws:
    """Draws from a store that is one array without names, as ``dask.array.to_zarr`` writes it."""
    refuse_var_name(options.var_name, f"{path}, a single array")
    check_chunks(path, "", "")
    zarr = require("zarr", extra="arviz", purpose="reading .zarr stores")
    array = zarr.open_array(path, mode="r")
    refuse_axes(array.shape, f"{path} is an array of shape")
    if options.transpose:
        return draws_from_array(np.asarray(array[...]), transpose=True)
    if options.on_workers:
        dask_array = require("dask.array", extra="dask", purpose="reading on a cluster")
        return draws_from_dask(dask_array.from_zarr(str(path)))
    return draws_in_blocks(array, np.asarray)


def _read(path: Path, options: ReadOptions, *, engine: str, check: Any = None) -> Draws:
    refuse_transpose(options.transpose, BY_NAME)
    purpose = f"reading {path.suffix or path.name} files"
    xarray = require("xarray", extra="arviz", purpose=purpose)
    require(engine, extra="arviz", purpose=purpose)
    # As a dask array the workers of a cluster read it by themselves.
    chunks: Any = {} if options.on_workers else None
    # Each array's own metadata: consolidated ones are stale where rows were appended later.
    own: Any = {"consolidated": False} if engine == "zarr" else {}
    with (
        # The backends' remarks on how a file was written are not about the reader's doing.
        warnings.catch_warnings(action="ignore"),
        xarray.open_datatree(path, engine=engine, chunks=chunks, **own) as tree,
    ):
        return draws_from_named(tree, var_name=options.var_name, check=check)


# ------------------------------------------------------------------ zarr

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
        for name in _codec_names(_document(place)):
            if name not in _CODECS:
                raise FileFormatError(
                    f"{place} names the codec {name!r}, which partita does not allow: codecs such "
                    "as pickle run code when a store is read. If you trust the store, open it "
                    "with xarray and pass the labels to as_draws."
                )


SEAL = "partita_metadata"
"""Attribute of a store that partita wrote: a checksum of each file of its metadata."""


def check_metadata(path: Path) -> None:
    """Refuse a store of partita's whose metadata were changed; others have no checksums."""
    note = path / ".zattrs"
    sealed = _document(note).get(SEAL) if note.exists() else None
    if sealed is None:
        return
    found = checksums(path)
    for place, checksum in sealed.items():
        if found.get(place) != checksum:
            raise FileFormatError(
                f"{path / place} is damaged, missing or was changed after partita wrote it. Copy "
                "or write the store again."
            )


def checksums(path: Path) -> dict[str, int]:
    """A checksum of each file of a store's metadata."""
    places = [p for p in path.rglob(".z*") if p.is_file() and p != path / ".zattrs"]
    return {p.relative_to(path).as_posix(): zlib.crc32(p.read_bytes()) for p in sorted(places)}


def is_array(path: Path) -> bool:
    """Whether a store is one array and no group of arrays."""
    settings = path / "zarr.json"
    if settings.exists():
        return bool(_document(settings).get("node_type") == "array")
    return (path / ".zarray").exists()


def is_ours(path: Path) -> bool:
    """Whether ``write_draws`` made this store and nothing was added at its top."""
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
                    yield _codec_name(codec)
        yield from _codec_names(value)


def _codec_name(codec: Any) -> str:
    """The name of a codec in the metadata of either format, in either library's spelling."""
    if isinstance(codec, dict):
        codec = codec.get("id", codec.get("name"))
    return str(codec).lower().removeprefix("numcodecs.")


_BLOSC_HEAD = 16
"""Bytes before the content of a chunk; the last four are its length, these included."""


def check_chunks(path: Path, group: str, name: str) -> None:
    """Refuse an array of a store with chunks missing, left over or cut.

    By zarr's own count of chunks that were written: it reads the others as zeros. Not so the
    missing ones of a count along ``chain``: a store leaves out chunks that are zero.
    """
    zarr = require("zarr", extra="arviz", purpose="reading .zarr stores")
    name = f"{group}/{name}".strip("/")
    folder = path / name
    codecs = _codecs(folder)
    array = zarr.open_array(path, path=name, mode="r")
    total, found = array.nchunks, array.nchunks_initialized
    if found < total and Path(name).name != "chain":
        raise FileFormatError(
            f"{path} lacks {total - found} of the {total} chunks of {name or 'its array'}, which "
            "would read as zeros. Copy the store again; if it was written without its empty "
            "chunks, write it with write_empty_chunks=True."
        )
    files = [
        place
        for place in sorted(folder.rglob("*"))
        if place.is_file() and place.suffix != ".json" and not place.name.startswith(".")
    ]
    if len(files) > found:
        raise FileFormatError(
            f"{path} has {len(files)} chunks of {name or 'its array'}, whose shape {array.shape} "
            f"has room for {total}: its metadata were changed. Copy or write the store again."
        )
    for place in files if codecs[-1:] == ["blosc"] else ():
        # Blosc believes the length that a chunk declares and reads beyond a shorter one's end.
        with place.open("rb") as stream:
            head = stream.read(_BLOSC_HEAD)
        declared = int.from_bytes(head[-4:], "little")
        if len(head) < _BLOSC_HEAD or declared != place.stat().st_size:
            raise FileFormatError(
                f"{place} is damaged or cut short: it does not have the length it declares. Copy "
                "or write the store again."
            )


def _codecs(folder: Path) -> list[str]:
    """Names of the codecs of an array, in the order of writing."""
    if (folder / ".zarray").exists():
        settings = _document(folder / ".zarray")
        found = [*(settings.get("filters") or []), settings.get("compressor")]
    else:
        found = _document(folder / "zarr.json").get("codecs") or []
    names = [_codec_name(codec) for codec in found if codec is not None]
    if "blosc" in names[:-1] or "sharding_indexed" in names:
        raise FileFormatError(
            f"{folder} has shards, or Blosc inside another codec, where missing and damaged chunks "
            "cannot be seen. Write the store without, or open it with xarray and pass the labels "
            "to as_draws."
        )
    return names
