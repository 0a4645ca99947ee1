"""Questions asked of feature draws, and their summary: oracle F5, laws, words, files, refusals."""

import json
import pickle
from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest

import partita as pt
from feature_cases import ESTIMATE, cube, f5, two_modes
from partita.errors import FileFormatError, InvalidInputError, NotSupportedError


def test_the_ball_of_five_known_draws():
    ball = pt.credible_ball(f5(), ESTIMATE, prob=0.8)
    assert ball.distances.tolist() == [1, 0, 1, 2, 3]
    assert (ball.radius, ball.coverage, ball.n_parts) == (2.0, 0.8, 2)
    assert ball.inside.tolist() == [True, True, True, True, False]
    assert [len(ball.bounds[name]) for name in ball.bounds] == [1, 1, 1, 2, 1]
    assert ball.sparsest.n_memberships.tolist() == [3, 3]
    assert ball.sparsest.mass == pytest.approx([0.2, 0.2])
    everything = ball.at(1.0)
    assert (everything.radius, everything.lower.n_features.tolist()) == (3.0, [3])
    assert everything.densest.n_memberships.tolist() == [5]
    assert ball.contains(ESTIMATE)
    assert not ball.contains(np.ones((4, 4)))
    assert ball.credible_level(np.ones((4, 4))) == np.inf
    (overlaps,) = everything.cross_tables()["lower"]
    assert overlaps.tolist() == [[2, 1, 0], [0, 1, 1]]


def test_pairs_share_the_expected_number_of_features():
    expected = [[1, 0.8, 0.2, 0], [0.8, 1, 0.4, 0], [0.2, 0.4, 1, 0.4], [0, 0, 0.4, 0.8]]
    np.testing.assert_allclose(pt.similarity(f5()), expected, atol=1e-15)
    weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    dense = [z.astype(float) for z in (f5()[m] for m in range(5))]
    mean = sum(w * z @ z.T for w, z in zip(weights / 15, dense, strict=True))
    np.testing.assert_allclose(pt.similarity(f5(weights=weights)), mean, atol=1e-15)
    np.testing.assert_allclose(pt.similarity(f5(weights=weights), rows=[2]), mean[[2]], atol=1e-15)


@pytest.mark.parametrize("a", [0.5, 1.0, 1.5])
def test_parts_of_the_items_add_up_to_the_loss(a):
    rng = np.random.default_rng(1)
    draws = pt.FeatureDraws(rng.random((20, 9, 4)) < 0.4, weights=rng.random(20) + 0.1)
    chosen = rng.random((9, 3)) < 0.5

    class Asked:
        loss = pt.FARO(a)

        def __allocation__(self):
            return chosen

    items = pt.item_uncertainty(draws, Asked())
    (value,) = pt.expected_loss(chosen, draws, loss=pt.FARO(a))
    assert items.contribution.sum() == pytest.approx(value)
    assert items.n_features == pytest.approx(np.diag(pt.similarity(draws)))
    assert items.none == pytest.approx(draws.probabilities @ (draws.features_per_item() == 0))


def test_memberships_of_five_known_draws():
    items = pt.item_uncertainty(f5(), ESTIMATE)
    np.testing.assert_allclose(items.membership, [[1, 0], [0.8, 0.2], [0.2, 0.8], [0, 0.6]])
    assert items.contribution == pytest.approx([0, 0.4, 0.4, 0.6])
    assert items.order[0] == 3
    assert items.to_frame(one_based=True).loc[4, "feature_2"] == pytest.approx(0.6)


