"""A summary as a small page in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from partita import _result as html
from partita._text import counted, counts, in_unit, of_sizes, percent, words
from partita.summary.paper import cluster_rows

if TYPE_CHECKING:
    from partita.summary.result import Summary

_SHOWN = 8
_SENTENCE = "border-left:4px solid #0072B2;padding:4px 12px;margin:8px 0"
_PICTURE = "width:200px;image-rendering:pixelated;border:1px solid #999"


def page(summary: Summary, picture: str | None) -> str:
    """The answer, what stands against it, the clusters, and the similarity as a picture."""
    draws, found, ball = summary.draws, summary.estimate, summary.ball
    said = words(draws.kind)
    sizes = of_sizes(summary.clusters.size.tolist())
    answer = [
        ("Estimate", f"{counted(found.n_clusters, 'cluster')} of {sizes}"),
        (
            f"{said.expected.capitalize()} {found.loss.title}",
            f"{in_unit(f'{found.expected_loss:.4g}', found.loss.unit)}, {found.proof}",
        ),
        (
            f"{percent(ball.prob)} {said.ball}",
            f"radius {in_unit(f'{ball.radius:.3g}', ball.loss.unit)}; "
            + "; ".join(
                f"{name} {counts(bound.n_clusters[:1].tolist(), 'cluster')}"
                for name, bound in ball.bounds.items()
            ),
        ),
    ]
    answer.append(("How many clusters", summary.how_many))
    warnings = summary.diagnostics.warnings
    lead = "To write only once the warnings are settled: " if warnings else "To write: "
    written = f"<div style='{_SENTENCE}'>{lead}{escape(summary.sentence)}</div>"
    image = "" if picture is None else f"<img style='{_PICTURE}' alt='similarity' src='{picture}'>"
    left = html.facts(answer) + written + _clusters(summary)
    return (
        html.title(
            f"Clustering of {counted(draws.n_items, 'item')}, {counted(draws.n_draws, said.draw)}"
        )
        + "".join(map(html.warning, warnings))
        + "<div style='display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start'>"
        + f"<div style='max-width:44em'>{left}</div>{image}</div>"
    )


def _clusters(summary: Summary) -> str:
    table = summary.clusters
    headings = ["cluster", "size", "within", "unchanged", f"Jaccard ≥ {table.jaccard:g}"]
    more = len(table) - _SHOWN
    rest = html.note(f"and {counted(more, 'smaller cluster')}") if more > 0 else ""
    return html.table(headings, cluster_rows(table)[:_SHOWN]) + rest
