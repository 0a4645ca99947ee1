"""Chains that disagree: the summary names several answers, their chains and what differs."""

import numpy as np
import pytest

import partita as pt


@pytest.fixture(scope="module")
def summary() -> pt.Summary:
    rng = np.random.default_rng(0)
    one = np.repeat([0, 1, 2], 8)
    other = np.where(np.arange(24) >= 20, 0, one)
    labels = np.array([one, other])[np.repeat([0, 0, 0, 1], 100)]
    noise = rng.random(labels.shape) < 0.03
    labels = np.where(noise, rng.integers(0, 3, labels.shape), labels)
    return pt.summarize(pt.Draws(labels, chain=np.repeat(range(4), 100)))


def test_they_are_named(summary):
    assert summary.diagnostics.chains_disagree
    assert summary.representatives is not None
    assert summary.representatives.n == 2
    text = " ".join(summary.details().split())
    assert "Representative 0: 75% of the draws (chains 0, 1 and 2)." in text
    assert "(chains 0, 1 and 2)" in text
    assert "items 20, 21, 22 and 23 move from cluster 2 to cluster 0" in text
    assert "No chain crosses" in text
    assert "representatives(draws)" in text


def test_chains_that_agree_have_none():
    labels = np.random.default_rng(1).integers(0, 2, (400, 6))
    found = pt.summarize(pt.Draws(labels, chain=np.repeat([0, 1], 200)))
    assert found.representatives is None
    assert found.to_dict()["representatives"] is None


def test_the_earlier_name_still_works(summary):
    with pytest.warns(DeprecationWarning, match="representatives"):
        assert summary.rivals is summary.representatives
    with pytest.warns(DeprecationWarning, match="chain_assignment"):
        assert summary.representatives.owners.tolist() == [0, 0, 0, 1]
