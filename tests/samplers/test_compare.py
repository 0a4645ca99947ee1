"""Predictive densities of unseen rows: by enumeration, chains that disagree, models compared."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

import partita as pt
from partita.errors import InvalidInputError
from partita.samplers.compare import heldout_log_density, stacking_weights
from reference import samplers_models as references
from samplers.cases import cases, log_joint

N = 6
CASES = {case.name: case for case in cases(n=N)}
PARTITIONS = np.array(list(pt.lattice.all_partitions(N)))
PRIOR = pt.DirichletProcess(1.3)


def log_joints(case, rows, partitions):
    """Log of prior times likelihood of all partitions of some rows."""
    some = replace(case, rows=case.values[rows])
    return np.array([log_joint(some, PRIOR, labels) for labels in partitions])


@pytest.mark.parametrize("name", ["normal", "wishart", "poisson", "product"])
def test_leave_one_out_by_enumeration(name):
    """p(x_i | x_−i) = p(x)/p(x_−i), from the posterior mean of 1/p(x_i | x_−i, c_−i)."""
    case = CASES[name]
    fit = pt.sample(case.rows, kernel=case.kernel, prior=PRIOR, draws=1, chains=1, rng=0)
    k = PARTITIONS.max(axis=1) + 1
    trace = {"n_clusters": k[None], "concentration": np.full((1, k.size), 1.3)}
    fit = replace(fit, draws=pt.Draws(PARTITIONS), trace=trace)
    found = fit._leave_one_out(np.arange(k.size), np.array([0, 4]), 1)
    joint = log_joints(case, np.arange(N), PARTITIONS)
    smaller = np.array(list(pt.lattice.all_partitions(N - 1)))
    for i, column in zip((0, 4), found.T, strict=True):
        others = logsumexp(log_joints(case, np.delete(np.arange(N), i), smaller))
        expected = logsumexp(joint) - others
        assert -logsumexp(joint - logsumexp(joint) - column) == pytest.approx(expected)


def test_leave_one_out_of_what_is_learned():
    """Under a learned rate and a mixture given its components, against one draw by hand."""
    case = CASES["normal"]
    kernel = pt.NormalInverseGamma.hierarchical(case.rows)
    prior = pt.FiniteMixture(pt.Gamma(2, 1), mean_components=3)
    fit = pt.sample(case.rows, kernel=kernel, prior=prior, draws=5, chains=1, rng=1)
    found = fit._leave_one_out(np.array([4]), np.arange(N), 1)[0]
    labels, fixed = fit.draws.labels[4], kernel.at(fit._rates()[4])
    reference = references.normal_inverse_gamma(
        fixed.mean, fixed.precision, fixed.shape, fixed.rate
    )
    weight, components = fit.trace["weight"][0, 4], fit.trace["n_components"][0, 4]
    for i in range(N):
        others = np.delete(np.arange(N), i)
        rest = [others[labels[others] == j] for j in np.unique(labels[others])]
        sizes = np.array([g.size + weight for g in rest] + [(components - len(rest)) * weight])
        densities = [reference(case.values[i], case.values[g]) for g in rest]
        densities.append(reference(case.values[i], case.values[:0]))
        expected = logsumexp(densities, b=sizes / sizes.sum())
        assert found[i] == pytest.approx(expected)


def test_stacking_is_the_maximum():
    rng = np.random.default_rng(0)
    for shift in (0.0, 0.5):
        log_p = rng.normal(0, 1, (4, 300)) + np.array([[0], [shift], [-shift], [-8 * shift]])
        found = stacking_weights(log_p)

        def lost(w, log_p=log_p):
            return -logsumexp(log_p, axis=0, b=np.abs(w)[:, None]).mean()

        bounds, total = [(0, 1)] * 4, {"type": "eq", "fun": lambda w: w.sum() - 1}
        best = minimize(lost, np.full(4, 0.25), bounds=bounds, constraints=total)
        assert lost(found) < best.fun + 2e-5
        assert found.sum() == pytest.approx(1.0)
    assert found[3] == 0.0


RNG = np.random.default_rng(5)
CENTERS = np.array([[-4.0, 0.0], [4.0, 0.0], [0.0, 5.0]])
TRUTH = np.repeat([0, 1, 2], 30)
DATA = CENTERS[TRUTH] + RNG.standard_normal((90, 2))
NEW = CENTERS[TRUTH] + RNG.standard_normal((90, 2))
KERNEL = pt.NormalInverseGamma(0.0, 0.02, 2.0, 1.0)


def stuck() -> pt.Fit:
    """Chains that hardly move: at three clusters, at two that were merged, and at the three."""
    merged = np.where(TRUTH == 2, 1, TRUTH)
    return pt.sample(
        DATA,
        kernel=KERNEL,
        prior=pt.DirichletProcess(1e-3),
        initial=np.stack([TRUTH, merged, TRUTH]),
        draws=40,
        burn_in=0,
        chains=3,
        split_merge=0,
        rng=0,
    )


def test_stacking_finds_the_chains_that_predict():
    fit = stuck()
    np.testing.assert_array_equal(fit.trace["n_clusters"].max(axis=1), [3, 2, 3])
    for found in (fit.stack_chains(), fit.stack_chains(NEW)):
        assert found.weights[1] == 0.0
        assert found.mean_log_density.argmin() == 1
        assert found.difference[1] < -5 * found.difference_se[1]
        # Weighted draws, which everything takes; those of the chain that does not count are gone.
        assert set(found.draws.chain.tolist()) <= {0, 2}
        shares = [found.draws.weights[found.draws.chain == c].sum() for c in (0, 2)]
        np.testing.assert_allclose(shares, found.weights[[0, 2]])
        assert pt.estimate(found).n_clusters == 3
        assert found.to_frame().loc["1", "n_clusters"] == 2
    assert found.held_out
    assert "held out" in str(found)
    advice = " ".join(pt.diagnose(fit).warnings)
    assert "fit.stack_chains()" in advice
    assert "stack_chains" not in " ".join(pt.diagnose(fit.draws).warnings)


def test_models_are_compared_in_folds_and_by_held_out_rows():
    slanted = NEW[:60] @ np.array([[1.0, 0.0], [2.5, 0.4]])
    kernels = {
        "normal": pt.NormalInverseGamma.empirical(slanted),
        "wishart": pt.NormalInverseWishart.empirical(slanted),
    }
    run = {"draws": 20, "burn_in": 20, "chains": 2, "rng": 0}
    fits = {name: pt.sample(slanted, kernel=kernel, **run) for name, kernel in kernels.items()}
    found = pt.compare(fits, folds=3, draws=60, rng=1)
    assert found.names == ("wishart", "normal")
    assert found.difference[0] == found.difference_se[0] == 0.0
    assert found.weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(found.elpd, found.log_density.sum(axis=1))
    away = found.log_density[0] - found.log_density[1]
    assert found.difference[1] == pytest.approx(away.sum())
    assert found.difference_se[1] == pytest.approx(np.sqrt(60) * away.std(ddof=1))
    assert found.sentence.startswith("wishart predicts best")
    assert list(found.to_frame().columns) == ["rank", "elpd", "elpd_diff", "weight", "se", "dse"]
    again = pt.compare(fits, folds=3, draws=60, rng=1, n_jobs=1)
    np.testing.assert_array_equal(again.log_density, found.log_density)
    new = slanted + 0.1
    held = pt.compare(list(fits.values()), new_data=new)
    assert set(held.names) == {"NormalInverseGamma", "NormalInverseWishart"}
    assert held.folds == 0
    expected = np.log(fits["normal"].density(new).mean)
    mine = held.log_density[held.names.index("NormalInverseGamma")]
    np.testing.assert_allclose(mine, expected)


def test_held_out_rows_are_not_seen():
    """Their values do not change what is fitted: only their own densities change."""
    arguments = {"kernel": KERNEL, "prior": PRIOR, "draws": 30, "burn_in": 10, "rng": 3}
    changed = DATA.copy()
    changed[0] += 100.0
    held = np.array([0, 50])
    one, two = (heldout_log_density(x, held, **arguments) for x in (DATA, changed))
    assert one[1] == two[1]
    assert two[0] < one[0] - 10
    assert np.isfinite(two).all()


def test_what_cannot_be_compared_is_refused():
    fit = stuck()
    counts = pt.sample(np.ones((90, 2)), kernel=pt.GammaPoisson(1.0, 1.0), draws=2, chains=1, rng=0)
    shorter = pt.sample(DATA[:50], kernel=KERNEL, draws=2, chains=1, rng=0)
    other = replace(fit, values=fit.values + 1.0)
    for fits in ([fit, counts], [fit, shorter], [fit, other], [], "ab", {"a": DATA}):
        with pytest.raises(InvalidInputError) as error:
            pt.compare(fits)
        assert error.value.argument == "fits"
    with pytest.raises(InvalidInputError, match="columns"):
        pt.compare([fit], new_data=np.ones((3, 1)))
    with pytest.raises(InvalidInputError):
        pt.compare([fit], folds=1)
