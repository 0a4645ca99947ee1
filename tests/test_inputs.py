"""Every public function takes draws and labels in every form they come in."""

import dataclasses
import signal
from collections.abc import Callable, Iterator
from functools import cache

import dask.array
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
import xarray

import partita as pt
from fuzz import calls
from made import CHAIN, DRAWS, made
from made import LABELS as MATRIX
from partita.errors import InvalidInputError, InvalidLabelsError, PartitaError
from public_calls import FUNCTIONS, functions_of, parameters_of, right_arguments

CUBE = MATRIX.reshape(2, 12, 9)
ONE = np.array([0, 0, 1, 0, 1, 2, 2, 1, 0])


def annotated(function, word: str) -> list[str]:
    """Parameters of a function whose annotation says ``DrawsLike`` or ``LabelsLike``."""
    return [p.name for p in parameters_of(function) if word in str(p.annotation)]


def kinds_of_draws(directory) -> dict[str, object]:
    path = directory / "given.csv"
    pt.write_draws(DRAWS, path)
    columns = {str(f"i{j}"): MATRIX[:, j] for j in range(9)}
    columns[".chain"] = CHAIN
    return {
        "list": CUBE.tolist(),
        "array": CUBE,
        "frame": pd.DataFrame(columns),
        "polars": polars.DataFrame(columns),
        "arrow": pyarrow.table(columns),
        "xarray": xarray.DataArray(CUBE, dims=("chain", "draw", "item")),
        "dataset": xarray.Dataset({"z": (("chain", "draw", "item"), CUBE)}),
        "path": path,
        "dask": dask.array.from_array(CUBE, chunks=(1, 5, 9)),
        "Draws": DRAWS,
        "Fit": fit(),
        "Summary": made("Summary"),
        "ball": made("Summary").ball,
    }


def kinds_of_labels(directory) -> tuple[dict[str, object], dict[str, object]]:
    estimate = dataclasses.replace(made("Summary").estimate, labels=ONE.astype(np.int32))
    column, row = directory / "column.csv", directory / "row.csv"
    column.write_text("cluster\n" + "\n".join(map(str, ONE + 4)) + "\n")
    row.write_text(",".join(map(str, ONE + 4)) + "\n")
    return {
        "list": ONE.tolist(),
        "array": ONE,
        "strings": [f"c{k}" for k in ONE],
        "series": pd.Series(ONE, dtype="Int64"),
        "categories": pd.Series(ONE.astype(str), dtype="category"),
        "polars": polars.Series(ONE),
        "arrow": pyarrow.chunked_array([ONE]),
        "xarray": xarray.DataArray(ONE, dims=("item",)),
        "dask": dask.array.from_array(ONE, chunks=4),
        "Draws": pt.Draws(ONE[None, :]),
        "row of Draws": pt.Draws(np.stack([ONE, MATRIX[0]]))[0],
        "row": row,
        "estimate": estimate,
        "Summary": dataclasses.replace(made("Summary"), estimate=estimate),
        "ball": dataclasses.replace(made("Summary").ball, center=ONE.astype(np.int32)),
    }, {"column": column, "frame": pd.DataFrame({"cluster": ONE})}


@cache
def fit() -> pt.Fit:
    trace = {**made("Fit").trace, "n_clusters": DRAWS.n_clusters.reshape(2, 12)}
    return dataclasses.replace(made("Fit"), draws=DRAWS, trace=trace)


def call(name: str, directory, **given):
    """Call a public function on the small posterior, some of its arguments replaced."""
    function = FUNCTIONS[name]
    arguments = right_arguments(name, function, directory) | given
    if name == "prior_sensitivity":
        prior = pt.DirichletProcess(1.0)
        arguments |= {"priors": [prior], "from_prior": prior}
    if name in ("p_value", "conformal_set") and "estimate" in given:
        arguments["method"] = "ball"  # an estimate is the centre of one
    found = function(**arguments)
    return plain(pt.read_draws(arguments["path"]) if name == "write_draws" else found)


