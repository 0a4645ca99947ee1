"""Draws reweighted by the evenness of their clusters, against worked values."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt

DRAWS = pt.Draws(
    [[int(c) for c in row] for row in ["112233", "112223", "111222", "112222", "122333"]]
)


def test_the_worked_example():
    found = DRAWS.reweighted("entropy", 10)
    expected = [0.298866, 0.135124, 0.298866, 0.132020, 0.135124]
    np.testing.assert_allclose(found.weights, expected, atol=5e-7)
    assert found.n_effective == pytest.approx(4.2994, abs=5e-5)
    assert pt.estimate(found, loss="vi").expected_loss == pytest.approx(0.6596391926, abs=1e-9)
    assert np.array_equal(found.labels, DRAWS.labels)


def test_one_cluster_counts_as_uneven_and_weights_multiply():
    draws = pt.Draws([[0, 0, 0, 0], [0, 0, 1, 1]], weights=[3, 1])
    found = draws.reweighted("entropy", np.log(6))
    np.testing.assert_allclose(found.weights, [1 / 3, 2 / 3])
    np.testing.assert_allclose(draws.reweighted("entropy", 0).weights, [0.75, 0.25])
    assert DRAWS.n_effective == 5
    assert draws.n_effective == pytest.approx(1.6)


def test_refusals():
    with pytest.raises(pt.PartitaError, match="by="):
        DRAWS.reweighted("size", 1)
    with pytest.raises(pt.PartitaError, match="strength="):
        DRAWS.reweighted("entropy", np.inf)
