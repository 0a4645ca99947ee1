"""The content of a report, as plain data and static figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita import plots
from partita._imports import require
from partita._result import Table
from partita._text import (
    Words,
    brief,
    counted,
    in_list,
    in_unit,
    of_sizes,
    percent,
    share,
    span,
    with_unit,
    words,
)
from partita.kernels.arrays import Bools, Floats, Ints
from partita.labels import Labels
from partita.plots._on_data import View, mixed_axes, prepare_curve, prepare_view
from partita.plots._representatives import moved_items
from partita.plots._similarity import SimilarityMap, prepare_similarity
from partita.plots._style import GREY, INK, close_figure, colour_indices, library
from partita.summary import tables, text
from partita.summary.summarize import Observations

if TYPE_CHECKING:
    from partita.credible.ball import CredibleBall
    from partita.credible.uncertainty import ClusterCounts
    from partita.losses.base import Loss
    from partita.representative.representatives import Representatives
    from partita.search.clusters_curve import ClustersCurve
    from partita.search.price_path import PricePath
    from partita.search.result import PointEstimate
    from partita.summary.features import FeatureSummary
    from partita.summary.result import AnySummary, Summary


@dataclass(frozen=True, eq=False)
class Core:
    """A credible core in words, and its items."""

    prob: float
    text: str
    items: Ints


def cores(summary: Summary) -> tuple[Core, ...]:
    """Cores from the smallest probability on; none of draws too many for a short search."""
    core = summary.core
    if core is None:
        return ()
    found = (core if prob == core.prob else core.at(prob) for prob in PROBS)
    return tuple(Core(one.prob, one.sentence, one.items) for one in found)


_MOST_SHAPES = 2_000
"""Of a picture with more, the shapes are an image within the SVG."""
_SCALE = 1.45
"""Pixels for a point of a figure, at most."""


def pictures(summary: Summary) -> dict[str, str]:
    """The figures of ``partita.plots`` that a report shows, by the name of their place.

    What can be chosen in them carries the key of its choice.
    """
    require("matplotlib.figure", extra="report", purpose="the report")
    with library("style").context("default"):
        found = {"counts": svg("counts", plots.n_clusters(summary))}
        if summary.curve is not None:
            found["curve"] = _curve(summary.curve)
        if summary.path is not None:
            found["path"] = _path(summary, summary.path)
        if summary.sensitivity is not None:
            found["priors"] = svg("priors", plots.prior_sensitivity(summary.sensitivity))
        if summary.core is not None:
            found["core"] = svg("core", plots.core(summary.core))
        if summary.profiles is not None:
            found["profiles"] = svg("profiles", plots.profiles(summary))
        if summary.draws.kind != "ensemble" and summary.draws.weights is None:
            panels = plots.traces(summary, estimate=summary.estimate)
            for line in (line for ax in panels for line in ax.lines):
                line.set_rasterized(True)
            found["traces"] = svg("traces", panels)
    return found


def feature_pictures(summary: FeatureSummary) -> dict[str, str]:
    """The same of a summary of feature allocations."""
    require("matplotlib.figure", extra="report", purpose="the report")
    drawn: dict[str, Callable[[FeatureSummary], Any]] = {
        "memberships": plots.memberships,
        "ball": plots.feature_ball,
        "counts": plots.n_features,
        "distances": plots.distances,
        "map": plots.posterior_map,
    }
    with library("style").context("default"):
        return {name: svg(name, draw(summary)) for name, draw in drawn.items()}


def _curve(curve: ClustersCurve) -> str:
    ax, choices = plots.clusters_curve(curve), {}
    for k, above in zip(curve.k.tolist(), curve.percent.tolist(), strict=True):
        ax.axvspan(k - 0.5, k + 0.5, alpha=0.0, zorder=10, gid=f"k{k}")
        best = f"best of {counted(k, 'cluster')}"
        choices[f"k{k}"] = f"Show the {best}, {above:.2g}% above the estimate"
    return svg("curve", ax, choices)


def _path(summary: Summary, path: PricePath) -> str:
    ax, choices, corners = plots.price_path(path, estimate=summary.estimate), {}, list(path)
    if int(path.n_clusters.sum()) > _MOST_SHAPES:
        for artist in (*ax.patches, *ax.collections):
            artist.set_rasterized(True)
    for j in wide_corners(path):
        low, high = corners[j].low, corners[j].high
        ax.axvspan(low, high, alpha=0.0, zorder=10, gid=f"price{j}")
        clusters = counted(corners[j].n_clusters, "cluster")
        best = "optimal" if corners[j].is_proven else "the best found"
        choices[f"price{j}"] = f"Show {clusters}, {best} for prices from {low:.4f} to {high:.4f}"
    return svg("path", ax, choices)


def svg(name: str, axes: Any, choices: Mapping[str, str] | None = None) -> str:
    """A figure as an SVG element in the page's colours, its choices as buttons.

    The figure is closed, which pyplot would keep.
    """
    figure = np.asarray(axes, dtype=object).flat[0].figure
    out = StringIO()
    # Text stays text; the salt keeps ids apart that several figures would share.
    with library("style").context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(out, format="svg", transparent=True, dpi=120)
    close_figure(figure)
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r' id="[A-Za-z0-9.]+_\d+"', "", text)  # every figure has a patch_1
    # All figures have letters of about the same size, however wide they are.
    widest = f"max-width:{_SCALE * 72.0 * figure.get_figwidth():.0f}px"
    opening = rf'<svg class="figure" style="{widest}" \1>'
    text = re.sub(r'^<svg[^>]*(viewBox="[^"]*")[^>]*>', opening, text)
    for key, label in (choices or {}).items():
        button = f'data-show="{key}" role="button" tabindex="0" aria-label="{escape(label)}"'
        text = text.replace(f'<g id="{key}">', f'<g class="pick" {button}>')
    text = text.replace("#000000", "currentColor").replace(INK, "currentColor")
    return text.replace(GREY.lower(), "var(--quiet)").replace("#ffffff", "var(--paper)")


@dataclass(frozen=True, eq=False)
class ItemPositions:
    """Coordinates of the items, what the axes mean, and a curve to draw behind them.

    Attributes
    ----------
    x, y : ndarray of float, shape (n_items,)
        NaN for items that cannot be placed.
    x_title, y_title : str
    curve : pair of ndarray, or None
        The estimated density of one-dimensional data.
    note : str
        How the coordinates were made, in a sentence or two.
    """

    x: Floats
    y: Floats
    x_title: str
    y_title: str
    curve: tuple[Floats, Floats] | None
    note: str


def item_positions(
    data: Floats | None, names: tuple[str, ...] | None, categories: tuple[int, ...] = ()
) -> ItemPositions | None:
    """One column at its density, two as they are, more on their principal components.

    With categories among the columns, on the axes of :func:`mixed_axes`.
    Unlike a figure, a report must not fail for missing values: items without
    one of their two coordinates are left out, and columns that are combined
    have their mean filled in. The note says so.
    """
    if data is None:
        return None
    n_columns = data.shape[1]
    missing = ~np.isfinite(data)
    if categories:
        return _on_mixed_axes(data, categories, int(missing.sum()))
    absent: NDArray[np.bool_] = np.zeros(len(data), np.bool_)
    if n_columns <= 2:
        absent = np.logical_or.reduce(missing, axis=1)
    if absent.all():
        nowhere = np.full(len(data), np.nan)
        return ItemPositions(nowhere, nowhere, "", "", None, _left_out(absent))
    filled = data if n_columns <= 2 else _filled(data, missing)
    view = prepare_view(Observations(filled[~absent], _titles(names, n_columns)), None)
    if view.points.shape[1] == 1:
        return _at_density(view, absent)
    x, y = _spread(view.points, absent)
    note = _left_out(absent)
    if n_columns > 2:
        note = f"The first two principal components of {n_columns:,} standardised columns."
    if n_columns > 2 and missing.any():
        count = counted(int(missing.sum()), "missing value")
        note += f" The mean of the column replaces {count}."
    x_title, y_title = view.names
    return ItemPositions(x, y, x_title, y_title, None, note)


def _on_mixed_axes(data: Floats, categories: tuple[int, ...], n_missing: int) -> ItemPositions:
    points, (x_title, y_title) = mixed_axes(data, categories)
    kinds = [counted(len(categories), "column") + " of categories"]
    if numbers := data.shape[1] - len(categories):
        kinds.insert(0, f"{counted(numbers, 'column')} of numbers")
    note = (
        f"The first two axes of a factor analysis of mixed data: {in_list(kinds)}, numbers "
        "standardised, levels as scaled indicators."
    )
    if n_missing:
        note += f" {counted(n_missing, 'missing value')} replaced by the mean."
    return ItemPositions(points[:, 0], points[:, 1], x_title, y_title, None, note)


def _titles(names: tuple[str, ...] | None, n_columns: int) -> tuple[str, ...]:
    numbers = tuple(str(j) for j in range(n_columns))
    if names is not None and names != numbers:
        return names
    # Columns numbered 0, 1, … came without names.
    return ("value",) if n_columns == 1 else tuple(f"column {j}" for j in numbers)


def _left_out(absent: Bools) -> str:
    n = int(absent.sum())
    if n == 0:
        return ""
    return f"{counted(n, 'item')} with missing values {'is' if n == 1 else 'are'} not drawn."


def _filled(data: Floats, missing: Bools) -> Floats:
    """Means of their columns for missing values; 0 where nothing is known."""
    known = np.where(missing, 0.0, data)
    means = known.sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)
    return np.where(missing, means, data)


def _spread(points: Floats, absent: Bools) -> Floats:
    """Coordinates by row, with NaN for the items left out."""
    out = np.full((points.shape[1], absent.size), np.nan)
    out[:, ~absent] = points.T
    return out


def _at_density(view: View, absent: Bools) -> ItemPositions:
    curve = prepare_curve(view, None, None)
    x, y = _spread(np.column_stack([view.points[:, 0], curve.at_items]), absent)
    note = f"Each item stands on a kernel density estimate of the data. {_left_out(absent)}"
    return ItemPositions(x, y, view.names[0], "density", (curve.grid, curve.values), note.strip())


MOST_ITEMS = 20_000
"""Items up to which all are shown."""

LEAST_CERTAIN, AT_RANDOM = 1_000, 9_000
"""Of more items: how many of the least certain are shown, and how many others."""

Items = NDArray[np.int64]


def with_fewer_items(content: Content) -> Content:
    """The same content, of very many items with a part of them, and a note that says so."""
    n = content.heat.n_items
    if n <= MOST_ITEMS:
        return content
    items = _chosen(content.heat, content.item_columns["probability"])
    note = (
        f"Shown are {items.size:,} of {n:,} items: the {LEAST_CERTAIN:,} least certain, and others "
        "at random from every part of the heat map. Numbers in the text, sizes of clusters and "
        "the heat map are about all items. summary.labels holds the labels of all."
    )
    names, place = content.item_names, content.place
    return replace(
        content,
        item_numbers=items,
        item_note=note,
        shown=replace(content.shown, labels=tuple(row[items] for row in content.shown.labels)),
        heat_items=_places(content.heat, items),
        place=None if place is None else replace(place, x=place.x[items], y=place.y[items]),
        item_names=None if names is None else tuple(names[i] for i in items.tolist()),
        item_columns={name: column[items] for name, column in content.item_columns.items()},
        cores=tuple(replace(core, items=_among(core.items, items)) for core in content.cores),
        differing_items={
            key: _among(moved, items) for key, moved in content.differing_items.items()
        },
    )


def _chosen(heat: SimilarityMap, probability: NDArray[np.floating]) -> Items:
    """The least certain items, and as many others of each cell of the heat map."""
    rng = np.random.default_rng(0)
    n_cells = heat.edges.size - 1
    cell = np.repeat(np.arange(n_cells), np.diff(heat.edges))
    order = rng.permutation(heat.n_items)
    by_cell = order[np.argsort(cell[order], kind="stable")]
    rank = np.arange(heat.n_items) - heat.edges[cell]
    others = heat.order[by_cell[rank < max(1, AT_RANDOM // n_cells)]]
    least = np.argsort(probability, kind="stable")[:LEAST_CERTAIN]
    return np.union1d(others, least)


def _places(heat: SimilarityMap, items: Items) -> tuple[Items, Items]:
    """The items shown from top to bottom, by their places among themselves; where cells begin."""
    is_shown = np.zeros(heat.n_items, np.bool_)
    is_shown[items] = True
    there = is_shown[heat.order]
    before = np.concatenate(([0], np.cumsum(there)))
    return np.searchsorted(items, heat.order[there]), before[heat.edges]


def _among(some: Items, items: Items) -> Items:
    """Places among the items shown of those that are."""
    return np.searchsorted(items, np.intersect1d(some, items))


_DISTANCE_BINS = 60
_TABLES = (
    *("clusters", "profiles", "comparison", "sensitivity", "representatives"),
    *("chains", "diagnostics", "starts", "settings", "versions"),
)


@dataclass(frozen=True, eq=False)
class Content:
    """Everything a report says and shows.

    Texts are plain and unescaped: whoever writes them into a page escapes them.
    """

    said: Words
    facts: Mapping[str, str]
    urgent: tuple[str, ...]
    """What stands in the way of reporting the answer, shown with it."""
    shown: Shown
    heat: SimilarityMap
    heat_items: tuple[NDArray[np.int64], NDArray[np.int64]]
    """The items shown from top to bottom of the heat map, and where its cells begin among them."""
    place: ItemPositions | None
    item_numbers: NDArray[np.int64] | None
    """Which items are shown; None for all."""
    item_note: str
    item_names: tuple[str, ...] | None
    item_columns: Mapping[str, NDArray[Any]]
    count_text: str
    distance_edges: Floats
    distance_masses: Floats
    distance_title: str
    pictures: Mapping[str, str]
    """Figures as SVG, by the name of their place."""
    tables: Mapping[str, Table]
    """Those of the summary that it has, by name."""
    corners: Mapping[str, tuple[str, ...]]
    """Rows of the table of the price path, by the key of their choice."""
    path_text: str
    cores: tuple[Core, ...]
    differing_items: Mapping[str, Items]
    """Of each representative, the items that are elsewhere than in the heaviest."""
    how_found: str
    limits: tuple[str, ...]
    call: str


def prepare(summary: Summary) -> Content:
    """The content of the report on a summary.

    Cost: the heat map (see :func:`prepare_similarity`), one ball per probability on
    offer, a few cores from the runs of the summary's, and one pass over the draws for the traces.
    """
    found, ball, counts = summary.estimate, summary.ball, summary.counts
    said = words(summary.draws.kind)
    edges, masses = _distances(summary)
    shown = shown_partitions(summary)
    heat = prepare_similarity(summary._posterior, found.labels)
    content = Content(
        said=said,
        facts=_facts(summary, said),
        urgent=(*summary.diagnostics.warnings, *_cut_short(summary)),
        shown=shown,
        heat=heat,
        heat_items=(heat.order, heat.edges),
        item_numbers=None,
        item_note="",
        place=item_positions(summary.data, summary.data_names, summary.data_categories),
        item_names=summary.draws.item_names,
        item_columns=_item_columns(summary),
        count_text=cluster_counts(counts, found.n_clusters, ball.prob),
        distance_edges=edges,
        distance_masses=masses,
        distance_title=with_unit(ball.loss.title, ball.loss.unit),
        pictures=pictures(summary),
        tables=_tables(summary),
        corners=corners(summary),
        path_text=path_text(summary),
        cores=cores(summary),
        differing_items=_differing(summary),
        how_found=how_found(found),
        limits=(*summary.estimate.search.limits, *_cut_short(summary)),
        call=call_text(summary),
    )
    return with_fewer_items(content)


def _facts(summary: Summary, said: Words) -> dict[str, str]:
    found = summary.estimate
    facts = {
        "Estimate": clusters(found.labels),
        f"{said.expected.capitalize()} loss": loss_reached(found),
        "How good": found.proof,
    }
    if summary.diagnostics.names:
        facts["Convergence"] = convergence(summary)
    return facts


def _item_columns(summary: Summary) -> dict[str, NDArray[Any]]:
    """Per item: probability, the likeliest other cluster (−1: none) and share of the loss."""
    items = summary.items
    return {
        "probability": items.probability.astype(np.float32),
        "other": items.other,
        "share": items.share.astype(np.float32),
    }


def _tables(summary: Summary) -> dict[str, Table]:
    """The tables of a summary that the page shows as they are."""
    made = {name: tables.table(summary, name) for name in _TABLES}
    return {name: table for name, table in made.items() if table is not None}


def _differing(summary: Summary) -> dict[str, Items]:
    found = summary.representatives
    if found is None or found.n == 1:
        return {}
    return {
        f"representative{r}": np.asarray(moved_items(found, r), np.int64) for r in range(found.n)
    }


def _distances(summary: Summary) -> tuple[Floats, Floats]:
    """Histogram of the draws' distances from the estimate."""
    distances = summary.ball.distances
    n_bins = min(_DISTANCE_BINS, max(10, int(np.sqrt(distances.size))))
    masses, edges = np.histogram(distances, n_bins, weights=summary.draws.probabilities)
    return edges, masses


