"""The report as one HTML file: template, style, scripts, Bokeh figures and data in it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._files import PathLike, atomic_path
from partita._imports import require
from partita._text import Words, counted, percent, words
from partita.plots._similarity import SimilarityMap
from partita.plots._style import COLOURS, OTHER, SHAPES, shape, similarity_colours
from partita.report.prepare import (
    BOUNDS,
    PROBS,
    Content,
    ItemPositions,
    convergence,
    feature_pictures,
    prepare,
)
from partita.summary import text
from partita.summary.features import FeatureSummary

if TYPE_CHECKING:
    from partita.summary.result import AnySummary, Summary


HEAT_STEPS = 10_000
"""Probabilities travel as whole numbers of this many parts: two bytes a cell."""

MOST_BRACKETS = 120
"""Clusters of the estimate that are framed; more frames would cover the cells."""

_INK = "#222222"
_QUIET = "#767676"
_TOOLS = "pan,wheel_zoom,reset,save"


def asset(name: str) -> str:
    """The text of one of the files that the page is made of: style, scripts, template."""
    return (files("partita.report") / "assets" / name).read_text(encoding="utf-8")


def _bokeh(module: str) -> Any:
    return require(f"bokeh.{module}", extra="report", purpose="the report")


def figures(content: Content) -> Mapping[str, Any]:
    """Every figure by the name of its place on the page."""
    source, said = _items_source(content), content.said
    found = {
        "heat": _heat(content.heat, said),
        "probability": _probability(content, source),
        "distances": _distances(content),
    }
    if content.place is not None:
        found["data"] = _sources(content.place, source, said)
    return found


def _figure(tools: str, height: int, **options: Any) -> Any:
    plot = _bokeh("plotting").figure(
        tools=tools,
        height=height,
        sizing_mode="stretch_width",
        toolbar_location="right" if tools else None,
        output_backend="canvas",
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        **options,
    )
    plot.toolbar.logo = None
    plot.toolbar.active_scroll = None  # the wheel scrolls the page
    models = _bokeh("models")
    plot.toolbar.stylesheets = [models.InlineStyleSheet(css=asset("toolbar.css"))]
    plot.axis.axis_label_text_font_style = "normal"
    plot.axis.axis_label_text_color = plot.axis.major_label_text_color = _INK
    plot.axis.axis_line_color = plot.axis.major_tick_line_color = _QUIET
    plot.axis.minor_tick_line_color = None
    plot.grid.grid_line_color = "#EBEBEB"
    return plot


def _label(plot: Any, x: str, y: str = "") -> None:
    """Set titles as plain text: in a string Bokeh takes what is between dollar signs for TeX."""
    for axis, title in ((plot.xaxis[0], x), (plot.yaxis[0], y)):
        if title:
            axis.axis_label = _bokeh("models").PlainText(text=title)


def _items_source(content: Content) -> Any:
    """One row per item, shared by the pictures whose points are items."""
    order, _ = content.heat_items
    n = order.size
    columns = {
        "position": np.argsort(order).astype(np.int32),
        "probability": content.item_columns["probability"],
        "colour": [OTHER] * n,
        "shape": ["circle"] * n,
        "cluster": np.zeros(n, np.int32),
        "name": [""] * n,
    }
    if content.place is not None:
        columns["x"] = content.place.x
        columns["y"] = content.place.y
    return _bokeh("models").ColumnDataSource(columns, name="items")


def _points(plot: Any, source: Any, x: str, y: str, n: int, said: Words) -> None:
    drawn = plot.scatter(
        x,
        y,
        source=source,
        size=8 if n <= 500 else 5 if n <= 5_000 else 3.5,
        marker="shape",
        fill_color="colour",
        fill_alpha=0.85 if n <= 5_000 else 0.6,
        line_color=_INK if n <= 500 else None,
        line_width=0.5,
        selection_line_color=_INK,
        selection_line_width=1.5,
        selection_fill_alpha=1.0,
        nonselection_fill_alpha=0.1,
        nonselection_line_alpha=0.1,
    )
    models = _bokeh("models")
    # Only points are selected: tools that reach the curve behind them would fade it.
    box, *others = (
        tool(renderers=[drawn])
        for tool in (models.BoxSelectTool, models.LassoSelectTool, models.TapTool)
    )
    hover = models.HoverTool(
        renderers=[drawn],
        tooltips=[
            ("item", "@name"),
            ("cluster", "@cluster"),
            (said.probability, "@probability{0.00}"),
        ],
    )
    plot.add_tools(box, *others, hover)
    plot.toolbar.active_drag = box


def _sources(place: ItemPositions, source: Any, said: Words) -> Any:
    plot = _figure(_TOOLS, 430)
    if place.curve is not None:
        plot.line(*place.curve, color=_QUIET, line_width=1.5)
    _points(plot, source, "x", "y", place.x.size, said)
    _label(plot, place.x_title, place.y_title)
    return plot


def _probability(content: Content, source: Any) -> Any:
    alone, said, n = content.place is None, content.said, content.heat_items[0].size
    plot = _figure(_TOOLS if alone else "reset,save", 430 if alone else 260)
    plot.y_range = _bokeh("models").Range1d(-0.04, 1.06)
    _points(plot, source, "position", "probability", n, said)
    _label(plot, "items in the order of the heat map", said.probability)
    return plot


def _heat(heat: SimilarityMap, said: Words) -> Any:
    models = _bokeh("models")
    n = heat.values.shape[0]
    strip = 0.045 * n
    plot = _figure(
        _TOOLS,
        520,
        x_range=models.Range1d(-strip, n, bounds=(-strip, n)),
        y_range=models.Range1d(n, -strip, bounds=(-strip, n)),
        aspect_ratio=1.0,
        max_width=640,
        name="heat",
    )
    # The page's script makes the selection from the box: no part of the picture is selected.
    box = models.BoxSelectTool(renderers=[])
    plot.add_tools(box)
    plot.toolbar.active_drag = box
    plot.axis.visible = False
    plot.grid.visible = False
    mapper = models.LinearColorMapper(palette=similarity_colours(), low=0, high=HEAT_STEPS)
    cells = np.round(heat.values * HEAT_STEPS).astype(np.uint16)
    image = models.ColumnDataSource({"image": [cells]}, name="cells")
    plot.image("image", x=0, y=0, dw=n, dh=n, source=image, color_mapper=mapper, level="image")
    _brackets(plot, heat)
    _shades(plot)
    plot.add_layout(_colour_bar(mapper, said), "below")
    return plot


def _brackets(plot: Any, heat: SimilarityMap) -> None:
    """The clusters of the estimate as squares along the diagonal."""
    if heat.clusters.size > MOST_BRACKETS:
        return
    # A cluster may begin within a cell that holds several items.
    begins = np.interp(heat.starts, heat.edges, np.arange(heat.edges.size))
    low, high = begins[:-1], begins[1:]
    look = {"fill_color": None, "line_color": COLOURS[0], "line_width": 1.5}
    plot.quad(left=low, right=high, top=low, bottom=high, **look)


def _shades(plot: Any) -> None:
    """Strips in the colours of the partition shown, and veils over what is not selected."""
    models = _bokeh("models")
    sides = ("left", "right", "top", "bottom")
    looks: dict[str, dict[str, Any]] = {
        "strip": {"fill_color": "colour", "line_color": None},
        "veil": {"fill_color": "#AEB6BD", "fill_alpha": 0.65, "line_color": None},
        "cursor": {"fill_color": None, "line_color": "#D55E00", "line_width": 2},
    }
    for name, look in looks.items():
        columns: dict[str, list[Any]] = {side: [] for side in sides}
        if name == "strip":
            columns["colour"] = []
        source = models.ColumnDataSource(columns, name=name)
        plot.quad(*sides, source=source, **look)


def _colour_bar(mapper: Any, said: Words) -> Any:
    models = _bokeh("models")
    parts = np.linspace(0, HEAT_STEPS, 5).astype(int).tolist()
    return models.ColorBar(
        color_mapper=mapper,
        ticker=models.FixedTicker(ticks=parts),
        major_label_overrides={part: f"{part / HEAT_STEPS:g}" for part in parts},
        height=10,
        title=said.together,
        title_text_font_style="normal",
        background_fill_color=None,
    )


def _distances(content: Content) -> Any:
    models = _bokeh("models")
    plot = _figure("", 260)
    edges = content.distance_edges
    look = {"fill_color": "#9AA5B1", "line_color": "white"}
    plot.quad(left=edges[:-1], right=edges[1:], top=content.distance_masses, bottom=0, **look)
    plot.add_layout(
        models.BoxAnnotation(name="radius_box", right=0, fill_color=COLOURS[0], fill_alpha=0.12)
    )
    plot.add_layout(
        models.Span(
            name="radius_line", dimension="height", location=0, line_color=COLOURS[0], line_width=2
        )
    )
    plot.y_range.start = 0
    margin = 0.05 * float(edges[-1] - edges[0])
    start = max(0.0, float(edges[0]) - margin)
    plot.x_range = models.Range1d(start, float(edges[-1]) + margin)
    _label(plot, content.distance_title, f"share of {content.said.draws}")
    return plot


SCRIPTS = (
    *("data", "state", "clusters", "table", "heat"),
    *("panels", "theme", "plots", "holds", "how_many", "main"),
)
"""The page's own scripts, in the order they run."""


