"""ArviZ and xarray, of both generations: summaries, fits and files, in memory and on disk."""

import importlib.util
import warnings
from importlib.metadata import version
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr
from arviz_base import from_dict

import partita as pt
from partita.errors import InvalidInputError, NotSupportedError

DATA = Path(__file__).parents[1] / "io" / "data"
PYMC = DATA / "pymc_mixture.nc"
CMDSTAN = [DATA / f"cmdstan_mixture_{chain}.csv" for chain in (1, 2)]
GENES = [f"gene{i}" for i in range(30)]


def load_arviz():
    if importlib.util.find_spec("arviz") is None:
        pytest.skip("arviz is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on its own future
        import arviz
    return arviz


def is_old():
    """Whether the installed ArviZ is of the generation of InferenceData."""
    return int(version("arviz").partition(".")[0]) < 1


@pytest.fixture(params=["DataTree", "InferenceData"])
def posterior(request, labels):
    """An ArviZ object with labels z over (chain, draw, gene)."""
    z = labels.reshape(3, 100, 30)
    tree = from_dict({"posterior": {"z": z}}, coords={"gene": GENES}, dims={"z": ["gene"]})
    if request.param == "DataTree":
        return tree
    arviz = load_arviz()
    if not is_old():
        pytest.skip("arviz 1.x has no InferenceData")
    return arviz.from_datatree(tree)


def check_group(group, summary):
    np.testing.assert_array_equal(group["labels"], summary.labels)
    np.testing.assert_array_equal(group["probability"], summary.items.probability)
    np.testing.assert_array_equal(group["placement"], summary.items.placement[:, :-1])
    np.testing.assert_array_equal(group["cluster_size"], summary.clusters.size)
    np.testing.assert_array_equal(group["n_clusters"], summary.counts.values)
    np.testing.assert_allclose(group["n_clusters_probability"].sum(), 1.0)
    for name, bound in summary.ball.bounds.items():
        np.testing.assert_array_equal(group[name], bound.labels)
        np.testing.assert_array_equal(group[f"{name}_mass"], bound.mass)
    assert group.attrs["ball_radius"] == summary.ball.radius
    assert group.attrs["expected_loss"] == summary.estimate.expected_loss
    assert group.attrs["sentence"] == summary.sentence
    assert all(text in group.attrs["warnings"] for text in summary.diagnostics.warnings)


def test_attach_adds_a_group_in_place(posterior):
    summary = pt.summarize(pt.as_draws(posterior, var_name="z"))
    assert pt.arviz.attach(posterior, summary, item_dim="gene") is posterior
    group = posterior["partita"]
    check_group(group, summary)
    assert group["labels"].dims == ("gene",)
    assert group["gene"].values.tolist() == GENES
    # aligned with the posterior by name
    together = posterior["posterior"]["z"].where(group["labels"] == 0, drop=True)
    assert together.sizes["gene"] == summary.clusters.size[0]
    assert pt.as_draws(posterior, var_name="z") == summary.draws


def test_a_group_is_replaced_only_when_asked(posterior, labels):
    first, second = pt.summarize(labels[:100]), pt.summarize(labels)
    pt.arviz.attach(posterior, first)
    pt.arviz.attach(posterior, second, group="other")
    with pytest.raises(InvalidInputError, match=r"group 'partita' already.*overwrite=True"):
        pt.arviz.attach(posterior, second)
    check_group(posterior["partita"], first)
    pt.arviz.attach(posterior, second, overwrite=True)
    check_group(posterior["partita"], second)
    check_group(posterior["other"], second)


def test_the_group_survives_a_file(posterior, summary, tmp_path):
    pt.arviz.attach(posterior, summary)
    path = str(tmp_path / "a.nc")
    posterior.to_netcdf(path, engine="h5netcdf")
    with xr.open_datatree(path, engine="h5netcdf") as again:
        check_group(again["partita"], summary)
        assert pt.as_draws(again, var_name="z").n_draws == 300


def test_other_objects_are_refused(summary):
    with pytest.raises(NotSupportedError, match=r"attached to a Dataset; .*arviz\.to_dataset"):
        pt.arviz.attach(xr.Dataset(), summary)


def test_to_arviz_is_what_the_installed_arviz_takes():
    run = {"kernel": "empirical", "draws": 60, "burn_in": 40, "chains": 2, "rng": 0}
    fit = pt.sample(pt.datasets.galaxies(), **run)
    tree = fit.to_arviz()
    assert pt.as_draws(tree, var_name="labels") == fit.draws
    arviz = load_arviz()
    assert type(tree).__name__ == ("InferenceData" if is_old() else "DataTree")
    table = arviz.summary(tree, var_names=["n_clusters", "concentration"])
    assert list(table.index) == ["n_clusters", "concentration"]
    mean = fit.trace["n_clusters"].mean()
    assert float(table.loc["n_clusters", "mean"]) == pytest.approx(mean, abs=0.06)


def test_saved_posteriors_of_pymc_and_cmdstan():
    """The same draws in both layouts, as h5py reads them."""
    with h5py.File(PYMC) as file:
        expected = pt.as_draws(file["posterior/z"][:])
    assert pt.as_draws(PYMC, var_name="z") == expected
    stan = pt.read_draws(CMDSTAN, var_name="z")
    np.testing.assert_array_equal(stan.labels, expected.labels)
    assert stan.n_chains == 2


def test_a_saved_pymc_posterior_opened_by_arviz():
    arviz = load_arviz()
    options = {} if is_old() else {"engine": "h5netcdf"}
    idata = arviz.from_netcdf(str(PYMC), **options)
    draws = pt.as_draws(idata, var_name="z")
    np.testing.assert_array_equal(draws.labels, pt.read_draws(CMDSTAN, var_name="z").labels)
    summary = pt.summarize(draws)
    pt.arviz.attach(idata, summary, item_dim="obs_id")
    x = idata["observed_data"]["x"]
    means = x.groupby(idata["partita"]["labels"]).mean()
    assert means.sizes["labels"] == summary.n_clusters


def test_a_summary_takes_the_models_own_dimension(labels, summary):
    z, theta = labels.reshape(1, *labels.shape), np.zeros((1, *labels.shape))
    posterior = {"posterior": {"z": z, "theta": theta}}
    tree = from_dict(posterior, coords={"gene": GENES}, dims={"z": ["gene"], "theta": ["other"]})
    pt.arviz.attach(tree, summary)
    assert tree["partita"]["labels"].dims == ("gene",)  # the one of whole numbers
    assert tree["partita"]["labels"].coords["gene"].values.tolist() == GENES
    pt.arviz.attach(tree, summary, group="again", item_dim="row")
    assert tree["again"]["labels"].dims == ("row",)
    plain = from_dict({"posterior": {"mu": np.zeros((1, 300, 4))}})
    assert pt.arviz.attach(plain, summary)["partita"]["labels"].dims == ("item",)


def test_a_mixture_without_labels_names_the_way():
    """Weights, means and deviations, as PyMC's NormalMixture leaves them."""
    rng = np.random.default_rng(0)
    shape = {"posterior": {name: rng.random((2, 5, 3)) for name in ("w", "mu", "sigma")}}
    with pytest.raises(InvalidInputError, match="draws_from_memberships"):
        pt.as_draws(from_dict(shape))


OLD_FILE = DATA / "arviz_0_23.nc"
Z = np.array(
    [[[1, 1, 2, 2], [1, 2, 2, 2], [3, 3, 3, 3]], [[2, 2, 1, 1], [1, 2, 3, 4], [4, 4, 4, 1]]]
)
FOUR_GENES = ["g1", "g2", "g3", "g4"]
EXPECTED = pt.as_draws(Z)
NAMED = pt.Draws(Z.reshape(6, 4), chain=[0, 0, 0, 1, 1, 1], item_names=FOUR_GENES)


def tree(**more):
    return from_dict({"posterior": {"z": Z, "mu": np.full((2, 3, 2), 0.5), **more}})


def test_datatree():
    assert pt.as_draws(tree()) == EXPECTED
    assert pt.as_draws(tree(), var_name="z") == EXPECTED
    named = from_dict({"posterior": {"z": Z}}, coords={"gene": FOUR_GENES}, dims={"z": ["gene"]})
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
    arviz = load_arviz()
    if not is_old():
        pytest.skip("arviz 1.x has no InferenceData; DataTree is tested above")
    old = arviz.from_dict(posterior={"z": Z, "mu": np.full((2, 3, 2), 0.5)})
    assert type(old).__name__ == "InferenceData"
    assert pt.as_draws(old) == EXPECTED
    assert pt.as_draws(arviz.extract(old, var_names="z")) == EXPECTED
    assert pt.as_draws(arviz.extract(old)) == EXPECTED
    with pytest.raises(InvalidInputError, match="no group 'posterior'; the groups are prior"):
        pt.as_draws(arviz.from_dict(prior={"z": Z}))


def test_files_of_arviz_of_both_generations_and_one_without_groups(tmp_path):
    for options in ({}, {"var_name": "z"}):
        assert pt.read_draws(OLD_FILE, **options) == NAMED
    tree().to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    tree()["posterior"].to_dataset().to_netcdf(tmp_path / "b.nc", engine="h5netcdf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zarr on its own metadata
        tree().to_zarr(tmp_path / "a.zarr")
    for path in tmp_path.iterdir():
        assert pt.read_draws(path) == EXPECTED


def test_what_is_written_has_the_layout_of_arviz(tmp_path):
    draws = pt.as_draws(NAMED, weights=[1, 1, 2, 2, 1, 1])
    pt.write_draws(draws, tmp_path / "a.nc")
    with xr.open_datatree(tmp_path / "a.nc", engine="h5netcdf") as found:
        assert found["posterior"]["labels"].dims == ("chain", "draw", "item")
        assert found["posterior"]["labels"].dtype == np.uint8
        assert found["sample_stats"]["weight"].shape == (2, 3)
        assert pt.as_draws(found) == draws


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
