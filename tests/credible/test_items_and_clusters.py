"""Items, clusters, aligned draws and counts against matrices, peers' records and laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import partita as pt
from partita.credible.uncertainty import compare
from partita.labels import by_size
from partita.scan import shapes_of
from reference import uncertainty as reference
from reference.ground_truth import load
from reference.losses import similarity
from reference.partitions import first_appearance
from reference.uncertainty import masses_of, matching, shape
from strategies import posteriors


def as_draws(case):
    rows, weights, estimate = case
    return pt.Draws(rows, weights=weights), by_size(estimate)


CASES = posteriors(others=1).map(as_draws)


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


@given(CASES, st.sampled_from([0.5, 0.8, 1.0]))
def test_comparison_with_an_estimate(case, jaccard):
    draws, estimate = case
    found = compare(estimate, draws, jaccard=jaccard, n_jobs=1)
    rows = draws.labels.tolist()
    wanted = reference.comparison(rows, estimate.tolist(), jaccard, draws.probabilities)
    wanted["companions"][np.arange(estimate.size), estimate] -= 1.0  # the item itself
    for name, value in wanted.items():
        np.testing.assert_allclose(getattr(found, name), value, rtol=0, atol=1e-13, err_msg=name)


def test_comparison_in_batches():
    """More draws, items and clusters than a batch holds: as one batch, and as draw by draw."""
    rng = np.random.default_rng(0)
    draws = pt.Draws(rng.integers(0, 200, (40, 300)))
    estimate = pt.canonical(rng.integers(0, 200, 300))
    whole = compare(estimate, draws, n_jobs=1)
    single = [compare(estimate, draws[m : m + 1], n_jobs=1) for m in range(40)]
    for name in ("placed", "companions", "information", "unchanged", "similar"):
        wanted = np.mean([getattr(one, name) for one in single], axis=0)
        np.testing.assert_allclose(getattr(whole, name), wanted, rtol=0, atol=1e-12, err_msg=name)


@given(CASES)
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


def test_weights_that_round_leave_no_similarity():
    # Item 0 is never with another item; 1 − Σw·1 used to leave 1e-16 of it, scaled to a share of 1.
    weights = np.array([1.0, 1e-17, 0.3, 0.7])
    draws = pt.Draws([[0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 1, 2], [0, 1, 2, 1]], weights=weights)
    items = pt.item_uncertainty(draws, [0, 0, 1, 1])
    assert items.similarity_share[0].tolist() == [0.0, 0.0]
    rng = np.random.default_rng(1)
    for _ in range(50):
        weights = 10.0 ** rng.uniform(-12, 3, 6)
        labels = np.column_stack([np.full(6, 9), rng.integers(0, 3, (6, 4))])
        share = pt.item_uncertainty(pt.Draws(labels, weights=weights), [0, 0, 0, 1, 1])
        assert not share.similarity_share[0].any()


@given(CASES)
def test_placement_by_matched_clusters_against_all_assignments(case):
    draws, estimate = case
    items = pt.item_uncertainty(draws, estimate)
    wanted = reference.placement(draws.labels.tolist(), estimate.tolist(), draws.probabilities)
    np.testing.assert_allclose(items.placement, wanted, rtol=0, atol=1e-13)
    everyone = np.arange(estimate.size)
    assert np.array_equal(items.probability, items.placement[everyone, estimate])
    assert (np.diff(items.probability[items.order]) >= 0).all()
    assert sorted(items.order.tolist()) == list(range(estimate.size))


@given(CASES)
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


@given(CASES)
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


@given(CASES)
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


@given(CASES)
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


@given(posteriors(most=8, draws=5, others=1))
def test_every_draw_in_the_numbering_of_the_reference(case):
    rows, _, given_reference = case
    reference = first_appearance(given_reference)
    found = pt.align(rows, reference)
    assert found.dtype == np.int32
    for row, aligned in zip(rows, found.tolist(), strict=True):
        canonical = first_appearance(row)
        stands_for = matching(canonical, reference)
        unmatched = [t for t in sorted(set(canonical)) if t not in stands_for]
        wanted = [stands_for[t] if t in stands_for else -1 - unmatched.index(t) for t in canonical]
        assert aligned == wanted


def test_a_tie_that_takes_two_chains_of_moves():
    # Cluster 0 may have the first of its two overlaps only if clusters 3 and 4 both move.
    estimate, row = [0, 1, 2, 0, 1, 2, 3, 3, 4, 3], [0, 1, 2, 3, 4, 5, 6, 0, 3, 0]
    assert pt.align([row], estimate).tolist() == [[0, 1, 2, 4, -1, -2, 3, 0, 4, 0]]
    assert matching(row, estimate) == {0: 0, 1: 1, 2: 2, 6: 3, 3: 4}


def test_matching_many_clusters_is_not_cubic():
    rng = np.random.default_rng(0)
    for n_items in (500, 1000):
        flat = rng.integers(0, n_items // 2, (20, n_items))
        singletons = np.arange(n_items)
        aligned = pt.align(flat, singletons)
        # Singletons overlap one cluster each by one item, so each cluster has its first item.
        for row, found in zip(flat, aligned, strict=True):
            firsts = np.unique(row, return_index=True)[1]
            assert np.array_equal(np.unique(found), np.sort(firsts))
        assert pt.item_uncertainty(flat[:3], singletons).placement.shape == (n_items, n_items + 1)


def test_the_numbers_of_the_reference_are_kept():
    assert pt.align([[0, 0, 1, 1]], [1, 1, 0, 0]).tolist() == [[1, 1, 0, 0]]
    assert pt.align([[0, 0, 1, 1]], [7, 7, 3, 3]).tolist() == [[0, 0, 1, 1]]


@given(posteriors(most=8))
def test_number_of_clusters(case):
    rows, weights = case
    found = pt.n_clusters_posterior(pt.Draws(rows, weights=weights))
    wanted: dict = {}
    for row, mass in zip(rows, masses_of(rows, weights), strict=True):
        wanted[len(set(row))] = wanted.get(len(set(row)), 0) + mass
    assert found.values.tolist() == sorted(wanted)
    assert found.probabilities == pytest.approx([float(wanted[k]) for k in sorted(wanted)])
    assert found.mean == pytest.approx(float(sum(k * m for k, m in wanted.items())))
    assert found.interval(1.0) == (min(wanted), max(wanted))


@given(posteriors(most=8))
def test_sorted_sizes(case):
    rows, weights = case
    found = pt.cluster_sizes_posterior(pt.Draws(rows, weights=weights), prob=0.5)
    assert found.lower.dtype == found.median.dtype == found.upper.dtype == np.int32
    masses = masses_of(rows, weights)
    most = max(len(set(row)) for row in rows)
    table = [(shape(row)[1] + [0] * most)[:most] for row in rows]
    for j in range(most):
        sizes = [row[j] for row in table]
        mean = sum(s * m for s, m in zip(sizes, masses, strict=True))
        present = sum(m for s, m in zip(sizes, masses, strict=True) if s > 0)
        assert found.mean[j] == pytest.approx(float(mean))
        assert found.present[j] == pytest.approx(float(present))
        for level, column in ((0.25, found.lower), (0.5, found.median), (0.75, found.upper)):
            below = sum(m for s, m in zip(sizes, masses, strict=True) if s <= column[j])
            smaller = sum(m for s, m in zip(sizes, masses, strict=True) if s < column[j])
            assert smaller < level + 1e-8
            assert below >= level - 1e-8


@given(CASES, st.integers(1, 4))
def test_shapes(case, n_ranks):
    draws, _ = case
    entropy, ranked = shapes_of(draws, n_ranks)
    for r, row in enumerate(draws.labels.tolist()):
        wanted, sizes = shape(row)
        assert entropy[r] == pytest.approx(wanted, abs=1e-12)
        assert ranked[r].tolist() == (sizes + [0] * n_ranks)[:n_ranks]


def test_few_ranks_are_the_first_of_all():
    draws = pt.Draws(np.random.default_rng(0).integers(0, 5, (100, 9)))
    everything, three = (pt.cluster_sizes_posterior(draws, n_ranks=n) for n in (None, 3))
    assert len(three) == 3
    assert np.array_equal(three.mean, everything.mean[:3])
    assert three.to_frame().index.tolist() == [1, 2, 3]


def test_the_interval_leaves_out_equal_tails():
    rows = [[0] * (10 - k) + list(range(k)) for k in range(10)]  # 1, 1, 2, …, 9 clusters
    counts = pt.n_clusters_posterior(rows)
    assert counts.interval(0.8) == (1, 8)
    assert counts.interval(0.4) == (2, 6)


@pytest.mark.parametrize("n_draws", [20, 200])
def test_sums_in_chunks_of_items_are_those_of_all_items(
    n_draws: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables of overlaps are kept for few draws, and counted anew for each chunk for many."""
    rng = np.random.default_rng(n_draws)
    estimate = rng.integers(0, 3, 500)
    labels = np.where(rng.random((n_draws, 500)) < 0.3, rng.integers(0, 4, 500), estimate)
    draws = pt.Draws(labels, weights=rng.random(n_draws))
    whole = pt.item_uncertainty(draws, estimate), pt.cluster_uncertainty(draws, estimate)
    monkeypatch.setattr("partita.credible.uncertainty._SUM_BYTES", 2_000)
    parts = pt.item_uncertainty(draws, estimate), pt.cluster_uncertainty(draws, estimate)
    for name in ("placement", "similarity_share", "contribution", "best", "second", "order"):
        np.testing.assert_array_equal(getattr(parts[0], name), getattr(whole[0], name))
    for name in ("within", "between", "unchanged", "similar"):
        np.testing.assert_array_equal(getattr(parts[1], name), getattr(whole[1], name))
