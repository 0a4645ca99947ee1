"""The rule of overwriting: our own kind over our own kind, and what is there already."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from partita._files import FileOverwriteError

ONE, OTHER = np.array([[0, 0, 1], [0, 1, 1]]), np.array([[0, 0, 0], [0, 1, 1]])
DEEDS = {
    "summary.npz": lambda labels, path: pt.summarize(labels, progress=False).save(path),
    "summary.json": lambda labels, path: pt.summarize(labels, progress=False).to_json(path),
    "draws.npz": pt.write_draws,
    "draws.zarr": pt.write_draws,
    "report.html": lambda labels, path: pt.summarize(labels, progress=False).to_html(path),
}
"""What says inside that it is ours; fits are in the tests of fits."""


@pytest.mark.parametrize("name", DEEDS)
def test_a_cell_may_be_run_twice(name, tmp_path):
    path = tmp_path / name
    DEEDS[name](ONE, path)
    first = path.read_bytes() if path.is_file() else pt.read_draws(path)
    DEEDS[name](OTHER, path)
    assert (path.read_bytes() if path.is_file() else pt.read_draws(path)) != first


@pytest.mark.parametrize("name", DEEDS)
def test_another_kind_is_kept(name, tmp_path):
    """A user's own file, and a file of ours that is something else."""
    path = tmp_path / name
    if path.suffix == ".zarr":
        path.mkdir()
        (path / "mine.txt").write_text("mine")
    else:
        path.write_text("mine")
    with pytest.raises(FileOverwriteError):
        DEEDS[name](ONE, path)
    if path.is_dir():
        assert (path / "mine.txt").read_text() == "mine"
        return
    assert path.read_text() == "mine"
    path.unlink()
    other = next(other for other in DEEDS if other not in (name, "draws.zarr"))
    if other.endswith(".npz"):
        DEEDS[other](ONE, tmp_path / "other.npz")
        (tmp_path / "other.npz").rename(path)
    else:
        DEEDS[other](ONE, path)
    before = path.read_bytes()
    with pytest.raises(FileOverwriteError, match="overwrite=True"):
        DEEDS[name](ONE, path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("suffix", ["csv", "tsv", "npy", "csv.gz"])
def test_a_file_without_a_mark_is_replaced_by_its_equal_only(suffix, tmp_path):
    path = tmp_path / f"draws.{suffix}"
    pt.write_draws(ONE, path)
    pt.write_draws(ONE, path)
    with pytest.raises(FileOverwriteError, match="holds something else"):
        pt.write_draws(OTHER, path)
    assert pt.read_draws(path) == pt.Draws(ONE)


def test_marks_do_not_change_what_is_read(tmp_path):
    pt.write_draws(ONE, tmp_path / "draws.npz")
    assert pt.read_draws(tmp_path / "draws.npz") == pt.Draws(ONE)
    with np.load(tmp_path / "draws.npz") as archive:
        assert archive.files == ["labels"]
