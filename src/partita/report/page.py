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
from partita._wording import counted, percent, with_unit, words
from partita.plots._items import prepare_distances
from partita.plots._style import COLOURS, OTHER, SHAPES, shape, similarity_colours
from partita.report.content import (
    BOUNDS,
    PROBS,
    Content,
    ItemPositions,
    call_text,
    convergence,
    corner_rows,
    feature_pictures,
    how_found,
    path_text,
    pictures,
    prepare,
)
from partita.summary import text
from partita.summary.features import FeatureSummary

if TYPE_CHECKING:
    from partita.credible.ball import CredibleBall
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


class Figures:
    """The figures that the reader selects items in, linked by one table of the items."""

    def __init__(self, content: Content, ball: CredibleBall) -> None:
        self.models = _bokeh("models")
        self.content, self.place, self.ball = content, content.place, ball
        self.said = words(ball.draws.kind)
        self.n = content.heat_items[0].size
        columns = {
            "position": np.argsort(content.heat_items[0]).astype(np.int32),
            "probability": content.columns["probability"],
            "colour": [OTHER] * self.n,
            "shape": ["circle"] * self.n,
            "cluster": np.zeros(self.n, np.int32),
            "name": [""] * self.n,
        }
        if self.place is not None:
            columns |= {"x": self.place.x, "y": self.place.y}
        self.source = self.models.ColumnDataSource(columns, name="items")

    def by_place(self) -> dict[str, Any]:
        """Every figure by the name of its place on the page."""
        found = {
            "heat": self.heat(),
            "probability": self.probability(),
            "distances": self.distances(),
        }
        return found if self.place is None else found | {"data": self.data(self.place)}

    def figure(self, tools: str, height: int, **options: Any) -> Any:
        """An empty figure in the colours of the page."""
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
        plot.toolbar.stylesheets = [self.models.InlineStyleSheet(css=asset("toolbar.css"))]
        plot.axis.axis_label_text_font_style = "normal"
        plot.axis.axis_label_text_color = plot.axis.major_label_text_color = _INK
        plot.axis.axis_line_color = plot.axis.major_tick_line_color = _QUIET
        plot.axis.minor_tick_line_color = None
        plot.grid.grid_line_color = "#EBEBEB"
        return plot

    def label(self, plot: Any, x: str, y: str = "") -> None:
        """Set titles as plain text: in a string Bokeh takes what is between dollars for TeX."""
        for axis, title in ((plot.xaxis[0], x), (plot.yaxis[0], y)):
            if title:
                axis.axis_label = self.models.PlainText(text=title)

    def points(self, plot: Any, x: str, y: str) -> None:
        """The items at two of their columns."""
        drawn = plot.scatter(
            x,
            y,
            source=self.source,
            size=8 if self.n <= 500 else 5 if self.n <= 5_000 else 3.5,
            marker="shape",
            fill_color="colour",
            fill_alpha=0.85 if self.n <= 5_000 else 0.6,
            line_color=_INK if self.n <= 500 else None,
            line_width=0.5,
            selection_line_color=_INK,
            selection_line_width=1.5,
            selection_fill_alpha=1.0,
            nonselection_fill_alpha=0.1,
            nonselection_line_alpha=0.1,
        )
        tips = {"item": "@name", "cluster": "@cluster", self.said.probability: "@probability{0.00}"}
        # Only points are selected: tools that reach the curve behind them would fade it.
        box = self.models.BoxSelectTool(renderers=[drawn])
        plot.add_tools(
            box,
            self.models.LassoSelectTool(renderers=[drawn]),
            self.models.TapTool(renderers=[drawn]),
            self.models.HoverTool(renderers=[drawn], tooltips=list(tips.items())),
        )
        plot.toolbar.active_drag = box

    def data(self, place: ItemPositions) -> Any:
        """The items at their data."""
        plot = self.figure(_TOOLS, 430)
        if place.curve is not None:
            plot.line(*place.curve, color=_QUIET, line_width=1.5)
        self.points(plot, "x", "y")
        self.label(plot, place.x_title, place.y_title)
        return plot

    def probability(self) -> Any:
        """The items at their certainty."""
        alone = self.place is None
        plot = self.figure(_TOOLS if alone else "reset,save", 430 if alone else 260)
        plot.y_range = self.models.Range1d(-0.04, 1.06)
        self.points(plot, "position", "probability")
        self.label(plot, "items in the order of the heat map", self.said.probability)
        return plot

    def heat(self) -> Any:
        """The similarity matrix, with a strip in the colours of the partition shown."""
        heat, models = self.content.heat, self.models
        n = heat.values.shape[0]
        strip = 0.045 * n
        plot = self.figure(
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
        plot.axis.visible = plot.grid.visible = False
        mapper = models.LinearColorMapper(palette=similarity_colours(), low=0, high=HEAT_STEPS)
        cells = np.round(heat.values * HEAT_STEPS).astype(np.uint16)
        image = models.ColumnDataSource({"image": [cells]}, name="cells")
        plot.image("image", x=0, y=0, dw=n, dh=n, source=image, color_mapper=mapper, level="image")
        if heat.clusters.size <= MOST_BRACKETS:  # squares along the diagonal
            # A cluster may begin within a cell that holds several items.
            begins = np.interp(heat.starts, heat.edges, np.arange(heat.edges.size))
            low, high = begins[:-1], begins[1:]
            frame = {"fill_color": None, "line_color": COLOURS[0], "line_width": 1.5}
            plot.quad(left=low, right=high, top=low, bottom=high, **frame)
        sides = ("left", "right", "top", "bottom")
        for name, look in _SHADES.items():
            wanted = (*sides, "colour") if name == "strip" else sides
            columns: dict[str, list[Any]] = {side: [] for side in wanted}
            plot.quad(*sides, source=models.ColumnDataSource(columns, name=name), **look)
        parts = np.linspace(0, HEAT_STEPS, 5).astype(int).tolist()
        bar = models.ColorBar(
            color_mapper=mapper,
            ticker=models.FixedTicker(ticks=parts),
            major_label_overrides={part: f"{part / HEAT_STEPS:g}" for part in parts},
            height=10,
            title=self.said.together,
            title_text_font_style="normal",
            background_fill_color=None,
        )
        plot.add_layout(bar, "below")
        return plot

    def distances(self) -> Any:
        """The draws by their distance from the estimate, and the radius of the ball shown."""
        models, ball = self.models, self.ball
        plot = self.figure("", 260)
        shown = prepare_distances(ball)
        edges = shown.edges
        look = {"fill_color": "#9AA5B1", "line_color": "white"}
        plot.quad(
            left=edges[:-1], right=edges[1:], top=shown.inside + shown.outside, bottom=0, **look
        )
        blue = COLOURS[0]
        plot.add_layout(
            models.BoxAnnotation(name="radius_box", right=0, fill_color=blue, fill_alpha=0.12)
        )
        plot.add_layout(
            models.Span(
                name="radius_line", dimension="height", location=0, line_color=blue, line_width=2
            )
        )
        plot.y_range.start = 0
        plot.x_range = models.Range1d(0.0, 1.05 * float(edges[-1]))
        title = with_unit(ball.loss.title, ball.loss.unit)
        self.label(plot, title, f"share of {self.said.draws}")
        return plot


_SHADES: dict[str, dict[str, Any]] = {
    "strip": {"fill_color": "colour", "line_color": None},
    "veil": {"fill_color": "#AEB6BD", "fill_alpha": 0.65, "line_color": None},
    "cursor": {"fill_color": None, "line_color": "#D55E00", "line_width": 2},
}
"""Strips in the colours of the partition shown, veils over what is not selected, the cursor."""


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
        page = (
            _feature_page(summary)
            if isinstance(summary, FeatureSummary)
            else _partition_page(summary)
        )
        # A name may hold half of a surrogate pair, which UTF-8 has no bytes for.
        temporary.write_text(page, encoding="utf-8", errors="backslashreplace", newline="\n")


def _partition_page(summary: Summary) -> str:
    """The page on partitions: figures that the reader chooses in, and what they need."""
    content = prepare(summary)
    bokeh = require("bokeh.resources", extra="report", purpose="the report")
    document, roots = _document(Figures(content, summary.ball).by_place())
    return _page(
        summary,
        "partitions",
        pictures(summary),
        library="\n".join(bokeh.Resources(mode="inline", components=["bokeh"]).js_raw),
        scripts="\n".join(asset(f"{name}.js") for name in SCRIPTS),
        document=_escape_json(document),
        data=_escape_json(json.dumps(_data(content, roots, summary), allow_nan=False)),
        content=content,
        corners=corner_rows(summary.path),
        path_text=path_text(summary.path, summary.labels),
        how_found=how_found(summary.estimate),
        call=call_text(summary),
        how_many=summary.how_many,
        most_brackets=MOST_BRACKETS,
        core_start=PROBS.index(0.9),
        largest_cell=int(np.diff(content.heat.edges).max()),
        bounds={kind: title for kind, (title, _) in BOUNDS.items()},
    )


def _feature_page(summary: FeatureSummary) -> str:
    """The page on feature allocations, without scripts."""
    return _page(summary, "features", feature_pictures(summary), how_many=summary.how_many)


def _page(
    summary: AnySummary,
    template: str,
    pictures: Mapping[str, str],
    *,
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
    said = words(summary.draws.kind)
    subject = "Clustering" if template == "partitions" else "Feature allocation"
    converged = {"Convergence": convergence(summary)} if summary.diagnostics.names else {}
    page: str = environment.get_template(f"{template}.html.j2").render(
        values,
        summary=summary,
        said=said,
        ball=f"{percent(summary.prob)} {said.ball}",
        in_draws=text.in_draws(summary),
        heading=f"{subject} of {counted(summary.draws.n_items, 'item')}",
        origin=f"From {text.origin(summary)}, by partita {summary.versions['partita']}",
        urgent=text.warnings_of(summary),
        facts=dict(summary._statements()) | converged,
        lead=text.lead_of(summary),
        tables=summary.tables(),
        pictures={name: safe(svg) for name, svg in pictures.items()},
        style=safe(asset("report.css")),
        policy=_policy(*filter(None, (library, scripts))),
        library=safe(library),
        scripts=safe(scripts),
        document=safe(document),
        data=safe(data),
    )
    return page


def _escape_json(data: str) -> str:
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


def _document(figures: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """The Bokeh document as JSON, and the id of the root of each place on the page."""
    document = _bokeh("document").Document()
    with document.models.freeze():  # each root would have Bokeh visit those before it again
        for plot in figures.values():
            document.add_root(plot)
    roots = {place: plot.id for place, plot in figures.items()}
    return _bokeh("core.json_encoder").serialize_json(document.to_json(deferred=False)), roots


def _data(content: Content, roots: dict[str, str], summary: Summary) -> dict[str, Any]:
    """The data of the scripts; arrays in base64."""
    shown, (order, starts) = content.shown, content.heat_items
    said = words(summary.draws.kind)
    n_colours = max(int(colours.max()) for colours in shown.colours) + 1
    return {
        "roots": roots,
        "n_items": int(order.size),
        "numbers": None if content.items is None else _encode_array(content.items),
        "names": content.names,
        "colours": COLOURS,
        "shapes": [SHAPES.index(shape(index)) for index in range(n_colours)],
        "shape_names": SHAPES,
        "partitions": [
            {"labels": _encode_array(labels), "colours": colours.tolist(), "sizes": sizes.tolist()}
            for labels, colours, sizes in zip(shown.labels, shown.colours, shown.sizes, strict=True)
        ],
        "choices": shown.choices,
        "bounds": {kind: title for kind, (title, _) in BOUNDS.items()},
        "levels": shown.levels,
        "start": shown.start,
        "cores": [
            {"percent": f"{100 * p:g}%", "text": text, "items": _encode_array(items)}
            for p, text, items in content.cores
        ],
        "columns": {name: _encode_array(values) for name, values in content.columns.items()},
        "order": _encode_array(order),
        "starts": _encode_array(starts),
        "steps": HEAT_STEPS,
        "together": [said.together_with, f"mean {said.probability}"],
    }


def _encode_array(values: NDArray[Any]) -> dict[str, str]:
    """An array as base64, whole numbers in the smallest type that holds them."""
    if values.dtype.kind in "iu":
        negative = int(values.min(initial=0)) < 0
        kinds = ("int8", "int16", "int32") if negative else ("uint8", "uint16", "uint32")
        largest = int(np.abs(values).max(initial=0))
        kind = next(k for k in kinds if largest <= np.iinfo(k).max)
        values = values.astype(kind)
    little = values.astype(values.dtype.newbyteorder("<"))
    return {"type": values.dtype.name, "bytes": base64.b64encode(little.tobytes()).decode()}
