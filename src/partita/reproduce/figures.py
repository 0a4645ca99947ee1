"""The paper's figures, from our own draws, as SVG files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from partita._optional import require
from partita.losses.hasse import hasse_diagram
from partita.plots.ball import ball
from partita.plots.canvas import GREY, SMALL, headline, new_figure
from partita.plots.estimate import estimate
from partita.plots.hasse import hasse
from partita.plots.similarity import similarity
from partita.reproduce import paper
from partita.reproduce.digits import as_printed
from partita.reproduce.experiments import Experiment
from partita.reproduce.pages import Figure, PageTable, Section
from partita.reproduce.paper import LossName

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

_LOSSES: tuple[LossName, ...] = ("binder", "vi")


def _save(drawing: Drawing, folder: Path, name: str, title: str) -> Figure:
    """Write a drawing into the folder; the same drawing gives the same file."""
    folder.mkdir(exist_ok=True)
    matplotlib = require("matplotlib", extra="plot", purpose="drawing a figure")
    with matplotlib.rc_context({"svg.hashsalt": "partita"}):
        drawing.savefig(folder / f"{name}.svg", format="svg", metadata={"Date": None})
    return Figure(title, f"{folder.name}/{name}.svg")


def _entitle(ax: Axes, title: str) -> None:
    """Replace the title of a finished figure; the small print below it stays."""
    notes = [text for text in ax.texts if text.get_fontsize() == SMALL and text.get_color() == GREY]
    for note in notes:
        note.remove()
    headline(ax, title, "\n".join(note.get_text() for note in notes))


def example_figures(
    examples: dict[int, Experiment], folder: Path, n_jobs: int | None
) -> tuple[Figure, ...]:
    """Figure 4, the data, and Figure 5, the estimates."""
    drawing = new_figure(11.0, 4.2)
    for ax, (example, found) in zip(drawing.subplots(1, 2), examples.items(), strict=True):
        assert found.data.truth is not None
        estimate(found.data.truth, data=found.data.values, ax=ax)
        _entitle(ax, f"Example {example}: true clusters")
    data = _save(drawing, folder, "figure-04", "Figure 4: data of Examples 1 and 2, our own sample")
    drawing = new_figure(11.0, 8.4)
    panels = drawing.subplots(2, 2)
    for i, loss in enumerate(_LOSSES):
        for ax, (example, found) in zip(panels[i], examples.items(), strict=True):
            best = found.estimates[loss]
            estimate(best.labels, fit=found.fit, ax=ax, n_jobs=n_jobs)
            title = f"Example {example}, {paper.LOSS_TITLES[loss]}: {best.n_clusters} clusters"
            _entitle(ax, title)
    return data, _save(drawing, folder, "figure-05", "Figure 5: estimates of Examples 1 and 2")


def ball_figures(
    examples: dict[int, Experiment], folder: Path, n_jobs: int | None
) -> tuple[Figure, ...]:
    """Figures 6 to 9: balls of both examples under both losses, with the similarity matrix."""
    made: list[Figure] = []
    for example, found in examples.items():
        for loss in _LOSSES:
            number = 6 + len(made)
            title = f"Figure {number}: 95% credible ball of Example {example} under "
            title += paper.LOSS_TITLES[loss]
            made.append(_draw_ball(found, loss, folder, f"figure-{number:02d}", title, n_jobs))
    return tuple(made)


def _draw_ball(
    found: Experiment, loss: LossName, folder: Path, name: str, title: str, n_jobs: int | None
) -> Figure:
    drawing = new_figure(12.0, 7.6)
    panels = drawing.subplots(2, 3).reshape(-1)
    ball(found.balls[loss], fit=found.fit, axes=panels[:4], n_jobs=n_jobs)
    similarity(found.draws, estimate=found.balls[loss].center, ax=panels[4], n_jobs=n_jobs)
    panels[5].remove()
    return _save(drawing, folder, name, title)


def galaxy_figures(found: Experiment, folder: Path, n_jobs: int | None) -> tuple[Figure, ...]:
    """Figure 10, estimates under both losses, and Figure 11, the VI ball."""
    drawing = new_figure(12.0, 4.4)
    for ax, loss in zip(drawing.subplots(1, 2), _LOSSES, strict=True):
        best = found.estimates[loss]
        estimate(best.labels, fit=found.fit, ax=ax, n_jobs=n_jobs)
        _entitle(ax, f"{paper.LOSS_TITLES[loss]}: {best.n_clusters} clusters")
    estimates = _save(drawing, folder, "figure-10", "Figure 10: estimates of the galaxies")
    title = "Figure 11: 95% credible ball of the galaxies under VI"
    return estimates, _draw_ball(found, "vi", folder, "figure-11", title, n_jobs)


def lattice_section(folder: Path) -> Section:
    """Figures 1 to 3 and the two of the supplement: the lattice of four items."""
    drawn = [_save(_plain_lattice(), folder, "figure-01", "Figure 1: Hasse diagram of four items")]
    for number, loss in ((2, "vi"), (3, "binder")):
        title = f"Figure {number}: Hasse diagram of four items stretched by "
        title += paper.LOSS_TITLES[loss]
        drawn.append(_save(_lattice(loss, None), folder, f"figure-{number:02d}", title))
    for number, loss in ((1, "vi"), (2, "binder")):
        title = f"Supplement, Figure {number}: distances from {{1,2}}{{3,4}} under "
        title += paper.LOSS_TITLES[loss]
        drawn.append(_save(_lattice(loss, (0, 0, 1, 1)), folder, f"figure-s{number}", title))
    return Section(
        "Figures 1 to 3 and the supplement's: the lattice of partitions",
        ("These do not depend on data; heights and distances are exact.",),
        (_heights_table(),),
        tuple(drawn),
    )


def _lattice(loss: str, center: tuple[int, ...] | None) -> Drawing:
    drawing = new_figure(8.6, 5.2)
    hasse(4, loss=loss, center=center, ax=drawing.subplots())
    return drawing


def _plain_lattice() -> Drawing:
    """Every level at the height of its number of clusters."""
    diagram = hasse_diagram(4, loss="vi")
    levels = diagram.nodes.max(axis=1).astype(np.float64)
    positions = np.stack([diagram.positions[:, 0], -levels], axis=1)
    drawing = new_figure(8.6, 5.2)
    axes = drawing.subplots()
    hasse(replace(diagram, heights=levels, positions=positions), ax=axes)
    axes.set_yticks(-np.arange(4), ["1", "2", "3", "4"])
    axes.set_ylabel("number of clusters")
    _entitle(axes, "15 partitions of 4 items")
    return drawing


def _heights_table() -> PageTable:
    """Scales of Figures 2 and 3: exact, so they must be the paper's."""
    rows = []
    for loss, printed in paper.LATTICE_HEIGHTS.items():
        heights = np.unique(hasse_diagram(4, loss=loss).heights.round(9)).tolist()
        pairs = zip(heights, printed, strict=True)
        cells = [f"{as_printed(h, text)} ({text})" for h, text in pairs]
        rows.append((paper.LOSS_TITLES[loss], *cells))
    shapes = ("{1,2,3,4}", "{1}{2,3,4}", "{1,2}{3,4}", "{1}{2}{3,4}", "{1}{2}{3}{4}")
    return PageTable("Distance from one cluster, ours (paper's)", ("", *shapes), tuple(rows))
