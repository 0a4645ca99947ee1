"""Every bad file has an error of its own that says what to do."""

import io
import os

import numpy as np
import pytest

import partita as pt
from partita._files import FileAccessError, FileMissingError
from partita.errors import (
    FileFormatError,
    InvalidInputError,
    InvalidLabelsError,
    UnknownNameError,
)

FORMATS = ["csv", "csv.gz", "tsv", "npy", "npz", "parquet", "nc", "rds", "RData"]
rng = np.random.default_rng(0)


# ------------------------------------------------------------------------- any format
# Damaged, cut and forged files of every format are in tests/fuzz.


@pytest.mark.parametrize("suffix", FORMATS)
def test_no_file_an_empty_file_and_a_directory(suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    with pytest.raises(FileMissingError, match="does not exist") as caught:
        pt.read_draws(path)
    assert isinstance(caught.value, FileNotFoundError)
    path.touch()
    with pytest.raises(FileFormatError, match="is empty"):
        pt.read_draws(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(FileAccessError, match="is a directory"):
        pt.read_draws(path)


def test_no_permission(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("1,1\n")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(FileAccessError, match="permission denied"):
        pt.read_draws(path)


def test_unknown_suffix_and_format(tmp_path):
    for name in ("a.xlsx", "a"):
        with pytest.raises(UnknownNameError, match=r"\.csv.*format="):
            pt.read_draws(tmp_path / name)
        with pytest.raises(UnknownNameError):
            pt.write_draws([[0]], tmp_path / name)
    with pytest.raises(UnknownNameError, match="format 'excel' is unknown"):
        pt.read_draws(tmp_path / "a.csv", format="excel")


def test_options_of_text_elsewhere(tmp_path):
    np.save(tmp_path / "a.npy", [[0, 1]])
    with pytest.raises(InvalidInputError, match="header, sep has a meaning for text"):
        pt.read_draws(tmp_path / "a.npy", header=True, sep=";")


# ------------------------------------------------------------------------- NumPy


def test_objects_are_said_to_be_pickled(tmp_path):
    """That no code runs, tests/fuzz shows."""
    np.save(tmp_path / "a.npy", np.array([["a", 1]], object))
    with pytest.raises(FileFormatError, match="pickled Python objects"):
        pt.read_draws(tmp_path / "a.npy")


def test_npy(tmp_path):
    labels = rng.integers(0, 10, (40, 6))
    for values in (labels, np.asfortranarray(labels), labels.astype(">i2"), labels.astype("f4")):
        np.save(tmp_path / "a.npy", values)
        assert pt.read_draws(tmp_path / "a.npy") == pt.Draws(labels)
    np.save(tmp_path / "a.npy", labels.T)
    assert pt.read_draws(tmp_path / "a.npy", transpose=True) == pt.Draws(labels)
    np.save(tmp_path / "a.npy", labels.reshape(2, 20, 6))
    assert pt.read_draws(tmp_path / "a.npy").n_chains == 2
    with pytest.raises(InvalidInputError, match="no variables"):
        pt.read_draws(tmp_path / "a.npy", var_name="x")


def test_npz(tmp_path, monkeypatch):
    labels = rng.integers(0, 10, (40, 6))
    monkeypatch.setattr("partita.io.draws_table.BLOCK_LABELS", 50)
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", x=labels, y=labels[0])
        assert pt.read_draws(tmp_path / "a.npz") == pt.Draws(labels)
        save(tmp_path / "a.npz", labels=np.asfortranarray(labels), other=labels)
        assert pt.read_draws(tmp_path / "a.npz") == pt.Draws(labels)
    np.savez(tmp_path / "a.npz", x=labels.T, y=labels)
    with pytest.raises(InvalidInputError, match=r"x \(6, 40\), y \(40, 6\)"):
        pt.read_draws(tmp_path / "a.npz")
    assert pt.read_draws(tmp_path / "a.npz", var_name="x", transpose=True) == pt.Draws(labels)
    with pytest.raises(InvalidInputError, match=r"'q' is not among .*: x"):
        pt.read_draws(tmp_path / "a.npz", var_name="q")


# ------------------------------------------------------------------------- text


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("1,1\n2,2\n3\n", FileFormatError, "line 3: only 1 cells, where earlier rows have 2"),
        ("a,b\n1,1\n\n1,2,3\n", FileFormatError, "line 4: more than 2 cells"),
        ("1,1\n2,\n", InvalidLabelsError, "line 2, column 2: the label is missing"),
        ("1,1\n2,NA\n", InvalidLabelsError, "line 2, column 2: 'NA' stands for a missing label"),
        ("1,1\n2.5,2\n", InvalidLabelsError, r"column 1: '2\.5' is not a whole number"),
        ("1,0.5\n0.5,1\n", InvalidLabelsError, r"'0\.5' is not .*posterior similarity matrix"),
        ("1,1\n2,x\n", InvalidLabelsError, r"'x' is not a whole number.*strings=True"),
        ("1,1\n2,12345678901234567890\n", InvalidLabelsError, "too large for a label"),
        ("a,a\n1,1\n", InvalidInputError, "the name 'a' is the heading of several"),
        ('"a,b\n1,1\n', FileFormatError, "not closed"),
        (".chain,.weight\n1,1\n", InvalidLabelsError, "no items"),
        *(
            (f"{header}\n1,1,0\n", InvalidInputError, "would all be the same")
            for header in (".chain,.chain,a", ".weight,.weight,a", "Chain,.chain,a")
        ),
        ('.chain,a,b\n left",1,1\n"left",1,2\n', FileFormatError, "a quote inside a cell"),
        # A heading that was lost or changed is no item.
        (".cha n,.item1,.item2\n1,1,1\n", InvalidInputError, r"not \.item1, \.item2, … in order"),
        (".item1,.item3\n1,1\n1,2\n", InvalidInputError, "lost, moved or renamed"),
        ("lp__,z.1,z.2,w.1\n0.5,1,1,1\n", InvalidInputError, r"several variables .* 'z', 'w'"),
        ("lp__,x.1\n0.5,1.5\n", InvalidInputError, r"no variable of this table .*'x'"),
    ],
)
def test_bad_text(text, error, message):
    with pytest.raises(error, match=message):
        pt.read_draws(io.StringIO(text))
