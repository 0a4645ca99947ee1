"""Damaged files against every reader: read as they stand, or refused by an error of ours."""

import shutil
from functools import cache
from pathlib import Path

import numpy as np

import partita as pt

from .harness import RIGHT, WRONG, Verdict, judged
from .plain_readers import Content, read_plainly

SUFFIXES = ("csv", "tsv", "csv.gz", "csv.xz", "npy", "npz", "parquet", "nc", "zarr", "rds", "RData")


@cache
def sample_draws(named: bool) -> pt.Draws:
    """Weighted draws of two chains; with names of items and chains, or numbers."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, (12, 7))
    chain = np.repeat(["left", "right"] if named else [1, 2], 6)
    names = [f"item {chr(97 + i)}" for i in range(7)] if named else None
    return pt.Draws(labels, weights=rng.random(12) + 0.1, chain=chain, item_names=names)


def original(suffix: str, named: bool, place: Path) -> Path:
    """The whole file, written once."""
    path = place / f"good{int(named)}.{suffix}"
    if not path.exists():
        draws = sample_draws(named)
        pt.write_draws(pt.Draws(draws.labels) if suffix == "npy" else draws, path)
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
    suffix = SUFFIXES[number % len(SUFFIXES)]
    rng = np.random.default_rng([0, number])
    whole = original(suffix, bool(rng.integers(0, 2)), place)
    path = place / f"{number}.{suffix}"
    if whole.is_dir():
        shutil.copytree(whole, path)
        inner = sorted(p for p in path.rglob("*") if p.is_file())
        victim = inner[int(rng.integers(0, len(inner)))]
        victim.write_bytes(damaged(victim.read_bytes(), rng))
    else:
        path.write_bytes(damaged(whole.read_bytes(), rng))
    try:
        found = judged(lambda: _plainly(pt.read_draws(path), path))
        return Verdict(found.outcome, f"{path.name}: {found.detail}")
    finally:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _plainly(draws: pt.Draws, path: Path) -> Verdict:
    try:
        return compared(draws, read_plainly(path))
    except Exception as error:
        return Verdict(WRONG, f"read, but the plain reader says {type(error).__name__}: {error}")


def compared(draws: pt.Draws, content: Content) -> Verdict:
    """Whether draws are what the plain reader says."""
    if draws_of(content) == draws:
        return Verdict(RIGHT)
    found = draws.labels.tolist(), draws.weights, draws.chain, draws.item_names
    return Verdict(WRONG, f"{found} of {content}"[:600].replace("\n", " "))


def draws_of(content: Content) -> pt.Draws:
    """The draws that a reader should make of it."""
    labels, weights, chain, names = content
    return pt.Draws(labels, weights=weights, chain=chain, item_names=names)
