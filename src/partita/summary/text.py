"""A summary as one screen of plain text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from partita._text import brief, counted, counts, in_list, in_unit, of_sizes, percent, span, words
from partita.summary.how_many import how_many_in_words
from partita.summary.result import LATE

if TYPE_CHECKING:
    from partita.draws import Draws
    from partita.search.result import PointEstimate
    from partita.summary.result import Summary

WIDTH = 80
_NARROWEST = 40
_WARNS = "  ! "
"""What a warning begins with."""
_UNBROKEN = "\u00a0"
"""A space at which lines are not wrapped."""
_SHOWN_SECONDS = 1.0
"""Time from which on a search that need not be made says how long it took."""
_SHOWN = 6
"""Clusters and items listed; a screen has no room for more."""


class Line(NamedTuple):
    """A line of the screen, and what it is: a terminal may colour it by that."""

    text: str
    kind: Literal["plain", "rule", "heading", "warning"] = "plain"
    lead: int = 0
    """How many characters at its beginning say what it is about."""


def screen(summary: Summary, width: int = WIDTH, *, first: int = 0) -> str:
    """What a statistician would paste into a report, in lines of at most ``width``.

    Tables that do not fit lose columns; clusters and unnamed items count from ``first``.
    """
    return "\n".join(line.text for line in screen_lines(summary, width, first=first))


def screen_lines(summary: Summary, width: int = WIDTH, *, first: int = 0) -> list[Line]:
    """The lines of :func:`screen`."""
    width = max(width, _NARROWEST)
    late = [name for part in summary.missing for name in LATE.get(part, ())]
    sections = [
        _head(summary, width),
        _estimate(summary, width),
        _how_many(summary, width),
        _ball(summary, width),
        [] if "clusters" in late else _clusters(summary, width, first),
        [] if "items" in late else _items(summary, width, first),
        _core(summary, width),
        [] if "comparison" in late else _comparison(summary, width),
        _convergence(summary, width),
        _wrapped(_to_write(summary), sentence(summary), width),
    ]
    return [
        line._replace(text=line.text.rstrip().replace(_UNBROKEN, " "))
        for section in sections
        for line in section
    ]


def sentence(summary: Summary) -> str:
    """The statement that the credible ball supports."""
    ball = summary.ball
    said = words(summary.draws.kind)
    inside = span(int(ball.upper.n_clusters.min()), int(ball.lower.n_clusters.max()), "cluster")
    return (
        f"{said.lies.format(percent(_stated(summary)))} within "
        f"{in_unit(brief(ball.radius), ball.loss.unit)} of the estimate of "
        f"{counted(summary.n_clusters, 'cluster')} "
        f"({_sizes(summary.estimate)}), measured by {ball.loss.title}; "
        f"the {said.draws} inside this ball have {inside}."
    )


def _stated(summary: Summary) -> float:
    """The probability of the ball; of runs, the share that lies inside, which may be more."""
    ball = summary.ball
    return ball.prob if summary.draws.kind == "posterior" else ball.coverage


def _to_write(summary: Summary) -> str:
    """What leads the sentence: with warnings it is not to be written yet."""
    settled = summary.diagnostics.ok and not summary.estimate.search.interrupted
    return "To write: " if settled else "To write only once the warnings are settled: "


def _head(summary: Summary, width: int) -> list[Line]:
    draws = summary.draws
    chains = f" in {counted(draws.n_chains, 'chain')}" if draws.chain is not None else ""
    weighted = f", {weights_in_words(draws)}" if draws.weights is not None else ""
    rows = counted(draws.n_draws, words(draws.kind).draw)
    left = f"{rows} of {counted(draws.n_items, 'item')}{chains}{weighted}"
    right = f"partita {summary.versions['partita']}"
    if len(left) + len(right) >= width:
        return [*_wrapped("", left, width), Line(right), Line("=" * width, "rule")]
    return [Line(f"{left}{right:>{width - len(left)}}"), Line("=" * width, "rule")]


def weights_in_words(draws: Draws) -> str:
    """What is to be known of the weights of weighted draws."""
    if draws.kind != "tilted":
        return "weighted"
    return f"tilted (not the posterior; effectively {draws.n_effective:,.0f})"


def _estimate(summary: Summary, width: int) -> list[Line]:
    found = summary.estimate
    lines = _wrapped(
        "Estimate: ", f"{counted(found.n_clusters, 'cluster')} of {_sizes(found)}", width
    )
    said = words(found.kind)
    loss = in_unit(f"{found.expected_loss:#.4g}", found.loss.unit)
    text = f"{said.expected} {found.loss.title} {loss}, {found.proof}"
    if len(found.ties):
        text += f"; {counted(len(found.ties), 'other partition')} at the same loss"
    lines += _wrapped("  ", text, width)
    for limit in found.search.limits:
        lines += _wrapped(_WARNS, limit, width)
    if found.search.interrupted:
        lines += _wrapped(_WARNS, "the search was cut short; this is the best so far", width)
    if summary.missing:
        lines += _wrapped(_WARNS, missing_in_words(summary), width)
    return lines


def missing_in_words(summary: Summary) -> str:
    """What a summary that was cut short lacks."""
    return f"cut short before these were made: {in_list(summary.missing)}; give it more time"


def _how_many(summary: Summary, width: int) -> list[Line]:
    """The statement on the number of clusters, and what finding out took."""
    text = how_many_in_words(summary)
    if summary.options.get("path") and summary.curve is None and summary.path is None:
        text += f" There is no price path and no curve under {summary.loss.title}."
    seconds = sum(part.seconds for part in (summary.curve, summary.path) if part is not None)
    if seconds >= _SHOWN_SECONDS:  # less is not worth a word, and differs from run to run
        text += f" ({seconds:.0f} s)"
    return _wrapped("How many clusters: ", text, width)


def _ball(summary: Summary, width: int) -> list[Line]:
    ball = summary.ball
    error = f" ± {ball.radius_mcse:.2g}" if np.isfinite(ball.radius_mcse) else ""
    inside = int(ball.inside.sum())
    said = words(summary.draws.kind)
    lines = _wrapped(
        f"{percent(ball.prob)} {said.ball}: ",
        f"radius {in_unit(brief(ball.radius) + error, ball.loss.unit)} ({ball.loss.title}), "
        f"{counted(inside, said.draw)} inside, coverage {ball.coverage:.4g}",
        width,
    )
    if ball.loss != summary.loss:
        note = f"({summary.loss.title} is no metric, hence the ball in {ball.loss.title})"
        lines += _wrapped("  ", note, width)
    for name, bound in ball.bounds.items():
        clusters = counts(bound.n_clusters[:_SHOWN].tolist(), "cluster")
        ties = f"   {len(bound)} partitions tie" if len(bound) > 1 else ""
        text = f"{clusters} at {brief(bound.distance)}{ties}"
        lines += _wrapped(f"  {name:<11}", text, width)
    return lines


def _clusters(summary: Summary, width: int, first: int) -> list[Line]:
    table = summary.clusters
    largest = np.argsort(-table.size, kind="stable")[:_SHOWN].tolist()
    nearest = [str(k + first) if k >= 0 else "–" for k in table.nearest.tolist()]
    columns = [
        (9, "Cluster", [str(k + first) for k in largest]),
        (8, "size", [f"{table.size[k]:,}" for k in largest]),
        (9, "within", [f"{table.within[k]:.2f}" for k in largest]),
        (9, "nearest", [nearest[k] for k in largest]),
        (12, "similarity", [f"{table.nearest_similarity[k]:.2f}" for k in largest]),
        (11, "unchanged", [f"{table.unchanged[k]:.2f}" for k in largest]),
        (16, f"Jaccard ≥ {table.jaccard:g}", [f"{table.similar[k]:.2f}" for k in largest]),
    ]
    lines = _table(columns, width)
    if len(table) > _SHOWN:
        lines.append(Line(f"{'…':>9} and {len(table) - _SHOWN:,} smaller ones"))
    return lines


def _items(summary: Summary, width: int, first: int) -> list[Line]:
    items = summary.items
    certain = int((items.probability >= 0.9).sum())
    parts = []
    for i in items.order[:_SHOWN].tolist():
        own, other = items.labels[i], items.other[i]
        second = f" or {other + first}" if other >= 0 else ""
        called = str(i + first) if items.names is None else items.name(i)
        name = textwrap.shorten(called, 24, placeholder="…")
        part = f"{name} ({own + first}{second}: {items.probability[i]:.2f})"
        parts.append(part.replace(" ", _UNBROKEN))
    verb = "is" if certain == 1 else "are"
    text = f"{', '.join(parts)}; {certain:,} of {items.labels.size:,} items {verb} at 0.9 or above"
    return _wrapped("Least certain items: ", text, width)


def _core(summary: Summary, width: int) -> list[Line]:
    """What holds; left out where a quick search is not quick."""
    core = summary.core
    if core is None:
        return []
    return _wrapped("Core: ", core.sentence, width)


def _comparison(summary: Summary, width: int) -> list[Line]:
    table = summary.comparison
    names = [f"  {name[:22]}" for name in table.names]
    roomy = width >= 70
    first = 24 if roomy else max(len("Estimates"), *map(len, names))
    heading = words(summary.draws.kind).mean_of.format
    names_of_losses = ("Binder", "VI_LB", "VI")
    losses = {heading(n): getattr(table, f"expected_{n.lower()}") for n in names_of_losses}
    columns = [
        (first, f"{'Estimates':<{first}}", [f"{name:<{first}}" for name in names]),
        (10, "clusters", [f"{k:,}" for k in table.n_clusters.tolist()]),
        *(
            (12 if roomy else len(title) + 2, title, [f"{value:#.4g}" for value in values.tolist()])
            for title, values in losses.items()
        ),
    ]
    return _table(columns, width)


def _convergence(summary: Summary, width: int) -> list[Line]:
    found = summary.diagnostics
    if not found.names:  # of an ensemble there is nothing to say
        return []
    parts = []
    if np.isfinite(found.rhat).any():
        parts.append(f"R-hat at most {np.nanmax(found.rhat):.3f}")
    ess = np.fmin(found.ess_bulk, found.ess_tail)
    if np.isfinite(ess).any():
        parts.append(f"effective draws at least {np.nanmin(ess):,.0f}")
    if found.agreement is not None:
        parts.append(f"pair probabilities differ by {found.agreement.average_sd:.3f} on average")
    text = ", ".join(parts) or "not known"
    text += " (nothing to warn about)" if found.ok else ""
    lines = _wrapped("Convergence: ", text, width)
    for warning in found.warnings:
        lines += _wrapped(_WARNS, warning, width)
    if summary.rivals is not None:
        from partita.representative.representatives import representatives_in_words

        lines += _wrapped(_WARNS, representatives_in_words(summary.rivals), width)
    for note in found.notes:
        lines += _wrapped("  ", note, width)
    return lines


def _table(columns: list[tuple[int, str, list[str]]], width: int) -> list[Line]:
    """Columns of (width, heading, cells), right-aligned; those that do not fit are left out."""
    while sum(size for size, _, _ in columns) > width:
        columns = columns[:-1]
    rows = [[title, *cells] for _, title, cells in columns]
    sizes = [size for size, _, _ in columns]
    heading, *body = (
        "".join(f"{cell:>{size}}" for cell, size in zip(row, sizes, strict=True))
        for row in zip(*rows, strict=True)
    )
    return [Line(heading, "heading"), *map(Line, body)]


def _wrapped(lead: str, text: str, width: int) -> list[Line]:
    indent = " " * len(lead) if lead.startswith(" ") else "  "
    lines = textwrap.wrap(
        text, width, initial_indent=lead, subsequent_indent=indent, break_on_hyphens=False
    )
    if lead == _WARNS:
        return [Line(line, "warning") for line in lines]
    said = 0 if lead.startswith(" ") else len(lead.rstrip())
    return [Line(line, lead=said if number == 0 else 0) for number, line in enumerate(lines)]


def _sizes(estimate: PointEstimate) -> str:
    return of_sizes(np.bincount(estimate.labels).tolist())
