"""What follows the sampling, for a kernel from outside that defines its five functions alone."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import partita as pt
from samplers.outside_kernels import WAITING, ExponentialGamma

RNG = np.random.default_rng(0)
TIMES = np.concatenate([RNG.exponential(1, (20, 2)), RNG.exponential(50, (20, 2))])
TIMES[3, 1] = np.nan


@cache
def fit() -> pt.Fit:
    """Two columns of waiting times with a missing cell."""
    return pt.sample(TIMES, kernel=ExponentialGamma(2.0), draws=40, burn_in=20, chains=2, rng=0)


def test_profiles_are_those_of_the_data():
    labels = np.repeat([0, 1], 20)
    found = fit().profiles(labels, prob=0.9, n_draws=60)
    expected = pt.profiles(
        fit(), labels, data=fit().values, names=fit().columns, prob=0.9, n_draws=60
    )
    assert found.to_frame().equals(expected.to_frame())
    assert set(found.parameter) == {"mean", "sd"}
    assert found.given[0] == pytest.approx(TIMES[:20, 0].mean())
    assert np.isnan(found.given_low).all()
    assert fit().cluster_parameters(labels).parameters == {}


def test_a_summary_has_them_and_all_its_forms(tmp_path):
    summary = pt.summarize(fit())
    expected = pt.profiles(fit(), summary, data=fit().values, names=fit().columns)
    assert summary.profiles.to_frame().equals(expected.to_frame())
    summary.to_html(tmp_path / "report.html")
    assert "averaged" in (tmp_path / "report.html").read_text()
    summary.save(tmp_path / "summary.npz")
    again = pt.Summary.load(tmp_path / "summary.npz")
    assert again.profiles.to_frame().equals(expected.to_frame())
    assert str(summary.n_clusters) in str(summary)
    assert pt.plots.profiles(summary).size == 4


def test_beside_a_kernel_that_has_parameters_only_those_are_reported():
    kernel = pt.Product((ExponentialGamma(), [0]), (pt.NormalInverseGamma(3, 0.5, 2, 1), [1]))
    both = pt.sample(WAITING, kernel=kernel, draws=30, burn_in=10, chains=2, rng=0)
    assert set(pt.summarize(both).profiles.column) == {"1"}
