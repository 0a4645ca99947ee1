"""What holds of every figure, and that it is where the user looks for it."""

import inspect

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import partita as pt
from made import made
from other_processes import notebook_of, run_python

VALUES = np.array([0.0, 0.2, 0.1, 5.0, 5.1, 5.3])
LABELS = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 2], [0, 1, 0, 2, 2, 2]])


@pytest.fixture(scope="module")
def summary():
    return pt.summarize(np.tile(LABELS, (5, 1)), data=VALUES)


@pytest.mark.parametrize(
    "name",
    ["n_clusters", "distances", "items", "similarity", "estimate", "overview", "ball", "traces"],
)
def test_given_axes_are_drawn_into(name, summary):
    figure, axes = plt.subplots(2, 2)
    draw = getattr(pt.plots, name)
    if "ax" in inspect.signature(draw).parameters:
        assert draw(summary, ax=axes[0, 0]) is axes[0, 0]
    else:
        given = axes if name == "overview" else axes.reshape(-1)
        assert list(np.ravel(draw(summary, axes=given))) == list(axes.reshape(-1))
    assert plt.get_fignums() == [figure.number]


def test_a_notebook_shows_every_figure_once(tmp_path):
    cells = [
        "import numpy as np, partita as pt\n"
        f"draws = np.tile({LABELS.tolist()}, (5, 1))\n"
        f"summary = pt.summarize(draws, data={VALUES.tolist()})",
        # The others are on pyplot's list once, as above, from which notebooks show figures.
        *(f"pt.plots.{name}(summary);" for name in ("n_clusters", "ball", "overview")),
        "summary.plot();",
    ]
    notebook, client = notebook_of(*cells, folder=tmp_path)
    client.execute()
    for cell in notebook.cells[1:]:
        images = [o for o in cell.outputs if "image/png" in o.get("data", {})]
        assert len(images) == 1, cell.source


NO_PYPLOT = """
import sys, partita as pt
pt.plots.n_clusters([[0, 0, 1]])
pt.plots.hasse(3).figure.savefig("x.png")
assert "matplotlib.pyplot" not in sys.modules
"""


def test_pyplot_is_not_loaded(tmp_path):
    run_python("-c", NO_PYPLOT, cwd=tmp_path)


# -------------------------------------------------------------------------------- what is refused

BALL = pt.credible_ball([[0, 0, 1]], [0, 0, 1])
PLOTS = pt.plots
DRAWS = pt.Draws(LABELS)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PLOTS.hasse(3, center=[0, 0, 1], ball=BALL), "not both"),
        (lambda: PLOTS.hasse(4, ball=BALL), "4 were expected"),
        (lambda: PLOTS.hasse(pt.hasse_diagram(3), loss="binder"), r"stretched by VI\(\), not by"),
        (lambda: PLOTS.hasse(3, loss="nid"), "not aligned with the lattice"),
        (lambda: PLOTS.hasse(9), "1 to 8"),
        (lambda: PLOTS.estimate([0, 1, 1]), "no data to show"),
        (lambda: PLOTS.estimate(LABELS[0], data=VALUES, dims=("weight",)), "no column 'weight'"),
        (lambda: PLOTS.estimate(LABELS[0], data=VALUES, dims=(0, 0)), "one column or two"),
        (lambda: PLOTS.estimate([0, 1, 1], data=[1.0, np.nan, 2.0]), "missing or infinite"),
        (lambda: PLOTS.estimate([0, 1, 1], data=[1.0, 2.0]), "one row per item"),
        (lambda: PLOTS.estimate([0, 1], fit=made("Fit")), "9 items, the partition about 2"),
        (lambda: PLOTS.estimate([0, 1], data=[0.0, 1.0], density=([0, 1], [1])), "equally many"),
        (lambda: PLOTS.ball(BALL, axes=[Figure().subplots()]), "expected 4 matplotlib Axes"),
        (lambda: PLOTS.traces(DRAWS.unique()), "lost their order"),
        (lambda: PLOTS.ranks(DRAWS, names=["colour"]), "colour.*expected some of"),
        (lambda: PLOTS.persistence(BALL), "expected Modes"),
        (lambda: PLOTS.representatives(BALL), "expected Representatives"),
        (lambda: PLOTS.representatives_curve(pt.representatives(LABELS, n=1)), "was given"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, message):
    with pytest.raises(pt.PartitaError, match=message):
        call()
