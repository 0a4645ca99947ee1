"""Traces of label-invariant functionals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._text import counted
from partita.labels import DrawsLike, LabelsLike
from partita.plots.canvas import INK, NORMAL, library, many_axes, plain
from partita.plots.colours import colour
from partita.plots.functional_table import prepare_functionals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_POINTS = 2_000
"""Points of a line: more than a page can show."""


def traces(
    source: DrawsLike,
    *,
    estimate: LabelsLike | None = None,
    names: Sequence[str] | None = None,
    axes: Sequence[Axes] | NDArray[Any] | None = None,
    n_jobs: int | None = None,
) -> NDArray[Any]:
    """Traces of quantities that do not depend on labels, one colour per chain.

    Number of clusters, entropy, size of the largest cluster, VI to the
    estimate, and for sampler output concentration and log posterior: chains
    that have converged look alike, and like noise without a trend. Of long
    chains the extremes of runs of draws are drawn.

    Parameters
    ----------
    source : Fit, Summary, Draws or anything as_draws accepts
    estimate : array_like, shape (n_items,), or an estimate, optional
        Adds the VI distance to it; by default that of a summary.
    names : sequence of str, optional
        Which functionals, as named by :func:`diagnose`; all by default.
    axes : sequence of Axes, one per functional, optional
        Where to draw; a new figure by default.
    n_jobs : int, optional
        Threads; every core by default.

    Returns
    -------
    ndarray of Axes, shape (n_functionals,)

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> labels = np.random.default_rng(0).integers(0, 3, size=(200, 12))
    >>> draws = pt.Draws(labels, chain=np.repeat([0, 1], 100))
    >>> axes = pt.plots.traces(draws, names=["entropy"])
    >>> len(axes[0].lines)
    2
    """
    library("figure")
    found = prepare_functionals(source, estimate, names, n_jobs)
    drawn = many_axes(axes, len(found), columns=1, width=7.0, height=1.45, sharex=True)
    for ax, functional in zip(drawn, found, strict=True):
        for c, values in enumerate(functional.chains):
            x, y = extremes(values, _MOST_POINTS)
            ax.plot(x, y, color=colour(c), linewidth=0.7, alpha=0.85)
        ax.margins(x=0.01)
        ax.set_title(functional.title, loc="left", fontsize=NORMAL, color=INK)
        plain(ax)
    chains = counted(len(found[0].chains), "chain")
    drawn[-1].set_xlabel(f"draw ({chains})")
    return drawn


def extremes(
    values: NDArray[np.float64], most: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Positions and values of at most so many points that keep every peak.

    The smallest and the largest value of each run of draws, in their order.
    """
    n = values.size
    if n <= most:
        return np.arange(n), values
    runs = np.array_split(np.arange(n), most // 2)
    ends = [run[0] + np.array([values[run].argmin(), values[run].argmax()]) for run in runs]
    places = np.unique(ends)
    return places, values[places]
