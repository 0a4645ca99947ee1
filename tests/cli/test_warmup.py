"""``partita warmup`` compiles what it names, and no run afterwards compiles that again."""

from __future__ import annotations

import pytest

from partita.cli import precompile
from partita.kernels.compiling import listeners


@pytest.mark.parametrize("part", precompile.PARTS)
def test_a_second_run_compiles_nothing(part):
    precompile.PARTS[part]()
    compiled = []
    listeners.append(lambda: compiled.append(part))
    try:
        precompile.PARTS[part]()
    finally:
        listeners.pop()
    assert compiled == []


def test_named_parts_only(partita, monkeypatch):
    called = []
    monkeypatch.setattr(
        "partita.cli.warmup.PARTS", {name: lambda n=name: called.append(n) for name in ("a", "b")}
    )
    done = partita("warmup")
    assert done.exit_code == 0
    assert called == ["a", "b"]
    assert "compiling b" in done.stderr
    assert partita("warmup", "nothing").exit_code == 2
