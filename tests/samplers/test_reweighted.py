"""Other priors: weights by enumeration and law, sensitivity recomputed from the draws."""

import functools
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import rankdata

import partita as pt
from partita._resources import Clock
from partita.errors import InvalidInputError, ReweightingError
from partita.mcmc import mcse_mean, pareto_smoothed
from partita.samplers.sensitivity import importance_weights
from samplers.cases import PRIORS

ALL_PRIORS = {
    **PRIORS,
    "finite, learned": pt.FiniteMixture(pt.Gamma(2, 1), mean_components=3),
    "finite, dynamic": pt.FiniteMixture(pt.F(6, 3), mean_components=3, dynamic=True),
    "product": pt.ProductPartition(lambda n, k: -0.7 * k, lambda n: 0.3 * n**0.5),
}


class Own(pt.PartitionPrior):
    """A user's prior: uniform on numbers of clusters, then on partitions that have it."""

    def log_probability(self, labels):
        n, k = len(labels), pt.n_clusters(labels)
        return -np.log(n) - np.log(pt.lattice.stirling_number(n, k))

    def expected_clusters(self, n_items):
        return (n_items + 1) / 2


ALL_PRIORS["own"] = Own()

PARTITIONS = np.array(list(pt.lattice.all_partitions(6)))
LIKELIHOOD = np.random.default_rng(0).normal(0, 2, len(PARTITIONS))
"""Log likelihoods of the 203 partitions of six items, which no prior changes."""


@functools.cache
def log_prior(prior):
    """Log probabilities of all partitions, one by one."""
    return np.array([prior.log_probability(c) for c in PARTITIONS])


def posterior(prior):
    """Log posterior probabilities of all partitions, and the log evidence."""
    joint = LIKELIHOOD + log_prior(prior)
    return joint - logsumexp(joint), logsumexp(joint)


@pytest.mark.parametrize("name", ALL_PRIORS)
def test_from_this_prior_to_every_other_by_enumeration(name):
    """Weights are the exact posterior under the other prior, the mean weight the evidences'."""
    log_p, evidence = posterior(ALL_PRIORS[name])
    mine = np.exp(log_p)
    draws = pt.Draws(PARTITIONS[mine > 0], weights=mine[mine > 0])
    for other, prior in ALL_PRIORS.items():
        log_q, other_evidence = posterior(prior)
        if name == "finite, exactly 3" != other:
            with pytest.raises(ReweightingError, match="never drawn"):
                importance_weights(draws, prior, ALL_PRIORS[name])
            continue
        found = importance_weights(draws, prior, ALL_PRIORS[name])
        np.testing.assert_allclose(found.weights, np.exp(log_q)[np.isfinite(log_q) & (mine > 0)])
        ratio = found.reweighting.log_evidence_ratio
        assert ratio == pytest.approx(other_evidence - evidence, abs=1e-8)


def test_priors_by_sizes_are_priors_of_partitions():
    sizes = np.array([np.bincount(c, minlength=6) for c in PARTITIONS])
    for prior in ALL_PRIORS.values():
        one_by_one = log_prior(prior)
        np.testing.assert_allclose(prior.log_probability_of_sizes(sizes), one_by_one, atol=1e-9)
        assert np.exp(one_by_one).sum() == pytest.approx(1.0, abs=1e-7)


ONE, HALF = pt.DirichletProcess(1.0), pt.DirichletProcess(0.5)
RNG = np.random.default_rng(1)
DRAWN = pt.Draws(
    PARTITIONS[RNG.choice(203, 3_000, p=np.exp(posterior(ONE)[0]))],
    chain=np.repeat([3, 5], 1_500),
    item_names=list("abcdef"),
)


def test_draws_of_one_posterior_become_those_of_another():
    found = DRAWN.reweighted(prior=pt.PitmanYor(0.6, 0.35), from_prior=ONE)
    log_p, evidence = posterior(pt.PitmanYor(0.6, 0.35))
    expected = np.exp(log_p) @ (PARTITIONS.max(axis=1) + 1)
    report = pt.diagnose(found)
    assert abs(found.weights @ found.n_clusters - expected) < 3 * report.mcse[0]
    record = found.reweighting
    assert record.k_hat < 0.7
    assert record.ess <= record.n_effective == pytest.approx(found.n_effective)
    away = record.log_evidence_ratio - (evidence - posterior(ONE)[1])
    assert abs(away) < 3 * record.log_evidence_ratio_mcse
    assert 0 < record.log_evidence_ratio_mcse < 0.1


