"""Objects that are no arrays and pretend to be sequences: refused at once, by every entry point."""

import signal
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import partita as pt
from fuzz import calls
from partita.errors import InvalidInputError, PartitaError

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")


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


def styler():
    pytest.importorskip("jinja2", minversion="3.1.2")  # which pandas asks for
    return pd.DataFrame([[1, 2], [3, 4]]).style


CONTAINERS: dict[str, Callable] = {
    "AnnData": anndata,
    "list of AnnData": lambda: [anndata(), anndata()],
    "MuData-like": Views,
    "pandas Styler": styler,
    "lists of lists of lists": nested,
    "a list that holds itself": itself,
    "a tensor that requires grad": calls.Raises,
    "a generator": lambda: (row for row in [[0, 1], [1, 1]]),
    "np.ma.masked": lambda: np.ma.masked,
    "a dict": lambda: {"a": [0, 1]},
}
DRAWS = [[0, 0, 1], [0, 1, 1]]
ENTRIES: dict[str, Callable] = {
    "as_draws": pt.as_draws,
    "Draws": pt.Draws,
    "estimate": pt.estimate,
    "summarize": pt.summarize,
    "sample": lambda obj: pt.sample(obj, draws=2, burn_in=0, chains=1),
    "weights": lambda obj: pt.Draws(DRAWS, weights=obj),
    "chain": lambda obj: pt.Draws(DRAWS, chain=obj),
    "canonical": pt.canonical,
    "compare": lambda obj: pt.expected_loss(DRAWS, obj),
    "plots.similarity": lambda obj: pt.plots.similarity(obj),
    "plots.traces": lambda obj: pt.plots.traces(obj),
    "plots.estimate": lambda obj: pt.plots.estimate([0, 0, 1], data=obj),
    "summarize(data=)": lambda obj: pt.summarize(DRAWS, data=obj),
    "empirical": pt.NormalInverseGamma.empirical,
    "memberships": pt.draws_from_memberships,
}


@pytest.fixture
def at_once():
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
