"""A summary in words: ten lines to read, the same for a notebook, and all tables as details."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from partita import _result as html
from partita._result import Table
from partita._wording import (
    brief,
    clip,
    counted,
    in_list,
    in_unit,
    of_sizes,
    percent,
    rhat_in_words,
    share,
    short,
    sized,
    span,
    words,
)
from partita.draws import Draws
from partita.scan import is_remote
from partita.search.clusters_curve import NEAR
from partita.search.result import constraints_of, found_by, limit_in_words
from partita.summary.tables import item_names, table

if TYPE_CHECKING:
    from partita.draws import AnyDraws
    from partita.kernels.arrays import Ints
    from partita.samplers.sensitivity import PriorSensitivity
    from partita.search.result import Estimate
    from partita.summary.result import AnySummary, Summary

WIDTH = 80
_NARROWEST = 40
WARNS = "  ! "
"""Prefix of a warning."""
_SHOWN_SECONDS = 1.0
"""Time from which on a search that need not be made says how long it took."""
_LISTED = 5
"""Undecided items that are named."""
_LOOKED = 5_000_000_000
"""Cells of draws that a count of undecided items may look at."""
_ONLY_REPORTED = ("profiles", "representatives", "starts", "settings", "versions")
"""Tables that the report has and the details do not."""

DEFERRED = {
    "uncertainty of items and clusters": ("items", "clusters"),
    "estimates under VI and Binder's loss": ("vi_estimate", "binder_estimate", "comparison"),
}
"""Parts of a summary that are made late where there was no time for them, and their attributes."""

_SENTENCE = "border-left:4px solid #0072B2;padding:4px 12px;margin:8px 0"
_PICTURE = "width:200px;image-rendering:pixelated;border:1px solid #999"


class Line(NamedTuple):
    """A line of the screen and its kind, by which a terminal may colour it."""

    text: str
    kind: Literal["plain", "rule", "heading", "warning"] = "plain"
    lead: int = 0
    """How many characters at its beginning say what it is about."""


# ---------------------------------------------------------------- what is said


def sentences(summary: AnySummary, balls: Sequence[Any]) -> list[str]:
    """The statement that each of these credible balls around the estimate supports."""
    said, sampled = words(summary.draws.kind), summary.draws.kind == "posterior"
    sizes, part = summary.estimate._sizes.tolist(), summary.draws.part_name
    found = f"{counted(len(sizes), part)} ({of_sizes(sizes)})" if sizes else f"no {part}"
    metric, inside, told = balls[0].loss.title, _inside(balls, part), []
    for ball, parts in zip(balls, inside, strict=True):
        # Of runs, the share that lies inside, which may be more than was asked for.
        level = percent(ball.prob if sampled else ball.coverage)
        if ball.radius == 0.0:
            equals = said.equals.format(level).replace("clustering", summary._called)
            told.append(f"{equals} the estimate of {found}.")
            continue
        lies = said.lies.format(level).replace("clustering", summary._called)
        radius = in_unit(brief(ball.radius, summary._decimals), ball.loss.unit)
        told.append(
            f"{lies} within {radius} of the estimate of {found}, measured by {metric}; "
            f"the {said.draws} inside this ball have {parts}."
        )
    return told


def how_many(summary: Summary) -> str:
    """How many clusters: what the draws have, what other numbers cost, and at which prices."""
    parts = [in_draws(summary)]
    if summary.curve is not None:
        parts.append(summary.curve.sentence)
    parts.append(_fewest(summary).strip())
    low, high = summary.counts.interval(summary.prob)
    if low < high:
        parts.append(words(summary.draws.kind).unsettled)
    if summary.path is not None:
        parts.append(f"The estimate is {summary.path.stability(summary.labels).in_words}.")
    return " ".join(filter(None, parts))


def statements(summary: AnySummary) -> list[tuple[str, str]]:
    """The statements of summaries of both kinds, each with its heading."""
    found, ball, said = summary.estimate, summary.ball, words(summary.draws.kind)
    loss = in_unit(f"{found.expected_loss:#.4g}", found.loss.unit)
    # Where distances are whole an error of 0 would only say that they are.
    error = f" ± {ball.radius_mcse:.2g}" if ball.radius_mcse > 0.0 else ""
    radius = in_unit(brief(ball.radius, summary._decimals) + error, ball.loss.unit)
    metric = ""
    if ball.loss != summary.loss:
        metric = f" of {ball.loss.title} ({summary.loss.title} is not a metric)"
    best = f" (the best{constraints_of(found)})" if found.constraints else ""
    sizes, part = found._sizes.tolist(), summary.draws.part_name
    (inside,) = _inside([ball], part)
    return [
        ("Estimate", f"{sized(sizes, part) if sizes else f'no {part}'}{best}"),
        (f"{said.expected.capitalize()} {found.loss.title}", f"{loss}, {_quality_in_words(found)}"),
        (f"How many {part}s", _number_in_draws(summary)),
        (
            f"{percent(ball.prob)} {said.ball}",
            f"radius {radius}{metric}; {said.draws} inside have {inside}",
        ),
    ]


def statements_on_partitions(summary: Summary, first: int = 0) -> list[tuple[str, str]]:
    """The statements of a summary of partitions, each with its heading."""
    told = statements(summary)
    label, number = told[2]
    fewest = _fewest(summary, told=_cheapest_other(summary))
    told[2] = label, f"{number}{_next_best(summary)}.{fewest}{_prices(summary)}"
    if "items" not in _deferred(summary):
        told.append(_certainty(summary, first))
    other = summary.sensitivity
    if other is not None and (len(other.priors) > 1 or summary.options.get("sensitivity")):
        told.append(("Another prior", _other_priors(other)))
    return told


def _inside(balls: Sequence[Any], part: str) -> list[str]:
    """How many clusters or features the draws inside each ball have."""
    number = f"n_{part}s"
    few = [int(getattr(ball.upper, number).min()) for ball in balls]
    many = [int(getattr(ball.lower, number).max()) for ball in balls]
    return [span(*ends, part) for ends in zip(few, many, strict=True)]


def _quality_in_words(found: Estimate) -> str:
    """The proof of an estimate, how it was found, and whether others are as good."""
    text = limit_in_words(found)
    if not found.is_proven_optimal:
        text += f"; {found_by(found)} found none better"
    if len(found.ties):
        text += f"; {counted(len(found.ties), f'other {found._point}')} at the same loss"
    return text


def _numbers(summary: AnySummary) -> tuple[dict[int, float], int, int, tuple[int, int]]:
    """Shares of the draws by their number, the estimate's, the most frequent, and an interval."""
    counts, k = summary.counts, summary.estimate._sizes.size
    found = dict(zip(counts.values.tolist(), counts.probabilities.tolist(), strict=True))
    return found, k, counts.mode, counts.interval(summary.ball.prob)


