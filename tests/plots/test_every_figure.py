"""What holds of every figure, where it is, and colours that everyone tells apart."""

import inspect
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import partita as pt
from made import made
from other_processes import notebook_of, run_python
from partita.labels import best_matching, shared_items
from partita.plots._style import COLOURS, colour_indices
from strategies import posteriors, same_items

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
        (lambda: PLOTS.items(made("FeatureSummary")), "got FeatureSummary; expected a Summary"),
        (lambda: PLOTS.feature_ball(made("Summary")), "got Summary; expected a FeatureSummary"),
        (lambda: PLOTS.representatives(BALL), "expected Representatives"),
        (lambda: PLOTS.representatives_curve(pt.representatives(LABELS, n=1)), "was given"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, message):
    with pytest.raises(pt.PartitaError, match=message):
        call()


# Machado, Oliveira and Fernandes (2009), full severity, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def oklab(colours, vision):
    """Ottosson's OKLab, where a distance of about 0.02 is just noticeable."""
    rgb = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colours]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.array(VISION[vision]).T, 0, 1)
    to_lms = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return np.cbrt(seen @ np.array(to_lms).T) @ np.array(to_lab).T


def closest(colours, vision):
    lab = oklab(colours, vision)
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=2)
    return apart[np.triu_indices(len(lab), 1)].min()


@pytest.mark.parametrize("vision", VISION)
def test_24_colours_are_told_apart_by_everyone(vision):
    assert len(set(COLOURS)) == 24
    # 0.05 is more than twice what is just noticeable; a rainbow of 24 hues falls below 0.02.
    assert closest(COLOURS, vision) > 0.05
    assert closest((*COLOURS, "#FFFFFF"), vision) > 0.05


@settings(max_examples=60)
@given(same_items(2, most=9))
def test_matching_is_optimal(pair):
    reference, other = map(pt.canonical, pair)
    table = pt.cross_table(reference, other)
    size = max(table.shape)
    square = np.zeros((size, size), int)
    square[: table.shape[0], : table.shape[1]] = table
    best = max(sum(square[p[j], j] for j in range(size)) for p in permutations(range(size)))
    matched = best_matching(shared_items(reference, other))
    kept = matched >= 0
    assert len(set(matched[kept])) == kept.sum()
    entries = table[matched[kept], np.flatnonzero(kept)]
    assert entries.sum() == best
    assert (entries > 0).all()


@settings(max_examples=60)
@given(posteriors(most=12, draws=5))
def test_indices_are_distinct_within_a_partition_and_shared_between_equal_clusters(case):
    rows = list(map(pt.canonical, case[0]))
    found = colour_indices(rows)
    for labels, indices in zip(rows, found, strict=True):
        assert indices.size == pt.n_clusters(labels)
        assert len(set(indices.tolist())) == indices.size
        assert indices.min() >= 0
    for labels, indices in zip(rows, found, strict=True):
        if np.array_equal(labels, rows[0]):
            assert np.array_equal(indices, found[0])
