"""Distances, numbers of clusters and uncertain items."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import partita as pt
from figure_checks import assert_tidy, noisy_draws, texts_of
from partita.plots._items import prepare_distances, prepare_items
from partita.plots._style import OTHER, colour, colour_indices


@pytest.fixture(scope="module")
def summary():
    return pt.summarize(noisy_draws(60, 4)[0], bound=None)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_distances_by_value(weighted, loss):
    labels, truth = noisy_draws(40, 4)
    weights = np.random.default_rng(0).random(len(labels)) + 0.1 if weighted else None
    ball = pt.credible_ball(pt.Draws(labels, weights=weights), truth, loss=loss)
    found = prepare_distances(ball)
    assert found.inside.sum() == pytest.approx(ball.coverage)
    assert (found.inside + found.outside).sum() == pytest.approx(1.0)
    assert found.mean == pytest.approx(pt.expected_loss(truth, ball.draws, loss=loss)[0])
    mass = {"bins": found.edges, "weights": ball.draws.probabilities}
    expected, _ = np.histogram(ball.distances, **mass)
    np.testing.assert_allclose(found.inside + found.outside, expected, atol=1e-12)


def test_distances_drawn(summary):
    ax = pt.plots.distances(summary)
    assert_tidy(ax.figure)
    assert ax.lines[0].get_xdata()[0] == summary.ball.radius
    assert f"95% radius {summary.ball.radius:.3g}" in texts_of(ax.figure)
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(1.0)


def test_n_clusters_drawn(summary):
    ax = pt.plots.n_clusters(summary, prob=0.5)
    assert_tidy(ax.figure)
    counts = summary.counts
    low, high = counts.interval(0.5)
    for bar, value, probability in zip(
        ax.patches, counts.values, counts.probabilities, strict=True
    ):
        assert bar.get_x() + bar.get_width() / 2 == pytest.approx(value)
        assert bar.get_height() == probability
        expected = colour(0) if low <= value <= high else OTHER
        assert to_hex(bar.get_facecolor()).upper() == expected
    assert any(f"the estimate has {summary.n_clusters}" in t for t in texts_of(ax.figure))
    same = pt.plots.n_clusters(summary.draws, prob=0.5)
    assert [b.get_height() for b in same.patches] == [b.get_height() for b in ax.patches]
    alone = pt.plots.n_clusters(pt.n_clusters_posterior([[0, 0]]))
    assert_tidy(alone.figure)
    assert all(tick == round(tick) for tick in alone.get_xticks())
    assert "all draws have 1" in texts_of(alone.figure)


def test_item_bars_by_value(summary):
    table = summary.items
    found = prepare_items(table, 10)
    np.testing.assert_array_equal(found.items, table.order[:10])
    for row, item in enumerate(found.items.tolist()):
        parts = np.flatnonzero(found.row == row)
        assert found.cluster[parts[0]] == table.labels[item]
        assert found.start[parts[0]] == 0.0
        assert found.length[parts[0]] == table.probability[item]
        np.testing.assert_allclose(found.length[parts], table.placement[item, found.cluster[parts]])
        ends = found.start[parts] + found.length[parts]
        np.testing.assert_allclose(found.start[parts][1:], ends[:-1], atol=0.02)
        assert (np.diff(found.length[parts][1:]) <= 0).all()


def test_items_drawn(summary):
    ax = pt.plots.items(summary, n=12)
    assert_tidy(ax.figure)
    assert ax.get_title(loc="left") == "The 12 least certain of 60 items"
    indices = colour_indices([summary.labels])[0]
    found = prepare_items(summary.items, 12)
    for bar, cluster in zip(ax.patches, found.cluster.tolist(), strict=True):
        assert to_hex(bar.get_facecolor()).upper() == colour(int(indices[cluster]))


@pytest.mark.parametrize(("n_items", "n_clusters", "n"), [(5, 2, 25), (3_000, 30, 60)])
def test_items_at_every_size(n_items, n_clusters, n):
    labels, truth = noisy_draws(n_items, n_clusters, n_draws=20)
    names = [f"a rather long name of item number {i}" for i in range(n_items)]
    table = pt.item_uncertainty(pt.Draws(labels, item_names=names), truth)
    assert_tidy(pt.plots.items(table, n=n).figure)
    crowded = Figure(figsize=(3, 1), layout="constrained").subplots()
    pt.plots.items(table, n=n, ax=crowded)