def _number_in_draws(summary: AnySummary) -> str:
    """Describe the posterior of the number, in words."""
    (found, k, mode, (low, high)), said = _numbers(summary), words(summary.draws.kind)
    if len(found) == 1:
        here = f"all {said.draws} have" if k in found else f"no {said.draw} has {k:,}, all have"
        return f"{here} {mode:,}"
    text = f"no {said.draw} has {k:,}"
    if k in found:
        text = f"{share(found[k])} {said.of_all} have {k:,}"
    if found[mode] > found.get(k, 0.0):
        text += f", {share(found[mode])} have {mode:,} (the most frequent)"
    if low < high:
        text += f", at least {percent(summary.ball.prob)} have {low:,} to {high:,}"
    return text


def _other_priors(found: PriorSensitivity) -> str:
    """Under how many other priors the estimate is the same, and how far away it can be."""
    if not found.same[found.own]:
        return found.sentence
    others = np.delete(np.arange(len(found.priors)), found.own)
    if not others.size:
        return f"the draws say too little about {_others(len(found.refused))}"
    away = others[~found.same[others]]
    some = f"{others.size - away.size} of " if away.size else ""
    text = f"the same estimate under {some}{_others(others.size)}"
    if away.size:
        m = away[np.argmax(found.distance[away])]
        far = in_unit(brief(float(found.distance[m])), found.loss.unit)
        text += f", at most {far} away ({counted(int(found.n_clusters[m]), 'cluster')})"
    if found.refused:
        text += f"; the draws say too little about {len(found.refused)} more"
    return text


def _others(number: int) -> str:
    return "the other prior tried" if number == 1 else f"the {number} other priors tried"


def warnings_of(summary: AnySummary) -> list[str]:
    """Warnings about the answer, each with a remedy."""
    search = summary.estimate.search
    found = [*search.limits]
    if search.interrupted:
        found.append("The search was cut short: this is the best so far. Allow it more time.")
    if summary.missing:
        found.append(
            f"Not computed, for lack of time or memory: {in_list(summary.missing)}. Allow more, or "
            "use fewer draws."
        )
    return [*found, *summary.diagnostics.warnings]


