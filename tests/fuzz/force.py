"""``--out`` and ``--force`` over directories of users: nothing but named outputs is touched."""

import os
import shutil
from functools import cache
from pathlib import Path

import numpy as np
from click.testing import CliRunner

import partita as pt
from partita.cli.options import cli
from partita.cli.outputs import SUMMARY_FILES

from .harness import FOREIGN, LOST, REFUSED, RIGHT, Verdict

NAMES = (
    *("notes.txt", "report.html", "labels.csv", "summary.npz", "draws.npz", "fit.npz", "data.csv"),
    *("figures/mine.svg", "figures/similarity.svg", "summary.json", "items.csv", ".hidden"),
)
COMMANDS = {
    "summarize": ("summarize", "{draws}", "--out", "{out}", "--force"),
    "core": ("core", "{draws}", "--out", "{out}/core.csv", "--force"),
    "convert to npz": ("convert", "{draws}", "{out}/draws.npz", "--force"),
    "convert to zarr": ("convert", "{draws}", "{out}/store.zarr", "--force"),
    "convert over the directory": ("convert", "{draws}", "{out}", "--format", "zarr", "--force"),
    "convert onto itself": ("convert", "{draws}", "{draws}", "--force"),
    "compare": ("compare", "{labels}", "{labels}", "--out", "{out}/labels.csv", "--force"),
    "without force": ("summarize", "{draws}", "--out", "{out}"),
    "without force, convert": ("convert", "{draws}", "{out}/draws.npz"),
}
COUNT = 10 * len(COMMANDS)
ASKED = {
    "summarize": SUMMARY_FILES,
    "core": ("core.csv",),
    "convert to npz": ("draws.npz",),
    "compare": ("labels.csv",),
}
"""Files that --force replaces: those of the names that the command writes."""


@cache
def inputs(place: Path) -> tuple[Path, Path]:
    """Draws and labels outside of every directory that is written to."""
    rng = np.random.default_rng(0)
    draws, labels = place / "in.csv", place / "in_labels.csv"
    pt.write_draws(rng.integers(0, 3, (40, 6)), draws)
    labels.write_text("item,cluster\n" + "".join(f"i{k},{k % 2}\n" for k in range(6)))
    return draws, labels


def run(number: int, place: Path) -> Verdict:
    """Run one command on a directory with some files of a user."""
    kind = list(COMMANDS)[number % len(COMMANDS)]
    rng = np.random.default_rng([5, number])
    outside, labels = inputs(place)
    out = place / f"out{number}"
    (out / "figures").mkdir(parents=True)
    chosen = [name for name in NAMES if rng.random() < 0.5]
    for name in chosen:
        (out / name).write_text(f"made by hand: {name}")
    if rng.random() < 0.3:  # a store of another program
        (out / "store.zarr").mkdir()
        (out / "store.zarr" / "data").write_text("made by hand")
        chosen.append("store.zarr/data")
    draws = outside
    if rng.random() < 0.3:  # the input lies where the output goes
        draws = out / "input.csv"
        shutil.copy(outside, draws)
        chosen.append("input.csv")
    before = {name: (out / name).read_bytes() for name in chosen}
    words = [w.format(draws=draws, labels=labels, out=out) for w in COMMANDS[kind]]
    done = CliRunner().invoke(cli, words, env={"COLUMNS": "80"})
    lost = [
        name
        for name, content in before.items()
        if name not in ASKED.get(kind, ())
        and (not (out / name).exists() or (out / name).read_bytes() != content)
    ]
    shutil.rmtree(out) if out.is_dir() else os.unlink(out)
    detail = f"{kind}: {done.output[-200:]!r}"
    if lost:
        return Verdict(LOST, f"{lost}; {detail}")
    if done.exit_code not in (0, 1, 2) or "Please report" in done.output:
        return Verdict(FOREIGN, detail)
    return Verdict(RIGHT if done.exit_code == 0 else REFUSED, detail)
