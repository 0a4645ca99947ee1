"""FARO against its definition and literature."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import partita as pt
from feature_cases import F5, f5
from partita.errors import InvalidInputError
from reference.losses import faro

families = st.lists(st.sets(st.integers(0, 66), min_size=1), max_size=6)


def as_matrix(family, n=67):
    matrix = np.zeros((n, len(family)), bool)
    for k, feature in enumerate(family):
        matrix[list(feature), k] = True
    return matrix


@given(families, families, st.sampled_from([1.0, 0.5, 1.5, 0.123]))
def test_the_loss_is_its_definition(z, t, a):
    found = pt.distance(as_matrix(z), as_matrix(t), loss=pt.FARO(a))
    assert found == pytest.approx(faro(z, t, a), abs=1e-12)


def test_it_is_a_metric_on_all_small_allocations():
    columns = [set(c) for r in (1, 2, 3) for c in itertools.combinations(range(3), r)]
    every = [
        family for k in range(4) for family in itertools.combinations_with_replacement(columns, k)
    ]
    assert len(every) == 120
    table = pt.pairwise_distances(pt.FeatureDraws.from_sets(every, n_items=3), loss="faro")
    assert ((table == 0) == np.eye(120, dtype=bool)).all()
    assert (table == table.T).all()
    assert (table[:, None] <= table[:, :, None] + table[None]).all()
    assert (table == np.rint(table)).all()


def test_distances_of_the_five_draws():
    known = [[0, 1, 2, 3, 2], [1, 0, 1, 2, 3], [2, 1, 0, 3, 4], [3, 2, 3, 0, 3], [2, 3, 4, 3, 0]]
    assert pt.pairwise_distances(f5(), loss=pt.FARO()).tolist() == known
    assert pt.pairwise_distances(f5(), f5(), loss=pt.FARO()).tolist() == known
    weights = [1, 2, 3, 4, 5]
    expected = pt.expected_loss(f5(), f5(weights=weights), loss="faro")
    assert expected == pytest.approx(np.array(known) @ weights / 15)
    one = pt.expected_loss(f5()[1], f5(), loss=pt.FARO(1.5))
    assert one == pytest.approx([np.mean([faro(F5[1], t, 1.5) for t in F5])])


def test_on_partitions_it_is_twice_the_transfer_distance():
    assert pt.distance([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1], loss=pt.FARO()) == 4.0
    assert pt.distance([0, 0, 1, 1], [0, 1, 2, 3], loss=pt.FARO(0.3)) == 4.0


def test_what_it_says_of_itself():
    assert pt.FARO().is_metric
    assert not pt.FARO(0.7).is_metric
    assert pt.FARO().is_exact
    assert pt.FARO().with_price(0.5) == pt.FARO(0.5)
    with pytest.raises(InvalidInputError, match="strictly between 0 and 2"):
        pt.FARO(2)
