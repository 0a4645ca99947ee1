"""Losses that users bring: what they may claim, and what everything downstream makes of them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import partita as pt
from loss_instances import CLASSES
from outside_losses import Jaccard, jaccard
from partita.losses.user import claim_violation
from reference.partitions import every_partition
from search_tasks import random_draws

SINGLETONS, ONE = list(range(6)), [0] * 6


@pytest.mark.parametrize("beta", [0.5, 0.8, 1.0001, 1.2, 2.0, 5.0])
@pytest.mark.parametrize("a", [1.0, 0.4])
def test_entropy_by_its_definition(beta, a):
    def reference(estimate, truth):
        cells = list(zip(estimate, truth, strict=True))
        sums = [sum(x.count(v) ** beta for v in set(x)) for x in (truth, estimate, cells)]
        top = a * sums[0] + (2 - a) * sums[1] - 2 * sums[2]
        return top / (len(truth) ** beta * (1 - 2 ** (1 - beta)))

    rows = every_partition(5)
    found = pt.pairwise_distances(np.array(rows), np.array(rows), pt.Entropy(beta, a=a))
    expected = [[reference(e, t) for t in rows] for e in rows]
    # Near β = 1 the definition itself cancels: seven digits are left of it at 1.0001.
    assert found == pytest.approx(np.array(expected), abs=1e-7 if beta == 1.0001 else 1e-12)


def test_entropy_joins_vi_and_binder():
    rows = np.array(every_partition(5))
    for loss, factor, same in (("vi", 1.0, pt.Entropy(1.0)), ("binder", 2.0, pt.Entropy(2.0))):
        expected = factor * pt.pairwise_distances(rows, loss=loss)
        assert pt.pairwise_distances(rows, loss=same) == pytest.approx(expected, abs=1e-12)
    near = pt.pairwise_distances(rows, loss=pt.Entropy(1 + 1e-9))
    assert near == pytest.approx(pt.pairwise_distances(rows), abs=1e-8)


def test_where_entropy_is_a_metric():
    for beta in (1.0001, 1.2, 1.5, 2.0, 3.0, 5.0):
        assert pt.Entropy(beta).is_metric
        assert claim_violation(pt.Entropy(beta)) is None
    for beta in (0.5, 0.8):
        assert not pt.Entropy(beta).is_metric
        assert "by way of" in claim_violation(pt.Entropy(beta), metric=True)


def test_entropy_at_two_has_binders_proof():
    draws = random_draws(9, 12, seed=1)
    twice, once = (pt.estimate(draws, loss=x, method="sweep") for x in ("entropy(2)", "binder"))
    assert twice.expected_loss == pytest.approx(2 * once.expected_loss)
    assert twice.lower_bound == pytest.approx(2 * once.lower_bound)


def test_an_additive_loss_is_what_its_terms_say():
    squares = pt.Additive([x**2 for x in range(13)], scale=lambda n: n**2, a=1.3)
    rows = np.array(every_partition(5))
    assert pt.pairwise_distances(rows, rows, squares) == pytest.approx(
        pt.pairwise_distances(rows, rows, pt.Binder(a=1.3)), abs=1e-15
    )
    assert squares.has_price
    assert squares.with_price(1.0).price == 1.0
    assert pt.estimate(random_draws(9, 12, seed=1), loss=squares).expected_loss == pytest.approx(
        pt.estimate(random_draws(9, 12, seed=1), loss="binder(1.3)").expected_loss
    )
    with pytest.raises(pt.PartitaError, match="13 values; 13 items"):
        pt.distance([0] * 13, [0] * 13, loss=squares)


def test_a_function_of_the_sums():
    made = pt.loss("Jaccard", term="pairs", metric=True)(
        lambda joint, estimate, truth, n: (
            (estimate + truth - 2.0 * joint) / (estimate + truth - joint - n)
            if estimate + truth - joint - n > 0
            else 0.0
        )
    )
    rows = every_partition(5)
    expected = np.array([[jaccard(e, t) for t in rows] for e in rows])
    assert pt.pairwise_distances(np.array(rows), loss=made) == pytest.approx(expected, abs=1e-12)
    assert made.is_metric
    assert pt.estimate(random_draws(6, 9, seed=2), loss=made, method="draws").loss is made


def squared(joint, estimate, truth, n):
    return ((estimate + truth - 2.0 * joint) / n**2) ** 2


def entropy_distance(estimate, truth):
    def entropy(*labels):
        cells = list(zip(*labels, strict=True))
        shares = np.array([cells.count(c) for c in set(cells)]) / len(cells)
        return float(-(shares * np.log2(shares)).sum())

    return max(2 * entropy(estimate, truth) - entropy(estimate) - entropy(truth), 0.0)


def test_any_function_is_searched_by_evaluation():
    loss = pt.CallableLoss(entropy_distance)
    draws = random_draws(9, 12, seed=5)
    found, exact = pt.estimate(draws, loss=loss), pt.estimate(draws, loss="vi", method="enumerate")
    assert found.expected_loss == pytest.approx(exact.expected_loss)
    assert found.lower_bound is None
    assert any("by evaluation" in limit for limit in found.search.limits)
    assert "by evaluation" in repr(found)
    with pytest.raises(pt.PartitaError, match="measured by evaluation; use method='auto'"):
        pt.estimate(draws, loss=loss, method="hasse")
    assert pt.estimate(draws, loss=loss, max_clusters=2).n_clusters <= 2


def test_a_function_that_is_a_metric_has_balls():
    # Four items only where the check would make 203² slow calls: claims are checked in full.
    loss = pt.CallableLoss(lambda e, t: float(jaccard(e.tolist(), t.tolist())), metric=True)
    draws = random_draws(6, 12, seed=5)
    ball = pt.credible_ball(draws, [0, 0, 0, 1, 1, 1], loss=loss)
    assert ball.radius == pt.credible_ball(draws, [0, 0, 0, 1, 1, 1], loss=Jaccard()).radius


@dataclass(frozen=True, repr=False)
class Halved(pt.VI):
    """A subclass that measures differently."""

    def distances(self, estimate, draws, n_jobs=None):
        return 0.5 * super().distances(estimate, draws, n_jobs)


@dataclass(frozen=True, repr=False)
class Quartered(Halved):
    """And one of that."""

    def distances(self, estimate, draws, n_jobs=None):
        return 0.5 * super().distances(estimate, draws, n_jobs)


@dataclass(frozen=True, repr=False)
class Doubled(pt.OneMinusPEAR):
    """A subclass with another expectation."""

    def expected(self, estimate, draws, n_jobs=None):
        return 2.0 * super().expected(estimate, draws, n_jobs)


def own(parent, **body):
    """A loss of a class of ours with other claims or answers."""
    return type("Own", (parent,), {"name": "own", "title": "own", **body})()


FORM_OF_VI = {
    "form": lambda _, n_items: pt.VI().form(n_items),
    "terms": lambda _, n_items: pt.VI().terms(n_items),
}


def test_a_loss_is_searched_with_its_own_arithmetic():
    draws = random_draws(9, 30, seed=7)
    exact = pt.estimate(draws, loss="vi", method="enumerate").expected_loss
    found = pt.estimate(draws, loss=own(pt.Loss, **FORM_OF_VI), method="sweep")
    assert found.expected_loss == pytest.approx(exact)
    assert found.lower_bound is None


def test_a_subclass_that_measures_differently_keeps_no_claim():
    draws = random_draws(7, 12, seed=7)
    exact = pt.estimate(draws, loss="vi", method="enumerate").expected_loss
    found = pt.estimate(draws, loss=Halved())
    assert found.expected_loss == pytest.approx(0.5 * exact)
    assert found.lower_bound is None
    assert not Halved().is_metric
    with pytest.raises(pt.PartitaError, match="no price of splitting"):
        pt.price_path(draws, loss=Halved())
    renamed = own(pt.VI)
    assert renamed.is_metric
    assert pt.estimate(draws, loss=renamed).lower_bound == pytest.approx(exact)
    with pytest.raises(pt.PartitaError, match="two arithmetics that differ") as caught:
        pt.distance(ONE, SINGLETONS, loss=own(Halved, **FORM_OF_VI))
    assert caught.value.argument == "loss"


def test_what_a_subclass_asks_of_its_parent_is_its_parents_answer():
    draws = random_draws(6, 9, seed=7)
    assert pt.expected_loss(ONE, draws, loss=Quartered()) == pytest.approx(
        0.25 * pt.expected_loss(ONE, draws)
    )
    assert pt.distance(ONE, SINGLETONS, loss=Doubled()) == pt.distance(
        ONE, SINGLETONS, "one_minus_ari"
    )
    assert pt.expected_loss(ONE, draws, loss=Doubled()) == pytest.approx(
        2.0 * pt.expected_loss(ONE, draws, "one_minus_pear")
    )
    with pytest.raises(pt.PartitaError, match="does not say how it measures") as caught:
        pt.distance(ONE, SINGLETONS, loss=own(pt.Loss))
    assert caught.value.argument == "loss"


def test_check_loss():
    pt.testing.check_loss(Jaccard())
    pt.testing.check_loss("vi(0.7)")
    pt.testing.check_loss(pt.CallableLoss(entropy_distance), n_items=4)


def test_strings_with_a_parameter():
    for text, loss in {
        "entropy(1.5)": pt.Entropy(1.5),
        "VI(0.7)": pt.VI(a=0.7),
        " binder( 1.3 ) ": pt.Binder(a=1.3),
    }.items():
        assert measured(text) == measured(loss)
        assert pt.estimate([ONE], loss=text).loss == loss
    for wrong in ("entropy", "nvi(2)", "vi()", "vi(x)", "vi(0.7"):
        with pytest.raises(pt.PartitaError, match="unknown loss"):
            measured(wrong)
    with pytest.raises(pt.PartitaError, match="strictly between"):
        measured("vi(7)")


def test_singletons_are_found_where_all_else_is_level():
    found = pt.estimate(similarity=np.eye(15), loss="one_minus_pear")
    assert found.n_clusters == 15
    assert found.expected_loss == 0.0


def test_a_bound_where_nothing_is_left_to_prove():
    # More items than a matrix is made for, and a loss of 0.
    found = pt.estimate(np.zeros((3, 2_500), int), loss="binder")
    assert found.expected_loss == found.lower_bound == 0.0


# ----------------------------------------------------------------------------------------- claims


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
    once, thrice = (pt.expected_loss([0] * 8, draws, loss=Weighed(w))[0] for w in (1.0, 3.0))
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


# Of the others the mean over draws is not what is minimised, and their distances claim nothing.
AVERAGED = [loss() for loss in CLASSES.values() if loss().averages_distances]


@pytest.mark.parametrize("loss", [*AVERAGED, pt.VI(0.7), pt.Binder(1.3)], ids=repr)
def test_what_our_own_losses_claim_is_so(loss):
    assert claim_violation(loss) is None


# -------------------------------------------------------------------------------- what is refused


def middle(estimate, truth):
    """The name of a label in the middle matters."""
    if np.array_equal(pt.canonical(estimate), pt.canonical(truth)):
        return 0.0
    return float((estimate == 1).sum()) if estimate.max() == 2 else 1.0


def of(term="entropy", **claims):
    return pt.loss("x", term=term, **claims)


def measured(loss, labels=SINGLETONS):
    return pt.distance(ONE, labels, loss=loss)


def searched(loss):
    return pt.estimate(random_draws(8, 20, seed=0), loss=loss)


SQUARE, NOTHING = lambda x: x**2, lambda x: 1 / 0
LATE = pt.Additive(lambda x: float(x**2 if x < 8 else 0))  # six items do not show it
BELOW = pt.CallableLoss(lambda e, t: 0.0 if len(e) < 7 else -1.0)
FALSE_CLAIMS = [
    (own(pt.OneMinusARI, minorant=lambda _: (1.0, pt.VI())), "is not at least 1 × VI"),
    (own(pt.NVI, minorant=lambda _: (0.1, pt.OneMinusARI())), "relies on a metric that is none"),
    (own(pt.NVI, conditional_entropies=True), "is not a·H"),
    (own(pt.VI, pair_scale=lambda _, n_items: n_items**2.0), "is not linear in the pairs"),
    (own(pt.VI, is_exact=True), "is not exact"),
    (own(pt.OneMinusARI, ball_metric=lambda self: self), "does not claim to be a metric"),
    (own(pt.Binder, with_price=lambda x, a: type(x)(a * a / 2)), "is not a mixture of its prices"),
]
FALSE_SUMS = [
    (own(Jaccard, averages_sums=True, form=Jaccard.form), "not linear in the sums"),
    (
        own(
            Jaccard,
            from_similarity="sums",
            form=Jaccard.form,
            expected_from_similarity=lambda _, *given: pt.Binder().expected_from_similarity(*given),
        ),
        "does not follow from similarities",
    ),
]


@pytest.mark.parametrize(
    ("make", "argument", "message"),
    [
        (lambda: measured(pt.Additive(lambda x: x**0.5)), "terms", r"f\(1\) \+ f\(1\) = 2 exceeds"),
        (lambda: measured(pt.Additive(lambda x: x + 1)), "terms", r"f\(0\) = 1"),
        (lambda: measured(pt.Additive([0.0])), "terms", "fewer than 2"),
        (lambda: pt.distance([0] * 9, range(9), loss=LATE), "terms", r"f\(7\) = 50 exceeds"),
        (lambda: pt.Additive(None), "terms", "expected"),
        (lambda: pt.Additive(NOTHING), "terms", "ZeroDivisionError"),
        (lambda: pt.Additive(SQUARE, scale=0), "scale", "scale=0; expected a positive number"),
        (lambda: pt.Additive(SQUARE, scale="a"), "scale", "expected"),
        (lambda: measured(pt.Additive(float, scale=NOTHING)), "scale", "ZeroDivisionError"),
        (lambda: pt.Additive(SQUARE, a=2), "a", "strictly between 0 and 2"),
        (lambda: pt.Additive(SQUARE, metric="yes"), "metric", "expected"),
        (lambda: measured(pt.Additive(float, metric=True)), "metric", "is 0 for different"),
        (lambda: pt.distance([0] * 400, range(400), loss=pt.Entropy(200)), "beta", None),
        (lambda: measured(pt.Entropy), "loss", None),
        (lambda: of("pairs", metric=True)(squared), "function", "not a metric: from .* by way of"),
        (
            lambda: of("pairs", symmetric=True)(lambda j, e, t, n: t - j),
            "function",
            "not symmetric",
        ),
        (lambda: of()(lambda j, e, t, n: 1.0), "function", "not 0 for equal partitions"),
        (lambda: of()(lambda j, e, t, n: j - e), "function", "is negative"),
        (lambda: of("triples"), "term", "expected one of 'entropy', 'pairs'"),
        (lambda: of()(5), "function", None),
        (lambda: of()(lambda joint: 0.0), "function", None),
        (lambda: of()(lambda j, e, t, n: 1 / 0), "function", None),
        (lambda: of()(lambda j, e, t, n: "a"), "function", None),
        (lambda: of()(lambda j, e, t, n: float(str(0.0 * j))), "function", None),
        (lambda: pt.CallableLoss(lambda e, t: float(e[-1])), "function", "not 0|names of labels"),
        (lambda: pt.CallableLoss(lambda e, t: (e != t).sum()), "function", "names of labels"),
        (lambda: pt.CallableLoss(middle), "function", "depends on the names of labels"),
        (lambda: pt.CallableLoss(lambda e, t: float("nan")), "function", "returned nan; expected"),
        (lambda: pt.CallableLoss(lambda e, t: -1.0), "function", "a finite number of at least 0"),
        (lambda: pt.CallableLoss(lambda e, t: float(len(e) > 4)), "function", "not 0 for equal"),
        (lambda: pt.CallableLoss(3), "function", "expected a function"),
        (lambda: searched(BELOW), "function", "at least 0"),
        *((lambda x=x: searched(x), "loss", message) for x, message in FALSE_CLAIMS),
        *((lambda x=x: pt.testing.check_loss(x), "loss", message) for x, message in FALSE_SUMS),
    ],
)
def test_what_makes_no_loss_is_refused_by_name(make, argument, message):
    with pytest.raises(pt.errors.InvalidInputError, match=message) as error:
        make()
    assert error.value.argument == argument


def test_terms_need_not_be_convex():
    bent = [0.0, 1.0, 4.0, 6.0, 9.0]  # no two parts exceed their whole
    assert pt.distance([0, 0, 1], [0, 0, 0], loss=pt.Additive(bent)) == 1.0
    assert not of("pairs", symmetric=True)(squared).is_metric
