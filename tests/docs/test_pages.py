"""Every line of code on the pages runs, and prints what the page says."""

from __future__ import annotations

import shutil

import pytest

from doc_pages import DOCS, ROOT, blocks_of, page_names, run_page

FILES = {
    "howto/stan_pymc.md": ("cmdstan_mixture_1.csv", "cmdstan_mixture_2.csv", "pymc_mixture.nc")
}
"""Files that a page reads and cannot make itself."""


@pytest.mark.parametrize("name", page_names())
def test_code_of(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for file in FILES.get(name, ()):
        shutil.copy(ROOT / "tests" / "io" / "data" / file, tmp_path)
    assert run_page((DOCS / name).read_text(encoding="utf-8"), name) == []


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
