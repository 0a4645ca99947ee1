"""How many clusters: the loss of the best partition for each number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from partita._text import with_unit, words
from partita.plots.canvas import headline, library, one_axes, plain, points_with_errors, whole_ticks
from partita.plots.colours import OTHER
from partita.plots.inputs import of_kind
from partita.search.curve_result import STANDARD_ERRORS, ClustersCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def clusters_curve(source: ClustersCurve, *, ax: Axes | None = None) -> Axes:
    """Expected loss of the best partition for each number of clusters, the plateau shaded.

    Bars are two Monte Carlo standard errors of the excess over the estimate,
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
    '2 to 3 clusters are within two standard errors of the best'
    """
    library("figure")
    of_kind(source, ClustersCurve, "a ClustersCurve. partita.clusters_curve(draws) makes one.")
    axes = one_axes(ax, width=5.6, height=3.4)
    plateau = source.plateau
    for k in plateau.tolist():
        axes.axvspan(k - 0.5, k + 0.5, color=OTHER, alpha=0.35, linewidth=0.0)
    best = np.flatnonzero(source.k == int(source.estimate.max()) + 1)
    error = STANDARD_ERRORS * np.nan_to_num(source.standard_error)
    points_with_errors(axes, source.k, source.expected_loss, error, best)
    axes.set_xlim(float(source.k[0]) - 0.6, float(source.k[-1]) + 0.6)
    said = words(source.kind)
    axes.set_xlabel("clusters")
    axes.set_ylabel(with_unit(f"{said.expected} {source.loss.title}", source.loss.unit))
    whole_ticks(axes, "x", most=12)
    plain(axes)
    shaded = "shaded: not told from the best" if plateau.size else ""
    errors = said.error.replace("error", "errors")
    ringed = "ringed: the estimate" if best.size else ""
    note = "; ".join(filter(None, (ringed, shaded, f"bars: two {errors}")))
    headline(axes, source.headline, note)
    return axes
