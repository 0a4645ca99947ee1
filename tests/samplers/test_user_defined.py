"""Priors and kernels from outside: sampled exactly, checked, refused, saved, found again."""

import math
import pickle
import sys
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln

import partita as pt
from partita import _archive as registered
from partita.samplers.chains import flatten
from samplers.outside_kernels import WAITING, ExponentialGamma, add

DATA = Path(__file__).parent / "data"


def reference(rows: np.ndarray) -> float:
    """ExponentialGamma(1.5, 0.7), by its closed form over the cells that are there."""
    total = 0.0
    for column in rows.T:
        x = column[~np.isnan(column)]
        total += gammaln(1.5 + x.size) - gammaln(1.5) + 1.5 * np.log(0.7)
        total -= (1.5 + x.size) * np.log(0.7 + x.sum())
    return float(total)


UNIFORM = pt.ProductPartition(lambda n, k: 0.0, lambda n: 0.0)


def test_a_kernel_of_ones_own_is_exact_with_missing_cells_too():
    kernel = ExponentialGamma(1.5, 0.7)
    pt.testing.check_kernel(kernel, WAITING, log_marginal=reference)
    holes = WAITING.copy()
    holes[[0, 2, 2], [1, 0, 1]] = np.nan
    pt.testing.check_kernel(kernel, holes, log_marginal=reference, prior=UNIFORM)


