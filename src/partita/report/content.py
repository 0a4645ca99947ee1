"""The content of a report, as plain data and static figures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from io import StringIO
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita import plots
from partita._imports import require
from partita._wording import brief, counted, in_list, in_unit, of_sizes, percent, sized, words
from partita.credible.ball import ball_at
from partita.credible.core import cores_at
from partita.explanation import explain_all
from partita.kernels.arrays import Bools, Floats, Ints
from partita.labels import Labels
from partita.plots._on_data import prepare_curve, prepare_view
from partita.plots._representatives import moved_items
from partita.plots._similarity import SimilarityMap, prepare_similarity
from partita.plots._style import GREY, INK, close_figure, colour_indices, library
from partita.summary import text
from partita.summary.summarize import Observations

if TYPE_CHECKING:
    from partita.credible.ball import Bound, CredibleBall
    from partita.credible.core import CredibleCore
    from partita.losses.base import Loss
    from partita.representative.representatives import Representatives
    from partita.search.clusters_curve import ClustersCurve
    from partita.search.price_path import Corner, PricePath
    from partita.search.result import PointEstimate
    from partita.summary.features import FeatureSummary
    from partita.summary.result import AnySummary, Summary


class Core(NamedTuple):
    """A credible core in words, and its items."""

    prob: float
    text: str
    items: Ints


_MOST_SHAPES = 2_000
"""Shapes above which a picture is embedded as an image within the SVG."""
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
            found["path"] = _path(summary.path, summary.estimate)
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
    """Return the figures of a report on feature allocations."""
    require("matplotlib.figure", extra="report", purpose="the report")
    with library("style").context("default"):
        return {
            "memberships": svg("memberships", plots.memberships(summary)),
            "ball": svg("ball", plots.feature_ball(summary)),
            "counts": svg("counts", plots.n_features(summary)),
            "distances": svg("distances", plots.distances(summary)),
            "map": svg("map", plots.posterior_map(summary)),
        }


def _curve(curve: ClustersCurve) -> str:
    ax, choices = plots.clusters_curve(curve), {}
    for k, above in zip(curve.k.tolist(), curve.percent.tolist(), strict=True):
        ax.axvspan(k - 0.5, k + 0.5, alpha=0.0, zorder=10, gid=f"k{k}")
        best = f"best of {counted(k, 'cluster')}"
        choices[f"k{k}"] = f"Show the {best}, {above:.2g}% above the estimate"
    return svg("curve", ax, choices)


def _path(path: PricePath, estimate: PointEstimate) -> str:
    ax, choices = plots.price_path(path, estimate=estimate), {}
    if int(path.n_clusters.sum()) > _MOST_SHAPES:
        for artist in (*ax.patches, *ax.collections):
            artist.set_rasterized(True)
    for key, corner in wide_corners(path).items():
        ax.axvspan(corner.low, corner.high, alpha=0.0, zorder=10, gid=key)
        best = "optimal" if corner.is_proven else "the best found"
        choices[key] = (
            f"Show {counted(corner.n_clusters, 'cluster')}, {best} for prices from "
            f"{corner.low:.4f} to {corner.high:.4f}"
        )
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


class ItemPositions(NamedTuple):
    """Coordinates of the items (NaN where they have none) and what the axes mean."""

    x: Floats
    y: Floats
    x_title: str
    y_title: str
    curve: tuple[Floats, Floats] | None
    """The estimated density of one-dimensional data, to be drawn behind the items."""
    note: str
    """How the coordinates were made, in a sentence or two."""


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
    n_columns, missing = data.shape[1], ~np.isfinite(data)
    are_combined = n_columns > 2 or bool(categories)
    absent = np.zeros(len(data), np.bool_) if are_combined else missing.any(axis=1)
    x, y = np.full((2, len(data)), np.nan)
    left = counted(n_left := int(absent.sum()), "item")
    left_out = f"{left} with missing values {'is' if n_left == 1 else 'are'} not drawn."
    if n_left == len(data):
        return ItemPositions(x, y, "", "", None, left_out)
    filled = data if categories or not are_combined else _fill_missing(data, missing)
    titles = _titles(names, n_columns)
    view = prepare_view(Observations(filled[~absent], titles, categories), None)
    curve = None
    if view.points.shape[1] == 1:
        density = prepare_curve(view, None, None)
        x[~absent], y[~absent] = view.points[:, 0], density.at_items
        y_title, curve = "density", (density.grid, density.values)
        notes = ["Each item stands on a kernel density estimate of the data."]
    else:
        (x[~absent], y[~absent]), y_title = view.points.T, view.names[1]
        notes = [_made_of(n_columns, len(categories))] if are_combined else []
    if n_left:
        notes.append(left_out)
    elif missing.any():
        n_missing = counted(int(missing.sum()), "missing value")
        notes.append(f"The mean of the column replaces {n_missing}.")
    return ItemPositions(x, y, view.names[0], y_title, curve, " ".join(notes))


def _made_of(n_columns: int, n_categories: int) -> str:
    if not n_categories:
        return f"The first two principal components of {n_columns:,} standardised columns."
    kinds = [counted(n_categories, "column") + " of categories"]
    if numbers := n_columns - n_categories:
        kinds.insert(0, f"{counted(numbers, 'column')} of numbers")
    return (
        f"The first two axes of a factor analysis of mixed data: {in_list(kinds)}, numbers "
        "standardised, levels as scaled indicators."
    )


def _titles(names: tuple[str, ...] | None, n_columns: int) -> tuple[str, ...]:
    numbers = tuple(str(j) for j in range(n_columns))
    if names is not None and names != numbers:
        return names
    # Columns numbered 0, 1, … came without names.
    return ("value",) if n_columns == 1 else tuple(f"column {j}" for j in numbers)


def _fill_missing(data: Floats, missing: Bools) -> Floats:
    """Means of their columns for missing values; 0 where nothing is known."""
    known = np.where(missing, 0.0, data)
    means = known.sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)
    return np.where(missing, means, data)


MOST_ITEMS = 20_000
"""Items up to which all are shown."""

LEAST_CERTAIN, AT_RANDOM = 1_000, 9_000
"""Items shown of larger data sets: the least certain, and others at random."""

Items = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Content:
    """What a report shows of the items and of partitions of them."""

    shown: ShownPartitions
    heat: SimilarityMap
    heat_items: tuple[Items, Items]
    """The items shown from top to bottom of the heat map, and where its cells begin among them."""
    place: ItemPositions | None
    items: Items | None
    """Which items are shown; None for all."""
    note: str
    """What is to be known of them."""
    names: tuple[str, ...] | None
    columns: Mapping[str, NDArray[Any]]
    """Per item: probability, the likeliest other cluster (−1: none) and share of the loss."""
    cores: tuple[Core, ...]
    """From the smallest probability on; none of draws too many for a short search."""
    differing: Mapping[str, Items]
    """Items of each representative whose cluster differs from the heaviest representative."""


def prepare(summary: Summary) -> Content:
    """The content of the report on a summary; of very many items a part of them.

    Cost: the heat map (see :func:`prepare_similarity`), one ball per probability on
    offer, and a few cores from the runs of the summary's.
    """
    heat = prepare_similarity(summary._posterior, summary.labels)
    table, core, several = summary.items, summary.core, summary.representatives
    columns = {
        "probability": table.probability.astype(np.float32),
        "other": table.other,
        "share": table.share.astype(np.float32),
    }
    cores: list[CredibleCore] = []
    if core is not None:
        others = cores_at(core, [prob for prob in PROBS if prob != core.prob])
        cores = sorted([core, *others], key=attrgetter("prob"))
    moved: dict[str, Items] = {}
    if several is not None and several.n > 1:
        moved = {f"representative{r}": moved_items(several, r) for r in range(several.n)}
    content = Content(
        shown=shown_partitions(summary),
        heat=heat,
        heat_items=(heat.order, heat.edges),
        place=item_positions(summary.data, summary.data_names, summary.data_categories),
        items=None,
        note="",
        names=summary.draws.item_names,
        columns=columns,
        cores=tuple([Core(one.prob, one.sentence, one.partial.items) for one in cores]),
        differing=moved,
    )
    return content if heat.n_items <= MOST_ITEMS else with_fewer_items(content)


def with_fewer_items(content: Content) -> Content:
    """The same content with a part of the items, and a note that says so."""
    heat, place = content.heat, content.place
    items = _chosen(heat, content.columns["probability"])

    def among(some: Items) -> Items:
        """Places among the items shown of those that are."""
        return np.searchsorted(items, np.intersect1d(some, items))

    there = np.isin(heat.order, items)
    return replace(
        content,
        items=items,
        note=f"Shown are {items.size:,} of {heat.n_items:,} items: the {LEAST_CERTAIN:,} least "
        "certain, and others at random from every part of the heat map. Numbers in the text, sizes "
        "of clusters and the heat map are about all items. summary.labels holds the labels of all.",
        shown=content.shown._replace(labels=tuple(row[items] for row in content.shown.labels)),
        heat_items=(
            np.searchsorted(items, heat.order[there]),
            np.concatenate(([0], np.cumsum(there)))[heat.edges],
        ),
        place=None if place is None else place._replace(x=place.x[items], y=place.y[items]),
        names=None if content.names is None else tuple(content.names[i] for i in items.tolist()),
        columns={name: column[items] for name, column in content.columns.items()},
        cores=tuple(core._replace(items=among(core.items)) for core in content.cores),
        differing={key: among(moved) for key, moved in content.differing.items()},
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


def convergence(summary: AnySummary) -> str:
    """Convergence in one line."""
    found = summary.diagnostics
    many = f"{counted(len(found.warnings), 'warning')}, see above"
    return f"{text.convergence(summary)}, {'nothing to warn about' if found.ok else many}"


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


class ShownPartitions(NamedTuple):
    """Every partition once, with colours that follow the clusters, and who refers to it."""

    labels: tuple[Labels, ...]
    """Clusters of the items that are shown."""
    colours: tuple[Items, ...]
    """Colour index of each cluster of each partition."""
    sizes: tuple[Items, ...]
    """Items of each cluster, of all that there are."""
    choices: dict[str, dict[str, Any]]
    """Estimates that can be shown, whatever the credible probability, as the page reads them."""
    levels: list[dict[str, Any]]
    """The credible balls in words, each with its bounds by name."""
    start: int
    """The level of the summary's own probability."""


