"""Every printed digit from the paper's own draws; one that differs fails the command."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from partita.cli import reproduce as command_module
from partita.cli.group import cli
from partita.reproduce import paper, paper_draws
from partita.reproduce.paper_draws import Check, Searches
from stored import PAPER_DRAWS, needs_paper_draws


def reproduce(*words: str):
    return CliRunner().invoke(cli, ["reproduce", "--paper-draws", *words])


@pytest.fixture
def galaxies_only(monkeypatch):
    """Example 1 and the comparison of searches take longest and show nothing more here."""
    monkeypatch.setattr(paper_draws, "_check_example", lambda *_: iter(()))
    monkeypatch.setattr(paper_draws, "compare_searches", lambda *_, **__: iter(()))


@needs_paper_draws
def test_every_digit_comes_out(tmp_path):
    done = reproduce(str(PAPER_DRAWS), "--out", str(tmp_path / "page"))
    assert done.exit_code == 0, done.output
    lines = [line for line in done.stdout.splitlines() if "(paper: " in line]
    assert all(line.startswith("ok  ") for line in lines)
    # 7 columns of two estimates in two tables, 6 bounds of two balls, 2 numbers of the text, and
    # 8 cross tabulations of 4 rows; of the galaxies 8, 6, 3, and 3 cross tabulations of 3 rows.
    assert len(lines) == 28 + 12 + 2 + 32 + 8 + 6 + 3 + 9
    assert "k horizontal: 11 and 8, tied at the same distance (paper: 11)" in done.stdout
    assert "100 of 100 agree with the paper" in done.stdout
    for name in ("reproduction.md", "reproduction.html"):
        assert "Table 1, Example 1, B̃ estimate, N_I" in (tmp_path / "page" / name).read_text()
    # Both searches are shown for both losses of both examples.
    assert len(re.findall(r"\| the same partition|\| ours is lower", done.stdout)) == 4
    assert "0.770412 (4)" in done.stdout


@needs_paper_draws
@pytest.mark.usefixtures("galaxies_only")
def test_an_altered_number_fails(monkeypatch):
    altered = {**paper.GALAXY_ESTIMATES["vi"], "expected_vi": "0.938"}
    monkeypatch.setitem(paper.GALAXY_ESTIMATES, "vi", altered)
    done = reproduce(str(PAPER_DRAWS))
    assert done.exit_code == 1
    wrong = [line for line in done.stdout.splitlines() if line.startswith("DIFFERS")]
    assert wrong == ["DIFFERS  Table 4, galaxies, VI estimate, E[VI]: 0.939 (paper: 0.938)"]


@needs_paper_draws
@pytest.mark.usefixtures("galaxies_only")
def test_an_altered_cell_of_a_cross_tabulation_fails(monkeypatch):
    monkeypatch.setitem(paper.GALAXY_TABLES, "upper", ((7, 0), (31, 41), (3, 0)))
    done = reproduce(str(PAPER_DRAWS))
    assert done.exit_code == 1
    assert "row 2: 30 42 (paper: 31 41)" in done.stdout


@needs_paper_draws
@pytest.mark.usefixtures("galaxies_only")
def test_other_draws_fail(tmp_path):
    (tmp_path / "example1.npz").write_bytes((PAPER_DRAWS / "example1.npz").read_bytes())
    with np.load(PAPER_DRAWS / "galaxy.npz") as stored:
        np.savez(tmp_path / "galaxy.npz", labels=stored["labels"][:1000])
    done = reproduce(str(tmp_path))
    assert done.exit_code == 1
    assert "DIFFERS  Section 6.2, distinct partitions among the draws" in done.stdout


@needs_paper_draws
def test_in_a_clone_they_are_found_without_being_named(monkeypatch):
    seen = []
    monkeypatch.setattr(
        paper_draws, "check_paper_draws", lambda directory, **_: iter(seen.append(directory) or ())
    )
    monkeypatch.setattr(paper_draws, "compare_searches", lambda *_, **__: iter(()))
    assert reproduce().exit_code == 0
    assert Path(seen[0]).resolve() == PAPER_DRAWS


def test_outside_a_clone_it_is_said_where_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command_module, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    done = reproduce()
    assert done.exit_code == 1
    assert "tests/data/paper/draws" in done.stderr


def test_a_directory_without_draws_is_explained(tmp_path):
    done = reproduce(str(tmp_path))
    assert done.exit_code == 1
    assert "example1.npz does not exist" in done.stderr
    np.savez(tmp_path / "example1.npz", something=np.zeros(3))
    done = reproduce(str(tmp_path))
    assert "it lacks labels, true_labels" in done.stderr
    (tmp_path / "example1.npz").write_bytes(b"no zip")
    assert "cannot be read as an npz file" in reproduce(str(tmp_path)).stderr


def test_quick_has_no_meaning_with_given_draws(tmp_path):
    done = reproduce(str(tmp_path), "--quick")
    assert done.exit_code == 2


def test_a_better_search_is_said_and_both_are_shown():
    from partita.reproduce.paper_draws import checked_page, search_table

    class Found:
        def __init__(self, labels, gap=None):
            self.labels, self.gap, self.n_clusters = np.array(labels), gap, max(labels) + 1

    searches = [
        Searches("A", Found([0, 0, 1]), Found([0, 1, 1], 0.1), (0.5, 0.4)),
        Searches("B", Found([0, 0, 1]), Found([0, 0, 1], 0.0), (0.5, 0.5)),
    ]
    rows = search_table(searches).rows
    assert rows[0] == ("A", "0.500000 (2)", "0.400000 (2)", "ours is lower by 0.1", "10.0%")
    assert rows[1][3:] == ("the same partition", "proven optimal")
    page = checked_page([Check("x", "1", "2", False)], searches)
    assert page.sections[0].tables[0].rows == (("x", "1", "2", "DIFFERS"),)
