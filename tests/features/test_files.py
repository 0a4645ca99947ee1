"""Feature draws from files and to files, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from feature_cases import f5
from partita.errors import FileFormatError, InvalidInputError, UnknownNameError


def test_npz_keeps_everything(tmp_path):
    draws = f5(weights=[1, 2, 3, 4, 5], chain=list("aabbb"), item_names="wxyz")
    pt.write_features(draws, tmp_path / "own.npz")
    assert pt.read_features(tmp_path / "own.npz") == draws
    with pytest.raises(FileExistsError):
        pt.write_features(draws, tmp_path / "own.npz")
    runs = f5(kind="ensemble")
    pt.write_features(runs, tmp_path / "runs.npz")
    assert pt.read_features(tmp_path / "runs.npz") == runs
    with pytest.raises(InvalidInputError, match="read_features reads them"):
        pt.read_draws(tmp_path / "own.npz")


def test_a_cube_in_npz_and_damaged_files(tmp_path):
    cube = np.zeros((5, 4, 3), np.int8)
    for m in range(5):
        cube[m, :, : f5().n_features[m]] = f5()[m]
    np.savez(tmp_path / "cube.npz", allocations=cube, n_features=f5().n_features)
    assert pt.read_features(tmp_path / "cube.npz") == f5()
    assert pt.read_features(tmp_path / "cube.npz", var_name="allocations") == f5()
    with pytest.raises(InvalidInputError, match="no array 'z'"):
        pt.read_features(tmp_path / "cube.npz", var_name="z")
    forged = {"columns": f5().columns | np.uint64(1), "offsets": f5().offsets, "n_items": 4}
    np.savez(tmp_path / "forged.npz", **forged)
    (tmp_path / "short.npz").write_bytes((tmp_path / "cube.npz").read_bytes()[:200])
    with pytest.raises(FileNotFoundError):
        pt.read_features(tmp_path / "missing.npz")
    for name in ("forged.npz", "short.npz"):
        with pytest.raises(FileFormatError):
            pt.read_features(tmp_path / name)
    with pytest.raises(UnknownNameError, match="suffix"):
        pt.read_features(tmp_path / "draws.xlsx")


def test_a_long_table_goes_there_and_back(tmp_path):
    draws = pt.FeatureDraws.from_sets(
        [[{"a", "b"}, {"b"}], [], [{"c"}]], item_names="abc", chain=["x", "x", "y"]
    )
    pt.write_features(draws, tmp_path / "long.csv")
    assert pt.read_features(tmp_path / "long.csv") == draws
    bad = tmp_path / "bad.csv"
    bad.write_text("draw,feature,item\n1,1,a\n1,,b\n")
    with pytest.raises(FileFormatError, match="row 3 lacks"):
        pt.read_features(bad)
    bad.write_text("draw,item\n1,1\n")
    with pytest.raises(FileFormatError, match="expected a header"):
        pt.read_features(bad)


def test_lists_of_matrices_in_files_of_r(tmp_path):
    rdata = pytest.importorskip("rdata")
    matrices = [f5()[m].astype(np.int32) for m in range(5)]
    rdata.write_rds(tmp_path / "list.rds", matrices)
    assert pt.read_features(tmp_path / "list.rds") == f5()
    rdata.write_rda(tmp_path / "two.RData", {"samples": matrices, "alpha": np.array([1.0])})
    assert pt.read_features(tmp_path / "two.RData") == f5()
    assert pt.read_features(tmp_path / "two.RData", var_name="samples") == f5()
    with pytest.raises(InvalidInputError, match="one list of matrices"):
        pt.read_features(tmp_path / "two.RData", var_name="alpha")


def test_as_draws_says_what_to_call():
    with pytest.raises(InvalidInputError, match="FeatureDraws"):
        pt.as_draws([f5()[0], f5()[4]])
    xarray = pytest.importorskip("xarray")
    cube = xarray.DataArray(np.zeros((2, 3, 2), int), dims=("draw", "item", "feature"))
    with pytest.raises(InvalidInputError, match="FeatureDraws"):
        pt.as_draws(cube)
    with pytest.raises(Exception, match="feature"):
        pt.as_draws(f5())
