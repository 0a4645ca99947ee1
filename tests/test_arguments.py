"""An error says which argument it is about: every public function, each argument wrong in turn."""

import inspect
from contextlib import nullcontext

import numpy as np
import pytest

import partita as pt
from made import SHOWN, made
from partita.errors import PartitaError

ROWS = np.array([[0, 0, 1, 1], [0, 0, 1, 2], [0, 1, 1, 1], [0, 0, 0, 1]] * 3)
DRAWS = pt.Draws(ROWS, chain=np.repeat([0, 1], 6))
LABELS = np.array([0, 0, 1, 1])


class Nonsense:
    """No argument takes this."""

    def __repr__(self) -> str:
        return "<nonsense>"


DATA = np.array([1.0, 2.0, 7.0, 8.0])
FITTED = {"kernel": "empirical", "draws": 3, "burn_in": 1, "chains": 1, "rng": 0, "n_jobs": 1}
FIT = pt.sample(DATA, **FITTED)

GOOD = {
    "fits": dict.fromkeys("ab", pt.sample(np.arange(12.0), **FITTED)),
    "source": FIT,
    **dict.fromkeys(("draws", "A"), DRAWS),
    "obj": ROWS,
    **dict.fromkeys(("a", "b", "labels", "estimate", "center", "reference"), LABELS),
    "candidates": LABELS,
    "data": DATA,
    "memberships": np.full((2, 4, 2), 0.5),
    "partition": LABELS,
    "n_items": 4,
    "n": 4,
    "k": 2,
    "name": "mine",
    "n_clusters": 2.0,
    "path": "missing.csv",
}
"""Values that are taken where an argument has no default; a new argument adds its own."""

CALLED = {("as_draws", "obj"): "draws", ("prior_sensitivity", "source"): "draws"}
"""Where the error has a better name than the signature: whoever calls has draws."""

UNCHECKED = {
    "progress": "anything is true or false",
}
"""Arguments that take every value."""


def public_functions() -> dict[str, object]:
    found = {name: getattr(pt, name) for name in pt.__all__}
    found |= {name: getattr(pt.lattice, name) for name in pt.lattice.__all__}
    return {name: thing for name, thing in found.items() if inspect.isfunction(thing)}


def cases() -> list[tuple[str, str]]:
    return [
        (name, parameter.name)
        for name, function in public_functions().items()
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        and parameter.name not in UNCHECKED
    ]


@pytest.mark.parametrize(("name", "argument"), cases())
def test_an_error_names_the_argument(name, argument):
    function = public_functions()[name]
    needed = {
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.kind is not p.VAR_POSITIONAL
        and (p.default is p.empty or (p.name == "draws" and "Like" in str(p.annotation)))
    }
    given = {p: GOOD[p] for p in needed - {argument}}
    if name == "write_features" and "draws" in given:
        given["draws"] = pt.FeatureDraws.from_partitions(DRAWS)
    if argument == "similarity":  # in place of draws, and not for every loss
        given.pop("draws", None)
        given["loss"] = "binder"
    with pytest.raises(PartitaError) as caught:
        function(**given, **{argument: Nonsense()})
    assert caught.value.argument == CALLED.get((name, argument), argument)


# ---------------------------------------------------------------------------- figures and checks


CHECKED = {
    "check_kernel": {
        "kernel": pt.NormalInverseGamma(mean=0, precision=0.5, shape=2, rate=1),
        "data": np.arange(6.0),
    },
    "check_loss": {"loss": "vi"},
    "check_prior": {"prior": pt.DirichletProcess(1.0)},
}
NEEDLESS = {
    *((name, "n_jobs") for name in ("ball", "estimate", "representatives")),
    *(("representatives", argument) for argument in ("dims", "density", "ellipses")),
}
"""Arguments that are not looked at where, as here, nothing depends on them."""
SOURCES = {"draws", "labels", "n", "matrices"}
"""A source that is nothing at all is named as what it was taken for."""


ATTACHED = {name: getattr(m, name) for m in (pt.testing, pt.plots) for name in m.__all__}


def attached() -> list[tuple[str, str]]:
    return [
        (name, parameter)
        for name, thing in ATTACHED.items()
        if inspect.isfunction(thing)
        for parameter in inspect.signature(thing).parameters
    ]


@pytest.mark.parametrize(("name", "argument"), attached())
def test_an_error_of_a_figure_or_a_check_names_the_argument(name, argument):
    function = ATTACHED[name]
    first = next(iter(inspect.signature(function).parameters))
    given = CHECKED.get(name) or {first: made(SHOWN.get(name, "Summary"))}
    with nullcontext() if (name, argument) in NEEDLESS else pytest.raises(PartitaError) as caught:
        function(**(given | {argument: Nonsense()}))
    if caught is not None:
        assert caught.value.argument in {argument} | (SOURCES if argument == "source" else set())


# ----------------------------------------------------------------------------------------- files

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
        (lambda file: pt.distance(file, LABELS), "a"),
        (lambda file: pt.expected_loss(file, DRAWS), "candidates"),
        (lambda file: pt.credible_ball(DRAWS, file), "center"),
        (lambda file: pt.sample(GOOD["data"], resume=file), "resume"),
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
