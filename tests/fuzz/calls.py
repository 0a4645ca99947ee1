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
from made import CHAIN, DATA, FEATURES, LABELS, SHOWN, TRUTH, made

from .harness import RIGHT, WRONG, Verdict, judged

MEMBERSHIPS = np.eye(3)[LABELS[:4]]


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


WRONG_VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "0": lambda: 0,
    "-1": lambda: -1,
    "1.5": lambda: 1.5,
    "NaN": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "1e300": lambda: 1e300,
    "2**31": lambda: 2**31,
    "2**63": lambda: 2**63,
    "2**70": lambda: 2**70,
    "complex": lambda: 1 + 2j,
    "empty text": lambda: "",
    "text": lambda: "no such thing",
    "digits": lambda: "2",
    "bytes": lambda: b"\x00\xff",
    "a list": lambda: [],
    "a list of None": lambda: [None, None],
    "ragged": lambda: [[0, 1], [0]],
    "a dict": lambda: {"a": 1},
    "a set": lambda: {1, 2},
    "an object": object,
    "a class": lambda: int,
    "a function": lambda: nothing,
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
    "masked": lambda: np.ma.array(np.zeros(9, int), mask=[0] * 8 + [1]),
    "large labels": lambda: np.full((2, 9), 2**63, np.uint64),
    "infinite numbers": lambda: np.full((24, 9), np.inf),
    "np.ma.masked": lambda: np.ma.masked,
    "what raises": Raises,
    "views of itself": Views,
    "what answers nothing": Secretive,
    "a path with NUL": lambda: "a\0b.csv",
    "a path too long": lambda: "x" * 5_000 + ".csv",
    "noise beyond": lambda: (2**63, "singletons"),
}


LONG_WORK = ("burn_in", "thin")
"""Parameters of which 2,147,483,648 is a request for long work, and no mistake: Ctrl-C ends it."""
PATIENCE = 1.0
"""Seconds until then."""


REQUIRED: dict[str, Callable[[], Any]] = {
    "draws": lambda: LABELS,
    "obj": lambda: LABELS,
    "data": lambda: DATA,
    "memberships": lambda: MEMBERSHIPS,
    "n": lambda: 4,
    "k": lambda: 2,
    "n_clusters": lambda: 3.0,
    "n_items": lambda: 9,
    "path": lambda: "draws.csv",
    "name": lambda: "mine",
    "function": lambda: lambda a, b: 0.0,
    "terms": lambda: "entropy",
    "beta": lambda: 1.5,
    "concentration": lambda: 1.0,
    "discount": lambda: 0.2,
    "shape": lambda: 2.0,
    "rate": lambda: 1.0,
    "mean": lambda: 0.0,
    "precision": lambda: 1.0,
    "degrees": lambda: 3.0,
    "scale": lambda: 1.0,
}
LABEL_NAMES = ("labels", "a", "b", "A", "candidates", "center", "estimate", "reference")
FEW = {
    "estimate": {"draws": LABELS, "n_starts": 2},
    "expected_loss": {"draws": LABELS},
    "sample": {"draws": 4, "burn_in": 1, "chains": 2, "rng": 0},
    "price_path": {"n_starts": 2, "low": 0.8, "high": 1.2},
    "clusters_curve": {"n_starts": 2, "k": [2, 3]},
    "representatives": {"n": 2},
    "credible_core": {"n_starts": 2},
    "chain_agreement": {"draws": pt.Draws(LABELS, chain=CHAIN)},
    "diagnose": {"draws": pt.Draws(LABELS, chain=CHAIN)},
    "chain_estimates": {"draws": pt.Draws(LABELS, chain=CHAIN)},
    "write_features": {"draws": FEATURES},
    "FeatureDraws": {"matrices": [[[0, 1], [1, 1]], [[0, 1], [1, 0]]]},
    "Draws.reweighted": {"by": "entropy", "strength": 1.0},
    "CredibleBall.contains": {"point": TRUTH},
    "Summary.to_html": {"overwrite": True},
    "Fit.predict": {"new_data": DATA[:2]},
    "Fit.extend": {"draws": 2},
}
"""Arguments that keep a call short."""
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
    "CredibleBall": ("contains", "probability"),
}
OF_FEATURES = (
    *("estimate", "credible_ball", "summarize", "representatives", "modes", "p_value"),
    *("diagnose", "price_path", "conformal_set"),
)
"""Questions that are asked of feature draws, too."""