def _cut_short(summary: Summary) -> tuple[str, ...]:
    cut = summary.estimate.search.interrupted
    return ("The search was cut short; this is the best so far.",) if cut else ()


def convergence(summary: AnySummary) -> str:
    """Convergence in one line."""
    found = summary.diagnostics
    many = f"{counted(len(found.warnings), 'warning')}, see above"
    return f"{text.convergence(summary)}, {'nothing to warn about' if found.ok else many}"


def cluster_counts(counts: ClusterCounts, estimated: int, prob: float) -> str:
    """The posterior of the number of clusters in two sentences."""
    low, high = counts.interval(prob)
    said = words(counts.kind)
    place = "" if estimated in counts.values else f", which no {said.draw} has"
    if counts.values.size == 1:
        all_have = f"All {said.draws} have {counted(counts.mode, 'cluster')}"
        return f"{all_have}. The estimate has {estimated:,}{place}."
    return (
        f"{counted(counts.mode, 'cluster')} most often "
        f"({share(float(counts.probabilities.max()))} of the {said.draws}), "
        f"mean {counts.mean:.1f}; at least {percent(prob)} have {span(low, high, 'cluster')} "
        f"(blue). The estimate has {estimated:,}{place}."
    )


def how_found(found: PointEstimate) -> str:
    """How an estimate was found, in two sentences."""
    search = found.search
    text = f"Found by the method “{found.method}” in {search.seconds:.2g} s"
    return f"{text}{search.effort}. The proof took {search.bound_seconds:.2g} s."


