"""Item and cluster uncertainty against similarity matrices, peers' records and laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita as pt
from partita.labels import by_size
from reference import uncertainty as reference
from reference.ground_truth import load
from reference.losses import similarity
from strategies import label_vectors


@st.composite
def cases(draw):
    n = draw(st.integers(1, 9))
    rows = draw(st.lists(label_vectors(n), min_size=1, max_size=8))
    weights = draw(st.none() | st.lists(st.integers(1, 5), min_size=len(rows), max_size=len(rows)))
    return pt.Draws(rows, weights=weights), by_size(draw(label_vectors(n)))


def affinity_from_matrix(draws, estimate):
    """Mean similarity to the other members of each cluster, from the N×N matrix."""
    weights = None if draws.weights is None else draws.weights.tolist()
    p = np.array(similarity(draws.labels.tolist(), weights), float)
    out = np.zeros((estimate.size, estimate.max() + 1))
    for i in range(estimate.size):
        for k in range(estimate.max() + 1):
            others = [j for j in np.flatnonzero(estimate == k) if j != i]
            if others:
                out[i, k] = p[i, others].mean()
            else:  # its own cluster of one
                together = (draws.labels == draws.labels[:, [i]]).sum(axis=1)
                out[i, k] = draws.probabilities[together == 1].sum()
    return out


@settings(deadline=None)
@given(cases())
def test_similarity_share_is_the_mean_similarity_scaled_to_one(case):
    draws, estimate = case
    items = pt.item_uncertainty(draws, estimate)
    wanted = affinity_from_matrix(draws, estimate)
    sums = wanted.sum(axis=1, keepdims=True)
    alone = sums[:, 0] < 1e-12
    np.testing.assert_allclose(
        items.similarity_share[~alone], (wanted / np.where(sums > 0, sums, 1))[~alone], atol=1e-10
    )
    assert not items.similarity_share[alone].any()


@settings(deadline=None)
@given(cases())
def test_placement_by_matched_clusters_against_all_assignments(case):
    draws, estimate = case
    items = pt.item_uncertainty(draws, estimate)
    wanted = reference.placement(draws.labels.tolist(), estimate.tolist(), draws.probabilities)
    np.testing.assert_allclose(items.placement, wanted, rtol=0, atol=1e-13)
    everyone = np.arange(estimate.size)
    assert np.array_equal(items.probability, items.placement[everyone, estimate])
    assert (np.diff(items.probability[items.order]) >= 0).all()
    assert sorted(items.order.tolist()) == list(range(estimate.size))


@settings(deadline=None)
@given(cases())
def test_best_second_and_other_follow_the_placement(case):
    draws, estimate = case
    items = pt.item_uncertainty(draws, estimate)
    for i, row in enumerate(items.placement[:, :-1].tolist()):
        own = int(estimate[i])
        seen = [k for k in range(len(row)) if row[k] > 0]
        best = max(seen, key=lambda k: (row[k], k == own), default=-1)
        second = max((k for k in seen if k != best), key=lambda k: row[k], default=-1)
        assert [items.best[i], items.second[i]] == [best, second]
        assert items.other[i] == (second if best == own else best)


@settings(deadline=None)
@given(cases())
def test_an_item_that_never_leaves_companions_found_in_every_draw_has_probability_one(case):
    draws, estimate = case
    items = pt.item_uncertainty(draws, estimate)
    unchanged = pt.cluster_uncertainty(draws, estimate).unchanged
    found = unchanged[estimate] > 1 - 1e-12
    np.testing.assert_allclose(items.probability[found], 1.0, rtol=0, atol=1e-12)
    # The estimate as the only draw leaves no doubt about any item.
    sure = pt.item_uncertainty([estimate], estimate)
    assert (sure.probability == 1.0).all()
    assert not sure.placement[:, -1].any()


def test_a_loose_cluster_does_not_lower_the_probability_of_items_that_never_move():
    # Item 5 alone moves; by similarity the others would not be certain.
    draws = [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 1, 2]]
    items = pt.item_uncertainty(draws, [0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(items.probability, [1, 1, 1, 1, 1, 1 / 3])
    np.testing.assert_allclose(items.placement[5], [1 / 3, 1 / 3, 1 / 3])
    assert (items.similarity_share.max(axis=1)[:3] < 1).any()


def test_one_estimated_cluster_does_not_make_every_item_certain():
    items = pt.item_uncertainty([[0, 0, 0, 1], [0, 0, 1, 1], [0, 0, 0, 0]], [0, 0, 0, 0])
    np.testing.assert_allclose(items.probability, [1, 1, 2 / 3, 1 / 3])
    assert (items.similarity_share == 1.0).all()


@settings(deadline=None)
@given(cases())
def test_contributions_sum_to_the_expected_vi(case):
    draws, estimate = case
    items = pt.item_uncertainty(draws, estimate)
    total = pt.expected_loss(estimate, draws, "vi")[0]
    assert items.contribution.sum() == pytest.approx(total, abs=1e-12)
    assert (items.contribution >= -1e-15).all()
    assert items.share.sum() == pytest.approx(1.0 if total > 0 else 0.0)


@pytest.mark.parametrize(
    "record", [r for r in load() if r["function"] in ("evi.contribution", "evi.wd.contribution")]
)
def test_contributions_of_wasabi(record):
    arguments = record["arguments"]
    draws = pt.Draws(
        arguments.get("Zmat", arguments.get("particles")), weights=arguments.get("part.weights")
    )
    found = pt.item_uncertainty(draws, arguments["Zhat"]).contribution
    assert found == pytest.approx(record["value"], abs=1e-12)


@pytest.mark.parametrize("record", [r for r in load() if r["function"] == "vi.contribution"])
def test_contributions_of_one_pair(record):
    arguments = record["arguments"]
    found = pt.item_uncertainty([arguments["Z1"]], arguments["Z2"]).contribution
    assert found == pytest.approx(record["value"], abs=1e-12)


@settings(deadline=None)
@given(cases())
def test_clusters_against_the_similarity_matrix(case):
    draws, estimate = case
    clusters = pt.cluster_uncertainty(draws, estimate)
    affinity = affinity_from_matrix(draws, estimate)
    k = estimate.max() + 1
    between = np.array([affinity[estimate == j].mean(axis=0) for j in range(k)])
    np.testing.assert_allclose(clusters.between, between, atol=1e-12)
    np.testing.assert_allclose(clusters.within, between.diagonal(), atol=1e-12)
    assert clusters.size.tolist() == np.bincount(estimate).tolist()
    if k == 1:
        assert clusters.nearest.tolist() == [-1]
    else:
        np.fill_diagonal(between, -1)
        np.testing.assert_allclose(clusters.nearest_similarity, between.max(axis=1), atol=1e-12)
        assert (clusters.nearest != np.arange(k)).all()
    assert (clusters.similar >= clusters.unchanged - 1e-15).all()


def test_a_cluster_that_comes_back():
    draws = [[0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 0, 1]]
    clusters = pt.cluster_uncertainty(draws, [0, 0, 0, 0, 0, 1], jaccard=0.8)
    assert clusters.unchanged.tolist() == [0.5, 0.5]
    assert clusters.similar.tolist() == [0.75, 0.5]  # 4 of 5 items overlap by exactly 0.8
    assert clusters.jaccard == 0.8


def test_an_item_never_together_with_any_other():
    items = pt.item_uncertainty([[0, 1, 1], [0, 1, 1]], [0, 0, 0])
    assert items.similarity_share[:, 0].tolist() == [0.0, 1.0, 1.0]
    assert items.probability.tolist() == [0.0, 1.0, 1.0]
    assert items.placement[0].tolist() == [0.0, 1.0]
    assert [items.best[0], items.second[0], items.other[0]] == [-1, -1, -1]
    assert items.order[0] == 0
