"""Sweeps given parameters: their arithmetic against SciPy, their law against all partitions."""

import numpy as np
import pytest

import partita as pt
from partita.io.data_table import as_table
from partita.kernels.gibbs import parallel as kernels
from partita.samplers import parallel
from partita.samplers.chains import build_model
from partita.testing import assert_exact, frequencies
from reference import samplers_models
from reference import samplers_moves as reference
from samplers.cases import PRIORS, Case, cases, exact, few_rows_in_parallel, log_joint

N = 6
PARTITIONS = np.array(list(pt.lattice.all_partitions(N)))
CASES = {case.name: case for case in cases(n=N)}
MORE_PRIORS = PRIORS | {
    "uniform": pt.ProductPartition(lambda n, k: 0.0, lambda n: 0.0),
    "dynamic": pt.FiniteMixture(pt.F(6, 3), dynamic=True),
}


def in_groups(n, seed):
    return {case.name: case for case in cases(n=n, seed=seed)}


def incomplete(n):
    """Normal columns of which each has missing cells, and a row that has no cell at all."""
    rows = in_groups(n, 3)["normal"].values.copy()
    rows[np.random.default_rng(4).random(rows.shape) < 0.3] = np.nan
    rows[1] = np.nan
    of_column = samplers_models.normal_inverse_gamma(0.2, 0.5, 2, 1)
    kernel = pt.NormalInverseGamma(0.2, 0.5, 2, 1)
    return Case("incomplete", kernel, rows, samplers_models.of_present_cells([of_column] * 2))


CASES["incomplete"] = incomplete(N)


def model_of(kernel, rows):
    table = as_table(rows)
    bound = kernel.bind(table)
    model = build_model(bound, PRIORS["dirichlet"], bound.encode(table))
    return model, model.arrays.likelihood(model.values)


@pytest.mark.parametrize("name", ["normal", "wishart", "categorical", "poisson", "incomplete"])
def test_rows_are_allocated_as_one_by_one(name):
    case = incomplete(150) if name == "incomplete" else in_groups(150, 3)[name]
    model, likelihood = model_of(case.kernel, case.rows)
    rows, slots, prior = np.arange(150), (np.arange(150) % 3).astype(np.int32), model.prior.arrays
    store = kernels.statistics(likelihood, rows, slots, np.int64(3))
    kernels.refresh_caches(likelihood, prior, store, np.int64(3))
    random = np.random.SeedSequence(3).generate_state(4, np.uint64)
    weights, theta = kernels.draw_parameters(likelihood, prior, store, np.arange(3), random)
    values, levels = model.values, (3, 4)
    densities = np.array(
        [[reference.log_density(name, x, theta[2:, j], levels) for j in range(3)] for x in values]
    )
    expected, log_q = reference.allocate(weights, densities, 12345)
    found, key = np.empty(150, np.int32), np.uint64(12345)
    got = kernels.allocate(likelihood, rows, 0, weights, theta, key, found, False, True)
    np.testing.assert_array_equal(found, expected)
    assert got == pytest.approx(log_q, rel=1e-10)
    again = kernels.allocate(likelihood, rows, 0, weights, theta, key, found, True, True)
    assert again == got
    # In pieces, from any row on: the number of a row is its own.
    part = np.empty(40, np.int32)
    later = likelihood._replace(data=likelihood.data[70:])
    kernels.allocate(later, np.arange(40), 70, weights, theta, key, part, False, False)
    np.testing.assert_array_equal(part, expected[70:110])


def test_statistics_in_pieces_are_those_of_all():
    rng = np.random.default_rng(2)
    case = in_groups(90, 5)["product"]
    rows = np.asarray(case.rows, float).copy()
    rows[rng.random(90) < 0.2, 0] = np.nan
    wide = rng.normal(size=(90, 5)) @ rng.normal(size=(5, 5)) + 1e4
    wishart = pt.NormalInverseWishart.empirical(wide)
    slots = rng.integers(0, 3, 90).astype(np.int32)
    gaps = incomplete(90)
    for kernel, data in ((case.kernel, rows), (gaps.kernel, gaps.rows), (wishart, wide)):
        _, likelihood = model_of(kernel, data)

        def measured(first, last, likelihood=likelihood):
            part = likelihood._replace(data=likelihood.data[first:last])
            return kernels.statistics(part, np.arange(last - first), slots[first:last], np.int64(3))

        whole, pieces = measured(0, 90), measured(0, 1)
        for first, last in ((1, 2), (2, 40), (40, 90)):
            kernels.merge_stores(likelihood, measured(first, last), pieces, np.int64(3))
        np.testing.assert_allclose(pieces[:, :3], whole[:, :3], rtol=1e-9, atol=1e-9)
        if kernel is gaps.kernel:
            for j, c in np.ndindex(3, 2):
                cells = data[slots == j, c]
                cells = cells[~np.isnan(cells)]
                expected = [cells.size, cells.mean(), np.square(cells - cells.mean()).sum()]
                np.testing.assert_allclose(whole[2 + 3 * c : 5 + 3 * c, j], expected, rtol=1e-9)
    for j in range(3):
        mine = wide[slots == j]
        np.testing.assert_allclose(whole[2:7, j], mine.mean(axis=0))
        scatter = (mine - mine.mean(axis=0)).T @ (mine - mine.mean(axis=0))
        np.testing.assert_allclose(whole[7:22, j], scatter[np.tril_indices(5)], rtol=1e-8)


