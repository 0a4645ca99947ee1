"""Floors of the house: an import may only point down.

Every module of the package is parsed, imports inside functions included, so
that a lazy import cannot hide an arrow that points up.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"

FLOOR = {
    "_version": 0,
    "errors": 0,
    "_validate": 0.5,
    "_vocabulary": 0.5,
    "_wording": 0.5,
    "_html": 0.5,
    "_parallel": 1,
    "_optional": 1,
    "_dask": 1.5,
    "_own_files": 0.5,
    "_files": 1,
    "_result": 0.5,
    "_archive": 1.5,
    "_memory": 1,
    "_progress": 1.5,
    "kernels": 1,
    "datasets": 1,
    "partitions": 2,
    "io": 3,
    "losses": 4,
    "search": 5,
    "samplers": 5,
    "credible": 5,
    "diagnostics": 5,
    "testing": 6,
    "rivals": 6,
    "summary": 7,
    "_warmup": 7.5,
    "plots": 8,
    "sklearn": 8,
    "arviz": 8,
    "anndata": 8,
    "report": 9,
    "reproduce": 9,
    "cli": 10,
}
"""Height of each room. Rooms of one floor do not import each other."""

DOORS = {
    ("partita.summary.result", "partita.report"),
    ("partita.credible.core_result", "partita.search.complete"),
    ("partita.summary.result", "partita.plots"),
    ("partita.summary.result", "partita.plots.thumbnail"),
    ("partita.partitions.convert", "partita.io.foreign"),
    ("partita.partitions.labels", "partita.io.foreign"),
}
"""The arrows up, each opened by name when called: ``Summary.to_html`` and ``Summary.plot`` show,
``as_draws`` and ``as_labels`` hand files and tables to the readers, a core asks the search to
complete it."""

KERNEL_LIBRARIES = {
    "numpy",
    "numba",
    "partita",
    "__future__",
    "typing",
    "collections",
    "contextlib",
    "functools",
    "itertools",
    "math",
}
KERNEL_LIBRARIES |= {"warnings", "gc"}  # of a cache that cannot be kept; while Numba compiles


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted((SOURCE / "partita").rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imported(source: str, module: str, *, package: bool = False) -> Iterator[tuple[int, str]]:
    """Line and full name of everything a module imports, anywhere in it."""
    here = module.split(".") if package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            stem = [*base, *(node.module.split(".") if node.module else [])]
            yield from ((node.lineno, ".".join([*stem, alias.name])) for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from ((node.lineno, str(a.value)) for a in node.args if type(a) is ast.Constant)


def room(name: str) -> str | None:
    """The room of a full module name: ``partita.losses.vi`` is in ``losses``."""
    parts = name.split(".")
    return parts[1] if parts[0] == "partita" and len(parts) > 1 else None


def arrows_up(source: str, module: str, *, package: bool = False) -> list[str]:
    mine = room(module)
    if mine is None:  # partita/__init__.py is the front door: it names every room
        return []
    wrong = []
    for line, name in imported(source, module, package=package):
        if name.split(".")[0] != "partita" or (module, name) in DOORS:
            continue
        other = room(name)
        if other not in FLOOR:  # a name of the front door itself, such as `from partita import VI`
            wrong.append(f"{module}:{line} imports {name}, through the front door")
        elif other != mine and FLOOR[other] >= FLOOR[mine]:
            wrong.append(f"{module}:{line} imports {name}, which is not below it")
    return wrong


def test_every_room_has_a_floor():
    rooms = {room(module) for module, _ in modules()} - {None, "__main__"}
    assert rooms == set(FLOOR), "a new part of the package needs its floor in this test"


@pytest.mark.parametrize(("module", "path"), list(modules()), ids=lambda value: str(value))
def test_no_arrow_points_up(module, path):
    if room(module) == "__main__":
        return
    source = path.read_text(encoding="utf-8")
    assert arrows_up(source, module, package=path.name == "__init__.py") == []


def test_kernels_import_numpy_and_numba_only():
    for module, path in modules():
        if room(module) != "kernels":
            continue
        for line, name in imported(path.read_text(encoding="utf-8"), module):
            assert name.split(".")[0] in KERNEL_LIBRARIES, f"{module}:{line} imports {name}"
            assert room(name) in (None, "kernels"), f"{module}:{line} imports {name}"


def test_numba_is_imported_by_the_decorators_only():
    users = {
        module
        for module, path in modules()
        for _, name in imported(path.read_text(encoding="utf-8"), module)
        if name.split(".")[0] in ("numba", "llvmlite")
    }
    assert {m for m in users if room(m) != "kernels"} == set()
    assert "partita.kernels._jit" in users


LITTLE = ("partita", "numpy", "joblib", "rich")


def test_bottom_modules_need_little():
    bottom = {name for name, floor in FLOOR.items() if floor <= 1} - {"kernels", "datasets"}
    for module, path in modules():
        if room(module) in bottom:
            for line, name in imported(path.read_text(encoding="utf-8"), module):
                first = name.split(".")[0]
                known = first in sys.stdlib_module_names or first in LITTLE
                assert known, f"{module}:{line} imports {name}"


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("partita.partitions.draws", "from partita.losses.vi import VI"),
        ("partita.partitions.draws", "def f():\n    import partita.io.text"),
        ("partita.search.methods.sweep", "from partita.samplers import chain"),
        ("partita.samplers.chain", "if True:\n    from partita.search.methods.sweep import x"),
        ("partita.losses.vi", "from ..search import sweep"),
        ("partita.losses.vi", "from partita import search"),
        ("partita.losses.vi", "from partita import distance"),
        ("partita.kernels.a", "import importlib\nimportlib.import_module('partita.losses.vi')"),
    ],
)
def test_the_walk_sees_an_arrow_that_points_up(module, source):
    assert len(arrows_up(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("partita.losses.vi", "from partita.partitions.draws import Draws"),
        ("partita.losses.vi", "from . import base"),
        ("partita.losses.vi", "from .base import Loss"),
        ("partita.search.methods.sweep", "from partita.errors import PartitaError"),
        ("partita.kernels.a", "import numpy as np"),
    ],
)
def test_the_walk_lets_arrows_down_pass(module, source):
    assert arrows_up(source, module) == []
