"""Every public result alike: arrays cannot be changed, it prints short, on a screen and as HTML."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import partita as pt
from partita.representative.runs import compare_runs

LABELS = np.array([[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 2], [0, 1, 0, 1, 0, 1]] * 8)
DATA = np.array([-3.0, -2.9, 0.0, 0.1, 3.0, 3.2])[:, None]
DRAWS = pt.Draws(LABELS, chain=np.repeat([0, 1], 12))


@cache
def fit() -> pt.Fit:
    return pt.sample(DATA, draws=6, chains=2, rng=0, n_jobs=1)


@cache
def summary() -> pt.Summary:
    return pt.summarize(DRAWS, data=DATA, n_jobs=1)


FEATURES = pt.FeatureDraws.from_partitions(DRAWS)


@cache
def features() -> pt.results.FeatureSummary:
    return pt.summarize(FEATURES, path=True, n_jobs=1)


RESULTS = {
    "Draws": lambda: DRAWS,
    "FeatureDraws": lambda: FEATURES,
    "FeatureSummary": features,
    "FeatureEstimate": lambda: features().estimate,
    "FeaturePath": lambda: features().path,
    "FeatureBall": lambda: features().ball,
    "FeatureBound": lambda: features().ball.upper,
    "FeatureItemUncertainty": lambda: features().items,
    "FeatureUncertainty": lambda: features().features,
    "FeatureCounts": lambda: features().counts,
    "FeatureRepresentatives": lambda: pt.representatives(FEATURES, n=2),
    "FeatureModes": lambda: pt.modes(FEATURES),
    "EstimatesByLoss": lambda: pt.compare_losses(DRAWS, ["vi", "binder"]),
    "RunComparison": lambda: compare_runs(
        DRAWS, [str(m % 2) for m in range(len(DRAWS))], summary().labels, pt.VI()
    ),
    "HasseDiagram": lambda: pt.hasse_diagram(3),
    "CredibleBall": lambda: summary().ball,
    "Bound": lambda: summary().ball.upper,
    "ItemUncertainty": lambda: summary().items,
    "CredibleCore": lambda: pt.credible_core(DRAWS, prob=0.6, held_out=False),
    "PartialPartition": lambda: pt.lattice.PartialPartition([0, 0, 1, -1, -1, 1]),
    "Profiles": lambda: summary().profiles,
    "ClusterUncertainty": lambda: summary().clusters,
    "ClusterCounts": lambda: pt.n_clusters_posterior(DRAWS),
    "ClusterSizes": lambda: pt.cluster_sizes_posterior(DRAWS),
    "Diagnostics": lambda: summary().diagnostics,
    "ChainAgreement": lambda: pt.chain_agreement(DRAWS),
    "ChainEstimates": lambda: pt.chain_estimates(DRAWS),
    "Summary": summary,
    "LossComparison": lambda: summary().comparison,
    "ClustersCurve": lambda: pt.clusters_curve(DRAWS, k=range(1, 4)),
    "PointEstimate": lambda: summary().estimate,
    "PricePath": lambda: pt.price_path(DRAWS),
    "Corner": lambda: next(iter(pt.price_path(DRAWS))),
    "Stability": lambda: pt.price_path(DRAWS).stability(summary().labels),
    "SearchReport": lambda: summary().estimate.search,
    "Start": lambda: summary().estimate.search.starts[0],
    "Fit": fit,
    "ClusterParameters": lambda: fit().cluster_parameters(LABELS[0]),
    "Density": lambda: fit().density(np.array([[0.0], [1.0]])),
    "Moments": lambda: fit().cluster_parameters(LABELS[0])["mean"],
    "ChainStacking": lambda: fit().stack_chains(),
    "ModelComparison": lambda: pt.compare([fit(), fit()], new_data=[[0.0], [1.0]]),
    "PriorSensitivity": lambda: pt.prior_sensitivity(fit(), [pt.DirichletProcess(9.0)]),
    "Reweighting": lambda: fit().reweighted(fit().prior).reweighting,
    "Explanation": lambda: pt.explain(LABELS[0], LABELS[2]),
    "Change": lambda: pt.explain(LABELS[0], LABELS[2]).changes[0],
    "Representatives": lambda: pt.representatives(DRAWS, n=2),
    "HeldOutCurve": lambda: pt.representatives(DRAWS).curve,
    "Modes": lambda: pt.modes(DRAWS),
    "Peaks": lambda: pt.modes(DRAWS).peaks[0],
    "PValue": lambda: pt.p_value(DRAWS, LABELS[0]),
    "ConformalSet": lambda: pt.conformal_set(DRAWS),
}

INPUTS = (pt.Loss, pt.Kernel, pt.PartitionPrior, pt.Gamma, pt.F, pt.results.Settings)
"""Public values that a user makes; they print as the call that makes them."""


def test_every_result_is_here():
    named = [(n, getattr(pt, n)) for n in pt.__all__]
    for module in (pt.results, pt.lattice):
        named += [(n, getattr(module, n)) for n in module.__all__]
    classes = {n: c for n, c in named if inspect.isclass(c)}
    results = {n for n, c in classes.items() if not issubclass(c, (*INPUTS, Exception))}
    assert results == set(RESULTS)


def arrays(value: Any, name: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Every array that a result's public attributes lead to."""
    if isinstance(value, np.ndarray):
        yield name, value
    elif isinstance(value, (tuple, list)):
        for entry in value:
            yield from arrays(entry, name)
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from arrays(entry, f"{name}[{key}]")
    elif isinstance(value, pt.results.PValue):
        yield from arrays(vars(value), name)
    elif dataclasses.is_dataclass(value) and not isinstance(value, INPUTS):
        for field in dataclasses.fields(value):
            if not field.name.startswith("_") and (name, field.name) != ("", "state"):
                yield from arrays(getattr(value, field.name), f"{name}.{field.name}")


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_cannot_be_changed(name):
    result = RESULTS[name]()
    assert type(result).__name__ == name
    assert [where for where, array in arrays(result) if array.flags.writeable] == []
    for field in dataclasses.fields(result) if dataclasses.is_dataclass(result) else ():
        value = getattr(result, field.name)
        assert not isinstance(value, (list, set)), field.name
        assert not isinstance(value, dict) or isinstance(value, MappingProxyType), field.name
        with pytest.raises(AttributeError):
            setattr(result, field.name, value)


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_travels(name):
    result = RESULTS[name]()
    again = pickle.loads(pickle.dumps(result))
    assert str(again) == str(result)
    assert [where for where, array in arrays(again) if array.flags.writeable] == []


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_prints_short_on_a_screen_and_as_html(name):
    result = RESULTS[name]()
    short = repr(result)
    assert short.startswith((name, "<"))
    assert short.count("\n") + 1 <= 8
    assert max(map(len, short.splitlines())) <= 300
    assert "array(" not in short
    screen = str(result)
    assert 1 <= screen.count("\n") + 1 <= 50
    assert max(map(len, screen.splitlines())) <= 300
    assert "array(" not in screen
    html = result._repr_html_()
    assert html.startswith("<")
    assert html.rstrip().endswith(">")