def _targets() -> Iterator[tuple[str, Callable[..., Any]]]:
    public = [(name, getattr(pt, name)) for name in pt.__all__]
    public += [(name, getattr(pt.lattice, name)) for name in pt.lattice.__all__]
    for name, thing in public:
        if inspect.isfunction(thing) or name in CLASSES:
            yield name, thing
    for name in ("from_sets", "from_partitions"):
        yield name, getattr(pt.FeatureDraws, name)
    for name in OF_FEATURES:
        yield f"{name} of features", getattr(pt, name)
    for name in pt.plots.__all__:
        yield f"plots: {name}", getattr(pt.plots, name)
    for kind, methods in METHODS.items():
        for method in methods:
            home = getattr(pt.results if kind == "CredibleBall" else pt, kind)
            if hasattr(home, method):
                yield f"{kind}.{method}", getattr(home, method)


@cache
def calls() -> list[tuple[str, str, str]]:
    """Every call: the function, the parameter, the value it gets."""
    found = []
    for name, function in _targets():
        for parameter in inspect.signature(function).parameters.values():
            if parameter.name == "self" or parameter.kind in (2, 4):
                continue
            found += [(name, parameter.name, value) for value in WRONG_VALUES]
    return found


def arguments(name: str, function: Callable[..., Any], place: Path) -> dict[str, Any]:
    """What the function needs, right."""
    given: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "n_jobs":
            given["n_jobs"] = 1
        elif parameter.name == "progress":
            given["progress"] = False
        elif parameter.default is parameter.empty and parameter.kind not in (2, 4):
            given[parameter.name] = _right(name, parameter.name)
    if "path" in given:
        path = place / ("draws.npz" if name in KEPT else "draws.csv")
        path.unlink(missing_ok=True)
        if name in STORED:
            STORED[name](path)
        given["path"] = path
    given.pop("self", None)
    return given | FEW.get(name.removesuffix(" of features"), {}) | _special(name, given)


STORED: dict[str, Callable[[Path], Any]] = {
    "read_draws": lambda path: pt.write_draws(LABELS, path),
    "read_features": lambda path: pt.write_features(FEATURES, path),
    "load": lambda path: made("Summary").save(path),
}
"""What a file holds that is read."""
KEPT = ("load", "read_features", "write_features", "Fit.save", "Summary.save")
"""Functions of npz files."""


def _special(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of features, of figures, and of what starts from fits."""
    if name.endswith(" of features"):
        alone = {"labels", "center", "estimate"} & given.keys()
        return {"draws": FEATURES} | dict.fromkeys(alone, FEATURES.shown([FEATURES.point(0)])[0])
    if name.startswith("plots: "):
        source = next(iter(given))
        return {source: made(SHOWN.get(name.removeprefix("plots: "), "Summary"))}
    fits: dict[str, Callable[[], dict[str, Any]]] = {
        "compare": lambda: {"fits": [made("Fit"), made("Fit")], "folds": 2, "draws": 2},
        "prior_sensitivity": lambda: {"source": made("Fit")},
        "from_sets": lambda: {"sets": [[{0, 1}, {1}], [{2}]], "n_items": 3},
        "from_partitions": lambda: {"draws": LABELS},
    }
    return fits[name]() if name in fits else {}


def _right(name: str, parameter: str) -> Any:
    if name == "Draws" or (name in ("pairwise_distances", "covers") and parameter == "A"):
        return LABELS
    if name in ("BetaBernoulli",) or parameter not in LABEL_NAMES:
        special = {"step": 2, "items": [0, 1], "chains": [0], "grid": DATA[:2], "term": "entropy"}
        special |= {"new": DATA[:2], "x": DATA[:2], "rows": 5, "prior": "entropy", "strength": 1.0}
        known = REQUIRED.get(parameter)
        return known() if known else special.get(parameter, 1)
    return TRUTH


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
    stopped = value == "2**31" and parameter in LONG_WORK and hasattr(signal, "setitimer")
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
    "grid",
    "rhat",
    "ess",
    "mcse",
    "rates",
    "scale",
    "k_hat",
    "heights",
    "given",
    "averaged",
    "standard_error",
    "drift",
    "answer.data",
    "answer.values",
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
