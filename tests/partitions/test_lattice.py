"""The lattice of partitions: laws, and the definitions enumerated."""

from itertools import islice

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import partita as pt
from reference import partitions as slow
from strategies import label_vectors, same_items

FOUR = slow.every_partition(4)


def equal(a, b) -> bool:
    return np.array_equal(a, b)


@given(same_items(3))
def test_lattice_axioms(triple):
    a, b, c = triple
    for operation in (pt.lattice.meet, pt.lattice.join):
        assert equal(operation(a, a), pt.canonical(a))
        assert equal(operation(a, b), operation(b, a))
        assert equal(operation(a, operation(b, c)), operation(operation(a, b), c))
    assert equal(pt.lattice.meet(a, pt.lattice.join(a, b)), pt.canonical(a))
    assert equal(pt.lattice.join(a, pt.lattice.meet(a, b)), pt.canonical(a))


@given(same_items(3))
def test_refines_is_a_partial_order_consistent_with_meet_and_join(triple):
    a, b, c = triple
    assert pt.lattice.refines(a, a)
    assert pt.lattice.refines(a, b) == slow.below(a, b)
    assert pt.lattice.refines(a, b) == equal(pt.lattice.meet(a, b), pt.canonical(a))
    assert pt.lattice.refines(a, b) == equal(pt.lattice.join(a, b), pt.canonical(b))
    if pt.lattice.refines(a, b) and pt.lattice.refines(b, a):
        assert equal(pt.canonical(a), pt.canonical(b))
    lower, upper = pt.lattice.meet(a, b), pt.lattice.join(b, c)
    assert pt.lattice.refines(lower, b)
    assert pt.lattice.refines(b, upper)
    assert pt.lattice.refines(lower, upper)


def test_meet_and_join_are_the_bounds_on_every_pair_of_four_items():
    for a in FOUR:
        for b in FOUR:
            assert pt.lattice.meet(a, b).tolist() == slow.greatest_lower_bound(a, b, FOUR)
            assert pt.lattice.join(a, b).tolist() == slow.least_upper_bound(a, b, FOUR)


def test_covers_and_covered_by_are_the_covering_relation_on_four_items():
    for a in FOUR:
        up = [c.tolist() for c in pt.lattice.covers(a)]
        down = [c.tolist() for c in pt.lattice.covered_by(a)]
        assert sorted(up) == [c for c in FOUR if slow.is_cover(a, c, FOUR)]
        assert sorted(down) == [c for c in FOUR if slow.is_cover(c, a, FOUR)]


@given(st.integers(1, 9).flatmap(label_vectors))
def test_neighbours_are_counted_and_distinct(labels):
    sizes = pt.cluster_sizes(labels)
    k = sizes.size
    up = [tuple(c.tolist()) for c in pt.lattice.covers(labels)]
    down = [tuple(c.tolist()) for c in pt.lattice.covered_by(labels)]
    assert len(up) == len(set(up)) == k * (k - 1) // 2
    assert len(down) == len(set(down)) == sum(2 ** (int(n) - 1) - 1 for n in sizes)
    assert all(pt.lattice.refines(labels, c) and pt.n_clusters(c) == k - 1 for c in up)
    assert all(pt.lattice.refines(c, labels) and pt.n_clusters(c) == k + 1 for c in down)


def test_neighbours_are_lazy():
    # One cluster of 300 items covers 2^299 − 1 partitions, all singletons have 44,850 covers.
    first = next(pt.lattice.covered_by(np.zeros(300, int)))
    assert pt.cluster_sizes(first).tolist() == [1, 299]
    assert len(list(islice(pt.lattice.covers(np.arange(300)), 3))) == 3
