"""Questions that need only a metric, asked of feature draws: oracle F5, laws, refusals."""

import matplotlib as mpl
import numpy as np
import pytest

import partita as pt
from feature_cases import ESTIMATE, f5, two_modes
from partita.errors import InvalidInputError, NotSupportedError


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
