"""Every public function and figure, and arguments that it takes: tests make one of them wrong."""

import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import partita as pt
from made import CHAIN, DATA, FEATURES, LABELS, SHOWN, TRUTH, made

LABEL_NAMES = ("labels", "a", "b", "candidates", "center", "estimate", "reference")
VALUES: dict[str, Any] = {
    **dict.fromkeys(("draws", "obj", "A"), LABELS),
    **dict.fromkeys(LABEL_NAMES, TRUTH),
    **dict.fromkeys(("new", "x", "grid"), DATA[:2]),
    "data": DATA,
    "memberships": np.eye(3)[LABELS[:4]],
    "n": 4,
    "k": 2,
    "n_clusters": 3.0,
    "n_items": 9,
    "name": "mine",
    "function": lambda a, b: 0.0,
    **dict.fromkeys(("terms", "term", "prior"), "entropy"),
    "beta": 1.5,
    "discount": 0.2,
    "shape": 2.0,
    "mean": 0.0,
    "degrees": 3.0,
    "step": 2,
    "items": [0, 1],
    "chains": [0],
    "rows": 5,
    "n_jobs": 1,
    "progress": False,
}
"""Values of arguments that have no default, or that keep a call short; 1 is good for all others."""
WITH_CHAINS = {"draws": pt.Draws(LABELS, chain=CHAIN)}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "Draws": {"labels": LABELS},
    "BetaBernoulli": {"a": 1, "b": 1},
    "estimate": {"draws": LABELS, "n_starts": 2},
    "expected_loss": {"draws": LABELS},
    "sample": {"draws": 4, "burn_in": 1, "chains": 2, "rng": 0},
    "price_path": {"n_starts": 2, "low": 0.8, "high": 1.2},
    "clusters_curve": {"n_starts": 2, "k": [2, 3]},
    "representatives": {"n_max": 2},
    "credible_core": {"n_starts": 2},
    **dict.fromkeys(("chain_agreement", "diagnose", "chain_estimates"), WITH_CHAINS),
    "write_features": {"draws": FEATURES},
    "from_sets": {"sets": [[{0, 1}, {1}], [{2}]], "n_items": 3},
    "FeatureDraws": {"matrices": [[[0, 1], [1, 1]], [[0, 1], [1, 0]]]},
    "Draws.reweighted": {"by": "entropy", "strength": 1.0},
    "CredibleBall.contains": {"point": TRUTH},
    "Summary.to_html": {"overwrite": True},
    "Fit.predict": {"new_data": DATA[:2]},
    "Fit.extend": {"draws": 2},
}
"""What a function needs otherwise."""
STORED = {
    "read_draws": lambda path: pt.write_draws(LABELS, path),
    "read_features": lambda path: pt.write_features(FEATURES, path),
    "load": lambda path: made("Summary").save(path),
}
"""What a file holds that is read."""
ARCHIVED = ("load", "read_features", "write_features", "Fit.save", "Summary.save")
"""Functions of npz files."""


def functions_of(*modules: ModuleType) -> dict[str, Any]:
    """The public functions of modules, by name."""
    things = {name: getattr(module, name) for module in modules for name in module.__all__}
    return {name: thing for name, thing in things.items() if inspect.isfunction(thing)}


FUNCTIONS = functions_of(pt, pt.lattice)
FIGURES = {f"plots: {name}": draw for name, draw in functions_of(pt.plots).items()}


def parameters_of(function: Any) -> list[inspect.Parameter]:
    """Its parameters, but for those that take any number of arguments."""
    parameters = inspect.signature(function).parameters.values()
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p for p in parameters if p.kind not in several and p.name != "self"]


def right_arguments(name: str, function: Any, place: Path) -> dict[str, Any]:
    """What the function needs, right; a file that it reads lies in the directory."""
    given = {
        p.name: VALUES.get(p.name, 1)
        for p in parameters_of(function)
        if p.default is p.empty or p.name in ("n_jobs", "progress")
    }
    if "path" in given:
        given["path"] = place / ("draws.npz" if name in ARCHIVED else "draws.csv")
        given["path"].unlink(missing_ok=True)
        STORED.get(name, lambda _: None)(given["path"])
    if name in FIGURES:
        source = next(iter(given))
        return given | {source: made(SHOWN.get(name.removeprefix("plots: "), "Summary"))}
    if name == "compare":
        given |= {"fits": [made("Fit"), made("Fit")], "folds": 2, "draws": 2}
    elif name == "prior_sensitivity":
        given["source"] = made("Fit")
    return given | ARGUMENTS.get(name, {})