def test_a_fit_with_many_parameters_prints_short_too():
    wide = np.random.default_rng(0).normal(size=(40, 30))
    uniform = pt.ProductPartition(lambda n, k: 0.0, lambda n: 0.0)
    found = pt.sample(wide, prior=uniform, draws=2, burn_in=1, chains=1, rng=0, n_jobs=1)
    for text in (repr(found), str(found)):
        assert max(map(len, text.splitlines())) <= 300
    assert len(found._repr_html_()) < 1_500
    assert len(repr(found.prior)) > 300  # which is the call that makes it, in full


class Nonsense:
    """No method takes this."""


@pytest.mark.parametrize(
    ("name", "method", "argument"),
    [
        ("PricePath", "at", "a"),
        ("PricePath", "expected", "a"),
        ("PricePath", "for_clusters", "k"),
        ("PricePath", "neighbours", "k"),
        ("Stability", "excess", "a"),
        ("Draws", "concat", "parts"),
        ("Draws", "select_chains", "chains"),
        ("Explanation", "in_words", "most"),
        ("Fit", "density", "grid"),
        ("Modes", "explain", "number"),
        *(("Representatives", method, "number") for method in ("explain", "region", "similarity")),
        *(
            (name, "to_frame", "one_based")
            for name in ("ClusterUncertainty", "CredibleCore", "ItemUncertainty", "Profiles")
        ),
        ("CredibleCore", "screen", "one_based"),
    ],
)
def test_an_error_of_a_method_names_the_argument(name, method, argument):
    with pytest.raises(pt.PartitaError) as caught:
        getattr(RESULTS[name](), method)(**{argument: Nonsense()})
    assert caught.value.argument == argument
