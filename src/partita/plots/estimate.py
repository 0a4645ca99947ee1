"""The estimate on the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from partita._text import counted
from partita.errors import InvalidInputError
from partita.labels import DataLike, LabelsLike, as_labels, by_size
from partita.plots.canvas import cluster_legend, headline, library, one_axes
from partita.plots.colours import colour_indices
from partita.plots.inputs import fit_for, observations_of
from partita.plots.on_data import prepare_curve, prepare_shapes, prepare_view
from partita.plots.partition_panel import draw_partition, shapes_note
from partita.samplers.fit import Fit
from partita.search.result import PointEstimate
from partita.summary.result import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def estimate(
    source: LabelsLike,
    *,
    data: DataLike | None = None,
    fit: Fit | None = None,
    dims: Sequence[int | str] | None = None,
    density: tuple[ArrayLike, ArrayLike] | None = None,
    ellipses: bool | None = None,
    ax: Axes | None = None,
    n_jobs: int | None = None,
) -> Axes:
    """The data coloured by the clusters of an estimate.

    One column: each value at its height under the density, with a star and a
    bar for each cluster below. Two columns: a scatter plot with a star and an
    ellipse for each cluster. More: the first two principal components of the
    scaled columns, with categories among them the first two axes of a factor
    analysis of mixed data (levels as scaled indicators, for codes have no
    order), or the pair chosen by ``dims``. Stars are means; bars and ellipses
    reach two standard deviations.

    Parameters
    ----------
    source : Summary, PointEstimate or array_like of labels, shape (n_items,)
    data : array_like, shape (n_items,) or (n_items, n_columns), optional
        By default the data of the summary or of the fit.
    fit : Fit, optional
        Sampler output. With it the density is the posterior predictive one,
        and stars, bars and ellipses show posterior means of the clusters' means
        and variances, as in the paper; without it a kernel density estimate
        and moments of the items.
    dims : sequence of one or two column positions or names, optional
    density : pair of array_like, (grid, values), optional
        Density of one-dimensional data, where another sampler gave it.
    ellipses : bool, optional
        Whether to draw the stars, bars and ellipses. By default where the coordinates are columns
        of the data, and not on principal or mixed axes.
    ax : Axes, optional
        Where to draw; a new figure by default.
    n_jobs : int, optional
        Threads for the density of a fit; every core by default.

    Returns
    -------
    Axes

    References
    ----------
    Wade and Ghahramani (2018), section 5, Figures 5 and 8.

    Examples
    --------
    >>> import partita as pt
    >>> velocities = pt.datasets.galaxies()
    >>> ax = pt.plots.estimate((velocities > 15) + (velocities > 30) * 1, data=velocities)
    >>> ax.get_ylabel()
    'kernel density estimate'
    """
    library("figure")
    labels = by_size(as_labels(source))
    model = fit_for(fit, labels.size)
    observations = observations_of(source, data, model, labels.size)
    if observations is None:
        raise InvalidInputError(
            "there are no data to show the estimate on. Pass data=..., or the sampler's output as "
            "fit=...; partita.plots.similarity and partita.plots.ball need no data.",
            argument="data",
        )
    view = prepare_view(observations, dims)
    shapes = prepare_shapes(labels, view, observations, model, ellipses)
    curve = prepare_curve(view, model, density, n_jobs=n_jobs) if len(view.names) == 1 else None
    indices = colour_indices([labels])[0]
    axes = one_axes(ax, width=6.4, height=4.4)
    draw_partition(axes, labels, indices, view, shapes, curve)
    sizes = np.bincount(labels).astype(np.int64)
    headline(axes, _title(source, sizes.size, labels.size), shapes_note(shapes, len(view.names)))
    cluster_legend(axes, indices, sizes)
    return axes


def _title(source: object, n_clusters: int, n_items: int) -> str:
    found = source.estimate if isinstance(source, Summary) else source
    what = f"{counted(n_clusters, 'cluster')} of {counted(n_items, 'item')}"
    return f"Estimate ({found.loss.title}): {what}" if isinstance(found, PointEstimate) else what