def plain(value):
    """The public fields of a result, to compare, without times and item names."""
    if isinstance(value, pt.Draws):
        return value.labels.tolist()
    if dataclasses.is_dataclass(value):
        skipped = ("seconds", "bound_seconds", "names", "item_names", "data", "data_names")
        return {
            f.name: plain(getattr(value, f.name))
            for f in dataclasses.fields(value)
            if f.name not in skipped and not f.name.startswith("_")
        }
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Iterator):
        return [plain(entry) for entry in value]
    if isinstance(value, (tuple, list)):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and value != value:
        return "nan"
    return value if isinstance(value, (int, float, str, bool, type(None))) else repr(value)


TAKES_DRAWS = [
    *((name, p) for name, f in FUNCTIONS.items() for p in annotated(f, "DrawsLike")),
    ("expected_loss", "draws"),
    ("pairwise_distances", "A"),
]
TAKES_LABELS = [(name, p) for name, f in FUNCTIONS.items() for p in annotated(f, "LabelsLike")]


@pytest.mark.parametrize(("name", "parameter"), TAKES_DRAWS)
def test_every_function_of_draws_takes_every_kind(name, parameter, tmp_path):
    expected = call(name, tmp_path, **{parameter: CUBE})
    for kind, value in kinds_of_draws(tmp_path).items():
        found = call(name, tmp_path, **{parameter: value})
        if kind in ("Fit", "Summary") and name in ("summarize", "diagnose"):
            continue  # they bring a trace or data of their own
        assert str(found) == str(expected), kind


SEVERAL = {("pairwise_distances", "A"), ("pairwise_distances", "B"), ("expected_loss", "draws")}
"""Where draws and a single partition are both welcome, and what holds both stands for draws."""


@pytest.mark.parametrize(("name", "parameter"), TAKES_LABELS)
def test_every_function_of_labels_takes_every_kind(name, parameter, tmp_path):
    expected = call(name, tmp_path, **{parameter: ONE})
    kinds, columns = kinds_of_labels(tmp_path)
    if name != "canonical" and (name, parameter) not in SEVERAL:
        kinds |= columns  # which may be draws of one item where the number of items is not known
    for kind, value in kinds.items():
        if (name, parameter) in SEVERAL and kind in ("Summary", "ball"):
            continue
        found = call(name, tmp_path, **{parameter: value})
        if name == "canonical" and kind in ("Draws", "row"):
            found = found[0]
        assert str(found) == str(expected), kind


@pytest.mark.parametrize("name", ["distance", "meet", "n_clusters", "cross_table"])
def test_many_draws_are_no_single_partition(name, tmp_path):
    parameter = annotated(FUNCTIONS[name], "LabelsLike")[0]
    for many in (fit(), pt.Draws(MATRIX), kinds_of_draws(tmp_path)["path"]):
        with pytest.raises(InvalidLabelsError, match=r"24 draws.*expected one partition"):
            call(name, tmp_path, **{parameter: many})


PLOTS = {
    name: found[0]
    for name, draw in functions_of(pt.plots).items()
    if (found := annotated(draw, "DrawsLike"))
}


@pytest.mark.parametrize("name", PLOTS)
def test_plots_take_what_functions_take(name, tmp_path):
    kinds = kinds_of_draws(tmp_path)
    for kind in ("list", "path", "Fit", "Summary"):  # functions take the others by the same way
        assert getattr(pt.plots, name)(**{PLOTS[name]: kinds[kind]}) is not None, kind
        plt.close("all")


def test_a_partial_partition_is_made_of_whatever_stands_for_one(tmp_path):
    kinds, columns = kinds_of_labels(tmp_path)
    for kind, value in (kinds | columns).items():
        part = pt.lattice.PartialPartition(value)
        assert part == pt.lattice.PartialPartition(ONE), kind
        assert part.agrees(value), kind
    with pytest.raises(InvalidLabelsError, match=r"24 draws.*expected one partition") as caught:
        pt.lattice.PartialPartition(fit())
    assert caught.value.argument == "labels"


