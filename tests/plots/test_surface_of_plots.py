"""What holds of every figure function."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest
from matplotlib.figure import Figure

import partita as pt
from figure_checks import cut_off, overlaps, written

FIGURES = [getattr(pt.plots, name) for name in pt.plots.__all__]


@pytest.mark.parametrize("figure", FIGURES, ids=lambda f: f.__name__)
def test_signature_and_documentation(figure):
    first, *rest = inspect.signature(figure).parameters.values()
    assert first.kind is first.POSITIONAL_OR_KEYWORD
    assert first.default is first.empty
    assert all(p.kind is p.KEYWORD_ONLY for p in rest)
    assert {"ax", "axes"} & {p.name for p in rest}
    text = inspect.getdoc(figure)
    assert ">>> " in text
    assert [p.name for p in (first, *rest) if p.name not in text] == []


def test_the_checks_see_what_they_are_for():
    figure = Figure(figsize=(3, 3))
    ax = figure.subplots()
    ax.text(0.5, 0.5, "one")
    ax.text(0.5, 0.5, "two")
    ax.text(0.9, 0.2, "a text far too long for where it begins")
    boxes = written(figure)
    assert ("one", "two") in overlaps(boxes)
    assert cut_off(boxes, *figure.canvas.get_width_height()) == [
        "a text far too long for where it begins"
    ]


NO_PYPLOT = """
import sys, partita as pt
pt.plots.n_clusters([[0, 0, 1]])
pt.plots.hasse(3).figure.savefig("x.png")
assert "matplotlib.pyplot" not in sys.modules
"""


def test_pyplot_is_not_loaded(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", NO_PYPLOT], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
