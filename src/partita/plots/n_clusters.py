"""The posterior of the number of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from partita._text import percent, words
from partita.credible.uncertainty import ClusterCounts, n_clusters_posterior
from partita.labels import DrawsLike
from partita.plots.canvas import headline, library, one_axes, plain, whole_ticks
from partita.plots.colours import OTHER, colour
from partita.summary.result import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def n_clusters(
    source: DrawsLike | ClusterCounts, *, prob: float = 0.95, ax: Axes | None = None
) -> Axes:
    """Posterior of the number of clusters, with its equal-tailed interval in colour.

    Parameters
    ----------
    source : Summary, ClusterCounts, Fit, Draws or anything as_draws accepts
    prob : float in (0, 1], default 0.95
        Probability of the interval.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import partita as pt
    >>> ax = pt.plots.n_clusters([[0, 0, 1], [0, 1, 2], [0, 1, 1], [0, 0, 0]])
    >>> [float(bar.get_height()) for bar in ax.patches]
    [0.25, 0.5, 0.25]
    """
    library("figure")
    counts = source.counts if isinstance(source, Summary) else source
    if not isinstance(counts, ClusterCounts):
        counts = n_clusters_posterior(counts)
    low, high = counts.interval(prob)
    axes = one_axes(ax, width=5.6, height=3.4)
    within = (counts.values >= low) & (counts.values <= high)
    axes.bar(
        counts.values,
        counts.probabilities,
        width=0.86,
        color=np.where(within, colour(0), OTHER).tolist(),
    )
    axes.set_xlim(counts.values[0] - 0.9, counts.values[-1] + 0.9)
    axes.set_xlabel("number of clusters")
    axes.set_ylabel(words(counts.kind).posterior_probability)
    whole_ticks(axes, "x", most=14)
    plain(axes)
    note = f"mode {counts.mode}, mean {counts.mean:.3g}, {percent(prob)} in {low} to {high}"
    if isinstance(source, Summary):
        note += f"; the estimate has {source.n_clusters}"
    headline(axes, "Number of clusters", note)
    return axes