@pytest.fixture
def few(monkeypatch):
    few_rows_in_parallel(monkeypatch)


def run(case, prior, *, draws=150, chains=24, **options):
    fit = pt.sample(
        case.rows,
        kernel=case.kernel,
        prior=prior,
        draws=draws,
        burn_in=20,
        chains=chains,
        rng=7,
        sampler="parallel",
        n_jobs=1,
        **options,
    )
    assert fit.settings.sampler == "parallel", fit.notes
    return fit


@pytest.mark.parametrize(
    ("case", "prior", "options"),
    [
        ("wishart", "pitman–yor, negative", {"split_merge": 0}),
        ("product", "dynamic", {"split_merge": 0}),
        ("normal", "uniform", {"split_merge": 0}),
        ("normal", "dirichlet, random", {"sweeps": 0, "split_merge": 1}),
        ("poisson", "finite, exactly 3", {"split_merge": 1}),
        ("incomplete", "dirichlet, random", {"split_merge": 1, "draws": 600}),
    ],
)
def test_all_partitions(case, prior, options, few):
    case, prior = CASES[case], MORE_PRIORS[prior]
    fit = run(case, prior, **options)
    assert_exact(frequencies(fit.draws, PARTITIONS), exact(case, prior, PARTITIONS))


@pytest.mark.parametrize(
    ("case", "prior", "split_merge"), [("normal", "dirichlet", 1), ("wishart", "pitman–yor", 0)]
)
def test_all_partitions_of_eight_rows(case, prior, split_merge, few):
    case, prior = in_groups(8, 1)[case], PRIORS[prior]
    partitions = np.array(list(pt.lattice.all_partitions(8)))
    fit = run(case, prior, draws=300, split_merge=split_merge)
    assert_exact(frequencies(fit.draws, partitions), exact(case, prior, partitions))


def test_deleting_emptied_clusters_is_wrong(few, monkeypatch):
    """As published elsewhere; the same test as above tells."""
    monkeypatch.setattr(parallel, "_same_clusters", lambda sizes, least: True)
    case, prior = CASES["normal"], PRIORS["dirichlet"]
    fit = run(case, prior, split_merge=0)
    with pytest.raises(AssertionError):
        assert_exact(frequencies(fit.draws, PARTITIONS), exact(case, prior, PARTITIONS))


def test_threads_and_rounds_change_no_bit(monkeypatch, tmp_path):
    monkeypatch.setattr(parallel, "_CHUNK", 100)
    data = pt.datasets.four_normals(n=450, rng=0).data
    kernel = pt.NormalInverseGamma.hierarchical(data)
    how = {"kernel": kernel, "chains": 1, "rng": 2, "sampler": "parallel", "burn_in": 3}
    whole = pt.sample(data, draws=9, n_jobs=1, **how)
    assert whole.settings.sampler == "parallel"
    assert pt.sample(data, draws=9, n_jobs=4, **how).draws == whole.draws
    longer = pt.sample(data, draws=4, **how).extend(draws=5)
    assert longer.draws == whole.draws
    np.testing.assert_array_equal(longer.trace["log_posterior"], whole.trace["log_posterior"])
    whole.save(tmp_path / "fit.npz")
    assert pt.Fit.load(tmp_path / "fit.npz").settings.sampler == "parallel"
    path = tmp_path / "run.npz"
    pt.sample(data, draws=5, checkpoint=path, **how)
    assert pt.sample(data, draws=9, resume=path, **how).draws == whole.draws
    with pytest.raises(pt.PartitaError, match="another run"):
        pt.sample(data, draws=9, resume=path, **(how | {"sampler": "collapsed"}))


def test_log_posterior_is_that_of_the_draw():
    case, prior = CASES["product"], PRIORS["pitman–yor"]
    fit = run(case, prior, draws=20, chains=1)
    for labels, found in zip(fit.draws.labels, fit.trace["log_posterior"][0], strict=True):
        assert found == pytest.approx(log_joint(case, prior, labels), abs=1e-9)


def test_models_without_such_a_sweep_fall_back_and_say_so():
    data = pt.datasets.galaxies()
    prior = pt.ProductPartition(lambda n, k: 0.0, lambda n: float(n) ** 0.5)
    fit = pt.sample(data, prior=prior, sampler="parallel", draws=3, burn_in=1, chains=1, rng=0)
    assert fit.settings.sampler == "collapsed"
    assert "not linear in its size" in fit.notes[-1]
    with pytest.raises(pt.errors.UnknownNameError, match="'collapsed', 'parallel'"):
        pt.sample(data, sampler="gibbs")
