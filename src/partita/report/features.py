"""The report on feature draws: one HTML file with figures and tables, without scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from partita import plots
from partita._files import PathLike, atomic_path
from partita._imports import require
from partita._result import Table
from partita._result import table as html_table
from partita._text import percent, words
from partita.plots._style import library
from partita.report.page import asset
from partita.report.prepare import svg
from partita.summary import text

if TYPE_CHECKING:
    from partita.summary.features import FeatureSummary

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="partita">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p class="origin">{origin}</p>
</header>
<main>
{body}
</main>
</body>
</html>
"""


def write_report(summary: FeatureSummary, path: PathLike, *, overwrite: bool = False) -> None:
    """Write a report on a summary of feature draws as one HTML file that needs no network.

    Parameters
    ----------
    summary : FeatureSummary
    path : path
        Written whole or not at all.
    overwrite : bool
        Replace a file that exists.
    """
    with atomic_path(path, overwrite=overwrite) as temporary:
        temporary.write_text(page(summary), encoding="utf-8", newline="\n")


def page(summary: FeatureSummary) -> str:
    """The whole page as text."""
    require("matplotlib.figure", extra="report", purpose="the report")
    said = words(summary.draws.kind)
    with library("style").context("default"):
        figures = {
            "memberships": svg("memberships", plots.memberships(summary)),
            "ball": svg("ball", plots.feature_ball(summary)),
            "counts": svg("counts", plots.n_features(summary)),
            "distances": svg("distances", plots.distances(summary)),
            "map": svg("map", plots.posterior_map(summary)),
        }
    tables = summary.tables()
    ball = f"{percent(summary.prob)} {said.ball}"
    sections = [
        _answer(summary),
        _section(
            "Who is in which feature?",
            "<div class='pair'>",
            _figure(
                figures["memberships"],
                f"{said.probability.capitalize()} of membership. A feature of a {said.draw} counts "
                "for the feature of the estimate that it is matched with, one to one and with the "
                "largest overlap; blue frames are the estimate. Rows need not sum to 1.",
            ),
            "<div>",
            _table(tables["features"]),
            _table(tables["items"]),
            "</div></div>",
        ),
        _section(
            "How many features?",
            _figure(figures["counts"], summary.how_many),
        ),
        _section(
            f"The {ball}",
            _figure(
                figures["ball"],
                f"The centre and the bounds of the {ball}: columns are features, in the colour of "
                "the centre's feature that they are matched with; framed: memberships of the "
                "centre that the bound does not have.",
            ),
            _table(tables["bounds"]),
            "<div class='pair'>",
            _figure(figures["distances"], f"Distances of the {said.draws} from the estimate."),
            _figure(
                figures["map"],
                f"The {said.draws} in the plane, as near to each other as their distances allow.",
            ),
            "</div>",
        ),
    ]
    if summary.diagnostics.names:
        notes = "".join(f"<p class='hint'>{escape(note)}</p>" for note in summary.diagnostics.notes)
        sections.append(_section("Did the chains converge?", _table(tables["diagnostics"]), notes))
    return _PAGE.format(
        title="Feature allocation",
        origin=escape(text.origin(summary)),
        style=asset("report.css"),
        body="\n".join(sections),
    )


def _answer(summary: FeatureSummary) -> str:
    warnings = "".join(
        f"<p class='warning'><strong>Warning.</strong> {escape(warning)}</p>"
        for warning in text.warnings_of(summary)
    )
    facts = "".join(
        f"<div{' class=lead' if name == 'Estimate' else ''}><dt>{escape(name)}</dt>"
        f"<dd>{escape(told)}</dd></div>"
        for name, told in summary._statements()
    )
    quote = (
        f"<figure class='quote'><figcaption>{escape(text.lead_of(summary))}</figcaption>"
        f"<blockquote>{escape(summary.sentence)}</blockquote></figure>"
    )
    title = "<h2>The answer</h2>"
    return f"<section id='answer'>{title}{warnings}<dl class='facts'>{facts}</dl>{quote}</section>"


def _section(title: str, *parts: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>"


def _figure(picture: str, caption: str) -> str:
    shown = (
        f"<div class='plot' role='img' aria-label='{escape(caption, quote=True)}'>{picture}</div>"
    )
    return f"<figure>{shown}<figcaption class='caption'>{escape(caption)}</figcaption></figure>"


def _table(table: Table) -> str:
    shown: Any = html_table(table.columns, table.rows, table.caption)
    return f"<div class='scroll'>{shown}</div>"
