"""Credible balls by the paper's definition: small cases exactly, laws, and bad input."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita as pt
from partita.errors import InvalidInputError, NotSupportedError
from reference import uncertainty as reference
from reference.partitions import every_partition
from strategies import posteriors

METRICS = ["vi", "binder", "id"]
CASES = posteriors(most=6, draws=12, others=1).map(
    lambda case: (pt.Draws(case[0], weights=case[1]), *case)
)
PROBS = ["0.05", "0.3", "0.5", "0.75", "0.9", "0.95", "1"]


def as_dict(bound):
    return {
        tuple(labels): mass
        for labels, mass in zip(
            pt.canonical(bound.labels).tolist(), bound.mass.tolist(), strict=True
        )
    }


@settings(max_examples=200)
@given(CASES, st.sampled_from(METRICS), st.sampled_from(PROBS))
def test_every_part_agrees_with_the_definition(case, metric, prob):
    draws, rows, weights, center = case
    ball = pt.credible_ball(draws, center, prob=float(prob), loss=metric)
    wanted = reference.ball(rows, center, Fraction(prob), metric, weights)
    assert ball.radius == pytest.approx(float(wanted["radius"]), abs=1e-8)
    assert ball.coverage == pytest.approx(float(wanted["coverage"]), abs=1e-12)
    labels = ball.draws.labels.tolist()
    inside = {tuple(row) for row, here in zip(labels, ball.inside, strict=True) if here}
    outside = {tuple(row) for row, here in zip(labels, ball.inside, strict=True) if not here}
    assert inside == wanted["inside"]
    assert not inside & outside
    for name, bound in ball.bounds.items():
        assert as_dict(bound) == pytest.approx({k: float(v) for k, v in wanted[name].items()})
        assert bound.n_clusters.tolist() == [len(set(row)) for row in bound.labels.tolist()]


@given(CASES, st.sampled_from(METRICS), st.sampled_from(PROBS))
def test_inside_contains_and_level_tell_the_same_story(case, metric, prob):
    draws, rows, _, center = case
    ball = pt.credible_ball(draws, center, loss=metric).at(float(prob))
    assert np.array_equal(ball.inside, ball.distances <= ball.radius)
    for row, here in zip(rows, ball.inside, strict=True):
        assert ball.contains(row) == here
        level = ball.credible_level(row)
        assert ball.at(min(level, 1.0)).contains(row)
        if not here:
            assert level > float(prob)
    assert ball.contains(center)


@given(CASES, st.sampled_from(METRICS))
def test_another_probability_needs_no_new_distances(case, metric):
    draws, _, _, center = case
    ball = pt.credible_ball(draws, center, prob=0.5, loss=metric)
    again, direct = ball.at(0.9), pt.credible_ball(draws, center, prob=0.9, loss=metric)
    assert again.distances is ball.distances
    assert (again.radius, again.coverage) == (direct.radius, direct.coverage)
    assert again.bounds == direct.bounds


FOUR = every_partition(4)
CENTER = [0, 0, 1, 1]
COARSEST = {(0, 0, 0, 0)}
ONE_AND_THREE = {(0, 1, 1, 1), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)}
TWO_SINGLETONS = {(0, 1, 2, 1), (0, 1, 1, 2), (0, 1, 2, 0), (0, 1, 0, 2)}

BALLS = {
    "vi": (9, COARSEST, ONE_AND_THREE),
    "binder": (12, ONE_AND_THREE, ONE_AND_THREE | TWO_SINGLETONS),
}
"""Partitions in a ball of the supplement, its upper and its horizontal bound."""


@pytest.mark.parametrize("metric", BALLS)
def test_balls_of_four_items(metric):
    """With all partitions equally likely."""
    size, upper, horizontal = BALLS[metric]
    ball = pt.credible_ball(FOUR, CENTER, prob=size / len(FOUR), loss=metric)
    assert ball.inside.sum() == size
    assert set(as_dict(ball.upper)) == upper
    assert set(as_dict(ball.lower)) == {(0, 1, 2, 3)}
    assert set(as_dict(ball.horizontal)) == horizontal
    assert all(mass == pytest.approx(1 / 15) for mass in ball.horizontal.mass)


def test_the_count_is_guarded_against_rounding():
    # 0.3 * 10 is 3.0000000000000004 in binary when written as 0.1 + 0.2.
    chain = [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 2], [0, 1, 2, 3]]
    draws = [chain[0]] * 3 + [chain[1]] * 2 + [chain[2]] * 2 + [chain[3]] * 3
    for prob in (0.3, 0.1 + 0.2):
        assert pt.credible_ball(draws, chain[0], prob=prob).coverage == 0.3
    assert pt.credible_ball(draws, chain[0], prob=0.31).coverage == 0.5


@pytest.mark.parametrize("loss", ["vi", "nvi", "id", "nid"])
def test_distances_that_differ_by_rounding_tie(loss):
    # Seven clusters of equal size. Exchanging them moves a draw to one that is just as far away,
    # by the same arithmetic in another order of summation.
    rng = np.random.default_rng(0)
    center = np.repeat(np.arange(7), 13)
    blocks = rng.integers(0, 5, (7, 13))
    draws = [blocks[rng.permutation(7)].reshape(-1) for _ in range(25)]
    ball = pt.credible_ball(draws, center, prob=0.04, loss=loss)
    assert len(set(ball.distances.tolist())) > 1  # rounding does tell them apart
    assert ball.inside.all()
    assert len(ball.horizontal) == len(draws)
    assert all(ball.contains(row) and ball.credible_level(row) == 1 / 25 for row in draws)


@pytest.mark.parametrize("n_draws", [1, 3, 7, 10, 49, 100, 1000])
def test_each_count_is_reached_exactly(n_draws):
    # m draws at distances that all differ: prob = m/M must take m of them.
    n = 2 * n_draws
    rows = [[0] * (n - j) + list(range(1, j + 1)) for j in range(n_draws)]
    ball = pt.credible_ball(rows, [0] * n)
    for m in range(1, n_draws + 1):
        assert ball.at(m / n_draws).inside.sum() == m


def test_a_partition_beyond_every_draw_is_in_no_ball():
    ball = pt.credible_ball([[0, 0, 0], [0, 0, 1]], [0, 0, 0])
    assert ball.credible_level([0, 1, 2]) == float("inf")
    assert not ball.at(1.0).contains([0, 1, 2])


def test_draws_of_next_to_no_weight_still_count():
    draws = pt.Draws([[0, 0, 0], [0, 0, 1], [0, 1, 2]], weights=[1.0, 1e-12, 1e-13])
    ball = pt.credible_ball(draws, [0, 0, 0], prob=1)
    assert ball.inside.all()
    for row in draws.labels:
        assert ball.at(ball.credible_level(row)).contains(row)


def test_cross_tables_have_the_centre_in_rows():
    tables = pt.credible_ball([[0, 0, 1, 2]], [0, 0, 0, 1]).cross_tables()
    assert tables["upper"][0].tolist() == [[2, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    ("stays", "prob", "n_chains"), [(0.0, 0.9, 1), (0.8, 0.9, 1), (0.8, 0.5, 4), (0.9, 0.9, 4)]
)
def test_error_of_the_radius_is_its_spread_over_repetitions(stays, prob, n_chains):
    """Draws that stay with some probability, so that 2,000 are worth fewer."""

    def ball(seed):
        rng = np.random.default_rng(seed)
        fresh, moves = rng.integers(0, 3, (2_000, 30)), rng.random(2_000) >= stays
        labels = fresh[np.maximum.accumulate(np.where(moves, np.arange(2_000), 0))]
        draws = pt.Draws(labels, chain=np.repeat(np.arange(n_chains), 2_000 // n_chains))
        return pt.credible_ball(draws, np.arange(30) % 3, prob=prob, n_jobs=1)

    balls = [ball(seed) for seed in range(60)]
    spread = np.std([each.radius for each in balls], ddof=1)
    reported = np.mean([each.radius_mcse for each in balls])
    # The spread of 60 radii is itself known to about 10%, and the distances are discrete.
    assert reported == pytest.approx(spread, rel=0.35)


def test_error_of_the_radius_grows_with_autocorrelation_and_disagreement():
    rng = np.random.default_rng(5)
    labels, center = rng.integers(0, 3, (500, 30)), rng.integers(0, 3, 30)
    free = pt.credible_ball(pt.Draws(labels), center, prob=0.9)
    sticky = pt.credible_ball(pt.Draws(np.repeat(labels, 8, axis=0)), center, prob=0.9)
    # Eightfold copies add no information: the error must not shrink by √8.
    assert sticky.radius_mcse > 0.7 * free.radius_mcse
    # Two chains that take turns in the rows: only their ids show that they disagree.
    turns = np.stack([labels, rng.integers(0, 6, (500, 30))], axis=1).reshape(1_000, 30)
    together = pt.credible_ball(pt.Draws(turns), center, prob=0.9)
    apart = pt.credible_ball(pt.Draws(turns, chain=np.tile([0, 1], 500)), center, prob=0.9)
    assert apart.radius_mcse > 2 * together.radius_mcse


def test_error_of_the_radius_of_weighted_draws_is_kishs():
    rng = np.random.default_rng(6)
    labels, center = rng.integers(0, 3, (2_000, 30)), np.arange(30) % 3
    plain = pt.credible_ball(pt.Draws(labels), center, prob=0.9)
    equal = pt.credible_ball(pt.Draws(labels, weights=np.ones(2_000)), center, prob=0.9)
    assert equal.radius_mcse == pytest.approx(plain.radius_mcse, rel=0.5)
    uneven = pt.credible_ball(pt.Draws(labels, weights=rng.pareto(1.0, 2_000) + 0.01), center)
    assert uneven.radius_mcse > equal.at(0.95).radius_mcse


def test_error_of_the_radius_where_it_cannot_be_known():
    draws = pt.Draws(np.random.default_rng(0).integers(0, 3, (50, 6)))
    ball = pt.credible_ball(draws, draws.labels[0])
    assert np.isnan(ball.at(1.0).radius_mcse)
    assert np.isnan(pt.credible_ball(draws.labels[:3], draws.labels[0]).radius_mcse)
    assert pt.credible_ball(np.zeros((50, 3), int), [0, 0, 0]).radius_mcse == 0.0


@pytest.mark.parametrize(
    "loss", ["one_minus_ari", "one_minus_pear", "vi_lb", pt.VI(a=0.5), pt.Binder(a=1.5)]
)
def test_a_loss_that_is_no_metric_is_refused_with_the_reason(loss):
    with pytest.raises(NotSupportedError, match="is not a metric"):
        pt.credible_ball([[0, 1]], [0, 1], loss=loss)


class Estimate:
    """What a ball needs to know of an estimate."""

    def __init__(self, labels, loss):
        self.labels, self.loss = np.asarray(labels), loss

    def __labels__(self):
        return self.labels


def test_the_metric_comes_from_the_estimate():
    draws = [[0, 1], [0, 0]]
    assert pt.credible_ball(draws, Estimate([0, 1], pt.Binder())).loss == pt.Binder()
    assert pt.credible_ball(draws, Estimate([0, 1], pt.VILowerBound())).loss == pt.VI()
    assert pt.credible_ball(draws, Estimate([0, 1], pt.Binder()), loss="id").loss == pt.ID()
    with pytest.raises(NotSupportedError, match="is not a metric"):
        pt.credible_ball(draws, Estimate([0, 1], pt.OneMinusARI()))


def test_a_bound_is_explained_from_the_centre():
    draws = pt.Draws(
        [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 2], [0, 0, 0, 0, 0, 0]], item_names=list("abcdef")
    )
    ball = pt.credible_ball(draws, [0, 0, 0, 1, 1, 1], prob=1)
    told = ball.explain("lower")
    assert told.distance == pytest.approx(ball.lower.distance)
    assert str(told).startswith("item f leaves cluster 1 and is alone")
    assert ball.explain("upper").changes[0].kind == "merge"
    with pytest.raises(InvalidInputError, match="kind='sideways'; expected one of 'upper'"):
        ball.explain("sideways")