def lead_of(summary: AnySummary) -> str:
    """The heading of the sentence: with warnings it should not be written yet."""
    settled = summary.diagnostics.ok and not summary.estimate.search.interrupted
    return "For your paper" if settled else "For your paper, once the warnings are resolved"


def origin(summary: AnySummary) -> str:
    """The input of a summary: 400 draws of 30 items in 4 chains."""
    draws: AnyDraws = summary.draws
    chains = f" in {counted(draws.n_chains, 'chain')}" if draws.chain is not None else ""
    weighted = f", {weights_in_words(draws)}" if draws.weights is not None else ""
    rows = counted(draws.n_draws, words(draws.kind).draw)
    return f"{rows} of {counted(draws.n_items, 'item')}{chains}{weighted}"


def weights_in_words(draws: AnyDraws) -> str:
    """A phrase on the weights of weighted draws."""
    how = draws.reweighting if isinstance(draws, Draws) else None
    if how is not None:
        return f"reweighted to {how.prior} (effectively {draws.n_effective:,.0f})"
    if draws.kind != "tilted":
        return "weighted"
    return f"tilted (not the posterior; effectively {draws.n_effective:,.0f})"


def in_draws(summary: AnySummary) -> str:
    """The number of the estimate, and how often the draws have it and others, in a sentence."""
    (found, k, mode, (low, high)), said = _numbers(summary), words(summary.draws.kind)
    mine, top = found.get(k, 0.0), found[mode]
    text = f"The estimate has {counted(k, summary.draws.part_name)}"
    if len(found) == 1 and mine > 0.0:
        return f"{text}, as do all {said.draws}."
    text += f", as do {share(mine)} {said.of_all}" if mine else f", which no {said.draw} has"
    others = []
    if top > mine:
        others.append(f"the most frequent number is {mode:,} ({share(top)})")
    if low < high:
        others.append(f"at least {percent(summary.ball.prob)} have {low:,} to {high:,}")
    return f"{text}; {' and '.join(others)}." if others else f"{text}."


def _cheapest_other(summary: Summary) -> int | None:
    """Return the index of the best number of clusters tried besides the estimate's."""
    curve = summary.curve
    if curve is None or not np.isfinite(curve.percent).all():
        return None
    others = np.flatnonzero(curve.k != int(curve.estimate.max()) + 1)
    return int(others[np.argmin(curve.excess[others])]) if others.size else None


def _next_best(summary: Summary) -> str:
    """The cost of the cheapest other number of clusters, of those that were tried."""
    curve, j = summary.curve, _cheapest_other(summary)
    if curve is None or j is None:
        return ""
    error = 100.0 * curve.standard_error[j] / (curve.expected_loss[j] - curve.excess[j])
    uncertain = f" ± {short(error)}" if np.isfinite(error) else ""
    more = f"{short(float(curve.percent[j]))}{uncertain}%"
    return f"; the best found with {curve.k[j]:,} costs {more} more"


def _fewest(summary: Summary, told: int | None = None) -> str:
    """The fewest clusters within a percent of the loss, and single items that are undecided.

    The number at ``told`` of the curve has been said already.
    """
    text, curve = "", summary.curve
    if curve is not None and np.isfinite(curve.percent).all():
        near = np.flatnonzero((curve.percent <= NEAR) & (curve.k < summary.n_clusters))
        if near.size and near[0] != told:
            j = int(near[0])
            text = (
                f" The fewest within {NEAR:g}% of the lowest loss: "
                f"{counted(int(curve.k[j]), 'cluster')}, at {short(float(curve.percent[j]))}% more."
            )
    items = undecided(summary)
    if items.size:
        named = in_list(item_names(summary, items[:_LISTED]))
        more = " …" if items.size > _LISTED else ""
        noun = "single item" if items.size == 1 else "single items"
        text += (
            f" {items.size:,} of the clusters {'is a' if items.size == 1 else 'are'} {noun} that "
            f"{'shares' if items.size == 1 else 'share'} a cluster in most "
            f"{words(summary.draws.kind).draws}: undecided ({named}{more})."
        )
    return text


