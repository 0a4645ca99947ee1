"""One page of four panels, and its histograms: numbers of clusters, distances to the estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._text import in_unit, percent, with_unit, words
from partita.credible.ball import Ball
from partita.credible.uncertainty import ClusterCounts, n_clusters_posterior
from partita.labels import DrawsLike
from partita.plots._items import items
from partita.plots._on_data import estimate
from partita.plots._similarity import similarity
from partita.plots._style import (
    GREY,
    INK,
    OTHER,
    any_ball_of,
    colour,
    headline,
    library,
    many_axes,
    of_kind,
    one_axes,
    plain,
    remark,
    whole_ticks,
)
from partita.summary.result import AnySummary, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partita.samplers.fit import Fit


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


_MOST_BINS = 60


@dataclass(frozen=True, eq=False)
class DistanceHistogram:
    """Posterior probability of distances from the estimate.

    Attributes
    ----------
    edges : ndarray of float, shape (n_bins + 1,)
    inside, outside : ndarray of float, shape (n_bins,)
        Probability in each bin of draws inside and outside the ball.
    radius, mean : float
        The radius, and the mean distance: the expected loss of the estimate.
    """

    edges: NDArray[np.float64]
    inside: NDArray[np.float64]
    outside: NDArray[np.float64]
    radius: float
    mean: float


def prepare_distances(ball: Ball) -> DistanceHistogram:
    """Bins of equal width from 0 to the largest distance, by the Freedman-Diaconis rule."""
    weights, far = ball.draws.probabilities, float(ball.distances.max())
    quartiles = np.quantile(ball.distances, [0.25, 0.75])
    width = 2.0 * float(np.diff(quartiles)[0]) / ball.distances.size ** (1.0 / 3.0)
    bins = _MOST_BINS if width == 0.0 else int(np.clip(np.ceil(far / width), 5, _MOST_BINS))
    edges = np.linspace(0.0, far if far > 0.0 else 1.0, bins + 1)
    inside, outside = (
        np.histogram(ball.distances[mask], bins=edges, weights=weights[mask])[0]
        for mask in (ball.inside, ~ball.inside)
    )
    mean = float(ball.distances @ weights)
    return DistanceHistogram(edges, inside, outside, ball.radius, mean)


def distances(source: AnySummary | Ball, *, ax: Axes | None = None) -> Axes:
    """Histogram of the draws' distances from the estimate of a credible ball, radius marked.

    Parameters
    ----------
    source : Summary or CredibleBall
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 2, 3]]
    >>> ax = pt.plots.distances(pt.credible_ball(draws, [0, 0, 1, 1]))
    >>> ax.get_xlabel()
    'variation of information to the estimate (bits)'
    """
    library("figure")
    ball = any_ball_of(source)
    found = prepare_distances(ball)
    axes = one_axes(ax, width=5.6, height=3.4)
    width = float(found.edges[1])
    left = found.edges[:-1]
    line: dict[str, Any] = {"width": width, "align": "edge", "edgecolor": "white", "linewidth": 0.4}
    axes.bar(left, found.inside, color=colour(0), label="inside", **line)
    axes.bar(left, found.outside, bottom=found.inside, color=OTHER, label="outside", **line)
    axes.axvline(found.radius, color=INK, linewidth=1.2)
    low, high = axes.get_xlim()
    late = found.radius > (low + high) / 2
    axes.set_ylim(0.0, 1.15 * float((found.inside + found.outside).max()))  # room for the radius
    remark(
        axes,
        f"{percent(ball.prob)} radius {found.radius:.3g}",
        (found.radius, 1.0),
        (-4.0 if late else 4.0, -1.0),
        xycoords=("data", "axes fraction"),
        ha="right" if late else "left",
        va="top",
        color=INK,
    )
    axes.set_xlabel(with_unit(f"{ball.loss.title} to the estimate", ball.loss.unit))
    said = words(ball.draws.kind)
    axes.set_ylabel(said.posterior_probability)
    plain(axes)
    headline(
        axes,
        f"Distance of the {said.draws} from the estimate",
        f"coverage {ball.coverage:.4g}, {int(ball.inside.sum()):,} of {ball.draws.n_draws:,} "
        f"{said.draws} inside; mean distance "
        f"{in_unit(f'{found.mean:.3g}', ball.loss.unit)}",
    )
    axes.spines["left"].set_color(GREY)
    return axes


def overview(
    summary: Summary,
    *,
    fit: Fit | None = None,
    axes: Sequence[Axes] | NDArray[Any] | None = None,
    n_jobs: int | None = None,
) -> NDArray[Any]:
    """Draw a summary as one page of four panels.

    The estimate on the data (without data, the least certain items), the
    similarity matrix, the posterior of the number of clusters, and the
    distances of the draws to the estimate with the credible ball.

    Parameters
    ----------
    summary : Summary
        Made by :func:`partita.summarize`.
    fit : Fit, optional
        The fit the draws came from, for its density behind one-dimensional data.
    axes : four matplotlib Axes, optional
        Where to draw; a new figure by default.
    n_jobs : int, optional
        Threads, every core by default.

    Returns
    -------
    ndarray of Axes, shape (4,)

    Notes
    -----
    The cost is that of the similarity matrix, O(M N²), which above a size is
    aggregated.

    Examples
    --------
    >>> import partita as pt
    >>> summary = pt.summarize([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]] * 10)
    >>> panels = pt.plots.overview(summary)
    >>> len(panels)
    4
    """
    library("figure")
    of_kind(summary, Summary, "a Summary. partita.summarize(draws) makes one.", "summary")
    panels = many_axes(axes, 4, columns=2, width=5.2, height=4.2)
    if summary.data is not None:
        estimate(summary, fit=fit, n_jobs=n_jobs, ax=panels[0])
    else:
        items(summary, n=12, ax=panels[0])
    similarity(summary, n_jobs=n_jobs, ax=panels[1])
    n_clusters(summary, ax=panels[2])
    distances(summary, ax=panels[3])
    return panels
