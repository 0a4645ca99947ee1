"""Every line of code on the pages runs, and prints what the page says."""

from __future__ import annotations

import pytest

from doc_pages import DOCS, ROOT, blocks_of, page_names, run_page
from stand_ins import FILES, STAND_INS


@pytest.mark.parametrize("name", page_names())
def test_code_of(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for prepare in FILES.get(name, ()):
        prepare(tmp_path)
    assert run_page((DOCS / name).read_text(encoding="utf-8"), name, STAND_INS) == []


def test_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    import numpy as np

    rng = np.random.default_rng(0)
    labels = np.where(rng.random((300, 40)) < 0.1, rng.integers(1, 4, (300, 40)), 1)
    np.savetxt("draws.csv", labels, fmt="%d", delimiter=",")
    assert run_page((ROOT / "README.md").read_text(encoding="utf-8"), "README.md") == []
    assert (tmp_path / "report.html").exists()


def test_the_runner_sees_what_is_wrong():
    page = "```pycon\n>>> 1 + 1\n3\n```\n\n<!-- not run: it lies -->\n```python\n1 / 0\n```\n"
    assert len(list(blocks_of(page))) == 1
    assert "Expected:\n    3" in run_page(page, "lies")[0]
    assert "exit 2" in run_page("```sh\npartita nonsense\n```\n", "lies")[0]
    page = "<!-- needs: there -->\n```python\nx = 1\n```\n\n```pycon\n>>> x\n2\n```\n"
    assert run_page(page, "needs", {"there": lambda: {"x": 2}}) == []
    assert "Got:\n    1" in run_page(page, "needs")[0]


def test_formulas_hold_what_can_be_set():
    """Pages are built with warnings as errors, which takes minutes; a dot in a formula is one."""
    for page in sorted(DOCS.rglob("*.md")):
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            formulas = line.split("$")[1::2]
            assert not any("·" in formula for formula in formulas), f"{page}:{number}"