def test_laws():
    found = DRAWN.reweighted(prior=HALF, from_prior=ONE)
    # Under Dirichlet processes the ratio depends on the number of clusters alone.
    expected = 0.5**DRAWN.n_clusters
    np.testing.assert_allclose(found.weights, expected / expected.sum())
    assert np.array_equal(found.chain, DRAWN.chain)
    assert found.item_names == DRAWN.item_names
    assert found.kind == "posterior"
    # Labels do not matter.
    renamed = pt.Draws(9 - DRAWN.labels.astype(int), chain=DRAWN.chain)
    again = renamed.reweighted(prior=HALF, from_prior=ONE)
    assert np.array_equal(again.weights, found.weights)
    # The same prior: equal weights, whatever the number of draws.
    same = DRAWN[:7].reweighted(prior=ONE, from_prior=ONE)
    np.testing.assert_allclose(same.weights, 1 / 7)
    assert same.reweighting.log_evidence_ratio == pytest.approx(0.0, abs=1e-12)
    # There and back, smoothed in between.
    there = DRAWN.reweighted(prior=pt.PitmanYor(0.6, 0.2), from_prior=ONE)
    back = there.reweighted(prior=ONE, from_prior=pt.PitmanYor(0.6, 0.2))
    np.testing.assert_allclose(back.weights, 1 / 3_000)
    # In two steps as in one.
    twice = there.reweighted(prior=HALF, from_prior=pt.PitmanYor(0.6, 0.2))
    np.testing.assert_allclose(twice.weights, found.weights)
    # What is kept of the record, and when it is lost.
    assert pickle.loads(pickle.dumps(there)).reweighting.prior == there.reweighting.prior
    assert there[:50].reweighting is None
    assert "reweighted" in pt.summarize(there, path=False).methods


def test_draws_that_the_prior_forbids_are_left_out():
    few = pt.FiniteMixture.exactly(2)
    found = DRAWN.reweighted(prior=few, from_prior=ONE)
    assert found.n_clusters.max() == 2
    assert found.reweighting.n_impossible == int((DRAWN.n_clusters > 2).sum()) > 0
    evidence = posterior(few)[1]
    away = found.reweighting.log_evidence_ratio - (evidence - posterior(ONE)[1])
    assert abs(away) < 4 * found.reweighting.log_evidence_ratio_mcse


def test_errors():
    few = r"effective draws of 3,000.* Sample again"
    with pytest.raises(ReweightingError, match=few) as refused:
        DRAWN.reweighted(prior=pt.DirichletProcess(1e4), from_prior=ONE)
    assert refused.value.n_effective < 100
    assert refused.value.argument == "prior"
    with pytest.raises(InvalidInputError, match="from_prior") as unknown:
        DRAWN.reweighted(prior=HALF)
    assert unknown.value.argument == "from_prior"
    with pytest.raises(InvalidInputError, match="another prior") as wrong:
        DRAWN.reweighted(prior=HALF, from_prior=pt.FiniteMixture.exactly(2))
    assert wrong.value.argument == "from_prior"
    for arguments in ({}, {"by": "entropy", "strength": 1.0, "prior": HALF}, {"prior": 1.0}):
        with pytest.raises(InvalidInputError):
            DRAWN.reweighted(**arguments, from_prior=ONE)
    with pytest.raises(pt.PartitaError, match="ensemble"):
        pt.Draws(PARTITIONS, kind="ensemble").reweighted(prior=HALF, from_prior=ONE)


def test_correlated_draws_count_less():
    """Each draw ten times in a row: weights are as even, errors are those of a tenth."""
    slow = DRAWN[::10]
    slow = slow[np.repeat(np.arange(300), 10)]
    found = slow.reweighted(prior=pt.DirichletProcess(0.8), from_prior=ONE)
    assert found.n_effective > 2_000
    assert found.reweighting.ess < 600
    report = pt.diagnose(found)
    assert report.ess_bulk[0] < 600
    assert "correlation" in report.notes[0]
    independent = DRAWN.reweighted(prior=pt.DirichletProcess(0.8), from_prior=ONE)
    error = found.reweighting.log_evidence_ratio_mcse
    assert error > 2 * independent.reweighting.log_evidence_ratio_mcse
    balls = [pt.credible_ball(each, PARTITIONS[7], prob=0.5) for each in (found, independent)]
    assert balls[0].radius_mcse >= balls[1].radius_mcse
    with pytest.raises(ReweightingError, match="within chains"):
        DRAWN[np.repeat(np.arange(80), 30)].reweighted(prior=HALF, from_prior=ONE)


