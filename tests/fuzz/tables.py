"""Damaged files that are no draws: data, similarity matrices, single clusterings."""

import csv
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import partita as pt
from partita.cli.reading import read_partition, read_similarity
from partita.io.data_table import as_table

from .damaged import damaged
from .harness import RIGHT, WRONG, Verdict, judged

COUNT = 1_600
LABELS = np.random.default_rng(0).integers(0, 3, (20, 6))
DATA = np.random.default_rng(1).normal(size=(9, 2)).round(4)


def _data(path: Path) -> list[list[str]]:
    table = as_table(path)
    columns = table.cells or [[repr(v) for v in column.tolist()] for column in table.columns]
    return [list(map(str, row)) for row in zip(*columns, strict=True)]


def _matrix(path: Path) -> list[list[str]]:
    return [[repr(float(v)) for v in row] for row in read_similarity(str(path))[0]]


def _labels(path: Path) -> list[list[str]]:
    return [[str(label) for label in read_partition(str(path)).labels]]


def _cells(path: Path) -> list[list[str]]:
    """Rows of text by the standard library."""
    sep = "\t" if path.suffix == ".tsv" else ","
    text = path.read_text(encoding="utf-8-sig")
    rows = list(csv.reader(text.splitlines(), delimiter=sep, strict=True))
    return [[cell.strip() for cell in row] for row in rows if row]


def _numbers(path: Path) -> list[list[str]]:
    return [[repr(float(cell)) for cell in row] for row in _cells(path) if row]


def _array(path: Path) -> list[list[str]]:
    return [[repr(float(v)) for v in np.atleast_1d(row)] for row in np.load(path)]


def _parquet(path: Path) -> list[list[str]]:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    columns = [[repr(v) for v in column.to_pylist()] for column in table.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def _rds(path: Path) -> list[list[str]]:
    import rdata

    return [[repr(float(v)) for v in row] for row in np.asarray(rdata.read_rds(path))]


def _clusters(path: Path) -> list[list[str]]:
    rows = [row for row in _cells(path) if row[0][:1] != "#"]
    return [[str(label) for label in pt.canonical([row[-1] for row in rows[1:]])]]


KINDS: dict[str, tuple[str, Callable[[Path], Any], Callable[[Path], Any]]] = {
    "data as csv": ("csv", _data, lambda path: _cells(path)[1:]),
    "data as tsv": ("tsv", _data, lambda path: _cells(path)[1:]),
    "data as npy": ("npy", _data, _array),
    "data as parquet": ("parquet", _data, _parquet),
    "a similarity matrix as csv": ("csv", _matrix, _numbers),
    "a similarity matrix as npy": ("npy", _matrix, _array),
    "a similarity matrix as rds": ("rds", _matrix, _rds),
    "a clustering as csv": ("csv", _labels, _clusters),
}
NAMES = tuple(KINDS)


@cache
def original(kind: str, place: Path) -> Path:
    """The whole file, written once."""
    suffix = KINDS[kind][0]
    path = place / f"{kind}.{suffix}"
    values = DATA if kind.startswith("data") else pt.similarity(LABELS)
    if suffix == "npy":
        np.save(path, values)
    elif suffix == "parquet":
        import pandas

        pandas.DataFrame(values, columns=["x", "y"]).to_parquet(path)
    elif suffix == "rds":
        import rdata

        rdata.write_rds(path, values)
    elif kind == "a clustering as csv":
        path.write_text("item,cluster\n" + "".join(f"i{n},{n % 3}\n" for n in range(9)))
    else:
        sep = "\t" if suffix == "tsv" else ","
        head = [] if kind.startswith("a similarity") else [sep.join("xy")]
        path.write_text("\n".join([*head, *(sep.join(map(str, row)) for row in values.tolist())]))
    return path


def run(number: int, place: Path) -> Verdict:
    """Damage one file and read it."""
    kind = NAMES[(number + number // len(NAMES)) % len(NAMES)]
    suffix, read, plainly = KINDS[kind]
    path = place / f"table{number}.{suffix}"
    path.write_bytes(
        damaged(original(kind, place).read_bytes(), np.random.default_rng([5, number]))
    )

    def compared() -> Verdict:
        found = read(path)
        try:
            same = found == plainly(path)
            detail = f"{found} against {plainly(path)}"
        except Exception as error:
            same, detail = False, f"{found}, but the plain reader says {error!r}"
        return Verdict(RIGHT if same else WRONG, detail[:400])

    try:
        verdict = judged(compared)
        return Verdict(verdict.outcome, f"{kind}: {verdict.detail}")
    finally:
        path.unlink()
