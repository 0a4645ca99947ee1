"""Figures are where the user looks for them: in notebooks, with plt.show, plt.savefig."""

from __future__ import annotations

import inspect
import io

import numpy as np
import pytest
from matplotlib import pyplot as plt

import partita as pt
from partita.representative.runs import compare_runs

VALUES = np.array([0.0, 0.2, 0.1, 5.0, 5.1, 5.3])
LABELS = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 2], [0, 1, 0, 2, 2, 2]])


@pytest.fixture(scope="module")
def summary():
    return pt.summarize(np.tile(LABELS, (5, 1)), data=VALUES)


SUBJECTS = {
    **dict.fromkeys(
        ("feature_ball", "memberships", "n_features"),
        "pt.summarize(pt.FeatureDraws.from_partitions(summary.draws))",
    ),
    "by_run": "compare_runs(summary.draws, [*'ab'] * 10, summary.labels, pt.VI())",
    "clusters_curve": "pt.clusters_curve(summary.draws)",
    "compare_losses": "pt.compare_losses(summary.draws)",
    "prior_sensitivity": "pt.prior_sensitivity(summary.draws, [one], from_prior=one)",
    "hasse": "3",
    "persistence": "pt.modes(summary.draws)",
    "price_path": "pt.price_path(summary.draws)",
    "replicates": "pt.sample(summary.data, draws=10, burn_in=0, chains=1)",
    "representatives": "pt.representatives(summary.draws)",
    "representatives_curve": "pt.representatives(summary.draws)",
}
"""What a figure is of, where it is not of a summary."""


def shown(name, summary):
    names = {"pt": pt, "summary": summary, "compare_runs": compare_runs}
    names["one"] = pt.DirichletProcess(1.0)
    return eval(f"pt.plots.{name}({SUBJECTS.get(name, 'summary')})", names)


@pytest.mark.parametrize("name", pt.plots.__all__)
def test_savefig_of_pyplot_writes_the_figure(name, summary):
    axes = shown(name, summary)
    figure = axes.figure if hasattr(axes, "figure") else axes[0].figure
    assert plt.gcf() is figure
    assert len(plt.get_fignums()) == 1
    buffer = io.BytesIO()
    plt.savefig(buffer, format="png", dpi=40)
    buffer.seek(0)
    assert np.ptp(plt.imread(buffer)[..., :3]) > 0.5


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
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    cells = [
        "import numpy as np, partita as pt\n"
        f"draws = np.tile({LABELS.tolist()}, (5, 1))\n"
        f"summary = pt.summarize(draws, data={VALUES.tolist()})",
        # The others are on pyplot's list once, as above, from which notebooks show figures.
        *(f"pt.plots.{name}(summary);" for name in ("n_clusters", "ball", "overview")),
        "summary.plot();",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": tmp_path}}
    ).execute()
    for cell in notebook.cells[1:]:
        images = [o for o in cell.outputs if "image/png" in o.get("data", {})]
        assert len(images) == 1, cell.source
