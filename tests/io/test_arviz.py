"""xarray and ArviZ, in memory and on disk, by dimension name."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from arviz_base import from_dict

import partita as pt
from partita.errors import InvalidInputError

OLD_FILE = Path(__file__).parent / "data" / "arviz_0_23.nc"
Z = np.array(
    [[[1, 1, 2, 2], [1, 2, 2, 2], [3, 3, 3, 3]], [[2, 2, 1, 1], [1, 2, 3, 4], [4, 4, 4, 1]]]
)
GENES = ["g1", "g2", "g3", "g4"]
EXPECTED = pt.as_draws(Z)
NAMED = pt.Draws(Z.reshape(6, 4), chain=[0, 0, 0, 1, 1, 1], item_names=GENES)


def tree(**more):
    return from_dict({"posterior": {"z": Z, "mu": np.full((2, 3, 2), 0.5), **more}})


def test_datatree():
    assert pt.as_draws(tree()) == EXPECTED
    assert pt.as_draws(tree(), var_name="z") == EXPECTED
    named = from_dict({"posterior": {"z": Z}}, coords={"gene": GENES}, dims={"z": ["gene"]})
    assert pt.as_draws(named) == NAMED


def test_dataset_and_array():
    dataset = tree()["posterior"].dataset
    assert pt.as_draws(dataset) == EXPECTED
    assert pt.as_draws(dataset["z"]) == EXPECTED
    assert pt.as_draws(dataset["z"].transpose("z_dim_0", "draw", "chain")) == EXPECTED
    assert pt.as_draws(dataset["z"].astype(float), var_name="z") == EXPECTED
    stacked = dataset["z"].stack(sample=("chain", "draw"))
    assert stacked.dims == ("z_dim_0", "sample")
    assert pt.as_draws(stacked) == EXPECTED
    plain = xr.DataArray(Z[0], dims=["draw", "item"])
    assert pt.as_draws(plain) == pt.Draws(Z[0])
    assert pt.as_draws(plain.T) == pt.Draws(Z[0])
    assert pt.as_draws(plain, weights=[1, 2, 3]).weights is not None


def test_items_are_named_unless_counted():
    array = xr.DataArray(Z[0], dims=["draw", "i"], coords={"i": [10, 11, 12, 13]})
    assert pt.as_draws(array).item_names == ("10", "11", "12", "13")
    assert pt.as_draws(array.assign_coords(i=range(4))).item_names is None


def test_inference_data():
    if importlib.util.find_spec("arviz") is None:
        pytest.skip("arviz 0.x is not installed; its files are read in the tests below")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz
    if arviz.__version__ >= "1" or not hasattr(arviz, "InferenceData"):
        pytest.skip("arviz 1.x has no InferenceData; DataTree is tested above")
    old = arviz.from_dict(posterior={"z": Z, "mu": np.full((2, 3, 2), 0.5)})
    assert type(old).__name__ == "InferenceData"
    assert pt.as_draws(old) == EXPECTED
    assert pt.as_draws(arviz.extract(old, var_names="z")) == EXPECTED
    assert pt.as_draws(arviz.extract(old)) == EXPECTED
    with pytest.raises(InvalidInputError, match="no group 'posterior'; the groups are prior"):
        pt.as_draws(arviz.from_dict(prior={"z": Z}))


def test_file_of_arviz_0_23():
    assert pt.read_draws(OLD_FILE) == NAMED
    assert pt.as_draws(OLD_FILE, var_name="z") == NAMED


def test_files_of_arviz_1(tmp_path):
    tree().to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zarr on its own metadata
        tree().to_zarr(tmp_path / "a.zarr")
    assert pt.read_draws(tmp_path / "a.nc") == EXPECTED
    assert pt.read_draws(tmp_path / "a.zarr") == EXPECTED


def test_dataset_without_groups(tmp_path):
    tree()["posterior"].to_dataset().to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    assert pt.read_draws(tmp_path / "a.nc") == EXPECTED


def test_what_is_written_has_the_layout_of_arviz(tmp_path):
    draws = pt.as_draws(NAMED, weights=[1, 1, 2, 2, 1, 1])
    pt.write_draws(draws, tmp_path / "a.nc")
    with xr.open_datatree(tmp_path / "a.nc", engine="h5netcdf") as found:
        assert found["posterior"]["labels"].dims == ("chain", "draw", "item")
        assert found["posterior"]["labels"].dtype == np.uint8
        assert found["sample_stats"]["weight"].shape == (2, 3)
        assert pt.as_draws(found) == draws


# ------------------------------------------------------------------------- bad input


def test_the_variable_must_be_clear():
    with pytest.raises(InvalidInputError, match=r"several variables .*var_name.*: z, w"):
        pt.as_draws(tree(w=Z))
    with pytest.raises(InvalidInputError, match=r"'q' is not among .*: z, mu"):
        pt.as_draws(tree(), var_name="q")
    with pytest.raises(InvalidInputError, match="no group 'posterior'; the groups are prior"):
        pt.as_draws(from_dict({"prior": {"z": Z}}))


def test_the_dimensions_must_be_named():
    with pytest.raises(InvalidInputError, match=r"dimensions are \(a, b\).*rename"):
        pt.as_draws(xr.DataArray(Z[0], dims=["a", "b"]))
    with pytest.raises(InvalidInputError, match=r"dimensions are \(chain, draw, i, j\)"):
        pt.as_draws(xr.DataArray(Z[..., None], dims=["chain", "draw", "i", "j"]))