def test_beside_others_in_a_product_and_all_that_a_fit_offers():
    kernel = pt.Product((ExponentialGamma(), [0]), (pt.NormalInverseGamma(3, 0.5, 2, 1), [1]))
    fit = pt.sample(WAITING, kernel=kernel, draws=50, burn_in=10, chains=2, rng=0)
    assert set(fit.cluster_parameters(np.zeros(6)).parameters) == {"mean", "variance"}
    np.testing.assert_allclose(fit.predict(WAITING[:2], np.arange(6) // 3).sum(axis=1), 1)
    one = pt.sample(WAITING[:, 0], kernel=ExponentialGamma(), draws=50, burn_in=10, rng=0)
    grid = np.geomspace(1e-4, 1e5, 4_000)
    assert np.trapezoid(one.density(grid).mean, grid) == pytest.approx(1, abs=2e-3)


def test_addresses_are_made_anew_where_a_model_arrives():
    arrays = flatten(ExponentialGamma(), 6, np.zeros(2, bool))
    again = pickle.loads(pickle.dumps(arrays))
    assert not again.blocks[:, -5:].any()
    assert again.likelihood(WAITING).blocks[:, -5:].all()


def broken(**functions):
    return type("Broken", (ExponentialGamma,), functions)()


@pytest.mark.parametrize(
    ("kernel", "log_marginal", "message"),
    [
        (broken(remove=add), None, "log_marginal after remove"),
        (broken(log_marginal=lambda n, block, j: 0.0), None, "the sum of log_predictive"),
        (ExponentialGamma(1.5, 0.7), lambda rows: reference(rows) - 1, "the reference"),
    ],
)
def test_a_wrong_kernel_and_a_missing_normaliser_are_found(kernel, log_marginal, message):
    with pytest.raises(AssertionError, match=message):
        pt.testing.check_kernel(kernel, WAITING, log_marginal=log_marginal)


def test_an_error_in_a_function_comes_out():
    def fails(n, block, j):
        if n > 2:
            raise ValueError("three are too many")
        return 0.0

    with pytest.raises(ValueError, match="three are too many"):
        pt.sample(WAITING, kernel=broken(log_marginal=fails), draws=5, burn_in=0, chains=1, rng=0)


PRIORS = {
    "uniform": UNIFORM,
    "tables": pt.ProductPartition([0.0, 0.5, -1.0], [0.0, 0.3, 0.1, 0.7, -1.0, 0.2, 0.0]),
    "dirichlet": pt.ProductPartition(lambda n, k: k * math.log(1.3), lambda n: math.lgamma(n)),
}


@pytest.mark.parametrize("name", PRIORS)
def test_priors_of_ones_own_are_exact(name):
    pt.testing.check_prior(PRIORS[name])


def test_the_dirichlet_process_has_product_form():
    named = pt.DirichletProcess(1.3)
    for labels in ([0, 0, 1, 2], [0], [0, 1, 2, 3, 4, 4]):
        found = PRIORS["dirichlet"].log_probability(labels)
        assert found == pytest.approx(named.log_probability(labels), abs=1e-10)
    assert PRIORS["dirichlet"].expected_clusters(40) == pytest.approx(named.expected_clusters(40))


def test_a_table_that_ends_caps_the_clusters():
    fit = pt.sample(WAITING, prior=PRIORS["tables"], draws=50, burn_in=0, rng=0)
    assert fit.draws.n_clusters.max() <= 3
    assert PRIORS["tables"].log_probability([0, 1, 2, 3]) == -np.inf


class Paired(pt.PartitionPrior):
    """Exchangeable, not of product form: the largest cluster counts."""

    def log_probability(self, labels):
        sizes = {tuple(sorted(np.bincount(c))): 0 for c in pt.lattice.all_partitions(len(labels))}
        total = sum(max(np.bincount(c)) for c in pt.lattice.all_partitions(len(labels)))
        assert tuple(sorted(np.bincount(labels))) in sizes
        return float(np.log(np.bincount(labels).max() / total))

    def expected_clusters(self, n_items):
        every = np.array(list(pt.lattice.all_partitions(n_items)))
        p = np.exp([self.log_probability(c) for c in every])
        return float(p @ (every.max(axis=1) + 1))


def test_other_exchangeable_priors_are_refused_with_the_reason():
    with pytest.raises(pt.PartitaError, match="depends on its size alone"):
        pt.sample(WAITING, prior=Paired())

    class Claims(Paired):
        def tables(self, n_items):
            return UNIFORM.tables(n_items)

    with pytest.raises(AssertionError, match="standard errors away"):
        pt.testing.check_prior(Claims(), n_items=4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pt.ProductPartition([0.0], [0.0]).log_probability([0, 0]), "log_w has 1 entries"),
        (lambda: pt.ProductPartition(lambda n, k: np.nan, lambda n: 0.0).tables(3), "log V"),
        (
            lambda: pt.ProductPartition(lambda n, k: [0.0, -np.inf, 0][k - 1], [0.0] * 9).tables(3),
            "more clusters are possible",
        ),
        (lambda: UNIFORM.config(), "cannot be written"),
        (lambda: pt.testing.check_kernel(ExponentialGamma(), WAITING[:3]), "at least 6"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(pt.PartitaError, match=message):
        make()


def test_a_saved_fit_finds_its_classes_by_name(tmp_path, monkeypatch):
    kernel = pt.Product((ExponentialGamma(2.0), [0]), (pt.GammaPoisson(1, 1), [1]))
    rows = np.round(WAITING)
    fit = pt.sample(rows, kernel=kernel, prior=UNIFORM, draws=20, burn_in=5, chains=2, rng=0)
    fit.save(tmp_path / "fit.npz")
    again = pt.Fit.load(tmp_path / "fit.npz")
    assert again.kernel == fit.kernel
    assert again.prior == fit.prior
    np.testing.assert_array_equal(again.density(rows).mean, fit.density(rows).mean)
    monkeypatch.delitem(registered._KNOWN, (pt.Kernel, "ExponentialGamma"))
    with pytest.raises(pt.PartitaError, match=r"Import \S*samplers.outside_kernels first"):
        pt.Fit.load(tmp_path / "fit.npz")


def test_a_name_that_partita_has_is_refused():
    with pytest.raises(pt.PartitaError, match="'GammaPoisson' comes with partita"):
        type("GammaPoisson", (pt.Kernel,), {})


def test_files_of_the_first_version_still_load():
    product = pt.Fit.load(DATA / "fit_0_1_product.npz")
    assert [kernel.kind for kernel, _ in product.kernel.parts] == [
        "NormalInverseGamma",
        "GammaPoisson",
        "BetaBernoulli",
        "DirichletCategorical",
    ]
    assert product.prior == pt.DirichletProcess(pt.Gamma(1, 1))
    assert product.density(product.values).mean.shape == (5,)
    wishart = pt.Fit.load(DATA / "fit_0_1_wishart.npz")
    assert wishart.prior == pt.FiniteMixture(mean_components=3)
    options = {"kernel": pt.NormalInverseGamma(0, 0.5, 2, 1), "prior": pt.PitmanYor(1.0, 0.25)}
    options |= {"burn_in": 2, "chains": 2, "rng": 0}
    rows = product.values[:, :2]
    longer = pt.sample(rows, draws=9, resume=DATA / "checkpoint_0_1.npz", **options)
    assert longer.draws == pt.sample(rows, draws=9, **options).draws


def forged(source: Path, target: Path, **changes) -> Path:
    with np.load(source) as stored:
        arrays = dict(stored)
    for name, change in changes.items():
        arrays[name] = change(arrays[name])
    np.savez(target, **arrays)
    return target


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("values", lambda a: a[:3]),
        ("values", lambda a: np.vstack([a[:1] + np.inf, a[1:]])),
        ("values", lambda a: np.column_stack([a[:, :3], a[:, 3] + 90])),  # no such level
        ("values", lambda a: np.column_stack([a[:, :1], -a[:, 1:]])),  # negative counts
        ("labels", lambda a: a[:, :3]),
        ("trace_n_clusters", lambda a: a + 1),
        ("trace_concentration", lambda a: -a),
        ("trace_log_posterior", lambda a: a[:1]),
    ],
)
def test_a_forged_fit_is_refused(tmp_path, name, change):
    path = forged(DATA / "fit_0_1_product.npz", tmp_path / "fit.npz", **{name: change})
    with pytest.raises(pt.PartitaError, match="not a complete partita fit"):
        pt.Fit.load(path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("state_labels_0", lambda a: a + 900),
        ("random_0", lambda a: a * 0),
        ("concentration_0", lambda a: a * np.nan),
        ("labels_0", lambda a: a + 3),
        ("scalars_1", lambda a: a * np.nan),
    ],
)
def test_a_forged_checkpoint_is_refused(tmp_path, name, change):
    path = forged(DATA / "checkpoint_0_1.npz", tmp_path / "run.npz", **{name: change})
    rows = pt.Fit.load(DATA / "fit_0_1_product.npz").values[:, :2]
    with pytest.raises(pt.PartitaError, match="is damaged"):
        pt.sample(
            rows,
            kernel=pt.NormalInverseGamma(0, 0.5, 2, 1),
            prior=pt.PitmanYor(1.0, 0.25),
            draws=9,
            burn_in=2,
            chains=2,
            resume=path,
        )


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
    with pytest.raises(pt.PartitaError, match=message) as raised:
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


