"""The similarity heat map: ordered, aggregated exactly, legible at every size."""

import numpy as np
import pytest

import partita as pt
from figure_checks import assert_tidy, noisy_draws, texts_of
from partita.plots import _similarity
from partita.plots._similarity import mean_similarity, prepare_similarity


def by_pairs(draws, groups):
    """Mean similarity between groups, pair by pair."""
    p = pt.similarity(draws)
    n = int(max(groups)) + 1
    out = np.ones((n, n))
    for g in range(n):
        for h in range(n):
            pairs = [
                p[i, j]
                for i in np.flatnonzero(groups == g)
                for j in np.flatnonzero(groups == h)
                if i != j
            ]
            if pairs:
                out[g, h] = np.mean(pairs)
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
