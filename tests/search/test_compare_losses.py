"""Estimates under several losses, against separate calls."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt

LOSSES = ["vi", "binder", pt.VI(0.7)]


def test_every_cell_is_what_separate_calls_give():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 14)
    draws = np.where(rng.random((40, 14)) < 0.3, rng.integers(0, 5, (40, 14)), truth)
    found = pt.compare_losses(draws, LOSSES)
    alone = [pt.estimate(draws, loss=loss) for loss in LOSSES]
    assert [each.labels.tolist() for each in found.estimates] == [a.labels.tolist() for a in alone]
    for i, a in enumerate(alone):
        for j, loss in enumerate(LOSSES):
            assert found.expected[i, j] == pytest.approx(pt.expected_loss(a, draws, loss)[0])
            assert found.distances[i, j] == pytest.approx(pt.distance(a, alone[j]))
    assert (found.excess >= -1e-12).all()
    assert found.names == ("VI", "Binder", "VI(a=0.7)")
    frame = found.to_frame()
    assert frame["expected Binder"].tolist() == found.expected[:, 1].tolist()
    assert found.to_latex().count(r"\\") == 4
    assert [row[3] for row in found.table().rows] == [f"{d:.3g}" for d in found.distances[:, 0]]


@pytest.mark.parametrize("losses", ["vi", ["vi"], ["vi", "vi"], 3])
def test_fewer_than_two_losses_are_refused(losses):
    with pytest.raises(pt.errors.InvalidInputError) as caught:
        pt.compare_losses([[0, 0, 1]], losses)
    assert caught.value.argument == "losses"
