"""``partita core``: the items whose grouping holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from partita.cli.options import value_option
from partita.cli.questions import Answer, question

if TYPE_CHECKING:
    from partita.credible.core_result import CredibleCore
    from partita.partitions.draws import Draws


@click.command(
    epilog="""\b
Examples:
  $ partita core draws.csv
  $ partita core draws.csv --prob 0.5 --out core.csv
  $ partita core draws.csv --noise -1:singletons --json"""
)
@question(
    bound="that no larger set exists",
    stopped="the best so far",
    out="one row per item: cluster, probability",
)
@value_option(
    "--prob",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.9,
    metavar="P",
    help="Probability with which the grouping holds.",
)
@click.option(
    "--starts",
    "n_starts",
    type=click.IntRange(1),
    metavar="N",
    help="First items to try. Default: every one.",
)
def command(draws: Draws, one_based: bool, **wishes: Any) -> Answer:
    """The largest set of items that is grouped in one way with probability P.

    What may be stated as fact: with that probability these items are grouped exactly so, all at
    once. DRAWS is as in partita summarize.
    """
    from partita.cli.outputs import item_names, numbered
    from partita.credible.core import credible_core

    found = credible_core(draws, **wishes)
    columns = (
        item_names(draws, one_based),
        numbered(found.labels, one_based),
        found.if_added.tolist(),
    )
    return Answer(
        text=found.screen(one_based=one_based),
        plain=_plain(found),
        header=("item", "core", "probability_with_item"),
        rows=zip(*columns, strict=True),
    )


def _plain(found: CredibleCore) -> dict[str, Any]:
    error = found.probability_mcse
    return {
        "prob": found.prob,
        "size": found.size,
        "n_items": found.draws.n_items,
        "items": found.items.tolist(),
        "labels": found.labels.tolist(),
        "probability": found.probability,
        "probability_mcse": error if error == error else None,
        "cluster_probability": found.cluster_probability.tolist(),
        "upper_bound": found.upper_bound,
        "is_proven": found.is_proven,
        "curve": found.curve.tolist(),
        "auchips": found.auchips,
        "n_starts": found.n_starts,
        "rounds": found.rounds,
    }