def test_draws_are_made_of_arrays_and_name_the_function_for_the_rest(tmp_path):
    """The constructor would lose the weights, chains and names of what holds draws."""
    kinds = kinds_of_draws(tmp_path)
    kept = pt.Draws(kinds["Draws"], chain=np.zeros(len(kinds["Draws"]), int))
    assert np.array_equal(kept.labels, kinds["Draws"].labels)
    weighted = pt.Draws(kinds["Draws"], weights=np.arange(1, len(kept) + 1))
    assert pt.Draws(weighted) == weighted
    assert pt.Draws(pt.Draws([ONE], kind="ensemble")).kind == "ensemble"
    with pytest.raises(InvalidInputError, match="kind"):
        pt.Draws([ONE], kind="")
    for kind in ("path", "Fit", "Summary", "ball"):
        with pytest.raises(InvalidLabelsError, match="as_draws takes") as caught:
            pt.Draws(kinds[kind])
        assert caught.value.argument == "labels"
    for use in (pt.Draws, pt.estimate):
        with pytest.raises(InvalidLabelsError, match=r"PointEstimate .*, which is one partition"):
            use(made("Summary").estimate)


MASKED = np.ma.array(MATRIX, mask=np.eye(24, 9, 3, dtype=bool))
MASKED_ONE = np.ma.array(ONE, mask=[False] * 8 + [True])


@pytest.mark.parametrize("form", ["array", "list of arrays"])
@pytest.mark.parametrize(
    "use",
    [
        lambda m, _: pt.Draws(m),
        lambda m, _: pt.as_draws(m),
        lambda m, _: pt.expected_loss(m, MATRIX),
        lambda m, _: pt.canonical(m),
        lambda m, _: pt.estimate(m),
        lambda m, _: pt.estimate(MATRIX, starts=m),
        lambda _, v: pt.distance(v, ONE),
    ],
)
def test_masked_labels_are_refused(use, form):
    rows = MASKED if form == "array" else list(MASKED)
    with pytest.raises(InvalidLabelsError, match="is masked"):
        use(rows, MASKED_ONE)


def test_masked_weights_and_similarities_are_refused():
    weights = np.ma.array(np.ones(24), mask=np.arange(24) == 5)
    with pytest.raises(InvalidInputError, match=r"weights: the value at \[5\] is masked"):
        pt.Draws(MATRIX, weights=weights)
    matrix = np.ma.array(np.eye(3), mask=np.eye(3, k=1, dtype=bool))
    with pytest.raises(InvalidInputError, match=r"similarities: the value at \[0, 1\] is masked"):
        pt.expected_loss([0, 1, 2], similarity=matrix, loss="binder")


# ------------------------------------------------------------------------- draws as a sequence


def test_draws_are_an_array_and_a_sequence():
    draws = pt.Draws(MATRIX, chain=CHAIN, weights=np.arange(1, 25))
    assert np.array_equal(np.asarray(draws), draws.labels)
    assert np.array(draws, dtype=np.float64).dtype == np.float64
    assert len(draws) == 24
    assert np.array_equal(draws[3], draws.labels[3])
    assert np.array_equal(draws[-1], draws.labels[-1])
    assert [row.tolist() for row in draws] == draws.labels.tolist()
    assert draws[:5].labels.tolist() == draws.labels[:5].tolist()
    assert draws[:5].weights.sum() == pytest.approx(1.0)
    assert draws[draws.n_clusters == 3].n_draws == int((draws.n_clusters == 3).sum())
    assert draws[[4, 2]].chain.tolist() == [0, 0]


@pytest.mark.parametrize("index", [1.5, "a", (0, 1), [[0]]])
def test_what_picks_no_draws_is_refused(index):
    with pytest.raises(InvalidInputError, match=r"position, a slice, a mask|no draws"):
        _ = pt.Draws(MATRIX)[index] if index != (0, 1) else pt.Draws(MATRIX)[5:5]
    with pytest.raises(IndexError, match="there are 24"):
        _ = pt.Draws(MATRIX)[24]


def test_a_variable_of_a_tree_reaches_the_reader():
    dims = ("chain", "draw", "item")
    posterior = xarray.Dataset(dict.fromkeys(("y", "z"), (dims, CUBE)))
    tree = xarray.DataTree.from_dict({"posterior": posterior})
    assert pt.summarize(tree, var_name="z").labels.tolist() == made("Summary").labels.tolist()
    with pytest.raises(InvalidInputError, match="several variables"):
        pt.summarize(tree)


class Mine:
    """Somebody else's container."""

    def __draws__(self):
        return pt.Draws(MATRIX)

    def __labels__(self):
        return ONE


def test_the_protocols_are_open():
    assert pt.similarity(Mine()).tolist() == pt.similarity(MATRIX).tolist()
    assert pt.n_clusters(Mine()) == 3


