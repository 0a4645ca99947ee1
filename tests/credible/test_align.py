"""Aligned draws against all assignments."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import partita as pt
from partita.labels import by_size
from reference.partitions import first_appearance
from reference.uncertainty import matching
from strategies import label_vectors


@st.composite
def cases(draw):
    n = draw(st.integers(1, 8))
    rows = draw(st.lists(label_vectors(n), min_size=1, max_size=5))
    return rows, draw(label_vectors(n))


@settings(deadline=None)
@given(cases())
def test_every_draw_in_the_numbering_of_the_reference(case):
    rows, given_reference = case
    reference = first_appearance(given_reference)
    found = pt.align(rows, reference)
    assert found.dtype == np.int32
    for row, aligned in zip(rows, found.tolist(), strict=True):
        canonical = first_appearance(row)
        stands_for = matching(canonical, reference)
        unmatched = [t for t in sorted(set(canonical)) if t not in stands_for]
        wanted = [stands_for[t] if t in stands_for else -1 - unmatched.index(t) for t in canonical]
        assert aligned == wanted


def test_the_numbers_of_the_reference_are_kept():
    assert pt.align([[0, 0, 1, 1]], [1, 1, 0, 0]).tolist() == [[1, 1, 0, 0]]
    assert pt.align([[0, 0, 1, 1]], [7, 7, 3, 3]).tolist() == [[0, 0, 1, 1]]


def test_alignment_gives_the_item_probabilities():
    rng = np.random.default_rng(1)
    draws = rng.integers(0, 4, (200, 12))
    reference = by_size(rng.integers(0, 3, 12))
    aligned = pt.align(draws, reference)
    wanted = pt.item_uncertainty(draws, reference).probability
    np.testing.assert_allclose((aligned == reference).mean(axis=0), wanted)
    one, two = (pt.align(draws, reference, n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one, two)
