"""Hypothesis strategies for partitions and draws of them."""

from hypothesis import strategies as st


def label_vectors(n: int):
    """Label vectors of n items, from one cluster to all singletons."""
    return st.lists(st.integers(0, n - 1), min_size=n, max_size=n)


def same_items(count: int, *, most: int = 12):
    """``count`` label vectors of the same number of items."""
    return st.integers(1, most).flatmap(lambda n: st.tuples(*[label_vectors(n)] * count))


@st.composite
def posteriors(draw, *, most: int = 9, draws: int = 8, others: int = 0):
    """Rows of labels, their weights or None, and ``others`` further label vectors."""
    n = draw(st.integers(1, most))
    rows = draw(st.lists(label_vectors(n), min_size=1, max_size=draws))
    weights = draw(st.none() | st.lists(st.integers(1, 5), min_size=len(rows), max_size=len(rows)))
    return rows, weights, *(draw(label_vectors(n)) for _ in range(others))
