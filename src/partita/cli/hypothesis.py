"""``partita compare DRAWS --against LABELS``: is a clustering compatible with the posterior?"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from partita._vocabulary import Words, words

if TYPE_CHECKING:
    from partita.partitions.draws import Draws
    from partita.partitions.labels import Labels


def labels_for(draws: Draws, source: str, path: str) -> Labels:
    """Labels of a file in the order of the draws' items, by name where both have names."""
    from partita.cli.reading import Partition, aligned, read_partition
    from partita.partitions.labels import as_labels

    given = read_partition(path)
    items = Partition(source, as_labels(draws[0]), draws.item_names)
    return aligned(items, given)[1]


def tested(draws: Draws, labels: Labels, losses: tuple[str, ...]) -> dict[str, Any]:
    """p-value, credible level, and what turns the estimate into the hypothesis."""
    from partita.credible.ball import credible_ball
    from partita.losses.explain import explain
    from partita.losses.registry import as_loss
    from partita.rivals.conformal import p_value
    from partita.search.estimate import estimate

    name = next((name for name in losses if as_loss(name).is_metric), "vi")
    loss = as_loss(name)
    best = estimate(draws, loss=loss, bound=None)
    ball = credible_ball(draws, best, loss=loss)
    p = p_value(draws, labels, loss=loss)
    level = ball.credible_level(labels)
    told = explain(best, labels, loss=loss, item_names=draws.item_names)
    return {
        "loss": name,
        "kind": draws.kind,
        "n_items": draws.n_items,
        "p_value": float(p),
        "p_values": p.values.tolist(),
        "rates": p.rates.tolist(),
        "rate": p.rate,
        "p_value_in_words": str(p),
        "credible_level": level if level < float("inf") else None,
        "credible_level_in_words": _level_in_words(level, words(draws.kind)),
        "distance_to_estimate": told.distance,
        "from_the_estimate": told.in_words(),
    }


def _level_in_words(level: float, said: Words) -> str:
    if level == float("inf"):
        return (
            f"no {said.ball} contains it: it is farther from the estimate than every {said.draw}. "
            "The ball asks how far it is from the one estimate."
        )
    return (
        f"the {said.ball} around the estimate contains it from {100 * level:.3g}% on: so much "
        f"of the {said.source} is at least as near to the estimate."
    )


def text(source: str, path: str, found: dict[str, Any], columns: int) -> str:
    """The answer as one reads it, p-value and credible level side by side."""
    said = words(found["kind"])
    ball = f"{said.ball.removesuffix('ball')}level"
    level = found["credible_level"]
    shown = "beyond 100%" if level is None else f"{100 * level:.3g}%"
    lines = [
        f"Hypothesis: {path}, against the {said.draws} of {source}",
        f"p-value: {found['p_value']:.3g}    {ball}: {shown}",
        f"p-value: {found['p_value_in_words']}",
        f"{ball.capitalize()}: {found['credible_level_in_words']}",
        f"Both: a small p-value, or a level near 100%, says that the {said.source} hardly supports "
        f"it. They differ where the {said.source} has several pieces: the p-value asks how close "
        f"it is to any {said.draws}, the level how close to the estimate.",
        f"From the estimate: {found['from_the_estimate']}",
    ]
    return "\n".join(
        part
        for line in lines
        for part in textwrap.wrap(line, columns, subsequent_indent="  ", break_on_hyphens=False)
    )
