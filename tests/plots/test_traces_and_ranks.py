"""Traces and rank plots of label-invariant functionals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita as pt
from figure_checks import assert_tidy, noisy_draws, texts_of
from partita.plots._diagnostics import extremes, prepare_functionals, rank_counts


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
    np.testing.assert_allclose(
        found["vi_to_estimate"].chains[2],
        pt.pairwise_distances([estimate], draws)[0][200:300],
    )
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
