"""A command starts with what it needs: most of a short run is loading."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

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
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert "Estimate" in done.stdout
    return NOT_NEEDED & set(done.stderr.split())


def test_a_summary_loads_nothing_that_it_does_not_need(tmp_path):
    rng = np.random.default_rng(1)
    labels = np.where(rng.random((60, 20)) < 0.2, rng.integers(0, 3, (60, 20)), np.arange(20) // 7)
    np.savetxt(tmp_path / "draws.csv", labels, fmt="%d", delimiter=",")
    # Where kernels have to be compiled, Numba loads more: for the second run they are there.
    assert not loaded_by(tmp_path / "draws.csv") or not loaded_by(tmp_path / "draws.csv")
