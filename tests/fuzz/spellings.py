"""The same draws in other spellings of each format: read as the draws they are."""

import bz2
import gzip
import lzma
import shutil
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import partita as pt

from .crafted import maker
from .damaged import draws_of
from .harness import RIGHT, WRONG, Verdict, judged
from .plain_readers import Content


def _table(content: Content, sep: str = ",") -> list[list[str]]:
    """Rows of text, a header first."""
    extra = [(".chain", content.chain), (".weight", content.weights)]
    columns = [[name, *map(str, values)] for name, values in extra if values is not None]
    names = content.names or [f".item{i + 1}" for i in range(content.labels.shape[1])]
    items = zip(names, content.labels.T.tolist(), strict=True)
    columns += [[name, *map(str, column)] for name, column in items]
    return [list(row) for row in zip(*columns, strict=True)]


def _lines(content: Content, sep: str = ",", end: str = "\n") -> str:
    return "".join(sep.join(row) + end for row in _table(content))


def _quoted_header(content: Content) -> str:
    rows = _table(content)
    head = ",".join(f'"{cell}"' for cell in rows[0])
    return "\n".join([head, *(",".join(row) for row in rows[1:])])


def _row_names(content: Content) -> str:
    rows = _table(content)
    lines = [",".join(['""', *rows[0]])]
    lines += [",".join([f'"r{i}"', *row]) for i, row in enumerate(rows[1:])]
    return "\n".join(lines) + "\n"


def _floats(content: Content) -> str:
    rows = _table(content)
    first = len(rows[0]) - content.labels.shape[1]
    body = [[*row[:first], *(f"{cell}.0" for cell in row[first:])] for row in rows[1:]]
    return "\n".join(",".join(row) for row in [rows[0], *body])


def _moved(content: Content) -> str:
    """Chain and weight as the last columns."""
    rows = _table(content)
    first = len(rows[0]) - content.labels.shape[1]
    return "\n".join(",".join([*row[first:], *row[:first]]) for row in rows)


TEXTS: dict[str, Callable[[Content], str]] = {
    "csv as it is": _lines,
    "csv of Windows": lambda c: _lines(c, end="\r\n"),
    "csv with a mark": lambda c: "\ufeff" + _lines(c),
    "csv with comments": lambda c: "# made by hand\n\n# today\n" + _lines(c) + "\n\n",
    "csv without a last line end": lambda c: _lines(c).rstrip("\n"),
    "csv with blanks": lambda c: _lines(c, sep=" , "),
    "csv with quoted headings": _quoted_header,
    "csv with row names": _row_names,
    "csv of floats": _floats,
    "csv with chains last": _moved,
    "tsv": lambda c: _lines(c, sep="\t"),
}


def _packed(
    pack: Callable[[bytes], bytes], write: Callable[[Content], str] = _lines
) -> Callable[[Content, Path], None]:
    return lambda c, path: path.write_bytes(pack(write(c).encode())) and None


def _members(content: bytes) -> bytes:
    """Two members of gzip one after the other, as ``cat a.gz b.gz`` gives."""
    half = len(content) // 2
    return gzip.compress(content[:half]) + gzip.compress(content[half:])


@maker
def _savez(content: Content, path: Path, save: Any, **changes: Any) -> None:
    fields = {"weights": content.weights, "chain": content.chain, "item_names": content.names}
    arrays = {name: np.asarray(v) for name, v in fields.items() if v is not None}
    labels = np.asarray(content.labels, changes.get("dtype"), order=changes.get("order", "C"))
    save(path, labels=labels, **arrays, **changes.get("more", {}))


