"""The line on how many clusters, where it is asked for."""

import re
from dataclasses import replace

import numpy as np
import pytest

import partita as pt
from partita.errors import InvalidInputError
from simulated import FIVE, labels_around


def printed(summary) -> str:
    return " ".join(summary.details().split())


def test_the_statement_is_the_same_on_every_surface():
    summary = pt.summarize(FIVE, path=True)
    said = summary.how_many
    assert said.startswith(
        "The estimate has 3 clusters, as do 60% of the draws; at least 95% have 2 to 3. "
    )
    assert summary.curve.sentence in said
    assert "The posterior does not settle the number of clusters. The estimate is optimal" in said
    assert said.endswith("for prices of splitting from 0.51 to 1.01.")
    assert f"How many clusters: {said} " in printed(summary)
    shown = " ".join(str(summary).split())
    assert "How many clusters: 60% of the draws have 3, at least 95% have 2 to 3" in shown
    assert "costs 1.1 ± 49% more." in shown
    assert summary.to_dict()["how_many"] == said
    slow = replace(summary, curve=replace(summary.curve, seconds=40.2))
    assert f"1.01. ({40.2 + summary.path.seconds:.0f} s)" in printed(slow)
    assert summary.curve.excess == pytest.approx(pt.clusters_curve(FIVE).excess)
    np.testing.assert_array_equal(summary.path.labels, pt.price_path(FIVE).labels)
    assert summary.to_frame("path")["n_clusters"].tolist() == summary.path.n_clusters.tolist()
    assert summary.to_frame("curve")["k"].tolist() == summary.curve.k.tolist()


NOISY = labels_around(np.arange(24) % 3, 200, seed=5, redrawn=0.2)


def test_what_is_cheap_is_said_unasked(monkeypatch):
    summary = pt.summarize(NOISY, bound=None)
    assert summary.path is None
    k = summary.curve.k.tolist()
    assert k == list(range(k[0], k[-1] + 1))
    assert k[0] < summary.n_clusters < k[-1]
    assert summary.curve.sentence in printed(summary)
    whole = pt.clusters_curve(NOISY, k=k)
    assert summary.curve.plateau.tolist() == whole.plateau.tolist()
    assert summary.curve.expected_loss == pytest.approx(whole.expected_loss, rel=0.02)
    assert (summary.curve.expected_loss >= whole.expected_loss - 1e-12).all()
    cells = 24 * 200 * (summary.n_clusters + 3)
    monkeypatch.setattr("partita.summary.summarize.CHEAP_CELLS", cells)
    dear = pt.summarize(NOISY, bound=None)
    assert dear.curve is None
    with pytest.raises(InvalidInputError, match=r"no curve: .* path=True"):
        dear.to_frame("curve")


def test_nothing_where_it_is_refused_or_the_estimate_is_not_free():
    assert "costs" not in pt.summarize(FIVE, path=False).how_many
    assert pt.summarize(FIVE).path is not None
    assert pt.summarize(FIVE, n_clusters=2).curve is None


def test_prices_of_an_estimate_that_was_constrained():
    summary = pt.summarize(FIVE, n_clusters=5, path=True)
    numbers = "The estimate has 5 clusters, which no draw has; the most frequent number is 3 (60%)"
    assert numbers in summary.how_many
    assert "than that with 3" in summary.how_many  # the best, not the constrained estimate
    assert summary.how_many.endswith("The estimate is optimal at the price of splitting 0.40 only.")
    worse = pt.summarize(NOISY, n_clusters=8, path=True, bound=None)
    lost = re.search(r"no price of splitting; at its own .* costs (\d+)% less", worse.how_many)
    least = worse.path.expected(1.0) / worse.estimate.expected_loss
    assert float(lost[1]) == pytest.approx(100 * (1 - least), abs=0.5)


def test_a_number_that_ties_is_not_called_the_most_frequent():
    two = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1]]
    summary = pt.summarize([[0, 0, 1, 1, 2, 2]] * 3 + two)
    assert summary.n_clusters == 3
    assert summary.counts.mode == 2  # of two that tie, the smaller
    assert "most frequent" not in str(summary) + summary.how_many


def test_nearly_all_draws_are_not_called_all_of_them():
    rows = [[0, 0, 0, 1, 1, 1]] * 399 + [[0, 0, 1, 1, 2, 2]]
    summary = pt.summarize(rows)
    assert "100%" not in summary.how_many
    assert "over 99% of the draws" in summary.how_many


def test_more_clusters_than_any_draw_are_explained_where_a_curve_is_not_cheap(monkeypatch):
    """The last item is with each of three groups in a third of the draws, so it is alone."""
    rows = [[0, 0, 1, 1, 2, 2, group] for group in (0, 1, 2)] * 4
    monkeypatch.setattr("partita.summary.summarize.CHEAP_CELLS", 0)
    summary = pt.summarize(rows, bound=None)
    assert (summary.n_clusters, summary.draws.n_clusters.max()) == (4, 3)
    three = pt.estimate(rows, n_clusters=3, bound=None).expected_loss
    shown = " ".join(str(summary).split())
    more = 100 * (three / summary.estimate.expected_loss - 1)
    assert "no draw has 4, all have 3; the best" in shown
    assert f"the best found with 3 costs {more:.2g}" in shown
    assert "undecided (6)" in shown
    monkeypatch.setattr("partita.summary.summarize.CROWDED_CELLS", 0)
    assert pt.summarize(rows, bound=None).curve is None