def call_text(summary: Summary) -> str:
    """The call that makes this summary again from the same draws."""
    given = {name: value for name, value in summary.options.items() if value is not None}
    loss, rng = given.pop("loss"), given.get("rng")
    comment = ""
    if isinstance(rng, str):  # a generator is recorded by its name only
        comment = f"  # rng was {given.pop('rng')}"
    arguments = [f"loss=pt.{loss}", *(f"{name}={value!r}" for name, value in given.items())]
    source = "draws"
    if summary.draws.kind == "ensemble":
        source = 'pt.as_draws(runs, kind="ensemble")'
    if summary.draws.kind == "tilted":
        source = 'draws.reweighted("entropy", strength)'
    call = f"summary = pt.summarize({source}, {', '.join(arguments)}){comment}"
    return f"import partita as pt\n\n{call}"


# ------------------------------------------------------------------ partitions that are shown


PROBS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Probabilities of balls and cores on offer, besides the one of the summary."""


_WIDEST = 250
"""Corners of a path as narrow as this part of it are too narrow to be chosen."""


@dataclass(frozen=True)
class Choice:
    """An estimate that can be shown, whatever the credible probability."""

    key: str
    title: str
    partition: int
    """Which of the distinct partitions it is."""
    text: str


@dataclass(frozen=True)
class BoundChoice:
    """A bound of one ball."""

    partition: int
    n_clusters: int
    distance: str
    mass: str
    n_ties: int
    text: str


@dataclass(frozen=True)
class Level:
    """A credible ball in words, with its bounds by name."""

    prob: float
    percent: str
    radius: float
    ball: str
    sentence: str
    bounds: Mapping[str, BoundChoice]


@dataclass(frozen=True, eq=False)
class Shown:
    """Every partition once, with colours that follow the clusters, and who refers to it."""

    labels: tuple[Labels, ...]
    """Clusters of the items that are shown."""
    colours: tuple[NDArray[np.int64], ...]
    """Colour index of each cluster of each partition."""
    sizes: tuple[NDArray[np.int64], ...]
    """Items of each cluster, of all that there are."""
    choices: tuple[Choice, ...]
    levels: tuple[Level, ...]
    start: int
    """The level of the summary's own probability."""