def shown_partitions(summary: Summary) -> ShownPartitions:
    """Estimates and bounds; the estimate of the summary is partition 0.

    Colours are matched with the estimate's by :func:`colour_indices`. One ball
    per probability, from distances already computed.
    """
    distinct, main, choices = _Distinct(), summary.estimate, dict[str, dict[str, Any]]()

    def offer(key: str, title: str, labels: Labels, text: str) -> None:
        number = distinct.number(labels)
        choices[key] = {"title": title, "partition": number, "text": text}

    offer("estimate", "Estimate", main.labels, estimate_text(main))
    for key, name, found in (
        ("vi", "VI", summary.vi_estimate),
        ("binder", "Binder", summary.binder_estimate),
    ):
        if found is not main:
            offer(key, f"{name}'s estimate", found.labels, estimate_text(found))
    several = summary.representatives
    if several is not None and several.n > 1:
        for r, labels in enumerate(several.labels):
            mass = percent(round(float(several.weights[r]), 3))
            title, told = f"Representative {r} ({mass})", representative_text(several, r)
            offer(f"representative{r}", title, labels, told)
    for key, corner in wide_corners(summary.path).items():
        best = "optimal" if corner.is_proven else "the best found"
        number = counted(corner.n_clusters, "cluster")
        title = f"{number}, prices {corner.low:.2f} to {corner.high:.2f}"
        told = f"{best} for prices of splitting from {corner.low:.4f} to {corner.high:.4f}."
        offer(key, title, corner.labels, f"{clusters(corner.labels)}; {told}")
    if (curve := summary.curve) is not None:
        for j, k in enumerate(curve.k.tolist()):
            above = f"{amount(curve.excess[j], curve.loss)} ({curve.percent[j]:.2g}%)"
            told = f"{clusters(curve.labels[j])}; {above} above the estimate."
            offer(f"k{k}", f"Best with {counted(k, 'cluster')}", curve.labels[j], told)
    probs = sorted({*PROBS, summary.prob})
    main_ball = summary.ball
    balls = [main_ball if p == main_ball.prob else ball_at(main_ball, p) for p in probs]
    levels = _levels(summary, balls, distinct)
    labels, start = tuple(distinct.labels), probs.index(summary.prob)
    sizes = tuple(np.bincount(row) for row in labels)
    return ShownPartitions(labels, tuple(colour_indices(labels)), sizes, choices, levels, start)