def write_report(
    summary: Summary | FeatureSummary, path: PathLike, *, overwrite: bool = False
) -> None:
    """Write a report on a summary as one HTML file that needs no network.

    Parameters
    ----------
    summary : Summary or FeatureSummary
    path : path
        Written whole or not at all.
    overwrite : bool
        Replace a file that exists.

    Notes
    -----
    About 1.3 MB of the file is Bokeh; 200 items with 10,000 draws add some
    0.3 MB, 20,000 items some 2.5 MB. Beyond 500 items the heat map shows means
    over groups of items; beyond 20,000, points and tables show 10,000 of them,
    the least certain among these. Both are said.

    Examples
    --------
    >>> import os
    >>> import numpy as np, partita as pt
    >>> labels = np.random.default_rng(0).integers(0, 2, (200, 8))
    >>> pt.summarize(labels).to_html("report.html")
    >>> os.path.getsize("report.html") < 3_000_000
    True
    """
    # Opened first: a path that cannot be written is refused before the work, not after it.
    with atomic_path(path, overwrite=overwrite) as temporary:
        page = _of_features(summary) if isinstance(summary, FeatureSummary) else _of(summary)
        # A name may hold half of a surrogate pair, which UTF-8 has no bytes for.
        temporary.write_text(page, encoding="utf-8", errors="backslashreplace", newline="\n")


