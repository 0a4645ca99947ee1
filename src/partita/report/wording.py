"""The sentences of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from partita._text import brief, counted, in_unit, of_sizes, percent, span, words
from partita.labels import Labels
from partita.summary.text import convergence as measured
from partita.summary.text import origin

if TYPE_CHECKING:
    from partita.credible.ball import CredibleBall
    from partita.credible.uncertainty import ClusterCounts
    from partita.losses.base import Loss
    from partita.representative.representatives import Representatives
    from partita.search.result import PointEstimate
    from partita.summary.result import Summary

_SIZES = 12
"""Cluster sizes that a sentence lists before it says how many more there are."""


def amount(value: float, loss: Loss) -> str:
    """A loss or distance with its unit."""
    return in_unit(brief(value, 3), loss.unit)


def clusters(labels: Labels) -> str:
    """Number and sizes of the clusters of a partition."""
    k = int(labels.max()) + 1
    return f"{counted(k, 'cluster')} of {of_sizes(np.bincount(labels).tolist(), _SIZES)}"


def heading(summary: Summary) -> str:
    """What the report is about."""
    return f"Clustering of {counted(summary.draws.n_items, 'item')}"


def made_from(summary: Summary) -> str:
    """What it was made from."""
    return f"From {origin(summary)}, by partita {summary.versions['partita']}"


def loss_reached(found: PointEstimate) -> str:
    """The expected loss of an estimate, with its name."""
    return f"{amount(found.expected_loss, found.loss)} ({found.loss.title})"


def radius(ball: CredibleBall) -> str:
    """Radius of a ball with its error, and what is inside."""
    error = ball.radius_mcse
    plus_minus = f" ± {error:.2g}" if np.isfinite(error) else ""
    inside = counted(int(ball.inside.sum()), words(ball.draws.kind).draw)
    value, _, unit = amount(ball.radius, ball.loss).partition(" ")
    return (
        f"radius {value}{plus_minus}{' ' if unit else ''}{unit} ({ball.loss.title}); "
        f"{inside} inside, coverage {percent(ball.coverage)}"
    )


def convergence(summary: Summary) -> str:
    """Convergence in one line."""
    found = summary.diagnostics
    many = f"{counted(len(found.warnings), 'warning')}, see above"
    return f"{measured(summary)}, {'nothing to warn about' if found.ok else many}"


def cluster_counts(counts: ClusterCounts, estimated: int, prob: float) -> str:
    """The posterior of the number of clusters in two sentences."""
    low, high = counts.interval(prob)
    said = words(counts.kind)
    place = "" if estimated in counts.values else f", which no {said.draw} has"
    return (
        f"{counted(counts.mode, 'cluster')} most often "
        f"({100.0 * float(counts.probabilities.max()):.0f}% of the {said.draws}), "
        f"mean {counts.mean:.1f}; at least {percent(prob)} have {span(low, high, 'cluster')} "
        f"(blue). The estimate has {estimated:,}{place}."
    )


def estimate_text(found: PointEstimate) -> str:
    """What is seen when an estimate is shown."""
    loss = f"{words(found.kind).expected} loss {loss_reached(found)}"
    text = f"{clusters(found.labels)}; {loss}, {found.proof}."
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


def difference(ball: CredibleBall, kind: str) -> str:
    """What the bound does differently from the estimate, where there are not too many items."""
    if ball.center.size > EXPLAINED_ITEMS:
        return ""
    told = ball.explain(kind)
    return f" From the estimate: {told.in_words()}." if told.changes else ""


def how_found(found: PointEstimate) -> str:
    """How an estimate was found, in two sentences."""
    search = found.search
    text = f"Found by the method “{found.method}” in {search.seconds:.2g} s"
    return f"{text}{search.effort}. The proof took {search.bound_seconds:.2g} s."


def representative_text(found: Representatives, number: int) -> str:
    """A representative: its mass, and what differs from the heaviest."""
    own = words(found.draws.kind).draws
    mass = f"Representative {number}, nearest to {100 * found.weights[number]:.3g}% of the {own}"
    if number == 0:
        return f"{mass}."
    return f"{mass}. From representative 0: {found.explain(number).in_words()}."


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
