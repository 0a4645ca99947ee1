"""How many clusters: the loss of the best partition for each number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from partita._vocabulary import words
from partita.errors import InvalidInputError
from partita.plots.canvas import INK, headline, library, one_axes, plain, whole_ticks, with_unit
from partita.plots.palette import OTHER, colour
from partita.search.curve_result import ClustersCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def clusters_curve(source: ClustersCurve, *, ax: Axes | None = None) -> Axes:
    """Expected loss of the best partition for each number of clusters, the plateau shaded.

    Bars are the Monte Carlo standard error of the excess over the estimate,
    which is ringed.

    Parameters
    ----------
    source : ClustersCurve
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1, 2]] * 9 + [[0, 0, 1, 1, 1]] * 8
    >>> ax = pt.plots.clusters_curve(pt.clusters_curve(draws, k=range(1, 5)))
    >>> ax.get_title(loc="left")
    '2 to 3 clusters are as good within Monte Carlo error'
    """
    library("figure")
    if not isinstance(source, ClustersCurve):
        raise InvalidInputError(
            f"got {type(source).__name__}; expected a ClustersCurve. "
            "partita.clusters_curve(draws) makes one.",
            argument="source",
        )
    axes = one_axes(ax, width=5.6, height=3.4)
    plateau = source.plateau
    for k in plateau.tolist():
        axes.axvspan(k - 0.5, k + 0.5, color=OTHER, alpha=0.35, linewidth=0.0)
    axes.errorbar(
        source.k,
        source.expected_loss,
        yerr=np.nan_to_num(source.standard_error),
        color=colour(0),
        marker="o",
        markersize=4.5,
        linewidth=1.4,
        capsize=2.5,
    )
    best = np.flatnonzero(source.k == int(source.estimate.max()) + 1)
    axes.plot(
        source.k[best],
        source.expected_loss[best],
        marker="o",
        markersize=11.0,
        markerfacecolor="none",
        markeredgecolor=INK,
        linestyle="none",
    )
    axes.set_xlim(float(source.k[0]) - 0.6, float(source.k[-1]) + 0.6)
    said = words(source.kind)
    axes.set_xlabel("clusters")
    axes.set_ylabel(with_unit(f"{said.expected} {source.loss.title}", source.loss.unit))
    whole_ticks(axes, "x", most=12)
    plain(axes)
    shaded = "shaded: as good as the best" if plateau.size else ""
    ringed = "ringed: the estimate" if best.size else ""
    note = "; ".join(filter(None, (ringed, shaded, f"bars: {said.error}")))
    sentence = source.sentence
    headline(axes, sentence[0].upper() + sentence[1:], note)
    return axes