def wide_corners(path: PricePath | None) -> dict[str, Corner]:
    """Corners of a price path that can be seen in a picture, by key, and that of its own price."""
    if path is None:
        return {}
    least = (path.high - path.low) / _WIDEST
    own = int(np.searchsorted(path.breakpoints, path.loss.price, side="right"))
    return {f"price{j}": c for j, c in enumerate(path) if c.high - c.low >= least or j == own}


class _Distinct:
    """Numbers partitions in order of appearance, each distinct one once."""

    def __init__(self) -> None:
        self.labels: list[Labels] = []
        self._known: dict[bytes, int] = {}

    def number(self, labels: Labels) -> int:
        key = np.asarray(labels, np.int32).tobytes()
        if key not in self._known:
            self._known[key] = len(self.labels)
            self.labels.append(labels)
        return self._known[key]


def _levels(
    summary: Summary, balls: list[CredibleBall], distinct: _Distinct
) -> list[dict[str, Any]]:
    """Balls in words; where several partitions tie at a bound, the first is shown."""
    bounds = [ball.bounds for ball in balls]
    numbers = [{kind: distinct.number(b.labels[0]) for kind, b in of.items()} for of in bounds]
    # Most bounds stay from one probability to the next.
    shown = {
        number[kind]: b
        for number, of in zip(numbers, bounds, strict=True)
        for kind, b in of.items()
    }
    told = dict(zip(shown, _bound_texts(summary.ball, list(shown.values())), strict=True))
    title, levels = summary.ball.loss.title, []
    sentences = text.sentences(summary, balls)
    for ball, number, of, sentence in zip(balls, numbers, bounds, sentences, strict=True):
        level, inside = percent(ball.prob), {}
        for kind, bound in of.items():
            far, sizes, changes = told[number[kind]]
            n_ties = len(bound.mass)
            ties = f" One of {n_ties:,} that tie." if n_ties > 1 else ""
            inside[kind] = {
                "partition": number[kind],
                "n_clusters": int(bound.n_clusters[0]),
                "distance": far,
                "mass": f"{bound.mass[0]:.2g}",
                "n_ties": n_ties,
                "text": f"{sizes}; {far} from the estimate. Among the partitions in the {level} "
                f"ball: {BOUNDS[kind][1]}.{ties}{changes}",
            }
        levels.append(
            {
                "prob": ball.prob,
                "percent": level,
                "radius": ball.radius,
                "ball": radius(ball, title),
                "sentence": sentence,
                "bounds": inside,
            }
        )
    return levels


