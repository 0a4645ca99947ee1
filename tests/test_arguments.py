"""An error says which argument it is about: every public function, each argument wrong in turn."""

import pickle
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest

import partita as pt
from made import made
from other_processes import run_python
from partita import _imports, _resources
from partita.errors import InvalidInputError, MemoryLimitError, PartitaError
from public_calls import FIGURES, FUNCTIONS, functions_of, parameters_of, right_arguments


class Nonsense:
    """No argument takes this."""

    def __repr__(self) -> str:
        return "<nonsense>"


CALLED = {("as_draws", "obj"): "draws", ("prior_sensitivity", "source"): "draws"}
"""Where the error has a better name than the signature: whoever calls has draws."""
CHECKS = {f"testing: {name}": check for name, check in functions_of(pt.testing).items()}
CHECKED = {
    "testing: check_kernel": {
        "kernel": pt.NormalInverseGamma(mean=0, precision=0.5, shape=2, rate=1),
        "data": np.arange(6.0),
    },
    "testing: check_loss": {"loss": "vi"},
    "testing: check_prior": {"prior": pt.DirichletProcess(1.0)},
}
NEEDLESS = {
    *((f"plots: {name}", "n_jobs") for name in ("ball", "estimate", "representatives")),
    *(("plots: representatives", argument) for argument in ("dims", "density", "ellipses")),
}
"""Arguments that are not looked at where, as here, nothing depends on them."""
SOURCES = {"draws", "labels", "n", "matrices"}
"""A source that is nothing at all is named as what it was taken for."""
TARGETS = FUNCTIONS | FIGURES | CHECKS
NAN = float("nan")
WRONG = {
    **dict.fromkeys(("n_starts", "n_max", "max_draws", "n_ranks"), (0, 2.5, "2", NAN, True)),
    **dict.fromkeys(("max_clusters", "neighbours", "thin", "per_draw"), (0, 1.5, "3")),
    **dict.fromkeys(("burn_in", "sweeps", "split_merge"), (-1, 1.5, "3", NAN)),
    "time_limit": (0, -1.0, "1", NAN),
    "rng": (-1, 1.5, "0", True),
    "n_jobs": ("2", 0, 1.5, True),
    "prob": (0, 95, "0.9", NAN, True),
    "jaccard": (0, 2, "1", NAN),
    "max_pairs": (0, 1.5, None),
    "concentration": (0, "1", NAN, float("inf")),
    "n": (-1, 1.5, "3", NAN),
    "tolerance": (-1.0, "1", NAN),
}
"""Numbers of the wrong type or size, wherever an argument has this name."""
MORE_WRONG = {
    ("all_partitions", "n"): (0, 2**31),
    ("hasse_diagram", "n"): (9,),
    **dict.fromkeys((("random_partition", "n"), ("representatives", "n")), (0,)),
    ("credible_ball", "prob"): (None,),
}


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        (name, parameter.name)
        for name, function in TARGETS.items()
        for parameter in parameters_of(function)
        if name not in FUNCTIONS or parameter.name != "progress"  # anything is true or false
    ],
)
def test_an_error_names_the_argument(name, argument, tmp_path):
    function = TARGETS[name]
    given = CHECKED.get(name) or right_arguments(name, function, tmp_path)
    if argument == "similarity":  # in place of draws, and not for every loss
        given.pop("draws")
        given["loss"] = "binder"
    names = {CALLED.get((name, argument), argument)}
    names |= SOURCES if name in FIGURES and argument == "source" else set()
    wrong = (*WRONG.get(argument, ()), *MORE_WRONG.get((name, argument), ()))
    for value in (Nonsense(), *wrong):
        if (name, argument) in NEEDLESS:
            function(**(given | {argument: value}))
            continue
        with pytest.raises(PartitaError) as caught:
            function(**(given | {argument: value}))
        assert caught.value.argument in names, value
        if value in wrong and argument != "n":
            assert isinstance(caught.value, InvalidInputError)
            assert "expected" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "method", "argument", "wrong"),
    [
        ("PricePath", "at", "a", ()),
        ("PricePath", "expected", "a", ()),
        ("PricePath", "for_clusters", "k", ()),
        ("PricePath", "neighbours", "k", ()),
        ("Stability", "excess", "a", ()),
        ("Draws", "concat", "parts", ()),
        ("Draws", "drop", "n", (-1, 1.5)),
        ("Draws", "thin", "step", (0, 1.5)),
        ("Draws", "select_chains", "chains", ([],)),
        ("Draws", "select_items", "items", ([0.5], [1.0, 2.0])),
        ("Explanation", "in_words", "most", ()),
        ("Fit", "density", "grid", ()),
        ("Modes", "explain", "number", ()),
        *(("Representatives", way, "number", ()) for way in ("explain", "region", "similarity")),
        *(
            (name, "to_frame", "one_based", ())
            for name in ("ClusterUncertainty", "CredibleCore", "ItemUncertainty", "Profiles")
        ),
        ("CredibleCore", "screen", "one_based", ()),
    ],
)
def test_an_error_of_a_method_names_the_argument(name, method, argument, wrong):
    for value in (Nonsense(), *wrong):
        with pytest.raises(PartitaError) as caught:
            getattr(made(name), method)(**{argument: value})
        assert caught.value.argument == argument, value


