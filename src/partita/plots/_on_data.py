"""Partitions drawn on the data: an estimate, and a credible ball with its bounds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from partita._validate import boolean, refuse_views, shown, unexpected
from partita._wording import brief, counted, in_unit, percent
from partita.credible.ball import CredibleBall
from partita.errors import InvalidDataError, InvalidInputError, about
from partita.kernels.arrays import Array, Floats, Ints
from partita.labels import DataLike, Labels, LabelsLike, as_labels, by_size, cross_table
from partita.plots import _style as style
from partita.samplers.fit import Fit
from partita.search.result import PointEstimate
from partita.summary.result import Summary
from partita.summary.summarize import Observations

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_FLAT = 1e-9
"""An axis so much shorter than the first is rounding: the data have fewer dimensions."""


def mixed_axes(values: Floats, categories: Collection[int]) -> tuple[Floats, tuple[str, str]]:
    """The first two axes of a factor analysis of mixed data (Pagès 2004), and their names.

    Numbers are standardised. Each level of a category is a column of its own,
    (indicator − p)/√p for a level of frequency p, so that a column of numbers
    counts 1 and a category its number of levels less 1, whatever its codes are.
    Values that are missing stand where the mean is.

    Parameters
    ----------
    values : ndarray of float, shape (n_items, n_columns)
        Codes in the columns of categories; NaN where missing.
    categories : collection of int
        Which columns are categories.
    """
    parts = [_scaled(column, j in categories) for j, column in enumerate(values.T)]
    table = np.concatenate(parts, axis=1)
    _, singular, axes = np.linalg.svd(table, full_matrices=False)
    points = np.zeros((len(values), 2))
    found = int((singular[:2] > _FLAT * max(float(singular.max(initial=0.0)), 1e-300)).sum())
    points[:, :found] = table @ (axes[:found] * signs(axes[:found])[:, None]).T
    share = np.zeros(2)
    share[:found] = singular[:found] ** 2 / max(float((singular**2).sum()), 1e-300)
    first, second = (f"axis {j + 1} ({100 * s:.0f}% of inertia)" for j, s in enumerate(share))
    return points, (first, second)


def signs(axes: Floats) -> Floats:
    """Signs that make the largest entry of each axis positive, so that figures do not flip."""
    if not axes.size:
        return np.ones(len(axes))
    largest = np.abs(axes).argmax(axis=1)
    return np.where(axes[np.arange(len(axes)), largest] < 0.0, -1.0, 1.0)


def _scaled(column: Floats, is_category: bool) -> Floats:
    """The column in standard units, or a column for each of its levels; 0 where missing."""
    known = np.isfinite(column)
    if is_category:
        hot = column[:, None] == np.unique(column[known])
        frequency = hot[known].mean(axis=0)
        scaled: Floats = np.where(known[:, None], hot - frequency, 0.0) / np.sqrt(frequency)
        return scaled
    spread = float(column[known].std()) if known.any() else 0.0
    if spread == 0.0:
        return np.zeros((column.size, 1))
    return np.where(known, (column - column[known].mean()) / spread, 0.0)[:, None]


_GRID = 256


class View(NamedTuple):
    """Where the items stand in one or two dimensions."""

    points: Floats
    """Shape (n_items, 1 or 2): ``(data[:, columns] − origin) @ directions``."""
    names: tuple[str, ...]
    """One per coordinate; principal components say their share of the variance."""
    columns: tuple[int, ...]
    """Columns of the data that the coordinates are made of."""
    origin: Floats
    directions: Floats
    """Shape (n_columns, 1 or 2); empty for mixed data."""
    is_own: bool
    """Whether the coordinates are columns of numbers as they are."""


class ClusterShapes(NamedTuple):
    """Mean and covariance of each cluster in the coordinates of a view."""

    means: Floats
    covariances: Floats
    """NaN where unknown: fewer than d + 1 items and no model."""
    source: str
    """"posterior", the means of the parameters of a fit, or "sample", moments of the items."""


class Curve(NamedTuple):
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
        boolean(wanted, "ellipses")
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
        grid, values = _user_density(density)
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


def packed_rows(starts: Floats, ends: Floats) -> Ints:
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
    columns: Any = [dims] if isinstance(dims, str) or not np.iterable(dims) else dims
    found = []
    for column in columns:
        position = column
        if isinstance(column, str) and column in observations.titles:
            position = observations.titles.index(column)
        if not isinstance(position, (int, np.integer)) or not -count <= position < count:
            known = ", ".join(observations.titles[:12])
            raise InvalidInputError(
                f"dims={shown(dims)}: there is no column {shown(column)}; expected positions 0 to "
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


@about("density")
def _user_density(density: tuple[Any, Any]) -> tuple[Floats, Floats]:
    try:
        refuse_views(density, "density")
        grid, values = (np.asarray(part, np.float64).reshape(-1) for part in density)
    except Exception:  # whatever an object of a user raises
        raise InvalidInputError(
            "density must be a pair (grid, values) of numbers.", argument="density"
        ) from None
    if grid.size != values.size or grid.size < 2 or not np.isfinite([grid, values]).all():
        raise InvalidInputError(
            f"density has {grid.size} grid points and {values.size} values; expected equally many "
            "finite numbers, at least two."
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


DEVIATIONS = 2.0
"""Standard deviations shown by bars and ellipses."""

_DEEPEST = 0.6
"""Most room for the bars below a density, as a fraction of its height."""


class Scene:
    """The data of the items, to draw partitions on: the same places in every panel."""

    def __init__(
        self,
        observations: Observations,
        fit: Fit | None,
        dims: Sequence[int | str] | None,
        density: tuple[Any, Any] | None,
        ellipses: bool | None,
        n_jobs: int | None,
    ) -> None:
        self.view = prepare_view(observations, dims)
        self.is_line = len(self.view.names) == 1
        self.curve = prepare_curve(self.view, fit, density, n_jobs=n_jobs) if self.is_line else None
        self.note = ""
        """The meaning of stars, bars and ellipses; empty if there are none."""
        self._of_shapes = observations, fit, ellipses

    @property
    def places(self) -> tuple[Floats, Floats]:
        """Where the items are drawn."""
        x = self.view.points[:, 0]
        return x, self.view.points[:, 1] if self.curve is None else self.curve.at_items

    def draw(self, ax: Axes, labels: Labels, indices: Ints) -> None:
        """Items in the colours of their clusters, with a star and a bar or ellipse for each."""
        shapes = prepare_shapes(labels, self.view, *self._of_shapes)
        if self.curve is not None:
            ax.plot(self.curve.grid, self.curve.values, color="#9A9A9A", linewidth=1.0, zorder=1)
        self._draw_items(ax, labels, indices)
        if shapes is not None:
            if self.curve is None:
                _draw_ellipses(ax, indices, shapes, np.bincount(labels))
            else:
                _draw_bars(ax, indices, shapes, self.curve)
            drawn, by = "bars" if self.is_line else "ellipses", shapes.source == "posterior"
            mean, whose = ("posterior mean", "cluster") if by else ("mean", "cluster's items")
            self.note = f"stars and {drawn}: {mean} ± {DEVIATIONS:g} sd of each {whose}"
        y_name = style.shorten(self.view.names[1], 40) if self.curve is None else self.curve.name
        ax.set(xlabel=style.shorten(self.view.names[0], 40), ylabel=y_name)
        style.plain(ax)

    def _draw_items(self, ax: Axes, labels: Labels, indices: Ints) -> None:
        (x, y), size = self.places, float(np.clip(4_000.0 / labels.size, 6.0, 26.0))
        edge = {"edgecolor": "white" if size > 8.0 else "none", "linewidth": 0.3}
        for cluster in np.argsort(-np.bincount(labels), kind="stable").tolist():
            here, index = labels == cluster, int(indices[cluster])
            style.items(ax, x[here], y[here], index, size, label=str(cluster), **edge)


def scene_of(
    source: object,
    n_items: int,
    data: DataLike | None,
    fit: Fit | None,
    dims: Sequence[int | str] | None,
    density: tuple[Any, Any] | None,
    ellipses: bool | None,
    n_jobs: int | None,
) -> Scene | None:
    """The data given, or those of the source or the fit, as a scene; None where there are none."""
    model = style.fit_for(fit, n_items)
    observations = style.observations_of(source, data, model, n_items)
    if observations is None:
        return None
    return Scene(observations, model, dims, density, ellipses, n_jobs)


def draw_cross_table(ax: Axes, center: Labels, labels: Labels, indices: Ints) -> None:
    """One bar per cluster of the centre, divided by the clusters of another partition."""
    table = cross_table(center, labels)
    order = np.argsort(-table.sum(axis=1), kind="stable")
    table = table[order]
    places = np.arange(len(table))
    base = np.zeros(len(table))
    for cluster in np.argsort(indices, kind="stable").tolist():
        here = table[:, cluster] > 0
        heights, fill = table[here, cluster], style.colour(int(indices[cluster]))
        look: dict[str, Any] = {"color": fill, "edgecolor": "white", "linewidth": 0.4}
        ax.bar(places[here], heights, bottom=base[here], width=0.82, **look)
        base[here] += heights
    step = -(-len(table) // 12)
    ax.set_xticks(places[::step], [str(k) for k in order[::step].tolist()])
    ax.set(xlabel="cluster of the estimate", ylabel="items")
    style.whole_ticks(ax, "y", most=5)
    style.plain(ax)


def _draw_star(ax: Axes, index: int, x: float, y: float, *, size: float = 9.0) -> None:
    star: dict[str, Any] = {"mec": style.INK, "mew": 0.6, "ms": size}
    ax.plot([x], [y], "*", markerfacecolor=style.colour(index), zorder=4, **star)


def _draw_ellipses(ax: Axes, indices: Ints, shapes: ClusterShapes, sizes: Ints) -> None:
    ellipse = style.library("patches").Ellipse
    for k, index in enumerate(indices.tolist()):
        x, y = shapes.means[k].tolist()
        if np.isfinite(shapes.covariances[k]).all():
            lengths, axes = np.linalg.eigh(shapes.covariances[k])
            minor, major = 2.0 * DEVIATIONS * np.sqrt(lengths.clip(0.0))
            angle = float(np.degrees(np.arctan2(axes[1, 1], axes[0, 1])))
            outline = ellipse((x, y), major, minor, angle=angle, fill=False, zorder=3)
            outline.set(edgecolor=style.colour(index), linewidth=1.2)
            if sizes[k] <= 2:  # wide, because it says little more than the prior: not in the way
                outline.set(linewidth=0.5, alpha=0.6)
            ax.add_patch(outline)
        if shapes.source == "posterior" or sizes[k] > 1:  # or else the star would hide the item
            _draw_star(ax, index, x, y)


def _draw_bars(ax: Axes, indices: Ints, shapes: ClusterShapes, curve: Curve) -> None:
    """Stars and bars below the density, in as many rows as keep them apart."""
    mean = shapes.means[:, 0]
    deviation = np.nan_to_num(np.sqrt(shapes.covariances[:, 0, 0]))
    low, high = float(curve.grid[0]), float(curve.grid[-1])
    half = np.maximum(DEVIATIONS * deviation, 0.02 * (high - low))
    rows = packed_rows(mean - half, mean + half)
    top = float(max(curve.values.max(), curve.at_items.max()))
    step = min(0.06, _DEEPEST / (int(rows.max()) + 2)) * top
    for k, index in enumerate(indices.tolist()):
        y = -step * (int(rows[k]) + 1)
        if deviation[k] > 0.0:
            ends = mean[k] + DEVIATIONS * deviation[k] * np.array([-1.0, 1.0])
            ax.plot(ends, [y, y], color=style.colour(index), linewidth=2.0, solid_capstyle="butt")
        _draw_star(ax, index, float(mean[k]), y, size=9.0 if rows.max() < 6 else 6.0)
    ax.axhline(0.0, color="#9A9A9A", linewidth=0.6, zorder=0)
    ax.set_ylim(-step * (int(rows.max()) + 2), 1.06 * top)
    ticks = [tick for tick in ax.get_yticks().tolist() if 0.0 <= tick <= 1.06 * top]
    ax.set_yticks(ticks)


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
    style.library("figure")
    labels = by_size(as_labels(source))
    scene = scene_of(source, labels.size, data, fit, dims, density, ellipses, n_jobs)
    if scene is None:
        raise InvalidInputError(
            "there are no data to show the estimate on. Pass data=..., or the sampler's output as "
            "fit=...; pt.plots.similarity and pt.plots.items need no data.",
            argument="data",
        )
    indices, sizes = style.colour_indices([labels])[0], np.bincount(labels).astype(np.int64)
    axes = style.one_axes(ax, width=6.4, height=4.4)
    scene.draw(axes, labels, indices)
    style.headline(axes, _title(source, sizes.size, labels.size), scene.note)
    style.cluster_legend(axes, indices, sizes)
    return axes


def _title(source: object, n_clusters: int, n_items: int) -> str:
    found = source.estimate if isinstance(source, Summary) else source
    what = f"{counted(n_clusters, 'cluster')} of {counted(n_items, 'item')}"
    return f"Estimate ({found.loss.title}): {what}" if isinstance(found, PointEstimate) else what


class Panel(NamedTuple):
    """One partition of a ball: its title, labels, and the colour index of each cluster."""

    title: str
    labels: Labels
    indices: Ints


def ball(
    source: Summary | CredibleBall,
    *,
    data: DataLike | None = None,
    fit: Fit | None = None,
    dims: Sequence[int | str] | None = None,
    density: tuple[ArrayLike, ArrayLike] | None = None,
    ellipses: bool | None = None,
    axes: Sequence[Axes] | Array | None = None,
    n_jobs: int | None = None,
) -> Array:
    """Centre, horizontal, upper vertical and lower vertical bound of a credible ball.

    Clusters keep their colours from panel to panel: those of a bound are
    matched with those of the estimate so that as many items as possible keep
    theirs. Titles give the number of clusters and the distance from the
    estimate. Of several bounds that tie the first is shown, and their number
    said. Without data each panel shows the estimate's clusters as bars, divided
    by the clusters of the bound: the cross table as a picture.

    Parameters
    ----------
    source : Summary or CredibleBall
    data, fit, dims, density, ellipses, n_jobs
        As in :func:`estimate`.
    axes : four Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ndarray of Axes, shape (4,)

    References
    ----------
    Wade and Ghahramani (2018), section 5, Figures 6, 7, 9 and 10.

    Examples
    --------
    >>> import partita as pt
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 2, 3]]
    >>> panels = pt.plots.ball(pt.credible_ball(draws, [0, 0, 1, 1], prob=0.75))
    >>> print(panels[3].get_title(loc="left"))
    Lower vertical bound
    4 clusters at 1.00 bits
    """
    found = style.part_of(source, "ball", CredibleBall, style.BALL)
    panels = prepare_ball(found)
    scene = scene_of(source, found.center.size, data, fit, dims, density, ellipses, n_jobs)
    drawn = style.many_axes(
        axes, len(panels), columns=4, width=3.1, height=3.2, sharey=True, sharex=True
    )
    lowest = []
    for ax, panel in zip(drawn, panels, strict=True):
        if scene is None:
            draw_cross_table(ax, found.center, panel.labels, panel.indices)
        else:
            scene.draw(ax, panel.labels, panel.indices)
        lowest.append(ax.get_ylim()[0])
        style.headline(ax, panel.title)
    if scene is not None and scene.is_line:  # the panel with the most bars sets the room below
        for ax in drawn:
            ax.set_ylim(bottom=min(lowest))
    note = "colours follow the clusters of the estimate"
    panels_note(axes, drawn, note, scene, columns=4)
    return drawn


def panels_note(axes: Any, drawn: Array, note: str, scene: Scene | None, columns: int) -> None:
    """Names of the y axes at the left only, and below a figure of our own what is to be known."""
    for number, ax in enumerate(drawn):
        if number % columns:
            ax.set_ylabel("")
    if axes is None:
        note = "; ".join(filter(None, (note, scene.note if scene is not None else "")))
        drawn[0].figure.supxlabel(note, fontsize=style.SMALL, color=style.GREY)


def prepare_ball(found: CredibleBall) -> tuple[Panel, ...]:
    """The four panels, with colours matched to the centre."""
    bounds = {
        "Horizontal bound": found.horizontal,
        "Upper vertical bound": found.upper,
        "Lower vertical bound": found.lower,
    }
    partitions = [found.center, *(bound.labels[0] for bound in bounds.values())]
    indices = style.colour_indices(partitions)
    radius = in_unit(brief(found.radius), found.loss.unit)
    estimate = counted(int(found.center.max()) + 1, "cluster")
    titles = [f"Estimate: {estimate}\n{percent(found.prob)} ball of radius {radius}"]
    for name, bound in bounds.items():
        clusters = counted(int(bound.n_clusters[0]), "cluster")
        ties = f" (first of {len(bound):,})" if len(bound) > 1 else ""
        far = in_unit(brief(bound.distance), found.loss.unit)
        titles.append(f"{name}{ties}\n{clusters} at {far}")
    return tuple(map(Panel, titles, partitions, indices))
