"""What counts as equal: relative to the loss, so that one pair of many items still counts."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from partita.kernels.local_search import slack
from partita.search.local_search import LocalSearch
from partita.search.problem import lists_from_draws, new_state, problem_from_draws
from partita.search.result import is_proven
from partita.search.task import tied


def test_one_pair_of_a_million_items_is_no_rounding():
    one_pair = 2.0 / 10**12  # of Binder's loss, were it in every draw
    assert not is_proven(0.05, 0.05 - one_pair, pt.Binder())
    assert is_proven(0.05, 0.05 - 1e-16, pt.Binder())
    assert tied(0.05, pt.Binder()) < 0.05 + one_pair / 100  # or in one draw of a hundred
    assert tied(0.05, pt.Binder()) >= 0.05 + 1e-16


def test_partitions_that_differ_by_one_pair_are_no_ties():
    # Two of 300,000 items are together in 51 of 101 draws, all others always alone. The two
    # partitions that matter differ by 2/N² in a single draw.
    n_items = 300_000
    alone = np.arange(n_items)
    joined = alone.copy()
    joined[1] = 0
    draws = pt.Draws(np.stack([joined, alone]), weights=[51, 50])
    both = pt.expected_loss(np.stack([joined, alone]), draws, loss="binder")
    assert 0.0 < both[1] - both[0] < 1e-12
    found = pt.estimate(draws, loss="binder", method="draws", bound=None)
    assert np.array_equal(pt.canonical(found.labels), pt.canonical(joined))
    assert len(found.ties) == 0


def test_a_sweep_sees_one_pair_of_very_many_items():
    n_items = 300_000
    alone = np.arange(n_items, dtype=np.int32)
    joined = alone.copy()
    joined[1] = 0
    draws = pt.Draws(np.stack([joined, alone]), weights=[51, 50])
    walker = LocalSearch(lists_from_draws(draws, pt.Binder()), alone, np.random.default_rng(0))
    walker.sweep_only(np.array([0, 1]))
    assert np.array_equal(walker.labels, pt.canonical(joined))


@pytest.mark.parametrize("loss", [pt.VI(), pt.NVI(), pt.OneMinusARI()], ids=repr)
def test_rounding_of_running_sums_is_a_small_share_of_the_loss(loss):
    # The slack must cover what rounding does (1e-16 of the sums), and hide nothing else.
    draws = pt.Draws(np.random.default_rng(0).integers(0, 3, (20, 12)))
    problem = problem_from_draws(draws, loss)
    state = new_state(problem, draws.rows(0, 1)[0])
    assert 1e-16 < slack(problem, state) < 1e-11


@pytest.mark.parametrize("loss", [pt.VI(), pt.NID(), pt.Binder()], ids=repr)
def test_what_is_equal_in_exact_arithmetic_still_ties(loss):
    draws = pt.Draws([[0, 0, 1, 2, 2, 3, 3], [0, 1, 1, 2, 2, 3, 3]])
    found = pt.estimate(draws, loss=loss, method="enumerate")
    assert found.is_proven_optimal
    assert len(found.ties) >= 1
    losses = pt.expected_loss(found.ties, draws, loss=loss)
    assert losses == pytest.approx(found.expected_loss, rel=1e-12)
