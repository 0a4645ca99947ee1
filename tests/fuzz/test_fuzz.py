"""A small share of each attack; ``make fuzz`` runs all of it."""

import os

import pytest

from fuzz import calls, damaged, force, labelled, processes, saved, spellings
from fuzz.harness import BAD, REFUSED, RIGHT, spread

PATHS = (("path", "'no such thing'"), ("path", "'2'"))
"""Parameter and value of calls that write to, or read, a file of a strange name."""

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="copies of a process are POSIX's")


def outcomes(run, count, wanted, place):
    found = [run(number, place) for number in spread(count, wanted)]
    assert [verdict for verdict in found if verdict.outcome in BAD] == []
    return [verdict.outcome for verdict in found]


def test_damaged_files_are_read_as_they_stand_or_refused(tmp_path):
    assert set(outcomes(damaged.run, damaged.COUNT, 240, tmp_path)) == {RIGHT, REFUSED}


def test_crafted_files_and_known_labels_are_read_or_refused(tmp_path):
    light = [i for i, name in enumerate(labelled.NAMES) if "end" not in name or "gz" not in name]
    found = [labelled.run(i, tmp_path) for i in light]
    assert [verdict for verdict in found if verdict.outcome in BAD] == []


def test_other_spellings_are_the_same_draws(tmp_path):
    assert set(outcomes(spellings.run, len(spellings.KINDS), None, tmp_path)) == {RIGHT}


def test_forged_results(tmp_path):
    assert REFUSED in outcomes(saved.run, saved.COUNT, 60, tmp_path)


def test_wrong_values(tmp_path):
    assert REFUSED in outcomes(calls.run, len(calls.calls()), 110, tmp_path)


def test_calls_write_nothing_where_they_are_made_from(tmp_path, monkeypatch):
    """Every function that takes a path, with a text that may be one."""
    (start := tmp_path / "start").mkdir()
    monkeypatch.chdir(start)
    texts = [n for n, call in enumerate(calls.calls()) if call[1:] in PATHS]
    assert len(texts) >= 10
    for number in texts:
        calls.run(number, tmp_path)
    assert list(start.iterdir()) == []


def test_no_file_of_a_user_is_touched(tmp_path):
    outcomes(force.run, force.COUNT, 18, tmp_path)


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_killed_runs_resume_to_the_same_bits(tmp_path):
    found = [processes.kill(number, tmp_path) for number in spread(40, 3)]
    assert [verdict.outcome for verdict in found] == [RIGHT] * 3, found
    assert any(verdict.detail.startswith("killed after") for verdict in found)  # and resumed


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_full_disks(tmp_path):
    """Every kind of file once, the limits in turn, half of the files there before."""
    kinds = len(processes.WRITERS) + len(processes.RESULTS)
    numbers = [i + kinds * (i % 10) for i in range(kinds)]
    found = [processes.full_disk(number, tmp_path) for number in numbers]
    assert [verdict for verdict in found if verdict.outcome in BAD] == []
    assert REFUSED in {verdict.outcome for verdict in found}
