"""Would another prior say the same: every number again from the draws, grids, words and files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import partita as pt
from partita.errors import InvalidInputError

ONE = pt.DirichletProcess(1.0)


@pytest.fixture(scope="module")
def fit() -> pt.Fit:
    data = pt.datasets.galaxies()
    kernel = pt.NormalInverseGamma.empirical(data)
    return pt.sample(data, kernel=kernel, prior=ONE, draws=800, burn_in=200, chains=2, rng=0)


@pytest.fixture(scope="module")
def found(fit) -> pt.results.PriorSensitivity:
    return pt.prior_sensitivity(fit)


def test_every_number_is_that_of_the_reweighted_draws(fit, found):
    own = pt.estimate(fit, bound=None)
    np.testing.assert_array_equal(found.estimate, own.labels)
    assert found.priors[found.own] == "DirichletProcess(1)"
    for m, alpha in enumerate(found.scale):
        if np.isnan(alpha):
            continue
        draws = fit.reweighted(pt.DirichletProcess(float(alpha)))
        best = pt.estimate(draws, bound=None)
        assert pt.expected_loss(found.labels[m], draws) <= best.expected_loss + 1e-9
        assert found.n_clusters[m] == found.labels[m].max() + 1
        assert found.distance[m] == pytest.approx(pt.distance(own.labels, found.labels[m]))
        more = pt.expected_loss(own.labels, draws) - pt.expected_loss(found.labels[m], draws)
        assert found.excess[m] == pytest.approx(more, abs=1e-12)
        assert found.expected_clusters[m] == pytest.approx(draws.weights @ draws.n_clusters)
        radius = pt.credible_ball(draws, found.labels[m]).radius
        assert found.radius[m] == pytest.approx(radius)
        assert found.n_effective[m] == pytest.approx(draws.n_effective)
        ratio = draws.reweighting.log_evidence_ratio
        assert found.log_evidence_ratio[m] == pytest.approx(ratio, abs=1e-9)


def test_the_grid_is_halved_and_doubled_until_refused(fit, found):
    scales = found.scale[np.isfinite(found.scale)]
    np.testing.assert_allclose(np.diff(np.log2(scales)), 1.0)
    assert {0.5, 1.0} <= set(scales.tolist())
    assert "FiniteMixture(1, mean_components=5)" in (*found.priors, *found.refused)
    for scale, effective, k_hat in zip(
        found.refused_scale, found.refused_effective, found.refused_k_hat, strict=True
    ):
        assert np.isnan(scale) or scale in (2 * scales.max(), scales.min() / 2)
        assert effective < 100 or k_hat > 0.7
    learned = replace(fit, prior=pt.DirichletProcess(pt.Gamma(2, 2)))
    names = pt.prior_sensitivity(learned).priors
    assert "DirichletProcess(Gamma(2, 4))" in names
    assert "DirichletProcess(Gamma(2, 2))" in names
    finite = replace(fit, prior=pt.FiniteMixture(0.5, mean_components=5))
    grid = pt.prior_sensitivity(finite)
    assert "FiniteMixture(0.25, mean_components=5)" in grid.priors
    assert any(name.startswith("DirichletProcess") for name in (*grid.priors, *grid.refused))
    assert grid.parameter == "weight"


def test_what_is_said_is_so(found):
    k = int(found.estimate.max()) + 1
    assert found.sentence.startswith(f"The {k} clusters are the estimate at")
    for scale in found.refused_scale[np.isfinite(found.refused_scale)]:
        assert f"{scale:.3g}" in found.sentence
    # One that changes is named with its distance, and ends what is said of the range.
    other = found.labels.copy()
    last = int(np.flatnonzero(np.isfinite(found.scale))[-1])
    other[last] = 0
    numbers = {name: getattr(found, name).copy() for name in ("distance", "n_clusters", "excess")}
    numbers["distance"][last], numbers["n_clusters"][last], numbers["excess"][last] = 0.5, 1, 9.0
    changed = replace(found, labels=other, **numbers)
    high = f"{found.scale[last - 1]:.3g}"
    assert f"to {high}" in changed.sentence or f"concentration {high}" in changed.sentence
    assert f"at {found.scale[last]:.3g} it has 1 cluster (0.5 bits away)" in changed.sentence
    assert not changed.same[last]
    assert (
        "0.5 bits away, within Monte Carlo error"
        in replace(changed, excess=np.zeros(len(found))).sentence
    )


def test_surviving_clusters():
    """A reported cluster that is cut in half has a Jaccard of one half, and survives by that."""
    labels = np.repeat([[0, 0, 0, 0, 1, 1, 2, 2]], 300, axis=0)
    reported = [0, 0, 0, 0, 0, 0, 0, 1]
    half = pt.DirichletProcess(0.5)
    found = pt.prior_sensitivity(labels, [half], from_prior=ONE, estimate=reported)
    np.testing.assert_allclose(found.jaccard, [[4 / 7, 1 / 2]] * 2)
    assert found.survives.all()
    assert (found.distance > 0.5).all()


def test_shown_everywhere_and_stored(fit, found, tmp_path):
    text = str(found)
    assert found.sentence in text
    assert found.to_frame().shape[0] == len(found)
    assert "Would another prior" in found._repr_html_()
    axes = pt.plots.prior_sensitivity(found)
    assert len(axes.get_xticks()) == len(found)
    assert axes.get_title(loc="left").endswith(f"of {len(found)} do")
    small = replace(fit, draws=fit.draws, trace=fit.trace)
    summary = pt.summarize(small, rng=0)
    assert summary.sensitivity is not None  # cheap enough to be there without request
    assert np.isin([0.5, 1.0, 2.0], summary.sensitivity.scale).sum() >= 2
    assert "Another prior: " in str(summary)
    said = " ".join(summary.details().split())
    assert f"Another prior: {summary.sensitivity.sentence}" in said
    assert summary.to_dict()["sensitivity"]["sentence"] == summary.sensitivity.sentence
    assert "sensitivity" in summary.tables()
    summary.save(tmp_path / "s.npz")
    again = pt.Summary.load(tmp_path / "s.npz")
    assert str(again) == str(summary)
    assert again.to_frame("sensitivity").equals(summary.to_frame("sensitivity"))
    assert pt.summarize(fit, rng=0, sensitivity=False, path=False).sensitivity is None
    assert pt.summarize(fit.draws, rng=0, path=False).sensitivity is None


def test_errors(fit):
    for call in (
        lambda: pt.prior_sensitivity(fit.draws),
        lambda: fit.draws.reweighted(prior=ONE),
    ):
        with pytest.raises(InvalidInputError, match="from_prior=") as error:
            call()
        assert error.value.argument == "from_prior"
    with pytest.raises(InvalidInputError) as error:
        pt.summarize(fit.draws, sensitivity=True)
    assert error.value.argument == "sensitivity"
    uniform = pt.ProductPartition(lambda n, k: 0.0, lambda n: 0.0)
    with pytest.raises(InvalidInputError, match="priors="):
        pt.prior_sensitivity(fit.draws, from_prior=uniform)


def test_a_partition_that_is_not_the_estimate_is_not_called_one():
    """Under the draws' own prior, too, the estimate is searched where another one is given."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 4)
    rows = np.where(rng.random((400, 12)) < 0.1, rng.integers(0, 3, (400, 12)), truth)
    prior = pt.DirichletProcess(1.0)
    found = pt.prior_sensitivity(rows, [prior], from_prior=prior, estimate=truth // 2)
    assert not found.same[found.own]
    assert "are not the estimate under DirichletProcess(1), which has 3 clusters" in found.sentence
    right = pt.prior_sensitivity(rows, [prior], from_prior=prior, estimate=truth)
    assert right.same[right.own]
    assert right.sentence.startswith("The 3 clusters are the estimate")
