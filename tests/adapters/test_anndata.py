"""Summaries in AnnData."""

import dataclasses

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

import partita as pt
from partita.errors import InvalidInputError, InvalidLabelsError

# anndata on pandas 3 sets options that pandas is about to drop
pytestmark = pytest.mark.filterwarnings(
    "ignore:The '(future.infer_string|mode.chained_assignment)' option"
)

CELLS = [f"cell{i}" for i in range(30)]


@pytest.fixture
def adata():
    counts = csr_matrix(np.random.default_rng(0).poisson(2.0, (30, 5)).astype(np.float32))
    return anndata.AnnData(counts, obs=pd.DataFrame(index=CELLS))


def check_fields(adata, summary, key="partita"):
    column = adata.obs[key]
    assert isinstance(column.dtype, pd.CategoricalDtype)
    assert column.cat.categories.tolist() == [str(k) for k in range(summary.n_clusters)]
    np.testing.assert_array_equal(column.astype(int), summary.labels)
    np.testing.assert_array_equal(adata.obs[f"{key}_probability"], summary.items.probability)
    kept = adata.uns[key]
    params = {name: summary.options[name] for name in ("loss", "prob", "method", "bound")}
    assert {name: kept["params"][name] for name in params} == params
    assert (kept["params"].get("rng") or 0) == (summary.options["rng"] or 0)  # None is seed 0
    assert kept["params"]["n_draws"] == summary.draws.n_draws
    assert kept["estimate"]["expected_loss"] == summary.estimate.expected_loss
    assert kept["estimate"]["lower_bound"] == summary.estimate.lower_bound
    assert kept["ball"]["radius"] == summary.ball.radius
    assert kept["ball"]["coverage"] == summary.ball.coverage
    assert kept["sentence"] == summary.sentence
    assert list(kept["diagnostics"]["warnings"]) == list(summary.diagnostics.warnings)
    rhat = [kept["diagnostics"]["rhat"][name] for name in summary.diagnostics.names]
    np.testing.assert_array_equal(rhat, summary.diagnostics.rhat)
    for name, bound in summary.ball.bounds.items():
        np.testing.assert_array_equal(kept["ball"][name]["labels"], bound.labels)
        np.testing.assert_array_equal(kept["ball"][name]["mass"], bound.mass)
        assert kept["ball"][name]["distance"] == bound.distance


def test_in_place_as_scanpy_does_or_in_a_copy(adata, labels, summary):
    changed = pt.anndata.summarize(adata, draws=labels, key_added="clusters", copy=True)
    check_fields(changed, summary, "clusters")
    assert (list(adata.obs), list(adata.uns)) == ([], [])
    assert pt.anndata.summarize(adata, draws=labels) is None
    check_fields(adata, summary)
    assert list(adata.obsp) == []
    assert list(adata.obs) == ["partita", "partita_probability", "partita_core"]


def test_similarity_on_request(adata, labels):
    pt.anndata.summarize(adata, draws=labels, similarity=True)
    matrix = adata.obsp["partita_similarity"]
    assert matrix.dtype == np.float32
    np.testing.assert_allclose(matrix, pt.similarity(labels), rtol=1e-6)
    pt.anndata.summarize(adata, draws=labels[:50])
    assert "partita_similarity" not in adata.obsp  # it was of other draws


def test_h5ad_round_trip(adata, labels, summary, tmp_path):
    # 1 − ARI has no lower bound: what is None must not reach the file
    pt.anndata.summarize(adata, draws=labels, similarity=True)
    pt.anndata.summarize(adata, draws=labels, loss="one_minus_ari", key_added="ari", max_clusters=2)
    adata.write_h5ad(tmp_path / "a.h5ad")
    again = anndata.read_h5ad(tmp_path / "a.h5ad")
    check_fields(again, summary)
    assert len(again.uns["partita"]["diagnostics"]["warnings"]) > 0  # 300 draws are few
    name = "partita_similarity"
    np.testing.assert_array_equal(again.obsp[name], adata.obsp[name])
    assert again.uns["ari"]["params"]["max_clusters"] == 2
    pt.anndata.summarize(adata, draws=np.tile(labels, (8, 1)))
    adata.write_h5ad(tmp_path / "b.h5ad")  # now without warnings
    kept = anndata.read_h5ad(tmp_path / "b.h5ad").uns["partita"]
    assert kept["diagnostics"]["warnings"].size == 0
    assert "lower_bound" not in again.uns["ari"]["estimate"]
    assert again.uns["ari"]["ball"]["loss"] == "VI()"