def shown_partitions(summary: Summary) -> Shown:
    """Estimates and bounds; the estimate of the summary is partition 0.

    Colours are matched with the estimate's by :func:`colour_indices`. One ball
    per probability, from distances already computed.
    """
    distinct = _Distinct()
    choices = tuple(
        Choice(key, title, distinct.number(found.labels), estimate_text(found))
        for key, title, found in _estimates(summary)
    )
    several = summary.representatives
    if several is not None and several.n > 1:
        choices += tuple(
            Choice(
                f"representative{r}",
                f"Representative {r} ({percent(round(float(several.weights[r]), 3))})",
                distinct.number(labels),
                representative_text(several, r),
            )
            for r, labels in enumerate(several.labels)
        )
    choices += _of_path(summary, distinct) + _of_curve(summary, distinct)
    probs = sorted({*PROBS, summary.prob})
    levels = tuple(_level(summary, summary.ball.at(prob), distinct) for prob in probs)
    labels = tuple(distinct.labels)
    sizes = tuple(np.bincount(row) for row in labels)
    own = probs.index(summary.prob)
    return Shown(labels, tuple(colour_indices(labels)), sizes, choices, levels, own)


def wide_corners(path: PricePath) -> list[int]:
    """Corners of a price path that can be seen in a picture, and that of the loss's own price."""
    least = (path.high - path.low) / _WIDEST
    own = int(np.searchsorted(path.breakpoints, path.loss.price, side="right"))
    return [j for j, c in enumerate(path) if c.high - c.low >= least or j == own]


