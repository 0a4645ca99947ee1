"""Maps of partitions: draws in the plane by scaling, and the Hasse diagram of a few items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._tolerance import DISTANCE
from partita._validate import integer
from partita._wording import counted, percent, with_unit, words
from partita.credible.ball import Ball, CredibleBall, tie_tolerance
from partita.draws import AnyDraws, Draws, Point
from partita.errors import InvalidInputError
from partita.kernels.arrays import Bools, Floats, Ints
from partita.labels import Labels, LabelsLike, as_labels
from partita.lattice import HasseDiagram, hasse_diagram
from partita.losses.base import Loss
from partita.losses.evaluate import as_loss, pairwise_distances
from partita.plots import _style as style
from partita.representative.modes import Modes, PersistentPeaks
from partita.representative.representatives import PointSet, Representatives
from partita.summary.result import AnySummary, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROUNDS = 100
_ENOUGH = 1e-4
"""Relative decrease of the squared stress at which improving ends."""


class Embedding(NamedTuple):
    """Places in the plane, and how faithful they are."""

    places: Floats
    """The landmarks first, then the others."""
    stress: float
    """√(Σ(d − δ)²/Σδ²) over pairs of landmarks, with δ the distances and d those in the plane."""
    correlation: float
    """Of d and δ over the same pairs; NaN when all δ are equal."""


def embed(between: Floats, to_landmarks: Floats | None = None) -> Embedding:
    r"""Scaling of landmarks, and further points placed by their distances to them.

    Landmarks minimise the stress :math:`\sum_{i<j} (d_{ij} - \delta_{ij})^2`,
    by majorisation from classical scaling: the two leading eigenvectors of
    −½ J Δ J, with Δ the squared distances and J the centring matrix. Classical
    scaling alone would project a cloud of many dimensions and so make all
    distances too small. Each further point minimises the same sum over its
    distances to the landmarks.

    Notes
    -----
    O(n³) for n landmarks, and up to 100 rounds of O(n²) and O(n) per further
    point. Deterministic.

    References
    ----------
    Torgerson (1952), Multidimensional scaling, Psychometrika 17; de Leeuw
    (1977), Applications of convex analysis to multidimensional scaling.

    Examples
    --------
    >>> import numpy as np
    >>> from partita.plots._posterior_map import embed
    >>> found = embed(np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]]))
    >>> round(float(np.linalg.norm(found.places[1] - found.places[2])), 6), round(found.stress, 6)
    (5.0, 0.0)
    """
    places = _majorise(between, _classical(between))
    drawn = _distances(places, places)
    pairs = np.triu_indices(len(between), 1)
    wanted, got = between[pairs], drawn[pairs]
    total = float((wanted**2).sum())
    stress = float(np.sqrt(((got - wanted) ** 2).sum() / total)) if total > 0.0 else 0.0
    varied = wanted.size > 1 and min(np.ptp(wanted), np.ptp(got)) > 1e-12
    correlation = float(np.corrcoef(wanted, got)[0, 1]) if varied else float("nan")
    if to_landmarks is not None:
        near = np.argsort(to_landmarks, axis=1, kind="stable")[:, :3]
        others = _majorise(to_landmarks, places[near].mean(axis=1), places)
        places = np.concatenate([places, others])
    return Embedding(places, stress, correlation)


def _classical(between: Floats) -> Floats:
    squared = between**2
    means = squared.mean(axis=0)
    inner = -0.5 * (squared - means[:, None] - means[None, :] + means.mean())
    values, vectors = np.linalg.eigh(inner)
    places = np.zeros((len(between), 2))
    leading = min(2, values.size)
    places[:, :leading] = vectors[:, ::-1][:, :leading] * np.sqrt(values[::-1][:leading].clip(0.0))
    # Eigenvectors have no sign: the first landmark goes to the left and below the middle.
    return places * np.where(places[0] > 0.0, -1.0, 1.0)


def _majorise(wanted: Floats, places: Floats, landmarks: Floats | None = None) -> Floats:
    """Guttman transforms, each of which lowers the stress; landmarks that are given stay."""
    last = np.inf
    for _ in range(_ROUNDS):
        others = places if landmarks is None else landmarks
        drawn = _distances(places, others)
        stress = float(((drawn - wanted) ** 2).sum())
        if last - stress <= _ENOUGH * stress:
            break
        last = stress
        # Where two points coincide no direction is known.
        ratio = np.divide(wanted, drawn, out=np.zeros_like(wanted), where=drawn > 1e-12)
        step = ratio.sum(axis=1)[:, None] * places - ratio @ others
        places = others.mean(axis=0) + step / len(others)
    return places


def _distances(a: Floats, b: Floats) -> Floats:
    squared = (a[:, None, 0] - b[None, :, 0]) ** 2 + (a[:, None, 1] - b[None, :, 1]) ** 2
    return np.asarray(np.sqrt(squared))


MOST_DRAWS = 1_500
"""Draws shown: more would lie on top of each other."""
_LANDMARKS = 300

_MARKS = ("*", "s", "D", "^", "v", "P", "X", "h")


class PosteriorMap(NamedTuple):
    """Named partitions and draws in the plane."""

    names: tuple[str, ...]
    named: Floats
    """Places of the named partitions."""
    places: Floats
    """Of the distinct draws."""
    n_clusters: Ints
    weights: Floats
    inside: Bools
    """Whether the draw is in the credible ball."""
    n_draws: int
    """Draws behind the distinct ones shown."""
    embedding: Embedding


def posterior_map(
    source: AnySummary | Ball,
    *,
    marks: Mapping[str, LabelsLike] | Modes | Representatives | None = None,
    most_draws: int = MOST_DRAWS,
    ax: Axes | None = None,
    n_jobs: int | None = None,
) -> Axes:
    """Draws, estimates and bounds of the ball in the plane, as close as their distances allow.

    Multidimensional scaling of the distances, those of the ball's loss: VI
    unless another was chosen. Draws are coloured by their number of clusters,
    faint outside the ball. A plane cannot hold all distances: the small print
    gives the stress, √(Σ(d − δ)²/Σδ²) with d on the map and δ true, and their
    correlation.

    Parameters
    ----------
    source : Summary or CredibleBall, or FeatureSummary or FeatureBall
    marks : mapping of str to array_like, shape (n_items,), Modes or Representatives, optional
        More partitions to mark, such as a truth or a hypothesis, by name; or
        Modes or Representatives, which are named with their masses.
    most_draws : int, default 1500
        Most draws to show; of more, evenly spaced ones are taken.
    ax : Axes, optional
        Where to draw; a new figure by default.
    n_jobs : int, optional
        Threads; every core by default.

    Returns
    -------
    Axes

    Notes
    -----
    O(300·n·N) for n draws of N items: 300 draws are scaled together, and the
    others placed by their distances to them.

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> labels = np.random.default_rng(0).integers(0, 2, size=(50, 6))
    >>> ball = pt.credible_ball(labels, [0, 0, 0, 1, 1, 1])
    >>> ax = pt.plots.posterior_map(ball, marks={"one cluster": np.zeros(6)})
    >>> [text.get_text() for text in ax.get_legend().get_texts()][-1]
    'one cluster'
    """
    style.library("figure")
    most_draws = integer(most_draws, "most_draws", least=1)
    ball = style.part_of(source, "ball", Ball, style.BALL)
    named = _named(source, ball, _by_name(marks))
    found = prepare_map(ball, named, most_draws, n_jobs)
    return _draw(found, ball, style.one_axes(ax, width=6.6, height=5.2))


def prepare_map(
    ball: Ball, named: Mapping[str, Point], most_draws: int, n_jobs: int | None = None
) -> PosteriorMap:
    """Choose draws, measure them against landmarks, and place everything."""
    draws = ball.draws
    chosen = _evenly_spaced_draws(draws, most_draws)
    all_of_them = chosen.size == draws.n_draws
    sample = (draws if all_of_them else draws._with(weights=None)).subset(chosen)
    number, weights = sample.unique_index()
    distinct = chosen[np.unique(number, return_index=True)[1]]
    points = [*map(draws.canonical, named.values()), *draws.rows_at(distinct)]
    # Spread over the draws rather than the first ones, which may all be of one chain.
    n = distinct.size
    spread = np.linspace(0, n - 1, min(_LANDMARKS, n)).round().astype(np.int64)
    draws_first = np.concatenate([spread, np.setdiff1d(np.arange(n), spread)])
    order = np.concatenate([np.arange(len(named)), len(named) + draws_first])
    count = len(named) + spread.size
    landmarks = draws.from_points([points[i] for i in order[:count]])
    between = pairwise_distances(landmarks, loss=ball.loss, n_jobs=n_jobs)
    others = None
    if len(order) > count:
        rest = draws.from_points([points[i] for i in order[count:]])
        others = pairwise_distances(rest, landmarks, loss=ball.loss, n_jobs=n_jobs)
    embedding = embed(between, others)
    places = np.empty_like(embedding.places)
    places[order] = embedding.places
    return PosteriorMap(
        tuple(named),
        places[: len(named)],
        places[len(named) :],
        draws.n_parts[distinct],
        weights,
        ball.distances[distinct] <= ball.radius + tie_tolerance(ball.loss),
        int(chosen.size),
        embedding,
    )


def _named(source: object, ball: Ball, marks: Mapping[str, LabelsLike]) -> dict[str, Point]:
    named: dict[str, Point] = {"estimate": ball.center}
    if isinstance(source, Summary):
        named = {f"estimate ({source.loss.title})": ball.center}
        for other in (source.vi_estimate, source.binder_estimate):
            named.setdefault(f"estimate ({other.loss.title})", other.labels)
    for name, bound in ball.bounds.items():
        ties = f" (first of {len(bound)})" if len(bound) > 1 else ""
        named[f"{name} bound{ties}"] = bound.points[0]
    for name, point in marks.items():
        named[str(name)] = ball.draws.clean(point, "marks")
    return named


def _by_name(
    marks: Mapping[str, LabelsLike] | Modes | Representatives | None,
) -> Mapping[str, LabelsLike]:
    if marks is None:
        return {}
    if isinstance(marks, Mapping):
        return marks
    style.require_kind(
        marks, PointSet, "a mapping of names to labels, Modes or Representatives.", "marks"
    )
    what = "mode" if isinstance(marks, PersistentPeaks) else "representative"
    masses = zip(marks.weights.tolist(), marks._points, strict=True)
    return {f"{what} {r} ({percent(round(w, 3))})": row for r, (w, row) in enumerate(masses)}


def _evenly_spaced_draws(draws: AnyDraws, most: int) -> Ints:
    """All draws, or at most a given number, evenly spaced in their mass."""
    if draws.n_draws <= most:
        return np.arange(draws.n_draws)
    reached = np.cumsum(draws.probabilities)
    at = (np.arange(most) + 0.5) / most * reached[-1]
    return np.asarray(np.searchsorted(reached, at), np.int64)


def _draw(found: PosteriorMap, ball: Ball, axes: Axes) -> Axes:
    count = found.weights.size
    size = np.clip(3_000.0 / count, 8.0, 30.0) * np.sqrt(found.weights * count).clip(0.5, 4.0)
    said = words(ball.draws.kind)
    low, high = int(found.n_clusters.min()), int(found.n_clusters.max())
    scale: dict[str, Any] = {"cmap": "viridis_r", "vmin": low - 0.5, "vmax": high + 0.5}
    for inside, alpha in ((False, 0.22), (True, 0.75)):
        here = found.inside == inside
        x, y = found.places[here].T
        fills = found.n_clusters[here]
        shown = axes.scatter(x, y, s=size[here], c=fills, alpha=alpha, linewidth=0.0, **scale)
    title = f"{ball.draws.part_name}s of a {said.draw}"
    bar = style.colour_bar(axes, shown, title, shrink=0.85, aspect=28)
    bar.locator = style.library("ticker").MaxNLocator(8, integer=True, min_n_ticks=1)
    bar.update_ticks()
    if bar.solids is not None:  # the scale in full colours, though the points let others through
        bar.solids.set_alpha(1.0)
    for j, (name, place) in enumerate(zip(found.names, found.named.tolist(), strict=True)):
        marker = _MARKS[j % len(_MARKS)]
        size = 16.0 if marker == "*" else max(8.0 - 0.6 * j, 4.5)  # small ones on top
        fill = style.colour((3, 1, 5, 6, 7, 9, 11, 13)[j % 8])
        look: dict[str, Any] = {"mfc": fill, "mec": style.INK, "mew": 0.9, "ms": size}
        axes.plot(*place, marker, label=style.shorten(name, 36), zorder=4, **look)
    key: dict[str, Any] = {"fontsize": style.SMALL, "frameon": False, "markerscale": 0.8}
    columns = 2 if len(found.names) <= 6 else 3
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=columns, **key)
    axes.set_aspect("equal", adjustable="datalim")
    of = f" of {ball.draws.n_draws:,}" if found.n_draws < ball.draws.n_draws else ""
    note = f"{found.n_draws:,}{of} {said.draws}, faint outside the {percent(ball.prob)} ball\n"
    note += f"stress {found.embedding.stress:.2f}"
    if np.isfinite(found.embedding.correlation):
        note += f", distances on the map and true ones correlate {found.embedding.correlation:.2f}"
    x, y = (with_unit(f"{which} coordinate", ball.loss.unit) for which in ("first", "second"))
    style.finish(axes, f"The {said.source} by {ball.loss.title}", note, xlabel=x, ylabel=y)
    return axes


# ------------------------------------------------------------------ Hasse diagram


_NAMED = 5
"""Most items for which every partition can be named."""

_SCALE = ("#0B3C5D", "#0072B2", "#56B4E9", "#BFE3F5", "#FFF3C4", "#F7C86A", "#E69F00", "#B34700")
"""From the centre outwards, dark to light to dark in another hue; cut to the number of levels."""


class LatticeColours(NamedTuple):
    """Distances of all partitions from a centre."""

    center: int
    """Node of the centre."""
    level: Ints
    """Rank of each node's distance, 0 for the centre; −1 outside the ball."""
    distances: Floats
    """The distances, increasing."""