def test_error_of_the_evidence_covers_repetitions():
    """The standard error against the spread of 200 runs of a chain that stays with 0.8."""
    log_p, evidence = posterior(ONE)
    rng, p = np.random.default_rng(3), np.exp(log_p)
    found = []
    for _ in range(200):
        fresh = rng.choice(203, 600, p=p)
        stays = rng.random(600) < 0.8
        last = np.maximum.accumulate(np.where(stays, 0, np.arange(600)))
        chain = pt.Draws(PARTITIONS[fresh[last]], chain=np.zeros(600, int))
        record = importance_weights(chain, HALF, ONE).reweighting
        found.append((record.log_evidence_ratio, record.log_evidence_ratio_mcse))
    ratio, error = np.array(found).T
    assert np.median(error) == pytest.approx(ratio.std(), rel=0.2)
    assert abs(ratio.mean() - (posterior(HALF)[1] - evidence)) < 0.02


@pytest.mark.parametrize("size", [60, 500, 4_000])
@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0])
def test_smoothing_is_that_of_arviz(size, scale):
    array_stats = pytest.importorskip("arviz_stats.base").array_stats
    log_ratio = scale * np.random.default_rng(size).standard_normal(size)
    for efficiency in (1.0, 0.4):
        expected, shape = array_stats.psislw(-log_ratio, r_eff=efficiency)
        found, k_hat = pareto_smoothed(log_ratio, efficiency)
        assert k_hat == pytest.approx(float(shape))
        np.testing.assert_allclose(found - found.max(), expected - expected.max(), atol=1e-9)


def test_smoothing_with_ties():
    """Equal ratios stay equal and in order; a lattice and a tail of one value are left alone."""
    log_ratio = np.random.default_rng(0).standard_normal(2_000).round(2)
    found, _ = pareto_smoothed(log_ratio)
    assert np.unique(np.stack([log_ratio, found]), axis=1).shape[1] == np.unique(log_ratio).size
    np.testing.assert_array_equal(rankdata(found), rankdata(log_ratio))
    lattice = np.random.default_rng(0).poisson(3, 2_000) * np.log(2)
    same, k_hat = pareto_smoothed(lattice)
    np.testing.assert_allclose(same, lattice - lattice.max())
    assert np.isfinite(k_hat)
    assert pareto_smoothed(np.repeat([0.0, -1.0], 500))[1] == -np.inf
    assert np.isnan(pareto_smoothed(np.arange(8.0))[1])
    assert mcse_mean(np.exp(found).reshape(4, -1)) > 0


def test_concentration_by_mean_and_sd_of_the_clusters():
    """The published example, P(largest weight > 1/2) by sticks, and moments by simulation."""
    law = pt.Gamma.for_clusters(mean=5, sd=10**0.5, n_items=50)
    assert (law.shape, law.rate) == pytest.approx((1.4082, 1.0770), abs=1e-4)
    near = pt.Gamma.for_clusters(mean=5, sd=3.16, n_items=50)
    assert (near.shape, near.rate) == pytest.approx((1.4082, 1.0770), rel=3e-3)
    assert pt.DirichletProcess(law).expected_clusters(50) == pytest.approx(5, abs=1e-9)
    rng = np.random.default_rng(0)
    alpha = rng.gamma(law.shape, 1 / law.rate, 20_000)
    k = (rng.random((20_000, 50)) < alpha[:, None] / (alpha[:, None] + np.arange(50))).sum(axis=1)
    assert (k.mean(), k.std()) == pytest.approx((5, 10**0.5), abs=0.06)
    sticks = rng.beta(1.0, alpha[:, None], (20_000, 200))
    left = np.cumprod(1 - sticks, axis=1)
    largest = (sticks * np.concatenate([np.ones((20_000, 1)), left[:, :-1]], axis=1)).max(axis=1)
    assert law.p_dominant() == pytest.approx((largest > 0.5).mean(), abs=0.01)
    assert pt.Gamma(1e6, 1e6).p_dominant() == pytest.approx(np.log(2), abs=1e-5)
    assert "P(largest weight > 1/2) = 0.64" in str(law)
    for wrong in (1.0, 13.0, 40.0):
        with pytest.raises(InvalidInputError) as error:
            pt.Gamma.for_clusters(mean=5, sd=wrong, n_items=50)
        assert error.value.argument == "sd"
    with pytest.raises(InvalidInputError):
        pt.Gamma.for_clusters(mean=60, sd=2, n_items=50)


