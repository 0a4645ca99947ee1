"""Outputs are whole files of fixed names, replaced only with ``--force``; all else stays."""

import os
import shutil
import sys

import pytest
import zarr

import partita as pt
from cli.conftest import start
from partita import _files
from partita.cli import outputs

FILES = {
    *("labels.csv", "bounds.csv", "items.csv", "clusters.csv"),
    *("summary.json", "summary.txt"),
}


def contents(place):
    files = (p for p in place.rglob("*") if p.is_file())
    return {p.relative_to(place).as_posix(): p.read_bytes() for p in files}


@pytest.fixture
def run(place, partita):
    """A directory with results, the draws they came from and files of the user's."""
    (place / "run" / "figures").mkdir(parents=True)
    (place / "run" / "figures" / "mine.svg").write_text("drawn by hand")
    (place / "run" / "thesis.tex").write_text("years of work")
    shutil.copy("draws.npz", "run/draws.npz")
    partita("summarize", "run/draws.npz", "--out", "run")
    return place / "run"


def test_what_exists_is_replaced_only_with_force(run, partita):
    before = contents(run)
    assert before.keys() == FILES | {"figures/mine.svg", "thesis.tex", "draws.npz"}
    refused = partita("summarize", "chain1.csv", "--out", "run", code=1)
    assert "run/labels.csv exists already. Pass --force" in refused.stderr
    assert contents(run) == before
    partita("summarize", "chain1.csv", "--out", "run", "--force")
    after = contents(run)
    assert after.keys() == before.keys()
    assert {name for name in after if after[name] != before[name]} <= FILES
    assert after["summary.json"] != before["summary.json"]


def test_one_file_that_exists_is_enough(place, partita):
    (place / "run" / "figures").mkdir(parents=True)
    (place / "run" / "figures" / "ball.svg").write_text("drawn by hand")
    call = ("summarize", "no such file.csv", "--out", "run", "--figures", "svg")
    assert "figures/ball.svg exists already" in partita(*call, code=1).stderr  # before any work
    assert os.listdir("run") == ["figures"]


def test_an_input_is_not_written_over(place, partita, run):
    before = contents(place)
    for words in (
        ["summarize", "draws.csv", "--report", "draws.csv"],
        ["convert", "draws.csv", "draws.csv"],
        ["compare", "labels.csv:cluster", "truth.csv", "--out", "labels.csv"],
        ["core", "draws.csv", "--out", "draws.csv"],
        ["summarize", "draws.csv", "--weights", "run/labels.csv", "--out", "run"],
        ["summarize", "draws.csv", "--data", "run/items.csv", "--out", "run"],
    ):
        result = partita(*words, "--force", code=1)
        assert "is read by this command" in result.stderr, words
    assert contents(place) == before


def test_two_processes_may_write_one_directory(place, partita):
    """Each file is that of one of the two runs, whole."""
    alone = {}
    for name in ("chain1", "chain2"):
        partita("summarize", f"{name}.csv", "--out", f"of {name}")
        alone[name] = contents(place / f"of {name}")
    for _ in range(2):
        both = [start("summarize", f"{n}.csv", "--out", "run", "--force") for n in alone]
        ends = [process.communicate(timeout=120) for process in both]
        assert [process.returncode for process in both] == [0, 0], ends
        for name, content in contents(place / "run").items():
            if name not in ("summary.json", "summary.txt"):  # these hold times
                assert content in [each[name] for each in alone.values()], name
            else:
                assert content.rstrip().endswith((b"}", b".")), name


def test_a_store_is_replaced_only_if_it_is_ours(place, partita):
    (place / "photos.zarr").mkdir()
    (place / "photos.zarr" / "holiday.jpg").write_text("")
    zarr.open_group("other.zarr", mode="w").create_array("x", shape=(3,), dtype="i4")[:] = 7
    partita("convert", "draws.csv", "ours.zarr")
    shutil.copytree("ours.zarr", "more.zarr")
    (place / "more.zarr" / "notes.txt").write_text("mine")
    for name in ("photos.zarr", "other.zarr", "more.zarr"):
        before = contents(place / name)
        result = partita("convert", "draws.npz", name, "--force", code=1)
        assert "is a directory that partita did not write" in result.stderr
        assert contents(place / name) == before
    partita("convert", "chain1.csv", "ours.zarr", "--force")
    assert pt.read_draws("ours.zarr") == pt.read_draws("chain1.csv")
    result = partita("convert", "ours.zarr", "ours.zarr", "--force", code=1)
    assert "is read by this command" in result.stderr


def leave(folder, name, process):
    path = folder / f".{name}-{_files._HOST}-{process}-0123abcd.tmp.npz"
    path.write_text("half")
    return path


def test_what_a_killed_run_left_is_removed_at_the_next_start(tmp_path):
    dead = leave(tmp_path, "d", 2**22 + 1)  # above the largest process id
    alive = leave(tmp_path, "d", os.getpid())
    other = leave(tmp_path, "e", 2**22 + 1)
    pt.write_draws([[0, 0]], tmp_path / "d.npz")
    assert not dead.exists()
    assert alive.exists()
    assert other.exists()


def test_a_store_stepped_aside_by_a_killed_run_comes_back(tmp_path):
    pt.write_draws([[0, 0]], tmp_path / "d.zarr")
    aside = tmp_path / f".d-{_files._HOST}-{2**22 + 1}-0123abcd.tmp.zarr.old"
    os.rename(tmp_path / "d.zarr", aside)
    with pytest.raises(_files.FileOverwriteError), _files.atomic_path(tmp_path / "d.zarr"):
        pass
    assert pt.read_draws(tmp_path / "d.zarr") == pt.Draws([[0, 0]])


def test_a_failure_leaves_nothing_behind(place, partita, monkeypatch):
    before = contents(place)

    def full(*_):
        raise OSError(28, "No space left on device", "clusters.csv")

    monkeypatch.setattr(outputs, "_write_clusters", full)
    result = partita("summarize", "draws.csv", "--out", "results", code=1)
    assert "results cannot be written: No space left on device. Free some space" in result.stderr
    assert "Estimate" in result.stdout  # what was computed is not thrown away
    assert contents(place) == before


def test_a_report_without_its_libraries_is_refused_early(place, partita, monkeypatch):
    monkeypatch.setattr(outputs, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "bokeh", None)
    result = partita("summarize", "no such file.csv", "--report", "report.html", code=1)
    assert 'pip install "partita[report]"' in result.stderr


def test_names_that_look_like_formulas_may_be_wanted_as_they_are(tmp_path, monkeypatch):
    """By default a spreadsheet finds none, as in test_hostile_names."""
    monkeypatch.setenv("PARTITA_RAW_CSV", "1")
    outputs.write_table(tmp_path / "t.csv", ("item",), [["=cmd|' /C calc'!A0"]])
    assert (tmp_path / "t.csv").read_text().splitlines()[1] == "=cmd|' /C calc'!A0"
