"""Kernels of labels and distances against their slow references, by value."""

from math import log2

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import partita as pt
from loss_instances import CLASSES
from outside_losses import Jaccard
from partita.kernels.labels import hash_rows
from partita.labels import first_appearance as canonical_rows
from reference import losses as slow
from reference.partitions import first_appearance
from strategies import label_vectors, same_items

PRICES = [0.3, 1.0, 1.7]
SMALLEST, LARGEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
SLOW = settings(max_examples=40)


def spread(n: int, k: int) -> list[int]:
    """n items dealt to k clusters in turn."""
    return [i % k for i in range(n)]


def dealt(n: int, k: int) -> list[int]:
    """n items cut into k runs."""
    return [i * k // n for i in range(n)]


LOSSES = {name: loss() for name, loss in {**CLASSES, Jaccard.name: Jaccard}.items()}


def priced(name: str) -> list[pt.Loss]:
    """The loss at several prices where it has one."""
    loss = LOSSES[name]
    return [loss.with_price(a) for a in PRICES] if loss.has_price else [loss]


@pytest.mark.parametrize("name", slow.DISTANCES)
@SLOW
@given(pair=same_items(2, most=14))
@example(pair=(spread(40, 12), dealt(40, 12)))  # K_e·K_t = 2N + 64: the largest dense table
@example(pair=(spread(40, 12), dealt(40, 13)))  # one more cluster: items are walked
@example(pair=(spread(40, 40), dealt(40, 40)))
@example(pair=(spread(40, 1), dealt(40, 40)))
def test_distance_equals_the_reference(name, pair):
    for loss in priced(name):
        extra = {"a": loss.price} if loss.has_price else {}
        expected = slow.DISTANCES[name](*pair, **extra)
        assert pt.distance(*pair, loss=loss) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", slow.DISTANCES)
@settings(max_examples=8)
@given(pair=st.tuples(label_vectors(36), label_vectors(36)))
def test_distance_equals_the_reference_with_many_clusters(name, pair):
    # 36 labels at random fill about 23 clusters each: far beyond the dense table.
    found = pt.distance(*pair, loss=LOSSES[name])
    assert found == pytest.approx(slow.DISTANCES[name](*pair), abs=1e-12)


@SLOW
@given(labels=same_items(1, most=40))
@example(labels=(spread(300, 100),))
def test_equal_partitions_are_at_exactly_zero(labels):
    # Not nearly: sums run in one order, so ties and balls of radius 0 are safe.
    shifted = [label + 7 for label in labels[0]]
    for name in slow.DISTANCES:
        for loss in priced(name):
            assert pt.distance(labels[0], shifted, loss=loss) == 0.0


def test_large_clusters_do_not_overflow():
    # 70,000² exceeds 32 bits; the values are closed forms of one cluster cut in two halves.
    one, halves = np.zeros(70_000, np.int64), np.repeat([0, 1], 35_000)
    assert pt.distance(halves, one, loss="vi") == pytest.approx(1.0, abs=1e-12)
    assert pt.distance(halves, one, loss="binder") == 0.5
    assert pt.distance(halves, one, loss="one_minus_ari") == pytest.approx(1.0, abs=1e-12)
    singletons = np.arange(70_000)
    assert pt.distance(singletons, one, loss="id") == pytest.approx(log2(70_000), abs=1e-9)
    assert pt.distance(singletons, halves, loss="nid") == pytest.approx(
        1 - 1 / log2(70_000), abs=1e-12
    )


@st.composite
def integer_rows(draw):
    """Rows with labels near each other, far apart, and at the ends of 64 bits."""
    n = draw(st.integers(1, 9))
    pools = [
        st.integers(0, 4),
        st.integers(-3, 3),
        st.sampled_from([0, 4 * n + 1023, 4 * n + 1024, 4 * n + 1025]),  # the table's edge
        st.integers(LARGEST - 3, LARGEST),
        st.integers(SMALLEST, SMALLEST + 3),
        st.sampled_from([SMALLEST, -1, 0, 1, LARGEST]),
        st.integers(SMALLEST, LARGEST),
    ]
    one_row = st.sampled_from(pools).flatmap(lambda p: st.lists(p, min_size=n, max_size=n))
    return draw(st.lists(one_row, min_size=1, max_size=6))


@settings(max_examples=200)
@given(rows=integer_rows())
def test_canonicalise_rows(rows):
    values = np.array(rows, np.int64)
    found, counts = canonical_rows(values)
    expected = [first_appearance(row) for row in rows]
    assert found.tolist() == expected
    assert counts.tolist() == [max(row) + 1 for row in expected]
    assert values.tolist() == rows


def test_canonicalise_many_clusters_in_both_ranges():
    shuffled = np.random.default_rng(5).permutation(3_000)
    for scale in (1, 10**6):
        assert pt.canonical(shuffled * scale).tolist() == list(range(3_000))
        assert pt.canonical(np.tile(shuffled * scale, 2)).tolist() == [*range(3_000)] * 2


def test_hashes_tell_all_partitions_of_eight_items_apart():
    partitions = np.array(list(pt.lattice.all_partitions(8)), np.int32)
    assert np.unique(hash_rows(partitions)).size == len(partitions) == 4_140
