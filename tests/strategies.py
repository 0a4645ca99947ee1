"""Hypothesis strategies for partitions."""

from __future__ import annotations

from hypothesis import strategies as st


def label_vectors(n: int):
    """Label vectors of n items, from one cluster to all singletons."""
    return st.lists(st.integers(0, n - 1), min_size=n, max_size=n)


def same_items(count: int, *, most: int = 12):
    """``count`` label vectors of the same number of items."""
    return st.integers(1, most).flatmap(lambda n: st.tuples(*[label_vectors(n)] * count))