@pytest.mark.parametrize("kind", ["array", "sparse", "frame"])
def test_draws_in_obsm_have_cells_in_rows(adata, labels, summary, kind):
    rows = labels.T
    entries = {
        "array": rows,
        "sparse": csr_matrix(rows.astype(float)),
        "frame": pd.DataFrame(rows, index=CELLS, columns=[f"draw{i}" for i in range(300)]),
    }
    adata.obsm["X_draws"] = entries[kind]
    pt.anndata.summarize(adata, draws="X_draws")
    check_fields(adata, summary)


def test_named_draws_are_put_into_the_order_of_the_cells(adata, labels, summary):
    order = np.random.default_rng(1).permutation(30)
    named = pt.Draws(labels[:, order], item_names=[CELLS[i] for i in order])
    pt.anndata.summarize(adata, draws=named)
    np.testing.assert_array_equal(adata.obs["partita"].astype(int), summary.labels)
    foreign = pt.Draws(labels, item_names=[f"V{i}" for i in range(30)])
    pt.anndata.summarize(adata, draws=foreign)  # no name is a cell's: by position
    np.testing.assert_array_equal(adata.obs["partita"].astype(int), summary.labels)
    partly = pt.Draws(labels, item_names=[*CELLS[:29], "other"])
    with pytest.raises(InvalidLabelsError, match=r"1 of 30 items .*'other'"):
        pt.anndata.summarize(adata, draws=partly)
    with pytest.raises(InvalidInputError, match="another order"):
        pt.anndata.attach(adata, pt.summarize(named))


def test_attach_a_summary_already_made(adata, summary):
    assert pt.anndata.attach(adata, summary, similarity=True) is None
    check_fields(adata, summary)
    assert "partita_similarity" in adata.obsp
    with pytest.raises(InvalidInputError, match="30 items, the AnnData has 20 cells"):
        pt.anndata.attach(adata[:20].copy(), summary)


def test_how_many_clusters_is_kept_and_constraints_are_obeyed(adata, labels, tmp_path):
    pt.anndata.summarize(adata, draws=labels, path=True, n_clusters=2, min_size=4, bound=None)
    assert adata.obs["partita"].value_counts().min() >= 4
    assert len(adata.obs["partita"].cat.categories) == 2
    path = pt.price_path(labels, bound=None, rng=0)
    adata.write_h5ad(tmp_path / "a.h5ad")
    again = anndata.read_h5ad(tmp_path / "a.h5ad")
    np.testing.assert_array_equal(again.obsm["partita_path"].T, path.labels)
    kept = again.uns["partita"]
    np.testing.assert_array_equal(kept["price_path"]["breakpoints"], path.breakpoints)
    curve = pt.clusters_curve(labels, rng=0)
    np.testing.assert_array_equal(kept["clusters_curve"]["plateau"], curve.plateau)
    assert kept["clusters_curve"]["sentence"] == curve.sentence
    pt.anndata.summarize(adata, draws=labels, path=(0.8, 1.2), bound=None)
    adata.write_h5ad(tmp_path / "part.h5ad")
    kept = anndata.read_h5ad(tmp_path / "part.h5ad").uns["partita"]
    assert kept["params"]["path"].tolist() == [0.8, 1.2]
    cut = pt.price_path(labels, time_limit=1e-6)
    pt.anndata.attach(adata, dataclasses.replace(pt.summarize(labels, bound=None), path=cut))
    adata.write_h5ad(tmp_path / "cut.h5ad")
    kept = anndata.read_h5ad(tmp_path / "cut.h5ad").uns["partita"]
    assert list(kept["price_path"]["limits"]) == list(cut.limits) != []
    pt.anndata.summarize(adata, draws=labels, path=False, bound=None)
    assert "partita_path" not in adata.obsm
    assert "clusters_curve" not in adata.uns["partita"]


def test_bad_draws(adata, labels):
    with pytest.raises(InvalidLabelsError, match=r"300 items, .* 30 cells.* pass its transpose"):
        pt.anndata.summarize(adata, draws=labels.T)
    adata.obsm["X_pca"] = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.raises(InvalidInputError, match=r"'nope' is neither a key .*'X_pca'.* nor a file"):
        pt.anndata.summarize(adata, draws="nope")
    with pytest.raises(InvalidLabelsError, match="whole numbers"):
        pt.anndata.summarize(adata, draws="X_pca")
    assert list(adata.obs) == []  # nothing half done