def undecided(summary: Summary) -> Ints:
    """Items alone in the estimate that share a cluster in more than half of the draws."""
    sizes = np.bincount(summary.labels)
    alone = np.flatnonzero(sizes[summary.labels] == 1)
    draws = summary.draws
    if not alone.size or is_remote(draws) or alone.size * draws.n_draws * draws.n_items > _LOOKED:
        return np.empty(0, np.int64)
    labels, weights = draws.labels, draws.probabilities
    shared = [float(((labels == labels[:, [i]]).sum(axis=1) > 1) @ weights) for i in alone.tolist()]
    return alone[np.array(shared) > 0.5]


def _prices(summary: Summary) -> str:
    """Describe the prices for which the estimate is optimal, if they were computed."""
    if summary.path is None or not summary.options.get("path"):
        return ""
    return f" The estimate is {summary.path.stability(summary.labels).in_words}."


def _certainty(summary: Summary, first: int) -> tuple[str, str]:
    """The least certain item, if any is uncertain, and how many are not."""
    table, said = summary.items, words(summary.draws.kind)
    certain, size = int((table.probability >= 0.9).sum()), table.labels.size
    number = f"{certain:,} of {counted(size, 'item')}" if certain else "no item"
    if certain == size > 1:
        number = f"all {size:,} items"
    stay = "stay in their" if certain > 1 else "stays in its"
    settled = f"{number} {stay} cluster {said.holding.format('0.9 or more')}"
    i = int(table.order[0])
    if table.probability[i] == 1.0:
        return "Items", settled
    (name,) = (clip(name, 24) for name in item_names(summary, table.order[:1], first))
    called = f"item {name}" if summary.draws.item_names is None else name
    own, other = table.labels[i] + first, table.other[i]
    otherwise = f", otherwise mostly {other + first}" if other >= 0 else ""
    weight = said.holding.format(f"{table.probability[i]:.2f}")
    return "Least certain", f"{called} (cluster {own} {weight}{otherwise}); {settled}"


def convergence(summary: AnySummary) -> str:
    """The worst R-hat and effective number of draws."""
    found = summary.diagnostics
    parts = []
    if np.isfinite(found.rhat).any():
        parts.append(f"R-hat at most {rhat_in_words(np.nanmax(found.rhat))}")
    ess = np.fmin(found.ess_bulk, found.ess_tail)
    if np.isfinite(ess).any():
        parts.append(f"at least {np.nanmin(ess):,.0f} effective draws")
    return ", ".join(parts) or "not known"


def _deferred(summary: AnySummary) -> list[str]:
    """Attributes that a summary was made without."""
    return [name for part in summary.missing for name in DEFERRED.get(part, ())]


# ---------------------------------------------------------------- on a screen


def screen(summary: AnySummary, width: int = WIDTH, *, first: int = 0) -> str:
    """The summary on one screen, in lines of at most ``width``.

    Clusters and unnamed items count from ``first``.
    """
    return joined(screen_lines(summary, width, first=first))


def joined(lines: list[Line]) -> str:
    """Lines as one text."""
    return "\n".join(line.text for line in lines)


def screen_lines(summary: AnySummary, width: int = WIDTH, *, first: int = 0) -> list[Line]:
    """The lines of :func:`screen`."""
    width = max(width, _NARROWEST)
    if summary.diagnostics.chains_disagree:  # no answer yet: what is wrong, and where to look
        wrong = wrapped(WARNS, _DISAGREE, width) + wrapped("    ", _INSTEAD, width)
        return wrapped("", origin(summary), width) + wrong
    (label, text), *others = summary._statements(first)
    lines = wrapped(f"{label} from {origin(summary)}: ", text, width)
    for label, text in others:
        lines += wrapped(f"{label}: ", text, width)
    for warning in warnings_of(summary):
        lines += wrapped(WARNS, warning, width)
    lines += wrapped(f"{lead_of(summary)}: ", summary.sentence, width)
    return lines


_DISAGREE = "The chains disagree on which items belong together: no answer yet."
_INSTEAD = "Run longer; print(summary.details()) shows what each chain found."


