"""Every script of the gallery runs."""

from __future__ import annotations

import importlib.util
import runpy
import warnings

import pytest

from doc_pages import DOCS, ROOT

SCRIPTS = sorted(
    script
    for section in (ROOT / "examples").rglob("README.rst")
    for script in section.parent.glob("*.py")
)

spec = importlib.util.spec_from_file_location("gallery_needs", DOCS / "tools" / "gallery_needs.py")
assert spec is not None
assert spec.loader is not None
gallery_needs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gallery_needs)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script_runs(script, tmp_path, monkeypatch):
    for library in gallery_needs.needs(script):
        pytest.importorskip(library, reason=f"{library} is not installed")
        warnings.simplefilter("default")  # what the other libraries warn of is theirs
    from matplotlib import pyplot as plt

    monkeypatch.chdir(tmp_path)
    plt.switch_backend("Agg")
    runpy.run_path(str(script), run_name="__main__")
    plt.close("all")