def _of(summary: Summary) -> str:
    """The page on partitions: figures that the reader chooses in, and what they need."""
    content = prepare(summary)
    bokeh = require("bokeh.resources", extra="report", purpose="the report")
    document, roots = _document(content)
    return _page(
        summary,
        "partitions",
        pictures=content.pictures,
        library="\n".join(bokeh.Resources(mode="inline", components=["bokeh"]).js_raw),
        scripts="\n".join(asset(f"{name}.js") for name in SCRIPTS),
        document=_harmless(document),
        data=_harmless(json.dumps(_data(content, roots), allow_nan=False)),
        content=content,
        heading=f"Clustering of {counted(summary.draws.n_items, 'item')}",
        most_brackets=MOST_BRACKETS,
        core_start=PROBS.index(0.9),
        largest_cell=int(np.diff(content.heat.edges).max()),
        bounds={kind: title for kind, (title, _) in BOUNDS.items()},
    )


def _of_features(summary: FeatureSummary) -> str:
    """The page on feature allocations, without scripts."""
    converged = {"Convergence": convergence(summary)} if summary.diagnostics.names else {}
    content = {
        "facts": dict(summary._statements()) | converged,
        "urgent": text.warnings_of(summary),
        "tables": summary.tables(),
        "ball": f"{percent(summary.prob)} {words(summary.draws.kind).ball}",
    }
    heading = f"Feature allocation of {counted(summary.draws.n_items, 'item')}"
    pictures = feature_pictures(summary)
    return _page(summary, "features", pictures=pictures, content=content, heading=heading)