def _of_path(summary: Summary, distinct: _Distinct) -> tuple[Choice, ...]:
    path = summary.path
    if path is None:
        return ()
    corners = list(path)
    return tuple(
        Choice(
            f"price{j}",
            f"{counted(c.n_clusters, 'cluster')}, prices {c.low:.2f} to {c.high:.2f}",
            distinct.number(c.labels),
            f"{clusters(c.labels)}; {'optimal' if c.is_proven else 'the best found'} for "
            f"prices of splitting from {c.low:.4f} to {c.high:.4f}.",
        )
        for j, c in ((j, corners[j]) for j in wide_corners(path))
    )


def _of_curve(summary: Summary, distinct: _Distinct) -> tuple[Choice, ...]:
    curve = summary.curve
    if curve is None:
        return ()
    return tuple(
        Choice(
            f"k{k}",
            f"Best with {counted(k, 'cluster')}",
            distinct.number(curve.labels[j]),
            f"{clusters(curve.labels[j])}; {amount(curve.excess[j], curve.loss)} "
            f"({curve.percent[j]:.2g}%) above the estimate.",
        )
        for j, k in enumerate(curve.k.tolist())
    )


class _Distinct:
    """Numbers partitions in order of appearance, each distinct one once."""

    def __init__(self) -> None:
        self.labels: list[Labels] = []
        self.words: dict[int, tuple[str, str, str]] = {}
        """Of a bound: its distance, its clusters, and what differs from the estimate."""
        self._known: dict[bytes, int] = {}

    def number(self, labels: Labels) -> int:
        key = np.asarray(labels, np.int32).tobytes()
        if key not in self._known:
            self._known[key] = len(self.labels)
            self.labels.append(labels)
        return self._known[key]