def prepare_lattice(
    diagram: HasseDiagram, center: Labels, loss: Loss, radius: float = np.inf
) -> LatticeColours:
    """Levels of equal distance around a centre, up to a radius."""
    apart = loss.distances(center, Draws(diagram.nodes))
    tolerance = max(tie_tolerance(loss), DISTANCE)
    order = np.argsort(apart, kind="stable")
    steps = np.concatenate(([0], np.diff(apart[order]) > tolerance))
    level = np.empty(apart.size, np.int64)
    level[order] = np.cumsum(steps)
    level[apart > radius + tolerance] = -1
    values = np.array([apart[level == k].mean() for k in range(int(level.max()) + 1)])
    return LatticeColours(int(order[0]), level, values)


def hasse(
    source: int | HasseDiagram,
    *,
    loss: str | Loss | None = None,
    center: LabelsLike | None = None,
    ball: CredibleBall | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The Hasse diagram of all partitions of n items, stretched by VI or Binder's loss.

    A line goes from a partition up to each one that merges two of its
    clusters; the height is the distance from the partition of one cluster.
    With a centre, partitions are coloured by their distance from it, as in the
    paper's supplement; with a ball only those inside. Up to five items every
    partition is named, in the form 12|34 from five on.

    Parameters
    ----------
    source : int, 1 to 8, or HasseDiagram
        Number of items, or the result of :func:`hasse_diagram`.
    loss : str or Loss, optional
        What stretches the diagram of n items: "vi", "binder" or another one that is aligned
        with the lattice. By default the loss of the ball, else VI.
    center : array_like, shape (n,), or an estimate, optional
    ball : CredibleBall of n items, optional
        In place of a centre.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Notes
    -----
    8 items have 4,140 partitions, which takes seconds to draw.

    References
    ----------
    Wade and Ghahramani (2018), section 3.1, Figures 1 to 3, and supplement.

    Examples
    --------
    >>> import partita as pt
    >>> ax = pt.plots.hasse(4, loss="binder", center=[0, 0, 1, 1])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['0', '0.375', '0.5', '0.625', '0.75']
    """
    style.library("figure")
    if center is not None and ball is not None:
        raise InvalidInputError("give either center=... or ball=..., not both.", argument="center")
    if ball is not None:
        ball = style.part_of(ball, "ball", CredibleBall, style.BALL, "ball")
    diagram = _diagram(source, loss, ball)
    n_items = diagram.nodes.shape[1]
    measure = diagram.loss
    colours = None
    if ball is not None:
        middle = as_labels(
            ball.center, n_items=n_items, argument="ball", what="labels of the ball's center"
        )
        colours = prepare_lattice(diagram, middle, ball.loss, ball.radius)
    elif center is not None:
        middle = as_labels(center, n_items=n_items, argument="center")
        colours = prepare_lattice(diagram, middle, measure)
    width, height = (8.6, 5.2) if n_items <= 4 else (10.5, 6.6)
    axes = style.one_axes(ax, width=width, height=height)
    _draw_edges(axes, diagram)
    _draw_nodes(axes, diagram, colours)
    _draw_scale(axes, diagram, measure)
    if colours is not None:
        _draw_key(axes, colours, ball)
    shown = counted(len(diagram.nodes), "partition")
    items = counted(n_items, "item")
    style.headline(axes, f"{shown} of {items}, stretched by {measure.title}")
    return axes


def _diagram(
    source: int | HasseDiagram, loss: str | Loss | None, ball: CredibleBall | None
) -> HasseDiagram:
    if isinstance(source, HasseDiagram):
        if loss is not None and as_loss(loss) != source.loss:
            raise InvalidInputError(
                f"the diagram is stretched by {source.loss!r}, not by {loss!r}. Pass the number "
                "of items to have one made.",
                argument="loss",
            )
        return source
    if loss is None:
        loss = "vi" if ball is None else ball.loss
    return hasse_diagram(source, loss=loss)


def _draw_edges(axes: Axes, diagram: HasseDiagram) -> None:
    lines = style.library("collections").LineCollection
    strength = float(np.clip(500.0 / max(len(diagram.edges), 1), 0.03, 1.0))
    edges = lines(diagram.positions[diagram.edges], colors="#9A9A9A", zorder=1)
    edges.set(linewidth=0.7 if strength == 1.0 else 0.3, alpha=max(strength**0.7, 0.06))
    axes.add_collection(edges)


def _draw_nodes(axes: Axes, diagram: HasseDiagram, colours: LatticeColours | None) -> None:
    fills = np.array(["#FFFFFF"] * len(diagram.nodes), object)
    if colours is not None:
        scale = style.mixed_colours(_SCALE, colours.distances.size)
        inside = colours.level >= 0
        fills[inside] = [scale[k] for k in colours.level[inside].tolist()]
    n_items = diagram.nodes.shape[1]
    if n_items > _NAMED:
        x, y = diagram.positions.T
        size = float(np.clip(4_000 / len(diagram.nodes), 4.0, 24.0))
        axes.scatter(x, y, s=size, c=fills.tolist(), edgecolor=style.INK, linewidth=0.3, zorder=2)
        if colours is not None:
            place = diagram.positions[colours.center]
            axes.plot(*place, marker="o", markersize=9, fillstyle="none", color=style.INK, zorder=3)
        axes.margins(0.04)
        return
    names = diagram.names() if n_items < _NAMED else [_short(row) for row in diagram.nodes]
    for i, (x, y) in enumerate(diagram.positions.tolist()):
        middle = colours is not None and i == colours.center
        edge, width, weight = (style.INK, 1.6, "bold") if middle else ("#9A9A9A", 0.6, "normal")
        box = {"boxstyle": "round,pad=0.25", "facecolor": fills[i]}
        box |= {"edgecolor": edge, "linewidth": width}
        ink = "white" if style.is_dark(fills[i]) else style.INK
        text = axes.text(x, y, names[i], color=ink, fontsize=style.SMALL, zorder=3, bbox=box)
        text.set(ha="center", va="center", fontweight=weight)
        text.set_rotation(0 if n_items < _NAMED else 90)
    axes.set_xlim(-1.16 if n_items < _NAMED else -1.05, 1.16 if n_items < _NAMED else 1.05)
    span = max(float(diagram.heights.max()), 1e-9)
    axes.set_ylim(-1.07 * span, 0.07 * span)


def _draw_scale(axes: Axes, diagram: HasseDiagram, measure: Loss) -> None:
    """Heights as positive numbers: each one where they are few."""
    style.plain(axes)
    axes.spines[["bottom"]].set_visible(False)
    axes.set_xticks([])
    heights = np.unique(diagram.heights.round(9))
    if heights.size > 8:
        step = style.library("ticker").MaxNLocator(6)
        heights = np.array(step.tick_values(0.0, float(heights[-1])))
        heights = heights[heights <= diagram.heights.max() + 1e-9]
    axes.set_yticks(-heights, [f"{height:.3g}" for height in heights.tolist()])
    axes.set_ylabel(with_unit("distance from one cluster", measure.unit))


def _draw_key(axes: Axes, colours: LatticeColours, ball: CredibleBall | None) -> None:
    """Distances and their colours; some of them when they are many."""
    patch = style.library("patches").Patch
    count = colours.distances.size
    shown = np.unique(np.linspace(0, count - 1, min(count, 12)).round().astype(int))
    scale = style.mixed_colours(_SCALE, count)
    handles = [
        patch(facecolor=scale[k], edgecolor="#9A9A9A", label=f"{colours.distances[k]:.3g}")
        for k in shown.tolist()
    ]
    if (colours.level < 0).any():
        handles.append(patch(facecolor="white", edgecolor="#9A9A9A", label="outside"))
    title = "distance from\nthe estimate"
    if ball is not None:
        title += f",\n{percent(ball.prob)} ball"
    style.legend_beside(axes, handles, title)


def _short(row: Labels) -> str:
    """As in 12|34."""
    clusters = [np.flatnonzero(row == k) + 1 for k in range(int(row.max()) + 1)]
    return "|".join("".join(str(i) for i in cluster) for cluster in clusters)
