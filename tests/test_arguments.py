"""An error says which argument it is about: every public function, each argument wrong in turn."""

from contextlib import nullcontext

import numpy as np
import pytest

import partita as pt
from partita.errors import PartitaError
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
    with nullcontext() if (name, argument) in NEEDLESS else pytest.raises(PartitaError) as caught:
        function(**(given | {argument: Nonsense()}))
    if caught is not None:
        names = {CALLED.get((name, argument), argument)}
        of_figure = name in FIGURES and argument == "source"
        assert caught.value.argument in (names | SOURCES if of_figure else names)


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
