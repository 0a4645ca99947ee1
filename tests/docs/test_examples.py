"""Every script of the gallery runs."""

from __future__ import annotations

import runpy

import pytest

from doc_pages import ROOT

SCRIPTS = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script_runs(script, tmp_path, monkeypatch):
    from matplotlib import pyplot as plt

    monkeypatch.chdir(tmp_path)
    plt.switch_backend("Agg")
    runpy.run_path(str(script), run_name="__main__")
    plt.close("all")


def test_there_are_scripts_and_each_says_what_it_shows():
    assert len(SCRIPTS) >= 5
    for script in SCRIPTS:
        title, line = script.read_text(encoding="utf-8").splitlines()[1:3]
        assert set(line) == {"="}, script
        assert len(line) == len(title), script
