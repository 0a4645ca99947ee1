"""``--force`` replaces what this command wrote, and never an input or a file of the user."""

from __future__ import annotations

import json
import os
import shutil

import pytest

import partita as pt
from partita import _files
from partita.cli import directories


@pytest.fixture
def run(place, partita):
    """A directory as ``fit`` leaves it, with a user's own figure."""
    results = partita("summarize", "draws.csv", "--out", "run")
    assert results.exit_code == 0, results.output
    shutil.copy("draws.npz", "run/draws.npz")
    (place / "run" / "figures").mkdir()
    (place / "run" / "figures" / "mine.svg").write_text("drawn by hand")
    return place / "run"


def contents(place):
    files = (p for p in place.rglob("*") if p.is_file())
    return {p.relative_to(place).as_posix(): p.read_bytes() for p in files}


def test_an_out_that_holds_an_input_is_refused(run, partita):
    before = contents(run)
    result = partita("summarize", "run/draws.npz", "--out", "run", "--force")
    assert result.exit_code == 1
    assert "holds draws.npz, which this command reads" in result.stderr
    assert contents(run) == before


def test_an_out_that_holds_the_data_is_refused(place, partita):
    (place / "proj").mkdir()
    shutil.copy("data.csv", "proj/data.csv")
    result = partita("fit", "proj/data.csv", "--out", "proj", "--force")
    assert result.exit_code == 1
    assert os.listdir("proj") == ["data.csv"]


@pytest.mark.parametrize("option", ["--data", "--weights"])
def test_every_file_that_is_read_is_an_input(option, run, partita):
    shutil.copy("data.csv", "run/x.csv")
    result = partita("summarize", "draws.csv", option, "run/x.csv", "--out", "run", "--force")
    assert "holds x.csv, which this command reads" in result.stderr


def test_an_input_is_not_written_over(place, partita):
    before = (place / "draws.csv").read_bytes()
    for words in (["summarize", "draws.csv", "--report"], ["convert", "draws.csv"]):
        result = partita(*words, "draws.csv", "--force")
        assert result.exit_code == 1
        assert "is read by this command" in result.stderr
    result = partita("compare", "labels.csv:cluster", "truth.csv", "--out", "labels.csv", "--force")
    assert "is read by this command" in result.stderr
    assert (place / "draws.csv").read_bytes() == before


def test_force_touches_only_what_the_command_wrote(run, partita):
    before = contents(run)
    result = partita("summarize", "chain1.csv", "--out", "run", "--force")
    assert result.exit_code == 0, result.output
    after = contents(run)
    assert after["draws.npz"] == before["draws.npz"]
    assert after["figures/mine.svg"] == b"drawn by hand"
    assert after["summary.json"] != before["summary.json"]
    assert after.keys() == before.keys()


def test_its_own_files_of_an_earlier_run_are_removed(place, partita):
    partita("summarize", "draws.csv", "--out", "r", "--similarity", "csv", "--figures", "svg")
    (place / "r" / "figures" / "mine.svg").write_text("drawn by hand")
    assert partita("summarize", "chain1.csv", "--out", "r", "--force").exit_code == 0
    assert "similarity.csv" not in os.listdir("r")
    assert os.listdir("r/figures") == ["mine.svg"]


def test_a_file_of_the_user_under_one_of_our_names_is_not_replaced(run, partita):
    (run / "similarity.csv").write_text("mine")
    before = contents(run)
    result = partita("summarize", "chain1.csv", "--out", "run", "--force", "--similarity", "csv")
    assert result.exit_code == 1
    assert "similarity.csv was not written by partita" in result.stderr
    assert contents(run) == before


def test_a_forged_list_reaches_nothing_outside(run, partita):
    outside = run.parent / "thesis.tex"
    outside.write_text("years of work")
    (run / "away").symlink_to(run.parent)
    names = ["../thesis.tex", str(outside), "away/thesis.tex", "labels.csv"]
    (run / directories.LIST).write_text(json.dumps({"summarize": names}))
    for name in ("bounds.csv", "items.csv", "clusters.csv", "summary.json", "summary.txt"):
        (run / name).unlink()
    assert partita("summarize", "chain1.csv", "--out", "run", "--force").exit_code == 0
    assert outside.read_text() == "years of work"


def test_a_store_is_replaced_only_if_it_is_ours(place, partita):
    import zarr

    (place / "photos.zarr").mkdir()
    (place / "photos.zarr" / "holiday.jpg").write_text("")
    zarr.open_group("other.zarr", mode="w").create_array("x", shape=(3,), dtype="i4")[:] = 7
    assert partita("convert", "draws.csv", "ours.zarr").exit_code == 0
    shutil.copytree("ours.zarr", "more.zarr")
    (place / "more.zarr" / "notes.txt").write_text("mine")
    for name in ("photos.zarr", "other.zarr", "more.zarr"):
        before = contents(place / name)
        result = partita("convert", "draws.npz", name, "--force")
        assert result.exit_code == 1
        assert "is a directory that partita did not write" in result.stderr
        assert contents(place / name) == before
    assert partita("convert", "chain1.csv", "ours.zarr", "--force").exit_code == 0
    assert pt.read_draws("ours.zarr") == pt.read_draws("chain1.csv")
    result = partita("convert", "ours.zarr", "ours.zarr", "--force")
    assert result.exit_code == 1
    assert "is read by this command" in result.stderr


# ------------------------------------------------------------------------ killed runs


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
