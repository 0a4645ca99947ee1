"""Public functions with one argument wrong: refused by an error of ours, or a whole answer.

Every parameter of every public function takes every value below in turn. An answer
must not hold NaN where the answer to the right arguments holds none.
"""

from __future__ import annotations

import dataclasses
import inspect
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, nullcontext, suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import partita as pt
from made import FEATURES, made
from public_calls import FIGURES, FUNCTIONS, parameters_of, right_arguments

from .harness import RIGHT, WRONG, Verdict, judged


def nothing(*args: object, **named: object) -> None:
    """A function that says nothing."""


class Raises:
    """As a torch tensor that requires grad: what NumPy asks of it raises, and its repr too."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise RuntimeError("call .detach() first")

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class Secretive:
    """Whatever is asked of it raises: no AttributeError, as of a proxy that lost its server."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


class Views:
    """As an AnnData: a container whose parts are views of itself."""

    shape = (9, 2)

    def __len__(self) -> int:
        return 9

    def __getitem__(self, index: object) -> Views:
        return Views()


LITERALS = (
    *(None, True, 0, -1, 1.5, float("nan"), float("inf"), 1e300, 2**31, 2**63, 2**70, 1 + 2j),
    *("", "no such thing", "2", b"\x00\xff", "a\0b.csv", "x" * 5_000 + ".csv"),
    *((2**63, "singletons"), int, nothing, np.ma.masked),
)
WRONG_VALUES: dict[str, Callable[[], Any]] = {
    **{repr(value)[:20]: lambda value=value: value for value in LITERALS},
    "a list": lambda: [],
    "a list of None": lambda: [None, None],
    "ragged": lambda: [[0, 1], [0]],
    "a dict": lambda: {"a": 1},
    "a set": lambda: {1, 2},
    "an object": object,
    "a generator": lambda: (i for i in range(3)),
    "no path": lambda: Path("no/such/file.csv"),
    "an empty array": lambda: np.empty(0),
    "an empty matrix": lambda: np.empty((0, 9)),
    "an array of NaN": lambda: np.full((4, 9), np.nan),
    "one NaN": lambda: np.array([0, 1, 2, 0, 1, 2, 0, 1, np.nan]),
    "negative labels": lambda: -np.ones(9, int),
    "a wrong length": lambda: np.zeros(5, int),
    "four dimensions": lambda: np.zeros((2, 2, 2, 9), int),
    "texts": lambda: np.array(["a", "b"]),
    "objects": lambda: np.array([object(), None], object),
    "dates": lambda: np.array(["2021-01-01"], "M8[D]"),
    "complex numbers": lambda: np.ones(9, complex),
    "a masked array": lambda: np.ma.array(np.zeros(9, int), mask=[0] * 8 + [1]),
    "large labels": lambda: np.full((2, 9), 2**63, np.uint64),
    "infinite numbers": lambda: np.full((24, 9), np.inf),
    "what raises": Raises,
    "views of itself": Views,
    "what answers nothing": Secretive,
}

LONG_WORK = ("burn_in", "thin")
"""Parameters of which 2,147,483,648 is a request for long work, and no mistake: Ctrl-C ends it."""
PATIENCE = 1.0
"""Seconds until then."""

CLASSES = (
    *("Draws", "FeatureDraws", "VI", "Binder", "Entropy", "FARO", "CallableLoss", "Gamma"),
    *("DirichletProcess", "PitmanYor", "FiniteMixture", "NormalInverseGamma"),
    *("NormalInverseWishart", "BetaBernoulli", "DirichletCategorical", "GammaPoisson"),
)
METHODS = {
    "Draws": ("drop", "thin", "select_chains", "select_items", "reweighted"),
    "FeatureDraws": ("drop", "thin", "select_chains", "select_items"),
    "Fit": ("density", "predict", "replicate", "extend", "profiles", "impute", "save"),
    "Summary": ("to_frame", "to_json", "save", "to_html"),
    "CredibleBall": ("contains",),
}
OF_FEATURES = (
    *("estimate", "credible_ball", "summarize", "representatives", "modes", "p_value"),
    *("diagnose", "price_path", "conformal_set"),
)
"""Questions that are asked of feature draws, too."""


