"""What a report shows, as plain data: nothing here knows how it is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._result import Table
from partita._text import Words, with_unit, words
from partita.diagnostics.diagnose import TITLES, functionals
from partita.kernels.arrays import Floats
from partita.plots._representatives import moved_items
from partita.plots._similarity import SimilarityMap, prepare_similarity
from partita.report import wording
from partita.report.holds import Holds, Panel, holds, profile_panels, profile_table
from partita.report.how_many import HowMany, how_many
from partita.report.item_positions import ItemPositions, item_positions
from partita.report.item_sample import with_fewer_items
from partita.report.partitions import Shown, shown_partitions
from partita.summary import tables

if TYPE_CHECKING:
    from partita.summary.result import Summary


_TRACE_POINTS = 4_000
"""Points of one trace over all chains; more cannot be told apart on a screen."""
_DISTANCE_BINS = 60


@dataclass(frozen=True, eq=False)
class Trace:
    """A functional along each chain."""

    title: str
    chains: tuple[tuple[NDArray[np.int64], Floats], ...]
    """Numbers of the draws and values, for each chain."""


@dataclass(frozen=True)
class Rival:
    """A rival answer: its name among the partitions on offer, and the items that differ."""

    key: str
    moved: NDArray[np.int64]
    """The items that are elsewhere than in the heaviest."""


@dataclass(frozen=True, eq=False)
class Content:
    """Everything a report says and shows.

    Texts are plain and unescaped: whoever writes them into a page escapes them.
    """

    said: Words
    heading: str
    origin: str
    facts: Mapping[str, str]
    warnings: tuple[str, ...]
    urgent: tuple[str, ...]
    """What stands in the way of reporting the answer, shown with it."""
    notes: tuple[str, ...]
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
    count_values: NDArray[np.int64]
    count_probabilities: Floats
    count_text: str
    distance_edges: Floats
    distance_masses: Floats
    distance_title: str
    traces: tuple[Trace, ...]
    trace_note: str
    comparison: Table
    clusters: Table
    holds: Holds | None
    how_many: HowMany | None
    profiles: Table | None
    panels: tuple[Panel, ...]
    diagnostics: Table | None
    """None of an ensemble."""
    rivals: Table | None
    rival_items: tuple[Rival, ...]
    how_found: str
    limits: tuple[str, ...]
    starts: Table
    settings: Table
    versions: Table
    call: str


def prepare(summary: Summary) -> Content:
    """The content of the report on a summary.

    Cost: the heat map (see :func:`prepare_similarity`), one ball per probability on
    offer, a few cores from the runs of the summary's, and one pass over the draws for the traces.
    """
    found, ball, counts = summary.estimate, summary.ball, summary.counts
    said = words(summary.draws.kind)
    edges, masses = _distances(summary)
    traces, trace_note = _traces(summary)
    shown, profiles = shown_partitions(summary), summary.profiles
    heat = prepare_similarity(summary._posterior, found.labels)
    content = Content(
        said=said,
        heading=wording.heading(summary),
        origin=wording.made_from(summary),
        facts=_facts(summary, said),
        warnings=summary.diagnostics.warnings,
        urgent=(*summary.diagnostics.warnings, *_cut_short(summary)),
        notes=summary.diagnostics.notes,
        shown=shown,
        heat=heat,
        heat_items=(heat.order, heat.edges),
        item_numbers=None,
        item_note="",
        place=item_positions(summary.data, summary.data_names, summary.data_categories),
        item_names=summary.draws.item_names,
        item_columns=_item_columns(summary),
        count_values=counts.values,
        count_probabilities=counts.probabilities,
        count_text=wording.cluster_counts(counts, found.n_clusters, ball.prob),
        distance_edges=edges,
        distance_masses=masses,
        distance_title=with_unit(ball.loss.title, ball.loss.unit),
        traces=traces,
        trace_note=trace_note,
        comparison=tables.comparison(summary),
        clusters=tables.clusters(summary),
        holds=holds(summary),
        how_many=how_many(summary, shown),
        profiles=None if profiles is None else profile_table(profiles),
        panels=() if profiles is None else profile_panels(profiles),
        diagnostics=tables.diagnostics(summary),
        rivals=tables.rivals(summary),
        rival_items=_rivals(summary),
        how_found=wording.how_found(found),
        limits=(*summary.estimate.search.limits, *_cut_short(summary)),
        starts=tables.starts(summary),
        settings=tables.settings(summary),
        versions=tables.versions(summary),
        call=wording.call_text(summary),
    )
    return with_fewer_items(content)


def _facts(summary: Summary, said: Words) -> dict[str, str]:
    found = summary.estimate
    facts = {
        "Estimate": wording.clusters(found.labels),
        f"{said.expected.capitalize()} loss": wording.loss_reached(found),
        "Proven": found.proof,
    }
    if summary.diagnostics.names:
        facts["Convergence"] = wording.convergence(summary)
    return facts


def _item_columns(summary: Summary) -> dict[str, NDArray[Any]]:
    """Per item: probability, the likeliest other cluster (−1: none) and share of the loss."""
    items = summary.items
    return {
        "probability": items.probability.astype(np.float32),
        "other": items.other,
        "share": items.share.astype(np.float32),
    }


def _rivals(summary: Summary) -> tuple[Rival, ...]:
    rivals = summary.rivals
    if rivals is None or rivals.n == 1:
        return ()
    return tuple(
        Rival(f"rival{r}", np.asarray(moved_items(rivals, r), np.int64)) for r in range(rivals.n)
    )


def _distances(summary: Summary) -> tuple[Floats, Floats]:
    """Histogram of the draws' distances from the estimate."""
    distances = summary.ball.distances
    n_bins = min(_DISTANCE_BINS, max(10, int(np.sqrt(distances.size))))
    masses, edges = np.histogram(distances, n_bins, weights=summary.draws.probabilities)
    return edges, masses


def _traces(summary: Summary) -> tuple[tuple[Trace, ...], str]:
    draws = summary.draws
    if draws.kind == "ensemble":
        return (), ""
    if draws.weights is not None:
        return (), "Weighted draws have no order, hence no traces."
    values = functionals(summary._posterior, estimate=summary.labels)
    chain = np.zeros(draws.n_draws, np.int64) if draws.chain is None else draws.chain
    members = [np.flatnonzero(chain == name) for name in np.unique(chain)]
    step = -(-draws.n_draws // _TRACE_POINTS)
    traces = tuple(
        Trace(
            TITLES[name],
            tuple((np.arange(mine.size)[::step], column[mine[::step]]) for mine in members),
        )
        for name, column in values.items()
    )
    note = f"Every {step}th draw is drawn." if step > 1 else ""
    return traces, note


def _cut_short(summary: Summary) -> tuple[str, ...]:
    cut = summary.estimate.search.interrupted
    return ("The search was cut short; this is the best so far.",) if cut else ()
