"""Damaged files against every reader: read as they stand, or refused by an error of ours."""

from __future__ import annotations

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
        return judged(lambda: compared(pt.read_draws(path), path))
    finally:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def compared(draws: pt.Draws, path: Path) -> Verdict:
    """Whether draws are what the file says by the plain reader."""
    try:
        content = read_plainly(path)
        said = pt.Draws(
            content.labels,
            weights=content.weights,
            chain=content.chain,
            item_names=content.names,
        )
    except Exception as error:
        return Verdict(
            WRONG, f"{path.name}: read, but the plain reader says {type(error).__name__}: {error}"
        )
    if said == draws:
        return Verdict(RIGHT)
    return Verdict(WRONG, f"{path.name}: {differences(draws, content)}")


def differences(draws: pt.Draws, content: Content) -> str:
    """What differs, in short."""
    said = pt.Draws(content.labels)
    parts = [f"labels {draws.labels.tolist()} against {said.labels.tolist()}"]
    if np.array_equal(draws.labels, said.labels):
        parts = []
    parts += [
        f"{name} {mine} against {theirs}"
        for name, mine, theirs in (
            ("weights", draws.weights, content.weights),
            ("chain", draws.chain, content.chain),
            ("names", draws.item_names, content.names),
        )
        if str(mine) != str(theirs)
    ]
    return "; ".join(parts)[:400].replace("\n", " ")
