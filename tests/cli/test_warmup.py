"""``partita warmup`` compiles what it names, and no run afterwards compiles that again."""

import pytest

import partita as pt
from partita import _warmup
from partita.errors import UnknownNameError
from partita.kernels import listeners


@pytest.mark.parametrize("part", _warmup.PARTS)
def test_a_second_run_compiles_nothing(part):
    _warmup.PARTS[part]()
    compiled = []
    listeners.append(lambda: compiled.append(part))
    try:
        _warmup.PARTS[part]()
    finally:
        listeners.pop()
    assert compiled == []


def test_the_same_from_python(monkeypatch):
    called = []
    parts = {name: lambda n=name: called.append(n) for name in _warmup.PARTS}
    monkeypatch.setattr(_warmup, "PARTS", parts)
    pt.warmup("core", "path")
    assert called == ["core", "path"]
    pt.warmup()
    assert called[2:] == ["summarize", "losses", "fit", "core", "representatives", "path"]
    with pytest.raises(UnknownNameError, match="'representatives'"):
        pt.warmup("everything")
