"""A partition on the data it is about: coordinates, cluster shapes and a density.

Needs no drawing library.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._validate import flag, unexpected
from partita.errors import InvalidDataError, InvalidInputError
from partita.kernels.arrays import Floats
from partita.labels import Labels
from partita.plots.mixed_view import mixed_axes, signs
from partita.samplers.fit import Fit
from partita.summary.observations import Observations

_GRID = 256


@dataclass(frozen=True, eq=False)
class View:
    """Where the items stand in one or two dimensions.

    Attributes
    ----------
    points : ndarray of float, shape (n_items, 1 or 2)
    names : tuple of str
        One per coordinate; principal components say their share of the variance.
    columns : tuple of int
        Columns of the data that the coordinates are made of.
    origin : ndarray of float, shape (n_columns,)
    directions : ndarray of float, shape (n_columns, 1 or 2)
        ``points = (data[:, columns] − origin) @ directions``; empty for mixed data.
    is_own : bool
        Whether the coordinates are columns of numbers as they are.
    """

    points: Floats
    names: tuple[str, ...]
    columns: tuple[int, ...]
    origin: Floats
    directions: Floats
    is_own: bool


@dataclass(frozen=True, eq=False)
class ClusterShapes:
    """Mean and covariance of each cluster in the coordinates of a view.

    Attributes
    ----------
    means : ndarray of float, shape (n_clusters, d)
    covariances : ndarray of float, shape (n_clusters, d, d)
        NaN where unknown: fewer than d + 1 items and no model.
    source : {"posterior", "sample"}
        Posterior means of the parameters from a fit, or moments of the items.
    """

    means: Floats
    covariances: Floats
    source: str


@dataclass(frozen=True, eq=False)
class Curve:
    """A density in one dimension: grid and values, the values at the items, and its name."""

    grid: Floats
    values: Floats
    at_items: Floats
    name: str


def prepare_view(observations: Observations, dims: Sequence[int | str] | None) -> View:
    """The columns asked for; else one or two columns as they are, more as principal components.

    Columns are scaled to unit variance before principal components are taken,
    for they may have different units. With categories among them the axes are
    those of :func:`mixed_axes`: codes of levels have no order.
    """
    table = observations.values
    columns = _columns(observations, dims)
    used = table[:, columns]
    categories = [at for at, column in enumerate(columns) if column in observations.categories]
    if categories and dims is None:
        nothing = np.empty((0, 2))
        return View(*mixed_axes(used, categories), columns, nothing[:, 0], nothing, is_own=False)
    if not np.isfinite(used).all():
        bad = [observations.titles[j] for j in columns if not np.isfinite(table[:, j]).all()]
        raise InvalidDataError(
            f"column(s) {', '.join(bad[:5])} hold values that are missing or infinite, which have "
            "no place in a figure. Choose other columns with dims=(first, second)."
        )
    names = tuple(observations.titles[j] for j in columns)
    if len(columns) <= 2:
        identity = np.eye(len(columns))
        return View(used, names, columns, np.zeros(len(columns)), identity, not categories)
    origin = used.mean(axis=0)
    scale = used.std(axis=0)
    scale[scale == 0.0] = 1.0
    _, singular, axes = np.linalg.svd((used - origin) / scale, full_matrices=False)
    directions = (axes[:2] * signs(axes[:2])[:, None]).T / scale[:, None]
    share = singular[:2] ** 2 / max(float((singular**2).sum()), 1e-300)
    titles = tuple(f"PC {j + 1} ({100 * s:.0f}% of variance)" for j, s in enumerate(share.tolist()))
    return View((used - origin) @ directions, titles, columns, origin, directions, is_own=False)


def prepare_shapes(
    labels: Labels,
    view: View,
    observations: Observations,
    fit: Fit | None,
    wanted: bool | None = None,
) -> ClusterShapes | None:
    """Posterior means of each cluster's mean and covariance, or moments of its items.

    None where not wanted; without a wish, where the coordinates are none of the
    data's own, on which an ellipse would show the projection and no cluster.
    """
    if wanted is not None:
        flag(wanted, "ellipses")
    if not (view.is_own if wanted is None else wanted):
        return None
    found = None
    if fit is not None and len(fit.columns) == len(observations.titles) and view.directions.size:
        found = _from_fit(labels, view, fit)
    return _from_items(labels, view) if found is None else found


def prepare_curve(
    view: View, fit: Fit | None, density: tuple[Any, Any] | None, *, n_jobs: int | None = None
) -> Curve:
    """The density given, else the posterior predictive one of the fit, else a kernel estimate."""
    x = view.points[:, 0]
    if density is not None:
        grid, values = _given(density)
        return Curve(grid, values, np.interp(x, grid, values), "density")
    low, high = float(x.min()), float(x.max())
    room = 0.15 * (high - low) or 1.0
    even = np.linspace(low - room, high + room, _GRID + 1)
    grid = np.union1d(even, np.quantile(x, np.linspace(0.0, 1.0, _GRID)))
    if fit is not None and len(fit.columns) == 1:
        values = fit.density(grid, n_jobs=n_jobs).mean
        return Curve(grid, values, np.interp(x, grid, values), "posterior predictive density")
    values = _kernel_estimate(x, grid)
    return Curve(grid, values, np.interp(x, grid, values), "kernel density estimate")


def packed_rows(starts: Floats, ends: Floats) -> NDArray[np.int64]:
    """Row of each interval so that none touches another of its row; few rows, from the left."""
    rows = np.empty(starts.size, np.int64)
    last: list[float] = []
    for i in np.argsort(starts, kind="stable").tolist():
        free = [r for r, end in enumerate(last) if end < starts[i]]
        if free:
            rows[i] = free[0]
            last[free[0]] = float(ends[i])
        else:
            rows[i] = len(last)
            last.append(float(ends[i]))
    return rows


def _columns(observations: Observations, dims: Sequence[int | str] | None) -> tuple[int, ...]:
    count = len(observations.titles)
    if dims is None:
        return tuple(range(count))
    columns = [dims] if isinstance(dims, (int, str)) or not isinstance(dims, Iterable) else dims
    found = []
    for column in columns:
        position = column
        if isinstance(column, str) and column in observations.titles:
            position = observations.titles.index(column)
        if not isinstance(position, (int, np.integer)) or not -count <= position < count:
            known = ", ".join(observations.titles[:12])
            raise InvalidInputError(
                f"dims={dims!r}: there is no column {column!r}; expected positions 0 to "
                f"{count - 1} or names ({known}).",
                argument="dims",
            )
        found.append(int(position) % count)
    if len(found) not in (1, 2) or len(set(found)) != len(found):
        raise unexpected(dims, "dims", "one column or two different ones")
    return tuple(found)


def _from_items(labels: Labels, view: View) -> ClusterShapes:
    count, d = int(labels.max()) + 1, view.points.shape[1]
    means = np.empty((count, d))
    covariances = np.full((count, d, d), np.nan)
    for k in range(count):
        members = view.points[labels == k]
        means[k] = members.mean(axis=0)
        if len(members) > d:
            covariances[k] = np.cov(members.T, ddof=1).reshape(d, d)
    return ClusterShapes(means, covariances, "sample")


def _from_fit(labels: Labels, view: View, fit: Fit) -> ClusterShapes | None:
    """None when the kernel has no mean and variance for one of the columns."""
    parameters = fit.cluster_parameters(labels).parameters
    if "mean" not in parameters:
        return None
    known = parameters["mean"].columns
    names = [fit.columns[j] for j in view.columns]
    if not set(names) <= set(known):
        return None
    at = [known.index(name) for name in names]
    means = (parameters["mean"].mean[:, at] - view.origin) @ view.directions
    if "covariance" in parameters:
        inner = parameters["covariance"].mean[:, at][:, :, at]
    else:
        variance = parameters["variance"].mean[:, at]
        inner = variance[:, :, None] * np.eye(len(at))
    with np.errstate(invalid="ignore"):  # no variance has an infinite mean times zero
        covariances = np.einsum("ia,kij,jb->kab", view.directions, inner, view.directions)
    covariances[~np.isfinite(inner).all(axis=(1, 2))] = np.nan
    return ClusterShapes(means, covariances, "posterior")


def _given(density: tuple[Any, Any]) -> tuple[Floats, Floats]:
    try:
        grid, values = (np.asarray(part, np.float64).reshape(-1) for part in density)
    except (TypeError, ValueError):
        raise InvalidInputError(
            "density must be a pair (grid, values) of numbers.", argument="density"
        ) from None
    if grid.size != values.size or grid.size < 2 or not np.isfinite([grid, values]).all():
        raise InvalidInputError(
            f"density has {grid.size} grid points and {values.size} values; expected equally many "
            "finite numbers, at least two.",
            argument="density",
        )
    order = np.argsort(grid, kind="stable")
    return grid[order], values[order]


def _kernel_estimate(x: Floats, grid: Floats) -> Floats:
    """Gaussian kernels with Silverman's robust bandwidth."""
    quartiles = np.quantile(x, [0.25, 0.75])
    spreads = [s for s in (float(x.std()), float(np.diff(quartiles)[0]) / 1.34) if s > 0.0]
    width = 0.9 * min(spreads, default=1.0) * x.size**-0.2
    values = np.zeros(grid.size)
    for block in np.array_split(x, -(-x.size // 4_096)):
        values += np.exp(-0.5 * ((grid[:, None] - block[None, :]) / width) ** 2).sum(axis=1)
    return np.asarray(values / (x.size * width * np.sqrt(2.0 * np.pi)))
