"""Every public result alike: arrays cannot be changed, it prints short, on a screen and as HTML."""

import dataclasses
import inspect
import pickle
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import partita as pt
from made import RESULTS, made

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
    result = made(name)
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
    result = made(name)
    again = pickle.loads(pickle.dumps(result))
    assert str(again) == str(result)
    assert [where for where, array in arrays(again) if array.flags.writeable] == []


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_prints_short_on_a_screen_and_as_html(name):
    result = made(name)
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
