"""The public surface: names, signatures, types; every result alike, on a screen and as HTML."""

import dataclasses
import inspect
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import partita as pt
from doc_pages import DOCS
from made import RESULTS, made
from other_processes import run_python
from public_calls import functions_of

SUBMODULES = ("anndata", "arviz", "datasets", "lattice", "plots", "results", "sklearn", "testing")

HEAVY = ("numba", "scipy", "matplotlib", "pandas", "joblib", "xarray", "bokeh", "sklearn", "rich")


def test_import_is_light():
    done = run_python("-c", "import partita, sys; print(*sys.modules)")
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert "partita" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_the_public_names_are_those_that_are_listed():
    assert dir(pt) == sorted(set(pt.__all__))
    assert all(getattr(pt, name) is not None for name in pt.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = pt.nonsense


@pytest.mark.parametrize("name", SUBMODULES)
def test_completion_of_a_submodule_offers_public_names_only(name):
    module = getattr(pt, name)
    shown = [entry for entry in dir(module) if not entry.startswith("__")]
    assert shown == sorted(module.__all__)


def test_names_that_moved_work_with_a_warning():
    with pytest.warns(DeprecationWarning, match=r"partita\.results\.CredibleBall"):
        assert pt.CredibleBall is pt.results.CredibleBall
    with pytest.warns(DeprecationWarning, match=r"partita\.lattice\.meet"):
        assert pt.meet is pt.lattice.meet
    with pytest.warns(DeprecationWarning, match="PartitionConsensus"):
        assert pt.sklearn.ConsensusClustering is pt.sklearn.PartitionConsensus


def test_every_public_function_shows_an_example_and_explains_its_parameters():
    silent = []
    for name, function in functions_of(pt).items():
        text = inspect.getdoc(function) or ""
        if ">>> " not in text:
            silent.append(f"{name}: no example")
        silent += [f"{name}: {p}" for p in inspect.signature(function).parameters if p not in text]
    assert silent == []


def test_options_are_keyword_only():
    """Data first, everything else by keyword; the loss, which names the question, may follow."""
    for name, function in functions_of(pt).items():
        parameters = inspect.signature(function).parameters.values()
        by_position = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        options = {p.name for p in by_position if p.default is not p.empty}
        assert len(by_position) <= 3, name
        assert options <= {"B", "draws", "loss", "losses", "priors"}, name


def listed() -> list[str]:
    """Full names in the tables of the reference pages."""
    names, module = [], "partita"
    for page in sorted((DOCS / "reference").glob("*.md")):
        for line in page.read_text(encoding="utf-8").splitlines():
            if found := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = found[1]
            elif found := re.fullmatch(r"   ([A-Za-z][\w.]*)", line):
                names.append(f"{module}.{found[1]}")
    return sorted(names)


def test_the_reference_lists_every_public_name_once_and_each_is_documented():
    modules = [pt, *(getattr(pt, name) for name in SUBMODULES)]
    objects = {f"{m.__name__}.{name}": getattr(m, name) for m in modules for name in m.__all__}
    made_by_functions = ("datasets.FourNormals", "datasets.OverlappingFeatures")
    for name in ("__version__", *SUBMODULES, *made_by_functions):
        del objects[f"partita.{name}"]
    assert listed() == sorted(objects)
    silent = [name for name, thing in objects.items() if not inspect.getdoc(thing)]
    assert [name for name in silent if "Like" not in name] == []


def test_a_users_script_is_checked_in_every_line():
    """``good.py`` passes mypy --strict; ``bad.py`` fails in the lines that say so, and no other."""
    scripts = sorted((Path(__file__).parent / "user_scripts").glob("*.py"))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *map(str, scripts)],
        capture_output=True,
        text=True,
        cwd=DOCS.parent,  # with the project's settings, whose cache `make types` has filled
        env={**os.environ, "MYPYPATH": str(Path(pt.__file__).parents[1])},
        timeout=300,
        check=False,
    )
    found = {
        (Path(match[1]).name, int(match[2]), match[3])
        for match in re.finditer(r"^(\S+?):(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.M)
    }
    wanted = {
        (path.name, number, line.rpartition("# wrong: ")[2])
        for path in scripts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "# wrong: " in line
    }
    assert found == wanted, done.stdout + done.stderr
    assert len(wanted) > 20
    assert (Path(pt.__file__).parent / "py.typed").exists()


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