def _estimates(summary: Summary) -> list[tuple[str, str, PointEstimate]]:
    main = summary.estimate
    found = [("estimate", "Estimate", main)]
    if summary.vi_estimate is not main:
        found.append(("vi", "VI's estimate", summary.vi_estimate))
    if summary.binder_estimate is not main:
        found.append(("binder", "Binder's estimate", summary.binder_estimate))
    return found


def _level(summary: Summary, ball: CredibleBall, distinct: _Distinct) -> Level:
    """A ball in words; where several partitions tie at a bound, the first is shown."""
    level, bounds = percent(ball.prob), {}
    for kind, bound in ball.bounds.items():
        number, n_ties = distinct.number(bound.labels[0]), len(bound.mass)
        if number not in distinct.words:  # most bounds stay from one probability to the next
            far = amount(bound.distance, ball.loss)
            distinct.words[number] = far, clusters(bound.labels[0]), difference(ball, kind)
        far, sizes, changes = distinct.words[number]
        ties = f" One of {n_ties:,} that tie." if n_ties > 1 else ""
        bounds[kind] = BoundChoice(
            partition=number,
            n_clusters=int(bound.n_clusters[0]),
            distance=far,
            mass=f"{bound.mass[0]:.2g}",
            n_ties=n_ties,
            text=f"{sizes}; {far} from the estimate. Among the partitions in the {level} "
            f"ball: {BOUNDS[kind][1]}.{ties}{changes}",
        )
    return Level(
        prob=ball.prob,
        percent=level,
        radius=ball.radius,
        ball=radius(ball),
        sentence=replace(summary, ball=ball).sentence,
        bounds=bounds,
    )


