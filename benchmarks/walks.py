"""``python -m benchmarks.walks``: how many files one call enters, and how often it changes folder.

Two calls are traced with ``sys.setprofile`` when made a second time, and ``partita fit`` from its
first import on, on one thread: Python functions of the package are seen, kernels are not. Of the
report, the runs of the kernel that makes labels canonical are counted as well.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import partita as pt

PACKAGE = str(Path(pt.__file__).parent) + os.sep
CANONICAL = "canonicalise_rows"
GOALS = {"estimate(csv)": (30, 80), "summarize + to_html": (60, 800), "partita fit": (100, None)}


class Walk:
    """Files, functions, calls and changes of folder of one call."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.files: set[str] = set()
        self.functions: set[tuple[str, int]] = set()
        self.calls = self.changes = 0
        self._folder = ""
        threading.setprofile(self._see)
        sys.setprofile(self._see)
        try:
            call()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event != "call" or frame.f_code.co_name == "<module>" or not name.startswith(PACKAGE):
            return
        self.files.add(name)
        self.functions.add((name, frame.f_code.co_firstlineno))
        self.calls += 1
        folder = os.path.dirname(name)
        self.changes += folder != self._folder
        self._folder = folder


@contextmanager
def counted(name: str) -> Iterator[list[int]]:
    """The number of calls of a kernel, wherever it is held."""
    total = [0]
    holders = [
        m for n, m in list(sys.modules.items()) if n.startswith("partita") and name in vars(m)
    ]
    if not holders:
        raise RuntimeError(f"no kernel called {name}: benchmarks/walks.py needs its new name")
    kernel = getattr(holders[0], name)

    def counting(*arguments: Any) -> Any:
        total[0] += 1
        return kernel(*arguments)

    for module in holders:
        setattr(module, name, counting)
    try:
        yield total
    finally:
        for module in holders:
            setattr(module, name, kernel)


def labels() -> Any:
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(5), 6)
    return np.where(rng.random((400, 30)) < 0.2, rng.integers(0, 6, (400, 30)), truth)


def calls(folder: Path) -> dict[str, Callable[[], Any]]:
    np.savetxt(folder / "draws.csv", labels(), fmt="%d", delimiter=",")
    rng = np.random.default_rng(1)
    data = np.repeat([[0.0, 0.0], [4.0, 4.0], [0.0, 6.0]], 20, axis=0) + rng.normal(size=(60, 2))
    np.savetxt(folder / "data.csv", data, delimiter=",", header="x,y", comments="")
    words = ["fit", "data.csv", "--draws", "100", "--burn-in", "100", "--jobs", "1"]
    words += ["--report", "report.html", "--force"]

    def fit() -> None:
        from partita.cli.options import cli

        os.chdir(folder)
        cli.main(words, standalone_mode=False)

    def report() -> None:
        pt.summarize(labels(), n_jobs=1).to_html(folder / "page.html", overwrite=True)

    return {
        "partita fit": lambda: _quiet(fit),
        "estimate(csv)": lambda: pt.estimate(folder / "draws.csv", n_jobs=1),
        "summarize + to_html": report,
    }


def _quiet(call: Callable[[], Any]) -> None:
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        out, err = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = nowhere
        try:
            call()
        except SystemExit as ended:
            if ended.code:
                raise
        finally:
            sys.stdout, sys.stderr = out, err


def main() -> None:
    print(f"{'':<22}{'files':>8}{'functions':>11}{'calls':>9}{'changes of folder':>19}   goals")
    with tempfile.TemporaryDirectory() as folder:
        made = calls(Path(folder))
        for name, call in made.items():
            if name != "partita fit":
                call()
            walk = Walk(call)
            goals = " and ".join(str(goal) for goal in GOALS[name] if goal is not None)
            print(
                f"{name:<22}{len(walk.files):>8}{len(walk.functions):>11}{walk.calls:>9,}"
                f"{walk.changes:>19,}   {goals}"
            )
        with counted(CANONICAL) as total:
            made["summarize + to_html"]()
        print(f"labels made canonical in one report: {total[0]} (goal: 30)")
        os.chdir(Path(__file__).parent)


if __name__ == "__main__":
    main()
