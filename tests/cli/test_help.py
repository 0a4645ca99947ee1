"""Help: quick, complete, and every example in it runs; a command loads what it needs."""

import json
import re
import shlex

import click
import numpy as np
import pytest

import partita
from cli.conftest import PROGRAM
from other_processes import run_python
from partita.cli import fit, outputs
from partita.cli.options import COMMANDS, cli
from partita.samplers import compare

PAGES = {"": cli, **{name: cli.get_command(click.Context(cli), name) for name in COMMANDS}}
HEAVY = {"numpy", "numba", "scipy", "rich", "pandas", "matplotlib", "bokeh"}


def examples(command):
    """Lines after a dollar sign in the help."""
    return re.findall(r"^ *\$ (.+)$", command.epilog or "", re.MULTILINE)


@pytest.mark.parametrize("name", PAGES)
def test_every_page_has_examples_and_explains_its_options(name):
    command = PAGES[name]
    assert examples(command)
    assert command.help
    silent = [p.name for p in command.params if isinstance(p, click.Option) and not p.help]
    assert silent in ([], ["out"])


@pytest.mark.parametrize("name", [n for n in PAGES if n not in ("demo", "warmup")])
def test_examples_run_in_the_order_written(name, place, partita, monkeypatch):
    full = compare.cross_validate
    monkeypatch.setattr(compare, "cross_validate", lambda m, **o: full(m, **o, draws=20, folds=2))
    monkeypatch.setattr(fit, "DRAWS", 30)
    monkeypatch.setattr(fit, "BURN_IN", 10)
    for slow in ("write_figures", "write_report"):  # the demo's tests have them
        monkeypatch.setattr(outputs, slow, lambda *_, **__: None)
    for part in ("part1.npy", "part2.npy"):
        np.save(place / part, np.repeat([[0, 0, 1], [0, 1, 1]], 10, axis=0))
    np.savez(place / "allocations.npz", z=np.eye(3, dtype=int)[None].repeat(4, axis=0))
    if name == "compare":
        partita("summarize", "draws.csv", "--out", "results")
    for line in examples(PAGES[name]):
        before, _, after = line.rpartition("|")
        words = shlex.split(after)
        assert words.pop(0) == "partita"
        stdin = (place / shlex.split(before)[1]).read_text() if before else None
        short = ("--draws", 20, "--burn-in", 5, "--bound", "none") if words[0] == "fit" else ()
        partita(*words, *short, stdin=stdin)


def test_help_loads_little():
    code = "import sys; sys.argv[1:] = ['--help']\n" + PROGRAM[-1].replace(
        "main()", "\ntry: main()\nexcept SystemExit: print(sorted(sys.modules), file=sys.stderr)"
    )
    done = run_python("-c", code)
    loaded = {name.split(".")[0] for name in json.loads(done.stderr.replace("'", '"'))}
    assert loaded.isdisjoint(HEAVY)
    assert "Commands:" in done.stdout


def test_the_module_is_the_command(tmp_path):
    shown = run_python("-m", "partita", "--version", cwd=tmp_path)
    assert shown.stdout.split() == ["partita", partita.__version__]


NOT_NEEDED = {
    "scipy.optimize",
    *("bokeh", "jinja2", "joblib", "matplotlib", "pandas", "rich"),
    *("partita.plots", "partita.report", "numba.np.arraymath", "numba.np.npyimpl"),
}
"""Each takes a tenth of a second or more, but those of the package and what draws and writes."""

RUN = """
import sys
from partita.cli.options import cli
try:
    cli.main(["summarize", sys.argv[1]], prog_name="partita")
finally:
    print(*sys.modules, file=sys.stderr)
"""


def loaded_by(path) -> set[str]:
    done = run_python("-c", RUN, path)
    assert "Estimate" in done.stdout
    return NOT_NEEDED & set(done.stderr.split())


def test_a_summary_loads_nothing_that_it_does_not_need(tmp_path):
    rng = np.random.default_rng(1)
    labels = np.where(rng.random((60, 20)) < 0.2, rng.integers(0, 3, (60, 20)), np.arange(20) // 7)
    np.savetxt(tmp_path / "draws.csv", labels, fmt="%d", delimiter=",")
    # Where kernels have to be compiled, Numba loads more: for the second run they are there.
    assert not loaded_by(tmp_path / "draws.csv") or not loaded_by(tmp_path / "draws.csv")