def _bound_texts(ball: CredibleBall, bounds: list[Bound]) -> list[tuple[str, str, str]]:
    """Distance, clusters, and differences from the estimate if items are few, of each bound."""
    labels = np.array([bound.labels[0] for bound in bounds])
    far = [in_unit(brief(bound.distance, 3), ball.loss.unit) for bound in bounds]
    sizes = [sized(np.bincount(row).tolist(), most=_SIZES) for row in labels]
    changes = [""] * len(bounds)
    if ball.center.size <= EXPLAINED_ITEMS:
        found = explain_all(ball.center, labels, ball.loss, ball.draws.item_names)
        changes = [f" From the estimate: {f._in_words()}." if f.changes else "" for f in found]
    return list(zip(far, sizes, changes, strict=True))


def corner_rows(path: PricePath | None) -> dict[str, tuple[str, ...]]:
    """Prices, clusters, sizes and proof of every clustering of the path that can be seen."""
    return {
        key: (
            f"{corner.low:.4f} to {corner.high:.4f}",
            f"{corner.n_clusters:,}",
            of_sizes(np.bincount(corner.labels).tolist()).partition(" ")[2],
            "yes" if corner.is_proven else "no",
        )
        for key, corner in wide_corners(path).items()
    }


def path_text(path: PricePath | None, labels: Labels) -> str:
    """At which prices the estimate is the best, and how many other clusterings are at some."""
    if path is None:
        return ""
    hidden = len(path) - len(wide_corners(path))
    left = f" Not shown: {counted(hidden, 'clustering')} of too narrow a range." if hidden else ""
    best = "optimal" if path.gap == 0.0 else "the best found"
    many = f"{counted(len(path), 'clustering')} {'is' if len(path) == 1 else 'are'}"
    stable = path.stability(labels).in_words
    return f"The estimate is {stable}; {many} {best} at some price.{left}"


# ---------------------------------------------------------------- in words

_SIZES = 12
"""Cluster sizes that a sentence lists before it says how many more there are."""


def amount(value: float, loss: Loss) -> str:
    """A loss or distance with its unit."""
    return in_unit(brief(value, 3), loss.unit)


def clusters(labels: Labels) -> str:
    """Number and sizes of the clusters of a partition."""
    return sized(np.bincount(labels).tolist(), most=_SIZES)


def radius(ball: CredibleBall, title: str) -> str:
    """Radius of a ball with its error, and what is inside."""
    error = ball.radius_mcse
    plus_minus = f" ± {error:.2g}" if np.isfinite(error) else ""
    inside = counted(int(ball.inside.sum()), words(ball.draws.kind).draw)
    value, unit = brief(ball.radius, 3), ball.loss.unit
    return (
        f"radius {in_unit(value + plus_minus, unit)} ({title}); "
        f"{inside} inside, coverage {percent(ball.coverage)}"
    )


def estimate_text(found: PointEstimate) -> str:
    """The text beside an estimate that is shown."""
    loss = f"{amount(found.expected_loss, found.loss)} ({found.loss.title})"
    text = f"{clusters(found.labels)}; {words(found.kind).expected} loss {loss}, {found.proof}."
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


def representative_text(found: Representatives, number: int) -> str:
    """A representative: its mass, and what differs from the heaviest."""
    own = words(found.draws.kind).draws
    mass = f"Representative {number}, nearest to {100 * found.weights[number]:.3g}% of the {own}"
    if number == 0:
        return f"{mass}."
    return f"{mass}. From representative 0: {found.explain(number).in_words()}."
