"""Damaged files against every reader: read as they stand, or refused by an error of ours.

Draws, data, similarity matrices and single clusterings; what is read must be what a plain
reader makes of the same bytes.
"""

import csv
import shutil
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import partita as pt
from partita.cli.reading import read_partition, read_similarity
from partita.io.data_table import as_table

from .harness import RIGHT, WRONG, Verdict, judged
from .plain_readers import Content, is_number, read_plainly

SUFFIXES = ("csv", "tsv", "csv.gz", "csv.xz", "npy", "npz", "parquet", "nc", "zarr", "rds", "RData")
DATA = np.random.default_rng(1).normal(size=(9, 2)).round(4)
MATRIX = pt.similarity(np.random.default_rng(0).integers(0, 3, (20, 6)))


class Kind(NamedTuple):
    """How a file is written, and read by partita and by other means."""

    suffix: str
    write: Callable[[Path], Any]
    read: Callable[[Path], Any]
    plainly: Callable[[Path], Any]


def draws_of(content: Content) -> pt.Draws:
    """The draws that a reader should make of it."""
    labels, weights, chain, names = content
    return pt.Draws(labels, weights=weights, chain=chain, item_names=names)


def _write_draws(named: bool, path: Path) -> None:
    """Weighted draws of two chains; with names of items and chains, or numbers."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, (12, 7))
    chain = np.repeat(["left", "right"] if named else [1, 2], 6)
    names = [f"item {chr(97 + i)}" for i in range(7)] if named else None
    draws = pt.Draws(labels, weights=rng.random(12) + 0.1, chain=chain, item_names=names)
    pt.write_draws(pt.Draws(labels) if path.suffix == ".npy" else draws, path)


def _write_values(path: Path, values: Any, head: str = "") -> None:
    if path.suffix == ".npy":
        np.save(path, values)
    elif path.suffix == ".parquet":
        import pandas

        pandas.DataFrame(values, columns=list(head)).to_parquet(path)
    elif path.suffix == ".rds":
        import rdata

        rdata.write_rds(path, values)
    else:
        sep = "\t" if path.suffix == ".tsv" else ","
        lines = [sep.join(head)] if head else []
        path.write_text("\n".join([*lines, *(sep.join(map(str, row)) for row in values.tolist())]))


def _write_clusters(path: Path) -> None:
    path.write_text("item,cluster\n" + "".join(f"i{n},{n % 3}\n" for n in range(9)))


def _data(path: Path) -> list[list[str]]:
    table = as_table(path)
    columns = table.cells or [[repr(v) for v in column.tolist()] for column in table.columns]
    return [list(map(str, row)) for row in zip(*columns, strict=True)]


def _floats(rows: Any) -> list[list[str]]:
    return [[repr(float(v)) for v in np.atleast_1d(row)] for row in rows]


def _cells(path: Path) -> list[list[str]]:
    """Rows of text by the standard library."""
    sep = "\t" if path.suffix == ".tsv" else ","
    text = path.read_text(encoding="utf-8-sig")
    rows = list(csv.reader(text.splitlines(), delimiter=sep, strict=True))
    return [[cell.strip() for cell in row] for row in rows if row]


def _below_header(path: Path) -> list[list[str]]:
    """Rows of data; a first row of numbers alone is data, too."""
    rows = _cells(path)
    return rows if all(map(is_number, rows[0])) else rows[1:]


def _parquet(path: Path) -> list[list[str]]:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    columns = [[repr(v) for v in column.to_pylist()] for column in table.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def _rds(path: Path) -> list[list[str]]:
    import rdata

    return _floats(np.asarray(rdata.read_rds(path)))


def _clusters(path: Path) -> list[str]:
    rows = [row for row in _cells(path) if row[0][:1] != "#"]
    return [str(label) for label in pt.canonical([row[-1] for row in rows[1:]])]


KINDS = [
    Kind(suffix, partial(_write_draws, named), pt.read_draws, lambda p: draws_of(read_plainly(p)))
    for named in (False, True)
    for suffix in SUFFIXES
]
KINDS += [
    Kind(suffix, partial(_write_values, values=DATA, head="xy"), _data, plainly)
    for suffix, plainly in (
        *(("csv", _below_header), ("tsv", _below_header), ("parquet", _parquet)),
        ("npy", lambda path: _floats(np.load(path))),
    )
]
KINDS += [
    Kind(
        suffix,
        partial(_write_values, values=MATRIX),
        lambda path: _floats(read_similarity(str(path))[0]),
        plainly,
    )
    for suffix, plainly in (
        ("csv", lambda path: _floats([list(map(float, row)) for row in _cells(path)])),
        *(("npy", lambda path: _floats(np.load(path))), ("rds", _rds)),
    )
]
KINDS.append(
    Kind(
        "csv",
        _write_clusters,
        lambda path: [str(label) for label in read_partition(str(path)).labels],
        _clusters,
    )
)
COUNT = 10_690


@cache
def original(number: int, place: Path) -> Path:
    """The whole file of a kind, written once."""
    path = place / f"good{number}.{KINDS[number].suffix}"
    KINDS[number].write(path)
    return path


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """One to three of: a bit flipped, bytes overwritten, removed, repeated, the end cut off."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        if not data:
            break
        kind, at = int(rng.integers(0, 5)), int(rng.integers(0, len(data)))
        length = int(rng.integers(1, 9))
        if kind == 0:
            data[at] ^= 1 << int(rng.integers(0, 8))
        elif kind == 1:
            data[at : at + length] = rng.bytes(length)
        elif kind == 2:
            del data[at : at + length]
        elif kind == 3:
            data[at:at] = data[at : at + length] * int(rng.integers(1, 4))
        else:
            del data[at:]
    return bytes(data)


def run(number: int, place: Path) -> Verdict:
    """Damage one file and read it."""
    which = (number + number // len(KINDS)) % len(KINDS)
    whole, rng = original(which, place), np.random.default_rng([0, number])
    path = place / f"{number}.{KINDS[which].suffix}"
    if whole.is_dir():
        shutil.copytree(whole, path)
        inner = sorted(p for p in path.rglob("*") if p.is_file())
        victim = inner[int(rng.integers(0, len(inner)))]
        victim.write_bytes(damaged(victim.read_bytes(), rng))
    else:
        path.write_bytes(damaged(whole.read_bytes(), rng))
    try:
        found = judged(lambda: _compared(KINDS[which], path))
        return Verdict(found.outcome, f"{path.name}: {found.detail}")
    finally:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _compared(kind: Kind, path: Path) -> Verdict:
    found = kind.read(path)
    try:
        other = kind.plainly(path)
    except Exception as error:
        return Verdict(WRONG, f"{found}, but the plain reader says {error!r}"[:600])
    return Verdict(RIGHT if found == other else WRONG, f"{found} against {other}"[:600])
