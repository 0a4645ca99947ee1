"""The price path and the curve over numbers of clusters, against all partitions of few items."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import partita as pt
from partita.errors import InvalidInputError
from search_tasks import all_losses, random_posterior
from simulated import FIVE, labels_around


@pytest.mark.parametrize(
    ("loss", "breakpoints"),
    [
        ("vi", [0.4, 0.509607, 1.013902, 1.654804]),
        ("binder", [0.4, 0.6, 1.2, 1.85]),
    ],
)
def test_the_path_of_six_items(loss, breakpoints, way):
    path = pt.price_path(FIVE, loss=loss)
    corners = ["123456", "112334", "112333", "112222", "111111"]
    wanted = [pt.canonical(list(row)).tolist() for row in corners]
    assert [pt.canonical(row).tolist() for row in path.labels] == wanted
    assert path.breakpoints == pytest.approx(breakpoints, abs=1e-6)
    assert path.n_clusters.tolist() == [6, 4, 3, 2, 1]


@pytest.mark.parametrize("loss", ["vi", "binder"])
@pytest.mark.parametrize("seed", range(3))
def test_the_path_is_that_of_all_partitions(loss, seed, way):
    draws = random_posterior(5 + seed % 3, 12 + 5 * seed, seed, weighted=seed % 2 == 1)
    path = pt.price_path(draws, loss=loss, rng=seed)
    measure = {"vi": pt.VI, "binder": pt.Binder}[loss]
    prices = np.concatenate((np.linspace(0.02, 1.98, 12), path.breakpoints))
    for a in prices:
        losses = all_losses(draws, measure(float(a)))[1]
        assert path.expected(a) == pytest.approx(losses.min(), abs=1e-10)
        assert pt.expected_loss(path.at(a), draws, loss=measure(float(a)))[0] == pytest.approx(
            losses.min(), abs=1e-10
        )
    assert (np.diff(path.breakpoints) > 0).all()
    assert (path.lower_bounds <= path.expected(path.breakpoints) + 1e-12).all()
    assert len(path.is_proven) == len(path)
    assert path.gap is not None
    assert path.gap >= 0.0


@pytest.mark.parametrize(
    "loss",
    [
        pt.Additive(lambda x: x**3, scale=lambda n: n**3),
        pt.Additive([0.0, 0.0, 2.0, 5.0, 9.0, 14.0, 20.0], a=1.3),
        pt.Entropy(1.5),
    ],
    ids=["cubes", "table", "entropy"],
)
def test_every_loss_with_a_price_has_a_path(loss, way):
    draws = random_posterior(6, 20, 3, weighted=True)
    path = pt.price_path(draws, loss=loss, bound=None)
    assert len(path) > 4
    everywhere = [loss.with_price(a) for a in np.linspace(0.02, 1.98, 23)]
    for priced in (*everywhere, *map(loss.with_price, path.breakpoints)):
        losses = all_losses(draws, priced)[1]
        assert path.expected(priced.price) == pytest.approx(losses.min(), abs=1e-10)
        own = pt.expected_loss(path.at(priced.price), draws, loss=priced)[0]
        assert own == pytest.approx(losses.min(), abs=1e-10)
        other = path.stability(path.at(1.0))
        here = pt.expected_loss(path.at(1.0), draws, loss=priced)[0]
        assert other.excess(priced.price) == pytest.approx(here - losses.min(), abs=1e-10)
        assert (other.low <= priced.price <= other.high) == (here <= losses.min() + 1e-10)


@pytest.mark.parametrize(
    ("name", "value"), [("CHECKED_CELLS", 0), ("DISSOLVED_DRAWS", 10), ("MANY", 0)]
)
def test_corners_that_are_looked_at_on_fewer_draws(monkeypatch, name, value):
    monkeypatch.setattr(f"partita.search.price_path.{name}", value)
    draws = random_posterior(12, 700, 5)
    assert draws.unique().n_draws > 600  # more than a sample
    path = pt.price_path(draws, bound=None)
    for a in path.breakpoints:
        own = pt.expected_loss(path.at(a), draws, loss=pt.VI(float(a)))[0]
        assert path.expected(a) == pytest.approx(own, abs=1e-10)
    best = pt.estimate(draws, bound=None).expected_loss
    assert best - 1e-10 <= path.expected(1.0) <= best * 1.01


def test_what_a_path_says():
    path = pt.price_path(FIVE)
    assert path.gap == 0.0
    assert path.is_proven.all()
    assert path.for_clusters(5) is None
    more, fewer = path.neighbours(5)
    assert (more.n_clusters, fewer.n_clusters) == (6, 4)
    assert np.array_equal(path.for_clusters(2), path.labels[3])
    estimate = pt.estimate(FIVE)
    stable = path.stability(estimate.labels)
    assert (stable.low, stable.high) == pytest.approx((0.509607, 1.013902), abs=1e-6)
    assert stable.excess(1.0) == pytest.approx(0.0, abs=1e-12)
    here = pt.expected_loss(estimate.labels, FIVE, loss=pt.VI(1.5))[0]
    assert stable.excess(1.5) == pytest.approx(here - float(path.expected(1.5)), abs=1e-12)
    never = path.stability([0, 1, 0, 1, 0, 1])
    assert not never.is_optimal
    assert never.excess(1.0) > 0
    corners = list(path)
    assert [c.high for c in corners[:-1]] == path.breakpoints.tolist()
    assert list(path.to_frame()["n_clusters"]) == path.n_clusters.tolist()


def test_optimal_is_said_of_what_is_proven():
    draws = np.random.default_rng(3).integers(0, 3, (40, 14))
    for path in (pt.price_path(draws), pt.price_path(draws, bound=None), pt.price_path(FIVE)):
        for corner in path:
            stable = path.stability(corner.labels)
            assert stable.is_proven == corner.is_proven
            assert stable.in_words.startswith("optimal" if corner.is_proven else "the best found")
        whole = path.gap == 0.0
        assert ("optimal partitions" if whole else "best partitions found") in repr(path)
    assert pt.price_path(FIVE).gap == 0.0
    assert pt.price_path(draws, bound=None).gap is None


def test_part_of_a_path_is_that_part():
    path = pt.price_path(FIVE)
    part = pt.price_path(FIVE, low=0.45, high=1.2)
    assert part.breakpoints == pytest.approx(path.breakpoints[1:3])
    assert np.array_equal(part.labels, path.labels[1:4])
    with pytest.raises(InvalidInputError, match="expected prices between"):
        part.at(1.5)


@pytest.mark.parametrize("loss", [pt.VI(), pt.Binder()], ids=repr)
def test_what_is_said_of_part_of_a_path_is_true(loss, way):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        draws = random_posterior(7, 20, seed, weighted=seed % 2 == 1)
        low, high = sorted(rng.uniform(0.05, 1.95, 2).tolist())
        path = pt.price_path(draws, loss=loss, low=low, high=high, bound="auto")
        edges = np.concatenate(([low], path.breakpoints, [high]))
        bounds = [path.end_bounds[0], *path.lower_bounds, path.end_bounds[1]]
        least = np.array([all_losses(draws, loss.with_price(float(a)))[1].min() for a in edges])
        assert (bounds <= least + 1e-12).all()
        best = path.expected(edges)
        assert (best <= least / (1.0 - path.gap) + 1e-10).all()
        if way == "enumerated":
            assert path.is_proven.all()
        for corner, ends in zip(path, np.column_stack((least[:-1], least[1:])), strict=True):
            if corner.is_proven:
                prices = np.array([corner.low, corner.high])
                own = prices * corner.splitting + (2.0 - prices) * corner.merging
                assert own == pytest.approx(ends, abs=1e-10)


def test_nine_items_are_enumerated_and_the_search_of_part_of_a_path_proves_nothing_false():
    draws = random_posterior(9, 20, 3, weighted=True)  # where a search misses the lowest
    low, high = 1.147891664915862, 1.5422940373715144
    path = pt.price_path(draws, low=low, high=high)
    assert path.gap == 0.0
    for a in (low, high):
        assert path.expected(a) == pytest.approx(all_losses(draws, pt.VI(a))[1].min(), abs=1e-12)


def noisy_groups(n_items: int, n_draws: int) -> pt.Draws:
    truth = np.random.default_rng(0).integers(0, 6, n_items)
    return pt.Draws(labels_around(truth, n_draws, redrawn=0.4, k=9))


def test_a_path_stops_when_its_work_is_done_and_says_how_far_it_came(monkeypatch):
    draws = noisy_groups(40, 30)
    whole = pt.price_path(draws, bound=None)
    assert (whole.low, whole.high, whole.limits) == (0.0, 2.0, ())
    monkeypatch.setattr("partita.search.price_path.PATH_CELLS", 3e5)
    part = pt.price_path(draws, bound=None)
    assert 0.0 < part.low < 1.0 < part.high < 2.0
    assert not part.interrupted
    (limit,) = part.limits
    assert f"prices below {part.low:g} and above {part.high:g} were not reached" in limit
    assert limit in str(part)
    assert f"for prices from {part.low:g} to {part.high:g}" in repr(part)
    prices = np.linspace(part.low, part.high, 9)
    assert part.expected(prices) == pytest.approx(whole.expected(prices), rel=1e-2)
    with pytest.raises(InvalidInputError, match="expected prices between"):
        part.at(0.1)


def test_time_ends_a_path_within_the_prices_that_it_reached():
    path = pt.price_path(noisy_groups(60, 40), bound="tight", time_limit=0.01)
    assert path.interrupted
    assert path.low < 1.0 < path.high
    assert path.limits[0].startswith("time:")


def test_the_number_of_clusters_may_rise_along_the_path_of_binder():
    path = pt.price_path([[0, 1, 2, 3] * 2] * 5 + [[0, 0, 0, 0, 1, 2, 3, 4]] * 4, loss="binder")
    assert path.n_clusters.tolist() == [8, 4, 5, 4, 3, 2, 1]
    assert path.breakpoints[1] == pytest.approx(14 / 9)  # where 4 pairs of 5/9 meet 6 of 4/9
    assert (np.diff(path.splitting) < 0).all()
    assert path.gap == 0.0


# -------------------------------------------------------------------- the best partition for each k


@pytest.mark.parametrize("weighted", [False, True])
def test_every_k_is_the_best_of_all_partitions(weighted, way):
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


def two_normals(distance: float, a: float) -> float:
    """Expected VI(a) of the best split into halves less that of one cluster, in bits, N → ∞.

    E VI(a) = a·H(c) − 2·I(c; Z) + const, I by numerical integration of the density right of 0.
    """
    density, end = stats.norm(distance / 2).pdf, distance / 2 + 12
    mass = 0.5 * integrate.quad(density, 0, end)[0]  # of Z = 1 on the right
    joint = np.array([[0.5 - mass, mass], [mass, 0.5 - mass]])
    return a - 2 * (joint * np.log2(joint / 0.25)).sum()


@pytest.mark.parametrize(
    ("a", "expected"), [(0.5, 1.5818), (0.75, 2.0209), (1.0, 2.4528), (1.25, 2.9156), (1.5, 3.4627)]
)
def test_the_threshold_of_two_normals(a, expected):
    """Distance in sd from which on two equal normals are two clusters under VI(a)."""
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
