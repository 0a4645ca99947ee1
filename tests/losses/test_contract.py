"""One contract for every loss: a value that measures two partitions, and agrees with R to 1e-10."""

import copy
import dataclasses
import math
import pickle
from collections import Counter

import numpy as np
import pytest

import partita as pt
from loss_instances import CLASSES, INSTANCES, PRICED, every_loss, every_name
from outside_losses import Jaccard
from partita.losses import LOSSES
from reference import ground_truth as truth
from reference import losses as slow
from reference.partitions import every_partition

METRICS = [loss for loss in INSTANCES if loss.is_metric]


def test_every_loss_has_a_reference_implementation():
    assert {*LOSSES, Jaccard.name} == set(slow.DISTANCES)


@every_loss
def test_is_a_value(loss):
    """Frozen, compared and hashed by value, and its repr makes it again."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        loss.a = 0.5
    for same in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        assert (same, hash(same)) == (loss, hash(loss))
    assert [other for other in INSTANCES if other == loss] == [loss]
    names = {cls.__name__: cls for cls in (*CLASSES.values(), Jaccard)}
    assert eval(repr(loss), names) == loss


@pytest.mark.parametrize(
    ("alias", "name"),
    [("omari", "one_minus_ari"), ("ompear", "one_minus_pear"), ("vi_lower_bound", "vi_lb")],
)
def test_earlier_names_of_losses_warn(alias, name):
    with pytest.warns(DeprecationWarning, match=name):
        assert pt.estimate([[0, 0, 1]], loss=alias).loss == CLASSES[name]()


@every_name
def test_is_named_by_string_class_and_object(name):
    loss = CLASSES[name]
    for given_as in (name, name.upper(), name.title(), loss, loss()):
        assert pt.estimate([[0, 0, 1]], loss=given_as).loss == loss()
        assert pt.distance([0, 0, 1], [0, 1, 1], given_as) == pt.distance(
            [0, 0, 1], [0, 1, 1], loss()
        )


@pytest.mark.parametrize("loss", METRICS, ids=repr)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_metric_axioms_on_all_triples(loss, n):
    table = pt.pairwise_distances(np.array(every_partition(n)), np.array(every_partition(n)), loss)
    assert (table.diagonal() == 0).all()
    assert (table[~np.eye(len(table), dtype=bool)] > 1e-9).all()
    assert table == pytest.approx(table.T, abs=1e-12)
    detour = (table[:, :, None] + table[None, :, :]).min(axis=1)
    assert (table <= detour + 1e-12).all()


@pytest.mark.parametrize("loss", [x for x in INSTANCES if x.averages_distances], ids=repr)
def test_a_loss_is_a_metric_where_its_reference_is(loss):
    price = (loss.price,) if loss.has_price else ()
    rows = every_partition(5)
    table = np.array([[slow.DISTANCES[loss.name](e, t, *price) for t in rows] for e in rows])
    detour = (table[:, :, None] + table[None, :, :]).min(axis=1)
    obeys = np.allclose(table, table.T, atol=1e-12) and (table <= detour + 1e-12).all()
    assert loss.is_metric == obeys


@pytest.mark.parametrize("loss", [x for x in INSTANCES if x.has_price and x.price != 1.0], ids=repr)
def test_generalised_losses_price_splitting(loss):
    # The first argument is the estimate: splitting the true single cluster costs a.
    split, merged = pt.distance([0, 1], [0, 0], loss), pt.distance([0, 0], [0, 1], loss)
    assert split / merged == pytest.approx(loss.a / (2 - loss.a))
    assert split + merged == pytest.approx(2 * pt.distance([0, 1], [0, 0], loss.name))


@pytest.mark.parametrize("a", [0, 2, -1, 3.5, math.nan, math.inf, "1", None, [1]])
@pytest.mark.parametrize("name", PRICED)
def test_price_outside_the_open_interval(name, a):
    with pytest.raises(pt.PartitaError, match="strictly between 0 and 2"):
        CLASSES[name](a=a)


@every_loss
@pytest.mark.parametrize("n", [1, 2, 3, 6, 50])
def test_equal_trivial_partitions_are_at_zero(loss, n):
    for labels in (np.zeros(n, int), np.arange(n)):
        assert pt.distance(labels, labels, loss) == 0.0
        for n_draws in (1, 3, 6, 10, 49):  # 1/n_draws sums to a little more or less than 1
            draws = np.tile(labels, (n_draws, 1))
            weights = np.linspace(0.3, 1.7, n_draws)
            for posterior in (pt.Draws(draws), pt.Draws(draws, weights=weights)):
                assert pt.expected_loss(labels, posterior, loss) == pytest.approx(0, abs=1e-14)
            if loss.uses_similarity:
                p = pt.similarity(pt.Draws(draws, weights=weights))
                assert pt.expected_loss(labels, loss=loss, similarity=p) == pytest.approx(
                    0, abs=1e-14
                )


RECORDS = truth.load()


def name_of(record) -> tuple[str, str]:
    return record["package"], record["function"]


def title(record) -> str:
    return "-".join(name_of(record)).replace(" ", "_")


@pytest.mark.parametrize("record", [r for r in RECORDS if name_of(r) in truth.CHECKS], ids=title)
def test_record(record):
    truth.CHECKS[name_of(record)](record["arguments"], record["value"])


def test_no_record_is_ignored():
    seen = Counter(map(name_of, RECORDS))
    assert seen.keys() == truth.CHECKS.keys() | truth.ELSEWHERE.keys()
    assert not truth.CHECKS.keys() & truth.ELSEWHERE.keys()
    covered = sum(seen[name] for name in truth.CHECKS)
    left = {name: seen[name] for name in truth.ELSEWHERE}
    assert left == {("BNPmix", "PYcalibrate"): 3, ("mcclust", "medv"): 1}
    assert covered == len(RECORDS) - 4 == 317
