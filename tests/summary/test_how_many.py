"""The line on how many clusters, where it is asked for."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import partita as pt
from partita.errors import InvalidInputError

FIVE = [
    [1, 1, 2, 2, 3, 3],
    [1, 1, 2, 2, 2, 3],
    [1, 1, 1, 2, 2, 2],
    [1, 1, 2, 2, 2, 2],
    [1, 2, 2, 3, 3, 3],
]


def printed(summary) -> str:
    return " ".join(str(summary).split())


def test_the_line_says_plateau_prices_and_time():
    summary = pt.summarize(FIVE, path=True)
    line = printed(summary).partition("How many: ")[2]
    assert line.startswith(f"{summary.curve.sentences}; the estimate is optimal for prices of ")
    assert "splitting from 0.51 to 1.01" in line
    slow = replace(summary, curve=replace(summary.curve, seconds=40.2))
    assert f"1.01 ({40.2 + summary.path.seconds:.0f} s)" in printed(slow)
    assert summary.curve.excess == pytest.approx(pt.clusters_curve(FIVE).excess)
    np.testing.assert_array_equal(summary.path.labels, pt.price_path(FIVE).labels)
    assert summary.to_frame("path")["n_clusters"].tolist() == summary.path.n_clusters.tolist()
    assert summary.to_frame("curve")["k"].tolist() == summary.curve.k.tolist()


def test_path_and_curve_are_in_both_files(tmp_path):
    summary = pt.summarize(FIVE, path=True)
    summary.save(tmp_path / "kept.npz")
    again = pt.Summary.load(tmp_path / "kept.npz")
    assert str(again) == str(summary)
    assert again.to_json() == summary.to_json()
    assert again.path.stability(summary.labels) == summary.path.stability(summary.labels)
    written = json.loads(summary.to_json())
    assert written["path"]["breakpoints"] == summary.path.breakpoints.tolist()
    assert written["path"]["labels"] == summary.path.labels.tolist()
    assert written["curve"]["plateau"] == summary.curve.plateau.tolist()
    assert written["curve"]["sentence"] == summary.curve.sentences


def noisy(n_items=24, n_draws=200):
    rng = np.random.default_rng(5)
    truth = np.arange(n_items) % 3
    noise = rng.integers(0, 4, (n_draws, n_items))
    return np.where(rng.random(noise.shape) < 0.2, noise, truth)


def test_what_is_cheap_is_said_unasked(monkeypatch):
    summary = pt.summarize(noisy(), bound=None)
    assert summary.path is None
    k = summary.curve.k.tolist()
    assert k == list(range(k[0], k[-1] + 1))
    assert k[0] < summary.n_clusters < k[-1]
    assert f"How many: {summary.curve.sentences} " in printed(summary)
    whole = pt.clusters_curve(noisy(), k=k)
    assert summary.curve.plateau.tolist() == whole.plateau.tolist()
    assert summary.curve.expected_loss == pytest.approx(whole.expected_loss, rel=0.02)
    assert (summary.curve.expected_loss >= whole.expected_loss - 1e-12).all()
    monkeypatch.setattr("partita.summary.how_many.CHEAP_CELLS", 24 * 200 * (summary.n_clusters + 3))
    dear = pt.summarize(noisy(), bound=None)
    assert dear.curve is None
    with pytest.raises(InvalidInputError, match=r"no curve: .* path=True"):
        dear.to_frame("curve")


def test_nothing_where_it_is_refused_or_the_estimate_is_not_free():
    assert "How many" not in str(pt.summarize(FIVE, path=False))
    assert pt.summarize(FIVE).path is not None
    assert pt.summarize(FIVE, n_clusters=2).curve is None


def test_an_estimate_that_no_price_gives():
    summary = pt.summarize(FIVE, n_clusters=5, path=True)
    assert "the estimate is optimal at no price" in printed(summary)


def test_a_loss_without_price():
    summary = pt.summarize(FIVE, loss="nvi", path=True)
    assert summary.path is None
    assert "prices" not in printed(summary)
