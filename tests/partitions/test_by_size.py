"""Reported labels: by size, largest first, ties by the first item."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.labels import by_size, canonical, relabel
from reference.partitions import first_appearance
from strategies import label_vectors


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


@settings(deadline=None)
@given(label_vectors(9))
def test_labels_that_partita_made_are_renumbered_without_checks(row):
    made = np.array(row)  # 0, 1, … with gaps
    assert relabel(made).tolist() == first_appearance(row)
    assert relabel(np.stack([made, made])).tolist() == [first_appearance(row)] * 2
    assert by_size(made).tolist() == by_size(canonical(row)).tolist()