def corners(summary: Summary) -> dict[str, tuple[str, ...]]:
    """Prices, clusters, sizes and proof of every clustering of the path that can be seen."""
    path = summary.path
    if path is None:
        return {}
    found = list(path)
    return {
        f"price{j}": (
            f"{found[j].low:.4f} to {found[j].high:.4f}",
            f"{found[j].n_clusters:,}",
            of_sizes(np.bincount(found[j].labels).tolist()).partition(" ")[2],
            "yes" if found[j].is_proven else "no",
        )
        for j in wide_corners(path)
    }


def path_text(summary: Summary) -> str:
    """At which prices the estimate is the best, and how many other clusterings are at some."""
    path = summary.path
    if path is None:
        return ""
    said = f"The estimate is {path.stability(summary.labels).in_words}"
    hidden = len(path) - len(wide_corners(path))
    left = f" Not shown: {counted(hidden, 'clustering')} of too narrow a range." if hidden else ""
    best = "optimal" if path.gap == 0.0 else "the best found"
    many = f"{counted(len(path), 'clustering')} {'is' if len(path) == 1 else 'are'}"
    return f"{said}; {many} {best} at some price.{left}"


# ---------------------------------------------------------------- in words

_SIZES = 12
"""Cluster sizes that a sentence lists before it says how many more there are."""


def amount(value: float, loss: Loss) -> str:
    """A loss or distance with its unit."""
    return in_unit(brief(value, 3), loss.unit)


def clusters(labels: Labels) -> str:
    """Number and sizes of the clusters of a partition."""
    k = int(labels.max()) + 1
    return f"{counted(k, 'cluster')} of {of_sizes(np.bincount(labels).tolist(), _SIZES)}"


def loss_reached(found: PointEstimate) -> str:
    """The expected loss of an estimate, with its name."""
    return f"{amount(found.expected_loss, found.loss)} ({found.loss.title})"


def radius(ball: CredibleBall) -> str:
    """Radius of a ball with its error, and what is inside."""
    error = ball.radius_mcse
    plus_minus = f" ± {error:.2g}" if np.isfinite(error) else ""
    inside = counted(int(ball.inside.sum()), words(ball.draws.kind).draw)
    value, _, unit = amount(ball.radius, ball.loss).partition(" ")
    return (
        f"radius {value}{plus_minus}{' ' if unit else ''}{unit} ({ball.loss.title}); "
        f"{inside} inside, coverage {percent(ball.coverage)}"
    )


def estimate_text(found: PointEstimate) -> str:
    """The text beside an estimate that is shown."""
    loss = f"{words(found.kind).expected} loss {loss_reached(found)}"
    text = f"{clusters(found.labels)}; {loss}, {found.proof}."
    if len(found.ties):
        others = counted(len(found.ties), "other partition")
        text += f" {others} reach{'es' if len(found.ties) == 1 else ''} the same loss."
    return text


EXPLAINED_ITEMS = 2_000
"""Up to this number of items a bound's difference from the estimate is put into words."""

BOUNDS = {
    "upper": ("Upper vertical bound", "fewest clusters, and of those the most distant"),
    "lower": ("Lower vertical bound", "most clusters, and of those the most distant"),
    "horizontal": ("Horizontal bound", "most distant from the estimate"),
}
"""Titles of the bounds, and which partition in the ball each one is."""


def difference(ball: CredibleBall, kind: str) -> str:
    """What the bound does differently from the estimate, where there are not too many items."""
    if ball.center.size > EXPLAINED_ITEMS:
        return ""
    told = ball.explain(kind)
    return f" From the estimate: {told.in_words()}." if told.changes else ""


def representative_text(found: Representatives, number: int) -> str:
    """A representative: its mass, and what differs from the heaviest."""
    own = words(found.draws.kind).draws
    mass = f"Representative {number}, nearest to {100 * found.weights[number]:.3g}% of the {own}"
    if number == 0:
        return f"{mass}."
    return f"{mass}. From representative 0: {found.explain(number).in_words()}."
