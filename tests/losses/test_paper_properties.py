"""Properties 2 to 7 of section 3 of the paper, as laws; the first, a metric, is in the contract."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita as pt
from strategies import label_vectors, same_items

TOLERANCE = 1e-12
"""Distances are below log2(40) < 6: a handful of sums and differences stay within this."""

losses = pytest.mark.parametrize("loss", ["vi", "binder"])


def d(a, b, loss: str) -> float:
    return pt.distance(a, b, loss=loss)


def close(a: float, b: float) -> bool:
    return abs(a - b) <= TOLERANCE


def one(n: int):
    return np.zeros(n, int)


def zero(n: int):
    return np.arange(n)


@losses
@given(same_items(3, most=40))
def test_property_2_vertical_alignment(loss, triple):
    middle, finer, coarser = triple
    below, above = pt.lattice.meet(middle, finer), pt.lattice.join(middle, coarser)
    through = d(above, middle, loss) + d(middle, below, loss)
    assert close(d(above, below, loss), through)


@losses
@given(same_items(2, most=40))
def test_property_3_horizontal_alignment(loss, pair):
    a, b = pair
    both = pt.lattice.meet(a, b)
    assert close(d(a, b, loss), d(a, both, loss) + d(b, both, loss))


@losses
@given(same_items(2, most=40))
def test_property_4_bound(loss, pair):
    a, b = pair
    n = len(a)
    bound = math.log2(n) if loss == "vi" else 1 - 1 / n
    assert close(d(one(n), zero(n), loss), bound)
    assert d(a, b, loss) <= bound + TOLERANCE


@losses
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_property_5_closest_partitions_by_enumeration(loss, n):
    everything = np.stack(list(pt.lattice.all_partitions(n)))
    between = pt.pairwise_distances(everything, loss=loss)
    for labels, distances in zip(everything, between, strict=True):
        others = distances > TOLERANCE
        nearest = distances[others].min() if others.any() else 0.0
        expected = everything[others & (distances <= nearest + TOLERANCE)]
        got = sorted(c.tolist() for c in pt.lattice.closest_neighbours(labels))
        assert got == sorted(expected.tolist())


@losses
@given(st.integers(2, 14).flatmap(label_vectors))
@settings(max_examples=50)
def test_property_5_no_neighbour_in_the_lattice_is_closer(loss, labels):
    closest = [d(c, labels, loss) for c in pt.lattice.closest_neighbours(labels)]
    assert max(closest) - min(closest) <= TOLERANCE
    sizes = np.sort(pt.cluster_sizes(labels))
    k = sizes.size
    merges = [d(c, labels, loss) for c in pt.lattice.covers(labels)] if k > 1 else []
    assert all(closest[0] <= m + TOLERANCE for m in merges)
    if (sizes == 1).sum() >= 2 or (sizes == 2).any():
        assert close(closest[0], 2 / len(labels) ** (1 if loss == "vi" else 2))


@given(st.integers(1, 12), st.integers(1, 12), st.randoms(use_true_random=False))
def test_property_6_symmetry(k, size, random):
    n = k * size
    labels = list(np.repeat(np.arange(k), size))
    random.shuffle(labels)
    up, down = d(one(n), labels, "binder"), d(zero(n), labels, "binder")
    assert close(up, 1 - 1 / k)
    assert close(down, 1 / k - 1 / n)
    if k > 1:
        assert up > down
    up, down = d(one(n), labels, "vi"), d(zero(n), labels, "vi")
    assert close(up, math.log2(k))
    assert close(down, math.log2(n) - math.log2(k))
    if k * k <= n:
        assert up <= down + TOLERANCE
    if k * k >= n:
        assert up >= down - TOLERANCE


@pytest.mark.parametrize("root", [2, 4, 6, 8, 12])
def test_property_7_even_and_square(root):
    n = root * root
    small = (n - root) // 2
    labels = np.arange(n) < small
    assert close(d(one(n), labels, "binder"), d(zero(n), labels, "binder"))
    # Under VI such a partition is nearer to one cluster as soon as N exceeds 4.
    if n > 4:
        assert d(one(n), labels, "vi") < d(zero(n), labels, "vi")
