"""Columns of the tables, against slow recomputation."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita as pt
from partita.reproduce.measures import (
    measure_bounds,
    measure_estimate,
    misclassified,
    monte_carlo_errors,
    same_up_to_order,
    truth_table,
)
from partita.reproduce.values import Spread, Value, spreads, value_table

labelings = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12).map(
    lambda pairs: tuple(np.array(column) for column in zip(*pairs, strict=True))
)


@settings(deadline=None, max_examples=50)
@given(labelings)
def test_misclassified_is_the_best_over_all_matchings(pair):
    truth, labels = pair
    names = [*range(4), -1, -2, -3, -4]  # labels beyond the true ones match nothing
    best = max(
        sum(t == order[label] for t, label in zip(truth, labels, strict=True))
        for order in permutations(names, 4)
    )
    assert misclassified(truth, labels) == len(truth) - best


def test_a_row_is_what_the_public_functions_say():
    rng = np.random.default_rng(3)
    draws = pt.Draws(rng.integers(0, 3, (50, 9)), chain=np.repeat([0, 1], 25))
    truth, labels = rng.integers(0, 2, 9), pt.canonical(rng.integers(0, 3, 9))
    row = measure_estimate(labels, draws, truth, 1)
    assert row == {
        "k": pt.n_clusters(labels),
        "expected_binder": pt.expected_loss(labels, draws, "binder")[0],
        "expected_vi_lb": pt.expected_loss(labels, draws, "vi_lb")[0],
        "expected_vi": pt.expected_loss(labels, draws, "vi")[0],
        "misclassified": misclassified(truth, labels),
        "binder_to_truth": pt.distance(truth, labels, "binder"),
        "vi_to_truth": pt.distance(truth, labels, "vi"),
    }
    assert "vi_to_truth" not in measure_estimate(labels, draws, None, 1)
    ball = pt.credible_ball(draws, labels)
    bounds = measure_bounds(ball)
    assert bounds["horizontal_distance"] == ball.radius
    assert bounds["lower_k"] == ball.lower.n_clusters[0]
    assert set(monte_carlo_errors(labels, draws, 1)) == {"expected_binder", "expected_vi"}


def test_tables_are_compared_up_to_order():
    table = np.array([[3, 0, 1], [0, 4, 2]])
    assert same_up_to_order(table[::-1][:, [2, 0, 1]], table)
    assert not same_up_to_order([[3, 0, 1], [0, 2, 4]], table)
    assert not same_up_to_order(table[:, :2], table)


def test_true_clusters_keep_their_own_order():
    truth, labels = np.array([2, 2, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 1, 0])
    assert truth_table(truth, labels).tolist() == [[1, 0], [1, 2], [2, 0]]


# ------------------------------------------------------------------ what a difference is


def value(**changes):
    given = {
        "what": "E[VI]",
        "ours": 0.8,
        "printed": "0.77",
        "source": "data",
        "spread": Spread(0.78, 0.02, 20),
    }
    return Value(**{**given, **changes})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "data (0.5 sd)"),
        ({"source": "Monte Carlo"}, "Monte Carlo (0.5 sd)"),
        ({"ours": 0.7701}, "none in the digits printed"),
        ({"spread": Spread(0.9, 0.02, 20)}, "more than data alone (6.3 sd)"),
        ({"spread": Spread(0.9, 0.02, 2)}, "data (5.3 sd)"),  # two runs say little about a spread
        ({"spread": Spread(4.0, 0.0, 20)}, "data; our 20 repeats all give 4"),
        (
            {"minimised": True, "search": 0.8012},
            "data (0.5 sd); better optimiser: the paper's search ends 0.00120 higher",
        ),
        ({"minimised": True, "search": 0.8}, "data (0.5 sd)"),
        ({"minimised": False, "search": 0.9}, "data (0.5 sd)"),
    ],
)
def test_what_the_difference_is(changes, words):
    assert value(**changes).reading == words


def test_spread_of_repeats():
    found = spreads([{"k": 4.0}, {"k": 6.0}])["k"]
    assert (found.mean, found.n) == (5.0, 2)
    assert found.sd == pytest.approx(np.sqrt(2))


def test_a_row_shows_everything():
    table = value_table("Table", [value(error=0.00123, search=0.8)])
    assert table.rows == (
        ("E[VI]", "0.800", "0.77", "+0.030", "0.0012", "0.780 ± 0.020", "0.800", "data (0.5 sd)"),
    )
    assert "20 other data sets: mean ± sd" in table.header