def test_what_is_no_array_is_refused_by_name():
    lazy = polars.DataFrame({"a": [0, 1]}).lazy()
    several = xarray.Dataset({"z": ("item", ONE)})
    for use, came in [
        (lambda: pt.n_clusters(lazy), "LazyFrame"),
        (lambda: pt.sample(several), "Dataset"),
        (lambda: pt.lattice.PartialPartition(lazy), "LazyFrame"),
        (lambda: pt.Draws(MATRIX)[several], "Dataset"),
    ]:
        with pytest.raises(InvalidInputError, match=came):
            use()
    with pytest.raises(InvalidLabelsError) as caught:
        pt.lattice.PartialPartition([0.5, 1.0])
    assert caught.value.argument == "labels"


# ------------------------------------------------------------------- what pretends to be a sequence


class Views(calls.Views):
    """As those of AnnData and MuData are."""

    __module__ = "mudata._core"


def anndata():
    module = pytest.importorskip("anndata")
    return module.AnnData(np.random.default_rng(0).normal(size=(60, 20)).astype(np.float32))


def nested():
    """Lists of lists of lists: 10¹² cells in a few bytes."""
    found = [0] * 10
    for _ in range(11):
        found = [found] * 10
    return found


def itself():
    found = [[0, 1]]
    found.append(found)
    return found


CONTAINERS: dict[str, Callable] = {
    "AnnData": anndata,
    "list of AnnData": lambda: [anndata(), anndata()],
    "MuData-like": Views,
    "pandas Styler": lambda: (
        pytest.importorskip("jinja2", minversion="3.1.2") and pd.DataFrame([[1, 2], [3, 4]]).style
    ),
    "lists of lists of lists": nested,
    "a list that holds itself": itself,
    "a tensor that requires grad": calls.Raises,
    "a generator": lambda: (row for row in [[0, 1], [1, 1]]),
    "np.ma.masked": lambda: np.ma.masked,
    "a dict": lambda: {"a": [0, 1]},
}
FEW_DRAWS = [[0, 0, 1], [0, 1, 1]]
ENTRIES: dict[str, Callable] = {
    "as_draws": pt.as_draws,
    "Draws": pt.Draws,
    "estimate": pt.estimate,
    "summarize": pt.summarize,
    "sample": lambda obj: pt.sample(obj, draws=2, burn_in=0, chains=1),
    "weights": lambda obj: pt.Draws(FEW_DRAWS, weights=obj),
    "chain": lambda obj: pt.Draws(FEW_DRAWS, chain=obj),
    "canonical": pt.canonical,
    "compare": lambda obj: pt.expected_loss(FEW_DRAWS, obj),
    "plots.similarity": lambda obj: pt.plots.similarity(obj),
    "plots.traces": lambda obj: pt.plots.traces(obj),
    "plots.estimate": lambda obj: pt.plots.estimate([0, 0, 1], data=obj),
    "summarize(data=)": lambda obj: pt.summarize(FEW_DRAWS, data=obj),
    "empirical": pt.NormalInverseGamma.empirical,
    "memberships": pt.draws_from_memberships,
}


@pytest.fixture
def at_once():
    if not hasattr(signal, "setitimer"):
        pytest.skip("needs POSIX timers")

    def late(*_):
        raise TimeoutError("took more than ten seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 10)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("container", CONTAINERS)
def test_refused_at_once_by_every_entry_point(container, at_once):
    for entry, function in ENTRIES.items():
        with pytest.raises(PartitaError) as refused:
            function(CONTAINERS[container]())
        if container in ("AnnData", "MuData-like"):
            assert "pt.anndata.summarize" in str(refused.value), entry
            assert isinstance(refused.value, InvalidInputError)


@pytest.mark.parametrize("name", ["BayesianMixture", "PartitionConsensus"])
def test_estimators_refuse_views_and_deep_lists(name, at_once):
    estimators = pytest.importorskip("partita.sklearn")
    for obj in (type("Lazy", (Views,), {"__module__": "elsewhere"})(), nested()):
        with pytest.raises(PartitaError):
            getattr(estimators, name)().fit(obj)
    for obj in (anndata(), Views()):
        with pytest.raises(PartitaError, match=r"pt\.anndata\.summarize"):
            getattr(estimators, name)().fit(obj)
