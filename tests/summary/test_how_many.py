"""The line on how many clusters, where it is asked for."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt

FIVE = [
    [1, 1, 2, 2, 3, 3],
    [1, 1, 2, 2, 2, 3],
    [1, 1, 1, 2, 2, 2],
    [1, 1, 2, 2, 2, 2],
    [1, 2, 2, 3, 3, 3],
]


def printed(summary) -> str:
    return " ".join(str(summary).split())


def test_the_line_says_plateau_and_prices(tmp_path):
    summary = pt.summarize(FIVE, path=True)
    assert f"How many: {summary.curve.sentence}; the estimate is optimal for" in printed(summary)
    assert "prices of splitting from 0.51 to 1.01" in printed(summary)
    assert summary.curve.excess == pytest.approx(pt.clusters_curve(FIVE).excess)
    np.testing.assert_array_equal(summary.path.labels, pt.price_path(FIVE).labels)
    summary.save(tmp_path / "kept.npz")
    assert str(pt.Summary.load(tmp_path / "kept.npz")) == str(summary)


def test_no_line_unless_asked():
    assert "How many" not in str(pt.summarize(FIVE))


def test_an_estimate_that_no_price_gives():
    summary = pt.summarize(FIVE, n_clusters=5, path=True)
    assert "the estimate is optimal at no price" in printed(summary)


def test_a_loss_without_price():
    summary = pt.summarize(FIVE, loss="nvi", path=True)
    assert summary.path is None
    assert "prices" not in printed(summary)
