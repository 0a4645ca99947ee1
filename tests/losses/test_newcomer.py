"""A new loss is one file, one line in the table and one slow twin; all else follows.

The package and its tests are copied, the three are added to the copy, and the copy is asked.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import numpy as np
import pytest

import partita as pt

TESTS = Path(__file__).parents[1]

LINE = '    "newcomer": Home("newcomer", "Newcomer", metric=True),\n'
TWIN = '\nDISTANCES["newcomer"] = jaccard\n'

SCRIPT = """
import numpy as np
import partita as pt

draws = np.random.default_rng(0).integers(0, 3, (20, 8))
loss = pt.Newcomer()
assert "Newcomer" in dir(pt)
assert pt.estimate(draws, loss="newcomer").loss == pt.estimate(draws, loss=loss).loss == loss
summary = pt.summarize(draws, loss="newcomer")
assert summary.ball.loss == loss
summary.save("summary.npz")
assert pt.Summary.load("summary.npz").loss == loss
for wrong in ("nonsense", "omari"):
    try:
        pt.representatives(draws, loss=wrong)
    except pt.PartitaError as error:
        assert "'newcomer'" in str(error), error
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Runs Python in a copy of the package that has one loss more."""
    root = tmp_path_factory.mktemp("copy")
    package = copytree(Path(pt.__file__).parent, root / "src" / "partita")  # compiled code as well
    tests = copytree(TESTS, root / "tests", ignore=ignore_patterns("__pycache__", "data"))
    (root / "pyproject.toml").write_bytes((TESTS.parent / "pyproject.toml").read_bytes())

    outside = (TESTS / "outside_losses.py").read_text(encoding="utf-8")
    newcomer = outside.replace("Jaccard", "Newcomer").replace("jaccard", "newcomer")
    (package / "losses" / "newcomer.py").write_text(newcomer, encoding="utf-8")
    table = package / "losses" / "names.py"
    with_line = table.read_text(encoding="utf-8").replace(
        "\nLOSSES = {\n", f"\nLOSSES = {{\n{LINE}"
    )
    table.write_text(with_line, encoding="utf-8")
    with (tests / "reference" / "losses.py").open("a", encoding="utf-8") as twins:
        twins.write(TWIN)

    def run(*arguments):
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root / "src")},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    return run


def test_it_is_found_in_python_and_in_files(ask):
    done = ask("-c", SCRIPT)
    assert done.returncode == 0, done.stderr


def test_it_is_found_on_the_command_line(ask, tmp_path):
    labels = np.random.default_rng(0).integers(0, 3, (20, 8))
    np.savetxt(tmp_path / "draws.csv", labels, fmt="%d", delimiter=",")
    for command in ("summarize", "rivals", "compare"):
        assert "newcomer" in ask("-m", "partita", command, "--help").stdout
    done = ask("-m", "partita", "summarize", tmp_path / "draws.csv", "--loss", "newcomer", "--json")
    assert done.returncode == 0, done.stderr
    assert '"loss": "Newcomer()"' in done.stdout


def test_the_contract_covers_it(ask):
    files = ("losses/test_contract.py", "losses/test_kernels.py", "losses/test_expected_loss.py")
    paths = [f"tests/{name}" for name in (*files, "summary/test_store.py")]
    done = ask("-m", "pytest", "-q", "-k", "newcomer or table or can_be_stored", *paths)
    assert done.returncode == 0, done.stdout


def test_the_line_that_type_checkers_need_is_printed(ask):
    name = "tests/test_surface.py::test_type_checkers_see_what_is_there"
    done = ask("-m", "pytest", "-q", name)
    assert "    from partita.losses.newcomer import Newcomer as Newcomer" in done.stdout
