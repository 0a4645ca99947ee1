"""Binder's loss as an integer programme."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from partita.search.bounds.pairs import Relaxation, pair_programme
from search.posteriors import all_losses, random_posterior


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", [pt.Binder(), pt.Binder(a=0.6), pt.Binder(a=1.4)], ids=repr)
def test_it_finds_and_proves_the_minimum(seed, loss):
    draws = random_posterior(8, 30, seed)
    found = pt.estimate(draws, loss=loss, method="ilp")
    assert found.expected_loss == pytest.approx(all_losses(draws, loss)[1].min(), abs=1e-12)
    assert found.is_proven_optimal


def odd_wheel() -> np.ndarray:
    """A hub close to a ring of five whose neighbours are apart: its relaxation is fractional."""
    p = np.full((6, 6), 0.45)
    p[0, 1:] = p[1:, 0] = 0.7
    for i in range(5):
        a, b = 1 + i, 1 + (i + 1) % 5
        p[a, b] = p[b, a] = 0.0
    np.fill_diagonal(p, 1.0)
    return p


def test_it_branches_where_the_relaxation_is_fractional():
    programme = pair_programme(odd_wheel(), pt.Binder())
    relaxation = Relaxation(programme)
    while relaxation.tighten():
        pass
    partitions = np.array(list(pt.lattice.all_partitions(6)))
    minimum = pt.expected_loss(partitions, similarity=odd_wheel(), loss="binder").min()
    assert relaxation.bound < minimum - 1e-6
    found = pt.estimate(similarity=odd_wheel(), loss="binder", method="ilp")
    assert found.expected_loss == pytest.approx(minimum, abs=1e-12)
    assert found.lower_bound == pytest.approx(minimum, abs=1e-6)
    assert found.lower_bound <= minimum
    assert any(start.origin == "integer programme" for start in found.search.starts)


def test_it_reaches_useful_sizes():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(6), 20)
    labels = np.where(rng.random((200, 120)) < 0.25, rng.integers(0, 8, (200, 120)), truth)
    found = pt.estimate(labels, loss="binder", method="ilp")
    assert found.is_proven_optimal
    assert pt.distance(found.labels, truth) == 0.0


@pytest.mark.parametrize("weights", [[1, 1e-6], [1, 1e-9], [1e-6, 1], [1.0, 0.999999]])
@pytest.mark.parametrize("a", [0.5, 1.0, 1.5])
def test_very_unequal_weights_leave_no_programme_to_solve(weights, a):
    rows = np.random.default_rng(0).integers(0, 3, (2, 8))
    loss = pt.Binder(a)
    draws = pt.Draws(rows, weights=weights)
    found = pt.estimate(draws, loss=loss, method="ilp")
    minimum = all_losses(draws, loss)[1].min()
    assert found.expected_loss == pytest.approx(minimum, rel=1e-9, abs=1e-15)
    assert found.lower_bound <= minimum * (1.0 + 1e-12) + 1e-16
