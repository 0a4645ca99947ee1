"""The credible ball: its centre and its bounds side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._text import brief, counted, in_unit, percent
from partita.credible.ball import CredibleBall
from partita.labels import DataLike, Labels
from partita.plots.canvas import GREY, INK, NORMAL, SMALL, library, many_axes
from partita.plots.colours import colour_indices
from partita.plots.inputs import ball_of, fit_for, observations_of
from partita.plots.on_data import prepare_curve, prepare_shapes, prepare_view
from partita.plots.partition_panel import draw_cross_table, draw_partition, shapes_note
from partita.samplers.fit import Fit
from partita.summary.result import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Panel:
    """One partition of a ball: its title, labels, and the colour index of each cluster."""

    title: str
    labels: Labels
    indices: NDArray[np.int64]


def ball(
    source: Summary | CredibleBall,
    *,
    data: DataLike | None = None,
    fit: Fit | None = None,
    dims: Sequence[int | str] | None = None,
    density: tuple[ArrayLike, ArrayLike] | None = None,
    ellipses: bool | None = None,
    axes: Sequence[Axes] | NDArray[Any] | None = None,
    n_jobs: int | None = None,
) -> NDArray[Any]:
    """Centre, horizontal, upper vertical and lower vertical bound of a credible ball.

    Clusters keep their colours from panel to panel: those of a bound are
    matched with those of the estimate so that as many items as possible keep
    theirs. Titles give the number of clusters and the distance from the
    estimate. Of several bounds that tie the first is shown, and their number
    said. Without data each panel shows the estimate's clusters as bars, divided
    by the clusters of the bound: the cross table as a picture.

    Parameters
    ----------
    source : Summary or CredibleBall
    data, fit, dims, density, ellipses, n_jobs
        As in :func:`estimate`.
    axes : four Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ndarray of Axes, shape (4,)

    References
    ----------
    Wade and Ghahramani (2018), section 5, Figures 6, 7, 9 and 10.

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 2, 3]]
    >>> panels = pt.plots.ball(pt.credible_ball(draws, [0, 0, 1, 1], prob=0.75))
    >>> print(panels[3].get_title(loc="left"))
    Lower vertical bound
    4 clusters at 1.00 bits
    """
    library("figure")
    found = ball_of(source)
    panels = prepare_ball(found)
    n_items = found.center.size
    model = fit_for(fit, n_items)
    observations = observations_of(source, data, model, n_items)
    drawn = many_axes(axes, len(panels), columns=4, width=3.1, height=3.2, sharey=True, sharex=True)
    note = "colours follow the clusters of the estimate"
    if observations is None:
        for ax, panel in zip(drawn, panels, strict=True):
            draw_cross_table(ax, found.center, panel.labels, panel.indices)
    else:
        view = prepare_view(observations, dims)
        one = len(view.names) == 1
        curve = prepare_curve(view, model, density, n_jobs=n_jobs) if one else None
        lowest = []
        for ax, panel in zip(drawn, panels, strict=True):
            shapes = prepare_shapes(panel.labels, view, observations, model, ellipses)
            draw_partition(ax, panel.labels, panel.indices, view, shapes, curve)
            lowest.append(ax.get_ylim()[0])
        note = "; ".join(filter(None, (note, shapes_note(shapes, len(view.names)))))
        if one:  # the panel with the most bars sets the room below the density
            for ax in drawn:
                ax.set_ylim(bottom=min(lowest))
    for ax, panel in zip(drawn, panels, strict=True):
        ax.set_title(panel.title, loc="left", fontsize=NORMAL, color=INK)
        if ax is not drawn[0]:
            ax.set_ylabel("")
    if axes is None:
        drawn[0].figure.supxlabel(note, fontsize=SMALL, color=GREY)
    return drawn


def prepare_ball(found: CredibleBall) -> tuple[Panel, ...]:
    """The four panels, with colours matched to the centre."""
    bounds = {
        "Horizontal bound": found.horizontal,
        "Upper vertical bound": found.upper,
        "Lower vertical bound": found.lower,
    }
    partitions = [found.center, *(bound.labels[0] for bound in bounds.values())]
    indices = colour_indices(partitions)
    titles = [
        f"Estimate: {counted(int(found.center.max()) + 1, 'cluster')}\n"
        f"{percent(found.prob)} ball of radius {in_unit(brief(found.radius), found.loss.unit)}"
    ]
    for name, bound in bounds.items():
        clusters = counted(int(bound.n_clusters[0]), "cluster")
        ties = f" (first of {len(bound):,})" if len(bound) > 1 else ""
        far = in_unit(brief(bound.distance), found.loss.unit)
        titles.append(f"{name}{ties}\n{clusters} at {far}")
    return tuple(
        Panel(title, labels, index)
        for title, labels, index in zip(titles, partitions, indices, strict=True)
    )
