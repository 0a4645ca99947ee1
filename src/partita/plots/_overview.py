"""One page of four panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from partita.plots._histograms import distances, n_clusters
from partita.plots._items import items
from partita.plots._on_data import estimate
from partita.plots._similarity import similarity
from partita.plots._style import library, many_axes, of_kind
from partita.summary.result import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partita.samplers.fit import Fit


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
