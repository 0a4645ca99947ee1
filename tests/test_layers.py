"""Packages form layers: when a module is imported, nothing of a higher layer is."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "partita"

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
    above = {f"partita.{name}" for name in ORDER[ORDER.index(package) + 1 :]}
    files = [*(SOURCE / package).rglob("*.py"), *SOURCE.glob(f"{package}.py")]
    up = [
        f"{path.relative_to(SOURCE)} imports {name}"
        for path in files
        for name in imports(path)
        if ".".join(name.split(".")[:2]) in above
    ]
    assert up == []


def test_kernels_import_nothing_of_the_package():
    other = [
        f"{path.relative_to(SOURCE)} imports {name}"
        for path in (SOURCE / "kernels").rglob("*.py")
        for name in imports(path)
        if name.startswith("partita") and not name.startswith("partita.kernels")
    ]
    assert other == []
