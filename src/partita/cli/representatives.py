"""``partita representatives``: several representative clusterings, or the modes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from partita.cli.options import LossName, value_option, whole_option
from partita.cli.questions import Answer, question
from partita.losses.names import LOSSES

if TYPE_CHECKING:
    from partita.draws import Draws

METRICS = tuple(name for name, home in LOSSES.items() if home.metric)
_FIELDS = ("n", "labels", "weights", "distance", "lower_bound", "gap", "expected_loss", "radius")


@click.command(
    epilog="""\b
Examples:
  $ partita representatives draws.csv
  $ partita representatives draws.csv --n 3 --out representatives.csv
  $ partita representatives chain1.csv chain2.csv --n 2 --json
  $ partita representatives draws.csv --modes"""
)
@question(
    bound="how near N clusterings can be",
    stopped="the best so far",
    out="one column per representative",
)
@whole_option("--n", help="Number of representatives. Default: chosen on held-out draws.")
@value_option(
    "--loss",
    type=LossName(METRICS, case_sensitive=False),
    default="vi",
    help="Distance between clusterings; entropy(1.5) too.",
)
@click.option(
    "--modes", "with_modes", is_flag=True, help="Also say how many modes the posterior has."
)
def representatives(
    draws: Draws, with_modes: bool, loss: str, one_based: bool, **wishes: Any
) -> Answer:
    """One answer or several? A few clusterings that together lie near to all draws.

    Each comes with the mass of the draws that are nearest to it, what differs, and, where there
    are several chains, which of them it holds. DRAWS is as in partita summarize.
    """
    from partita._result import fields_of
    from partita.cli.outputs import item_names, numbered
    from partita.representative.modes import modes
    from partita.representative.representatives import representatives

    found = representatives(draws, loss=loss, **wishes)
    text = str(found)
    plain = fields_of(found, *_FIELDS) | {
        "chains": dict(zip(found.chain_names, found.chains, strict=True)),
        "differences": [found.explain(r).in_words() for r in range(1, found.n)],
        "limits": found.limits,
    }
    if with_modes:
        peaks = modes(draws, loss=loss, n_jobs=wishes["n_jobs"])
        text = f"{text}\n\n{peaks}"
        plain["modes"] = fields_of(peaks, "labels", "weights")
    return Answer(
        text=text,
        plain=plain,
        header=("item", *(f"representative.{r}" for r in range(found.n))),
        rows=zip(item_names(draws, one_based), *numbered(found.labels, one_based), strict=True),
    )
