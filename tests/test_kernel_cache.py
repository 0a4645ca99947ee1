"""Kernels compile once per machine, and also where nothing can be written."""

import os
import shutil
from itertools import product
from pathlib import Path

import pytest

from other_processes import run_python
from partita.kernels import _jit

PACKAGE = Path(__file__).parents[1] / "src" / "partita"

COMPUTE = """
import sys
import partita as pt
from partita.kernels import labels
assert pt.canonical([5, 5, 2, 9]).tolist() == [0, 0, 1, 2]
kernel = labels.canonicalise_rows
stats = kernel.stats
print(pt.__file__)
print(type(kernel._cache).__name__)
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
print("numba.np.arraymath" in sys.modules)
from partita.kernels.contingency import combine_rows
assert pt.distance([0, 0, 1, 1], [0, 0, 0, 0]) == 1.0  # a kernel that takes a loss's formula
print(sum(combine_rows.stats.cache_hits.values()))
"""


def run_copy(site: Path, **environment: str) -> list[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "XDG_"))}
    clean.pop("PYTHONDONTWRITEBYTECODE", None)
    clean |= {"PYTHONPATH": str(site), **environment}
    done = run_python("-c", COMPUTE, env=clean, cwd=site)
    where, *rest = done.stdout.splitlines()
    assert where.startswith(str(site))
    return rest


def copy_package(site: Path) -> None:
    shutil.copytree(PACKAGE, site / "partita", ignore=shutil.ignore_patterns("__pycache__"))


def test_an_install_where_nothing_can_be_written_computes(tmp_path):
    copy_package(tmp_path)
    # Permissions do not bind root. A file where a directory is wanted binds everyone.
    obstacle = tmp_path / "obstacle"
    obstacle.touch()
    for folder in [p for p in (tmp_path / "partita").rglob("*") if p.is_dir()]:
        (folder / "__pycache__").touch()
    nowhere = str(obstacle / "cache")
    cache, *_ = run_copy(tmp_path, HOME=nowhere, XDG_CACHE_HOME=nowhere, NUMBA_CACHE_DIR=nowhere)
    assert cache == "NullCache"
    assert not list(tmp_path.rglob("*.nbi"))


def test_the_second_process_compiles_nothing(tmp_path):
    copy_package(tmp_path)
    assert run_copy(tmp_path) == ["DiskCache", "0 1", "True", "0"]
    assert list((tmp_path / "partita" / "kernels").rglob("labels.canonicalise*.nbi"))
    assert run_copy(tmp_path) == ["DiskCache", "1 0", "False", "1"]  # and loads no compiler


def test_a_full_disk_does_not_stop_a_kernel(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_jit.FunctionCache, "save_overload", full)
    monkeypatch.setattr(_jit, "_told", set())

    def two_more(x: int) -> int:  # of this test alone: what another has cached is not saved again
        return x + 2

    compiled = _jit.kernel(two_more)
    with pytest.warns(UserWarning, match=r"No space left.*compiles them anew"):
        assert compiled(1) == 3
    assert compiled(1.5) == 3.5  # a second warning would be an error


MEASURE = """
import partita as pt
from partita.kernels.contingency import combine_rows
assert pt.distance([0, 0, 1, 1], [0, 0, 0, 0]) == 1.0
stats = combine_rows.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


def test_a_damaged_cache_is_no_cache(tmp_path):
    def measured() -> str:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        return run_python("-W", "error", "-c", MEASURE, env=environment).stdout

    def flipped(content: bytes) -> bytes:
        place = content.index(b"ELF") + 3 if b"ELF" in content else 50
        return content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]

    measured()
    ways = (lambda _: b""), (lambda content: content[: len(content) // 2]), flipped
    for suffix, damaged in product((".nbi", ".nbc"), ways):
        for place in tmp_path.rglob(f"*{suffix}"):
            place.write_bytes(damaged(place.read_bytes()))
        assert measured() == "0 1\n"
    assert measured() == "1 0\n"
