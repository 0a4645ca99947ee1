"""The best clustering for each number of clusters, and how long modes persist."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from partita._text import counted, with_unit, words
from partita.plots._style import (
    GREY,
    OTHER,
    SMALL,
    colour,
    headline,
    library,
    of_kind,
    one_axes,
    plain,
    points_with_errors,
    whole_ticks,
)
from partita.representative.modes import STANDS_OUT, Modes
from partita.search.clusters_curve import STANDARD_ERRORS, ClustersCurve

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
    shaded = "shaded: ties with the best" if plateau.size else ""
    errors = said.error.replace("error", "errors")
    ringed = "ringed: the estimate" if best.size else ""
    note = "; ".join(filter(None, (ringed, shaded, f"bars: two {errors}")))
    headline(axes, source.headline, note)
    return axes


MOST_PEAKS = 20
"""Peaks shown for each rate, the most persistent ones."""


def persistence(source: Modes, *, ax: Axes | None = None) -> Axes:
    """How far every peak stands above its valley, at each rate of the kernel.

    A point is a peak: filled where it counts as a mode (persistence of at
    least one half, with at least five draws around it), open where it does
    not. A dashed line marks the rate whose regions are reported.

    Parameters
    ----------
    source : Modes
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import partita as pt
    >>> found = pt.modes([[0, 0, 1, 1]] * 20 + [[0, 1, 0, 1]] * 10 + [[0, 0, 1, 2]] * 3)
    >>> pt.plots.persistence(found).get_xlabel()
    'rate'
    """
    library("figure")
    of_kind(source, Modes, "Modes. partita.modes(draws) makes them.")
    axes = one_axes(ax, width=5.0, height=3.4)
    shift = 0.02 * np.log(source.rates[-1] / source.rates[0])
    for rate, peaks, modes in zip(source.rates, source.peaks, source.stands_out, strict=True):
        order = np.argsort(-peaks.persistence, kind="stable")[:MOST_PEAKS]
        stands = modes[order]
        # Peaks of the same height side by side: most modes stand at 1.
        heights = np.round(peaks.persistence[order], 2)
        beside = np.array([(heights[:i] == h).sum() for i, h in enumerate(heights)])
        x = rate * np.exp(shift * beside)
        for mode in (False, True):
            axes.scatter(
                x[stands == mode],
                peaks.persistence[order][stands == mode],
                s=30.0,
                facecolor=colour(0) if mode else "none",
                edgecolor=colour(0) if mode else GREY,
                linewidth=1.0,
                zorder=3,
                label="mode" if mode else "other peak",
            )
    handles, names = axes.get_legend_handles_labels()
    shown = dict(zip(names, handles, strict=True))
    axes.legend(shown.values(), shown.keys(), fontsize=SMALL, frameon=False, loc="lower right")
    axes.axhline(STANDS_OUT, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)))
    axes.axvline(source.rate, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
    axes.set_xscale("log")
    axes.set_xticks(source.rates[::2], [f"{r:.2g}" for r in source.rates[::2]])
    axes.minorticks_off()
    axes.set_ylim(-0.05, 1.08)
    axes.set_xlabel("rate")
    axes.set_ylabel("persistence")
    plain(axes)
    number = counted(source.n, "mode")
    note = "closeness exp(−rate · distance)\ndashed: the rate whose regions are reported"
    headline(axes, f"{number} of the {words(source.draws.kind).source}", note)
    return axes
