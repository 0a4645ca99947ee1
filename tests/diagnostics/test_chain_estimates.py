"""What each chain would report alone, against estimates made one by one."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt


@pytest.fixture(scope="module")
def draws():
    """Two chains about one partition, and one about another."""
    rng = np.random.default_rng(0)
    truths = np.repeat([0, 1, 2], 6), np.repeat([0, 1, 2], 6), np.repeat([0, 1], 9)
    anew = rng.integers(0, 3, (3, 40, 18))
    noisy = np.where(rng.random((3, 40, 18)) < 0.05, anew, np.stack(truths)[:, None, :])
    return pt.as_draws(noisy)


def test_chains_one_by_one(draws):
    found = pt.chain_estimates(draws)
    whole = pt.estimate(draws, bound=None)
    assert found.expected_loss == pytest.approx(whole.expected_loss)
    for c, chain in enumerate(found.chains):
        own = draws[np.flatnonzero(draws.chain == chain)]
        alone = pt.estimate(own, bound=None)
        assert found.within[c] == pytest.approx(alone.expected_loss)
        assert np.array_equal(found.labels[c], alone.labels)
        assert found.to_estimate[c] == pytest.approx(pt.distance(whole.labels, alone.labels))
    assert found.distances[0, 2] == pytest.approx(pt.distance(found.labels[0], found.labels[2]))
    assert found.within.mean() <= found.expected_loss
    assert found.distances[0, 1] == 0 < found.between


def test_a_summary_shows_it_in_details_and_report_only(draws, tmp_path):
    summary = pt.summarize(draws)
    assert summary.chain_estimates.expected_loss == pytest.approx(summary.estimate.expected_loss)
    assert "Each chain alone." in summary.details()
    summary.to_html(tmp_path / "report.html")
    assert "Each chain alone." in (tmp_path / "report.html").read_text()
    assert "Each chain alone." not in str(summary)
    assert pt.summarize(draws[draws.chain == 0]).chain_estimates is None


def test_one_chain_is_refused(draws):
    with pytest.raises(pt.PartitaError, match="fewer than two chains") as refused:
        pt.chain_estimates(draws.labels)
    assert refused.value.argument == "draws"


def test_chains_count_by_their_draws():
    """Weighted by its draws, the mean within chains is at most the loss over all of them."""
    rows = np.array([[0, 0, 1, 1]] * 8 + [[0, 1, 0, 1], [0, 1, 1, 1]])
    found = pt.chain_estimates(pt.Draws(rows, chain=[0] * 8 + [1] * 2))
    np.testing.assert_allclose(found.share, [0.8, 0.2])
    assert found.within @ found.share <= found.expected_loss
    assert f"{found.within @ found.share:.3g}" in found.sentence


def test_a_table_of_many_chains_says_that_it_is_cut():
    rows = np.random.default_rng(0).integers(0, 2, (40, 6))
    found = pt.chain_estimates(pt.Draws(rows, chain=np.repeat(range(10), 4)))
    assert "the first 8 of 10" in str(found)
    assert len(found.chains) == len(found.within) == 10
