"""``partita core``: items whose grouping holds with a probability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from partita.cli.options import value_option, whole_option
from partita.cli.questions import Answer, question

if TYPE_CHECKING:
    from partita.draws import Draws

_FIELDS = (
    *("items", "labels", "probability", "probability_mcse", "probability_low"),
    *("in_sample_probability", "cluster_probability", "n_effective", "upper_bound", "is_proven"),
    *("curve", "in_sample_curve", "auchips", "n_starts", "rounds", "limits", "sentence"),
)


@click.command(
    epilog="""\b
Examples:
  $ partita core draws.csv
  $ partita core draws.csv --prob 0.5 --out core.csv
  $ partita core draws.csv --noise -1:singletons --json"""
)
@question(
    bound="of how many items reach it in these draws",
    stopped="the best so far",
    out="one row per item: cluster, probability",
)
@value_option(
    "--prob",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.9,
    metavar="P",
    help="Probability that the grouping must have, asked of its lower limit.",
)
@click.option(
    "--held-out/--in-sample",
    default=None,
    help="Measure on draws held out (default), or describe these draws only.",
)
@whole_option("--starts", "n_starts", help="First items to try. Default: every one.")
def command(draws: Draws, one_based: bool, **wishes: Any) -> Answer:
    """A large set of items that are grouped in one way with probability P, all at once.

    The set is found on one part of the draws; its probability is measured on the other, and is at
    least P with 95% confidence. DRAWS is as in partita summarize.
    """
    from partita._result import fields_of
    from partita.cli.outputs import item_names, numbered
    from partita.credible.core import credible_core

    found = credible_core(draws, **wishes)
    columns = (
        item_names(draws, one_based),
        numbered(found.labels, one_based),
        found.probability_with_item.tolist(),
    )
    return Answer(
        text=found.screen(one_based=one_based),
        plain={
            "prob": found.prob,
            "size": found.size,
            "n_items": draws.n_items,
            **fields_of(found, *_FIELDS),
        },
        header=("item", "core", "probability_with_item"),
        rows=zip(*columns, strict=True),
    )
