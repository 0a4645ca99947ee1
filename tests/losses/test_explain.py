"""What turns one partition into another: the data, the words, and laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import partita as pt
from partita.explanation import explain_all
from partita.labels import by_size
from same_bits import assert_same
from strategies import same_items


def test_a_merge_a_split_and_a_move():
    a = [0] * 9 + [1] * 6 + [2] * 3
    merged = [0] * 9 + [1] * 6 + [0] * 3
    told = pt.explain(a, merged)
    assert [(c.kind, c.origin, c.target, c.share) for c in told.changes] == [("merge", 2, 0, 1.0)]
    back = pt.explain(merged, a)
    assert [(c.kind, c.target) for c in back.changes] == [("split", None)]
    moved = [0] * 8 + [1] * 7 + [2] * 3
    told = pt.explain(a, moved, item_names=[f"gene {i}" for i in range(18)])
    assert str(told).startswith("item gene 8 moves from cluster 0 to cluster 1 (all of 0.")


def test_the_largest_share_comes_first():
    a = np.repeat([0, 1, 2], [20, 10, 6])
    b = a.copy()
    b[[0]] = 1
    b[[30, 31, 32]] = 0
    told = pt.explain(a, b)
    assert [c.items.tolist() for c in told.changes] == [[30, 31, 32], [0]]
    assert told.changes[0].share > told.changes[1].share


@settings(max_examples=60)
@given(same_items(2, most=9), st.sampled_from(["vi", "binder"]))
def test_changes_account_for_every_item_that_moves(pair, loss):
    """Putting every block where it goes turns a into b, and shares sum to one."""
    a, b = (np.array(x) for x in pair)
    told = pt.explain(a, b, loss=loss)
    assert told.distance == pt.distance(a, b, loss=loss)
    moved = [c.items for c in told.changes]
    assert sum(x.size for x in moved) == np.unique(np.concatenate([[], *moved])).size
    assert bool(told.changes) == (str(told) != "they are the same partition")
    if told.changes:
        assert sum(c.share for c in told.changes) == pytest.approx(1.0)
        assert all(c.share >= 0.0 for c in told.changes)
    stays = np.setdiff1d(np.arange(a.size), np.concatenate([[], *moved]).astype(int))
    # Items that stay are together in a exactly when they are in b.
    same = [np.equal.outer(x[stays], x[stays]) for x in (a, b)]
    np.testing.assert_array_equal(*same)
    for block in moved:
        assert np.unique(a[block]).size == np.unique(b[block]).size == 1
    # As many items as possible stay: the best one-to-one matching of clusters.
    table = pt.cross_table(a, b)
    assert stays.size == table[linear_sum_assignment(table, maximize=True)].sum()


@settings(max_examples=40)
@given(same_items(4, most=9), st.sampled_from([pt.VI(), pt.Binder(), pt.NID()]))
def test_several_partitions_are_explained_as_one_by_one(partitions, loss):
    first, *others = [by_size(labels) for labels in partitions]
    together = explain_all(first, np.array(others), loss, None)
    for found, other in zip(together, others, strict=True):
        alone = pt.explain(first, other, loss=loss)
        assert_same(found.changes, alone.changes)
        assert found.distance == alone.distance