def _zip_of_all_ages(content: Content, path: Path) -> None:
    """An npz whose members are packed by bzip2 and stored in another order."""
    _savez(np.savez)(content, path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        for name in reversed(members):
            archive.writestr(name, members[name])


@maker
def _parquet(content: Content, path: Path, **options: Any) -> None:
    import pandas

    rows = _table(content)
    frame = pandas.DataFrame(rows[1:], columns=rows[0])
    for name in frame:
        if name == ".weight":
            frame[name] = frame[name].astype(float)
        elif name != ".chain" or str(frame[name].iloc[0]).isdigit():
            frame[name] = frame[name].astype(options.get("dtype", "int64"))
    writing = {key: value for key, value in options.items() if key != "dtype"}
    frame.to_parquet(path, **writing)


@maker
def _rdata(content: Content, path: Path, pack: Callable[[bytes], bytes]) -> None:
    pt.write_draws(draws_of(content), path)
    path.write_bytes(pack(gzip.decompress(path.read_bytes())))


@maker
def _zarr(content: Content, path: Path, **options: Any) -> None:
    from partita.io.write import _tree

    _tree(draws_of(content)).to_zarr(path, **options)


def _netcdf(content: Content, path: Path) -> None:
    from partita.io.write import _tree

    tree = _tree(draws_of(content))
    packed = {"zlib": True, "complevel": 9, "shuffle": True}
    tree.to_netcdf(path, engine="h5netcdf", encoding={"/posterior": {"labels": packed}})


FILES: dict[str, tuple[str, Callable[[Content, Path], None]]] = {
    **{
        kind: ("tsv" if kind == "tsv" else "csv", _packed(bytes, write))
        for kind, write in TEXTS.items()
    },
    "gzip of level 1": ("csv.gz", _packed(lambda b: gzip.compress(b, 1))),
    "gzip in two members": ("csv.gz", _packed(_members)),
    "gzip in capitals": ("CSV.GZ", _packed(gzip.compress)),
    "xz": ("csv.xz", _packed(lzma.compress)),
    "bzip2": ("csv.bz2", _packed(bz2.compress)),
    "npz stored": ("npz", _savez(np.savez)),
    "npz of bytes": ("npz", _savez(np.savez_compressed, dtype=np.int8)),
    "npz of big-endian": ("npz", _savez(np.savez_compressed, dtype=">i4")),
    "npz of floats": ("npz", _savez(np.savez, dtype=np.float64)),
    "npz of columns": ("npz", _savez(np.savez, order="F")),
    "npz with more in it": ("npz", _savez(np.savez, more={"other": np.ones((3, 3))})),
    "npz packed otherwise": ("npz", _zip_of_all_ages),
    "parquet of pandas": ("parquet", _parquet()),
    "parquet of small groups": ("parquet", _parquet(row_group_size=2)),
    "parquet packed otherwise": ("parquet", _parquet(compression="gzip")),
    "parquet of nullable numbers": ("parquet", _parquet(dtype="Int16")),
    "parquet of floats": ("parquet", _parquet(dtype="float32")),
    "netCDF packed": ("nc", _netcdf),
    "zarr of format 3": ("zarr", _zarr(zarr_format=3)),
    "zarr consolidated": ("zarr", _zarr(zarr_format=2, consolidated=True)),
    "rds unpacked": ("rds", _rdata(lambda b: b)),
    "rds by bzip2": ("rds", _rdata(bz2.compress)),
    "rds by xz": ("rds", _rdata(lzma.compress)),
    "RData by xz": ("RData", _rdata(lzma.compress)),
}

KINDS = tuple(FILES)
COUNT = 10 * len(KINDS)


def content(number: int) -> Content:
    """Draws of any size, weighted or not, of numbered chains, named chains or none."""
    rng = np.random.default_rng([1, number])
    n_draws, n_items = 2 * int(rng.integers(2, 8)), int(rng.integers(2, 9))
    labels = rng.integers(1, 6, (n_draws, n_items))
    labels[0, :2] = labels[0, 0]  # a first row that is no row of ids
    weights = (rng.random(n_draws) + 0.1).tolist() if rng.random() < 0.5 else None
    ids = [None, [3, 7], ["left", "right"]][int(rng.integers(0, 3))]
    chain = None if ids is None else np.repeat(ids, n_draws // 2).tolist()
    names = [f"gene {i}" for i in range(n_items)] if rng.random() < 0.5 else None
    return Content(labels, weights, chain, names)


def run(number: int, place: Path) -> Verdict:
    """Write one spelling and read it."""
    kind = KINDS[number % len(KINDS)]
    given, (suffix, write) = content(number), FILES[kind]
    path = place / f"spelled{number}.{suffix}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zarr's, of formats that are new
        write(given, path)
    try:
        found = judged(
            lambda: Verdict(RIGHT if pt.read_draws(path) == draws_of(given) else WRONG, str(given))
        )
    finally:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    # A whole file that is refused is as bad as one that is misread.
    outcome = found.outcome if found.outcome == RIGHT else WRONG
    return Verdict(outcome, f"{kind}: {found.detail}")
