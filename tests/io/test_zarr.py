"""zarr stores: no code is run, and nothing that is missing reads as zeros."""

import json
import shutil

import h5py
import numcodecs
import numpy as np
import pytest
import xarray as xr
import zarr

import partita as pt
from partita.errors import FileFormatError, InvalidInputError
from partita.io.write import _tree

WEIGHTED = pt.Draws([[0, 0, 1], [0, 1, 1]], weights=[0.3, 0.7], chain=[4, 4], item_names="abc")


@pytest.fixture
def store(tmp_path):
    pt.write_draws(WEIGHTED, tmp_path / "d.zarr")
    return tmp_path / "d.zarr"


def test_consolidated_metadata_and_nested_codecs_are_looked_at(store):
    (store / ".zmetadata").write_text(
        json.dumps({"metadata": {"x/.zarray": {"filters": [{"id": "json2"}]}}})
    )
    with pytest.raises(FileFormatError, match="codec 'json2'"):
        pt.read_draws(store)
    (store / ".zmetadata").unlink()
    inner = {
        "name": "sharding_indexed",
        "configuration": {"codecs": [{"name": "numcodecs.pickle"}]},
    }
    (store / "zarr.json").write_text(json.dumps({"codecs": [inner]}))
    with pytest.raises(FileFormatError, match="codec 'pickle'"):
        pt.read_draws(store)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_the_codecs_that_libraries_choose_by_themselves_are_allowed(tmp_path, zarr_format):
    labels = np.array([[[1, 1, 2], [3, 2, 2]]])
    data = xr.Dataset({"z": (("chain", "draw", "i"), labels)}, {"i": [7, 8, 9]})
    tree = xr.DataTree.from_dict({"/posterior": data})
    tree.to_zarr(tmp_path / "d.zarr", zarr_format=zarr_format, consolidated=False)
    assert pt.read_draws(tmp_path / "d.zarr").item_names == ("7", "8", "9")


@pytest.mark.parametrize("name", ["posterior/labels", "posterior/item", "sample_stats/weight"])
def test_a_missing_chunk_is_no_zero(store, name):
    (chunk,) = [p for p in (store / name).iterdir() if p.name[0].isdigit()]
    chunk.unlink()
    with pytest.raises(FileFormatError, match=f"lacks 1 of the 1 chunks of {name}"):
        pt.read_draws(store)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("name", ["posterior/labels", "posterior/chain", "sample_stats/weight"])
def test_a_chunk_that_is_cut_short_is_no_stray_memory(tmp_path, name, version):
    path = tmp_path / "d.zarr"
    blosc = zarr.codecs.BloscCodec() if version == 3 else numcodecs.Blosc()
    encoding = {
        f"/{group}": {variable: {"compressors": [blosc]} for variable in variables}
        for group, variables in (("posterior", ["labels", "chain"]), ("sample_stats", ["weight"]))
    }
    tree = _tree(pt.Draws(WEIGHTED.labels, weights=[0.3, 0.7], chain=[4, 4]))
    tree.to_zarr(path, zarr_format=version, consolidated=False, encoding=encoding)
    assert pt.read_draws(path).chain.tolist() == [4, 4]
    (chunk,) = [p for p in (path / name).rglob("*") if p.is_file() and p.name[0].isdigit()]
    chunk.write_bytes(chunk.read_bytes()[:-1])
    with pytest.raises(FileFormatError, match="does not have the length it declares"):
        pt.read_draws(path)


def test_shards_are_refused(tmp_path):
    """Whether a chunk is missing inside its shard is not seen by zarr's count."""
    array = zarr.create_array(
        tmp_path / "a.zarr", shape=(8, 4), chunks=(2, 2), shards=(4, 4), dtype="i4"
    )
    array[...] = 1
    with pytest.raises(FileFormatError, match="has shards"):
        pt.read_draws(tmp_path / "a.zarr")


def test_zeros_are_no_missing_chunks(tmp_path):
    """Ours are written; of a chain called 0 other libraries leave out the only chunk."""
    pt.write_draws(np.zeros((2, 3), int), tmp_path / "d.zarr")
    assert pt.read_draws(tmp_path / "d.zarr") == pt.Draws(np.zeros((2, 3), int))
    data = xr.Dataset({"z": (("chain", "draw", "i"), [[[1, 1, 2], [1, 2, 2]]])}, {"chain": [0]})
    data.to_zarr(tmp_path / "e.zarr", consolidated=False)
    assert pt.read_draws(tmp_path / "e.zarr") == pt.Draws([[0, 0, 1], [0, 1, 1]], chain=[0, 0])


@pytest.mark.parametrize("suffix", ["zarr", "nc"])
def test_weights_do_not_vanish(tmp_path, suffix):
    path = tmp_path / f"d.{suffix}"
    pt.write_draws(WEIGHTED, path)
    if suffix == "zarr":
        shutil.rmtree(path / "sample_stats")
    else:
        with h5py.File(path, "a") as file:
            del file["sample_stats"]
    with pytest.raises(FileFormatError, match="sample_stats"):
        pt.read_draws(path)


def test_a_missing_chunk_of_another_variable_does_not_matter(store):
    group = zarr.open_group(store, mode="a", zarr_format=2)
    group.create_array("posterior/other", shape=(4,), dtype="i4", dimension_names=None)
    meta = store / "posterior" / "other" / ".zattrs"
    meta.write_text(json.dumps({"_ARRAY_DIMENSIONS": ["w"]}))
    assert pt.read_draws(store) == WEIGHTED


def test_weights_are_not_talked_away(store):
    notes = store / "posterior" / "labels" / ".zattrs"
    notes.write_text(json.dumps(json.loads(notes.read_text()) | {"partita_weighted": 0}))
    (store / ".zattrs").write_text("{}")  # as stores of version 0.1 have it
    with pytest.raises(FileFormatError, match="say that draws have no weights"):
        pt.read_draws(store)


@pytest.mark.parametrize("name", ["posterior/labels", "posterior/chain", "posterior", ""])
def test_metadata_that_were_changed_are_refused(store, name):
    """A heading that is no longer known would drop weights or chains without a word."""
    place = next((store / name).glob(".z*group" if name in ("", "posterior") else ".zattrs"))
    place.write_text(place.read_text().replace("a", "b", 1))
    with pytest.raises(FileFormatError, match="missing or was changed"):
        pt.read_draws(store)
    place.unlink()
    with pytest.raises(FileFormatError, match="damaged, missing"):
        pt.read_draws(store)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_store_that_is_one_array(tmp_path, zarr_format):
    path = tmp_path / "plain.zarr"
    labels = np.random.default_rng(0).integers(0, 4, (2, 9, 7))
    array = zarr.create_array(
        path, shape=labels.shape, chunks=(1, 4, 7), dtype="i8", zarr_format=zarr_format
    )
    array[...] = labels
    found = pt.read_draws(path)
    assert np.array_equal(found.labels, pt.as_draws(labels).labels)
    assert found.chain.tolist() == [0] * 9 + [1] * 9
    turned = pt.read_draws(path, transpose=True)
    assert turned == pt.as_draws(labels, transpose=True)
    with pytest.raises(InvalidInputError, match="single array"):
        pt.read_draws(path, var_name="z")
    gone = next(p for p in sorted(path.rglob("*")) if p.is_file() and p.name[-1] in "012")
    gone.unlink()
    with pytest.raises(FileFormatError, match="lacks 1 of the 6 chunks of its array"):
        pt.read_draws(path)
