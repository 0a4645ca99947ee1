"""Atomic writing, overwriting only when asked, optional libraries."""

import importlib
import os
import signal
import stat
import zipfile

import numpy as np
import pytest

import partita as pt
from partita._files import (
    FileOverwriteError,
    atomic_path,
    write_text,
)
from partita._imports import require
from partita.errors import MissingDependencyError


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_failure_leaves_the_old_file_and_nothing_else(tmp_path, error):
    target = tmp_path / "a.txt"
    target.write_text("old")

    def interrupted():
        with atomic_path(target, overwrite=True) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        interrupted()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_file_that_appears_meanwhile_is_kept(tmp_path):
    target = tmp_path / "a.txt"

    def raced():
        with atomic_path(target) as temporary:
            temporary.write_text("mine")
            target.write_text("theirs")

    with pytest.raises(FileOverwriteError):
        raced()
    assert target.read_text() == "theirs"


def test_suffix_is_last_and_mode_is_kept(tmp_path):
    target = tmp_path / "a.npy"
    target.write_bytes(b"")
    target.chmod(0o640)
    with atomic_path(target, overwrite=True) as temporary:
        assert temporary.suffix == ".npy"
        temporary.write_bytes(b"x")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_directories_are_replaced_whole(tmp_path):
    target = tmp_path / "a.zarr"
    for content in ("one", "two"):
        with atomic_path(target, overwrite=True, replaceable=lambda _: True) as temporary:
            temporary.mkdir()
            (temporary / content).write_text("")
        assert os.listdir(target) == [content]
    assert os.listdir(tmp_path) == ["a.zarr"]


def test_a_file_never_replaces_a_directory(tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(FileOverwriteError, match="directory"):
        write_text(tmp_path / "out", "x", overwrite=True)


def test_symbolic_links_are_followed(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_text(tmp_path / "link.txt", "new", overwrite=True)
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_require_tells_a_broken_library_from_a_missing_one(monkeypatch):
    def broken(name):
        raise ImportError("libfoo.so: cannot open")

    monkeypatch.setattr(importlib, "import_module", broken)
    with pytest.raises(MissingDependencyError, match=r"fails to import \(libfoo.so"):
        require("pyarrow", extra="parquet", purpose="reading")


# ------------------------------------------------------------ one rule for everything that writes


ONE, OTHER = np.array([[0, 0, 1], [0, 1, 1]]), np.array([[0, 0, 0], [0, 1, 1]])


def summary(labels):
    return pt.summarize(labels, progress=False)


WRITERS = {
    "summary.npz": lambda labels, path, **how: summary(labels).save(path, **how),
    "summary.json": lambda labels, path, **how: summary(labels).to_json(path, **how),
    "report.html": lambda labels, path, **how: summary(labels).to_html(path, **how),
    **dict.fromkeys(
        ("draws.npz", "draws.zarr", "draws.csv", "draws.npy", "draws.csv.gz"), pt.write_draws
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_exists_is_replaced_only_when_asked(name, tmp_path):
    path = tmp_path / name

    def content():
        return path.read_bytes() if path.is_file() else pt.read_draws(path).labels.tobytes()

    WRITERS[name](ONE, path)
    first = content()
    for labels in (ONE, OTHER):
        with pytest.raises(FileOverwriteError, match="overwrite=True"):
            WRITERS[name](labels, path)
        assert content() == first
    WRITERS[name](OTHER, path, overwrite=True)
    assert content() != first


@pytest.mark.skipif(os.name == "nt", reason="os.kill ends a process there")
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_while_an_entry_is_opened_stays_ctrl_c(tmp_path, monkeypatch):
    """Ctrl-C in zipfile would be hidden by a ValueError: there is an open handle."""
    real = zipfile.ZipFile.open

    def interrupted(self, *given, **named):
        handle = real(self, *given, **named)
        os.kill(os.getpid(), signal.SIGINT)
        return handle

    monkeypatch.setattr(zipfile.ZipFile, "open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pt.write_draws([[0, 1], [1, 1]], tmp_path / "draws.npz")
    assert list(tmp_path.iterdir()) == []