def test_metric_questions_agree_with_those_of_partitions():
    """One-hot partitions under FARO: ball, p-value and modes have the numbers of partitions."""
    rng = np.random.default_rng(3)
    labels = np.where(rng.random((60, 10)) < 0.2, rng.integers(0, 3, (60, 10)), np.arange(10) // 5)
    partitions = pt.Draws(labels)
    features = pt.FeatureDraws.from_partitions(partitions)
    center = labels[0]
    one_hot = center[:, None] == np.unique(center)
    a = pt.credible_ball(partitions, center, loss="faro")
    b = pt.credible_ball(features, one_hot)
    np.testing.assert_array_equal(a.distances, b.distances)
    assert a.radius == b.radius
    assert a.radius_mcse == pytest.approx(b.radius_mcse, nan_ok=True)
    for name in ("upper", "lower", "horizontal"):
        assert a.bounds[name].n_clusters.tolist() == b.bounds[name].n_features.tolist()
    np.testing.assert_allclose(pt.similarity(partitions), pt.similarity(features), atol=1e-12)
    ready = pt.conformal_set(features, rate=0.1, max_draws=1000)
    apart = pt.pairwise_distances(ready.draws)
    close = np.exp(-0.1 * apart)
    own = np.exp(-0.1 * pt.pairwise_distances(pt.FeatureDraws([one_hot]), ready.draws)[0])
    scores = close.sum(axis=1) - 1.0 + own
    p = (1 + (scores <= own.sum() + 1e-9).sum()) / (ready.draws.n_draws + 1)
    assert float(ready.p_value(one_hot)) == pytest.approx(p)


def test_chains_in_two_modes_disagree():
    draws = two_modes()
    checks = pt.diagnose(draws)
    assert checks.names == ("n_features", "n_memberships", "most_of_an_item")
    assert checks.chains_disagree
    assert any("shared features differ" in text for text in checks.warnings)
    found = pt.modes(draws)
    assert found.n == 2
    assert found.weights == pytest.approx([0.5, 0.5])
    mixed = draws[np.random.default_rng(1).permutation(400)]
    assert not pt.diagnose(pt.FeatureDraws(mixed, chain=draws.chain)).chains_disagree


@pytest.mark.parametrize(
    ("ask", "argument", "message"),
    [
        *(
            (lambda n=name, v=value: pt.estimate(f5(), **{n: v}), name, "partitions only")
            for name, value in (
                *(("n_clusters", 2), ("min_size", 2), ("method", "hasse"), ("max_clusters", 0)),
                *(("min_size", np.ones(3)), ("fewest_within", 0.05)),
            )
        ),
        *(
            (lambda n=name, v=value: pt.summarize(f5(), **{n: v}), name, "partitions only")
            for name, value in (
                *(("max_clusters", 0), ("var_name", ""), ("sensitivity", True), ("min_size", 2)),
                ("jaccard", np.ones(2)),
            )
        ),
        *(
            (lambda ask=ask: ask(f5()), "draws", "partitions only")
            for ask in (pt.credible_core, pt.n_clusters_posterior, pt.clusters_curve)
        ),
        (lambda: pt.estimate(f5(), loss="vi"), "loss", "partitions"),
        (lambda: pt.credible_ball(f5(), ESTIMATE, loss="vi"), "loss", "partitions only"),
        (lambda: pt.modes(f5(), loss=pt.FARO(0.5)), "loss", "not a metric"),
        (lambda: pt.FARO(2), "a", "strictly between 0 and 2"),
        (lambda: pt.credible_ball(f5(), np.ones((3, 1))), "center", "one row per item"),
        (lambda: pt.estimate(f5(), starts=[[[1], [0]]]), "starts", "starts"),
        (lambda: pt.as_draws([f5()[0], f5()[4]]), "draws", "FeatureDraws"),
        (lambda: pt.as_draws(f5()), "draws", "feature"),
    ],
)
def test_what_is_defined_for_partitions_only_says_so(ask, argument, message):
    with pytest.raises((InvalidInputError, NotSupportedError), match=message) as caught:
        ask()
    assert caught.value.argument == argument


def test_figures_show_memberships_bounds_and_numbers():
    draws = f5(item_names=list("abcd"))
    with mpl.rc_context({"backend": "agg"}):
        ball = pt.credible_ball(draws, ESTIMATE, prob=1.0)
        panels = pt.plots.feature_ball(ball)
        assert [p.get_title(loc="left") for p in panels] == ["centre", *ball.bounds]
        ax = pt.plots.memberships(pt.item_uncertainty(draws, ESTIMATE))
        assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b", "c", "d"]
        shown = np.ma.filled(ax.images[0].get_array(), np.nan)
        np.testing.assert_allclose(shown[:, 1], [0, 0.2, 0.8, 0.6])
        bars = pt.plots.n_features(draws).patches
        assert [bar.get_height() for bar in bars] == pytest.approx([0.8, 0.2])
        assert pt.plots.posterior_map(ball).get_title(loc="left").startswith("The posterior")


def test_a_summary_says_what_its_parts_say(tmp_path):
    summary = pt.summarize(f5(), prob=0.8)
    assert summary.estimate.expected_loss == pytest.approx(1.4)
    np.testing.assert_array_equal(summary.allocation, ESTIMATE.astype(bool))
    np.testing.assert_allclose(summary.membership, summary.estimate.membership)
    assert summary.items.contribution.sum() == pytest.approx(1.4)
    assert (summary.ball.radius, summary.ball.coverage) == (2.0, 0.8)
    assert summary.counts.values.tolist() == [2, 3]
    assert summary.counts_shared.values.tolist() == [1, 2]
    assert summary.counts_shared.probabilities == pytest.approx([0.6, 0.4])
    for said in ("2 features of sizes 2, 2", "proven optimal", "within 2 memberships"):
        assert said in str(summary)
    assert "Of two items or more" in summary.how_many
    document = json.loads(summary.to_json())
    assert document["estimate"]["allocation"] == ESTIMATE.tolist()
    assert document["ball"]["sparsest"]["n_memberships"] == [3, 3]
    assert summary.to_frame("features")["size"].tolist() == [2, 2]
    assert all(len(line) <= 80 for line in summary.details().splitlines())
    summary.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert summary.sentence in page
    assert page.count("<svg") == 5
    assert "<script" not in page
    again = pt.credible_ball(summary, summary, prob=0.8)
    assert again.radius == summary.ball.radius


def test_a_path_is_of_the_prices_asked_for():
    assert "from 0.4 to 1.2" in str(pt.summarize(f5(), path=True))
    summary = pt.summarize(f5(), path=(0.9, 1.1))
    np.testing.assert_array_equal(summary.path.edges, pt.price_path(f5(), low=0.9, high=1.1).edges)
    assert summary.path.edges[0] == pytest.approx(0.9)
    with pytest.raises(InvalidInputError, match="path="):
        pt.summarize(f5(), path="all")


@pytest.mark.parametrize("made", ["weighted", "path", "two modes"])
def test_a_summary_comes_back_from_its_file(tmp_path, made):
    if made == "two modes":
        summary = pt.summarize(two_modes())
    else:
        draws = f5(weights=[0.1, 0.3, 0.2, 0.3, 0.1], item_names="abcd", chain=[1, 1, 2, 2, 2])
        summary = pt.summarize(draws, path=made == "path", rng=np.random.default_rng(1))
    file = tmp_path / "summary.npz"
    summary.save(file)
    for again in (pt.load(file), type(summary).load(file), pickle.loads(pickle.dumps(summary))):
        assert type(again) is type(summary)
        assert again.draws == summary.draws
        assert again.to_dict() == summary.to_dict()
        assert again.details() == summary.details()
        assert again.ball.at(0.5).radius == summary.ball.at(0.5).radius
        again.to_html(tmp_path / "report.html", overwrite=True)
    again.save(tmp_path / "second.npz")
    assert (tmp_path / "second.npz").read_bytes() == file.read_bytes()
    with pytest.raises(FileFormatError, match="not a Summary"):
        pt.Summary.load(file)


def test_a_forged_file_is_refused(tmp_path):
    summary = pt.summarize(f5())
    summary.save(tmp_path / "summary.npz")
    with np.load(tmp_path / "summary.npz") as stored:
        arrays = dict(stored)
    for name, array in arrays.items():
        if array.dtype == np.uint64:
            wrong = {**arrays, name: array | np.uint64(1)}  # an item that is not there
        elif array.dtype == np.bool_ and array.ndim == 2:
            wrong = {**arrays, name: array[:-1]}
        else:
            continue
        np.savez(tmp_path / "wrong.npz", **wrong)
        with pytest.raises(FileFormatError, match="damaged"):
            pt.load(tmp_path / "wrong.npz")


def test_representatives_of_partitions_by_evaluation():
    """FARO has no closed form on partitions: the distance is real, and above its bound."""
    rng = np.random.default_rng(0)
    two = np.where(rng.random((60, 1)) < 0.5, np.arange(8) // 4, np.arange(8) % 2)
    draws = pt.Draws(np.where(rng.random((60, 8)) < 0.05, 2, two))
    found = pt.representatives(draws, n=2, loss="faro")
    far = pt.pairwise_distances(found.labels, draws, loss="faro").min(axis=0)
    assert found.distance == pytest.approx(far.mean())
    assert found.lower_bound <= found.distance
    assert sorted(map(tuple, found.labels)) == [(0, 0, 0, 0, 1, 1, 1, 1), (0, 1) * 4]


def test_chains_that_disagree_are_told_by_representatives():
    summary = pt.summarize(two_modes())
    assert summary.representatives.n == 2
    assert summary.representatives.weights == pytest.approx([0.5, 0.5])
    assert summary.representatives.chains_are_separate
    assert "no answer yet" in str(summary)
    assert "No chain crosses" in summary.details()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_representatives_of_few_draws_are_between_bound_and_medoids(n):
    draws = f5()
    found = pt.representatives(draws, n=n)
    apart = pt.pairwise_distances(draws)
    medoids = min(apart[list(s)].min(axis=0).mean() for s in combinations(range(5), n))
    assert found.lower_bound <= found.distance <= medoids + 1e-12
    far = [pt.pairwise_distances(pt.FeatureDraws([z]), draws)[0] for z in found.allocations]
    assert found.distance == pytest.approx(np.min(far, axis=0).mean())


def test_the_command_line(tmp_path, monkeypatch, partita):
    monkeypatch.chdir(tmp_path)
    np.savez("draws.npz", z=cube())
    ask = ("summarize", "draws.npz", "--features")
    done = partita(*ask, "--prob", 0.8, "--out", "results", "--one-based")
    assert "2 features of sizes 2, 2" in done.output
    rows = (tmp_path / "results" / "memberships.csv").read_text().splitlines()
    assert rows[0] == "item,feature,estimate,probability"
    assert rows[8].startswith("4,2,1,0.6")
    assert json.loads((tmp_path / "results" / "summary.json").read_text())["n_items"] == 4
    wrong = partita(*ask, "--min-size", 2, code=2)
    assert "--min-size is for partitions" in wrong.output
    drawing = (*ask, "--figures", "png", "--out", "pictures")
    partita(*drawing, "--report", "r.html")
    drawn = sorted(file.stem for file in (tmp_path / "pictures" / "figures").iterdir())
    assert drawn == ["ball", "distances", "memberships", "n_features", "posterior_map"]
    assert "name one with --out" in partita(*ask, "--figures", "png", code=2).output
    assert "exists already" in partita(*drawing, code=1).output
