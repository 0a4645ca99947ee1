"""BayesianMixture and PartitionConsensus against the functions they stand for."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import partita as pt
from partita.errors import InvalidLabelsError
from partita.sklearn import BayesianMixture, PartitionConsensus

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
FEW = {"draws": 150, "burn_in": 100, "chains": 2, "random_state": 0}
RNG = np.random.default_rng(8)
TRUTH = np.repeat([0, 1, 2], 20)
X = RNG.normal(TRUTH[:, None] * 6.0, 1.0, (60, 2))


@pytest.fixture(scope="module")
def fitted():
    return BayesianMixture(**FEW).fit(X)


def test_the_labels_are_the_estimate_from_the_draws_of_the_sampler(fitted):
    assert pt.distance(fitted.labels_, TRUTH) == 0.0
    assert fitted.n_clusters_ == 3
    assert fitted.fit_.draws.n_draws == 300
    estimate = pt.estimate(fitted.fit_.draws)
    assert fitted.summary_.estimate.expected_loss == pytest.approx(estimate.expected_loss)
    ball = pt.credible_ball(fitted.fit_.draws, fitted.labels_, prob=0.95)
    assert fitted.credible_ball_.radius == ball.radius
    assert fitted.credible_ball_.coverage == ball.coverage


def test_predictions_are_those_of_the_fit(fitted):
    new = np.array([[0.0, 0.0], [6.0, 6.5], [12.0, 12.0], [60.0, -60.0]])
    probabilities = fitted.predict_proba(new)
    np.testing.assert_array_equal(probabilities, fitted.fit_.predict(new, fitted.labels_))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert fitted.predict(new).tolist() == [0, 1, 2, -1]  # far from all: a cluster of its own
    assert probabilities[3, -1] > 0.5
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)


def test_the_answer_depends_on_the_seed_alone():
    def labels(**params):
        mixture = BayesianMixture(**{**FEW, "draws": 20, "burn_in": 10, **params})
        return mixture.fit(X).fit_.draws.labels

    np.testing.assert_array_equal(labels(n_jobs=1), labels(n_jobs=2))
    assert not np.array_equal(labels(), labels(random_state=1))
    state = np.random.RandomState(0)
    first, second = labels(random_state=state), labels(random_state=state)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, labels(random_state=np.random.RandomState(0)))


def test_hyperparameters_reach_the_model():
    kernel = pt.NormalInverseWishart(mean=0.0, precision=0.1, degrees=4.0, scale=1.0)
    prior = pt.PitmanYor(concentration=1.0, discount=0.1)
    run = {"draws": 30, "burn_in": 10, "thin": 2, "chains": 3}
    mixture = BayesianMixture(
        kernel=kernel, prior=prior, loss=pt.Binder(), prob=0.8, random_state=0, **run
    ).fit(X)
    assert mixture.fit_.prior == prior
    assert type(mixture.fit_.kernel) is type(kernel)
    assert mixture.fit_.settings.thin == 2
    assert (mixture.fit_.draws.n_chains, mixture.fit_.draws.n_draws) == (3, 90)
    assert mixture.summary_.loss == mixture.credible_ball_.loss == pt.Binder()
    assert mixture.credible_ball_.prob == 0.8


def test_a_table_may_mix_numbers_and_categories():
    kinds = pd.Categorical.from_codes(TRUTH, ["a", "b", "c"])
    frame = pd.DataFrame({"size": X[:, 0], "kind": kinds})
    mixture = BayesianMixture(**FEW).fit(frame)
    assert mixture.feature_names_in_.tolist() == ["size", "kind"]
    assert isinstance(mixture.fit_.kernel, pt.Product)
    assert pt.distance(mixture.labels_, TRUTH) == 0.0
    assert mixture.predict(frame.iloc[[0, 25, 50]]).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="feature names"):
        mixture.predict(frame.rename(columns={"size": "width"}))
    holes = frame.assign(size=frame["size"].where(frame.index != 1))
    mixture.fit(holes)
    assert pt.distance(mixture.labels_, TRUTH) == 0.0
    assert mixture.__sklearn_tags__().input_tags.allow_nan
    joint = BayesianMixture(kernel=pt.NormalInverseWishart(0, 1, 4, 1))
    assert not joint.__sklearn_tags__().input_tags.allow_nan
    with pytest.raises(pt.PartitaError, match="without rows"):
        BayesianMixture(**FEW).fit(frame.iloc[:0])


def test_it_takes_part_in_pipelines_grids_and_files(fitted):
    pipeline = make_pipeline(StandardScaler(), BayesianMixture(**FEW))
    assert pt.distance(pipeline.fit_predict(X * [1.0, 100.0]), TRUTH) == 0.0
    assert pipeline.predict(X[:2] * [1.0, 100.0]).tolist() == [0, 0]
    grid = ParameterGrid({"loss": ["vi", "binder"]})
    assert [clone(fitted).set_params(**point).loss for point in grid] == ["vi", "binder"]
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert "n_clusters" in again.fit_.trace
    with pytest.raises(TypeError):
        again.fit_.trace["n_clusters"] = 0  # still read-only


def test_scores_are_log_predictive_densities(fitted):
    new = np.array([[0.0, 0.0], [6.0, 6.5], [3.0, 3.0]])
    scores = fitted.score_samples(new)
    np.testing.assert_array_equal(scores, np.log(fitted.fit_.density(new).mean))
    assert scores[1] > scores[2]
    assert fitted.score(new) == scores.mean()


def test_kernels_by_name_a_number_of_clusters_and_a_warning():
    X = np.random.default_rng(0).normal(size=(40, 2)) * [1, 5]
    search = GridSearchCV(
        make_pipeline(PCA(2), BayesianMixture(**FEW)),
        {"bayesianmixture__kernel": ["wishart", "hierarchical", "empirical"]},
        cv=2,
    ).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    kinds = {"wishart": "NormalInverseWishart", "hierarchical": "NormalInverseGamma"}
    for name, kind in kinds.items():
        assert BayesianMixture(**FEW, kernel=name).fit(X).fit_.kernel.kind == kind
    with pytest.warns(ConvergenceWarning, match="effective"):
        three = BayesianMixture(**FEW, n_clusters=3).fit(X)
    assert three.n_clusters_ == 3
    assert three.summary_.estimate.constraints == ("exactly 3 clusters",)


ESTIMATORS = [
    BayesianMixture(draws=16, burn_in=8, chains=1, n_jobs=1),
    PartitionConsensus(bound=None, n_jobs=1),  # the proof takes long where columns are noise
]

CANNOT_APPLY = {
    "check_clustering": (
        "the check clusters points in the plane; PartitionConsensus takes labelings, and refuses "
        "fractional numbers so that data are not mistaken for labels"
    ),
    "check_positive_only_tag_during_fit": (
        "the check wants negative numbers to be taken as they come; as labels, −1 beside others "
        "may mean noise, and ``noise`` must say what it means"
    ),
}


def cannot_apply(estimator):
    return CANNOT_APPLY if isinstance(estimator, PartitionConsensus) else {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=cannot_apply, xfail_strict=True)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


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
