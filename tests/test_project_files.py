"""What README, CONTRIBUTING, other pages and docstrings promise exists, runs and prints."""

import ast
import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import partita as pt
from other_processes import run_python

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "partita"
PAPERS = ["README.md", "CONTRIBUTING.md", "VISION.md", "CHANGELOG.md"]


@pytest.mark.parametrize("paper", PAPERS)
def test_files_that_are_named_exist(paper):
    text = (ROOT / paper).read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|tests|benchmarks)/[\w/.]+)`|\]\((\w+\.md)\)", text)
    missing = [a or b for a, b in named if not (ROOT / (a or b)).exists()]
    assert missing == []


def test_contributing_has_a_row_for_every_package_and_no_other():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?`) \|", text, flags=re.MULTILINE)
    described = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    there = {p.stem for p in SOURCE.iterdir() if p.is_dir() or p.suffix == ".py"} - {"__pycache__"}
    assert described <= there
    assert {name for name in there if not name.startswith("_")} <= described


def test_what_repeats_without_a_seed():
    data = [[0.0, 1.0], [0.3, None], [4.0, 5.0], [4.2, 5.5]]
    first, second = (pt.sample(data, draws=20, burn_in=0, chains=1, progress=False) for _ in "ab")
    assert first.trace["log_posterior"].tolist() != second.trace["log_posterior"].tolist()
    assert pt.lattice.random_partition(200).tolist() != pt.lattice.random_partition(200).tolist()
    assert first.replicate().tolist() == first.replicate().tolist()
    assert first.impute().mean.tolist() == first.impute().mean.tolist()


@pytest.mark.parametrize("paper", PAPERS)
def test_make_targets_that_are_named_exist(paper):
    text = (ROOT / paper).read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", text, flags=re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_a_benchmark_runs():
    done = run_python("-m", "benchmarks", "similarity, simulated", cwd=ROOT)
    assert "similarity, simulated, 10,000 × 200" in done.stdout


MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(pt.__path__, "partita.")
    if not found.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples may write files
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0


ORDER = (
    *("kernels", "losses", "io", "credible", "search", "samplers", "diagnostics"),
    *("representative", "summary", "plots", "sklearn", "arviz", "anndata", "report"),
    "cli",
)
"""From the bottom. Modules that are not listed are the ground, which imports none of these."""


def imports(path):
    """Names of the modules that a file imports at its top level."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


@pytest.mark.parametrize("package", ORDER)
def test_imports_point_down(package):
    """And kernels import nothing of the package but kernels."""
    above = {f"partita.{name}" for name in ORDER[ORDER.index(package) + 1 :]}
    for path in (*(SOURCE / package).rglob("*.py"), *SOURCE.glob(f"{package}.py")):
        parts = [name.split(".")[:2] for name in imports(path)]
        assert not above & set(map(".".join, parts)), path
        if package == "kernels":
            assert {tuple(p) for p in parts if p[0] == "partita"} <= {("partita", "kernels")}, path
