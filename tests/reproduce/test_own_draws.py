"""A quick run of everything: each table, each value of the paper, each figure."""

from __future__ import annotations

import re
import signal
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import partita as pt
from partita.cli.group import COMMANDS, cli
from partita.reproduce import own_draws, paper, plan
from partita.reproduce.experiments import run, simulated
from partita.reproduce.pages import Section
from partita.reproduce.plan import FULL, QUICK
from partita.reproduce.unbalanced import LOSSES, OFFSETS, SIZES, unbalanced_data

FIGURES = [f"figure-{n:02d}.svg" for n in range(1, 12)] + ["figure-s1.svg", "figure-s2.svg"]


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """The quick run of everything, with fewer draws still."""
    folder = tmp_path_factory.mktemp("reproduce") / "page"
    few = {"draws": 25, "burn_in": 25, "repeats": 2}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "QUICK", replace(QUICK, **few))
        run = ["reproduce", "--quick", "--out", str(folder), "--seed", "1"]
        done = CliRunner().invoke(cli, run)
    assert done.exit_code == 0, done.output
    return done.stdout, folder


def value_rows(text: str) -> dict[str, list[str]]:
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in text.splitlines()
        if line.startswith("| ")
    ]
    return {cells[0]: cells for cells in rows if len(cells) == 8}


def test_every_value_stands_beside_the_papers_with_what_the_difference_is(quick):
    rows = value_rows(quick[0])
    expected = {}
    for loss, title in paper.LOSS_TITLES.items():
        for example in (1, 2):
            for name, label in paper.ESTIMATE_COLUMNS.items():
                expected[f"Ex {example}, {title}, {label}"] = paper.ESTIMATES[example][loss][name]
            for name, label in paper.BOUND_COLUMNS.items():
                expected[f"Ex {example}, {title}, {label}"] = paper.BOUNDS[example][loss][name]
        for n, printed in paper.SIZES.items():
            for name, label in paper.ESTIMATE_COLUMNS.items():
                expected[f"N={n:,}, {title}, {label}"] = printed[loss][name]
        for name, label in paper.GALAXY_COLUMNS.items():
            expected[f"Galaxies, {title}, {label}"] = paper.GALAXY_ESTIMATES[loss][name]
    for name, label in paper.BOUND_COLUMNS.items():
        expected[f"Galaxies, VI, {label}"] = paper.GALAXY_BOUNDS[name]
    assert {what: rows[what][2] for what in expected} == expected
    readings = {rows[what][7] for what in expected}
    assert all(re.match(r"none in|data|Monte Carlo|more than", reading) for reading in readings)
    for what, cells in rows.items():
        if what in expected:
            assert ("data" in cells[7]) <= (not what.startswith("Galaxies"))


def test_every_cross_tabulation_has_the_papers_beside_it(quick):
    text, _ = quick
    assert len(re.findall(r"^\*\*.*, ours: \d+ clusters\*\*$", text, re.MULTILINE)) == 19
    assert len(re.findall(r"^\*\*.*, paper: \d+ clusters\*\*$", text, re.MULTILINE)) == 19


def test_the_unbalanced_experiment_is_there(quick):
    rows = [line for line in quick[0].splitlines() if line.startswith("| ±")]
    assert len(rows) == len(OFFSETS) * len(LOSSES)


def test_page_and_figures_are_written(quick):
    text, folder = quick
    assert sorted(entry.name for entry in folder.glob("[!.]*")) == [
        "figures",
        "reproduction.html",
        "reproduction.md",
    ]
    assert sorted(entry.name for entry in (folder / "figures").iterdir()) == sorted(FIGURES)
    markdown = (folder / "reproduction.md").read_text(encoding="utf-8")
    html = (folder / "reproduction.html").read_text(encoding="utf-8")
    for name in FIGURES:
        assert f"](figures/{name})" in markdown
        assert f'src="figures/{name}"' in html
        drawing = (folder / "figures" / name).read_text(encoding="utf-8")
        assert drawing.rstrip().endswith("</svg>")
    for line in text.splitlines():
        assert line in markdown
    assert "A quick run" in markdown


def test_nothing_is_overwritten_unasked(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    done = CliRunner().invoke(cli, ["reproduce", "--quick", "--out", str(tmp_path)])
    assert done.exit_code == 1
    assert "did not write" in done.stderr


def test_ctrl_c_keeps_the_finished_sections(monkeypatch, tmp_path):
    def sections(*_):
        yield Section("Finished")
        signal.raise_signal(signal.SIGINT)
        yield Section("Never reached")

    monkeypatch.setattr(own_draws, "sections", sections)
    done = CliRunner().invoke(cli, ["reproduce", "--out", str(tmp_path / "page")])
    assert done.exit_code == 130
    page = (tmp_path / "page" / "reproduction.md").read_text(encoding="utf-8")
    assert "## Finished" in page
    assert "Interrupted" in page
    assert "Never reached" not in page


def test_a_section_computed_after_ctrl_c_is_not_shown(monkeypatch, tmp_path):
    def sections(*_):
        yield Section("Finished")
        try:  # as the sampler does, which returns the draws it has
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            yield Section("From half the draws")

    monkeypatch.setattr(own_draws, "sections", sections)
    done = CliRunner().invoke(cli, ["reproduce", "--out", str(tmp_path / "page")])
    assert done.exit_code == 130
    assert "From half the draws" not in done.stdout


def test_as_many_draws_as_in_the_paper():
    whole = FULL
    assert whole.draws * whole.chains == 10_000
    assert whole.burn_in == 1_000


def test_the_same_seed_gives_the_same_experiment_for_any_number_of_threads():
    found = []
    for jobs in (1, 2):
        quickly = replace(QUICK, seed=5, n_jobs=jobs)
        experiment = run(simulated(2, 40, quickly, 0), quickly, 3)
        found.append({kind: experiment.row(kind, jobs) for kind in experiment.estimates})
    assert found[0] == found[1]
    other = simulated(2, 40, replace(QUICK, seed=6), 0)
    assert not np.array_equal(other.values, experiment.data.values)
    assert not np.array_equal(simulated(2, 40, quickly, 1).values, experiment.data.values)


def test_unbalanced_clusters_have_their_sizes_and_centres():
    data = unbalanced_data(3.0, np.random.default_rng(0))
    assert pt.cluster_sizes(data.truth).tolist() == list(SIZES)
    centres = np.array([data.values[data.truth == k].mean(axis=0) for k in range(4)])
    np.testing.assert_allclose(np.abs(centres), 3.0, atol=1.0)
    assert len({tuple(np.sign(centre)) for centre in centres}) == 4


def test_help_says_what_the_list_of_commands_says():
    command = cli.get_command(None, "reproduce")
    assert command.short_help == COMMANDS["reproduce"]
    for line in re.findall(r"\$ partita reproduce (.+)", command.epilog):
        command.make_context("reproduce", line.split())  # wrong usage would raise
