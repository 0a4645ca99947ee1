"""PartitionConsensus against the functions it stands for."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs

import partita as pt
from partita.errors import InvalidLabelsError
from partita.sklearn import PartitionConsensus


def test_columns_are_labelings(labels):
    consensus = PartitionConsensus(random_state=0).fit(labels.T)
    summary = pt.summarize(labels)
    np.testing.assert_array_equal(consensus.labels_, summary.labels)
    assert consensus.n_features_in_ == 300
    assert consensus.n_clusters_ == 3
    assert consensus.credible_ball_.radius == summary.ball.radius
    np.testing.assert_array_equal(consensus.summary_.items.probability, summary.items.probability)
    np.testing.assert_array_equal(PartitionConsensus().fit_predict(labels.T), consensus.labels_)


def test_options_reach_the_search(labels):
    options = {"loss": "binder", "method": "sweep", "bound": None, "n_clusters": 2, "n_jobs": 1}
    consensus = PartitionConsensus(prob=0.5, min_cluster_size=6, **options).fit(labels.T)
    found = pt.estimate(labels, min_size=6, **options)
    np.testing.assert_array_equal(consensus.labels_, found.labels)
    assert consensus.summary_.estimate.method == "sweep"
    assert consensus.summary_.estimate.lower_bound is None
    assert consensus.credible_ball_.prob == 0.5


def test_from_draws_keeps_weights_chains_and_names():
    draws = pt.Draws(
        [[0, 0, 1, 1], [0, 1, 1, 1]], weights=[1, 9], chain=[0, 1], item_names=list("abcd")
    )
    consensus = PartitionConsensus.from_draws(draws)
    assert consensus.labels_.tolist() == [1, 0, 0, 0]
    assert consensus.summary_.draws == draws
    assert consensus.n_features_in_ == 2
    assert consensus.get_params()["loss"] == "vi"


def test_labelings_of_several_algorithms():
    points, truth = make_blobs(90, centers=[[0, 0], [6, 0], [0, 6]], random_state=4)
    labelings = pd.DataFrame(
        {
            "k-means, 3": KMeans(3, n_init=1, random_state=0).fit_predict(points),
            "k-means, 4": KMeans(4, n_init=1, random_state=0).fit_predict(points),
            "ward": AgglomerativeClustering(3).fit_predict(points),
            "dbscan": DBSCAN(eps=1.0).fit_predict(points),
        }
    )
    consensus = PartitionConsensus(noise=(-1, "singletons")).fit(labelings)
    assert consensus.feature_names_in_.tolist() == list(labelings)
    assert pt.distance(consensus.labels_, truth) < 0.1


def test_data_are_not_mistaken_for_labels():
    with pytest.raises(pt.PartitaError, match=r"X must hold labels.*whole.*BayesianMixture"):
        PartitionConsensus().fit(np.random.default_rng(0).normal(size=(10, 2)))
    with pytest.raises(ValueError, match="NaN"):
        PartitionConsensus().fit([[0.0, np.nan], [1.0, 1.0]])
    with pytest.raises(ValueError, match="2D array"):
        PartitionConsensus().fit([0, 0, 1])


def test_the_old_name_warns():
    with pytest.warns(DeprecationWarning, match="PartitionConsensus"):
        assert pt.sklearn.ConsensusClustering is PartitionConsensus
    assert "ConsensusClustering" not in dir(pt.sklearn)


def test_a_list_of_fitted_clusterers():
    x, _ = make_blobs(40, centers=3, cluster_std=0.5, random_state=0)
    runs = [KMeans(k, n_init=1, random_state=seed).fit(x) for k in (2, 3) for seed in range(3)]
    found = PartitionConsensus.from_clusterers(iter(runs), random_state=0)
    expected = PartitionConsensus(random_state=0).fit(np.column_stack([r.labels_ for r in runs]))
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    with pytest.raises(InvalidLabelsError, match=r"clusterer 1, a KMeans, has no labels_"):
        PartitionConsensus.from_clusterers([runs[0], KMeans(3)])
    with pytest.raises(InvalidLabelsError, match="they label 10 to 40 items"):
        PartitionConsensus.from_clusterers([runs[0], KMeans(3).fit(x[:10])])
    with pytest.raises(InvalidLabelsError, match="none came"):
        PartitionConsensus.from_clusterers([])