def _targets() -> Iterator[tuple[str, Callable[..., Any]]]:
    yield from FUNCTIONS.items()
    for name in CLASSES:
        yield name, getattr(pt, name)
    for name in ("from_sets", "from_partitions"):
        yield name, getattr(pt.FeatureDraws, name)
    for name in OF_FEATURES:
        yield f"{name} of features", getattr(pt, name)
    yield from FIGURES.items()
    for kind, methods in METHODS.items():
        home = getattr(pt.results if kind == "CredibleBall" else pt, kind)
        for method in methods:
            yield f"{kind}.{method}", getattr(home, method)


@cache
def calls() -> list[tuple[str, str, str]]:
    """Every call: the function, the parameter, the value it gets."""
    return [
        (name, parameter.name, value)
        for name, function in _targets()
        for parameter in parameters_of(function)
        for value in WRONG_VALUES
    ]


def arguments(name: str, function: Callable[..., Any], place: Path) -> dict[str, Any]:
    """What the function needs, right; of feature draws where it is asked about them."""
    asked = name.removesuffix(" of features")
    given = right_arguments(asked, function, place)
    if asked != name:
        given["draws"] = FEATURES
        alone = {"labels", "center", "estimate"} & given.keys()
        given |= dict.fromkeys(alone, FEATURES.shown([FEATURES.point(0)])[0])
    return given


def run(number: int, place: Path) -> Verdict:
    """Make one call, in a directory of its own: any text may be the path of a file to write."""
    with tempfile.TemporaryDirectory(dir=place) as own, chdir(own):
        return _call(number, place)


def _call(number: int, place: Path) -> Verdict:
    name, parameter, value = calls()[number]
    function = dict(_targets())[name]
    right = arguments(name, function, place)
    kind = name.partition(".")[0]
    bound = [made(kind)] if kind in METHODS and name != kind else []
    wrong = right | {parameter: WRONG_VALUES[value]()}
    stopped = value == repr(2**31) and parameter in LONG_WORK and hasattr(signal, "setitimer")
    with interrupted() if stopped else nullcontext():
        found = Verdict(RIGHT, "stopped by Ctrl-C")
        found = judged(lambda: _whole(function(*bound, **wrong)))
    return Verdict(found.outcome, f"{name}({parameter}={value}): {found.detail}")


@contextmanager
def interrupted() -> Iterator[None]:
    """Ctrl-C after a while; that it ends the work is right."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _whole(result: Any) -> Verdict:
    """An answer is looked through for what is no number."""
    for place, value in _numbers(result, "answer", 0):
        if np.isnan(value).any() and not any(word in place for word in MAY_BE_UNKNOWN):
            return Verdict(WRONG, f"NaN in {place}")
    return Verdict(RIGHT)


MAY_BE_UNKNOWN = (
    *("grid", "rhat", "ess", "mcse", "rates", "scale", "k_hat", "heights", "given", "averaged"),
    *("standard_error", "drift", "answer.data", "answer.values"),
)
"""Fields that say by NaN that they are not known, and the data, where NaN is a missing cell."""


def _numbers(value: Any, place: str, depth: int) -> Iterator[tuple[str, Any]]:
    if depth > 4:
        return
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        yield place, value
    elif isinstance(value, float):
        yield place, np.array(value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for each in dataclasses.fields(value):
            yield from _numbers(getattr(value, each.name), f"{place}.{each.name}", depth + 1)
    elif isinstance(value, (tuple, list)):
        for part in value[:10]:
            yield from _numbers(part, place, depth + 1)
    elif inspect.isgenerator(value):
        for part in islice(value, 10):
            yield from _numbers(part, place, depth + 1)