def details_lines(
    summary: AnySummary, full: Mapping[str, str], width: int = WIDTH, *, first: int = 0
) -> list[Line]:
    """Everything that the screen says, some of it in ``full``, and the tables behind it."""
    width = max(width, _NARROWEST)
    lines = wrapped("", f"{origin(summary)}; partita {summary.versions['partita']}", width)
    lines.append(Line("=" * width, "rule"))
    told = {**dict(summary._statements(first)), **full}
    if summary.diagnostics.names:
        told["Convergence"] = convergence(summary)
    for label, text in told.items():
        lines += wrapped(f"{label}: ", text, width)
    lines += warning_lines(summary, width)
    for note in summary.diagnostics.notes:
        lines += wrapped("  ", note, width)
    for name in summary._tables:
        if name not in (*_ONLY_REPORTED, *_deferred(summary)):
            found = table(summary, name, first)
            lines += [] if found is None else [Line(""), *table_lines(found, width)]
    return [*lines, Line(""), *wrapped(f"{lead_of(summary)}: ", summary.sentence, width)]


def details_of_partitions(summary: Summary) -> dict[str, str]:
    """Statements that the details have in full."""
    parts = (part for part in (summary.curve, summary.path) if part is not None)
    seconds = sum(part.seconds for part in parts)
    # Less is not worth a word, and differs from run to run.
    took = f" ({seconds:.0f} s)" if seconds >= _SHOWN_SECONDS else ""
    full = {"How many clusters": how_many(summary) + took}
    if summary.sensitivity is not None:
        full["Another prior"] = summary.sensitivity.sentence
    if summary.core is not None:
        full["Core"] = summary.core.sentence
    return full


def warning_lines(summary: AnySummary, width: int) -> list[Line]:
    """The warnings, and what the chains hold where they disagree."""
    found = warnings_of(summary)
    if summary.representatives is not None:
        from partita.representative.representatives import representatives_in_words

        found.append(representatives_in_words(summary.representatives))
    return [line for warning in found for line in wrapped(WARNS, warning, width)]


def table_lines(table: Table, width: int) -> list[Line]:
    """A table as lines; headings break at spaces, columns that do not fit are left out."""
    rows = [tuple(clip(cell, width) for cell in row) for row in table.rows]
    sizes = [
        max(max(map(len, title.split(" "))), *(len(row[j]) for row in rows), 0)
        for j, title in enumerate(table.columns)
    ]
    while sum(sizes) + 2 * (len(sizes) - 1) > width and len(sizes) > 1:
        sizes = sizes[:-1]
    heads = [
        textwrap.wrap(title, size, break_long_words=False, break_on_hyphens=False)
        for title, size in zip(table.columns, sizes, strict=False)
    ]
    height = max(map(len, heads))
    heading = [[""] * (height - len(head)) + head for head in heads]

    def line(cells: list[str]) -> str:
        first, *others = zip(cells, sizes, strict=False)
        padded = [f"{first[0]:<{first[1]}}", *(f"{cell:>{size}}" for cell, size in others)]
        return "  ".join(padded)[:width].rstrip()

    lines = wrapped("", table.caption, width)
    lines += [Line(line([head[j] for head in heading]), "heading") for j in range(height)]
    return lines + [Line(line(list(row))) for row in rows]


def wrapped(lead: str, text: str, width: int) -> list[Line]:
    """A paragraph as lines, with what it begins with."""
    indent = " " * len(lead) if lead.startswith(" ") else "  "
    lines = textwrap.wrap(lead + text, width, subsequent_indent=indent, break_on_hyphens=False)
    if lead == WARNS:
        return [Line(line, "warning") for line in lines]
    said = 0 if lead.startswith(" ") else len(lead.rstrip())
    return [Line(line, lead=said if number == 0 else 0) for number, line in enumerate(lines)]


# ---------------------------------------------------------------- in a notebook


def card(summary: AnySummary, picture: str | None, tables: Iterable[Table] = ()) -> str:
    """Return the summary as a small HTML page, with a similarity picture or tables."""
    title = html.title(f"{summary._called.capitalize()}: {origin(summary)}")
    if summary.diagnostics.chains_disagree:
        return title + html.warning(_DISAGREE) + html.note(_INSTEAD)
    warned = "".join(map(html.warning, warnings_of(summary)))
    lead, text = lead_of(summary), escape(summary.sentence)
    written = f"<div style='{_SENTENCE}'>{lead}: {text}</div>"
    image = "" if picture is None else f"<img style='{_PICTURE}' alt='similarity' src='{picture}'>"
    said = f"<div style='max-width:44em'>{html.facts(summary._statements())}{written}</div>"
    shown = "".join(html.table(found.columns, found.rows, found.caption) for found in tables)
    flow = "display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start"
    return f"{title}{warned}<div style='{flow}'>{said}{image}</div>{shown}"