def test_several_answers_are_columns(adata, tmp_path):
    truth, other = np.repeat([0, 1, 2], 10), np.tile([0, 1, 2], 10)
    labels = np.array([truth, other])[np.repeat([0, 1], 60)]
    draws = pt.Draws(labels, chain=np.repeat([0, 1], 60))
    pt.anndata.summarize(adata, draws=draws)
    assert adata.obs["partita_representative_0"].astype(int).tolist() == truth.tolist()
    assert adata.obs["partita_representative_1"].astype(int).tolist() == other.tolist()
    assert adata.uns["partita"]["representatives"]["weights"] == pytest.approx([0.5, 0.5])
    adata.write_h5ad(tmp_path / "cells.h5ad")
    pt.anndata.summarize(adata, draws=labels[:60])
    assert not [c for c in adata.obs if "representative" in c]


def test_columns_of_obs_are_draws():
    """Where scanpy puts clusterings: a list of columns, or a pattern for them."""
    labels = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]])
    adata = anndata.AnnData(np.zeros((4, 2), np.float32))
    for number, row in enumerate(labels):
        adata.obs[f"leiden_{number}"] = pd.Categorical(row.astype(str))
    adata.obs["other"] = list("abcd")
    names = [f"leiden_{number}" for number in range(3)]
    for given in (names, tuple(names), "leiden_*"):
        pt.anndata.summarize(adata, draws=given, progress=False)
        assert adata.uns["partita"]["params"]["n_draws"] == 3
        assert adata.obs["partita"].tolist() == ["0", "0", "1", "1"]
    with pytest.raises(InvalidInputError, match=r"not there: leiden_9.*There are leiden_0"):
        pt.anndata.summarize(adata, draws=["leiden_0", "leiden_9"])
    with pytest.raises(InvalidInputError, match="nor a pattern for columns"):
        pt.anndata.summarize(adata, draws="louvain_*")
    with pytest.raises(InvalidInputError, match=r"draws='leiden_\*'"):
        pt.anndata.summarize(adata, draws="leiden_")


def test_by_run_is_what_separate_distances_give(tmp_path):
    """Mean distances to the consensus and between the runs of a resolution, by hand."""
    rng = np.random.default_rng(1)
    adata = anndata.AnnData(np.zeros((40, 2), np.float32))
    truth = np.repeat(np.arange(4), 10)
    columns = {}
    for name, coarse in (("0.2", truth // 2), ("1.0", truth), ("2.0", truth * 2)):
        for seed in range(3):
            split = coarse + (rng.random(40) < 0.4) * (name == "2.0")
            columns[f"leiden_{name}_{seed}"] = split
            adata.obs[f"leiden_{name}_{seed}"] = split.astype(str)
    pt.anndata.summarize(adata, draws="leiden_*")
    found = pt.anndata.by_run(adata, groups=r"leiden_([\d.]+)_")
    assert found.groups == ("0.2", "1.0", "2.0")
    consensus = adata.obs["partita"].cat.codes.to_numpy()
    for g, name in enumerate(found.groups):
        runs = [labels for column, labels in columns.items() if f"_{name}_" in column]
        away = [pt.distance(run, consensus) for run in runs]
        apart = [pt.distance(runs[i], runs[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
        assert found.to_consensus[g] == pytest.approx(np.mean(away))
        assert found.spread[g] == pytest.approx(np.mean(apart))
    assert found.nearest == "1.0"
    kept = adata.uns["partita"]["by_run"]
    assert kept["sentence"] == found.sentence
    assert kept["table"]["n_runs"].tolist() == [3, 3, 3]
    adata.write_h5ad(tmp_path / "runs.h5ad")
    assert pt.anndata.by_run(adata).groups == ("leiden_0.2", "leiden_1.0", "leiden_2.0")
    with pytest.raises(pt.errors.InvalidInputError, match="summarize"):
        pt.anndata.by_run(adata, key="other")
    with pytest.raises(pt.errors.InvalidInputError, match="every run"):
        pt.anndata.by_run(adata, groups="seed")
