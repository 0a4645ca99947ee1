"""Atomic writing, overwriting only when asked, optional libraries, read-only directories.

Where nothing can be written, that is an error of ours before the work, and nothing is left.
"""

import importlib
import os
import signal
import stat
import tempfile
import warnings
import zipfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import partita as pt
from made import DATA, DRAWS, FEATURES, LABELS, RUN, TRUTH, made
from partita._files import atomic_path, write_text
from partita._imports import require
from partita.cli.options import cli
from partita.errors import MissingDependencyError, PartitaError, PartitaWarning


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

    with pytest.raises(FileExistsError):
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


def test_a_file_never_replaces_a_directory(tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(FileExistsError, match="directory"):
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


WRITERS = {
    **dict.fromkeys(
        (
            f"draws.{suffix}"
            for suffix in (
                *("csv", "csv.gz", "tsv", "npy", "npz", "parquet"),
                *("nc", "zarr", "rds", "RData"),
            )
        ),
        lambda path, **how: pt.write_draws(LABELS, path, **how),
    ),
    **dict.fromkeys(
        (f"features.{suffix}" for suffix in ("npz", "csv", "tsv")),
        lambda path, **how: pt.write_features(FEATURES, path, **how),
    ),
    **{
        f"{kind}.{method}": lambda path, kind=kind, method=method, **how: getattr(
            made(kind), method
        )(path, **how)
        for kind in ("Summary", "FeatureSummary")
        for method in ("save", "to_json", "to_html")
    },
    "Fit.save": lambda path, **how: made("Fit").save(path, **how),
}


@pytest.mark.parametrize("name", WRITERS)
def test_what_exists_is_replaced_only_when_asked(name, tmp_path):
    path = tmp_path / name

    def content():
        return path.read_bytes() if path.is_file() else pt.read_draws(path).n_draws

    if name == "draws.zarr":  # which a file is not replaced by
        pt.write_draws(LABELS[:3], path)
    else:
        path.write_text("theirs")
    before = content()
    with pytest.raises(FileExistsError, match="overwrite=True"):
        WRITERS[name](path)
    assert content() == before
    WRITERS[name](path, overwrite=True)
    assert content() != before


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


NOBODY = 65_534


@contextmanager
def unprivileged():
    """For root no directory is read-only, so that it becomes nobody."""
    if os.getuid() != 0:
        yield
        return
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.fixture(scope="module")
def read_only():
    if not hasattr(os, "setresuid"):
        pytest.skip("rights of directories are POSIX's")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "read-only"
        place.mkdir()
        os.chmod(name, 0o755)
        place.chmod(0o555)
        with unprivileged():
            if not os.access(place, os.R_OK):
                pytest.skip("the temporary directory is private")
            if os.access(place, os.W_OK):
                pytest.skip("rights of directories do not bind here")
        yield place
        place.chmod(0o755)


@pytest.mark.parametrize("name", [*WRITERS, "checkpoint"])
def test_every_writer_refuses_a_read_only_directory(name, read_only, tmp_path):
    def checkpoint(path):
        pt.sample(DATA, **RUN, checkpoint=path)

    write = WRITERS.get(name, checkpoint)
    write(tmp_path / name)
    with unprivileged(), pytest.raises(PartitaError) as raised:
        write(read_only / name)
    assert isinstance(raised.value, OSError)
    assert str(read_only) in str(raised.value)
    assert os.listdir(read_only) == []


COMMANDS = (
    "summarize {files}/draws.csv --out {place}/out",
    "summarize {files}/draws.csv --out {place}",
    "summarize {files}/draws.csv --report {place}/report.html",
    "summarize {files}/features.npz --features --out {place}",
    "fit {files}/data.csv --out {place}/out",
    "fit {files}/data.csv --out {place}",
    "fit {files}/data.csv --out {files}/out --report {place}/report.html",
    "fit {files}/data.csv --out {files}/out --checkpoint {place}/run.npz",
    "demo galaxies --out {place}/demo",
    "representatives {files}/draws.csv --out {place}/table.csv",
    "core {files}/draws.csv --out {place}/table.csv",
    "path {files}/draws.csv --out {place}/table.csv",
    "compare {files}/labels.csv {files}/labels.csv --out {place}/table.csv",
    "convert {files}/draws.csv {place}/draws.npz",
    "convert {files}/draws.csv {place}/draws.zarr",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_a_read_only_directory(command, read_only, monkeypatch):
    """Before the work: whoever waited for a sampler would lose its draws."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        files = Path(name)
        pt.write_draws(DRAWS, files / "draws.csv")
        pt.write_features(FEATURES, files / "features.npz")
        np.savetxt(files / "data.csv", DATA, header="x", comments="")
        (files / "labels.csv").write_text("cluster\n" + "\n".join(map(str, TRUTH)) + "\n")
        monkeypatch.setattr("partita.samplers.sample.sample", None)
        monkeypatch.setattr("partita.summary.summarize.estimate_of", None)
        before = sorted(os.listdir(files))
        words = [word.format(files=files, place=read_only) for word in command.split()]
        with unprivileged():
            done = CliRunner().invoke(cli, words)
        assert done.exit_code == 1, done.output
        assert "report" not in done.output.replace("report.html", ""), done.output
        assert str(read_only) in done.output
        assert os.listdir(read_only) == []
        assert sorted(os.listdir(files)) == before


def test_a_directory_that_exists_needs_no_right_beside_it(read_only):
    """Files go into ``--out``; what it lies in may be read-only."""
    read_only.chmod(0o755)
    inside = read_only / "out"
    inside.mkdir()
    inside.chmod(0o777)
    read_only.chmod(0o555)
    try:
        pt.write_draws(DRAWS, inside / "draws.csv")
        os.chmod(inside / "draws.csv", 0o644)
        with unprivileged():
            words = ["summarize", str(inside / "draws.csv"), "--out", str(inside)]
            done = CliRunner().invoke(cli, words)
        assert done.exit_code == 0, done.output
        assert (inside / "labels.csv").exists()
    finally:
        read_only.chmod(0o755)
        for file in inside.iterdir():
            file.unlink()
        inside.rmdir()
        read_only.chmod(0o555)


def test_a_warning_that_is_an_error_is_not_a_damaged_file(tmp_path):
    path = tmp_path / "items.csv"
    names = ["anna", "bela", "carl", "dora", "emil", "fritz", "gerd", "hans", "ida", "jon", "kai"]
    path.write_text(",d1,d2\n" + "".join(f"{name},1,2\n" for name in names))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PartitaWarning)
        with pytest.raises(PartitaWarning, match="transpose=True"):
            pt.read_draws(path)
