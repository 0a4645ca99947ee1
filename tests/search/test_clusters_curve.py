"""The best partition for each k, against enumeration, and the plateau against its definition."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import partita as pt
from search_tasks import all_losses, random_posterior


@pytest.mark.parametrize("weighted", [False, True])
def test_every_k_is_the_best_of_all_partitions(weighted):
    draws = random_posterior(7, 40, 3, weighted=weighted)
    curve = pt.clusters_curve(draws, k=range(1, 8))
    partitions, losses = all_losses(draws, pt.VI())
    clusters = partitions.max(axis=1) + 1
    wanted = [losses[clusters == k].min() for k in range(1, 8)]
    assert curve.expected_loss == pytest.approx(wanted, abs=1e-11)
    assert curve.excess == pytest.approx(np.array(wanted) - losses.min(), abs=1e-11)
    assert [row.max() + 1 for row in curve.labels] == list(range(1, 8))
    for row, distance in zip(curve.labels, curve.distance, strict=True):
        assert distance == pytest.approx(pt.distance(curve.estimate, row), abs=1e-12)


def test_the_error_is_that_of_paired_losses_of_weighted_draws():
    draws = random_posterior(7, 40, 3, weighted=True)
    curve = pt.clusters_curve(draws, k=[1, 2, 3])
    w = draws.weights
    for row, error in zip(curve.labels, curve.standard_error, strict=True):
        pairs = pt.pairwise_distances(draws, np.stack([row, curve.estimate]))
        difference = pairs[:, 0] - pairs[:, 1]
        spread = (w * (difference - w @ difference) ** 2).sum()
        assert error == pytest.approx(np.sqrt(spread * (w**2).sum()), abs=1e-12)


def test_the_plateau_holds_what_loses_less_than_the_tolerance():
    draws = random_posterior(7, 40, 3)
    loose = pt.clusters_curve(draws, k=range(1, 8), tolerance=1e9)
    assert loose.plateau.tolist() == list(range(1, 8))
    assert loose.sentence.endswith("Within 1e+09 bits of the best: 1 to 7 clusters.")
    parted = replace(loose, excess=np.array([0.0, 2.0, 0.0, 2.0, 0.0, 0.0, 0.0]), tolerance=1.0)
    assert parted.headline == "1, 3 and 5 to 7 clusters are within 1 bits of the best"
    strict = pt.clusters_curve(draws, k=range(1, 8), tolerance=0.0)
    assert strict.plateau.tolist() == [int(strict.estimate.max()) + 1]
    curve = pt.clusters_curve(draws, k=range(1, 8))
    assert curve.seconds > 0
    wanted = curve.excess <= 2.0 * curve.standard_error
    wanted[int(curve.estimate.max())] = True
    assert curve.plateau.tolist() == (np.flatnonzero(wanted) + 1).tolist()


def test_a_search_finds_the_best_of_every_k(monkeypatch):
    monkeypatch.setattr("partita.search.settings.EXACT_ITEMS", 0)
    draws = random_posterior(8, 40, 5)
    partitions, losses = all_losses(draws, pt.VI())
    clusters = partitions.max(axis=1) + 1
    curve = pt.clusters_curve(draws, k=range(1, 9))
    wanted = [losses[clusters == k].min() for k in range(1, 9)]
    assert curve.expected_loss == pytest.approx(wanted, abs=1e-11)


@pytest.mark.parametrize("seed", [13, 35, 39])
def test_the_curve_and_the_estimate_with_that_number_are_one_search(seed):
    rng = np.random.default_rng(seed)  # where two searches differed by up to 0.2%
    truth, noise = rng.integers(0, 4, 30), rng.integers(0, 5, (25, 30))
    draws = pt.Draws(np.where(rng.random((25, 30)) < 0.6, noise, truth))
    curve = pt.clusters_curve(draws, k=range(1, 7))
    for k in range(4, 7):
        alone = pt.estimate(draws, n_clusters=k, bound=None).expected_loss
        assert curve.expected_loss[k - 1] == pytest.approx(alone, rel=1e-9)


def test_few_clusters_that_cost_little_are_named():
    truth = np.repeat([0, 1, 2], [14, 14, 1])
    labels = np.tile(truth, (400, 1))
    labels[:200, 28] = 1  # in half of the draws the last item joins the second cluster
    labels[np.arange(400), np.arange(400) % 28] = 3
    curve = pt.clusters_curve(labels, k=range(1, 5), tolerance=0.0)
    assert curve.plateau.tolist() == [3]
    assert curve.fewest_near == 2
    percent = float(curve.percent[1])
    assert 0.0 < percent <= 1.0
    assert f"{percent:.2g} ± " in curve.sentence
    loose = pt.clusters_curve(labels, k=range(1, 5), tolerance=0.1)
    assert loose.fewest_near is None
    assert loose.sentence.endswith("Within 0.1 bits of the best: 2 to 3 clusters.")


def test_numbers_that_tie_exactly_are_seldom_told_apart():
    # Two partitions with probability 1/2 each have equal expected losses whatever the loss.
    rng = np.random.default_rng(7)
    both = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]])
    apart = 0
    for _ in range(300):
        curve = pt.clusters_curve(both[rng.integers(0, 2, 100)], k=[2, 3])
        apart += curve.plateau.size == 1
        told = "hardly change this order" in curve.sentence
        assert told == (curve.plateau.size == 1)
    assert apart / 300 < 0.09  # 5% by theory; one standard error: a third


def test_too_few_draws_for_errors_are_said_and_ties_are_on_the_plateau():
    curve = pt.clusters_curve([[0, 0, 1, 1], [0, 0, 0, 0]], k=range(1, 5))
    assert np.isnan(curve.standard_error).any()
    assert set(curve.k[curve.excess <= 0]) <= set(curve.plateau)
    assert {1, 2} <= set(curve.plateau)
    assert "too few for standard errors" in curve.sentence
    assert "hardly" not in curve.sentence


def test_a_time_limit_leaves_numbers_out_with_a_word():
    flat = np.random.default_rng(0).integers(0, 30, (50, 400))
    with pytest.warns(pt.errors.PartitaWarning, match="time limit"):
        curve = pt.clusters_curve(flat, time_limit=1e-3, n_jobs=1)
    assert 1 <= curve.k.size < 400
    assert curve.estimate.max() + 1 in curve.k


# --------------------------------------------------------- the fewest clusters near the lowest loss


THRESHOLDS = {0.5: 1.5818, 0.75: 2.0209, 1.0: 2.4528, 1.25: 2.9156, 1.5: 3.4627}
"""Distance in sd from which on two equal normals are two clusters under VI(a)."""


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3])
def test_fewest_within_against_enumeration(share):
    every = np.array(list(pt.lattice.all_partitions(6)))
    for seed in range(4):
        draws = pt.Draws(np.random.default_rng(seed).integers(0, 3, (9, 6)))
        losses = np.array([pt.expected_loss(labels, draws) for labels in every]).ravel()
        near = losses <= (1 + share) * losses.min() + 1e-12
        found = pt.estimate(draws, fewest_within=share)
        assert found.n_clusters == (every[near].max(axis=1) + 1).min()
        assert found.expected_loss == pt.expected_loss(found.labels, draws)
        assert found.expected_loss <= (1 + share) * losses.min() + 1e-12
        assert found.constraints[0].startswith("the fewest clusters within")
    with pytest.raises(pt.PartitaError, match="fewest_within chooses the number"):
        pt.estimate(draws, fewest_within=0.1, n_clusters=2)


def test_undecided_items_are_named_in_the_summary():
    """Item 4 is with either pair in 60% of the draws, with neither in half of them."""
    rows = [[0, 0, 1, 1, 0]] * 30 + [[0, 0, 1, 1, 1]] * 30 + [[0, 0, 1, 1, 2]] * 40
    order = np.random.default_rng(0).permutation(100)
    summary = pt.summarize(pt.Draws(np.array(rows)[order], chain=np.arange(100) // 50))
    assert summary.n_clusters == 3
    assert "undecided (4)" in summary.how_many


def two_normals(distance: float, a: float) -> float:
    """Expected VI(a) of the best split into halves less that of one cluster, in bits, N → ∞.

    E VI(a) = a·H(c) − 2·I(c; Z) + const, I by numerical integration over x.
    """

    def terms(x: float) -> float:
        densities = 0.5 * stats.norm.pdf(x, [-distance / 2, distance / 2])
        return float(densities[1])

    mass = integrate.quad(terms, 0, distance / 2 + 12)[0]  # of Z = 1 on the right
    joint = np.array([[0.5 - mass, mass], [mass, 0.5 - mass]])
    information = (joint * np.log2(joint / 0.25)).sum()
    return a - 2 * information


@pytest.mark.parametrize(("a", "expected"), THRESHOLDS.items())
def test_the_threshold_of_two_normals(a, expected):
    assert optimize.brentq(two_normals, 0.5, 6, args=(a,)) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("a", "distance", "k"), [(1, 2.2, 1), (1, 2.8, 2), (0.5, 1.3, 1), (0.5, 1.9, 2)]
)
def test_estimates_have_one_or_two_clusters_as_the_threshold_says(a, distance, k):
    """Labels drawn independently given the known densities."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=400) + distance * np.repeat([-0.5, 0.5], 200)
    p = 1 / (1 + np.exp(-distance * x))
    draws = (rng.random((150, 400)) < p).astype(int)
    assert pt.estimate(draws, loss=pt.VI(a), bound=None).n_clusters == k
