"""A directory that cannot be written to: an error of ours before the work, and nothing is left."""

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import partita as pt
from partita.cli.options import cli
from partita.errors import PartitaError

NOBODY = 65_534
RNG = np.random.default_rng(0)
TRUTH = np.repeat([0, 1, 2], 3)
LABELS = np.where(RNG.random((40, 9)) < 0.15, RNG.integers(0, 3, (40, 9)), TRUTH)
DRAWS = pt.Draws(LABELS, item_names=list("abcdefghi"))
FEATURES = pt.FeatureDraws((RNG.random((20, 9, 2)) < 0.4).astype(int))
DATA = pd.DataFrame({"x": 4.0 * TRUTH + RNG.normal(size=9)})
RUN = {"draws": 10, "burn_in": 2, "chains": 2, "rng": 0, "n_jobs": 1, "progress": False}


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


@pytest.fixture(scope="module")
def made():
    fit = pt.sample(DATA, **RUN)
    return {"summary": pt.summarize(DRAWS), "features": pt.summarize(FEATURES), "fit": fit}


WRITERS = {
    **{
        f"draws.{suffix}": lambda place, made, suffix=suffix: pt.write_draws(
            pt.Draws(LABELS), place / f"draws.{suffix}"
        )
        for suffix in (
            *("csv", "csv.gz", "tsv", "npy", "npz", "parquet"),
            *("nc", "zarr", "rds", "RData"),
        )
    },
    **{
        f"features.{suffix}": lambda place, made, suffix=suffix: pt.write_features(
            FEATURES, place / f"features.{suffix}"
        )
        for suffix in ("npz", "csv", "tsv")
    },
    **{
        f"{kind}.{method}": lambda place, made, kind=kind, method=method: getattr(
            made[kind], method
        )(place / f"{kind}.{method}.npz")
        for kind in ("summary", "features")
        for method in ("save", "to_json", "to_html")
    },
    "fit.save": lambda place, made: made["fit"].save(place / "fit.npz"),
    "checkpoint": lambda place, made: pt.sample(DATA, **RUN, checkpoint=place / "run.npz"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_refuses_a_read_only_directory(name, read_only, made, tmp_path):
    WRITERS[name](tmp_path, made)
    assert os.listdir(tmp_path)
    with unprivileged(), pytest.raises(PartitaError) as raised:
        WRITERS[name](read_only, made)
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
        DATA.to_csv(files / "data.csv", index=False)
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