FILES = {"ragged.csv": b"1,1,2\n1,1\n", "damaged.npy": b"nonsense", "empty.csv": b""}


@pytest.mark.parametrize("name", [*FILES, "missing.csv"])
@pytest.mark.parametrize(
    ("use", "argument"),
    [
        (pt.read_draws, "path"),
        (pt.Summary.load, "path"),
        (pt.Fit.load, "path"),
        (pt.sample, "data"),
        (pt.estimate, "draws"),
        (pt.canonical, "labels"),
        (lambda file: pt.distance(file, [0, 0, 1, 1]), "a"),
        (lambda file: pt.expected_loss(file, [[0, 0, 1, 1]]), "candidates"),
        (lambda file: pt.credible_ball([[0, 0, 1, 1]], file), "center"),
        (lambda file: pt.sample(np.arange(4.0), resume=file), "resume"),
    ],
)
def test_an_error_about_a_file_names_the_argument_it_came_by(name, use, argument, tmp_path):
    if name in FILES:
        (tmp_path / name).write_bytes(FILES[name])
    with pytest.raises(PartitaError) as caught:
        use(tmp_path / name)
    assert caught.value.argument == argument


def test_a_function_as_loss_and_data_as_draws_name_the_way():
    draws = [[0, 0, 1], [0, 1, 1]]
    with pytest.raises(pt.errors.InvalidInputError, match=r"pt\.CallableLoss"):
        pt.estimate(draws, loss=lambda a, b: 0.0)
    with pytest.raises(pt.errors.FractionalLabelsError, match=r"pt\.sample\(data\)"):
        pt.estimate(np.random.default_rng(0).normal(size=(20, 4)))


DRAWS = pt.Draws([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]] * 3, chain=np.repeat([0, 1, 2], 3))


def test_numbers_of_numpy_are_whole_numbers_everywhere():
    assert pt.similarity(DRAWS, n_jobs=np.int64(2)) is not None
    assert pt.estimate(DRAWS, n_jobs=np.int8(-1), max_clusters=np.uint8(3)) is not None
    assert pt.lattice.random_partition(np.int32(4), rng=np.int64(1)) is not None


def test_errors_survive_pickling_with_their_argument():
    error = PartitaError("what came", argument="prob")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.argument) == ("what came", "prob")


def test_a_summary_from_a_path_of_sources(monkeypatch):
    def nothing_is_installed(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", nothing_is_installed)
    versions = pt.summarize(DRAWS).versions
    assert versions["partita"] == pt.__version__
    assert versions["numpy"] == np.__version__
    assert set(versions) == {"python", "partita", "numpy", "scipy", "numba"}
    assert _imports.version_of("a-library-nobody-has") == "unknown"


def test_large_results_are_refused_before_they_are_made(monkeypatch):
    draws = pt.Draws(np.tile(np.arange(40), (3, 1)))
    asked = {
        "matrix of 3 × 3 distances": lambda: pt.pairwise_distances(draws),
        "comparing 40 items with 40 clusters": lambda: pt.item_uncertainty(draws, np.arange(40)),
        "similarity matrix of 40 items": lambda: pt.similarity(draws),
        "cross table of 40 × 40 clusters": lambda: pt.cross_table(draws[0], draws[0]),
    }
    for use in asked.values():
        assert use() is not None
    monkeypatch.setattr(_resources, "LITTLE", 0)
    monkeypatch.setattr(_resources, "available_memory", lambda: 16)
    for what, use in asked.items():
        with pytest.raises(MemoryLimitError, match=what):
            use()


def test_the_shells_limit_counts():
    """``ulimit -v`` is seen, in a process of its own."""
    code = (
        "import resource; from partita._resources import available_memory as free\n"
        "before = free(); resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
        "assert free() < 2 << 30 <= (before or 3 << 30), (before, free())"
    )
    run_python("-c", code)
