"""A directory with the files that the examples of the help name, and ways to run commands."""

import os
import subprocess
import sys

import numpy as np
import pytest

import partita as pt
from simulated import labels_around

TRUTH = np.repeat([0, 1, 2], 5)
MOVED = np.where(np.arange(15) == 0, 2, TRUTH)
"""The clustering of ``truth.csv``: the first item is elsewhere."""
NAMES = [f"g{i}" for i in range(TRUTH.size)]


def write_csv(path, header, rows):
    lines = [",".join(map(str, row)) for row in ([header] if header else []) + list(rows)]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """The files, made once."""
    place = tmp_path_factory.mktemp("prepared")
    labels = labels_around(TRUTH, 300, redrawn=0.1, k=3)
    write_csv(place / "draws.csv", NAMES, labels.tolist())
    pt.write_draws(pt.Draws(labels, item_names=NAMES), place / "draws.npz")
    for number in (1, 2):
        chain = labels_around(TRUTH, 300, seed=number, redrawn=0.1, k=3)
        write_csv(place / f"chain{number}.csv", NAMES, chain.tolist())
    stan = [[-1.5, *row] for row in (labels[:20] + 1).tolist()]
    header = ["lp__", *(f"z.{i + 1}" for i in range(TRUTH.size))]
    write_csv(place / "samples.csv", header, stan)
    places = np.random.default_rng(3).normal(size=(TRUTH.size, 2)) + 6.0 * TRUTH[:, None]
    rows = [[name, *row] for name, row in zip(NAMES, places.round(3).tolist(), strict=True)]
    write_csv(place / "data.csv", ["id", "x", "y"], rows)
    write_csv(place / "labels.csv", ["item", "cluster"], zip(NAMES, TRUTH.tolist(), strict=True))
    backwards = list(zip(NAMES, MOVED.tolist(), strict=True))[::-1]
    write_csv(place / "truth.csv", ["item", "cluster"], backwards)
    return place


@pytest.fixture
def place(prepared, tmp_path, monkeypatch):
    """A fresh directory with those files, which is the current one."""
    for file in prepared.iterdir():
        os.link(file, tmp_path / file.name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


PROGRAM = [sys.executable, "-c", "from partita.cli import main; main()"]


def start(*arguments, **options):
    """Start a command in a process of its own."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*PROGRAM, *map(str, arguments)], text=True, **{**pipes, **options})
