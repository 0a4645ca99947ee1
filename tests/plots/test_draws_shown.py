"""Figures of draws by value: distances, numbers of clusters, items, similarity, traces, ranks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import partita as pt
from figure_checks import assert_tidy, noisy_draws, texts_of
from partita.plots import _similarity
from partita.plots._diagnostics import extremes, prepare_functionals, rank_counts
from partita.plots._items import prepare_distances, prepare_items
from partita.plots._similarity import mean_similarity, prepare_similarity
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


def by_pairs(draws, groups):
    """Mean similarity between groups, pair by pair."""
    p, n = pt.similarity(draws), int(max(groups)) + 1
    out = np.ones((n, n))
    for g, h in np.ndindex(n, n):
        pairs = np.outer(groups == g, groups == h) & ~np.eye(len(groups), dtype=bool)
        out[g, h] = p[pairs].mean() if pairs.any() else 1.0
    return out


@pytest.mark.parametrize("empty", [0, 1000])
@pytest.mark.parametrize("weighted", [False, True])
def test_mean_similarity_by_value(weighted, empty, monkeypatch):
    """With full tables, and from the items alone."""
    monkeypatch.setattr(_similarity, "_EMPTY", empty)
    rng = np.random.default_rng(1)
    weights = rng.random(40) + 0.1 if weighted else None
    draws = pt.Draws(rng.integers(0, 4, (40, 15)), weights=weights)
    groups = np.array([0] * 6 + [1] + [2] * 3 + [3] * 5)
    np.testing.assert_allclose(mean_similarity(draws, groups), by_pairs(draws, groups), atol=1e-12)


def test_the_map_is_the_matrix_in_order():
    labels, truth = noisy_draws(40, 4)
    draws = pt.Draws(labels)
    found = prepare_similarity(draws, pt.canonical(truth))
    assert sorted(found.order.tolist()) == list(range(40))
    np.testing.assert_array_equal(
        found.values, pt.similarity(draws)[np.ix_(found.order, found.order)]
    )
    assert not found.is_aggregated
    for j, cluster in enumerate(found.clusters):
        places = found.order[found.starts[j] : found.starts[j + 1]]
        assert set(truth[places]) == {cluster}


def test_linkage_puts_the_like_side_by_side():
    # Two pairs that move together, hidden in one cluster in alternating order.
    labels = [[0, 1, 0, 1, 2], [0, 0, 0, 0, 2], [0, 1, 0, 1, 2], [0, 0, 0, 0, 2]]
    found = prepare_similarity(pt.Draws(labels), pt.canonical([0, 0, 0, 0, 1]))
    first = found.order[:2] if found.clusters[0] == 0 else found.order[1:3]
    assert set(first.tolist()) in ({0, 2}, {1, 3})


def test_aggregation_by_value_and_without_the_matrix(monkeypatch):
    labels, truth = noisy_draws(90, 3, n_draws=30)
    draws = pt.Draws(labels)
    found = prepare_similarity(draws, pt.canonical(truth), most_cells=20)
    assert found.is_aggregated
    assert found.values.shape == (20, 20)
    cell = np.empty(90, int)
    cell[found.order] = np.repeat(np.arange(20), np.diff(found.edges))
    np.testing.assert_allclose(found.values, by_pairs(draws, cell), atol=1e-12)


@pytest.mark.parametrize(("n_items", "n_clusters"), [(5, 2), (50, 4), (200, 24), (2_000, 30)])
def test_legible_at_every_size(n_items, n_clusters):
    labels, truth = noisy_draws(n_items, n_clusters, n_draws=20)
    ax = pt.plots.similarity(labels, estimate=truth)
    assert_tidy(ax.figure)
    said = any("aggregated" in text for text in texts_of(ax.figure))
    assert said == (n_items > 500)


def test_names_of_items_are_shown_and_are_no_formulas():
    labels, truth = noisy_draws(12, 3)
    names = [f"a_{{{i}$" for i in range(12)]
    ax = pt.plots.similarity(pt.Draws(labels, item_names=names), estimate=truth)
    assert_tidy(ax.figure)
    shown = [tick.get_text() for tick in ax.get_yticklabels()]
    assert {text.replace(r"\$", "$") for text in shown} == set(names)


@pytest.fixture(scope="module")
def draws():
    labels, _ = noisy_draws(30, 4, n_draws=400)
    return pt.Draws(labels, chain=np.repeat([0, 1, 2, 3], 100))


@pytest.fixture(scope="module")
def fit():
    return pt.sample(
        pt.datasets.galaxies(), kernel="empirical", draws=60, burn_in=60, chains=2, rng=0
    )


def test_functionals_by_value(draws):
    estimate = draws.labels[0]
    found = {f.name: f for f in prepare_functionals(draws, estimate, None)}
    assert list(found) == ["n_clusters", "entropy", "largest_cluster", "vi_to_estimate"]
    np.testing.assert_array_equal(
        found["n_clusters"].chains.reshape(-1), draws.n_clusters.astype(float)
    )
    away = pt.pairwise_distances([estimate], draws)[0]
    np.testing.assert_allclose(found["vi_to_estimate"].chains[2], away[200:300])
    diagnostics = pt.diagnose(draws, estimate=estimate)
    np.testing.assert_allclose([f.rhat for f in found.values()], diagnostics.rhat, equal_nan=True)


def test_a_fit_adds_its_trace_and_a_summary_its_estimate(fit):
    found = {f.name: f for f in prepare_functionals(fit, None, None)}
    np.testing.assert_array_equal(found["concentration"].chains, fit.trace["concentration"])
    np.testing.assert_array_equal(found["log_posterior"].chains, fit.trace["log_posterior"])
    summary = pt.summarize(fit.draws, bound=None)
    assert "vi_to_estimate" in {f.name for f in prepare_functionals(summary, None, None)}


@settings(max_examples=50)
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=60), st.integers(2, 12))
def test_extremes_keep_every_peak(values, most):
    array = np.array(values)
    x, y = extremes(array, most)
    np.testing.assert_array_equal(array[x], y)
    assert x.size <= max(most, 2)
    assert (np.diff(x) > 0).all()
    assert y.max() == array.max()
    assert y.min() == array.min()


@settings(max_examples=50)
@given(st.integers(2, 4), st.integers(1, 12), st.integers(1, 7), st.integers(0, 10_000))
def test_rank_counts_are_means_over_all_orders_of_ties(n_chains, n, bins, seed):
    chains = np.random.default_rng(seed).integers(0, 4, (n_chains, n)).astype(float)
    counts = rank_counts(chains, bins)
    np.testing.assert_allclose(counts.sum(axis=1), n)
    np.testing.assert_allclose(counts.sum(axis=0), chains.size / bins)
    # Each draw is spread evenly over the ranks of its equals, and each rank over its unit.
    flat = chains.reshape(-1)
    expected = np.zeros_like(counts)
    edges = np.linspace(0, flat.size, bins + 1)
    for c in range(n_chains):
        for value in chains[c]:
            low, high = (flat < value).sum(), (flat <= value).sum()
            inside = np.minimum(edges[1:], high) - np.maximum(edges[:-1], low)
            expected[c] += inside.clip(0) / (high - low)
    np.testing.assert_allclose(counts, expected, atol=1e-9)


def test_traces_drawn(draws):
    axes = pt.plots.traces(draws, estimate=draws.labels[0])
    assert len(axes) == 4
    assert_tidy(axes[0].figure)
    assert [len(ax.lines) for ax in axes] == [4] * 4
    np.testing.assert_array_equal(axes[0].lines[1].get_ydata(), draws.n_clusters[100:200])
    assert len({line.get_color() for line in axes[0].lines}) == 4
    assert any(text.startswith("entropy (bits), R-hat") for text in texts_of(axes[0].figure))


def test_long_and_short_chains():
    labels, _ = noisy_draws(8, 3, n_draws=9_000)
    axes = pt.plots.traces(labels, names=["entropy"])
    assert_tidy(axes[0].figure)
    assert len(axes[0].lines[0].get_xdata()) <= 2_000
    assert_tidy(pt.plots.traces(labels[:3])[0].figure)
    assert_tidy(pt.plots.ranks(labels[:3])[0].figure)


def test_ranks_drawn(draws, fit):
    axes = pt.plots.ranks(draws, names=["entropy", "n_clusters"], bins=10)
    assert_tidy(axes[0].figure)
    heights = np.array([bar.get_height() for bar in axes[0].patches]).reshape(4, 10)
    counts = rank_counts(prepare_functionals(draws, None, ["entropy"])[0].chains, 10)
    np.testing.assert_allclose(heights / heights.sum(), counts / counts.sum())
    assert_tidy(pt.plots.ranks(fit)[0].figure)
