"""The line that says what is being done."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from partita import _progress
from partita._progress import Status


@pytest.mark.parametrize(
    ("wanted", "delay", "shown"), [(True, 0.0, True), (True, 60.0, False), (False, 0.0, False)]
)
def test_it_is_shown_when_wanted_and_only_for_work_that_lasts(
    monkeypatch, capsys, wanted, delay, shown
):
    monkeypatch.setattr(_progress, "_DELAY", delay)
    with Status("estimate", wanted) as status:
        status.say("sweeping, 1 of 4")
        status.say("sweeping, 2 of 4")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert ("sweeping" in captured.err) == shown


def test_by_default_it_needs_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(_progress, "_DELAY", 0.0)
    with Status("estimate") as status:
        status.say("sweeping")
    assert capsys.readouterr().err == ""


def test_a_search_reports_what_it_does(monkeypatch, capsys):
    monkeypatch.setattr(_progress, "_DELAY", 0.0)
    labels = np.random.default_rng(0).integers(0, 4, (30, 20))
    pt.estimate(labels, progress=True)
    assert "estimate:" in capsys.readouterr().err