# --------------------------------------------------------------- would another prior say the same


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


def test_surviving_clusters():
    """A reported cluster that is cut in half has a Jaccard of one half, and survives by that."""
    labels = np.repeat([[0, 0, 0, 0, 1, 1, 2, 2]], 300, axis=0)
    reported = [0, 0, 0, 0, 0, 0, 0, 1]
    half = pt.DirichletProcess(0.5)
    found = pt.prior_sensitivity(labels, [half], from_prior=ONE, estimate=reported)
    np.testing.assert_allclose(found.jaccard, [[4 / 7, 1 / 2]] * 2)
    assert found.survives.all()
    assert (found.distance > 0.5).all()


def test_the_range_in_the_sentence_ends_where_the_estimate_changes(found):
    refused = found.refused_scale[np.isfinite(found.refused_scale)]
    assert all(f"{scale:.3g}" in found.sentence for scale in refused)
    last = int(np.flatnonzero(np.isfinite(found.scale))[-1])
    fields = ("labels", "distance", "n_clusters", "excess")
    numbers = {name: getattr(found, name).copy() for name in fields}
    for values, value in zip(numbers.values(), (0, 0.5, 1, 9.0), strict=True):
        values[last] = value
    changed = replace(found, **numbers)
    high = f"{found.scale[last - 1]:.3g}"
    assert f"to {high}" in changed.sentence or f"concentration {high}" in changed.sentence
    said = f"at {found.scale[last]:.3g} it has 1 cluster (0.5 bits away"
    assert f"{said})" in changed.sentence
    same = replace(changed, excess=np.zeros(len(found)))
    assert f"{said}, within Monte Carlo error" in same.sentence


def test_shown_everywhere_and_stored(fit, found, tmp_path):
    text = str(found)
    assert found.sentence in text
    assert found.to_frame().shape[0] == len(found)
    axes = pt.plots.prior_sensitivity(found)
    assert len(axes.get_xticks()) == len(found)
    assert axes.get_title(loc="left").endswith(f"of {len(found) - 1}")
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


def test_sensitivity_needs_the_prior_of_the_draws(fit):
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


@pytest.mark.parametrize("asked", [0, 3, 40, 200, 2_000])
def test_time_that_is_up_leaves_out_priors_and_names_them(fit, found, asked, monkeypatch):
    """Wherever the clock ends it, what is said is what the whole grid says of these priors."""
    left = asked

    def is_up(self) -> bool:
        nonlocal left
        left -= 1
        if left < 0:
            self.interrupt()
        return self.interrupted

    monkeypatch.setattr(Clock, "is_up", is_up)
    own = found.estimate
    tried = [pt.DirichletProcess(a) for a in (0.5, 0.8, 1.25)]
    cut = pt.prior_sensitivity(fit, tried, estimate=own, time_limit=1e6)
    monkeypatch.undo()
    whole = pt.prior_sensitivity(fit, tried, estimate=own)
    assert whole.missing == ()
    assert {*cut.priors, *cut.missing} == set(whole.priors)
    assert not {*cut.priors} & {*cut.missing}
    assert cut.priors[cut.own] == "DirichletProcess(1)"
    assert asked > 3 or len(cut.missing) == 3
    for m, name in enumerate(cut.priors):
        if m != cut.own:
            same = whole.priors.index(name)
            np.testing.assert_array_equal(cut.labels[m], whole.labels[same])
            assert cut.radius[m] == whole.radius[same]
    for name in cut.missing:
        assert name in cut.sentence
        assert name in str(cut)


def test_ctrl_c_between_two_priors_loses_none_that_is_done(fit, found, monkeypatch):
    calls = []

    def ball(*given, **more):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return pt.credible_ball(*given, **more)

    monkeypatch.setattr("partita.samplers.sensitivity.credible_ball", ball)
    tried = [pt.DirichletProcess(a) for a in (0.5, 0.8, 1.25)]
    cut = pt.prior_sensitivity(fit, tried, estimate=found.estimate)
    assert cut.priors == ("DirichletProcess(0.5)", "DirichletProcess(1)")
    assert cut.missing == ("DirichletProcess(0.8)", "DirichletProcess(1.25)")
