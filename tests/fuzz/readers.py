"""Damaged files against every reader: read right, or refused by an error of ours.

``python -m tests.fuzz.readers [files per format]`` prints the table; seeds are
fixed. A file that is read must give whole draws that can be written and read
again; anything but an error of partita is a failure.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import partita as pt
from partita.errors import PartitaError

SUFFIXES = ("csv", "tsv", "csv.gz", "csv.xz", "npy", "npz", "parquet", "nc", "zarr", "rds", "RData")
READ, REFUSED, FOREIGN, WRONG = "read", "refused", "foreign error", "not whole"


def sample_draws() -> pt.Draws:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, (12, 7))
    return pt.Draws(labels, weights=rng.random(12) + 0.1, chain=np.repeat([1, 2], 6))


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


def outcome(path: Path) -> tuple[str, str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            draws = pt.read_draws(path)
    except PartitaError:
        return REFUSED, ""
    except Exception as error:
        return FOREIGN, f"{type(error).__name__}: {error}"
    again = pt.Draws(draws.labels, weights=draws.weights, chain=draws.chain)
    whole = np.array_equal(again.labels, draws.labels) and (
        draws.weights is None or (np.isfinite(draws.weights).all() and (draws.weights > 0).all())
    )
    return (READ if whole else WRONG), ""


def attack(suffix: str, files: int, seed: int = 0) -> tuple[Counter[str], list[str]]:
    """Outcomes of so many damaged files of one format, and the foreign errors met."""
    rng = np.random.default_rng(seed)
    found: Counter[str] = Counter()
    errors: list[str] = []
    draws = sample_draws()
    with tempfile.TemporaryDirectory() as folder:
        original = Path(folder) / f"good.{suffix}"
        pt.write_draws(pt.Draws(draws.labels) if suffix == "npy" else draws, original)
        for number in range(files):
            path = Path(folder) / f"{number}.{suffix}"
            if original.is_dir():
                shutil.copytree(original, path)
                inner = sorted(p for p in path.rglob("*") if p.is_file())
                victim = inner[int(rng.integers(0, len(inner)))]
                victim.write_bytes(damaged(victim.read_bytes(), rng))
            else:
                path.write_bytes(damaged(original.read_bytes(), rng))
            kind, error = outcome(path)
            found[kind] += 1
            errors += [f"{suffix}, file {number}: {error}"] if error else []
    return found, errors


def main(files: int) -> int:
    kinds = (READ, REFUSED, FOREIGN, WRONG)
    print("| format |", " | ".join(kinds), "|")
    print("|---|" + "---|" * len(kinds))
    failures = []
    for suffix in SUFFIXES:
        found, errors = attack(suffix, files)
        print(f"| {suffix} |", " | ".join(str(found[kind]) for kind in kinds), "|", flush=True)
        failures += errors + [f"{suffix}: not whole"] * found[WRONG]
    print(*failures, sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
