"""The report as one HTML file: template, style, script, Bokeh and data in it."""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._files import PathLike, atomic_path
from partita._optional import require
from partita.plots._style import COLOURS, SHAPES, shape
from partita.report.figures import HEAT_STEPS, MOST_BRACKETS, asset, figures
from partita.report.holds import HEIGHT, LEVELS, WIDTH, Holds
from partita.report.how_many import HEIGHT as HIGH
from partita.report.how_many import WIDTH as WIDE
from partita.report.prepare import Content, prepare
from partita.report.wording import BOUNDS

if TYPE_CHECKING:
    from partita.summary.result import Summary

SCRIPTS = (
    *("data", "state", "clusters", "table", "heat"),
    *("panels", "theme", "plots", "holds", "how_many", "main"),
)
"""The page's own scripts, in the order they run."""


def write_report(summary: Summary, path: PathLike, *, overwrite: bool = False) -> None:
    """Write a report on a summary as one HTML file that needs no network.

    Parameters
    ----------
    summary : Summary
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
        temporary.write_text(page(prepare(summary)), encoding="utf-8", newline="\n")


def page(content: Content) -> str:
    """The whole page as text."""
    jinja2 = require("jinja2", extra="report", purpose="the report")
    bokeh = require("bokeh.resources", extra="report", purpose="the report")
    document, roots = _document(content)
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    safe = jinja2.utils.markupsafe.Markup
    library = "\n".join(bokeh.Resources(mode="inline", components=["bokeh"]).js_raw)
    scripts = "\n".join(asset(f"{name}.js") for name in SCRIPTS)
    text: str = environment.from_string(asset("page.html.j2")).render(
        content=content,
        most_brackets=MOST_BRACKETS,
        svg_width=WIDTH,
        svg_height=HEIGHT,
        wide=WIDE,
        high=HIGH,
        largest_cell=int(np.diff(content.heat.edges).max()),
        bounds={kind: title for kind, (title, _) in BOUNDS.items()},
        style=safe(asset("report.css")),
        policy=_policy(library, scripts),
        library=safe(library),
        scripts=safe(scripts),
        document=safe(_harmless(document)),
        data=safe(_harmless(json.dumps(_data(content, roots), allow_nan=False))),
    )
    return text


def _harmless(data: str) -> str:
    r"""JSON that cannot end the element it stands in, nor begin another.

    A browser ends a script at its closing tag, whatever the quotes around it.
    In JSON "<" occurs within strings only, where it may be written "\u003c".
    """
    return data.replace("<", "\\u003c")


def _policy(*scripts: str) -> str:
    """What the browser may do: run these scripts and no others, load nothing from anywhere."""
    digests = (base64.b64encode(sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
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
    """What the scripts need to know; arrays in base64."""
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
        "cores": [] if content.holds is None else _cores(content.holds),
        "columns": {name: _packed(values) for name, values in content.item_columns.items()},
        "order": _packed(order),
        "starts": _packed(starts),
        "steps": HEAT_STEPS,
        "together": [content.said.together_with, f"mean {content.said.probability}"],
    }


def _cores(holds: Holds) -> list[dict[str, Any]]:
    return [
        {"percent": one.percent, "prob": prob, "text": one.text, "items": _packed(one.items)}
        for prob, one in zip(LEVELS, holds.levels, strict=True)
    ]


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
