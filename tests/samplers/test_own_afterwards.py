"""What follows the sampling, for a kernel from outside that defines its five functions alone."""

from __future__ import annotations

import sys
from functools import cache
from types import ModuleType

import numpy as np
import pytest

import partita as pt
from partita import _archive as registered
from partita._archive import MissingClassError
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


# ---------------------------------------------------------------------------------- files


def namesake(module: str, base: type = ExponentialGamma, name: str = "Namesake") -> type:
    """A class of one name, as that module would define it."""
    return type(name, (base,), {"__module__": module})


def saved(kernel: pt.Kernel, path, **options) -> pt.Fit:
    fit = pt.sample(WAITING, kernel=kernel, draws=5, burn_in=1, chains=1, rng=0, **options)
    fit.save(path)
    return fit


def test_classes_of_one_name_in_two_modules_are_each_found_again(tmp_path):
    one, other = namesake("first_module"), namesake("second_module")
    for k, cls in enumerate((one, other)):
        saved(cls(2.0), tmp_path / f"{k}.npz")
        product = pt.Product((cls(3.0), [0]), (pt.GammaPoisson(1, 1), [1]))
        pt.sample(np.round(WAITING), kernel=product, draws=5, burn_in=1, chains=1, rng=0).save(
            tmp_path / f"{k}_product.npz"
        )
    for k, cls in enumerate((one, other)):
        assert type(pt.Fit.load(tmp_path / f"{k}.npz").kernel) is cls
        assert type(pt.Fit.load(tmp_path / f"{k}_product.npz").kernel.parts[0][0]) is cls


def test_a_class_of_that_name_from_elsewhere_is_not_taken(tmp_path, monkeypatch):
    path = tmp_path / "fit.npz"
    saved(namesake("gone_module", name="Lost")(2.0), path)
    monkeypatch.delitem(registered._KNOWN[pt.Kernel, "Lost"], "gone_module")
    elsewhere = namesake("another_module", name="Lost")
    message = r"Lost of gone_module.*Import gone_module.*Lost of another_module is another class"
    with pytest.raises(MissingClassError, match=message) as raised:
        pt.Fit.load(path)
    assert raised.value.argument == "path"
    moved = ModuleType("gone_module")
    moved.Lost = elsewhere  # a class that moved can still be named where it was
    monkeypatch.setitem(sys.modules, "gone_module", moved)
    assert type(pt.Fit.load(path).kernel) is elsewhere


def test_a_kernel_and_a_prior_may_share_a_name(tmp_path):
    kernel, prior = namesake("one_module"), namesake("one_module", pt.DirichletProcess)
    saved(kernel(2.0), tmp_path / "fit.npz", prior=prior(1.5))
    found = pt.Fit.load(tmp_path / "fit.npz")
    assert (type(found.kernel), type(found.prior)) == (kernel, prior)
    assert found.prior.concentration == 1.5
