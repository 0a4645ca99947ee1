"""The lattice of partitions: laws, the definitions enumerated, and its enumeration."""

import math
from collections import Counter
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import partita as pt
from partita.lattice import partition_blocks
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


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_every_partition_once_in_order(n):
    assert [c.tolist() for c in pt.lattice.all_partitions(n)] == slow.every_partition(n)


@pytest.mark.parametrize("n", [1, 4, 9])
@pytest.mark.parametrize("rows", [1, 2, 15, 1000])
def test_blocks_hold_the_same_partitions_whatever_their_size(n, rows):
    blocks = list(islice(partition_blocks(n, rows), 400))
    listed = np.concatenate(blocks)
    assert all(len(block) == rows for block in blocks[:-1])
    assert np.array_equal(listed, list(islice(pt.lattice.all_partitions(n), len(listed))))


def test_twelve_items_are_listed_to_the_end():
    total, by_clusters = 0, np.zeros(13, np.int64)
    for block in partition_blocks(12, 1 << 16):
        total += len(block)
        by_clusters += np.bincount(block.max(axis=1) + 1, minlength=13)
    assert total == pt.lattice.bell_number(12) == 4213597
    assert by_clusters.tolist() == [pt.lattice.stirling_number(12, k) for k in range(13)]


def test_bell_and_stirling_numbers_satisfy_their_recurrences():
    for n in range(30):
        stirling = [pt.lattice.stirling_number(n, k) for k in range(n + 2)]
        assert pt.lattice.bell_number(n) == sum(stirling)
        assert pt.lattice.bell_number(n + 1) == sum(
            math.comb(n, k) * pt.lattice.bell_number(k) for k in range(n + 1)
        )
        for k in range(1, n + 2):
            assert pt.lattice.stirling_number(n + 1, k) == k * stirling[k] + stirling[k - 1]


def crp_probability(labels, concentration: float) -> float:
    sizes = pt.cluster_sizes(labels)
    log_p = sizes.size * math.log(concentration) + sum(math.lgamma(n) for n in sizes)
    n = len(labels)
    return math.exp(log_p + math.lgamma(concentration) - math.lgamma(concentration + n))


@pytest.mark.parametrize("concentration", [0.3, 2.5])
def test_random_partitions_follow_the_chinese_restaurant_process(concentration):
    rng = np.random.default_rng(3)
    n_draws = 8000
    drawn = Counter(
        tuple(pt.lattice.random_partition(4, concentration=concentration, rng=rng).tolist())
        for _ in range(n_draws)
    )
    expected = {tuple(c): crp_probability(c, concentration) for c in slow.every_partition(4)}
    assert sum(expected.values()) == pytest.approx(1)
    for partition, p in expected.items():
        # Five standard errors: a false alarm over the 15 partitions is below 1e-5.
        assert abs(drawn[partition] / n_draws - p) < 5 * math.sqrt(p * (1 - p) / n_draws)


def test_random_partition_is_reproducible_canonical_and_large():
    a = pt.lattice.random_partition(100_000, concentration=5.0, rng=7)
    assert np.array_equal(a, pt.lattice.random_partition(100_000, concentration=5.0, rng=7))
    assert np.array_equal(a, pt.canonical(a))
    assert a.dtype == np.int32
