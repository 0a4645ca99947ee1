"""Compiling ahead: a cold cache has the search when the block ends, a warm one starts nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import partita
from partita.cli import precompile


def test_a_warm_cache_starts_nothing(monkeypatch):
    partita.warmup("summarize")
    assert precompile._is_compiled()
    monkeypatch.setattr(subprocess, "Popen", None)
    with precompile.compiled_ahead():
        pass


def test_a_cold_cache_is_seen_as_such(tmp_path):
    code = "from partita.cli.precompile import _is_compiled; print(_is_compiled())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "False\n"


@pytest.fixture
def started(monkeypatch):
    """Processes that a cache which looks cold makes it start."""
    processes = []
    real = subprocess.Popen

    def spy(*arguments, **options):
        processes.append(real(*arguments, **options))
        return processes[-1]

    monkeypatch.setattr(precompile, "_is_compiled", lambda: False)
    monkeypatch.setattr("partita._parallel.count_jobs", lambda _: 2)
    monkeypatch.setattr(subprocess, "Popen", spy)
    return processes


def test_the_block_ends_when_both_have(started):
    with precompile.compiled_ahead():
        assert started[0].poll() is None
    assert [process.returncode for process in started] == [0]


def test_an_error_in_the_block_ends_the_process(started):
    with pytest.raises(KeyboardInterrupt), precompile.compiled_ahead():
        raise KeyboardInterrupt
    assert started[0].returncode not in (None, 0)
