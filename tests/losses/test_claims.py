"""What a loss of a user claims, wherever a proof rests on it, and functions that fail."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

import partita as pt
from partita.losses.evaluate import LOSSES, as_loss
from partita.losses.user import flaw
from search_tasks import random_draws

SINGLETONS, ONE = list(range(6)), [0] * 6


class Weighed(pt.VI):
    """VI times a number that is no field: two of them differ all the same."""

    name: ClassVar[str] = "weighed"

    def __init__(self, weight):
        super().__init__()
        object.__setattr__(self, "weight", weight)

    def distances(self, estimate, draws, n_jobs=None):
        return self.weight * super().distances(estimate, draws, n_jobs)


def test_losses_are_told_apart_by_all_they_hold():
    draws = random_draws(8, 20, seed=0)
    once, thrice = (pt.expected_loss(ONE[:1] * 8, draws, loss=Weighed(w))[0] for w in (1.0, 3.0))
    assert thrice == pytest.approx(3.0 * once)
    assert Weighed(1.0) != Weighed(3.0)
    assert pt.estimate(draws, loss=Weighed(3.0)).loss.weight == 3.0
    assert (pt.VI(0.5), hash(pt.VI(0.5))) == (pt.VI(0.5), hash(pt.VI(0.5)))
    assert pt.VI() != pt.VI(0.5)
    assert pt.VI() != pt.Binder()


class Claiming(pt.Loss):
    """The square of VI, with a claim that is an attribute of the instance."""

    name: ClassVar[str] = "claiming"
    title: ClassVar[str] = "squared VI"

    def __init__(self, metric):
        self.metric = metric

    def distances(self, estimate, draws, n_jobs=None):
        return pt.VI().distances(estimate, draws, n_jobs) ** 2


def test_a_claim_is_checked_after_the_same_class_without_it():
    assert pt.distance(ONE, SINGLETONS, loss=Claiming(False)) > 0
    with pytest.raises(pt.errors.InvalidInputError, match="is not a metric"):
        pt.distance(ONE, SINGLETONS, loss=Claiming(True))


class AboveVI(pt.OneMinusARI):
    name: ClassVar[str] = "above"

    def minorant(self):
        return 1.0, pt.VI()


class OnNoMetric(pt.NVI):
    name: ClassVar[str] = "on no metric"

    def minorant(self):
        return 0.1, pt.OneMinusARI()


class Entropies(pt.NVI):
    name: ClassVar[str] = "entropies"
    conditional_entropies: ClassVar[bool] = True


class Pairs(pt.VI):
    name: ClassVar[str] = "pairs"

    def pair_scale(self, n_items):
        return float(n_items) ** 2


class Exact(pt.VI):
    name: ClassVar[str] = "exact"
    is_exact: ClassVar[bool] = True


class OwnBall(pt.OneMinusARI):
    name: ClassVar[str] = "own ball"

    def ball_metric(self):
        return self


class Steep(pt.Binder):
    """Its price does not mix two losses."""

    name: ClassVar[str] = "steep"

    def with_price(self, a):
        return type(self)(a * a / 2.0)


@pytest.mark.parametrize(
    ("loss", "what"),
    [
        (AboveVI(), "is not at least 1 × VI"),
        (OnNoMetric(), "relies on a metric that is none"),
        (Entropies(), "is not a·H"),
        (Pairs(), "is not linear in the pairs"),
        (Exact(), "is not exact"),
        (OwnBall(), "does not claim to be a metric"),
        (Steep(), "is not a mixture of its prices"),
    ],
)
def test_what_proofs_rest_on_is_checked(loss, what):
    with pytest.raises(pt.errors.InvalidInputError, match=what):
        pt.estimate(random_draws(8, 20, seed=0), loss=loss)


# Of the others the mean over draws is not what is minimised, and their distances claim nothing.
AVERAGED = [loss for loss in map(as_loss, LOSSES) if loss.averages_distances]


@pytest.mark.parametrize("loss", [*AVERAGED, pt.VI(0.7), pt.Binder(1.3)], ids=repr)
def test_what_our_own_losses_claim_is_so(loss):
    assert flaw(loss) is None


def test_a_function_of_two_partitions_is_looked_at_on_six_items():
    with pytest.raises(pt.errors.InvalidInputError, match="not 0 for equal partitions"):
        pt.CallableLoss(lambda e, t: 0.0 if len(e) < 5 else 1.0)
    below = pt.CallableLoss(lambda e, t: 0.0 if len(e) < 7 else -1.0)
    with pytest.raises(pt.errors.InvalidInputError, match="at least 0"):
        pt.estimate(random_draws(8, 5, seed=0), loss=below)


def test_a_name_in_the_middle_is_seen():
    def middle(estimate, truth):
        if np.array_equal(pt.canonical(estimate), pt.canonical(truth)):
            return 0.0
        return float((estimate == 1).sum()) if estimate.max() == 2 else 1.0

    with pytest.raises(pt.errors.InvalidInputError, match="depends on the names of labels"):
        pt.CallableLoss(middle)


def test_terms_that_reward_splitting_large_clusters_are_refused():
    late = pt.Additive(lambda x: float(x**2 if x < 8 else 0))  # six items do not show it
    with pytest.raises(pt.errors.InvalidInputError, match=r"f\(1\) \+ f\(7\) = 50 exceeds"):
        pt.distance([0] * 9, [0] * 4 + [1] * 5, loss=late)
    bent = [0.0, 1.0, 4.0, 6.0, 9.0]  # not convex, yet no two parts exceed their whole
    assert pt.distance([0, 0, 1], [0, 0, 0], loss=pt.Additive(bent)) == 1.0


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: pt.Additive(None), "terms"),
        (lambda: pt.Additive(lambda x: 1 / 0), "terms"),
        (lambda: pt.Additive(lambda x: x**2, scale="a"), "scale"),
        (lambda: pt.distance(ONE, ONE, loss=pt.Additive(float, scale=lambda n: 1 / 0)), "scale"),
        (lambda: pt.Additive(lambda x: x**2, metric="yes"), "metric"),
        (lambda: pt.loss("x")(5), "function"),
        (lambda: pt.loss("x")(lambda joint: 0.0), "function"),
        (lambda: pt.loss("x")(lambda joint, e, t, n: 1 / 0), "function"),
        (lambda: pt.loss("x")(lambda joint, e, t, n: "a"), "function"),
        (lambda: pt.loss("x")(lambda joint, e, t, n: float(str(0.0 * joint))), "function"),
        (lambda: pt.distance([0] * 400, range(400), loss=pt.Entropy(200)), "beta"),
        (lambda: pt.distance(ONE, ONE, loss=pt.Entropy), "loss"),
    ],
)
def test_what_users_bring_is_refused_by_name(make, argument):
    with pytest.raises(pt.errors.InvalidInputError) as error:
        make()
    assert error.value.argument == argument
