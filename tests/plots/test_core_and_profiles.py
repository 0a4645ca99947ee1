"""Figures of the core and of profiles."""

from __future__ import annotations

import numpy as np

import partita as pt
from partita.plots._style import OTHER

DRAWS = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]]


def test_the_curve_and_the_items():
    core = pt.credible_core(DRAWS, prob=0.9, held_out=False)
    curve, items = pt.plots.core(core, data=[[1.0, 2.0], [1.1, 2.0], [3.0, 1.0], [4.0, 1.0]])
    step = curve.lines[0]
    assert np.array_equal(step.get_ydata(), core.curve)
    assert curve.get_title(loc="left") == "Grouped identically with probability 0.9"
    from matplotlib.colors import to_hex

    grey, *clusters = items.collections
    assert to_hex(grey.get_facecolor()[0]).upper() == OTHER
    assert len(grey.get_offsets()) == 4 - core.size
    assert sum(len(found.get_offsets()) for found in clusters) == core.size
    (alone,) = pt.plots.core(core)
    assert alone.get_xlabel() == "items"
    _, line = pt.plots.core(core, data=[1.0, 1.2, 3.0, 3.1])
    assert [tick.get_text() for tick in line.get_yticklabels()] == ["not stated", "0", "1"]


def test_profiles_are_drawn_by_value():
    found = pt.profiles(DRAWS, [0, 0, 1, 1], data=[1.0, 2.0, 5.0, 6.0])
    mean, sd = pt.plots.profiles(found)
    assert mean.get_title(loc="left") == "0: mean"
    points = [line.get_xdata()[0] for line in mean.lines if line.get_marker() == "o"]
    assert points == [found.averaged[0], found.averaged[2]]
    assert sd.get_title(loc="left") == "0: sd"
