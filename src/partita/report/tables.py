"""The tables of the report, as text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from partita._text import counted, origin_in_words, percent, words
from partita.plots.functional_table import title_of
from partita.representative.representatives import representatives_in_words

if TYPE_CHECKING:
    from partita.representative.representatives import Representatives
    from partita.summary.result import Summary

_STARTS = 12
"""Starts of the search that are listed."""
_CLUSTERS = 50


@dataclass(frozen=True)
class ReportTable:
    """Columns with a heading each; the first column names the row."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def comparison_table(summary: Summary) -> ReportTable:
    """The estimates under different losses."""
    table = summary.comparison
    rows = tuple(
        (
            name,
            f"{table.n_clusters[j]:,}",
            _number(table.expected_vi[j]),
            _number(table.expected_vi_lb[j]),
            _number(table.expected_binder[j]),
        )
        for j, name in enumerate(table.names)
    )
    caption = (
        f"Estimates under different losses. VI's and Binder's estimates are "
        f"{table.vi_distance:.3g} bits apart."
    )
    heading = words(summary.draws.kind).mean_of.format
    losses = tuple(map(heading, ("VI", "VI_LB", "Binder")))
    return ReportTable(caption, ("Estimate", "Clusters", *losses), rows)


def rivals_table(rivals: Representatives) -> ReportTable:
    """Rival answers: masses, chains, and what differs from the heaviest."""
    rows = tuple(
        (
            f"Rival {r}",
            percent(round(float(rivals.weights[r]), 3)),
            f"{rivals.n_clusters[r]:,}",
            _number(rivals.expected_loss[r]),
            _number(rivals.radius[r]),
            "–" if r == 0 else rivals.explain(r).in_words(),
        )
        for r in range(rivals.n)
    )
    ball = f"{percent(rivals.prob)} radius"
    columns = ("Rival", "Mass", "Clusters", "Mean loss", ball, "Differs from rival 0")
    return ReportTable(representatives_in_words(rivals), columns, rows)


def cluster_table(summary: Summary) -> ReportTable:
    """How certain each cluster of the estimate is, from the largest on."""
    table = summary.clusters
    largest = sorted(range(len(table)), key=lambda k: -int(table.size[k]))
    rows = tuple(
        (
            str(k),
            f"{table.size[k]:,}",
            f"{table.within[k]:.2f}",
            str(table.nearest[k]) if table.nearest[k] >= 0 else "–",
            f"{table.nearest_similarity[k]:.2f}",
            f"{table.unchanged[k]:.2f}",
            f"{table.similar[k]:.2f}",
        )
        for k in largest[:_CLUSTERS]
    )
    caption = "Clusters of the estimate, from the largest on, and how certain they are."
    if len(table) > _CLUSTERS:
        caption += f" {len(table) - _CLUSTERS:,} smaller ones are not listed."
    columns = ("Cluster", "Size", "Similarity within", "Nearest", "Similarity to it")
    event = words(summary.draws.kind).event.format
    shares = (event("unchanged"), event(f"Jaccard ≥\u00a0{table.jaccard:g}"))
    return ReportTable(caption, (*columns, *shares), rows)


def diagnostics_table(summary: Summary) -> ReportTable:
    """Convergence of each functional."""
    found = summary.diagnostics
    rows = tuple(
        (
            title_of(name),
            _number(found.mean[j]),
            _number(found.sd[j]),
            _number(found.mcse[j], 2),
            _whole(found.ess_bulk[j]),
            _whole(found.ess_tail[j]),
            f"{found.rhat[j]:.3f}" if math.isfinite(found.rhat[j]) else "–",
        )
        for j, name in enumerate(found.names)
    )
    columns = ("Quantity", "Mean", "SD", "MCSE", "Bulk ESS", "Tail ESS", "R-hat")
    return ReportTable(
        "Quantities that do not depend on labels, and their convergence.", columns, rows
    )


def starts_table(summary: Summary) -> ReportTable:
    """Where the search began and ended, best first."""
    kind = summary.draws.kind
    starts = sorted(summary.estimate.search.starts, key=lambda start: start.expected_loss)
    rows = tuple(
        (
            origin_in_words(start.origin, kind),
            _number(start.expected_loss, 6),
            f"{start.n_clusters:,}",
        )
        for start in starts[:_STARTS]
    )
    reached = f"{words(kind).expected.capitalize()} loss reached"
    caption = "Starts of the search, best first."
    if len(starts) > _STARTS:
        caption = f"The {_STARTS} best of {counted(len(starts), 'start')} of the search."
    return ReportTable(caption, ("Began at", reached, "Clusters"), rows)


def mapping_table(caption: str, columns: tuple[str, str], values: Mapping[str, Any]) -> ReportTable:
    """Names and values: settings, versions."""
    rows = tuple((str(name), "default" if v is None else str(v)) for name, v in values.items())
    return ReportTable(caption, columns, rows)


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


def _number(value: float, digits: int = 4) -> str:
    return f"{value:.{digits}g}" if math.isfinite(value) else "–"


def _whole(value: float) -> str:
    return f"{value:,.0f}" if math.isfinite(value) else "–"