def sampled(**model) -> pt.Fit:
    return pt.sample(WAITING, draws=2, burn_in=0, chains=1, rng=0, **model)


class WithoutTables(pt.PartitionPrior):
    """A prior that cannot be sampled."""

    def log_probability(self, labels: Any) -> float:
        return 0.0

    def expected_clusters(self, n_items: int) -> float:
        return 1.0


FAILING_PRIORS = [
    (lambda n, k: 1 / 0, lambda n: 0.0, "log_v", "ZeroDivisionError.*of N and k that returns"),
    (lambda k: 0.0, lambda n: 0.0, "log_v", "TypeError.*2 were given.*of N and k"),
    (lambda n, k: None, lambda n: 0.0, "log_v", "TypeError.*returns a number"),
    (lambda n, k: 0.0, lambda n: 1 / 0, "log_w", "ZeroDivisionError.*of n that returns"),
    ({"six": [0.0]}, lambda n: 0.0, "log_v", "expected a table for each number of items"),
]
PRIORS_WITHOUT_TABLES = [
    (WithoutTables(), "has no tables"),
    (
        type("Odd", (WithoutTables,), {"tables": lambda _, n_items: np.zeros(n_items)})(),
        "tables of Odd are array.*expected PriorTables",
    ),
    (UNIFORM.bind(9), "holds tables for 9, 10 items"),
]
FIVE = {"add": add, "remove": add, "refresh": ExponentialGamma.refresh}
FIVE |= {name: getattr(ExponentialGamma, name) for name in ("log_predictive", "log_marginal")}
FAILING_KERNELS = [
    (
        type("Nothing", (pt.Kernel,), {})(),
        "Nothing has no function 'add'; a kernel needs add, remove",
    ),
    (broken(log_marginal=None), "has no function 'log_marginal'"),
    (broken(add=lambda x: None), r"add: .*takes 1 .*Expected a function add\(x, n, block, j\)"),
    (broken(log_marginal=add), r"takes 4 .* a function log_marginal\(n, block, j\)"),
    (broken(refresh=len), "compiled: refresh: .*not a function"),
    (broken(refresh=lambda n, block, j: 1.0), "refresh returns float64; expected none"),
    (
        broken(hyper=lambda _, n: np.zeros(n + 1)),
        r"hyper\(2\) of Broken has shape \(3,\); expected \(2, …\)",
    ),
    (type("Bare", (pt.Kernel,), FIVE)(), "is not a dataclass"),
]
REFERENCES = (lambda: 0.0, lambda rows: 1 / 0, lambda rows: "x")
check_kernel = pt.testing.check_kernel
CHECK = partial(check_kernel, ExponentialGamma(), WAITING)


@pytest.mark.parametrize(
    ("argument", "message", "call"),
    [
        *((a, m, lambda v=v, w=w: by_products(v, w)) for v, w, a, m in FAILING_PRIORS),
        *((a, m, lambda v=v, w=w: expected(v, w)) for v, w, a, m in FAILING_PRIORS),
        *(("prior", m, lambda p=p: sampled(prior=p)) for p, m in PRIORS_WITHOUT_TABLES),
        ("prior", "tables for 9, 10 items", lambda: pt.testing.check_prior(UNIFORM.bind(9))),
        *(("kernel", m, lambda k=k: sampled(kernel=k)) for k, m in FAILING_KERNELS),
        *(("kernel", m, lambda k=k: check_kernel(k, WAITING)) for k, m in FAILING_KERNELS),
        *(
            (
                "shape",
                "one per column",
                lambda shape=shape: sampled(kernel=ExponentialGamma(shape=shape)),
            )
            for shape in ("two", None, [[1.0, 2.0]], [1.0, 2.0, 3.0])
        ),
        *(("log_marginal", "failed when", lambda r=r: CHECK(log_marginal=r)) for r in REFERENCES),
    ],
)
def test_what_is_not_as_it_must_be_is_refused_by_name(argument, message, call):
    with pytest.raises(pt.errors.InvalidInputError, match=message) as raised:
        call()
    assert raised.value.argument == argument


def by_products(log_v, log_w) -> pt.Fit:
    return sampled(prior=pt.ProductPartition(log_v, log_w))


def expected(log_v, log_w) -> float:
    return pt.ProductPartition(log_v, log_w).expected_clusters(6)
