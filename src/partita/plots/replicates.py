"""Data beside data as the fitted model would make them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._validate import Rng
from partita.kernels.arrays import Floats
from partita.plots.canvas import INK, NORMAL, library, many_axes, plain
from partita.plots.colours import colour
from partita.plots.inputs import as_fit
from partita.samplers.fit import Fit
from partita.samplers.product import Product

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DISCRETE = ("BetaBernoulli", "DirichletCategorical", "GammaPoisson")
"""Kernels whose columns are shown as shares of their values."""

_GREY = "#9a9a9a"


def replicates(
    fit: Fit,
    *,
    n: int = 20,
    rng: Rng | None = None,
    axes: Sequence[Axes] | NDArray[Any] | None = None,
) -> NDArray[Any]:
    """The data against replicates from the fitted model: does the kernel describe them?

    One panel per column: the density of a column of numbers (a histogram drawn as a line), the
    shares of the values of a column of counts or categories, the data dark and each replicate
    grey. Two columns of numbers get two more panels: the data's points, and those of one
    replicate. Where the dark line leaves the grey ones, the model is wrong there.

    Parameters
    ----------
    fit : Fit
    n : int
        Replicates to draw.
    rng : int, SeedSequence or Generator, optional
        By default 0.
    axes : sequence of Axes, one per panel, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ndarray of Axes

    Examples
    --------
    >>> import partita as pt
    >>> fit = pt.sample(pt.datasets.galaxies(), draws=100, burn_in=50, chains=1, rng=0)
    >>> axes = pt.plots.replicates(fit, n=10)
    >>> len(axes[0].lines)
    11
    """
    library("figure")
    made = as_fit(fit).replicate(n, rng=rng)
    numbers = [c for c in range(fit.values.shape[1]) if _kind(fit, c) not in _DISCRETE]
    plane = numbers if fit.values.shape[1] == 2 == len(numbers) else []
    panels = fit.values.shape[1] + len(plane)
    drawn = many_axes(axes, panels, columns=min(2, panels), width=3.4, height=2.4, sharex=False)
    for c, name in enumerate(fit.columns):
        discrete = _kind(fit, c) in _DISCRETE
        _column(drawn[c], fit.values[:, c], made[:, :, c], discrete=discrete)
        drawn[c].set_title(name, loc="left", fontsize=NORMAL, color=INK)
    if plane:
        _points(drawn[2:], fit, made[0])
    for ax in drawn:
        plain(ax)
    return drawn


def _kind(fit: Fit, column: int) -> str:
    kernel = fit.kernel
    return kernel.part_of(column)[0].kind if isinstance(kernel, Product) else kernel.kind


def _column(ax: Axes, data: Floats, made: Floats, *, discrete: bool) -> None:
    data = data[np.isfinite(data)]
    everything = np.concatenate([data, made.ravel()])
    if discrete:
        x = places = np.unique(everything)
    else:
        low, high = np.quantile(everything, [0.002, 0.998])
        places = np.linspace(min(low, data.min()), max(high, data.max()), 31)
        x = (places[1:] + places[:-1]) / 2
    height = _shares if discrete else _density
    for rows in made:
        ax.plot(x, height(rows, places), color=_GREY, linewidth=0.6, alpha=0.6)
    marker = "o" if discrete else None
    ax.plot(x, height(data, places), color=INK, linewidth=1.4, marker=marker, markersize=3)
    ax.set_ylabel("share" if discrete else "density")


def _shares(rows: Floats, values: Floats) -> Floats:
    return np.asarray((rows[:, None] == values).mean(axis=0))


def _density(rows: Floats, edges: Floats) -> Floats:
    """Share of all rows per unit, those outside the edges included in the total."""
    counts, _ = np.histogram(rows, edges)
    return np.asarray(counts / (rows.size * np.diff(edges)))


def _points(axes: NDArray[Any], fit: Fit, made: Floats) -> None:
    for ax, rows, title in ((axes[0], fit.values, "data"), (axes[1], made, "a replicate")):
        ax.scatter(rows[:, 0], rows[:, 1], s=6, color=INK if title == "data" else colour(0))
        ax.set_title(title, loc="left", fontsize=NORMAL, color=INK)
        ax.set_xlabel(fit.columns[0])
        ax.set_ylabel(fit.columns[1])
    whole = np.concatenate([fit.values[np.isfinite(fit.values).all(axis=1)], made])
    edge = 0.04 * np.ptp(whole, axis=0)
    low, high = whole.min(axis=0) - edge, whole.max(axis=0) + edge
    for ax in axes:
        ax.set_xlim(low[0], high[0])
        ax.set_ylim(low[1], high[1])