def _page(
    summary: AnySummary,
    template: str,
    *,
    pictures: Mapping[str, str],
    library: str = "",
    scripts: str = "",
    document: str = "",
    data: str = "",
    **values: Any,
) -> str:
    """The whole page as text; everything is escaped but figures, scripts and their data."""
    jinja2 = require("jinja2", extra="report", purpose="the report")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    safe = jinja2.utils.markupsafe.Markup
    page: str = environment.get_template(f"{template}.html.j2").render(
        values,
        summary=summary,
        said=words(summary.draws.kind),
        origin=f"From {text.origin(summary)}, by partita {summary.versions['partita']}",
        lead=text.lead_of(summary),
        pictures={name: safe(svg) for name, svg in pictures.items()},
        style=safe(asset("report.css")),
        policy=_policy(*filter(None, (library, scripts))),
        library=safe(library),
        scripts=safe(scripts),
        document=safe(document),
        data=safe(data),
    )
    return page


def _harmless(data: str) -> str:
    r"""JSON that cannot end the element it stands in, nor begin another.

    A browser ends a script at its closing tag, whatever the quotes around it.
    In JSON "<" occurs within strings only, where it may be written "\u003c".
    """
    return data.replace("<", "\\u003c")


def _policy(*scripts: str) -> str:
    """The content security policy: run these scripts and no others, load nothing."""
    digests = (base64.b64encode(sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _document(content: Content) -> tuple[str, dict[str, str]]:
    """The Bokeh document as JSON, and the id of the root of each place on the page."""
    bokeh = require("bokeh.document", extra="report", purpose="the report")
    encoder = require("bokeh.core.json_encoder", extra="report", purpose="the report")
    document = bokeh.Document()
    roots = {}
    with document.models.freeze():  # each root would have Bokeh visit those before it again
        for place, plot in figures(content).items():
            document.add_root(plot)
            roots[place] = plot.id
    return encoder.serialize_json(document.to_json(deferred=False)), roots


def _data(content: Content, roots: dict[str, str]) -> dict[str, Any]:
    """The data of the scripts; arrays in base64."""
    shown, (order, starts) = content.shown, content.heat_items
    n_colours = max(int(colours.max()) for colours in shown.colours) + 1
    return {
        "roots": roots,
        "n_items": int(order.size),
        "numbers": None if content.item_numbers is None else _packed(content.item_numbers),
        "names": content.item_names,
        "colours": COLOURS,
        "shapes": [SHAPES.index(shape(index)) for index in range(n_colours)],
        "shape_names": SHAPES,
        "partitions": [
            {"labels": _packed(labels), "colours": colours.tolist(), "sizes": sizes.tolist()}
            for labels, colours, sizes in zip(shown.labels, shown.colours, shown.sizes, strict=True)
        ],
        "choices": {
            choice.key: {"partition": choice.partition, "title": choice.title, "text": choice.text}
            for choice in shown.choices
        },
        "bounds": {kind: title for kind, (title, _) in BOUNDS.items()},
        "levels": [
            {**vars(level), "bounds": {kind: vars(b) for kind, b in level.bounds.items()}}
            for level in shown.levels
        ],
        "start": shown.start,
        "cores": [
            {"percent": f"{100 * core.prob:g}%", "text": core.text, "items": _packed(core.items)}
            for core in content.cores
        ],
        "columns": {name: _packed(values) for name, values in content.item_columns.items()},
        "order": _packed(order),
        "starts": _packed(starts),
        "steps": HEAT_STEPS,
        "together": [content.said.together_with, f"mean {content.said.probability}"],
    }


def _packed(values: NDArray[Any]) -> dict[str, str]:
    """An array as base64, whole numbers in the smallest type that holds them."""
    if values.dtype.kind in "iu":
        negative = int(values.min(initial=0)) < 0
        kinds = ("int8", "int16", "int32") if negative else ("uint8", "uint16", "uint32")
        largest = int(np.abs(values).max(initial=0))
        kind = next(k for k in kinds if largest <= np.iinfo(k).max)
        values = values.astype(kind)
    little = values.astype(values.dtype.newbyteorder("<"))
    return {"type": values.dtype.name, "bytes": base64.b64encode(little.tobytes()).decode()}
