"""Figures of representatives and modes: what is said, marked and readable."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from figure_checks import assert_tidy
from partita.errors import InvalidInputError

ONE = np.repeat([0, 1, 2], 6)
OTHER = np.where(np.arange(18) >= 15, 0, ONE)


@pytest.fixture(scope="module")
def draws() -> pt.Draws:
    rng = np.random.default_rng(0)
    labels = np.array([ONE, OTHER])[(np.arange(240) % 3 == 0).astype(int)]
    noise = rng.random(labels.shape) < 0.02
    return pt.Draws(np.where(noise, rng.integers(0, 3, labels.shape), labels))


@pytest.fixture(scope="module")
def several(draws) -> pt.results.Representatives:
    return pt.representatives(draws)


@pytest.mark.parametrize("data", [None, np.arange(18.0), np.random.default_rng(1).random((18, 2))])
def test_panels_say_mass_and_mark_what_differs(several, data):
    panels = pt.plots.representatives(several, data=data)
    assert several.n == len(panels) == 2
    assert panels[0].get_title(loc="left").startswith("0: mass 6")
    assert "from 0" in panels[1].get_title(loc="left")
    if data is None:
        marked = [line.get_xdata() for line in panels[1].lines][-1]
        assert len(marked) == 3
        assert len(panels[1].patches) >= 3
    else:
        rings = [c for c in panels[1].collections if c.get_facecolor().size == 0]
        assert len(rings[-1].get_offsets()) == 3
    assert_tidy(panels[0].figure)


def test_the_curve_marks_the_number_chosen(several):
    ax = pt.plots.representatives_curve(several)
    assert ax.get_title(loc="left") == "How many representatives? 2"
    assert ax.lines[-1].get_xdata() == [2]
    assert_tidy(ax.figure)
    with pytest.raises(InvalidInputError, match="was given"):
        pt.plots.representatives_curve(pt.representatives([ONE, OTHER], n=1))


def test_persistence_and_map_of_modes(draws):
    found = pt.modes(draws)
    ax = pt.plots.persistence(found)
    assert ax.get_title(loc="left") == "2 modes of the posterior"
    assert_tidy(ax.figure)
    ball = pt.credible_ball(draws, ONE)
    names = pt.plots.posterior_map(ball, marks=found).get_legend().get_texts()
    assert [t.get_text() for t in names][-1].startswith("mode 1 (3")
    with pytest.raises(InvalidInputError, match="expected Modes"):
        pt.plots.persistence(ball)
    with pytest.raises(InvalidInputError, match="expected Representatives"):
        pt.plots.representatives(ball)
