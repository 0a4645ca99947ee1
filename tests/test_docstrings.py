"""Every example in a docstring runs and prints what it says."""

import doctest
import importlib
import pkgutil

import pytest

import partita

MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(partita.__path__, "partita.")
    if not found.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples may write files
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0
