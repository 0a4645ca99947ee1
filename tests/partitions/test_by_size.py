"""Reported labels: by size, largest first, ties by the first item."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.labels import by_size, canonical


@settings(deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_the_partition_stays_and_sizes_fall(labels):
    found = by_size(labels)
    assert np.array_equal(canonical(found), canonical(labels))
    sizes = np.bincount(found)
    first = [int(np.flatnonzero(found == k)[0]) for k in range(sizes.size)]
    keys = [(-size, item) for size, item in zip(sizes.tolist(), first, strict=True)]
    assert keys == sorted(keys)


def test_rows_one_by_one():
    assert by_size([[0, 1, 1], [2, 2, 2]]).tolist() == [[1, 0, 0], [0, 0, 0]]
